use super::*;
use crate::diagnostic::Diagnostic;
use crate::value;

const TOKEN: &str = "tok/3n+with \"odd\" ch\u{e4}rs&<more>";

fn known(secrets: &[&str]) -> KnownSecrets {
    let known = KnownSecrets::default();
    let values: Vec<Value> = secrets.iter().map(|secret| Value::string(*secret).into_secret()).collect();
    known.learn(&values);
    known
}

#[track_caller]
fn check(secrets: &[&str], text: &str, expected: &str) {
    assert_eq!(known(secrets).scrubbed(text), expected);
}

/// SECRET-1
#[test]
fn secrets_are_scrubbed_whole_and_longest_first() {
    check(
        &["open sesame", "say open sesame twice"],
        "say open sesame twice, open sesame, and sesame",
        "(secret), (secret), and sesame",
    );
    check(&["hunter2", "hunter2-and-more"], "hunter2-and-more then hunter2", "(secret) then (secret)");
}

/// SECRET-8: whatever a server encodes, and however.
#[test]
fn secrets_are_scrubbed_in_every_usual_encoding() {
    let json = serde_json::to_string(TOKEN).unwrap();
    let json = json.trim_matches('"');
    let twice = serde_json::to_string(json).unwrap();
    let encoded = |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let url_safe = |text: &str| base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE, text);
    let percent: String = TOKEN.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let dump = |between: &str, size: usize| {
        let bytes: Vec<String> = TOKEN.bytes().map(|byte| format!("{byte:02x}")).collect();
        bytes.chunks(size).map(<[String]>::concat).collect::<Vec<_>>().join(between)
    };
    let escape = |character: char| match character {
        ' ' | '"' | '&' | '<' | '>' => format!("\\{character}"),
        _ => character.to_string(),
    };
    let shell: String = TOKEN.chars().map(escape).collect();
    let table = [
        ("as it is", TOKEN.to_owned()),
        ("JSON", json.to_owned()),
        ("JSON in JSON", twice.trim_matches('"').to_owned()),
        (
            "JSON as Go writes it",
            json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003E"),
        ),
        ("Rust's debug form", format!("{TOKEN:?}").trim_matches('"').replace('\u{e4}', "\\u{e4}")),
        ("every byte in percent", percent),
        ("percent where needed", TOKEN.replace(' ', "%20").replace('"', "%22").replace('\u{e4}', "%C3%A4")),
        ("a form", TOKEN.replace('+', "%2B").replace(' ', "+").replace('&', "%26")),
        (
            "percent twice",
            TOKEN.replace('+', "%2B").replace(' ', "%20").replace('&', "%26").replace('%', "%25"),
        ),
        ("JSON in a URL", json.replace('"', "%22").replace('\\', "%5C").replace(' ', "%20")),
        ("Python's long escapes", TOKEN.replace('\u{e4}', "\\U000000e4")),
        ("HTML", TOKEN.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&#34;")),
        ("HTML without semicolons", TOKEN.chars().map(|it| format!("&#{}", u32::from(it))).collect()),
        (
            "HTML's names",
            TOKEN.replace('&', "&amp;").replace('<', "&lt;").replace('/', "&sol;").replace('+', "&plus;"),
        ),
        ("mail", TOKEN.bytes().map(|byte| format!("={byte:02X}")).collect()),
        ("mail where needed", TOKEN.replace('\u{e4}', "=C3=A4").replace("odd", "o=\r\ndd")),
        ("hexadecimal", TOKEN.bytes().map(|byte| format!("{byte:02x}")).collect()),
        ("capital hexadecimal", TOKEN.bytes().map(|byte| format!("{byte:02X}")).collect()),
        ("a fingerprint", dump(":", 1)),
        ("a dump of bytes", dump(" ", 1)),
        ("a dump of words", dump(" ", 2)),
        ("C's octal escapes", TOKEN.bytes().map(|byte| format!("\\{byte:03o}")).collect()),
        ("a shell's escapes", shell),
    ];
    for (encoding, text) in table {
        let scrubbed = known(&[TOKEN]).scrubbed(&format!("refused: [{text}]!")).into_owned();
        assert_eq!(scrubbed, "refused: [(secret)]!", "{encoding}");
    }
    let document = encoded(&format!("{{\"key\":{}}}", serde_json::to_string(TOKEN).unwrap()));
    let scrubbed = known(&[TOKEN]).scrubbed(&document).into_owned();
    assert!(scrubbed.contains("(secret)") && scrubbed.len() < 28, "an encoded document: {scrubbed}");
    for before in ["", "a", "ab", "user:"] {
        for encode in [&encoded as &dyn Fn(&str) -> String, &url_safe] {
            let text = encode(&format!("{before}{TOKEN}@host"));
            let scrubbed = known(&[TOKEN]).scrubbed(&text).into_owned();
            assert!(scrubbed.contains("(secret)") && scrubbed.len() < 24, "{before}: {scrubbed}");
        }
    }
}

/// Bytes in rows of sixteen, each with its offset, as dumps have them.
fn rows(bytes: &[u8], row: impl Fn(usize, &[u8]) -> String) -> String {
    let rows: Vec<String> = (0..).zip(bytes.chunks(16)).map(|(at, bytes)| row(at * 16, bytes)).collect();
    rows.join("\n")
}

/// SECRET-8: no tool writes long lines, and none of its lines holds half of a long secret.
#[test]
fn secrets_are_scrubbed_that_take_several_lines() {
    let secret = varied(76, 3);
    let bytes = secret.as_bytes();
    let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &secret);
    let wrapped = |text: &str, columns: usize, by: &str| {
        let lines: Vec<&str> =
            text.as_bytes().chunks(columns).map(|it| str::from_utf8(it).unwrap()).collect();
        lines.join(by)
    };
    let digits = |bytes: &[u8], between: &str| {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(between)
    };
    let words = |bytes: &[u8], swapped: bool| {
        let word = |word: &[u8]| match (word, swapped) {
            ([low, high], true) => format!("{high:02x}{low:02x}"),
            _ => digits(word, ""),
        };
        bytes.chunks(2).map(word).collect::<Vec<_>>().join(" ")
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let table = [
        ("fold", wrapped(&secret, 10, "\n")),
        ("base64", wrapped(&base64, 20, "\n")),
        ("MIME", wrapped(&base64, 16, "\r\n")),
        ("base64 in JSON", wrapped(&base64, 20, "\\n")),
        ("base64 in YAML", wrapped(&base64, 20, "\n    ")),
        ("xxd -p", wrapped(&digits(bytes, ""), 20, "\n")),
        ("xxd", rows(bytes, |at, row| format!("{at:08x}: {:39}  {}", words(row, false), text(row)))),
        ("hexdump -C", rows(bytes, |at, row| format!("{at:08x}  {:47}  |{}|", digits(row, " "), text(row)))),
        ("hexdump", rows(bytes, |at, row| format!("{at:07x} {}", words(row, true)))),
        ("od -x", rows(bytes, |at, row| format!("{at:07o} {}", words(row, true)))),
        ("od -tx1", rows(bytes, |at, row| format!("{at:07o} {}", digits(row, " ")))),
        ("od -tu1", rows(bytes, |at, row| format!("{at:07o} {}", decimal(row, " ")))),
        ("curl --trace", rows(bytes, |at, row| format!("{at:04x}: {} {}", digits(row, " "), text(row)))),
        ("Go", format!("[{}]", decimal(bytes, " "))),
        ("Rust", format!("[{}]", decimal(bytes, ", "))),
        ("pretty JSON", format!("[\n    {}\n]", decimal(bytes, ",\n    "))),
    ];
    for (tool, shown) in table {
        let scrubbed = known(&[&secret]).scrubbed(&format!("said: {shown}\nend")).into_owned();
        // A bracket, a last offset, a character that also depends on what follows.
        let left = scrubbed.replace("(secret)", "");
        assert!(scrubbed.contains("(secret)") && left.len() < 20, "{tool}: {shown}\n→ {scrubbed}");
    }
    check(&["correct horse battery staple"], "it is `correct horse\n  battery staple`", "it is `(secret)`");
}

/// SECRET-8: all bytes of a row have one place in the text, so each find looks for the end of the row.
#[test]
fn secrets_repeated_in_one_row_of_a_dump_are_found_in_bounded_time() {
    let secret = "hunter2-and-more";
    let dumped: String = secret.bytes().map(|byte| format!("{byte:02x} ")).collect();
    let row = format!("00000000 {}", dumped.repeat(4_000));
    let known = known(&[secret]);
    let scrubbed = known.scrubbed(&row);
    assert!(scrubbed.contains("(secret)") && !scrubbed.contains("68 75 6e"), "{scrubbed}");
}

/// SECRET-8: texts that look like dumps at every place.
#[test]
fn texts_that_are_almost_dumps_are_searched_in_bounded_time() {
    let known = known(&["hunter2-and-more"]);
    let length = 128 * 1024;
    let table = [
        format!("00000000{}", " ".repeat(length)),
        format!("1{}", " ".repeat(5000)).repeat(length / 5001),
        format!("\n{}", " ".repeat(999)).repeat(length / 1000),
        "00000000: 0\n".repeat(length / 12),
        "0000000 11 22 4\n".repeat(length / 16),
        "255\n".repeat(length / 4),
        "0123456789abcdef ".repeat(length / 17),
        "\\n".repeat(length / 2),
    ];
    for text in table {
        assert_eq!(known.scrubbed(&text), text);
        assert_eq!(known.scrubbed(&format!("{text}\nhunter2-and-more")), format!("{text}\n(secret)"));
    }
}

fn decimal(bytes: &[u8], between: &str) -> String {
    bytes.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// The name of an encoding, and what makes it.
type Encoder<'a> = (&'a str, &'a dyn Fn(&str) -> String);

/// SECRET-8: one encoding inside another, as in the credentials of a registry inside a Kubernetes secret.
#[test]
fn secrets_are_scrubbed_that_were_encoded_twice() {
    let base64 = |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let url_safe =
        |text: &str| base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, text);
    let hexadecimal = |text: &str| text.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
    let encoders: [Encoder<'_>; 3] =
        [("Base64", &base64), ("Base64 of URLs", &url_safe), ("hexadecimal", &hexadecimal)];
    for secret in ["hunter2-and-more", "hunter2-x", TOKEN] {
        for (inner_name, inner) in encoders {
            for (outer_name, outer) in encoders {
                for (before, after) in [("", ""), ("u:", "@"), ("{\"auth\":\"", "\"}"), ("a", "")] {
                    let encoded = outer(&format!("{before}{}{after}", inner(&format!("{before}{secret}"))));
                    for around in ["", "x=", "/"] {
                        let text = format!("said {around}{encoded} and left");
                        let scrubbed = known(&[secret]).scrubbed(&text).into_owned();
                        let masked = scrubbed.starts_with("said ") && scrubbed.ends_with("and left");
                        let left = scrubbed.len() - "said  and left".len();
                        assert!(
                            masked && left <= around.len() + "(secret)==".len(),
                            "{inner_name} in {outer_name} of {secret} after {before}: {text} → {scrubbed}"
                        );
                    }
                }
            }
        }
    }
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    check(&["hunter2-and-more", "hunter2-x"], digest, digest);
}

/// SECRET-8
#[test]
fn long_pieces_are_scrubbed_and_short_ones_are_not() {
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    check(&[token], "bad token ghp_16C7e42F292c6912E7…", "bad token (secret)…");
    check(&[token], "ends in 10c838347Ae178B4a", "ends in 10c838347Ae178B4a");
    check(&[token], "it begins with ghp_", "it begins with ghp_");
    let url = "postgres://ada:hunter22@db.example.com:5432/shop";
    check(&[url], "no route to db.example.com:5432", "no route to db.example.com:5432");
    check(&["line one\nline two"], "bad: line two", "bad: (secret)");
}

/// SECRET-8: of what is only recorded, nobody knows what it was made of.
#[test]
fn the_secret_part_of_well_known_shapes_is_scrubbed() {
    for made in ["Bearer hunter22", "key=hunter22", "postgres://ada:hunter22@db.example.com/shop"] {
        check(&[made], "refused hunter22", "refused (secret)");
    }
    check(&["correct horse battery"], "a horse is not a battery", "a horse is not a battery");
}

/// SECRET-8: the floor.
#[test]
fn secrets_below_the_floor_are_left_in_texts() {
    check(&["abc"], "abc", "abc");
    check(&["abcd"], "abcd", "(secret)");
    check(&["äöü"], "an äöü", "an (secret)");
}

/// SECRET-8
#[test]
fn numbers_are_secrets_too() {
    let known = KnownSecrets::default();
    known.learn([&value!(481_516).into_secret()]);
    assert_eq!(known.scrubbed("pin=481516"), "pin=(secret)");
    let texts = SecretTexts::of([&value!(481_516).into_secret()]);
    assert_eq!(texts.mark(&value!([481_516, 4_815_162])).to_string(), "[(secret), 4815162]");
}

/// SECRET-9: the value itself stays as it was answered.
#[test]
fn answers_that_repeat_a_secret_are_marked() {
    let secrets = SecretTexts::of([&value!({ token: (value!("hunter2").into_secret()) })]);
    let answer = Value::object([
        ("echo", value!(["Bearer hunter2", "open"])),
        ("tags", Value::map([("hunter2", value!(1))])),
        ("set", Value::set([value!("a"), value!("aHVudGVyMg==")])),
        ("n", value!(1)),
    ]);
    let marked = secrets.mark(&answer);
    assert_eq!(
        marked.to_string(),
        r#"{ echo = [(secret), "open"], n = 1, set = set["a", (secret)], tags = (secret) }"#
    );
    assert!(marked.same(&answer));
}

/// SECRET-9: names of fields are chosen by whoever made the type; keys of maps are data.
#[test]
fn answers_that_repeat_a_key_of_a_secret_map_are_marked() {
    let of_object = Value::object([("customer-4711", value!("x")), ("password", value!("y"))]).into_secret();
    let of_map = Value::map([("acme", value!(true))]).into_secret();
    let secrets = SecretTexts::of([&of_object, &of_map]);
    let echo =
        |key: &str| secrets.mark(&Value::object([("in", Value::map([(key, value!("z"))]))])).to_string();
    assert_eq!(echo("customer-4711"), "{ in = (secret) }");
    assert_eq!(echo("acme"), "{ in = (secret) }");
    assert_eq!(echo("password"), r#"{ in = map{ password = "z" } }"#);
    assert_eq!(echo("acme-corp"), r#"{ in = map{ acme-corp = "z" } }"#);
}

/// SECRET-9: a whole value is no accident, however short.
#[test]
fn answers_that_are_a_short_secret_are_marked() {
    let secrets = SecretTexts::of([&value!(["pin", 123, 1, ""]).into_secret()]);
    let answer = value!(["pin", "spin", 123, 1, ""]);
    assert_eq!(secrets.mark(&answer).to_string(), r#"[(secret), "spin", (secret), 1, ""]"#);
}

/// SECRET-11
#[test]
fn the_sources_of_secret_texts_are_those_that_are_not_among_them() {
    let known = known(&["hunter2", "unrelated"]);
    let made = value!({ header: (Value::string("Bearer hunter2").into_secret()), open: "unrelated" });
    let sources = known.sources_of([&made]).expect("it is made of one");
    assert!(sources.is_secret() && sources.same(&value!(["hunter2"])), "{sources:?}");
    assert_eq!(known.sources_of([&value!("hunter2").into_secret(), &value!("open")]), None);
}

/// SECRET-8: `Bearer ${var.token}`.
#[test]
fn the_secrets_that_a_secret_was_made_of_are_traced() {
    let known = known(&["hunter2", "unrelated"]);
    let made = Value::string("Bearer hunter2").into_secret();
    let traced = known.learn_and_trace(SecretTexts::of([&made]));
    assert_eq!(traced.texts.iter().collect::<Vec<_>>(), ["Bearer hunter2", "hunter2"]);
    let long =
        Value::string(format!("{{\"key\":\"hunter2\",\"scope\":\"{}\"}}", "read,".repeat(40))).into_secret();
    let traced_long = known.learn_and_trace(SecretTexts::of([&long]));
    assert!(traced_long.texts.contains("hunter2"), "a long text hides nothing that it is made of");
    assert_eq!(traced.mark(&value!("x-hunter2")).to_string(), "(secret)");
    assert_eq!(traced.mark(&value!("unrelated")).to_string(), "\"unrelated\"");
}

/// SECRET-1
#[test]
fn no_text_of_a_diagnostic_keeps_a_secret() {
    let mut told = Diagnostic::error("cannot use hunter2").detail("it is hunter2").hint("not `hunter2`");
    told.path = Some("tags[\"hunter2\"]".parse().unwrap());
    known(&["hunter2"]).scrub_diagnostic(&mut told);
    assert!(!format!("{told:?}").contains("hunter2"), "{told:?}");
}

/// A text without repetitions, of letters that no escape begins with.
fn varied(length: usize, seed: u64) -> String {
    let mut state = seed;
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[(state >> 58) as usize])
    };
    (0..length).map(next).collect()
}

/// SECRET-8: of very long secrets, longer pieces count, and the whole in every encoding.
#[test]
fn long_secrets_are_scrubbed_in_bounded_time() {
    let secret = varied(2 * 1024 * 1024, 7);
    let known = known(&[&secret]);
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &secret);
    let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
    for (encoding, text) in [("plain", &secret), ("base64", &encoded), ("hexadecimal", &hexadecimal)] {
        let scrubbed = known.scrubbed(&format!("refused [{text}]")).into_owned();
        // Of Base64, the last character depends on what follows.
        assert!(scrubbed.starts_with("refused [(secret)") && scrubbed.len() < 24, "{encoding}");
    }
    for start in [0, 12_345, 1_000_000, secret.len() - 2048] {
        let text = format!("piece [{}]", &secret[start..start + 2048]);
        assert_eq!(known.scrubbed(&text), "piece [(secret)]", "{start}");
    }
}

/// SECRET-8: a secret that repeats itself has many places at which any of its pieces may stand.
#[test]
fn secrets_that_repeat_themselves_are_scrubbed_in_bounded_time() {
    let length = 1024 * 1024;
    let mixed: String =
        (0..length / 64).map(|at| format!("{}{}", "a".repeat(60), varied(4, at as u64))).collect();
    for secret in ["a".repeat(length), "ab".repeat(length / 2), "0123456789".repeat(length / 10), mixed] {
        let known = known(&[&secret]);
        assert_eq!(known.scrubbed(&format!("whole [{secret}]")), "whole [(secret)]");
        let twice = known.scrubbed(&format!("more [{secret}{secret}]")).replace("(secret)", "");
        assert_eq!(twice, "more []");
        let piece = &secret[length / 2..length / 2 + 1024];
        assert_eq!(known.scrubbed(&format!("piece [{piece}]")), "piece [(secret)]");
    }
}
