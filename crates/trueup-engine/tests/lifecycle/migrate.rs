//! CRUD-10: records of older schema versions.

use trueup_core::Value;
use trueup_provider::{
    Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, RawState, Recovery, Registry, Result,
};

use crate::lifecycle::world::{Bench, lit, program, resource};

#[derive(Outputs)]
struct Plain {
    size: u64,
}

#[derive(Outputs)]
struct Shaped {
    size: u64,
    shape: String,
}

/// Defines a release of the type.
macro_rules! release {
    ($name:ident, $version:literal, $output:ident, $made:expr) => {
        #[derive(Inputs)]
        struct $name {
            size: u64,
            #[trueup(replace, default = "red")]
            colour: String,
        }

        impl Crud for $name {
            type Output = $output;
            type Config = NoConfig;
            const SCHEMA_VERSION: u64 = $version;

            fn recovery(&self) -> Recovery {
                Recovery::Token
            }

            async fn create(&self, _: &Context) -> Result<$output> {
                let made: fn(u64) -> $output = $made;
                Ok(made(self.size))
            }

            async fn read(&self, _: &Context, prior: &$output) -> Result<$output> {
                let made: fn(u64) -> $output = $made;
                Ok(made(prior.size))
            }

            async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<$output> {
                let made: fn(u64) -> $output = $made;
                Ok(made(self.size))
            }

            async fn delete(&self, _: &Context, _: &$output) -> Result<()> {
                Ok(())
            }

            fn migrate(_: u64, state: RawState) -> Result<RawState> {
                Ok(RawState { outputs: state.outputs.with_entry("shape", Value::string("round")), ..state })
            }
        }
    };
}
release!(First, 0, Plain, |size| Plain { size });
release!(Second, 1, Shaped, |size| Shaped { size, shape: "round".to_owned() });

/// A bench on which the first release deployed, and the second is installed now.
fn upgraded() -> Bench {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("m").crud::<First>("thing"));
    bench.deployed(&program([resource("m_thing.a", [("size", lit(1))])]));
    bench.others = Registry::new().with(NativeProvider::new("m").crud::<Second>("thing"));
    bench
}

/// CRUD-10, INV-7
#[test]
fn what_an_older_release_recorded_can_be_changed_replaced_and_deleted() {
    let updated = program([resource("m_thing.a", [("size", lit(2))])]);
    let replaced = program([resource("m_thing.a", [("size", lit(1)), ("colour", lit("blue"))])]);
    for program in [updated, replaced, program([])] {
        let bench = upgraded();
        bench.deployed(&program);
        assert!(bench.plan(&program).ends_with("No changes"));
    }
}

/// CRUD-10: nothing is written for what stays as it is.
#[test]
fn a_new_release_alone_changes_no_record() {
    let bench = upgraded();
    let before = bench.records();
    bench.deployed(&program([resource("m_thing.a", [("size", lit(1))])]));
    assert_eq!(bench.records(), before);
}
