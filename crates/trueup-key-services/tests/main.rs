//! The client of the transit engine against a server that speaks its API: each refusal, what is repeated, and where the
//! token goes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use trueup_key_services::vault_key;
use trueup_provider::{BoxFuture, Clock};
use trueup_state::Scope;
use trueup_state::sealing::{KeyService, KeyServiceError};
use trueup_test_servers::vault::{Answer, ROOT_TOKEN, VaultServer};

const PAYLOAD: &[u8] = b"thirty-two bytes, and as many more";

/// A clock whose pauses are over at once.
#[derive(Debug, Default)]
struct Hasty(std::sync::Mutex<Vec<u64>>);

impl Clock for Hasty {
    fn now(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH
    }

    fn sleep(&self, duration: std::time::Duration) -> BoxFuture<'static, ()> {
        self.0.lock().unwrap().push(u64::try_from(duration.as_millis()).unwrap());
        Box::pin(async {})
    }
}

fn scope() -> Scope {
    Scope::new("shop", "prod")
}

fn environment(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn key_of(server: &VaultServer, key: &str, token: &str) -> (Arc<dyn KeyService>, Arc<Hasty>) {
    let clock = Arc::<Hasty>::default();
    let environment = environment(&[("VAULT_ADDR", &server.address()), ("VAULT_TOKEN", token)]);
    (vault_key(key, &environment, clock.clone()).unwrap(), clock)
}

async fn wrapped(key: &Arc<dyn KeyService>) -> String {
    key.wrap(PAYLOAD, &scope()).await.unwrap().text
}

#[tokio::test]
async fn a_rotated_key_opens_what_older_versions_wrapped() {
    let server = VaultServer::start("trueup");
    let (key, _) = key_of(&server, "trueup", ROOT_TOKEN);
    let first = key.wrap(PAYLOAD, &scope()).await.unwrap();
    assert_eq!(first.by, "transit/trueup");
    assert!(first.text.starts_with("vault:v1:"), "{first:?}");
    server.admin("POST", "transit/keys/trueup/rotate", &json!({}));
    assert!(wrapped(&key).await.starts_with("vault:v2:"));
    assert_eq!(key.unwrap(&first.text, &scope()).await.unwrap()[..], *PAYLOAD);
    server.admin("POST", "transit/keys/trueup/config", &json!({ "min_decryption_version": 2 }));
    let refused = key.unwrap(&first.text, &scope()).await.unwrap_err();
    assert!(
        matches!(&refused, KeyServiceError::Unavailable(told) if told.contains("min_decryption_version"))
    );
}

/// SECRET-10: what the server says is told with what to do, and neither token nor key material is in it.
#[tokio::test]
async fn each_refusal_says_what_to_do_and_repeats_no_secret() {
    let server = VaultServer::start("trueup");
    server.admin("POST", "transit/keys/other", &json!({}));
    server.admin("POST", "transit/keys/derived", &json!({ "derived": true }));
    server.engine().allow("hvs.reader", &["transit/decrypt/trueup"]);
    let text = wrapped(&key_of(&server, "trueup", ROOT_TOKEN).0).await;
    let cases: [(&str, &str, &str, bool); 6] = [
        ("trueup", "hvs.nobody", "invalid token", true),
        ("trueup", "hvs.reader", "lacks `update` on transit/encrypt/trueup", true),
        ("missing", ROOT_TOKEN, "`vault write -f transit/keys/missing` creates one", false),
        ("derived", ROOT_TOKEN, "is derived", false),
        ("kv/trueup", ROOT_TOKEN, "no transit engine at `kv`", true),
        ("trueup", "bad\ntoken", "not one for a header", true),
    ];
    for (name, token, expected, is_unavailable) in cases {
        let refused = key_of(&server, name, token).0.wrap(PAYLOAD, &scope()).await.unwrap_err();
        check(&refused, expected, is_unavailable, token);
    }
    let missing = server.engine().requests.iter().any(|it| it.starts_with("POST transit/encrypt/missing"));
    assert!(!missing, "Vault would have made the key");
    for (name, text, expected) in [
        ("other", text.as_str(), "message authentication failed"),
        ("missing", text.as_str(), "creates one"),
        ("trueup", "garbage", "no prefix"),
    ] {
        let refused = key_of(&server, name, ROOT_TOKEN).0.unwrap(text, &scope()).await.unwrap_err();
        check(&refused, expected, false, ROOT_TOKEN);
    }
    assert_eq!(
        key_of(&server, "trueup", "hvs.reader").0.unwrap(&text, &scope()).await.unwrap()[..],
        *PAYLOAD
    );
    server.engine().sealed = true;
    let refused = key_of(&server, "trueup", ROOT_TOKEN).0.unwrap(&text, &scope()).await.unwrap_err();
    check(&refused, "unseal it", true, ROOT_TOKEN);
    server.engine().sealed = false;
    // A server that repeats what it was sent.
    let echo = format!("bad request: {ROOT_TOKEN} and {text}\u{1b}[2J");
    server.engine().next_answers.push_back(Answer::refusal(400, &[&echo]));
    let refused = key_of(&server, "trueup", ROOT_TOKEN).0.unwrap(&text, &scope()).await.unwrap_err();
    check(&refused, "bad request: (secret) and (secret)", false, ROOT_TOKEN);
}

fn check(refused: &KeyServiceError, expected: &str, is_unavailable: bool, token: &str) {
    let told = refused.to_string();
    assert!(told.contains(expected), "{expected}: {told}");
    assert_eq!(matches!(refused, KeyServiceError::Unavailable(_)), is_unavailable, "{told}");
    assert!(!told.contains(token) && !told.contains('\u{1b}') && !told.contains('\n'), "{told}");
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again_a_few_times() {
    let server = VaultServer::start("trueup");
    let text = wrapped(&key_of(&server, "trueup", ROOT_TOKEN).0).await;
    let answer = |status| Answer::refusal(status, &["busy"]);
    let cases = [
        (vec![answer(500), answer(429).with_header("Retry-After", "3")], true, vec![200, 3000]),
        (vec![answer(502); 3], true, vec![200, 400, 800]),
        (vec![answer(503); 4], false, vec![200, 400, 800]),
        (vec![answer(429).with_header("Retry-After", "100000")], false, vec![]),
        (vec![answer(418)], false, vec![]),
    ];
    for (answers, succeeds, pauses) in cases {
        let told = format!("{answers:?}");
        server.engine().next_answers = answers.into();
        let (key, clock) = key_of(&server, "trueup", ROOT_TOKEN);
        assert_eq!(key.unwrap(&text, &scope()).await.is_ok(), succeeds, "{told}");
        assert_eq!(*clock.0.lock().unwrap(), pauses, "{told}");
    }
}

/// SECRET-10: the token is for one server.
#[tokio::test]
async fn a_redirect_does_not_get_the_token() {
    let (server, elsewhere) = (VaultServer::start("trueup"), VaultServer::start("trueup"));
    let to = format!("{}/v1/transit/decrypt/trueup", elsewhere.address());
    let text = wrapped(&key_of(&server, "trueup", ROOT_TOKEN).0).await;
    let before = elsewhere.engine().requests.len();
    server.engine().next_answers.push_back(Answer::refusal(307, &[]).with_header("Location", &to));
    let refused = key_of(&server, "trueup", ROOT_TOKEN).0.unwrap(&text, &scope()).await.unwrap_err();
    check(&refused, "set VAULT_ADDR to the active node", true, ROOT_TOKEN);
    assert_eq!(elsewhere.engine().requests.len(), before);
}

#[tokio::test]
async fn settings_are_those_of_vaults_own_tools() {
    let server = VaultServer::start_encrypted("trueup");
    server.engine().namespace = Some("team".to_owned());
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".vault-token"), format!("{ROOT_TOKEN}\n")).unwrap();
    let (address, ca) = (server.address(), server.certificate().unwrap());
    let all = [
        ("VAULT_ADDR", address.as_str()),
        ("VAULT_CACERT", ca.to_str().unwrap()),
        ("VAULT_NAMESPACE", "team"),
        ("HOME", home.path().to_str().unwrap()),
    ];
    let key =
        |variables: &[(&str, &str)]| vault_key("trueup", &environment(variables), Arc::<Hasty>::default());
    let whole = key(&all).unwrap();
    let text = wrapped(&whole).await;
    assert_eq!(whole.unwrap(&text, &scope()).await.unwrap()[..], *PAYLOAD);
    assert_eq!(whole.location(), format!("transit/trueup at {address}"));
    assert!(!format!("{whole:?}").contains(ROOT_TOKEN));
    assert!(key(&all[1..]).unwrap_err().contains("VAULT_ADDR"));
    for (left_out, expected) in [(1, "VAULT_CACERT"), (2, "VAULT_NAMESPACE"), (3, "set VAULT_TOKEN")] {
        let variables: Vec<_> = all.iter().copied().enumerate().filter(|(at, _)| *at != left_out).collect();
        let variables: Vec<_> = variables.into_iter().map(|(_, variable)| variable).collect();
        let refused = key(&variables).unwrap().wrap(PAYLOAD, &scope()).await.unwrap_err();
        check(&refused, expected, true, ROOT_TOKEN);
    }
    let nobody = key(&[("VAULT_ADDR", "http://127.0.0.1:9"), ("VAULT_TOKEN", "t")]).unwrap();
    check(
        &nobody.unwrap(&text, &scope()).await.unwrap_err(),
        "no answer from http://127.0.0.1:9",
        true,
        "hvs.",
    );
}

#[tokio::test]
async fn requests_go_through_the_proxy_that_the_variables_name() {
    let proxy = VaultServer::start("trueup");
    let (address, nobody) = (proxy.address(), "http://127.0.0.1:9");
    let key = |variables: &[(&str, &str)]| {
        let asked = [("VAULT_ADDR", nobody), ("VAULT_TOKEN", ROOT_TOKEN)];
        let all = [&asked[..], variables].concat();
        vault_key("trueup", &environment(&all), Arc::<Hasty>::default())
    };
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let before = proxy.engine().requests.len();
        assert!(wrapped(&key(&[(name, &address)]).unwrap()).await.starts_with("vault:v1:"), "{name}");
        assert!(proxy.engine().requests.len() > before, "{name}");
    }
    let direct: [&[(&str, &str)]; 3] = [
        &[("HTTP_PROXY", &address), ("NO_PROXY", "127.0.0.1")],
        &[("HTTPS_PROXY", &address)],
        &[("HTTP_PROXY", "")],
    ];
    for variables in direct {
        let refused = key(variables).unwrap().wrap(PAYLOAD, &scope()).await.unwrap_err();
        check(&refused, "no answer from http://127.0.0.1:9", true, ROOT_TOKEN);
    }
    let told = key(&[("HTTP_PROXY", "http://ada:hunter22@[")]).unwrap_err();
    assert!(told.contains("HTTP_PROXY") && !told.contains("hunter22"), "{told}");
}
