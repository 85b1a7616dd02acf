//! Golden exports are imported.

use serde_json::{Map, Value as Json};

use crate::golden::expectation::assert_expected;
use crate::golden::workplace::{STATE_FILE, Workplace};
use crate::golden::{Golden, states};

/// The sealed and the open export of the finished stack, and what both say once they are imported.
pub(crate) const IMPORTED: [&str; 2] = ["shop-sealed.json", "shop-open.json"];
pub(crate) const EXPECTED: &str = "expected/imported.json";

/// A new store into which an export was imported.
pub(crate) fn import(golden: &Golden, export: &str) -> Json {
    let workplace = importing(golden, "shop", export);
    workplace.done("state import copy.json --yes");
    states::report(&workplace)
}

fn importing(golden: &Golden, stack: &str, export: &str) -> Workplace {
    let workplace = Workplace::of(golden, stack, STATE_FILE);
    workplace.write("copy.json", &golden.text(&format!("exports/{export}")));
    workplace
}

/// STATE-7, STATE-9, SECRET-3
#[test]
fn golden_exports_are_imported() {
    for golden in Golden::all() {
        for export in IMPORTED {
            assert_expected(&golden, EXPECTED, &import(&golden, export));
        }
    }
}

/// Keys that are not in a file, by the exports that they seal.
pub(crate) const KEYS: [(&str, &str, &str); 3] = [
    ("keys-passphrase.json", "TRUEUP_PASSPHRASE", "correct horse battery staple"),
    ("keys-env.json", "TRUEUP_KEY", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"),
    ("keys-command.json", "TRUEUP_KEY_COMMAND", "sh wrap.sh"),
];
pub(crate) const SECRETS: &str = "expected/keys.json";

/// The secret in each of these exports.
pub(crate) fn open_secrets(golden: &Golden) -> Json {
    let secrets = KEYS.into_iter().map(|(export, variable, key)| {
        let workplace = importing(golden, "keys", export).with_key(variable, key);
        workplace.done("state import copy.json --yes");
        (export.to_owned(), workplace.json("output secret --json"))
    });
    Json::from(secrets.collect::<Map<_, _>>())
}

/// STATE-7, SECRET-3
#[test]
fn golden_exports_open_by_keys_of_every_kind() {
    for golden in Golden::all() {
        assert_expected(&golden, SECRETS, &open_secrets(&golden));
    }
}

/// STATE-7: an export with operations in flight reads, and says why it cannot be imported.
#[test]
fn golden_exports_of_interrupted_operations_are_refused() {
    for golden in Golden::all() {
        let workplace = importing(&golden, "cut", "cut.json");
        workplace.refused(
            "state import copy.json --yes",
            "cannot be imported: an operation on it is not finished",
        );
    }
}
