use trueup_core::{Address, Path, Value};
use trueup_program::{DataDeclaration, Expression, Node, OutputDeclaration, Program, Reference};
use trueup_provider_aws::Role;

use crate::bench::Bench;
use crate::iam::TRUST;
use crate::world::World;

/// What a data source answers.
async fn read(bench: &Bench<'_>, type_name: &str, inputs: Value) -> Value {
    let address: Address = format!("data.{type_name}.it").parse().unwrap();
    let seen = Expression::new(Node::Reference(Reference { address: address.clone(), path: Path::ROOT }));
    let data = DataDeclaration::new(address, inputs.into());
    let output = OutputDeclaration { name: "seen".into(), value: seen, secret: false };
    let program = Program { data: vec![data], outputs: vec![output], ..bench.program(|_| {}) };
    bench.deployed(&program).await.outputs.unwrap().get("seen").unwrap().clone()
}

#[tokio::test]
async fn data_sources_tell_who_and_where_we_are_and_find_a_role() {
    let Some(world) = World::of("data").await else { return };
    let bench = Bench::new(&world);
    let nothing = || Value::object::<&str>([]);
    let caller = read(&bench, "awsn_caller_identity", nothing()).await;
    assert_eq!(caller.get("account_id").unwrap().as_str().unwrap().len(), 12);
    let region = read(&bench, "awsn_region", nothing()).await;
    assert_eq!(region.get("name").unwrap().as_str(), Some(world.region().as_str()));
    assert_eq!(region.get("partition").unwrap().as_str(), Some("aws"));
    let there = format!("{}-there", world.stack);
    let role = Role::args().name(there.as_str()).assume_role_policy(TRUST);
    bench.deployed(&bench.program(|stack| drop(stack.add("r", role)))).await;
    let found = read(&bench, "awsn_iam_role", trueup_core::value!({ name: (there.as_str()) })).await;
    assert!(found.get("arn").unwrap().as_str().unwrap().ends_with(&format!(":role/{there}")));
    world.account().sweep().await;
}
