//! Types of the convergent contract: one whose name the engine chooses, one whose name the program chooses.

use trueup_provider::{Context, Converge, Current, Inputs, NoConfig, Result, Sightings, Traits};

use super::{Shown, ask, find};
use crate::cloud::{Kind, Line, Request, Seen, Spec};

/// Under a name of the engine.
#[derive(Inputs)]
pub(super) struct Jar {
    #[trueup(default = 1)]
    size: u64,
    #[trueup(replace, default = "red")]
    colour: String,
    needs: Option<String>,
    #[trueup(replace)]
    host: Option<String>,
    note: Option<String>,
    #[trueup(secret)]
    secret: Option<String>,
    #[trueup(inject)]
    line: Line,
}

/// Under a name of the program, so that a replacement cannot exist beside what it replaces.
#[derive(Inputs)]
pub(super) struct Page {
    #[trueup(identity)]
    path: String,
    #[trueup(default = 1)]
    size: u64,
    #[trueup(replace, default = "red")]
    colour: String,
    needs: Option<String>,
    #[trueup(replace)]
    host: Option<String>,
    note: Option<String>,
    #[trueup(secret)]
    secret: Option<String>,
    #[trueup(inject)]
    line: Line,
}

macro_rules! convergent {
    ($name:ident, $kind:expr, $called:expr) => {
        impl $name {
            fn spec(&self) -> Spec {
                Spec {
                    size: self.size,
                    colour: self.colour.clone(),
                    needs: self.needs.clone(),
                    host: self.host.clone(),
                    note: self.note.clone(),
                    secret: self.secret.clone(),
                }
            }

            fn called(&self, context: &Context) -> String {
                let called: fn(&Self, &Context) -> String = $called;
                called(self, context)
            }
        }

        impl Converge for $name {
            type Output = Shown;
            type Config = NoConfig;

            fn traits() -> Traits {
                super::traits()
            }

            async fn reconcile(&self, context: &Context, current: &Current<Self>) -> Result<Shown> {
                let spec = self.spec();
                let request = match &current.output {
                    Some(output) => Request::Update { id: output.id.clone(), spec },
                    None => {
                        let (name, tags) = (Some(self.called(context)), context.tags());
                        Request::Create { kind: $kind, name, spec, token: None, tags }
                    }
                };
                Ok(ask::<Shown>(&self.line, context, request).await?.into())
            }

            async fn read(&self, context: &Context, prior: Option<&Shown>) -> Result<Sightings<Shown>> {
                let found = match prior {
                    Some(prior) => {
                        Some(ask::<Shown>(&self.line, context, Request::Read { id: prior.id.clone() }).await?)
                    }
                    None => find(&self.line, context, $kind, self.called(context)).await?,
                };
                Ok(found.map_or_else(Sightings::absent, |seen: Seen| {
                    let ownership = context.recognise(&seen.tags);
                    Sightings::recognised(seen.into(), ownership)
                }))
            }

            async fn delete(&self, context: &Context, output: &Shown) -> Result<()> {
                ask::<Shown>(&self.line, context, Request::Delete { id: output.id.clone() }).await.map(|_| ())
            }
        }
    };
}

convergent!(Jar, Kind::Jar, |_, context| context.physical_name());
convergent!(Page, Kind::Page, |own, _| own.path.clone());
