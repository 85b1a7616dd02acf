//! The vocabulary of trueup: data and pure functions that every other crate speaks.
//!
//! - [`Value`]: what programs declare, providers answer and state keeps, with unknown and secret positions
//! - [`Type`], [`schema`]: what values must look like, and checking that they do
//! - [`FieldType`]: how Rust types stand for values
//! - [`Path`], [`Address`]: positions inside a value, and names of resources
//! - [`Diagnostic`], [`SourceMap`]: what is wrong, and where in the source
//! - [`Failure`]: how an operation on the outside world went wrong
//! - [`Date`], [`parse_span`], [`parse_duration`]: the calendar, and spans of time
//!
//! This crate knows no file, network, clock, terminal or environment.

mod address;
mod calendar;
mod credentials;
mod diagnostic;
mod escape;
mod failure;
mod field;
mod marked;
mod on_all_cores;
mod path;
pub mod schema;
mod secret;
mod secrets;
mod source;
mod span;
mod suggestion;
mod text;
mod types;
mod value;

pub use address::{Address, AddressError, AddressRange, InstanceKey, Mode, ModulePath, ModuleStep};
pub use calendar::Date;
pub use credentials::{credentials_in, mask_argument, mask_credentials};
pub use diagnostic::{Diagnostic, Diagnostics, Report, Severity, Style};
pub use escape::{acts_on_display, escape, escape_json, escape_line};
pub use failure::{Failure, FailureClass};
pub use field::{FieldError, FieldSchema, FieldType};
pub use marked::Marked;
pub use on_all_cores::on_all_cores;
pub use path::{Path, PathError, Step};
pub use secret::Secret;
pub use secrets::{KnownSecrets, SECRET_LENGTH_MIN, SecretTexts};
pub use source::{FileId, LineColumn, Origin, SourceFile, SourceMap, SourcePlace};
pub use span::{parse_duration, parse_span};
pub use suggestion::nearest;
pub use text::is_identifier;
pub use types::{Mismatch, ObjectType, Type, convert};
pub use value::{
    Change, Entries, Excess, JsonError, JsonForm, Kind, Marks, Notation, Number, NumberError, Origins,
    Refinement, Secrets, Value, diff, read_json, recorded,
};
