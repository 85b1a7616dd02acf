//! The largest provider there is, where its binary can be found: hashicorp/aws, with no cloud behind it.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic, and says when it is skipped")]

use std::path::{Path, PathBuf};

use trueup_core::{Value, value};
use trueup_provider::{
    CallContext, InputValues, MigrateRequest, PlanRequest, PrivateBytes, Provider, State, Verdict,
};
use trueup_terraform::{Launch, Pool, ProviderOptions, TerraformProvider};
use trueup_test_servers::environment;

/// The binary of a provider below the usual roots.
fn find(name: &str) -> Option<PathBuf> {
    let home = environment::home().map(|home| home.join(".terraform.d"));
    let roots = ["/usr/share/terraform/plugins", "/usr/local/share", "/opt"].map(PathBuf::from);
    let prefix = format!("terraform-provider-{name}_");
    let mut folders: Vec<(PathBuf, usize)> = home.into_iter().chain(roots).map(|root| (root, 0)).collect();
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && depth < 8 {
                folders.push((path, depth + 1));
            } else if entry.file_name().to_string_lossy().starts_with(&prefix) && path.is_file() {
                return Some(path);
            }
        }
    }
    None
}

fn provider(cache: &Path) -> Option<TerraformProvider> {
    let Some(program) = find("aws") else {
        eprintln!("skipped: no terraform-provider-aws_* below the usual folders");
        return None;
    };
    Some(TerraformProvider::new(ProviderOptions {
        name: "aws".into(),
        address: "registry.terraform.io/hashicorp/aws".to_owned(),
        version: Default::default(),
        launch: Launch::new(program, environment::variables()),
        cache: Some(cache.to_owned()),
        pool: Pool::new(2),
        secrets: Default::default(),
    }))
}

fn inputs(value: Value) -> InputValues {
    InputValues { written: value.clone(), effective: value }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one start of a large provider serves all of it")]
async fn it_tells_its_schemas_once_and_plans() {
    let cache = tempfile::tempdir().unwrap();
    let Some(first) = provider(cache.path()) else { return };
    let types = first.resource_types().await.unwrap();
    assert!(types.len() > 1000);
    for name in &types {
        assert!(first.resource(name).await.unwrap().is_some(), "{name}");
    }
    for name in first.data_source_types().await.unwrap() {
        assert!(first.data_source(&name).await.unwrap().is_some(), "{name}");
    }

    let second = provider(cache.path()).unwrap();
    let handler = second.resource("aws_sqs_queue").await.unwrap().unwrap();
    let config = value!({
        region: "us-east-1",
        access_key: "test",
        secret_key: "test",
        skip_credentials_validation: true,
        skip_requesting_account_id: true,
        skip_metadata_api_check: "true",
        endpoints: [{ sqs: "http://127.0.0.1:1" }],
    });
    let schema = second.config_schema().await.unwrap();
    let checked = schema.check(&config, "provider aws");
    assert!(!checked.diagnostics.has_errors(), "{:?}", checked.diagnostics);
    let config = second.configure(&checked.value).await.unwrap();
    let context = CallContext::new("stack", "test", "aws_sqs_queue.x".parse().unwrap());
    let desired = inputs(
        value!({ name: "jobs", visibility_timeout_seconds: 60, tags: (Value::map([("a", value!("1"))])) }),
    );
    let private = PrivateBytes::default();
    let request = PlanRequest {
        config: Some(&config),
        desired: &desired,
        prior: None,
        attempted: None,
        observed: None,
        bindings: &[],
        prior_bindings: &[],
        private: &private,
        replaces: false,
        context: &context,
    };
    let answer = handler.plan(request).await.unwrap();
    assert_eq!(answer.verdict, Verdict::Create);
    assert_eq!(answer.outputs.get("delay_seconds"), Some(&value!(0)));
    assert_eq!(answer.outputs.get("tags_all"), Some(&Value::map([("a", value!("1"))])));
    assert!(answer.outputs.get("arn").unwrap().is_unknown());

    // A queue that was recorded, to be changed and to be renamed.
    let recorded = answer.outputs.as_entries().unwrap().iter().map(|(name, value)| {
        let settled = match value.is_unknown() {
            true if name == "id" || name == "url" => value!("https://sqs/1/jobs"),
            true if name == "arn" => value!("arn:aws:sqs:us-east-1:1:jobs"),
            true => Value::NULL,
            false => value.clone(),
        };
        (name.clone(), settled)
    });
    let state = State {
        inputs: Some(desired.clone()),
        outputs: Value::object(recorded.collect::<Vec<_>>()),
        private: Vec::new(),
        schema_version: handler.schema().version,
        identity: None,
    };
    let migrate =
        MigrateRequest { config: Some(&config), state: state.clone(), from_type: None, context: &context };
    assert!(handler.migrate(migrate).await.unwrap().outputs.same(&state.outputs));
    for (changed, verdict) in [
        (value!({ name: "jobs", visibility_timeout_seconds: 90, tags: { a: "1" } }), Verdict::Update),
        (value!({ name: "tasks", visibility_timeout_seconds: 60, tags: { a: "1" } }), Verdict::Replace),
    ] {
        let changed = inputs(handler.schema().inputs.check(&changed, "").value);
        let request = PlanRequest { desired: &changed, prior: Some(&state), ..request };
        let answer = handler.plan(request).await.unwrap();
        assert_eq!(answer.verdict, verdict);
    }
}
