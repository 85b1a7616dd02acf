//! Releases of providers, published in a registry, signed by a key that is made for the test.

use std::io::{Cursor, Write};

use pgp::composed::{
    ArmorOptions, DetachedSignature, EncryptionCaps, KeyType, SecretKeyParamsBuilder, SignedPublicKey,
    SignedSecretKey,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize as _;
use pgp::types::Password;
use rand::rngs::OsRng;
use serde_json::json;
use sha2::{Digest, Sha256};
use trueup_terraform_find::Platform;

use crate::server::{Answer, Server};

/// Who publishes.
pub(crate) struct Publisher {
    key: SignedSecretKey,
}

impl Publisher {
    /// Someone with a key of their own.
    pub(crate) fn new() -> Self {
        let mut parameters = SecretKeyParamsBuilder::default();
        parameters.key_type(KeyType::Ed25519Legacy).can_certify(true).can_sign(true);
        parameters.can_encrypt(EncryptionCaps::None).primary_user_id("Publisher <p@example.com>".into());
        Publisher { key: parameters.build().unwrap().generate(OsRng).unwrap() }
    }

    fn armored(&self) -> String {
        SignedPublicKey::from(self.key.clone()).to_armored_string(ArmorOptions::default()).unwrap()
    }

    fn sign(&self, content: &[u8]) -> Vec<u8> {
        let (key, password) = (&self.key.primary_key, Password::empty());
        let signature = DetachedSignature::sign_binary_data(
            OsRng,
            key,
            &password,
            HashAlgorithm::Sha256,
            Cursor::new(content),
        );
        signature.unwrap().to_bytes().unwrap()
    }
}

/// Where things of a release of `acme/widgets` are.
pub(crate) fn path(version: &str, what: &str) -> String {
    format!("/files/{version}/{what}")
}

/// The name of the package of a release.
pub(crate) fn package(version: &str, platform: &str) -> String {
    format!("terraform-provider-widgets_{version}_{platform}.zip")
}

/// An archive with a provider in it, which does nothing.
pub(crate) fn archive(version: &str) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    writer.start_file(format!("terraform-provider-widgets_v{version}"), options).unwrap();
    writer.write_all(format!("#!/bin/sh\n# {version}\n{}", "exit 1\n".repeat(1000)).as_bytes()).unwrap();
    writer.start_file("README.md", options.unix_permissions(0o644)).unwrap();
    writer.write_all(b"Widgets.\n").unwrap();
    writer.finish().unwrap().into_inner()
}

/// Publishes releases of `acme/widgets`.
pub(crate) fn publish(server: &Server, publisher: &Publisher, versions: &[&str]) {
    let here = Platform::current().to_string();
    let elsewhere = "plan9_386";
    server.answer("/.well-known/terraform.json", body(&json!({ "providers.v1": "/v1/providers/" })));
    let platform = |name: &str| {
        let (os, arch) = name.split_once('_').unwrap();
        json!({ "os": os, "arch": arch })
    };
    let listed: Vec<_> = versions
        .iter()
        .map(|version| {
            json!({ "version": version, "protocols": ["5.0"], "platforms": [platform(&here), platform(elsewhere)] })
        })
        .collect();
    server.answer("/v1/providers/acme/widgets/versions", body(&json!({ "versions": listed })));
    for version in versions {
        let archives = [
            (&*here, archive(version), "package.zip"),
            (elsewhere, archive(&format!("{version}-elsewhere")), "elsewhere.zip"),
        ];
        let digest = |archive: &[u8]| hex(&Sha256::digest(archive));
        let sums: String = archives
            .iter()
            .map(|(platform, archive, _)| format!("{}  {}\n", digest(archive), package(version, platform)))
            .collect();
        server.answer(path(version, "sums.sig"), Answer::Body(publisher.sign(sums.as_bytes())));
        server.answer(path(version, "sums"), Answer::Body(sums.into_bytes()));
        for (platform, archive, name) in archives {
            let (os, arch) = platform.split_once('_').unwrap();
            server.answer(
                format!("/v1/providers/acme/widgets/{version}/download/{os}/{arch}"),
                body(&json!({
                    "protocols": ["5.0"], "os": os, "arch": arch,
                    "filename": package(version, platform),
                    "download_url": path(version, name),
                    "shasums_url": path(version, "sums"),
                    "shasums_signature_url": path(version, "sums.sig"),
                    "shasum": digest(&archive),
                    "signing_keys": { "gpg_public_keys": [{ "key_id": "ANY", "ascii_armor": publisher.armored() }] },
                })),
            );
            server.answer(path(version, name), Answer::Body(archive));
        }
    }
}

/// A body in JSON.
pub(crate) fn body(json: &serde_json::Value) -> Answer {
    Answer::Body(json.to_string().into_bytes())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
