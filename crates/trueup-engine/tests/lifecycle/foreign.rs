//! A provider that is not typed Rust, as a plugin is: nothing keeps its answers to its schema.

use std::sync::{Arc, Mutex};

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block, ResourceSchema};
use trueup_core::{Change, Diagnostic, Failure, FailureClass, Type, Value, value};
use trueup_engine::{Deployed, Event, EventSink, Outcome};
use trueup_program::{Expression, Function, Node, ProviderDeclaration};
use trueup_provider::{
    ApplyFailure, ApplyRequest, BoxFuture, CheckRequest, Configured, DataHandler, DeleteRequest,
    ImportRequest, Imported, InputValues, LookupRequest, MigrateRequest, Observed, PlanAnswer, PlanRequest,
    PrivateBytes, Provider, ReadRequest, Recovery, Registry, ResourceHandler, Sighting, State, Traits,
    Verdict,
};

use crate::lifecycle::world::{Bench, lit, output, program, resource, thing, with_output};

/// The provider `x` with the one type `x_odd`, which answers what its input `answer` says.
pub(crate) struct Foreign;

struct Odd {
    schema: ResourceSchema,
    traits: Traits,
}

impl Provider for Foreign {
    fn name(&self) -> &str {
        "x"
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        let config = block([("endpoint", Attribute::optional(Type::String))]);
        Box::pin(async { Ok(Arc::new(config)) })
    }

    fn configure<'a>(&'a self, config: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        Box::pin(async move {
            assert!(config.is_wholly_known(), "it is configured with real values alone");
            let endpoint = config.get("endpoint").and_then(Value::as_str).unwrap_or_default();
            Ok(Configured::new("x", Arc::new(endpoint.to_owned())))
        })
    }

    fn resource<'a>(
        &'a self,
        type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        let mut token = Attribute::optional(Type::String);
        token.secret = true;
        let inputs = block([("answer", Attribute::required(Type::String)), ("token", token)]);
        let outputs = block([("size", Attribute::computed(Type::Number))]);
        let schema = ResourceSchema { inputs, outputs, ..ResourceSchema::default() };
        let odd: Arc<dyn ResourceHandler> = Arc::new(Odd { schema, traits: Traits::default() });
        Box::pin(async move { Ok((type_name == "x_odd").then_some(odd)) })
    }

    fn data_source<'a>(
        &'a self,
        _type_name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(vec!["x_odd".into()]) })
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute));
    Block { attributes: attributes.collect(), ..Block::default() }
}

fn state(inputs: &InputValues, outputs: Value) -> State {
    State { inputs: Some(inputs.clone()), outputs, private: Vec::new(), schema_version: 0, identity: None }
}

impl ResourceHandler for Odd {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn traits(&self) -> &Traits {
        &self.traits
    }

    fn recovery(&self, _inputs: &Value) -> Recovery {
        Recovery::Blind
    }

    fn input_changes(&self, prior: &InputValues, current: &InputValues) -> Vec<Change> {
        trueup_core::diff(&prior.effective, &current.effective)
    }

    fn drift(&self, _recorded: &State, _observed: &State) -> Vec<Change> {
        Vec::new()
    }

    fn check<'a>(&'a self, _request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Ok(()) })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        let inputs = request.prior.and_then(|prior| prior.inputs.as_ref());
        let changes = inputs.map_or(Vec::new(), |inputs| self.input_changes(inputs, request.desired));
        let verdict = match (request.prior, changes.is_empty()) {
            (None, _) => Verdict::Create,
            (Some(_), true) => Verdict::NoOp,
            (Some(_), false) => Verdict::Update,
        };
        let answer = PlanAnswer {
            verdict,
            outputs: Value::unknown(self.schema.outputs.implied_type()),
            changes,
            drift: Vec::new(),
            replace_paths: Vec::new(),
            delete_first: false,
            private: PrivateBytes::default(),
            diagnostics: trueup_core::Diagnostics::new(),
        };
        Box::pin(async { Ok(answer) })
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        Box::pin(async {
            let outputs = value!({ size: 1 });
            Ok(Observed::Present(Box::new(State { outputs, ..request.state.clone() })))
        })
    }

    fn lookup<'a>(
        &'a self,
        _request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        Box::pin(async { Ok(None) })
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        let given = |name: &str| {
            let value = request.desired.effective.at(&name.parse().expect("a test writes paths"));
            value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
        };
        let outputs = match given("answer").as_str() {
            "number" => Ok(value!({ size: 1 })),
            "text" => Ok(value!({ size: "large" })),
            "more" => Ok(value!({ size: 1, weight: 2 })),
            "list" => Ok(value!([1, 2])),
            "unknown" => Ok(Value::object([("size", Value::unknown(Type::Number))])),
            "gossip" => {
                let endpoint = request.config.get::<String>().expect("it is its own");
                request.context.report_progress(&format!("calling {endpoint}"));
                let warning = Diagnostic::warning(format!("{endpoint} is slow"));
                request.context.report_warnings(warning.into());
                Err(format!("{endpoint} does not answer"))
            }
            "refuse" => Err(format!("the token {} is not welcome", given("token"))),
            _ => Err(quoting(&given("token"))),
        };
        let answer = match outputs {
            Ok(outputs) => Ok(state(request.desired, outputs)),
            Err(message) => Err(Failure::new(FailureClass::Denied, message).into()),
        };
        Box::pin(async { answer })
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        let token = request.inputs.get("token").and_then(Value::as_str).map(str::to_owned);
        Box::pin(async move {
            match token.filter(|token| token.contains("keep")) {
                Some(token) => Err(Failure::new(FailureClass::Denied, quoting(&token)).into()),
                None => Ok(()),
            }
        })
    }

    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>> {
        Box::pin(async { Ok(request.state) })
    }

    fn import<'a>(&'a self, _request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// The answer to a token inside a document.
fn quoting(document: &str) -> String {
    format!("the token {} is not welcome", document.split('"').nth(3).unwrap_or_default())
}

/// A bench on which the provider is there too.
fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(Foreign);
    bench
}

#[test]
fn outputs_that_do_not_match_the_schema_are_a_clear_error_and_the_object_is_kept() {
    for (answer, told) in [
        ("text", "`size`: expected a number"),
        ("more", "it has no attribute `weight`"),
        ("list", "expected an object, found"),
        ("unknown", "`size` is still unknown"),
    ] {
        let bench = bench();
        let odd = resource("x_odd.odd", [("answer", lit(answer))]);
        let report = bench.deploy(&program([odd, thing("beside", 1)]));
        let Some(Outcome::Failed(failure)) = report.outcome("x_odd.odd") else { panic!("{answer} passed") };
        assert!(failure.message.contains("does not match its own schema"), "{failure}");
        assert!(failure.message.contains(told), "{failure}");
        assert_eq!(bench.world.things(), ["beside=1"], "the rest of the run goes on");
        let kept = bench.records()["odd"].current.clone().unwrap();
        assert!(kept.object.is_some(), "the object may exist, so it is not forgotten");
        // Once the provider is mended, the same object is brought up to date.
        let mended = resource("x_odd.odd", [("answer", lit("number"))]);
        bench.deployed(&program([mended, thing("beside", 1)]));
        assert_eq!(bench.records()["odd"].current.as_ref().unwrap().number.0, 0);
    }
}

/// SECRET-1
#[test]
fn the_words_of_a_provider_are_told_without_the_secrets_it_was_given() {
    let bench = bench();
    let secret = lit(Value::from("hunter2-and-more").into_secret());
    let report =
        bench.deploy(&program([resource("x_odd.odd", [("answer", lit("refuse")), ("token", secret)])]));
    let Some(Outcome::Failed(failure)) = report.outcome("x_odd.odd") else { panic!("it was welcome") };
    assert_eq!(failure.message, "the token (secret) is not welcome");
}

/// SECRET-8: a server quotes the secret without the text that a program made of it.
#[test]
fn a_secret_is_scrubbed_without_the_text_around_it() {
    let bench = bench();
    let secret = lit(Value::from("hunter2-and-more").into_secret());
    let document = Function::new(Type::String, |given| {
        let token = given[0].as_str().unwrap_or_default();
        Ok(Value::from(format!("{{\"token\":\"{token}\",\"scope\":\"everything that there is to be had\"}}")))
    });
    let token = Expression::new(Node::Apply(document, vec![secret]));
    let report =
        bench.deploy(&program([resource("x_odd.odd", [("answer", lit("quote")), ("token", token)])]));
    let Some(Outcome::Failed(failure)) = report.outcome("x_odd.odd") else { panic!("it was welcome") };
    assert_eq!(failure.message, "the token (secret) is not welcome");
}

/// SECRET-11: a run that knows neither the program nor its variables deletes with what an earlier one recorded.
#[test]
fn a_secret_is_scrubbed_by_a_run_that_only_has_the_record() {
    let mut bench = bench();
    let deploy = |bench: &Bench, secret: &str, size: u64| {
        let secret = lit(Value::from(secret).into_secret());
        let document = Function::new(Type::String, move |given| {
            let token = given[0].as_str().unwrap_or_default();
            let rest = format!("keep everything that there is to be had, {size} times over");
            Ok(Value::from(format!("{{\"token\":\"{token}\",\"scope\":\"{rest}\"}}")))
        });
        let token = Expression::new(Node::Apply(document, vec![secret]));
        bench.deployed(&program([resource("x_odd.odd", [("answer", lit("number")), ("token", token)])]))
    };
    deploy(&bench, "hunter2-and-more", 1);
    deploy(&bench, "correct-horse-7", 2);
    // Another process: it has heard of no secret.
    bench.others = Registry::new().with(Foreign);
    let report = bench.deploy(&program([]));
    let Some(Outcome::Failed(failure)) = report.outcome("x_odd.odd") else { panic!("it was welcome") };
    assert_eq!(failure.message, "the token (secret) is not welcome");
}

/// SECRET-8: the floor.
#[test]
fn a_secret_that_is_too_short_to_be_scrubbed_is_warned_of() {
    let bench = bench();
    for (secret, warnings) in [("abc", 1), ("", 0), ("abcd", 0)] {
        let token = lit(Value::from(secret).into_secret());
        let wanted = program([resource("x_odd.odd", [("answer", lit("number")), ("token", token)])]);
        let plan = bench.try_plan(&wanted).expect("it is sound");
        let told: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), warnings, "{told:?}");
        assert!(told.iter().all(|told| told.contains("shorter than 4 characters")), "{told:?}");
    }
}

/// SECRET-1: a secret of the provider's configuration, in whatever it says of a call.
#[test]
fn the_words_of_a_provider_are_told_without_the_secrets_of_its_configuration() {
    let bench = bench();
    let mut program = program([resource("x_odd.odd", [("answer", lit("gossip"))])]);
    let endpoint = lit(Value::from("https://ada:hunter2@example.com").into_secret());
    program.providers.push(ProviderDeclaration {
        name: "x".into(),
        config: Expression::new(Node::Object(vec![("endpoint".into(), endpoint)])),
    });
    let heard = Arc::new(Mutex::new(String::new()));
    let listening = heard.clone();
    let listen = move |event: &Event| *listening.lock().expect("nobody panics") += &format!("{event:?}\n");
    let sink = EventSink::new().with(listen);
    let deploying = bench.reconciler(sink.clone());
    let deployed = bench.run(deploying.deploy(&program, &bench.options, &bench.cancellation));
    sink.close();
    let Ok(Deployed::Ran(report)) = deployed else { panic!("it did not run") };
    let Some(Outcome::Failed(failure)) = report.outcome("x_odd.odd") else { panic!("it answered") };
    assert_eq!(failure.message, "(secret) does not answer");
    assert_eq!(report.warnings, ["warning: (secret) is slow"]);
    let events = heard.lock().expect("nobody panics").clone();
    assert!(events.contains("calling (secret)") && !events.contains("hunter2"), "{events}");
}

/// A provider whose configuration comes from a resource of the same run.
#[test]
fn a_provider_is_configured_as_soon_as_its_configuration_is_known() {
    let bench = bench();
    let declared = |endpoint| {
        let odd = resource("x_odd.odd", [("answer", lit("number"))]);
        let mut program =
            with_output(program([thing("server", 1), odd]), "size", output("x_odd.odd", "size"));
        let config = vec![("endpoint".into(), endpoint)];
        program
            .providers
            .push(ProviderDeclaration { name: "x".into(), config: Expression::new(Node::Object(config)) });
        program
    };
    let program = declared(output("w_thing.server", "url"));
    let report = bench.deployed(&program);
    assert_eq!(report.outputs.unwrap().to_string(), "{ size = 1 }");
    assert!(bench.plan(&program).ends_with("No changes"));
    bench.destroy_of(&program);
    assert!(bench.records().is_empty());
}
