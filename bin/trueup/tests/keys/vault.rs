//! The transit engine of Vault and OpenBao.

use serde_json::json;
use trueup_test_servers::vault::{Answer, VaultServer};

use crate::keys::{Place, forms, lifecycle};

/// A token with the policy that the documentation shows.
const TOKEN: &str = "hvs.CAESIJ-trueup-51f0";

fn started() -> (VaultServer, Place) {
    let server = VaultServer::start("trueup");
    server
        .engine()
        .allow(TOKEN, &["transit/keys/trueup", "transit/encrypt/trueup", "transit/decrypt/trueup"]);
    let address = server.address();
    let environment =
        [("VAULT_ADDR", address.as_str()), ("VAULT_TOKEN", TOKEN), ("TRUEUP_KEY_VAULT", "trueup")];
    let place = Place::new(&environment);
    (server, place)
}

/// SECRET-10, SECRET-5.
#[test]
fn vault_wraps_the_keys_of_a_whole_life_and_nothing_of_them_is_told() {
    let (server, place) = started();
    lifecycle(&place, "vault", "TRUEUP_KEY_VAULT");
    // After a rotation old versions open, and a change of keys leaves them behind.
    assert!(place.wrapped().0.starts_with("vault:v1:"));
    let (state, copy) = (place.folder.path().join(".trueup/state.db"), place.folder.path().join("copy.db"));
    std::fs::copy(&state, &copy).unwrap();
    server.admin("POST", "transit/keys/trueup/rotate", &json!({}));
    assert!(place.done("plan", &[]).contains("No changes"));
    place.done("state rekey --yes", &[]);
    server.admin("POST", "transit/keys/trueup/config", &json!({ "min_decryption_version": 2 }));
    assert!(place.done("plan", &[]).contains("No changes"));
    assert_eq!(place.wrapped().1, "transit/trueup");
    assert!(place.wrapped().0.starts_with("vault:v2:"));
    // By the user's configuration; and the mount is part of the name.
    place.folder.write(".config/trueup/config.toml", "[key]\nkind = \"vault\"\nvault = \"transit/trueup\"\n");
    assert!(place.done("plan", &[("TRUEUP_KEY_VAULT", "")]).contains("No changes"));
    place.refused("plan", &[("TRUEUP_KEY_VAULT", "kv/trueup")], "lacks `update` on kv/decrypt/trueup");

    // A backup opens by the version that wrapped it, for as long as Vault has that.
    std::fs::copy(&copy, &state).unwrap();
    place.refused("plan", &[], "lower min_decryption_version");
    server.admin("POST", "transit/keys/trueup/config", &json!({ "min_decryption_version": 1 }));
    assert!(place.done("plan", &[]).contains("No changes"));

    let keys: Vec<String> = server.engine().plaintexts.iter().flat_map(|payload| forms(payload)).collect();
    assert!(keys.len() >= 12, "{}", keys.len());
    let secrets: Vec<&str> = keys.iter().map(String::as_str).chain([TOKEN]).collect();
    place.check_files(&secrets);
}

/// SECRET-10: whatever is wrong with the service, it is told, and nothing is lost.
#[test]
fn without_vault_only_secrets_are_out_of_reach_and_nothing_is_given_up() {
    let (server, place) = started();
    let unbuilt = place.run("deploy --stage t --yes", &[("VAULT_TOKEN", "hvs.wrong")]);
    assert!(unbuilt.code == 1 && !place.folder.has("out/secret.txt"), "{unbuilt:?}");
    place.done("deploy --stage t --yes", &[]);
    server.engine().requests.clear();
    place.done("plan", &[]);
    assert_eq!(server.engine().requests, ["POST transit/decrypt/trueup"], "a command asks once");
    let secret = ("VAULT_TOKEN", "hvs.wrong");
    let nobody = ("VAULT_ADDR", "http://127.0.0.1:9");
    let forget = "state rekey --forget --yes";
    for command in ["deploy --yes", "output --raw secret"] {
        place.refused(command, &[secret], "invalid token");
    }
    for command in ["plan", "state rekey --to file --yes", forget] {
        place.refused(command, &[secret], "invalid token");
        place.refused(command, &[nobody], "check VAULT_ADDR");
        server.engine().sealed = true;
        place.refused(command, &[], "Vault is sealed");
        server.engine().sealed = false;
        let echo = Answer::refusal(400, &[&format!("disallowed by policy: {TOKEN}")]);
        server.engine().next_answers = vec![echo; 9].into();
        place.refused(command, &[], "disallowed by policy: (secret)");
        server.engine().next_answers.clear();
    }
    for command in ["state list", "state show std_file.secret", "history", "output"] {
        place.done(command, &[nobody]);
    }
    assert!(place.done("plan", &[]).contains("No changes"));
    place.check_files(&["hvs."]);

    server.admin("POST", "transit/keys/trueup/config", &json!({ "deletion_allowed": true }));
    server.admin("DELETE", "transit/keys/trueup", &json!({}));
    place.refused("plan", &[], "there is no key transit/trueup");
    assert!(place.done(forget, &[]).contains("std_file.secret: "));
    server.admin("POST", "transit/keys/trueup", &json!({}));
    place.done("deploy --yes", &[]);
    assert!(place.done("plan", &[]).contains("No changes"));
}
