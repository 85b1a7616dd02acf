//! Types of the convergent contract. Of jars the engine chooses the name, of pages, leaves and pools the program, and hubs
//! have none. Others can attach something to jars, pages and hubs; of jars and hubs, stubs can be made.

use trueup_core::{FieldType, Value, value};
use trueup_provider::{
    Binding, Context, Converge, Current, Inputs, Ownership, Recovery, Result, Sightings, Traits,
};

use super::{Shown, ShownByName, ask, find};
use crate::cloud::{Kind, Line, Request, Seen, Spec, canonical};
use crate::tally::Ingredient;

/// Recovery of a type's objects, and what their creates bear for it.
struct Finding {
    recovery: Recovery,
    /// To make one is to see to it that there is one.
    ensures: bool,
    /// Objects have names.
    named: bool,
    /// The type tells where an object is, by its path.
    tells_place: bool,
}

const BY_NAME: Finding =
    Finding { recovery: Recovery::Lookup, ensures: false, named: true, tells_place: false };
const BY_ENSURING: Finding = Finding { ensures: true, ..BY_NAME };
const BY_PLACE: Finding = Finding { tells_place: true, ..BY_ENSURING };
const BY_TOKEN: Finding = Finding { recovery: Recovery::Token, named: false, ..BY_NAME };
const BY_TAKING: Finding = Finding { named: true, ..BY_TOKEN };

/// The differences between the types.
trait Convergent: Converge<Config = Line, Output: From<Seen> + FieldType> {
    const KIND: Kind;
    const FINDING: Finding;

    /// The name that the program chose.
    fn path(&self) -> Option<&str>;

    fn line(&self) -> &Line;

    fn spec(&self) -> Spec;

    fn id(output: &Self::Output) -> &str;
}

/// Defines a type: the roles of its path if it has one, and the role of its colour and host if a change of them replaces.
macro_rules! convergent {
    (
        $(#[$doc:meta])*
        $name:ident $([$path:ident: $($role:meta),+])? { $(colour, host: $replace:meta)? },
        found $finding:expr, shows $shown:ident
    ) => {
        $(#[$doc])*
        #[derive(Inputs)]
        pub(super) struct $name {
            $(
                #[trueup($($role),+)]
                $path: String,
            )?
            #[trueup(default = 1)]
            size: u64,
            #[trueup($($replace,)? default = "red")]
            colour: String,
            needs: Option<String>,
            $(#[trueup($replace)])?
            host: Option<String>,
            note: Option<String>,
            #[trueup(secret)]
            secret: Option<String>,
            #[trueup(inject)]
            line: Line,
        }

        impl Convergent for $name {
            const KIND: Kind = Kind::$name;
            const FINDING: Finding = $finding;

            fn path(&self) -> Option<&str> {
                None$(.or(Some(&self.$path)))?
            }

            fn line(&self) -> &Line {
                &self.line
            }

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

            fn id(output: &$shown) -> &str {
                &output.id
            }
        }

        impl Converge for $name {
            type Output = $shown;
            type Config = Line;

            fn traits() -> Traits {
                Traits { tells_place: Self::FINDING.tells_place, ..super::traits() }
            }

            fn place(&self, line: &Line) -> Option<Value> {
                place(self, line)
            }

            fn recovery(&self) -> Recovery {
                Self::FINDING.recovery
            }

            async fn reconcile(&self, context: &Context<Line>, current: &Current<Self>) -> Result<$shown> {
                reconcile(self, context, current).await
            }

            async fn read(&self, context: &Context<Line>, prior: Option<&$shown>) -> Result<Sightings<$shown>> {
                read(self, context, prior).await
            }

            async fn delete(&self, context: &Context<Line>, output: &$shown) -> Result<()> {
                ask::<$shown>(&self.line, context, Request::Delete { id: output.id.clone() }).await.map(|_| ())
            }

            fn stub(_: &Self::View) -> Option<Value> {
                let nothing =
                    || value!({ size: 0, colour: "", needs: null, host: null, note: null, secret: null });
                Self::KIND.has_stubs().then(nothing)
            }

            async fn precreate(&self, context: &Context<Line>) -> Result<$shown> {
                precreate(self, context).await
            }
        }
    };
}

convergent!(
    /// Under a name of the engine.
    Jar { colour, host: replace }, found BY_NAME, shows Shown
);
convergent!(
    /// Under a name of the program, so that a replacement cannot exist beside what it replaces.
    Page[path: identity] { colour, host: replace }, found BY_ENSURING, shows Shown
);
convergent!(
    /// Without a name, and made only once for one token.
    Hub { colour, host: replace }, found BY_TOKEN, shows Shown
);
convergent!(
    /// Under a name of the program, which may be spelled in several ways.
    Leaf[path: identity, replace] { colour, host: replace }, found BY_PLACE, shows ShownByName
);
convergent!(
    /// Where its path says: what is there already is taken.
    Pool[path: replace] {}, found BY_TAKING, shows Shown
);

fn place<T: Convergent>(own: &T, line: &Line) -> Option<Value> {
    let path = own.path().filter(|_| T::FINDING.tells_place)?;
    Some(value!({ region: (line.region()), name: (canonical(T::KIND, path)) }))
}

async fn reconcile<T: Convergent>(
    own: &T,
    context: &Context<Line>,
    current: &Current<T>,
) -> Result<T::Output> {
    let spec = Spec { bound: attached(&current.bindings), ..own.spec() };
    let known = match &current.output {
        Some(output) => Some(T::id(output).to_owned()),
        None if T::FINDING.ensures => owned(own, context).await?,
        None => None,
    };
    // What had its inputs, and still has, is left alone, as most types do it.
    if let (Some(olds), Some(output)) = (&current.olds, &current.output)
        && olds.spec() == own.spec()
    {
        let id = T::id(output).to_owned();
        let seen = ask::<T::Output>(own.line(), context, Request::Inspect { id }).await?;
        if seen.spec == spec {
            return Ok(seen.into());
        }
    }
    let request = match known {
        Some(id) => Request::Update { id, spec },
        None => creation::<T>(context, name(own, context), spec),
    };
    Ok(ask::<T::Output>(own.line(), context, request).await?.into())
}

async fn read<T: Convergent>(
    own: &T,
    context: &Context<Line>,
    prior: Option<&T::Output>,
) -> Result<Sightings<T::Output>> {
    let found = match prior {
        Some(prior) => {
            let id = T::id(prior).to_owned();
            Some(ask::<T::Output>(own.line(), context, Request::Read { id }).await?)
        }
        None if T::FINDING.recovery != Recovery::Lookup => return Ok(Sightings::unsupported()),
        None => find(own.line(), context, T::KIND, name(own, context)).await?,
    };
    Ok(found.map_or_else(Sightings::absent, |seen| {
        let ownership = context.recognise(&seen.tags);
        Sightings::recognised(seen.into(), ownership)
    }))
}

async fn precreate<T: Convergent>(own: &T, context: &Context<Line>) -> Result<T::Output> {
    let line = context.config();
    line.count(Ingredient::Stub);
    let Spec { size, colour, .. } = own.spec();
    let request = creation::<T>(context, context.physical_name(), Spec { size, colour, ..Spec::default() });
    Ok(ask::<T::Output>(line, context, request).await?.into())
}

/// The object of its name, if there is one and it is its own.
async fn owned<T: Convergent>(own: &T, context: &Context<Line>) -> Result<Option<String>> {
    let found = find(own.line(), context, T::KIND, name(own, context)).await?;
    Ok(found.filter(|seen| context.recognise(&seen.tags) != Ownership::Unowned).map(|seen| seen.id))
}

fn name<T: Convergent>(own: &T, context: &Context<Line>) -> String {
    own.path().map_or_else(|| context.physical_name(), str::to_owned)
}

fn creation<T: Convergent>(context: &Context<Line>, name: String, spec: Spec) -> Request {
    let by_token = T::FINDING.recovery == Recovery::Token;
    let token = context.token.filter(|_| by_token).map(|token| token.to_string());
    let name = T::FINDING.named.then_some(name);
    Request::Create { kind: T::KIND, name, spec, token, tags: context.tags() }
}

/// What others attach, as the cloud keeps it.
fn attached(bindings: &[Binding]) -> Option<String> {
    let told: Vec<&str> = bindings.iter().filter_map(|it| it.payload.as_str()).collect();
    (!told.is_empty()).then(|| told.join(", "))
}
