use aws_sdk_apigatewayv2::Client;
use trueup_core::{Value, value};
use trueup_provider::State;

use crate::world::World;

fn text(state: &State, output: &str) -> String {
    state.outputs.get(output).unwrap().as_str().unwrap().to_owned()
}

/// An API of the stack that the kit plays.
async fn api(world: &World) -> String {
    let driver = world.driver("awsn_apigatewayv2_api").await;
    let inputs = driver.inputs(&value!({ name: (format!("{}-main", world.stack)) })).unwrap();
    text(&driver.apply(&inputs, None, None).await.unwrap(), "id")
}

/// Three integrations for a route to call.
async fn targets(client: &Client, api: &str) -> [String; 3] {
    let mut targets = [const { String::new() }; 3];
    for target in &mut targets {
        let creating = client.create_integration().api_id(api).payload_format_version("1.0");
        let creating = creating.integration_type(aws_sdk_apigatewayv2::types::IntegrationType::HttpProxy);
        let creating = creating.integration_method("ANY").integration_uri("https://example.com");
        *target = format!("integrations/{}", creating.send().await.unwrap().integration_id.unwrap());
    }
    targets
}

#[tokio::test]
async fn an_api_keeps_the_contract() {
    let Some(world) = World::of("api").await else { return };
    let client = Client::new(&world.sdk());
    let (tampering, removing, counting) = (client.clone(), client, world.account());
    let (other, by_hand) = (format!("{}-other", world.stack), format!("{}-by-hand", world.stack));
    let kit = world.kit("awsn_apigatewayv2_api", value!({ cors: { allow_origins: ["*"] } })).await;
    let report = kit
        .imported_as(|state| text(state, "id"))
        .updated(value!({ name: other, description: "d", tags: { team: "web" } }))
        .tampered_by(move |state| {
            let (client, name) = (tampering.clone(), by_hand.clone());
            async move {
                client.update_api().api_id(text(&state, "id")).name(name).send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let client = removing.clone();
            async move {
                client.delete_api().api_id(text(&state, "id")).send().await.unwrap();
            }
        })
        .counted_by(move || {
            let account = counting.clone();
            async move { account.apis().await.len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

#[tokio::test]
async fn an_integration_keeps_the_contract() {
    let Some(world) = World::of("integration").await else { return };
    let client = Client::new(&world.sdk());
    let (first, second) = (api(&world).await, {
        let created = client.create_api().name(format!("{}-second", world.stack));
        let created = created.protocol_type(aws_sdk_apigatewayv2::types::ProtocolType::Http);
        created.send().await.unwrap().api_id.unwrap()
    });
    let (tampering, removing, counting) = (client.clone(), client.clone(), client);
    let inputs = |api: &str, more: Value| -> Value {
        let base = value!({ api_id: api, integration_type: "HTTP_PROXY", integration_uri: "https://example.com", integration_method: "ANY" });
        more.as_entries()
            .unwrap()
            .iter()
            .fold(base, |base, (name, value)| base.with_entry(name, value.clone()))
    };
    let kit =
        world.kit("awsn_apigatewayv2_integration", inputs(&first, value!({ description: "one" }))).await;
    let counted = first.clone();
    let report = kit
        .imported_as(|state| format!("{}/{}", text(state, "api_id"), text(state, "id")))
        .updated(inputs(
            &first,
            value!({ timeout_milliseconds: 500, integration_uri: "https://example.org" }),
        ))
        .replaced(inputs(&second, value!({})))
        .tampered_by(move |state| {
            let client = tampering.clone();
            async move {
                let update = client.update_integration().api_id(text(&state, "api_id"));
                update.integration_id(text(&state, "id")).timeout_in_millis(99).send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let client = removing.clone();
            async move {
                let delete = client.delete_integration().api_id(text(&state, "api_id"));
                delete.integration_id(text(&state, "id")).send().await.unwrap();
            }
        })
        .counted_by(move || {
            let (client, api) = (counting.clone(), counted.clone());
            async move { client.get_integrations().api_id(api).send().await.unwrap().items().len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

#[tokio::test]
async fn a_route_keeps_the_contract() {
    let Some(world) = World::of("route").await else { return };
    let client = Client::new(&world.sdk());
    let api = api(&world).await;
    let [first, second, third] = targets(&client, &api).await;
    let (tampering, removing, counting) = (client.clone(), client.clone(), client);
    let (id, counted) = (api.as_str(), api.clone());
    let kit = world
        .kit(
            "awsn_apigatewayv2_route",
            value!({ api_id: id, route_key: "GET /jobs", target: (first.as_str()) }),
        )
        .await;
    let report = kit
        .imported_as(|state| format!("{}/GET /jobs", text(state, "api_id")))
        .updated(value!({ api_id: id, route_key: "GET /jobs", target: second }))
        .replaced(value!({ api_id: id, route_key: "POST /jobs", target: (first.as_str()) }))
        .tampered_by(move |state| {
            let (client, third) = (tampering.clone(), third.clone());
            async move {
                let update =
                    client.update_route().api_id(text(&state, "api_id")).route_id(text(&state, "id"));
                update.target(third).send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let client = removing.clone();
            async move {
                let delete =
                    client.delete_route().api_id(text(&state, "api_id")).route_id(text(&state, "id"));
                delete.send().await.unwrap();
            }
        })
        .counted_by(move || {
            let (client, api) = (counting.clone(), counted.clone());
            async move { client.get_routes().api_id(api).send().await.unwrap().items().len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

#[tokio::test]
async fn a_stage_keeps_the_contract() {
    let Some(world) = World::of("stage").await else { return };
    let client = Client::new(&world.sdk());
    let api = api(&world).await;
    let (tampering, removing, taking, counting) = (client.clone(), client.clone(), client.clone(), client);
    let (id, counted, taken) = (api.as_str(), api.clone(), api.clone());
    let kit = world.kit("awsn_apigatewayv2_stage", value!({ api_id: id, variables: { a: "1" } })).await;
    let report = kit
        .marked()
        .imported_as(|state| format!("{}/$default", text(state, "api_id")))
        .updated(value!({ api_id: id, auto_deploy: false, description: "d", variables: { b: "2" }, tags: { team: "web" } }))
        .replaced(value!({ api_id: id, name: "next" }))
        .tampered_by(move |state| {
            let client = tampering.clone();
            async move {
                let update = client.update_stage().api_id(text(&state, "api_id")).stage_name("$default");
                update.description("by hand").send().await.unwrap();
            }
        })
        .removed_by(move |state| {
            let client = removing.clone();
            async move {
                let delete = client.delete_stage().api_id(text(&state, "api_id")).stage_name("$default");
                delete.send().await.unwrap();
            }
        })
        .taken_by(move |_, _| {
            let (client, api) = (taking.clone(), taken.clone());
            async move {
                client.create_stage().api_id(api).stage_name("$default").send().await.unwrap();
            }
        })
        .counted_by(move || {
            let (client, api) = (counting.clone(), counted.clone());
            async move { client.get_stages().api_id(api).send().await.unwrap().items().len() }
        })
        .run()
        .await;
    world.concluded(&report).await;
}
