//! Credentials that no program declares: of stores, key services, registries and providers' clients. The servers that get
//! them repeat them.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use trueup_test_servers::http::{Answer, HttpServer};

use super::finder::Finder;
use super::trial::Trial;

const SECRET: &str = "cr3dential-71c9/with+signs-5d41402a";

const STACK: &str = "variable \"s\" {\n  default   = \"v4lue-of-a-variable\"\n  sensitive = true\n}\n\
                     resource \"terraform_data\" \"a\" {\n  input = var.s\n}\n";

const COMMANDS: [&str; 4] = ["plan", "plan --json", "deploy --yes --json", "deploy --yes"];

/// What a server makes of what it was sent: as it is, and in the usual encodings.
fn repeated(sent: &str) -> String {
    let hexadecimal: String = sent.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = sent.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("no {sent} or {} or {hexadecimal} or {percent} will do", STANDARD.encode(sent))
}

/// A server that refuses every request, and quotes its headers in all that clients read of an error.
fn refusing() -> String {
    let server = HttpServer::start(|request| {
        // Of a signed request, the secret is the session token.
        let said = repeated(&request.head.replace(['\r', '\n'], " "));
        let body = if request.head.contains("AWS4-HMAC-SHA256") && request.method == "GET" {
            format!("<Error><Code>Denied</Code><Message>{said}</Message></Error>")
        } else {
            serde_json::json!({ "errors": [&said], "message": &said, "__type": "AccessDenied" }).to_string()
        };
        Answer::Json(403, body)
    });
    server.url().to_owned()
}

/// A database server that asks for the password in the clear, and refuses: at the door, or the first query.
fn refusing_database(at_the_door: bool) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up ends its own exchange and no other.
            let _ = refuse(stream, at_the_door);
        }
    });
    port
}

fn refuse(mut stream: TcpStream, at_the_door: bool) -> io::Result<()> {
    const TLS_REQUEST: [u8; 4] = 80_877_103_u32.to_be_bytes();
    while message(&mut stream)?.starts_with(&TLS_REQUEST) {
        stream.write_all(b"N")?;
    }
    tell(&mut stream, b'R', &3_u32.to_be_bytes())?;
    stream.read_exact(&mut [0])?;
    let password = message(&mut stream)?;
    let said = repeated(String::from_utf8_lossy(&password).trim_end_matches('\0'));
    if !at_the_door {
        tell(&mut stream, b'R', &0_u32.to_be_bytes())?;
        tell(&mut stream, b'Z', b"I")?;
        stream.read_exact(&mut [0])?;
        message(&mut stream)?;
    }
    let code = if at_the_door { "28P01" } else { "42601" };
    let fields = format!("SERROR\0VERROR\0C{code}\0M{said}\0D{said}\0H{said}\0\0");
    tell(&mut stream, b'E', fields.as_bytes())?;
    tell(&mut stream, b'Z', b"I")
}

/// The next message, behind its type.
fn message(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; u32::from_be_bytes(length).saturating_sub(4).min(65_536) as usize];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn tell(stream: &mut TcpStream, kind: u8, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len() + 4).unwrap();
    stream.write_all(&[&[kind], &length.to_be_bytes()[..], body].concat())
}

/// Runs commands that fail at a server, which repeats the secret; what they say shows that it did.
fn fails(text: &str, variables: &[(&str, &str)], commands: &[&str]) {
    let trial = Trial::new(text, &[], Finder::new(&[SECRET]));
    for command in commands {
        let told = trial.run_with(command, variables);
        assert_eq!(told.code, 1, "{command}: {told:?}");
        let said = told.out + &told.err;
        assert!(said.contains("no ") && said.contains("(secret)"), "{command}: {said}");
    }
    trial.finder.assert_absent_below(trial.folder.path());
}

/// SECRET-8, SECRET-12: wherever the password was given.
#[test]
fn a_database_of_states_cannot_make_its_password_show() {
    let escaped = SECRET.replace('/', "%2F").replace('+', "%2B");
    for at_the_door in [true, false] {
        let server = format!("127.0.0.1:{}/x", refusing_database(at_the_door));
        let bare = format!("postgres://ada@{server}");
        let places = [
            vec![("TRUEUP_STATE", format!("postgres://ada:{escaped}@{server}"))],
            vec![("TRUEUP_STATE", format!("{bare}?password={escaped}"))],
            vec![("TRUEUP_STATE", bare.clone()), ("PGPASSWORD", SECRET.to_owned())],
        ];
        for place in places {
            let place: Vec<(&str, &str)> = place.iter().map(|(name, value)| (*name, &**value)).collect();
            fails(STACK, &place, &[&COMMANDS[..], &["state list --json"]].concat());
        }
        let block = format!("stack {{\n  state \"postgres\" {{\n    url = \"{bare}\"\n  }}\n}}\n{STACK}");
        fails(&block, &[("PGPASSWORD", SECRET)], &["plan", "deploy --yes --json"]);
    }
}

const AWS: [(&str, &str); 4] = [
    ("AWS_ACCESS_KEY_ID", "AKIA1"),
    ("AWS_SECRET_ACCESS_KEY", "not-sent-at-all"),
    ("AWS_SESSION_TOKEN", SECRET),
    ("AWS_REGION", "eu-central-1"),
];

/// SECRET-8.
#[test]
fn a_bucket_of_states_cannot_make_a_session_token_show() {
    let address = format!("s3://states/team?endpoint={}", refusing());
    fails(STACK, &[&AWS[..], &[("TRUEUP_STATE", &address)]].concat(), &COMMANDS);
}

/// SECRET-8: credentials of the environment, not of the provider's configuration.
#[test]
fn a_service_cannot_make_the_credentials_of_a_provider_show() {
    let url = refusing();
    let text = "resource \"awsn_sqs_queue\" \"a\" {\n  name = \"a\"\n}\n";
    fails(text, &[&AWS[..], &[("AWS_ENDPOINT_URL", &url)]].concat(), &COMMANDS);

    let port = refusing_database(true).to_string();
    let text = "resource \"pg_role\" \"a\" {\n  name = \"a\"\n}\n";
    let place = [("PGHOST", "127.0.0.1"), ("PGPORT", &*port), ("PGUSER", "ada"), ("PGPASSWORD", SECRET)];
    fails(text, &place, &COMMANDS);
}

/// SECRET-8, SECRET-10.
#[test]
fn a_key_service_cannot_make_its_credentials_show() {
    let url = refusing();
    let kms = [("TRUEUP_KEY_KMS", "alias/trueup"), ("AWS_ENDPOINT_URL", &*url)];
    fails(STACK, &[&AWS[..], &kms].concat(), &["deploy --yes", "deploy --yes --json"]);
    let vault = [("TRUEUP_KEY_VAULT", "trueup"), ("VAULT_ADDR", &*url), ("VAULT_TOKEN", SECRET)];
    fails(STACK, &vault, &["deploy --yes", "deploy --yes --json"]);
}

/// SECRET-8: commands get the whole environment, with what trueup itself never reads.
#[test]
fn a_command_cannot_make_credentials_of_the_environment_show() {
    let text = "resource \"std_exec\" \"a\" {\n  create = [\"sh\", \"-c\", \"echo no such thing: >&2; env >&2; \
                env; env | base64 >&2; exit 1\"]\n}\n";
    let address = format!("mysql://ada:{}@db/x", SECRET.replace('/', "%2F").replace('+', "%2B"));
    let names = [
        "GITHUB_TOKEN",
        "SYSTEM_ACCESSTOKEN",
        "ARM_CLIENT_SECRET",
        "MYSQL_PWD",
        "DD_API_KEY",
        "npm_config_token",
    ];
    let variables = names.map(|name| (name, SECRET)).into_iter().chain([("DATABASE_URL", &*address)]);
    for (name, value) in variables {
        fails(text, &[(name, value)], &["deploy --yes", "deploy --yes --json"]);
    }
}

/// SECRET-8: a registry that answers with the token, in JSON that is not what it should be.
#[test]
fn a_registry_cannot_make_its_token_show() {
    let server = HttpServer::start(|request| {
        let said = repeated(request.header("authorization").unwrap_or_default());
        Answer::Json(200, serde_json::json!({ "versions": said }).to_string())
    });
    let text =
        "terraform {\n  required_providers {\n    x = {\n      source = \"example.com/a/x\"\n    }\n  }\n}\n";
    let trial = Trial::new(text, &[], Finder::new(&[SECRET]));
    let settings = format!(
        "host \"example.com\" {{\n  services = {{\n    \"providers.v1\" = \"{}/\"\n  }}\n}}\n",
        server.url()
    );
    trial.folder.write("settings.tfrc", &settings);
    let variables = [("TF_CLI_CONFIG_FILE", "settings.tfrc"), ("TF_TOKEN_example_com", SECRET)];
    for command in ["init", "init --json"] {
        let told = trial.run_with(command, &variables);
        let said = told.out.clone() + &told.err;
        assert!(told.code == 1 && said.contains("no ") && said.contains("(secret)"), "{command}: {told:?}");
    }
    trial.finder.assert_absent_below(trial.folder.path());
}
