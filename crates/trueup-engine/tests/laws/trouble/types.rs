//! Resource types over the cloud that keeps books: both contracts, found by name or by token, with and without stubs.

use trueup_core::{Value, value};
use trueup_provider::{
    Context, Converge, Crud, Current, Diff, Found, Inputs, NativeProvider, Outputs, Ownership, PlanHook,
    Prior, Recovery, Registry, Result, Sightings,
};

use super::cloud::{Cloud, FaultEffect, HOME, Kind, Object, ObjectId, Operation, Spec};

#[derive(Inputs)]
struct Settings {
    region: Option<u64>,
}

/// The cloud as seen from one region.
struct Account {
    cloud: Cloud,
    region: u64,
}

#[derive(Outputs)]
struct Shown {
    #[trueup(identity, stable)]
    id: ObjectId,
    #[trueup(mirrors = "size")]
    size: u64,
    #[trueup(mirrors = "colour")]
    colour: String,
    /// Changes with the size.
    url: String,
    #[trueup(stable)]
    seal: String,
    complete: bool,
}

fn shown(id: ObjectId, object: &Object) -> Shown {
    let Spec { size, colour, .. } = object.spec.clone();
    Shown { id, size, colour, url: object.url(id), seal: object.seal(id), complete: object.complete }
}

/// Sends a request that changes the cloud, unless it is scripted to go wrong. The effect is told whether it will fail.
async fn send(
    context: &Context<Account>,
    operation: Operation,
    effect: impl FnOnce(&Account, bool) -> Result<ObjectId>,
) -> Result<Option<Shown>> {
    let account = context.config();
    let fault = account.cloud.fault(operation, context);
    tokio::task::yield_now().await;
    if let Some(fault) = fault.clone().filter(|fault| fault.effect == FaultEffect::None) {
        return Err(account.cloud.fail(fault));
    }
    let id = effect(account, fault.is_some())?;
    // A run that is cut off here has changed something and does not know.
    tokio::task::yield_now().await;
    let half = fault.as_ref().is_some_and(|fault| fault.effect == FaultEffect::Half);
    let answer = account.cloud.books().objects.get_mut(&id).map(|object| {
        object.complete &= !half;
        shown(id, object)
    });
    let Some(fault) = fault else { return Ok(answer) };
    let error = account.cloud.fail(fault);
    Err(match answer.filter(|_| half) {
        Some(partial) => error.with_partial(&partial),
        None => error,
    })
}

/// Defines a type: its inputs, and how they become the settings of an object.
macro_rules! inputs {
    ($name:ident $(, called $called:ident)?) => {
        #[derive(Inputs)]
        struct $name {
            $(
                #[trueup(identity)]
                $called: String,
            )?
            #[trueup(default = 1)]
            size: u64,
            #[trueup(replace, default = "red")]
            colour: String,
            needs: Option<ObjectId>,
            #[trueup(replace)]
            host: Option<ObjectId>,
            note: Option<String>,
        }

        impl $name {
            const KIND: Kind = Kind::$name;

            fn spec(&self, bound: Option<String>) -> Spec {
                let $name { size, colour, needs, host, note, .. } = self;
                Spec {
                    size: *size,
                    colour: colour.clone(),
                    needs: *needs,
                    host: *host,
                    note: note.clone(),
                    bound,
                }
            }

            /// The name of the object: the program's, or else the engine's.
            fn called(&self, context: &Context<Account>) -> String {
                $(
                    if true {
                        return self.$called.clone();
                    }
                )?
                context.physical_name()
            }

            fn recovery_class() -> Recovery {
                if Self::KIND.is_found_by_name() { Recovery::Lookup } else { Recovery::Token }
            }
        }
    };
}

macro_rules! typed {
    ($name:ident) => {
        inputs!($name);

        impl $name {
            fn observed(object: &Object) -> Self {
                let Spec { size, colour, needs, host, note, .. } = object.spec.clone();
                $name { size, colour, needs, host, note }
            }
        }

        impl Crud for $name {
            type Output = Shown;
            type Config = Account;

            fn recovery(&self) -> Recovery {
                Self::recovery_class()
            }

            async fn create(&self, context: &Context<Account>) -> Result<Shown> {
                let made = send(context, Operation::Create, |account, _| {
                    let place = (Self::KIND, account.region, self.called(context));
                    account.cloud.books().create(place, context, self.spec(None))
                });
                made.await?.ok_or_else(vanished)
            }

            async fn read(&self, context: &Context<Account>, prior: &Shown) -> Result<Shown> {
                let account = context.config();
                account.cloud.books().read(prior.id, account.region).map(|object| shown(prior.id, object))
            }

            async fn update(&self, context: &Context<Account>, prior: &Prior<Self>) -> Result<Shown> {
                let changed = send(context, Operation::Update, |account, fails| {
                    let id = prior.outputs.id;
                    account.cloud.books().update((id, account.region), context, self.spec(None), fails)
                });
                changed.await?.ok_or_else(vanished)
            }

            async fn delete(&self, context: &Context<Account>, prior: &Shown) -> Result<()> {
                delete(context, prior.id).await
            }

            async fn lookup(&self, context: &Context<Account>) -> Result<Sightings<Found<Self, Shown>>> {
                if !Self::KIND.is_found_by_name() {
                    return Ok(Sightings::unsupported());
                }
                Ok(sighted(context, Self::KIND, &self.called(context), |id, object| Found {
                    inputs: Self::observed(object),
                    outputs: shown(id, object),
                }))
            }
        }
    };
}

macro_rules! convergent {
    ($name:ident, $view:ident $(, called $called:ident)?) => {
        inputs!($name $(, called $called)?);

        impl Converge for $name {
            type Output = Shown;
            type Config = Account;

            fn recovery(&self) -> Recovery {
                Self::recovery_class()
            }

            async fn reconcile(&self, context: &Context<Account>, current: &Current<Self>) -> Result<Shown> {
                let bound = current.bindings.iter().find_map(|it| it.payload.as_str().map(str::to_owned));
                let spec = self.spec(bound);
                let known = current.output.as_ref().map(|output| output.id);
                let sent = match known.or_else(|| ensured(context, Self::KIND, &self.called(context))) {
                    Some(id) => {
                        send(context, Operation::Update, |account, fails| {
                            account.cloud.books().update((id, account.region), context, spec, fails)
                        })
                        .await
                    }
                    None => {
                        send(context, Operation::Create, |account, _| {
                            let place = (Self::KIND, account.region, self.called(context));
                            account.cloud.books().create(place, context, spec)
                        })
                        .await
                    }
                };
                sent?.ok_or_else(vanished)
            }

            async fn read(
                &self,
                context: &Context<Account>,
                prior: Option<&Shown>,
            ) -> Result<Sightings<Shown>> {
                let account = context.config();
                match prior {
                    Some(prior) => {
                        let books = account.cloud.books();
                        let object = books.read(prior.id, account.region)?;
                        let ownership = context.recognise(&object.tags);
                        Ok(Sightings::recognised(shown(prior.id, object), ownership))
                    }
                    None if Self::KIND.is_found_by_name() => {
                        Ok(sighted(context, Self::KIND, &self.called(context), shown))
                    }
                    None => Ok(Sightings::unsupported()),
                }
            }

            async fn delete(&self, context: &Context<Account>, output: &Shown) -> Result<()> {
                delete(context, output.id).await
            }

            // A page that was found says by its colour whether it can stay.
            fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
                let Some(prior) = request.prior.as_ref().filter(|_| Self::KIND == Kind::Page) else {
                    return Ok(());
                };
                if request.current.colour.known().is_some_and(|wanted| *wanted != prior.outputs.colour) {
                    plan.replace("colour");
                }
                Ok(())
            }

            fn stub(_: &$view) -> Option<Value> {
                let blank = || value!({ size: 0, colour: "", needs: null, host: null, note: null });
                Self::KIND.has_stubs().then(blank)
            }

            async fn precreate(&self, context: &Context<Account>) -> Result<Shown> {
                let spec = Spec { size: self.size, colour: self.colour.clone(), ..Spec::default() };
                let made = send(context, Operation::Stub, |account, _| {
                    let place = (Self::KIND, account.region, self.called(context));
                    account.cloud.books().create(place, context, spec)
                });
                made.await?.ok_or_else(vanished)
            }
        }
    };
}

typed!(Shelf);
typed!(Ticket);
convergent!(Node, NodeView);
convergent!(Post, PostView);
convergent!(Hub, HubView);
convergent!(Page, PageView, called path);

fn vanished() -> trueup_provider::Error {
    trueup_provider::Error::not_found("it is gone already")
}

async fn delete(context: &Context<Account>, id: ObjectId) -> Result<()> {
    let gone = send(context, Operation::Delete, |account, _| {
        account.cloud.books().delete(id, account.region, context)
    });
    gone.await.map(drop)
}

/// The resource's own object of a name that the program chose: to make a page is to see to it that there is one.
fn ensured(context: &Context<Account>, kind: Kind, name: &str) -> Option<ObjectId> {
    let account = context.config();
    let found = account.cloud.books().find(kind, account.region, name);
    let own = |object: &Object| kind == Kind::Page && context.recognise(&object.tags) != Ownership::Unowned;
    found.into_iter().find(|(_, object)| own(object)).map(|(id, _)| id)
}

/// All objects of a name.
fn sighted<T>(
    context: &Context<Account>,
    kind: Kind,
    name: &str,
    seen: impl Fn(ObjectId, &Object) -> T,
) -> Sightings<T> {
    let account = context.config();
    let found = account.cloud.books().find(kind, account.region, name);
    found.iter().fold(Sightings::absent(), |sightings, (id, object)| {
        sightings.and(seen(*id, object), context.recognise(&object.tags))
    })
}

/// The provider `l`, whose configuration says in which region it works.
pub(crate) fn registry(cloud: &Cloud) -> Registry {
    let cloud = cloud.clone();
    let provider = NativeProvider::configured("l", move |settings: Settings| {
        let account = Account { cloud: cloud.clone(), region: settings.region.unwrap_or(HOME) };
        async { Ok(account) }
    });
    Registry::new().with(
        provider
            .crud::<Shelf>("shelf")
            .crud::<Ticket>("ticket")
            .converge::<Node>("node")
            .converge::<Post>("post")
            .converge::<Hub>("hub")
            .converge::<Page>("page"),
    )
}
