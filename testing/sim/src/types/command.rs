//! Types that local commands manage: without marks of an owner, and without a way to update an object. One whose objects
//! may be half made is replaced (`std_exec` without `update`).

use trueup_provider::{
    Context, Converge, Current, Diff, Error, Inputs, PlanHook, Recovery, Result, Sightings, Traits,
};

use super::{Shown, ask, find};
use crate::cloud::{Kind, Line, Request, Spec};

macro_rules! command {
    ($name:ident, $kind:expr, $recovery:expr) => {
        #[derive(Inputs)]
        pub(super) struct $name {
            #[trueup(replace, default = 1)]
            size: u64,
            #[trueup(replace, default = "red")]
            colour: String,
            #[trueup(replace)]
            needs: Option<String>,
            #[trueup(replace)]
            host: Option<String>,
            #[trueup(replace)]
            note: Option<String>,
            #[trueup(replace, secret)]
            secret: Option<String>,
            #[trueup(inject)]
            line: Line,
        }

        impl Converge for $name {
            type Output = Shown;
            type Config = Line;

            fn traits() -> Traits {
                super::traits()
            }

            fn recovery(&self) -> Recovery {
                $recovery
            }

            async fn reconcile(&self, context: &Context<Line>, current: &Current<Self>) -> Result<Shown> {
                match (&current.output, &current.olds) {
                    (Some(output), Some(_)) => return Ok(output.clone()),
                    (Some(_), None) => {
                        return Err(Error::conflict("it may be half made, and nothing finishes it"));
                    }
                    (None, _) => {}
                }
                let spec = Spec {
                    size: self.size,
                    colour: self.colour.clone(),
                    needs: self.needs.clone(),
                    host: self.host.clone(),
                    note: self.note.clone(),
                    bound: None,
                    secret: self.secret.clone(),
                };
                let name = ($recovery == Recovery::Lookup).then(|| context.physical_name());
                let request =
                    Request::Create { kind: $kind, name, spec, token: None, tags: Default::default() };
                Ok(ask::<Shown>(&self.line, context, request).await?.into())
            }

            async fn read(&self, context: &Context<Line>, prior: Option<&Shown>) -> Result<Sightings<Shown>> {
                let found = match prior {
                    Some(prior) => {
                        Some(ask::<Shown>(&self.line, context, Request::Read { id: prior.id.clone() }).await?)
                    }
                    None if $recovery != Recovery::Lookup => return Ok(Sightings::unsupported()),
                    None => find(&self.line, context, $kind, context.physical_name()).await?,
                };
                // The name is nobody else's.
                Ok(found.map_or_else(Sightings::absent, |seen| Sightings::owned(seen.into())))
            }

            async fn delete(&self, context: &Context<Line>, output: &Shown) -> Result<()> {
                ask::<Shown>(&self.line, context, Request::Delete { id: output.id.clone() }).await.map(|_| ())
            }

            fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
                let Some(prior) = &request.prior else { return Ok(plan.outputs_may_change()) };
                let mirrored = |shown: &Shown| (shown.size, shown.colour.clone());
                if prior.inputs.is_none() {
                    plan.replace("size");
                    plan.delete_first();
                } else if prior.observed.as_ref().is_some_and(|it| mirrored(it) != mirrored(&prior.outputs)) {
                    plan.replace("size");
                }
                plan.outputs_may_change();
                Ok(())
            }
        }
    };
}

command!(Sack, Kind::Sack, Recovery::Lookup);
command!(Pebble, Kind::Pebble, Recovery::Blind);
