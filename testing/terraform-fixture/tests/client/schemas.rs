//! What the provider says of its types, as the engine sees it.

use std::sync::Arc;

use trueup_core::schema::{Nesting, Presence, Shape};
use trueup_core::{Address, value};
use trueup_provider::{
    CallContext, DataRequest, GenerationNumber, InputValues, NameRules, Opened, Owner, ProgressSink,
    Provider, RuntimeClock, Slot, WarningSink,
};
use trueup_terraform::Pool;

use crate::bench::{Fixture, VERSIONS};

#[tokio::test]
async fn schemas_keep_all_that_they_say() {
    let provider = Fixture(6).provider(None, Pool::new(2));
    let nest = provider.resource("fixture6_nest").await.unwrap().unwrap();
    let blocks = &nest.schema().inputs.blocks;
    let nesting = |name: &str| blocks[name].nesting;
    assert_eq!(nesting("single"), Nesting::Single);
    assert_eq!(nesting("group"), Nesting::Group);
    assert_eq!((nesting("several"), blocks["several"].items_max), (Nesting::List, Some(5)));
    assert_eq!(nesting("unordered"), Nesting::Set);
    assert_eq!(nesting("labelled"), Nesting::Map);
    let thing = provider.resource("fixture6_thing").await.unwrap().unwrap();
    let attributes = &thing.schema().inputs.attributes;
    assert_eq!(thing.schema().version, 1);
    assert_eq!(attributes["name"].presence, Presence::Required);
    assert_eq!(attributes["size"].presence, Presence::OptionalComputed);
    assert_eq!(attributes["serial"].presence, Presence::Computed);
    assert!(attributes["secret"].secret && attributes["password_wo"].write_only);
    assert!(attributes["old"].deprecated.is_some());
    let tree = provider.resource("fixture6_tree").await.unwrap().unwrap();
    let attributes = &tree.schema().inputs.attributes;
    assert!(matches!(attributes["one"].shape, Shape::Object(_)));
    assert!(matches!(&attributes["many"].shape, Shape::List(inner) if matches!(**inner, Shape::Object(_))));
    assert!(matches!(attributes["some"].shape, Shape::Set(_)));
    assert!(matches!(attributes["named"].shape, Shape::Map(_)));
}

#[tokio::test]
async fn functions_are_called() {
    for version in VERSIONS {
        let provider = version.provider(None, Pool::new(2));
        let functions = provider.functions().await.unwrap();
        assert_eq!(functions.keys().collect::<Vec<_>>(), ["hang", "reverse", "sum"]);
        let (reverse, sum) = (&functions["reverse"], &functions["sum"]);
        assert_eq!(
            provider.call_function("reverse", reverse, &[value!("abc")]).await.unwrap(),
            value!("cba")
        );
        let numbers = [value!(1), value!(2), value!(39)];
        assert_eq!(provider.call_function("sum", sum, &numbers).await.unwrap(), value!(42));
        assert_eq!(provider.call_function("sum", sum, &[]).await.unwrap(), value!(0));
        let refused = provider.call_function("reverse", reverse, &[value!("")]).await.unwrap_err();
        assert_eq!(refused.message, "argument `text`: there is nothing to reverse");
        let refused =
            provider.call_function("reverse", reverse, &[value!("a"), value!("b")]).await.unwrap_err();
        assert_eq!(refused.message, "reverse takes 1 arguments");
    }
}

#[tokio::test]
async fn an_ephemeral_resource_is_opened_renewed_and_closed() {
    for version in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::new(2);
        let provider = version.provider(None, pool.clone());
        let config = value!({ folder: (folder.path().to_str().unwrap()) });
        let config = provider.configure(&config).await.unwrap();
        let name = format!("{}_ticket", version.name());
        assert_eq!(provider.ephemeral_types().await.unwrap(), [name.as_str()]);
        let handler = provider.ephemeral(&name).await.unwrap().unwrap();
        let inputs = value!({ purpose: "tests" });
        let inputs = InputValues { written: inputs.clone(), effective: inputs };
        let context = context();
        let request = DataRequest { config: &config, inputs: &inputs, context: &context };
        let Opened { outputs, renew_at, mut held } = handler.open(request).await.unwrap();
        let given = outputs.get("ticket").unwrap();
        assert!(given.is_secret());
        assert_eq!(given.clone().reveal(), value!("ticket for tests"));
        assert!(renew_at.is_some());
        held.renew().await.unwrap();
        let log = || std::fs::read_to_string(folder.path().join("tickets.log")).unwrap();
        assert_eq!(log(), "open tests\nrenew tests\n");
        held.close().await.unwrap();
        assert_eq!(log(), "open tests\nrenew tests\nclose tests\n");
        // What nobody closes is closed when all come to their end.
        drop(handler.open(request).await.unwrap());
        pool.shut_down().await;
        assert!(log().ends_with("open tests\nclose tests\n"), "{}", log());
    }
}

/// What a call is told that is about no resource of a stack.
fn context() -> CallContext {
    let address = Address::ephemeral("fixture_ticket", "it").unwrap();
    CallContext {
        owner: Owner { stack: "shop".into(), stage: "dev".into(), origin: address.clone() },
        address,
        generation: GenerationNumber::FIRST,
        slot: Some(Slot::FIRST),
        token: None,
        pending: None,
        cancellation: tokio_util::sync::CancellationToken::new(),
        clock: Arc::new(RuntimeClock::new()),
        progress: ProgressSink::new(|_| {}),
        warnings: WarningSink::new(|_| {}),
        name_rules: NameRules::default(),
        secrets: Default::default(),
        metas: None,
    }
}

/// The same file may be another provider elsewhere: a script that starts what lies beside it.
#[tokio::test]
async fn kept_schemas_are_those_of_one_provider() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    for version in VERSIONS {
        let beside = folder.path().join(version.name());
        std::fs::create_dir(&beside).unwrap();
        std::os::unix::fs::symlink(version.program(), beside.join("provider")).unwrap();
        let script = beside.join("script");
        std::fs::write(&script, "#!/bin/sh\nexec \"$(dirname \"$0\")/provider\"\n").unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let provider = version.started_by(script, Some(cache.clone()), Pool::new(2));
        assert!(
            provider.resource_types().await.unwrap().contains(&format!("{}_thing", version.name()).into())
        );
    }
}
