//! From the typed contracts to handlers.

mod converge;
mod crud;
mod data;
mod shape;

pub(crate) use converge::ConvergeHandler;
pub(crate) use crud::CrudHandler;
pub(crate) use data::DataSourceHandler;
