//! Types of the convergent contract. Of jars the engine chooses the name, of pages, leaves and pools the program, and hubs
//! have none. Others can attach something to jars, pages and hubs; of jars and hubs, stubs can be made.

use trueup_core::{Value, value};
use trueup_provider::{
    Binding, Context, Converge, Current, Inputs, Ownership, Recovery, Result, Sightings, Traits,
};

use super::{Shown, ShownByName, ask, find};
use crate::cloud::{Kind, Line, Request, Seen, Spec, canonical};
use crate::tally::Ingredient;

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

/// Without a name, and made only once for one token.
#[derive(Inputs)]
pub(super) struct Hub {
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

/// Under a name of the program, which may be spelled in several ways.
#[derive(Inputs)]
pub(super) struct Leaf {
    #[trueup(identity, replace)]
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

/// Where its path says: what is there already is taken.
#[derive(Inputs)]
pub(super) struct Pool {
    #[trueup(replace)]
    path: String,
    #[trueup(default = 1)]
    size: u64,
    #[trueup(default = "red")]
    colour: String,
    needs: Option<String>,
    host: Option<String>,
    note: Option<String>,
    #[trueup(secret)]
    secret: Option<String>,
    #[trueup(inject)]
    line: Line,
}

/// How objects of a type are found again, and what their creates bear for that.
struct Finding {
    recovery: Recovery,
    /// To make one is to see to it that there is one.
    ensures: bool,
    /// Objects have names.
    named: bool,
    /// The type tells where an object is, by its path.
    tells_place: bool,
}

/// What others attach, as the cloud keeps it.
fn attached(bindings: &[Binding]) -> Option<String> {
    let told: Vec<&str> = bindings.iter().filter_map(|it| it.payload.as_str()).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

macro_rules! convergent {
    ($name:ident, $view:ident, $kind:expr, shows $shown:ident, found $finding:expr, called $called:expr, at $path:expr) => {
        impl $name {
            fn spec(&self) -> Spec {
                Spec {
                    size: self.size,
                    colour: self.colour.clone(),
                    needs: self.needs.clone(),
                    host: self.host.clone(),
                    note: self.note.clone(),
                    bound: None,
                    secret: self.secret.clone(),
                }
            }

            fn called(&self, context: &Context<Line>) -> String {
                let called: fn(&Self, &Context<Line>) -> String = $called;
                called(self, context)
            }

            /// The object of its name, if there is one and it is its own.
            async fn own(&self, context: &Context<Line>) -> Result<Option<String>> {
                let found = find(&self.line, context, $kind, self.called(context)).await?;
                Ok(found
                    .filter(|seen| context.recognise(&seen.tags) != Ownership::Unowned)
                    .map(|seen| seen.id))
            }

            fn creating(context: &Context<Line>, name: String, spec: Spec) -> Request {
                let by_token = $finding.recovery == Recovery::Token;
                let token = context.token.filter(|_| by_token).map(|token| token.to_string());
                let tags = context.tags();
                Request::Create { kind: $kind, name: $finding.named.then_some(name), spec, token, tags }
            }
        }

        impl Converge for $name {
            type Output = $shown;
            type Config = Line;

            fn traits() -> Traits {
                Traits { tells_place: $finding.tells_place, ..super::traits() }
            }

            fn place(&self, line: &Line) -> Option<Value> {
                let path: fn(&Self) -> Option<&str> = $path;
                let name = canonical($kind, path(self)?);
                Some(value!({ region: (line.region()), name: (name) }))
            }

            fn recovery(&self) -> Recovery {
                $finding.recovery
            }

            async fn reconcile(&self, context: &Context<Line>, current: &Current<Self>) -> Result<$shown> {
                let spec = Spec { bound: attached(&current.bindings), ..self.spec() };
                let known = match &current.output {
                    Some(output) => Some(output.id.clone()),
                    None if $finding.ensures => self.own(context).await?,
                    None => None,
                };
                // What had its inputs, and still has, is left alone, as most types do it.
                if let (Some(olds), Some(output)) = (&current.olds, &current.output)
                    && olds.spec() == self.spec()
                {
                    let seen =
                        ask::<$shown>(&self.line, context, Request::Inspect { id: output.id.clone() }).await?;
                    if seen.spec == spec {
                        return Ok(seen.into());
                    }
                }
                let request = match known {
                    Some(id) => Request::Update { id, spec },
                    None => Self::creating(context, self.called(context), spec),
                };
                Ok(ask::<$shown>(&self.line, context, request).await?.into())
            }

            async fn read(&self, context: &Context<Line>, prior: Option<&$shown>) -> Result<Sightings<$shown>> {
                let found = match prior {
                    Some(prior) => {
                        Some(ask::<$shown>(&self.line, context, Request::Read { id: prior.id.clone() }).await?)
                    }
                    None if $finding.recovery != Recovery::Lookup => return Ok(Sightings::unsupported()),
                    None => find(&self.line, context, $kind, self.called(context)).await?,
                };
                Ok(found.map_or_else(Sightings::absent, |seen: Seen| {
                    let ownership = context.recognise(&seen.tags);
                    Sightings::recognised(seen.into(), ownership)
                }))
            }

            async fn delete(&self, context: &Context<Line>, output: &$shown) -> Result<()> {
                ask::<$shown>(&self.line, context, Request::Delete { id: output.id.clone() }).await.map(|_| ())
            }

            fn stub(_: &$view) -> Option<Value> {
                let nothing =
                    || value!({ size: 0, colour: "", needs: null, host: null, note: null, secret: null });
                $kind.has_stubs().then(nothing)
            }

            async fn precreate(&self, context: &Context<Line>) -> Result<$shown> {
                let line = context.config();
                line.count(Ingredient::Stub);
                let spec = Spec { size: self.size, colour: self.colour.clone(), ..Spec::default() };
                let request = Self::creating(context, context.physical_name(), spec);
                Ok(ask::<$shown>(line, context, request).await?.into())
            }
        }
    };
}

const BY_NAME: Finding =
    Finding { recovery: Recovery::Lookup, ensures: false, named: true, tells_place: false };
const BY_ENSURING: Finding = Finding { ensures: true, ..BY_NAME };
const BY_PLACE: Finding = Finding { tells_place: true, ..BY_ENSURING };
const BY_TOKEN: Finding = Finding { recovery: Recovery::Token, named: false, ..BY_NAME };
const BY_TAKING: Finding = Finding { named: true, ..BY_TOKEN };

convergent!(Jar, JarView, Kind::Jar, shows Shown, found BY_NAME, called |_, context| context.physical_name(), at |_| None);
convergent!(Page, PageView, Kind::Page, shows Shown, found BY_ENSURING, called |own, _| own.path.clone(), at |_| None);
convergent!(Hub, HubView, Kind::Hub, shows Shown, found BY_TOKEN, called |_, context| context.physical_name(), at |_| None);
convergent!(Leaf, LeafView, Kind::Leaf, shows ShownByName, found BY_PLACE, called |own, _| own.path.clone(), at |own| Some(&own.path));
convergent!(Pool, PoolView, Kind::Pool, shows Shown, found BY_TAKING, called |own, _| own.path.clone(), at |_| None);
