//! `std_http`: any REST API as a resource.

mod call;
mod client;
mod pointer;
mod request;
mod send;
mod status;
mod template;
mod wait;

use std::collections::BTreeMap;
use std::time::Duration;

use trueup_core::{FieldType, Marked, Value, value};
use trueup_provider::{
    Context, Converge, Current, DeleteEnd, Diff, Error, Inputs, Outputs, PlanHook, Planned, Recovery, Result,
    Sightings, Traits,
};

use crate::outcome::{Outcome, check_codes};
use crate::purpose::{CONSISTENCY_WINDOW, Purpose, Recover, check_updates, replace_unfinished, unfinished};
use crate::surroundings::Surroundings;
use call::Known;
pub(crate) use call::{Question, get};
pub(crate) use client::new_client;
pub use request::Request;
pub use wait::Wait;

/// An object behind a REST API that has no provider of its own. Each operation is a request.
///
/// # Templates
/// In URLs, headers and bodies, names in braces stand for what is known when the request is sent:
///
/// - `{id}`: what the API calls the object, taken from the answer to `create`
/// - `{name}`: a name for the object, unique to this resource and the same each time
/// - `{token}`: the same for each attempt at one create or update; for an `Idempotency-Key` header. A header of all
///   requests that names it is left out where there is none, such as in reads
/// - `{address}`, `{stack}`, `{stage}`: whose it is
/// - `{response.NAME}`: a part of the last answer; deeper parts are reached with more dots
/// - `{bindings.KEY}`, `{bindings.KEY.NAME}`: in `create` and `update`, what is bound to the resource, or a part of it
///
/// `{{id}}` is the text `{id}` itself.
///
/// # Answers
/// 2xx is success. A `read` answered with 404 or 410 means that the object is gone, and such a `delete` that it is done.
/// Redirects are followed on the same host only. Any other answer says whether the request had an effect:
///
/// | answer | outcome |
/// | --- | --- |
/// | no connection: the request was never sent | `retry`: nothing happened, and it is sent again |
/// | 400–407, 409–428 | `failed`: nothing happened |
/// | 429 | `retry`, after as long as the server asks |
/// | 408, 430–499, 5xx, a redirect to another host | `unknown`: it may have happened |
/// | no answer in time, a broken connection | `unknown` |
///
/// `outcomes` overrides this for an API that means something else by a status.
///
/// # Unknown outcomes
/// The resource's recovery settles a `create` that may have happened:
///
/// - *lookup*, if there is a `lookup` request: the object is looked for before `create` is sent again, also after 429.
///   After 408 and 5xx this run does so; after any other answer, or none, it fails and the next run does.
/// - *token*, if `create` is a `PUT`, or with `recover = "token"`: `create` is sent again with the same `{token}`.
/// - Otherwise **the resource is blind**: the run stops, and a person has to say what became of the object.
///
/// The same holds for a run that was killed. An `update` or `delete` that may have happened is sent again, in this run if
/// its method is `PUT` or `DELETE`, else in the next.
///
/// # Half-made objects
/// An object that *lookup* found may be incomplete, and nobody knows what it was made with. The next run sends `update`.
/// Without `update` it replaces the object: `delete`, then `create`. With neither, the run stops. Then declare `update`,
/// or delete the object by hand. `delete` is the one that was declared when the object was made.
///
/// # Cycles
/// Two objects that need each other's ids form a cycle: one resource refers to the other, which gets the way back by a
/// binding. With `precreate`, either of them can be made first, as a stub that has an id and does nothing else:
///
/// ```hcl
/// resource "std_http" "left" {
///   precreate {
///     url  = "https://peers.example.com/peers"
///     body = { name = "{name}", enabled = false }
///   }
///   create {
///     url  = "https://peers.example.com/peers"
///     body = { name = "{name}", peer = "{bindings.right.id}" }
///   }
///   update {
///     url  = "https://peers.example.com/peers/{id}"
///     body = { name = "{name}", enabled = true, peer = "{bindings.right.id}" }
///   }
///   delete { url = "https://peers.example.com/peers/{id}" }
///   lookup {
///     url     = "https://peers.example.com/peers?name={name}"
///     pointer = "/items/0"
///   }
/// }
///
/// resource "std_http" "right" {
///   create {
///     url  = "https://peers.example.com/peers"
///     body = { name = "{name}", peer = std_http.left.id }
///   }
///   delete { url = "https://peers.example.com/peers/{id}" }
///
///   bind "right" {
///     to      = std_http.left
///     payload = { id = self.id }
///   }
/// }
/// ```
///
/// `right` is created with the id of the stub, and `update` then finishes `left`. All inputs but `create`, `update` and
/// `wait` must be known before. A `precreate` that may have happened is settled like a `create`. Without `precreate` there
/// is no stub, and a plan in which nothing else can be made first fails.
///
/// # What a change does
/// A changed method, URL or body of `create` or `update` sends `update`, or replaces the object if there is none.
/// `triggers` always replace. All else, headers included, says how the API is spoken to, and a change in it is only
/// noted.
#[derive(Inputs, Clone)]
pub struct Http {
    /// Makes the object.
    create: Request,
    /// Looks at the object. Without it the object is never checked.
    read: Option<Request>,
    /// Brings the object up to date in place. Without it the object is replaced.
    update: Option<Request>,
    /// Removes the object. Without it nothing is sent.
    delete: Option<Request>,
    /// Looks for the object by `{name}`. 404, or nothing at its `pointer`, means that there is none.
    lookup: Option<Request>,
    /// Makes a stub of the object, before what `create` and `update` refer to is known; `POST` if it names no method. For
    /// cycles; see above.
    precreate: Option<Request>,
    /// Where in the answer to `create`, `precreate` or `lookup` the id stands, as a JSON pointer.
    #[trueup(default = "/id", pattern = "^(/.*)?$")]
    id: String,
    /// How a create whose outcome is unknown is resolved: `lookup`, `token` or `blind`.
    recover: Option<Recover>,
    /// What to wait for after `create` and `update`.
    wait: Option<Wait>,
    /// Headers of all requests.
    #[trueup(default)]
    headers: BTreeMap<String, Marked<String>>,
    /// What statuses say about a request that was to change something, instead of the table above: `failed`, `retry` or
    /// `unknown` for each, such as `{ "503" = "retry" }`.
    outcomes: Option<BTreeMap<String, Outcome>>,
    /// Statuses with the outcome `retry`, in short.
    #[trueup(default)]
    retry_statuses: Vec<u16>,
    /// Parts of the object that change by themselves, as JSON pointers: they are never drift.
    ignore: Option<Vec<String>>,
    /// Parts of the answers that are secret, as JSON pointers. What repeats a secret of the inputs is secret by itself.
    secret_responses: Option<Vec<String>>,
    /// Anything whose change should replace the object.
    #[trueup(replace)]
    triggers: Option<Value>,
    /// How long to wait for one answer, in seconds.
    #[trueup(default = 30.0, range(min = 0.001, max = 86400))]
    timeout: f64,
    /// How long the object may stay invisible after it was created or updated, in seconds: so long its absence is not
    /// believed, but looked at again. So long a deleted object may stay visible, too: the delete waits until `read` finds
    /// it gone. If it is not set, 10.
    #[trueup(range(min = 0, max = 86400))]
    consistency_window: Option<f64>,
    /// Certificates to trust beside those of the system, as PEM.
    ca_pem: Option<String>,
}

/// An object behind a REST API.
#[derive(Outputs, Clone)]
pub struct HttpOutput {
    /// What the API calls it.
    #[trueup(identity, stable)]
    id: Option<String>,
    /// What requests were told as `{name}`.
    #[trueup(stable)]
    name: String,
    /// The status of the last answer.
    #[trueup(informational)]
    status: u16,
    /// The object as the last answer shows it.
    #[trueup(informational)]
    response: Value,
    /// The same without its id and what `ignore` names: a difference in it is drift.
    observed: Value,
}

impl Http {
    /// Whether the object is to be the same as before, however the API is spoken to.
    fn wants_the_same_as(&self, olds: &Http) -> bool {
        let updates = match (&self.update, &olds.update) {
            (Some(news), Some(olds)) => news.asks_the_same_as(olds),
            // Whether it can be updated says nothing of what it should be.
            _ => true,
        };
        updates && self.create.asks_the_same_as(&olds.create)
    }

    async fn bring_up_to_date(
        &self,
        context: &Context<Surroundings>,
        current: &Current<Self>,
        output: &HttpOutput,
    ) -> Result<HttpOutput> {
        let olds = current.olds.as_ref();
        // What is bound may have changed too.
        let unbound = current.bindings.is_empty();
        let noted = unbound
            && olds.is_some_and(|olds| {
                let differs = match (self.encode(), olds.encode()) {
                    (Ok(news), Ok(olds)) => !news.same(&olds),
                    _ => true,
                };
                differs && self.wants_the_same_as(olds)
            });
        if noted {
            let seen = self.look(context, output).await?;
            if seen.is_none_or(|seen| seen.observed.same(&output.observed)) {
                return Ok(output.clone());
            }
        }
        match (&self.update, olds) {
            (Some(update), _) => {
                let known = Known { output: Some(output), bindings: &current.bindings };
                let answer = self.call(Purpose::Update, update, context, known).await?;
                let updated = self.output(context, update, &answer, known)?;
                // Some APIs answer an update with nothing; then the object is as the next read shows it.
                match updated.response.is_null() {
                    true => Ok(self.look(context, &updated).await?.unwrap_or(updated)),
                    false => Ok(updated),
                }
            }
            (None, None) => Err(unfinished(self.delete.is_some())),
            (None, Some(olds)) if self.wants_the_same_as(olds) => Ok(output.clone()),
            (None, Some(_)) => Err(Error::conflict("it cannot be changed in place: it has no `update`")
                .hint("plan again: it will be replaced")),
        }
    }

    /// Makes the object, or a stub of it.
    async fn make(
        &self,
        purpose: Purpose,
        request: &Request,
        context: &Context<Surroundings>,
        known: Known<'_>,
    ) -> Result<HttpOutput> {
        let answer = self.call(purpose, request, context, known).await?;
        let made = self.output(context, request, &answer, known)?;
        self.require_id(purpose, &made)?;
        Ok(made)
    }

    /// Whether the object can be made twice and is still one, by the methods of the requests that make it.
    fn is_made_idempotently(&self) -> bool {
        let makers = [Some(&self.create), self.precreate.as_ref()];
        makers.into_iter().flatten().all(|it| it.is_idempotent(&call::method_for(Purpose::Create)))
    }

    /// The object as it is now, if that can be seen.
    async fn look(&self, context: &Context<Surroundings>, output: &HttpOutput) -> Result<Option<HttpOutput>> {
        let Some(read) = &self.read else { return Ok(None) };
        let answer = self.call(Purpose::Read, read, context, Known::of(output)).await?;
        let seen = self.output(context, read, &answer, Known::of(output))?;
        match (&read.pointer, seen.response.is_null()) {
            (Some(pointer), true) => Err(Error::not_found(format!("the answer has nothing at `{pointer}`"))),
            _ => Ok(Some(seen)),
        }
    }

    /// Looks for the object by its name. `None`: there is none.
    async fn find(&self, context: &Context<Surroundings>, lookup: &Request) -> Result<Option<HttpOutput>> {
        let answer = self.call(Purpose::Lookup, lookup, context, Known::default()).await?;
        let found = self.output(context, lookup, &answer, Known::default())?;
        let empty = found.response.as_items().is_some_and(<[Value]>::is_empty);
        Ok((!found.response.is_null() && !empty).then_some(found))
    }
}

impl Converge for Http {
    type Output = HttpOutput;
    type Config = Surroundings;

    fn recovery(&self) -> Recovery {
        match (self.recover, &self.lookup) {
            (Some(Recover::Lookup), _) | (None, Some(_)) => Recovery::Lookup,
            (Some(Recover::Token), _) => Recovery::Token,
            (None, None) if self.is_made_idempotently() => Recovery::Token,
            (Some(Recover::Blind) | None, _) => Recovery::Blind,
        }
    }

    fn traits() -> Traits {
        Traits { consistency_window: CONSISTENCY_WINDOW, importable: false, ..Traits::default() }
    }

    fn consistency_window(&self) -> Duration {
        let own = self.consistency_window.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        own.unwrap_or(CONSISTENCY_WINDOW)
    }

    fn delete_end(&self) -> DeleteEnd {
        if self.delete.is_some() { DeleteEnd::Gone } else { DeleteEnd::Answered }
    }

    async fn reconcile(
        &self,
        context: &Context<Surroundings>,
        current: &Current<Self>,
    ) -> Result<HttpOutput> {
        let output = match &current.output {
            // It was made or updated by an earlier attempt, which is still waiting for it.
            Some(output) if context.pending.is_some() => output.clone(),
            Some(output) => self.bring_up_to_date(context, current, output).await?,
            None => {
                let known = Known { output: None, bindings: &current.bindings };
                self.make(Purpose::Create, &self.create, context, known).await?
            }
        };
        self.wait_for(context, output).await
    }

    async fn read(
        &self,
        context: &Context<Surroundings>,
        prior: Option<&HttpOutput>,
    ) -> Result<Sightings<HttpOutput>> {
        match (prior, &self.read, &self.lookup) {
            (Some(prior), Some(_), _) => {
                let seen = self.look(context, prior).await?;
                Ok(seen.map_or_else(Sightings::unsupported, Sightings::owned))
            }
            (None, _, Some(lookup)) => {
                // The name is nobody else's.
                let found = self.find(context, lookup).await?;
                Ok(found.map_or_else(Sightings::absent, Sightings::owned))
            }
            (Some(_), None, _) | (None, _, None) => Ok(Sightings::unsupported()),
        }
    }

    fn stub(inputs: &HttpView) -> Option<Value> {
        let precreate = inputs.precreate.known()?.as_ref()?.encode().ok()?;
        // How a stub recovers follows from the request that makes it.
        Some(value!({ create: precreate, update: null, wait: null }))
    }

    async fn precreate(&self, context: &Context<Surroundings>) -> Result<HttpOutput> {
        let request = self.precreate.as_ref().unwrap_or(&self.create);
        self.make(Purpose::Precreate, request, context, Known::default()).await
    }

    async fn delete(&self, context: &Context<Surroundings>, output: &HttpOutput) -> Result<()> {
        let Some(delete) = &self.delete else { return Ok(()) };
        self.call(Purpose::Delete, delete, context, Known::of(output)).await.map(|_| ())
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let news = &request.current;
        if matches!((&news.wait, &news.read), (Planned::Known(Some(_)), Planned::Known(None))) {
            return Err(Error::invalid("there is no `read` to see by what is waited for").at("wait"));
        }
        if let (Planned::Known(Some(Recover::Lookup)), Planned::Known(None)) = (&news.recover, &news.lookup) {
            return Err(Error::invalid("there is no `lookup` to find the object with").at("recover"));
        }
        if matches!(news.update, Planned::Known(None)) {
            let stubbed = matches!(news.precreate, Planned::Known(Some(_)));
            check_updates(stubbed, request.bindings_changed)?;
        }
        check_codes(news.outcomes.known().and_then(Option::as_ref), 100..=999)?;
        let Some(prior) = &request.prior else { return Ok(()) };
        let drifted =
            prior.observed.as_ref().is_some_and(|seen| !seen.observed.same(&prior.outputs.observed));
        if matches!(news.update, Planned::Known(None)) {
            for part in ["create.method", "create.url", "create.body", "create.body_text"] {
                plan.replace_if_changed(part);
            }
            if prior.inputs.is_none() {
                let declared = news.delete.known().is_some_and(Option::is_some);
                let is_deletable = prior.attempted.as_ref().map_or(declared, |made| made.delete.is_some());
                replace_unfinished(is_deletable, plan)?;
            } else if drifted {
                plan.replace("update");
            }
        }
        let asks_the_same = prior.inputs.as_ref().is_some_and(|olds| {
            let create = news.create.known().is_some_and(|news| news.asks_the_same_as(&olds.create));
            let update = match (news.update.known(), &olds.update) {
                (Some(Some(news)), Some(olds)) => news.asks_the_same_as(olds),
                (update, _) => update.is_some(),
            };
            let triggers = |it: &Option<Value>| it.clone().unwrap_or_default();
            let same_triggers =
                news.triggers.known().is_some_and(|news| triggers(news).same(&triggers(&olds.triggers)));
            create && update && same_triggers
        });
        if asks_the_same && !drifted {
            let HttpOutput { status, response, observed, .. } = &prior.outputs;
            plan.set_output("status", status)?;
            plan.set_output("response", response)?;
            plan.set_output("observed", observed)?;
        }
        Ok(())
    }
}
