//! State that outlives the program.

use std::sync::Arc;

use trueup::stores::{KeySources, NewKeyFile, SealedStore, SqliteStore};
use trueup::{RuntimeClock, Stack, Store};

use super::{Parcel, World};

/// STATE-1, SECRET-3: another program goes on where the first one ended, and the file holds no secret.
#[test]
fn another_program_finds_what_the_first_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let opened = || {
        let (path, key) = (folder.path().join("state.db"), folder.path().join("key"));
        let file = trueup::run(SqliteStore::open(path, Arc::new(RuntimeClock::new()))).unwrap();
        let keys = KeySources { file: Some(key), new_file: NewKeyFile::default(), ..KeySources::default() };
        Arc::new(SealedStore::new(Arc::new(file), keys)) as Arc<dyn Store>
    };
    let declare = |stack: &mut Stack<'_>| {
        let it = stack.add("it", Parcel::args().name("it").size(1u64));
        stack.secret_output("name", it.name().map(|name| format!("{name} hunter2")));
    };
    let world = World::on(opened());
    world.deploy(declare);
    let world = World { store: opened(), ..world };
    assert!(world.plan(declare).to_string().ends_with("No changes"));
    let bytes = std::fs::read(folder.path().join("state.db")).unwrap();
    assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
    world.destroy(declare);
    assert_eq!(world.shelf.len(), 0);
}
