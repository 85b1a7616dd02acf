//! AWS KMS, by two emulators: moto really encrypts and knows regions, ministack knows the states of keys.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::{Value, json};
use trueup_test_servers::emulator::{Emulator, RunningEmulator};

use crate::keys::{OUTPUTS, Place, forms, lifecycle};

const REGION: &str = "eu-central-1";
const SECRET_KEY: &str = "wJalrXUtnFEMI-K7MDENG-bPxRfiCY";

struct Account(RunningEmulator);

impl Account {
    /// What KMS answers; a refusal as well.
    fn ask(&self, operation: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.0.port())).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=test/20260101/{REGION}/kms/aws4_request, SignedHeaders=host, Signature=0\r\n\
             X-Amz-Target: TrentService.{operation}\r\nContent-Type: application/x-amz-json-1.1\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body.trim()).unwrap_or_default()
    }

    /// A new key: its id and its ARN.
    fn new_key(&self) -> (String, String) {
        let made = self.ask("CreateKey", &json!({}));
        let text = |name: &str| made["KeyMetadata"][name].as_str().unwrap().to_owned();
        (text("KeyId"), text("Arn"))
    }

    fn place(&self, key: &str) -> Place {
        Place::new(&[
            ("AWS_ENDPOINT_URL", &self.0.endpoint()),
            ("AWS_REGION", REGION),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
            ("TRUEUP_KEY_KMS", key),
        ])
    }
}

/// SECRET-10, SECRET-5.
#[test]
fn kms_wraps_the_keys_of_a_whole_life_and_nothing_of_them_is_told() {
    let Some(emulator) = Emulator::Moto.start() else { return };
    let account = Account(emulator);
    let (first, first_arn) = account.new_key();
    account.ask("CreateAlias", &json!({ "AliasName": "alias/trueup", "TargetKeyId": first }));
    let place = account.place("alias/trueup");
    lifecycle(&place, "kms", "TRUEUP_KEY_KMS");
    account.ask("RotateKeyOnDemand", &json!({ "KeyId": first }));
    assert!(place.done("plan", &[]).contains("No changes"));

    // The store names the key for people; KMS opens it in the context of its stage alone.
    let (wrapped, by) = place.wrapped();
    assert_eq!(by, first_arn);
    let context = json!({ "trueup:stack": "shop", "trueup:stage": "t" });
    let opened = account.ask("Decrypt", &json!({ "CiphertextBlob": wrapped, "EncryptionContext": context }));
    let payload = BASE64.decode(opened["Plaintext"].as_str().unwrap()).unwrap();
    let context = json!({ "trueup:stack": "shop", "trueup:stage": "prod" });
    let refused = account.ask("Decrypt", &json!({ "CiphertextBlob": wrapped, "EncryptionContext": context }));
    assert!(refused["Plaintext"].is_null(), "{refused}");

    // A region without the key, and a key that names its own.
    let elsewhere = ("AWS_REGION", "us-east-1");
    place.refused("plan", &[elsewhere], "check the key's name, AWS_REGION");
    place.refused("plan", &[("AWS_REGION", "")], "no region is configured");
    assert!(place.done("plan", &[elsewhere, ("TRUEUP_KEY_KMS", &first_arn)]).contains("No changes"));

    // An alias that names another key by now: the old one is said, and is the way to the new one.
    let (second, second_arn) = account.new_key();
    account.ask("UpdateAlias", &json!({ "AliasName": "alias/trueup", "TargetKeyId": second }));
    place.refused("plan", &[], &format!("the data key was wrapped by {first_arn}"));
    let change = [("TRUEUP_KEY_KMS", first.as_str()), ("TRUEUP_NEW_KEY_KMS", "alias/trueup")];
    place.done("state rekey --yes", &change);
    assert!(place.done("plan", &[]).contains("No changes"));
    assert_eq!(place.wrapped().1, second_arn);

    let keys = forms(&payload);
    let secrets: Vec<&str> = keys.iter().map(String::as_str).chain([SECRET_KEY]).collect();
    place.check_files(&secrets);
}

/// SECRET-10: a key that is disabled or to be deleted is out of reach, and nothing is given up.
#[test]
fn without_the_key_in_kms_nothing_is_given_up() {
    let Some(emulator) = Emulator::Ministack.shared() else { return };
    let account = Account(emulator);
    let (key, _) = account.new_key();
    let place = account.place(&key);
    place.done("deploy --stage t --yes", &[]);
    let states = [
        ("DisableKey", json!({ "KeyId": key }), "is disabled", "EnableKey"),
        ("ScheduleKeyDeletion", json!({ "KeyId": key }), "pending deletion", "CancelKeyDeletion"),
    ];
    for (operation, body, expected, back) in states {
        account.ask(operation, &body);
        for command in ["plan", "deploy --yes", "state rekey --to file --yes", "state rekey --forget --yes"] {
            place.refused(command, &[], expected);
        }
        account.ask(back, &body);
        account.ask("EnableKey", &body);
        assert!(place.done("plan", &[]).contains("No changes"), "{operation}");
    }
    place.refused("deploy --stage u --yes", &[("TRUEUP_KEY_KMS", "alias/none")], "NotFoundException");
    let nobody = [("AWS_ACCESS_KEY_ID", ""), ("AWS_EC2_METADATA_DISABLED", "true")];
    place.refused("plan --stage t", &nobody, "credentials");
}

/// SECRET-10: a server that repeats what it was sent does not put a data key on the terminal.
#[test]
fn a_server_that_repeats_what_it_was_sent_is_not_quoted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let sent = body_of(&stream);
        let message = format!("cannot encrypt {}", sent["Plaintext"].as_str().unwrap());
        let body = json!({ "__type": "ValidationException", "message": message }).to_string();
        let length = body.len();
        write!(&stream, "HTTP/1.1 400 .\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .unwrap();
        BASE64.decode(sent["Plaintext"].as_str().unwrap()).unwrap()
    });
    let place = Place::new(&[
        ("AWS_ENDPOINT_URL_KMS", &endpoint),
        ("AWS_REGION", REGION),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ("TRUEUP_KEY_KMS", "alias/trueup"),
    ]);
    let told = place.run("deploy --stage t --yes", &[]);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(place.folder.read(OUTPUTS).contains("cannot encrypt (secret)"), "{told:?}");
    let keys = forms(&serving.join().unwrap());
    place.check_files(&keys.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The document in a request.
fn body_of(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim().to_ascii_lowercase().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}
