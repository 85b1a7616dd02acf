//! What the derives make of a struct: schema, codec, args builder, references, view.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};

use trueup::handler::{Evaluated, Expression, Reference, Scope};
use trueup::schema::{Block, Nesting, Presence, Shape};
use trueup::{Address, Args, FieldType, Inputs, Number, Outputs, Secret, SourceMap, Value, list, value};

/// A server of pages.
///
/// It serves them.
#[derive(Inputs, Debug, PartialEq)]
#[trueup(rename_all = "kebab-case", exactly_one_of("cert-file", "plain"), all_or_none("log", "level"))]
struct Server {
    /// The name under which it is reached.
    #[trueup(identity, replace, pattern = "^[a-z]+$", length(min = 1, max = 63))]
    host_name: String,
    #[trueup(default = 8080, range(min = 1))]
    port: u16,
    #[trueup(default = -0.5, range(min = -1.5, max = 1))]
    weight: f64,
    #[trueup(default)]
    names: BTreeSet<String>,
    cert_file: Option<String>,
    plain: Option<bool>,
    log: Option<String>,
    level: Option<Level>,
    #[trueup(secret, deprecated = "use the vault")]
    token: Option<String>,
    password: Option<Secret<String>>,
    #[trueup(computed, rename = "zone_id")]
    zone: Option<String>,
    main: Listener,
    #[trueup(default)]
    extra: BTreeMap<String, Listener>,
    #[trueup(block, default)]
    listener: Vec<Listener>,
    any: Option<Value>,
}

#[derive(FieldType, Debug, PartialEq, Clone)]
struct Listener {
    #[trueup(replace)]
    port: u16,
    #[trueup(default = "tcp", one_of("tcp", "udp"))]
    protocol: String,
}

#[derive(FieldType, Debug, PartialEq, Clone, Copy)]
#[trueup(rename_all = "kebab-case")]
enum Level {
    Quiet,
    VeryLoud,
    #[trueup(rename = "DEBUG")]
    Debug,
}

#[derive(Outputs, Debug, PartialEq)]
struct ServerOutput {
    #[trueup(identity, stable)]
    id: u64,
    url: String,
    ports: Vec<u16>,
    main: Listener,
    nested: Vec<Listener>,
    level: Option<Level>,
}

fn nested(shape: &Shape) -> String {
    match shape {
        Shape::Plain(ty) => ty.to_string(),
        Shape::Object(block) => format!("object\n{}", shown(block, "    ").trim_end()),
        Shape::List(element) => format!("list of {}", nested(element)),
        Shape::Set(element) => format!("set of {}", nested(element)),
        Shape::Map(element) => format!("map of {}", nested(element)),
    }
}

fn shown(block: &Block, indent: &str) -> String {
    let mut text = String::new();
    for (name, attribute) in &block.attributes {
        let presence = match attribute.presence {
            Presence::Required => "required",
            Presence::Optional => "optional",
            Presence::OptionalComputed => "optional computed",
            Presence::Computed => "computed",
        };
        let flags = [
            ("secret", attribute.secret),
            ("identity", attribute.identity),
            ("replace", attribute.replace),
            ("stable", attribute.stable),
        ];
        let flags: String = flags.iter().filter(|flag| flag.1).map(|flag| format!(" {}", flag.0)).collect();
        let default = attribute.default.as_ref().map_or(String::new(), |default| format!(" = {default}"));
        let must: String =
            attribute.constraints.iter().map(|constraint| format!("; must {constraint}")).collect();
        let nested = match &attribute.shape {
            Shape::Plain(ty) => ty.to_string(),
            shape => nested(shape),
        };
        text += &format!("{indent}{name}: {presence}{flags} {nested}{default}{must}\n");
    }
    for (name, block) in &block.blocks {
        text += &format!(
            "{indent}{name}: block {:?} {}..{:?}\n",
            block.nesting, block.items_min, block.items_max
        );
    }
    text
}

#[test]
fn the_schema_says_all_that_the_struct_says() {
    let block = Server::block();
    assert_eq!(block.doc, "A server of pages.\n\nIt serves them.");
    assert_eq!(block.attributes["host-name"].doc, "The name under which it is reached.");
    assert_eq!(block.attributes["token"].deprecated.as_deref(), Some("use the vault"));
    insta::assert_snapshot!(shown(&block, ""));
    insta::assert_snapshot!(shown(&ServerOutput::block(), ""));
    assert_eq!(block.rules.len(), 2);
    let replace = block.paths_where(|attribute| attribute.replace);
    let replace: Vec<_> = replace.iter().map(ToString::to_string).collect();
    assert_eq!(replace, ["host-name", "main.port", "extra[*].port", "listener[*].port"]);
    assert_eq!(block.blocks["listener"].nesting, Nesting::List);
}

fn server() -> Server {
    Server {
        host_name: "web".to_owned(),
        port: 80,
        weight: 0.25,
        names: BTreeSet::from(["a".to_owned(), "b".to_owned()]),
        cert_file: None,
        plain: Some(true),
        log: Some("out".to_owned()),
        level: Some(Level::VeryLoud),
        token: Some("hunter2".to_owned()),
        password: Some(Secret::new("hunter3".to_owned())),
        zone: None,
        main: Listener { port: 1, protocol: "tcp".to_owned() },
        extra: BTreeMap::from([("x y".to_owned(), Listener { port: 2, protocol: "udp".to_owned() })]),
        listener: vec![Listener { port: 3, protocol: "tcp".to_owned() }],
        any: Some(value!([1, "x"])),
    }
}

#[test]
fn structs_become_values_and_back() {
    let value = server().encode().unwrap();
    insta::assert_snapshot!(value, @r#"{ any = [1, "x"], extra = map{ "x y" = { port = 2, protocol = "udp" } }, host-name = "web", level = "very-loud", listener = [{ port = 3, protocol = "tcp" }], log = "out", main = { port = 1, protocol = "tcp" }, names = set["a", "b"], password = (secret), plain = true, port = 80, token = (secret), weight = 0.25 }"#);
    assert_eq!(Server::decode(&value, ()).unwrap(), server());
    let checked = Server::block().check(&value, "x_server.it");
    assert_eq!(
        checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["warning: `token` in x_server.it is deprecated (use the vault)"]
    );
    assert_eq!(Server::block().with_defaults(&checked.value), value);
}

#[test]
fn what_does_not_fit_a_struct_says_where_and_why() {
    let message = |name: &str, value: Value| {
        let whole = server().encode().unwrap().with_entry(name, value);
        Server::decode(&whole, ()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(message("port", value!(70000)), @"`port` must be a whole number from 0 to 65535");
    insta::assert_snapshot!(message("level", value!("very-lout")), @r#"`level` must be one of ["quiet", "very-loud", "DEBUG"]: did you mean "very-loud"?"#);
    insta::assert_snapshot!(message("main", value!({ port: "x" })), @"`main.port` is a string, expected a number");
    insta::assert_snapshot!(message("listener", value!([{ port: 1 }, 5])), @"`listener[1]` is a number, expected an object");
    insta::assert_snapshot!(message("host-name", value!(null)), @"`host-name` is missing: expected a string");
    insta::assert_snapshot!(message("weight", Value::number("9007199254740993".parse::<Number>().unwrap())), @"`weight` has more digits than a 64-bit float can hold");
    let unwritable = Server { weight: f64::NAN, ..server() }.encode().unwrap_err();
    insta::assert_snapshot!(unwritable, @"`weight` is not a finite number");
}

/// A world in which some outputs are known.
struct World(Vec<(Address, Value)>);

impl Scope for World {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        let (_, outputs) = self.0.iter().find(|(address, _)| *address == reference.address)?;
        outputs.at(&reference.path)
    }
}

fn evaluate(expression: &Expression, scope: &dyn Scope) -> Evaluated {
    expression.evaluate(scope)
}

#[test]
fn args_take_values_references_and_expressions() {
    let address: Address = "x_server.a".parse().unwrap();
    let other = ServerOutput::refs(address.clone());
    let args = Server::args()
        .host_name("web")
        .port(other.ports().at(0))
        .main(Listener::args().port(other.main().port()).protocol("udp"))
        .listener(list([Listener { port: 9, protocol: "tcp".to_owned() }]))
        .log(other.url().map(|url| format!("{url}/log")))
        .level(other.level())
        .cert_file(
            other.url().zip(other.main().protocol()).map(|(url, protocol)| format!("{protocol}:{url}")),
        )
        .password("hunter2")
        .plain(None::<bool>)
        .into_expression();
    let known = World(vec![(
        address,
        value!({ id: 1, url: "http://a", ports: [80], main: { port: 443, protocol: "tcp" }, level: "quiet" }),
    )]);
    let found = evaluate(&args, &known);
    assert!(found.diagnostics.is_empty());
    insta::assert_snapshot!(found.value, @r#"{ cert-file = "tcp:http://a", host-name = "web", level = "quiet", listener = [{ port = 9, protocol = "tcp" }], log = "http://a/log", main = { port = 443, protocol = "udp" }, password = (secret), plain = null, port = 80 }"#);
    // UNKNOWN-4, UNKNOWN-5: before anything is known, the known parts are.
    let found = evaluate(&args, &());
    insta::assert_snapshot!(found.value, @r#"{ cert-file = (unknown string), host-name = "web", level = (unknown any), listener = [{ port = 9, protocol = "tcp" }], log = (unknown string), main = { port = (unknown any), protocol = "udp" }, password = (secret), plain = null, port = (unknown any) }"#);
    let references: Vec<_> = args.references().iter().map(|it| it.path.to_string()).collect();
    assert_eq!(references, ["ports[0]", "main.port", "url", "level", "url", "main.protocol"]);
}

/// UNKNOWN-11
#[test]
fn what_is_made_of_a_secret_is_secret() {
    let address: Address = "x_server.a".parse().unwrap();
    let made = ServerOutput::refs(address.clone()).url().map(|url| url.len() as u64);
    let known = World(vec![(address, Value::object([("url", value!("x").into_secret())]))]);
    assert!(evaluate(made.expression(), &known).value.is_secret());
}

/// UNKNOWN-6
#[test]
fn mistakes_are_found_beside_unknown_values_with_their_place_in_the_code() {
    let address: Address = "x_server.a".parse().unwrap();
    let line = line!() + 1;
    let args = Server::args().weight(f64::INFINITY).log(ServerOutput::refs(address).url()).into_expression();
    let mut sources = SourceMap::new();
    let found = evaluate(&args.placed_in(&mut sources), &());
    let diagnostic = found.diagnostics.iter().next().unwrap();
    assert_eq!(diagnostic.summary, "a value is not a finite number");
    let file = sources.file(diagnostic.origin.unwrap().file).unwrap().name();
    assert!(file.contains(&format!("derives.rs:{line}:")), "{file}");
}

#[test]
fn a_view_knows_each_field_or_not() {
    let value = server().encode().unwrap().with_entry("port", Value::unknown(trueup::Type::Number));
    let view = Server::view(&value).unwrap();
    assert_eq!(view.host_name.known().map(String::as_str), Some("web"));
    assert!(view.port.known().is_none());
    assert_eq!(view.level.known(), Some(&Some(Level::VeryLoud)));
    let partly = value.with_entry("main", Value::object([("port", Value::unknown(trueup::Type::Number))]));
    assert!(Server::view(&partly).unwrap().main.known().is_none());
}

#[test]
fn a_builder_can_be_kept_and_reused() {
    let base = Server::args().host_name("web").port(1);
    let evaluated = evaluate(&base.clone().port(2).into_expression(), &()).value;
    assert_eq!(evaluated.get("port"), Some(&value!(2)));
    assert_eq!(evaluate(&base.into_expression(), &()).value.get("port"), Some(&value!(1)));
}

#[derive(Inputs)]
struct Letter {
    text: trueup::Marked<String>,
    note: Option<trueup::Marked<String>>,
}

/// SECRET-1: a field that takes open and secret values in turn takes them from everywhere.
#[test]
fn a_marked_field_takes_open_and_secret_values_and_expressions() {
    let open: trueup::Expr<String> = trueup::Expr::assume(value!("open").into());
    let secret: trueup::Expr<Secret<String>> = trueup::Expr::assume(value!("hunter2").into_secret().into());
    let letters = [
        (Letter::args().text("open").note(Secret::new("hunter2".to_owned())), [false, true]),
        (Letter::args().text(open.clone()).note(secret.clone()), [false, true]),
        (Letter::args().text(secret).note(open), [true, false]),
    ];
    for (letter, expected) in letters {
        let value = letter.into_expression().evaluate(&()).value;
        let decoded = <Letter as Inputs>::decode(&value, ()).unwrap();
        assert_eq!([decoded.text.is_secret(), decoded.note.unwrap().is_secret()], expected);
    }
    let marked: trueup::Expr<trueup::Marked<String>> = trueup::Expr::assume(value!("open").into());
    let plain: trueup::Expr<String> = trueup::IntoExpr::into_expr(marked);
    assert_eq!(plain.into_expression().evaluate(&()).value, value!("open"));
}
