//! The forms in which others repeat a secret. Each is planted to prove that the finder finds it, told in errors, and given
//! in answers (SECRET-8, SECRET-9).

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::finder::{Finder, json_escaped};
use super::server;
use super::trial::Trial;

/// The name of a form, and how a text is put into it.
type Form = (&'static str, fn(&str) -> String);

pub(super) const FORMS: [Form; 27] = [
    ("plain", str::to_owned),
    ("json", json_escaped),
    ("json-in-json", |text| json_escaped(&json_escaped(text))),
    ("json-of-go", |text| json_escaped(text).replace('&', "\\u0026").replace('<', "\\u003c")),
    ("u00xx", |text| characters(text, |it| format!("\\u{it:04X}"))),
    ("u-long", |text| characters(text, |it| format!("\\U{it:08x}"))),
    ("u-braces", |text| characters(text, |it| format!("\\u{{{it:x}}}"))),
    ("x", |text| bytes(text, |it| format!("\\x{it:02x}"))),
    ("debug", |text| format!("{text:?}")),
    ("html", html),
    ("html-decimal", |text| characters(text, |it| format!("&#{it};"))),
    ("html-hexadecimal", |text| characters(text, |it| format!("&#x{it:X};"))),
    ("html-in-json", |text| json_escaped(&html(text))),
    ("percent", percent),
    ("percent-throughout", |text| bytes(text, |it| format!("%{it:02x}"))),
    ("percent-twice", |text| percent(&percent(text))),
    ("percent-around-json", |text| percent(&json_escaped(text))),
    ("percent-in-json", |text| json_escaped(&percent(text))),
    ("form", |text| percent(text).replace("%20", "+")),
    ("hexadecimal", |text| bytes(text, |it| format!("{it:02x}"))),
    ("hexadecimal-capital", |text| bytes(text, |it| format!("{it:02X}"))),
    ("base64", |text| STANDARD.encode(text)),
    ("base64-shifted", |text| STANDARD.encode(format!("u:{text}@host"))),
    ("base64-url", |text| URL_SAFE_NO_PAD.encode(format!("u{text}"))),
    ("base64-of-json", |text| STANDARD.encode(format!("{{\"p\":{}}}", serde_json::json!(text)))),
    ("percent-around-base64", |text| percent(&STANDARD.encode(text))),
    ("json-of-base64-of-json", |text| json_escaped(&STANDARD.encode(json_escaped(text)))),
];

fn bytes(text: &str, escape: impl Fn(u8) -> String) -> String {
    text.bytes().map(escape).collect()
}

fn characters(text: &str, escape: impl Fn(u32) -> String) -> String {
    text.chars().map(|character| escape(character.into())).collect()
}

/// Percent escapes where a URL needs them.
fn percent(text: &str) -> String {
    bytes(text, |byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    })
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A text in a form, as a server says it: whole, or the first or last half of it.
pub(super) fn garbled(form: &str, part: &str, text: &str) -> String {
    let (_, put) = FORMS.iter().find(|(name, _)| *name == form).unwrap();
    let whole = put(text);
    let unpadded = whole.trim_end_matches('=');
    match part {
        "first-half" => unpadded[..unpadded.ceil_char_boundary(unpadded.len().div_ceil(2))].to_owned(),
        "last-half" => unpadded[unpadded.floor_char_boundary(unpadded.len() / 2)..].to_owned(),
        _ => whole,
    }
}

const SECRET: &str = "g4rbled \"secret\"/with&<signs>+ä n° 71c9";

/// The forms that are cut in half. Nobody reads half of a text in the others.
const HALVES: [&str; 5] = ["plain", "hexadecimal", "hexadecimal-capital", "base64", "percent"];

/// A stack with a request for each form and part.
fn trial(behaviour: &str) -> Trial {
    let url = server::start();
    let whole = FORMS.iter().map(|(form, _)| format!("\"{form}/whole\""));
    let halves =
        HALVES.iter().flat_map(|form| [format!("\"{form}/first-half\""), format!("\"{form}/last-half\"")]);
    let forms = whole.chain(halves).collect::<Vec<_>>().join(", ");
    let text = format!(
        r#"
variable "secret" {{ sensitive = true }}

resource "std_http" "garbled" {{
  for_each = toset([{forms}])
  create {{
    url  = "{url}/{behaviour}/${{each.key}}"
    body = {{ login = var.secret }}
  }}
}}
"#
    );
    Trial::new(&text, &[("TF_VAR_secret", SECRET)], Finder::new(&[SECRET]))
}

/// SECRET-8
#[test]
fn errors_show_no_form_of_a_secret() {
    let trial = trial("refuse-garbled");
    let told = trial.run_unsearched("deploy --yes --json", &[]);
    assert_eq!(
        told.out.matches("reconciler.operation.failed").count(),
        FORMS.len() + 2 * HALVES.len(),
        "{told:?}"
    );
    let leaks: Vec<&str> =
        told.out.lines().filter(|line| trial.finder.find(line.as_bytes()).is_some()).collect();
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    trial.search_kept();
}

/// SECRET-9
#[test]
fn answers_in_any_form_of_a_secret_are_secret() {
    let trial = trial("garbled");
    trial.run_unsearched("deploy --yes", &[]);
    let plan: serde_json::Value =
        serde_json::from_str(&trial.run_unsearched("plan --full --unchanged --json", &[]).out).unwrap();
    let actions = plan["actions"].as_array().unwrap().iter().map(ToString::to_string);
    let actions: Vec<String> = actions.filter(|action| action.contains("nothing to hide")).collect();
    assert_eq!(actions.len(), FORMS.len() + 2 * HALVES.len(), "{plan}");
    let leaks: Vec<String> =
        actions.into_iter().filter(|action| trial.finder.find(action.as_bytes()).is_some()).collect();
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    trial.search_kept();
}
