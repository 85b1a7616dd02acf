//! The places of objects: whether two configurations of a provider lead to the same one (DRIFT-11, DELETE-11), and whether
//! two spellings of an identity do (REPLACE-11).
//!
//! An identity names an object within a place: the same path is another file in another folder, the same name another
//! table in another region. Some types can tell the place of an object. Of the others, nobody knows whether two
//! configurations that differ lead to the same one, and what each of them finds has to tell.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::ResourceSchema;
use trueup_core::{Failure, Value};
use trueup_provider::{Configured, InputValues, Observed, ResourceHandler, State, provider_named};
use trueup_state::{Configuration, ConfigurationNumber, Generation};

use super::recorded::{RecordedConfigurations, configuration};
use crate::call::Caller;
use crate::mutations::planted;

/// The places of one type's objects.
#[derive(Clone)]
pub(crate) struct Places<'a> {
    pub(crate) calls: &'a Caller<'a>,
    pub(crate) recorded: RecordedConfigurations,
    pub(crate) handler: Arc<dyn ResourceHandler>,
    /// The name of the provider's configuration.
    pub(crate) provider: SmolStr,
}

/// A configuration other than the one in use, under which an object may still be.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere {
    pub(crate) number: ConfigurationNumber,
    pub(crate) place: Place,
}

/// How the place of another configuration relates to that of the one in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// The same, most probably: only credentials differ.
    Alike,
    /// Nobody knows.
    Unknown,
    /// Another one.
    Apart,
}

impl Places<'_> {
    /// The configuration that a generation was made with, unless it leads where the one in use does.
    pub(crate) async fn elsewhere(&self, config: &Configured, generation: &Generation) -> Option<Elsewhere> {
        if !self.recorded.may_differ(config, generation) {
            return None;
        }
        let (number, made_with) = self.recorded.made_with(generation)?;
        let inputs = generation.inputs().map(|inputs| &inputs.effective);
        if let Some(here) = inputs.and_then(|inputs| place(&*self.handler, config, inputs)) {
            let place = match self.of(generation).await {
                Some(there) if there == here => return None,
                Some(_) => Place::Apart,
                None => Place::Unknown,
            };
            return Some(Elsewhere { number, place });
        }
        let now = configuration(config);
        let alike = made_with.is_alike_but_for(&self.credentials().await, &now);
        if alike && made_with == now {
            return None;
        }
        Some(Elsewhere { number, place: if alike { Place::Alike } else { Place::Unknown } })
    }

    /// Whether a configuration of which not everything is known yet may lead to another place than the one that a
    /// generation was made with.
    pub(crate) async fn may_lead_elsewhere(&self, expected: &Value, generation: &Generation) -> bool {
        let Some((_, made_with)) = self.recorded.made_with(generation) else { return false };
        let expected = Configuration::new(provider_named(&self.provider), expected);
        !made_with.is_alike_but_for(&self.credentials().await, &expected)
    }

    /// The provider as it was when a generation was made, if that can be had again.
    pub(crate) async fn made_with(&self, generation: &Generation) -> Option<Configured> {
        self.recorded.ready(self.calls, &self.provider, generation.configuration?).await.ok()
    }

    /// Whether these inputs denote the object of a generation under this configuration, however they spell it (REPLACE-11).
    pub(crate) async fn is_object_of(
        &self,
        config: &Configured,
        inputs: &Value,
        generation: &Generation,
    ) -> bool {
        let Some(here) = place(&*self.handler, config, inputs) else { return false };
        match generation.configuration {
            Some(_) => self.of(generation).await == Some(here),
            // Before configurations were recorded, there was one.
            None => generation
                .inputs()
                .and_then(|inputs| place(&*self.handler, config, &inputs.effective))
                .is_some_and(|there| there == here),
        }
    }

    /// Whether two generations hold one object.
    pub(crate) async fn are_one_object(&self, one: &Generation, other: &Generation) -> bool {
        if let (Some(one), Some(other)) = (self.of(one).await, self.of(other).await) {
            return one == other;
        }
        let identity = |it: &Generation| it.object.as_ref()?.identity.clone();
        let identities = identity(one).zip(identity(other));
        identities.is_some_and(|(one, other)| one.same(&other)) && self.is_shared(one, other).await
    }

    /// Where a generation was made, if its type can tell.
    pub(crate) async fn of(&self, generation: &Generation) -> Option<Value> {
        let inputs = &generation.inputs()?.effective;
        self.of_object(&self.provider, generation.configuration?, inputs).await
    }

    /// Where an object of these inputs is, if its type can tell.
    pub(crate) async fn of_object(
        &self,
        provider: &SmolStr,
        number: ConfigurationNumber,
        inputs: &Value,
    ) -> Option<Value> {
        if !self.handler.traits().tells_place {
            return None;
        }
        let ready = self.recorded.ready(self.calls, provider, number).await.ok()?;
        place(&*self.handler, &ready, inputs)
    }

    /// Whether two generations were made in the same place, as far as anyone can tell.
    async fn is_shared(&self, one: &Generation, other: &Generation) -> bool {
        if one.configuration == other.configuration {
            return true;
        }
        if let (Some(one), Some(other)) = (self.of(one).await, self.of(other).await) {
            return one == other;
        }
        let configurations = self.recorded.made_with(one).zip(self.recorded.made_with(other));
        let Some(((_, one), (_, other))) = configurations else { return true };
        one.is_alike_but_for(&self.credentials().await, &other)
    }

    /// The attributes of the provider's configuration that say in whose name it works.
    async fn credentials(&self) -> Vec<SmolStr> {
        let Some(provider) = self.calls.registry.configured(&self.provider) else { return Vec::new() };
        let schema = self.calls.of_provider(&self.provider, async || provider.config_schema().await).await;
        let Ok(schema) = schema else { return Vec::new() };
        let secret = schema.attributes.iter().filter(|(_, attribute)| attribute.secret);
        secret.map(|(name, _)| name.clone()).collect()
    }

    /// Whether what was seen is another object than the recorded one of the same identity: something differs that stays
    /// as it is for as long as an object lives.
    pub(crate) fn is_another(&self, recorded: &State, seen: &State) -> bool {
        let outputs = &self.handler.schema().outputs.attributes;
        let stable = outputs.iter().filter(|(_, attribute)| attribute.stable).map(|(name, _)| name);
        let differs = |name: &SmolStr| match (recorded.outputs.get(name), seen.outputs.get(name)) {
            (Some(before), Some(now)) => !before.same(now),
            _ => false,
        };
        let identities = recorded.identity.as_ref().zip(seen.identity.as_ref());
        identities.is_some_and(|(before, now)| !before.same(now)) || stable.into_iter().any(differs)
    }
}

/// The place of the object of these inputs, if the type can tell and the inputs that identify it are known.
pub(crate) fn place(handler: &dyn ResourceHandler, config: &Configured, inputs: &Value) -> Option<Value> {
    if !handler.traits().tells_place || planted!(IgnoreSpelling) {
        return None;
    }
    let mut identity = handler.schema().inputs.attributes.iter().filter(|(_, attribute)| attribute.identity);
    let is_known = identity.all(|(name, _)| inputs.get(name).is_none_or(Value::is_wholly_known));
    is_known.then(|| handler.place(config, inputs)).flatten()
}

/// A state whose identity is spelled as in these inputs, with the outputs that mirror it.
pub(crate) fn respelled(schema: &ResourceSchema, state: &State, inputs: &InputValues) -> State {
    let attributes = &schema.inputs.attributes;
    let names = || attributes.iter().filter(|(_, attribute)| attribute.identity).map(|(name, _)| name);
    let spelled = |before: &Value, now: &Value| {
        names().fold(before.clone(), |value, name| match now.get(name) {
            Some(now) => value.with_entry(name, now.clone()),
            None if before.get(name).is_some() => value.with_entry(name, Value::NULL),
            None => value,
        })
    };
    let mirrors = schema.outputs.attributes.iter().filter_map(|(name, output)| {
        let input = output.mirrors.as_ref().filter(|input| names().any(|name| name == *input))?;
        Some((name, inputs.effective.get(input)?))
    });
    let outputs = mirrors.fold(state.outputs.clone(), |outputs, (name, value)| {
        if outputs.get(name).is_some() { outputs.with_entry(name, value.clone()) } else { outputs }
    });
    let inputs = state.inputs.as_ref().map(|before| InputValues {
        written: spelled(&before.written, &inputs.written),
        effective: spelled(&before.effective, &inputs.effective),
    });
    State { inputs, outputs, ..state.clone() }
}

impl Elsewhere {
    /// Whether an object was seen there. Where nobody can look, it may be: only if both lead to the same place, what was
    /// not found there is gone.
    pub(crate) fn is_seen(self, looked: Result<Observed, Failure>, provider: &str) -> Result<bool, Failure> {
        if planted!(TrustOtherPlace) {
            return Ok(false);
        }
        match looked {
            Ok(observed) => Ok(matches!(observed, Observed::Present(_))),
            Err(_) if self.place == Place::Alike => Ok(false),
            Err(failure) => Err(out_of_reach(failure, provider, "it is not found, and ")),
        }
    }
}

/// Why an object cannot be reached: the configuration that it was made with is of no use any more.
pub(crate) fn out_of_reach(failure: Failure, provider: &str, why: &str) -> Failure {
    let message = format!(
        "{why}the configuration of provider `{provider}` changed since it was made: {}",
        failure.message
    );
    Failure { message, ..failure }
        .hint("restore the previous `provider` block and run again")
        .hint("if the object no longer exists, remove it from state with `trueup state rm`")
}
