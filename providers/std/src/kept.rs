//! Types whose objects exist in state alone: made once, then left alone until an input replaces them.
//!
//! Since there is nothing outside, a create that was cut off is simply repeated, and deleting only forgets.

/// The contract of such a type: how it is made, and a method `validate` that judges its inputs.
macro_rules! kept_in_state {
    ($of:ty, $output:ty, $make:expr) => {
        impl trueup_provider::Crud for $of {
            type Output = $output;
            type Config = crate::surroundings::Surroundings;

            fn traits() -> trueup_provider::Traits {
                trueup_provider::Traits {
                    in_records: true,
                    importable: false,
                    ..trueup_provider::Traits::default()
                }
            }

            fn recovery(&self) -> trueup_provider::Recovery {
                trueup_provider::Recovery::Token
            }

            async fn create(
                &self,
                context: &trueup_provider::Context<Self::Config>,
            ) -> trueup_provider::Result<$output> {
                let make: fn(&$of, &trueup_provider::Context<Self::Config>) -> _ = $make;
                make(self, context)
            }

            async fn read(
                &self,
                _: &trueup_provider::Context<Self::Config>,
                prior: &$output,
            ) -> trueup_provider::Result<$output> {
                Ok(prior.clone())
            }

            async fn update(
                &self,
                _: &trueup_provider::Context<Self::Config>,
                prior: &trueup_provider::Prior<Self>,
            ) -> trueup_provider::Result<$output> {
                Ok(prior.outputs.clone())
            }

            async fn delete(
                &self,
                _: &trueup_provider::Context<Self::Config>,
                _: &$output,
            ) -> trueup_provider::Result<()> {
                Ok(())
            }

            async fn validate_inputs(
                &self,
                _: &trueup_provider::Context<Self::Config>,
            ) -> trueup_provider::Result<()> {
                self.validate()
            }
        }
    };
}
pub(crate) use kept_in_state;
