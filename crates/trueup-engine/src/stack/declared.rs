//! What adding something to a stack returns: its address, and references to its outputs.

use std::ops::Deref;

use trueup_core::{Address, AddressRange};
use trueup_provider::Outputs;

/// A resource or data source of a stack, which can wait for another and be waited for.
pub trait Depends {
    /// Its address.
    fn address(&self) -> &Address;
}

macro_rules! declared {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<Out: Outputs> {
            address: Address,
            refs: Out::Refs,
        }

        impl<Out: Outputs> $name<Out> {
            pub(super) fn new(address: Address) -> Self {
                let refs = Out::refs(address.clone());
                $name { address, refs }
            }

            /// Its address.
            pub fn address(&self) -> &Address {
                &self.address
            }

            /// References to its outputs, for those whose names something else has.
            pub fn outputs(&self) -> &Out::Refs {
                &self.refs
            }
        }

        impl<Out: Outputs> Deref for $name<Out> {
            type Target = Out::Refs;

            fn deref(&self) -> &Out::Refs {
                &self.refs
            }
        }

        impl<Out: Outputs> Depends for $name<Out> {
            fn address(&self) -> &Address {
                &self.address
            }
        }
    };
}

declared! {
    /// A resource that was added. Its outputs are methods: `queue.url()`.
    Declared
}

declared! {
    /// A data source that was added. Its outputs are methods: `home.value()`.
    DeclaredData
}

impl<Out: Outputs> From<&Declared<Out>> for AddressRange {
    fn from(declared: &Declared<Out>) -> Self {
        declared.address.clone().into()
    }
}
