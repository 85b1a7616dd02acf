//! Types of the convergent contract: one whose name the engine chooses, one whose name the program chooses.

use trueup_provider::{Context, Converge, Current, Inputs, Ownership, Result, Sightings, Traits};

use super::{Region, Shown, ask, find};
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
    ($name:ident, $kind:expr, ensures $ensures:expr, called $called:expr) => {
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

            fn called(&self, context: &Context<Region>) -> String {
                let called: fn(&Self, &Context<Region>) -> String = $called;
                called(self, context)
            }

            /// The object of its name, if there is one and it is its own.
            async fn own(&self, context: &Context<Region>) -> Result<Option<String>> {
                let found = find(&self.line, context, $kind, self.called(context)).await?;
                Ok(found
                    .filter(|seen| context.recognise(&seen.tags) != Ownership::Unowned)
                    .map(|seen| seen.id))
            }
        }

        impl Converge for $name {
            type Output = Shown;
            type Config = Region;

            fn traits() -> Traits {
                super::traits()
            }

            async fn reconcile(&self, context: &Context<Region>, current: &Current<Self>) -> Result<Shown> {
                let spec = self.spec();
                let known = match &current.output {
                    Some(output) => Some(output.id.clone()),
                    None if $ensures => self.own(context).await?,
                    None => None,
                };
                // What had its inputs, and still has, is left alone, as most types do it.
                if let (Some(olds), Some(output)) = (&current.olds, &current.output)
                    && olds.spec() == spec
                {
                    let seen =
                        ask::<Shown>(&self.line, context, Request::Inspect { id: output.id.clone() }).await?;
                    if seen.spec == spec {
                        return Ok(seen.into());
                    }
                }
                let request = match known {
                    Some(id) => Request::Update { id, spec },
                    None => {
                        let (name, tags) = (Some(self.called(context)), context.tags());
                        Request::Create { kind: $kind, name, spec, token: None, tags }
                    }
                };
                Ok(ask::<Shown>(&self.line, context, request).await?.into())
            }

            async fn read(
                &self,
                context: &Context<Region>,
                prior: Option<&Shown>,
            ) -> Result<Sightings<Shown>> {
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

            async fn delete(&self, context: &Context<Region>, output: &Shown) -> Result<()> {
                ask::<Shown>(&self.line, context, Request::Delete { id: output.id.clone() }).await.map(|_| ())
            }
        }
    };
}

convergent!(Jar, Kind::Jar, ensures false, called |_, context| context.physical_name());
// To make one is to see to it that there is one.
convergent!(Page, Kind::Page, ensures true, called |own, _| own.path.clone());
