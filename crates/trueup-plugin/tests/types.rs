//! Types that are difficult: that panic, break their plans, replace for no visible reason, or take their time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use trueup::{
    Context, Crud, Error, Inputs, ModifyPlan, NativeProvider, NoConfig, Outputs, PlanHook, Prior, Result,
    Secret, Value, value,
};
use trueup_plugin::Server;
use trueup_terraform::Version;

use crate::terraform::Terraform;

/// A type that does as its input says.
#[derive(Inputs)]
struct Odd {
    how: String,
    password: Option<Secret<String>>,
    #[trueup(inject)]
    calls: Arc<AtomicU64>,
}

#[derive(Outputs)]
struct OddOutput {
    #[trueup(mirrors = "how")]
    how: String,
    serial: u64,
}

impl Odd {
    fn done(&self, serial: u64) -> Result<OddOutput> {
        Ok(OddOutput { how: self.how.clone(), serial })
    }

    fn secret(&self) -> &str {
        self.password.as_ref().map_or("", |password| password.expose())
    }
}

impl Crud for Odd {
    type Output = OddOutput;
    type Config = NoConfig;

    fn consistency_window(&self) -> Duration {
        assert_ne!(self.how, "panic-window");
        Duration::ZERO
    }

    async fn create(&self, context: &Context) -> Result<OddOutput> {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.how.as_str() {
            "panic" => panic!("with {}", self.secret()),
            "leak" => Err(Error::fatal(format!("the server said: {}", self.secret()))),
            "pend" if calls < 3 => {
                assert_eq!(context.pending.is_some(), calls > 0);
                Err(Error::pending(Some(Duration::from_millis(1)), value!(calls), "not yet"))
            }
            "gone" => Err(Error::not_found("the parent is gone").at("how").hint("make it first")),
            "warn" => {
                context
                    .report_warnings(trueup::Diagnostic::warning(format!("told {}", self.secret())).into());
                self.done(1)
            }
            _ => self.done(1),
        }
    }

    async fn read(&self, _: &Context, prior: &OddOutput) -> Result<OddOutput> {
        match prior.how.as_str() {
            "panic-read" => panic!("in a read"),
            how => Ok(OddOutput { how: how.to_owned(), serial: prior.serial }),
        }
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<OddOutput> {
        self.done(2)
    }

    async fn delete(&self, _: &Context, prior: &OddOutput) -> Result<()> {
        match prior.how.as_str() {
            "stuck" => Err(Error::conflict("it is in use")),
            _ => Err(Error::not_found("it is gone already")),
        }
    }

    fn modify_plan(request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let how = request.current.how.known().map(String::as_str);
        match (how, request.prior.is_some()) {
            (Some("panic-plan"), _) => panic!("in a plan"),
            (Some("promise"), true) => plan.set_output("serial", &7_u64)?,
            (Some("replace"), true) => plan.replace("how"),
            (Some("update"), true) => plan.update(),
            _ => {}
        }
        plan.outputs_may_change();
        Ok(())
    }
}

fn odd() -> Terraform {
    let calls = Arc::new(AtomicU64::new(0));
    let provider = NativeProvider::new("odd").crud_with::<Odd>("one", move || calls.clone());
    Terraform::new(provider, Version::V6)
}

fn run(
    terraform: &Terraform,
    object: &mut Option<crate::terraform::Object>,
    how: &str,
) -> Result<&'static str, Vec<String>> {
    terraform.run("odd_one", object, Some(&value!({ how: how, password: "secret-12345678" })))
}

fn created(terraform: &Terraform, how: &str) -> Result<Option<crate::terraform::Object>, String> {
    let mut object = None;
    run(terraform, &mut object, how).map(|_| object).map_err(|errors| errors.join("\n"))
}

/// CRUD-12, SECRET-5, SERVE-6.
#[test]
fn a_panic_is_an_error_and_its_text_stays_inside() {
    let terraform = odd();
    let told = created(&terraform, "panic").unwrap_err();
    assert!(told.starts_with("Cannot create odd_one: The provider panicked."), "{told}");
    let told = created(&terraform, "panic-plan").unwrap_err();
    assert!(told.contains("panicked") && !told.contains("in a plan"), "{told}");
    let mut object = created(&terraform, "panic-read").unwrap();
    assert!(run(&terraform, &mut object, "panic-read").unwrap_err()[0].contains("Cannot read odd_one"));
    // Objects are not forgotten, and the server goes on.
    assert!(object.is_some() && created(&terraform, "panic-window").unwrap().is_some());
}

/// SECRET-2, SERVE-6.
#[test]
fn errors_show_no_secret() {
    let told = created(&odd(), "leak").unwrap_err();
    assert_eq!(told, "Cannot create odd_one: The server said: (secret).");
}

/// SERVE-6.
#[test]
fn errors_say_what_to_do() {
    let told = created(&odd(), "gone").unwrap_err();
    assert_eq!(told, "Cannot create odd_one: The parent is gone.\n\nMake it first.");
}

/// RETRY-4.
#[test]
fn what_is_pending_is_called_again_with_its_context() {
    assert!(created(&odd(), "pend").unwrap().is_some());
}

#[test]
fn a_replacement_or_update_without_a_visible_change_shows() {
    let terraform = odd();
    let mut object = created(&terraform, "well").unwrap();
    assert_eq!(run(&terraform, &mut object, "replace"), Ok("replace"));
    assert_eq!(run(&terraform, &mut object, "replace"), Ok("replace"));
    assert_eq!(run(&terraform, &mut object, "update"), Ok("update"));
    assert_eq!(run(&terraform, &mut object, "update"), Ok("update"));
}

/// Terraform refuses an object that is not as planned; the type's author is to hear of it, and nobody else to suffer.
/// SERVE-3.
#[test]
fn a_broken_promise_is_kept_until_the_next_refresh() {
    let terraform = odd();
    let mut object = created(&terraform, "well").unwrap();
    assert_eq!(run(&terraform, &mut object, "promise"), Ok("update"));
    let serial =
        |object: &Option<crate::terraform::Object>| object.as_ref().unwrap().state.get("serial").cloned();
    assert_eq!(serial(&object), Some(value!(7)));
    let refreshed = terraform.refresh("odd_one", object.as_ref().unwrap()).unwrap();
    assert_eq!(serial(&refreshed), Some(value!(2)));
}

/// SERVE-4.
#[test]
fn what_is_gone_is_deleted_and_what_is_not_stays() {
    let terraform = odd();
    let mut object = created(&terraform, "well").unwrap();
    assert_eq!(terraform.run("odd_one", &mut object, None), Ok("delete"));
    let mut object = created(&terraform, "stuck").unwrap();
    let told = terraform.run("odd_one", &mut object, None).unwrap_err();
    assert_eq!(told, ["Cannot delete odd_one: It is in use."]);
    assert!(object.is_some());
}

macro_rules! refused {
    ($name:ident { $($field:tt)* } -> { $($output:tt)* } $expected:literal) => {{
        #[derive(Inputs)]
        #[allow(dead_code, reason = "only its schema counts")]
        struct $name { $($field)* }
        #[derive(Outputs)]
        #[allow(dead_code, reason = "only its schema counts")]
        struct Output { $($output)* }
        impl trueup::DataSource for $name {
            type Output = Output;
            type Config = NoConfig;
            async fn read(&self, _: &Context) -> Result<Output> {
                Err(Error::fatal("never read"))
            }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let provider = NativeProvider::new("bad").data::<$name>("one");
        let refused = runtime.block_on(Server::new(provider, Version::V6)).err().unwrap();
        assert_eq!(refused.to_string(), $expected);
    }};
}

/// SERVE-7.
#[test]
fn types_that_terraform_cannot_have_are_named() {
    refused!(A { count: u64 } -> { id: u64 }
        "`bad_one` cannot be served: `count` means something else in Terraform's language; rename it");
    refused!(B { #[trueup(rename = "two-words")] two: u64 } -> { id: u64 }
        "`bad_one` cannot be served: `two-words` is no name in Terraform, which takes a-z, 0-9 and _; rename it");
    refused!(C { id: u64 } -> { id: String }
        "`bad_one` cannot be served: its input `id` is number, and its output of that name string: Terraform has one attribute \
         for both; rename one of them");
}

#[test]
fn a_value_is_no_value() {
    // The reader of values is the client's; what it refuses is told, not a failure of the call.
    let terraform = odd();
    assert!(
        terraform.validate("odd_one", &terraform.config("odd_one", &Value::object::<&str>([]))).len() == 1
    );
}
