//! A type that tells a region and is nothing but its record: a provider block that follows from it is known late.

use trueup_provider::{Context, Crud, Inputs, NoConfig, Outputs, Prior, Recovery, Result, Traits};

#[derive(Inputs)]
pub(super) struct Compass {
    region: u64,
    /// Takes a new compass to change.
    #[trueup(replace)]
    hemisphere: u64,
}

/// Mirrors nothing, so that it is not known before the compass is settled.
#[derive(Clone, Outputs)]
pub(super) struct Pointed {
    region: u64,
}

impl Crud for Compass {
    type Output = Pointed;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { in_records: true, ..Traits::default() }
    }

    /// There is nothing outside of which a second one could be made.
    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn create(&self, _: &Context) -> Result<Pointed> {
        Ok(Pointed { region: self.region })
    }

    async fn read(&self, _: &Context, prior: &Pointed) -> Result<Pointed> {
        Ok(prior.clone())
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<Pointed> {
        Ok(Pointed { region: self.region })
    }

    async fn delete(&self, _: &Context, _: &Pointed) -> Result<()> {
        Ok(())
    }
}
