//! A type with every form of input and output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use trueup::{
    Context, Crud, Error, FieldType, Inputs, NativeProvider, NoConfig, Outputs, Prior, Result, Secret,
};

/// What there is, by name. A clone shares it.
#[derive(Clone, Default)]
pub(crate) struct World(pub(crate) Arc<Mutex<BTreeMap<String, ThingOutput>>>);

/// A thing.
#[derive(Inputs)]
pub(crate) struct Thing {
    #[trueup(identity, replace)]
    name: String,
    note: Option<String>,
    #[trueup(default = "small", one_of("small", "large"))]
    size: String,
    #[trueup(computed)]
    chosen: Option<u64>,
    #[trueup(computed)]
    silent: Option<u64>,
    #[trueup(empty_is_absent)]
    tags: Option<BTreeMap<String, String>>,
    parts: Option<Vec<Part>>,
    by_key: Option<BTreeMap<String, Part>>,
    several: Option<BTreeSet<Part>>,
    grid: Option<Vec<Vec<Part>>>,
    pair: Option<(String, u64)>,
    #[trueup(block, default)]
    rule: Vec<Part>,
    #[trueup(block)]
    single: Option<Part>,
    password: Option<Secret<String>>,
    #[trueup(write_only)]
    token: Option<Secret<String>>,
    #[trueup(replace)]
    origin: Option<Origin>,
    #[trueup(inject)]
    world: World,
}

/// A part.
#[derive(Clone, FieldType, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    key: String,
    #[trueup(default = 80)]
    port: u64,
    #[trueup(computed)]
    decided: Option<String>,
}

/// Where it is from.
#[derive(Clone, FieldType)]
pub(crate) struct Origin {
    city: String,
    #[trueup(default)]
    floor: u64,
}

/// A thing as it is.
#[derive(Clone, Outputs)]
pub(crate) struct ThingOutput {
    #[trueup(stable)]
    id: String,
    #[trueup(mirrors = "name")]
    name: String,
    #[trueup(mirrors = "note")]
    pub(crate) note: Option<String>,
    chosen: u64,
    parts: Vec<Part>,
    #[trueup(mirrors = "tags")]
    tags: Option<BTreeMap<String, String>>,
    pub(crate) total: u64,
    #[trueup(informational)]
    pub(crate) seen: u64,
    opener: Secret<String>,
    has_token: bool,
}

impl Thing {
    fn put(&self, prior: Option<&ThingOutput>) -> Result<ThingOutput> {
        let decided = |part: &Part| Part {
            decided: part.decided.clone().or_else(|| Some(format!("for {}", part.key))),
            ..part.clone()
        };
        let parts: Vec<Part> = self.parts.iter().flatten().map(decided).collect();
        let known = prior.map_or(7, |prior| prior.chosen);
        let thing = ThingOutput {
            id: format!("id-{}", self.name),
            name: self.name.clone(),
            note: self.note.clone(),
            chosen: self.chosen.unwrap_or(known),
            total: parts.len() as u64 + self.rule.len() as u64,
            parts,
            tags: self.tags.clone(),
            seen: 0,
            opener: Secret::new(self.password.as_ref().map_or(String::new(), |it| it.expose().clone())),
            has_token: self.token.is_some(),
        };
        self.world.0.lock().unwrap().insert(self.name.clone(), thing.clone());
        // Read, so that no field is there for nothing.
        let _ = (&self.size, self.silent, &self.by_key, &self.several, &self.grid, &self.pair, &self.single);
        let _ = self.origin.as_ref().map(|origin| (&origin.city, origin.floor));
        Ok(thing)
    }
}

impl Crud for Thing {
    type Output = ThingOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<ThingOutput> {
        self.put(None)
    }

    async fn read(&self, _: &Context, prior: &ThingOutput) -> Result<ThingOutput> {
        let things = self.world.0.lock().unwrap();
        let thing = things.get(&prior.name).cloned().ok_or_else(|| Error::not_found("no such thing"))?;
        Ok(ThingOutput { seen: prior.seen + 1, ..thing })
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<ThingOutput> {
        self.put(Some(&prior.outputs))
    }

    async fn delete(&self, _: &Context, prior: &ThingOutput) -> Result<()> {
        let gone = self.world.0.lock().unwrap().remove(&prior.name);
        gone.map(drop).ok_or_else(|| Error::not_found("no such thing"))
    }
}

/// A provider of things in a world.
pub(crate) fn provider(world: &World) -> NativeProvider {
    let world = world.clone();
    NativeProvider::new("all").crud_with::<Thing>("thing", move || world.clone())
}
