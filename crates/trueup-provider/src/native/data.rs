//! A data source as a handler.

use std::marker::PhantomData;

use trueup_core::schema::Block;
use trueup_core::{Failure, FailureClass, FieldType, Value};

use super::shape::{Constructor, failure, unencodable};
use crate::clock::BoxFuture;
use crate::context::Context;
use crate::contract::{DataSource, Outputs};
use crate::handler::{DataHandler, DataRequest, foreign_configuration};

pub(crate) struct DataSourceHandler<T: DataSource> {
    inputs: Block,
    outputs: Block,
    construct: Constructor<T>,
    of: PhantomData<fn() -> T>,
}

impl<T: DataSource> DataSourceHandler<T> {
    pub(crate) fn new(construct: Constructor<T>) -> Self {
        DataSourceHandler { inputs: T::block(), outputs: T::Output::block(), construct, of: PhantomData }
    }
}

impl<T: DataSource> DataHandler for DataSourceHandler<T> {
    fn inputs(&self) -> &Block {
        &self.inputs
    }

    fn outputs(&self) -> &Block {
        &self.outputs
    }

    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            let receiver = T::decode(&request.inputs.effective, (self.construct)()).map_err(|error| {
                Failure::new(FailureClass::Invalid, error.to_string()).at(error.path().clone())
            })?;
            let context: Context<T::Config> = Context::of(request.config, request.context.clone())
                .ok_or_else(|| foreign_configuration(request.config))?;
            let read = receiver.read(&context).await.map_err(failure)?;
            read.encode().map_err(|error| unencodable(&error))
        })
    }
}
