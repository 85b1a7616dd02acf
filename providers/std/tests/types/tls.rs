//! Keys and certificates.

use trueup_conformance::Kit;
use trueup_core::{Value, value};

use crate::bench::{Bench, program, referring, resource, std_in};

/// CRASH-1, SECRET-1
#[test]
fn keys_and_certificates_keep_the_contract() {
    let key = own_key();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let kit = Kit::new(std_in("/"), "std_tls_key", value!({})).await.unwrap();
        kit.replaced(value!({ algorithm: "ed25519" })).kept_in_state().run().await.assert_passed();
        let certificate = |name: &str| value!({ private_key_pem: (key.as_str()), dns_names: [name] });
        let kit = Kit::new(std_in("/"), "std_tls_cert", certificate("a.test")).await.unwrap();
        let line = key.lines().nth(1).unwrap().to_owned();
        kit.replaced(certificate("b.test")).secret(line).kept_in_state().run().await.assert_passed();
    });
}

/// A key made by the type itself.
fn own_key() -> String {
    let bench = Bench::new();
    bench.deployed(&program([resource("std_tls_key.k", value!({}))]));
    bench.outputs("k").get("private_key_pem").unwrap().as_str().unwrap().to_owned()
}

/// SECRET-5
#[test]
fn every_kind_of_key_signs_a_certificate_and_is_told_to_nobody() {
    let bench = Bench::new();
    for algorithm in ["ecdsa_p256", "ecdsa_p384", "ed25519", "rsa_2048"] {
        let key = resource("std_tls_key.k", value!({ algorithm: algorithm }));
        let inputs = value!({ common_name: "test", ip_addresses: ["127.0.0.1"], is_ca: true });
        let cert =
            referring("std_tls_cert.c", &inputs, "private_key_pem", "std_tls_key.k", "private_key_pem");
        bench.deployed(&program([key, cert]));
        let private = bench.outputs("k").get("private_key_pem").unwrap().clone();
        assert!(private.is_secret() && private.as_str().unwrap().starts_with("-----BEGIN PRIVATE KEY-----"));
        let text = |name: &str| bench.outputs("c").get(name).unwrap().as_str().unwrap().to_owned();
        assert!(text("cert_pem").starts_with("-----BEGIN CERTIFICATE-----"));
        assert!(text("validity_start") < text("validity_end") && text("validity_end").ends_with('Z'));
        assert!(!bench.told().contains(private.as_str().unwrap().lines().nth(1).unwrap()));
    }
    bench.destroyed();
}

/// CRUD-7
#[test]
fn what_cannot_be_signed_is_told_without_the_key() {
    let bench = Bench::new();
    let failed = |inputs: Value| bench.failed(&program([resource("std_tls_cert.c", inputs)]));
    assert!(failed(value!({ private_key_pem: "hunter2" })).contains("not a private key"));
    let key = own_key();
    let wrong = value!({ private_key_pem: (key.as_str()), ip_addresses: ["a.test"] });
    assert!(failed(wrong).contains("`a.test` is not an IP address"));
    assert!(!bench.told().contains("hunter2"));
}
