use serde_json::json;
use trueup_core::{Value, value};
use trueup_provider::State;

use crate::raw::Raw;
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

/// Calls API Gateway, on a path below that of all APIs.
async fn gateway(raw: &Raw, method: &str, path: &str, input: Option<serde_json::Value>) -> serde_json::Value {
    raw.rest("apigateway", method, &format!("/v2/apis/{path}"), input).await
}

/// Three integrations for a route to call.
async fn targets(raw: &Raw, api: &str) -> [String; 3] {
    let mut targets = [const { String::new() }; 3];
    for target in &mut targets {
        let input = json!({
            "integrationType": "HTTP_PROXY",
            "integrationMethod": "ANY",
            "integrationUri": "https://example.com",
            "payloadFormatVersion": "1.0",
        });
        let created = gateway(raw, "POST", &format!("{api}/integrations"), Some(input)).await;
        *target = format!("integrations/{}", created["integrationId"].as_str().unwrap());
    }
    targets
}

#[tokio::test]
async fn an_api_keeps_the_contract() {
    let Some(world) = World::of("api").await else { return };
    let raw = world.raw();
    let (tampering, removing, counting) = (raw.clone(), raw, world.account());
    let (other, by_hand) = (format!("{}-other", world.stack), format!("{}-by-hand", world.stack));
    let kit = world.kit("awsn_apigatewayv2_api", value!({ cors: { allow_origins: ["*"] } })).await;
    let report = kit
        .imported_as(|state| text(state, "id"))
        .updated(value!({ name: other, description: "d", tags: { team: "web" } }))
        .tampered_by(move |state| {
            let (raw, name) = (tampering.clone(), by_hand.clone());
            async move {
                gateway(&raw, "PATCH", &text(&state, "id"), Some(json!({ "name": name }))).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                gateway(&raw, "DELETE", &text(&state, "id"), None).await;
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
    let raw = world.raw();
    let (first, second) = (api(&world).await, {
        let input = json!({ "name": format!("{}-second", world.stack), "protocolType": "HTTP" });
        let created = raw.rest("apigateway", "POST", "/v2/apis", Some(input)).await;
        created["apiId"].as_str().unwrap().to_owned()
    });
    let (tampering, removing, counting) = (raw.clone(), raw, world.account());
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
            let raw = tampering.clone();
            async move {
                let path = format!("{}/integrations/{}", text(&state, "api_id"), text(&state, "id"));
                gateway(&raw, "PATCH", &path, Some(json!({ "timeoutInMillis": 99 }))).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                let path = format!("{}/integrations/{}", text(&state, "api_id"), text(&state, "id"));
                gateway(&raw, "DELETE", &path, None).await;
            }
        })
        .counted_by(move || {
            let (account, api) = (counting.clone(), counted.clone());
            async move { account.parts(&api, "integrations").await }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

#[tokio::test]
async fn a_route_keeps_the_contract() {
    let Some(world) = World::of("route").await else { return };
    let raw = world.raw();
    let api = api(&world).await;
    let [first, second, third] = targets(&raw, &api).await;
    let (tampering, removing, counting) = (raw.clone(), raw, world.account());
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
            let (raw, third) = (tampering.clone(), third.clone());
            async move {
                let path = format!("{}/routes/{}", text(&state, "api_id"), text(&state, "id"));
                gateway(&raw, "PATCH", &path, Some(json!({ "target": third }))).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                let path = format!("{}/routes/{}", text(&state, "api_id"), text(&state, "id"));
                gateway(&raw, "DELETE", &path, None).await;
            }
        })
        .counted_by(move || {
            let (account, api) = (counting.clone(), counted.clone());
            async move { account.parts(&api, "routes").await }
        })
        .run()
        .await;
    world.concluded(&report).await;
}

#[tokio::test]
async fn a_stage_keeps_the_contract() {
    let Some(world) = World::of("stage").await else { return };
    let raw = world.raw();
    let api = api(&world).await;
    let (tampering, removing, taking, counting) = (raw.clone(), raw.clone(), raw, world.account());
    let (id, counted, taken) = (api.as_str(), api.clone(), api.clone());
    let kit = world.kit("awsn_apigatewayv2_stage", value!({ api_id: id, variables: { a: "1" } })).await;
    let report = kit
        .marked()
        .imported_as(|state| format!("{}/$default", text(state, "api_id")))
        .updated(value!({ api_id: id, auto_deploy: false, description: "d", variables: { b: "2" }, tags: { team: "web" } }))
        .replaced(value!({ api_id: id, name: "next" }))
        .tampered_by(move |state| {
            let raw = tampering.clone();
            async move {
                let path = format!("{}/stages/%24default", text(&state, "api_id"));
                gateway(&raw, "PATCH", &path, Some(json!({ "description": "by hand" }))).await;
            }
        })
        .removed_by(move |state| {
            let raw = removing.clone();
            async move {
                let path = format!("{}/stages/%24default", text(&state, "api_id"));
                gateway(&raw, "DELETE", &path, None).await;
            }
        })
        .taken_by(move |_, _| {
            let (raw, api) = (taking.clone(), taken.clone());
            async move {
                let input = json!({ "stageName": "$default" });
                gateway(&raw, "POST", &format!("{api}/stages"), Some(input)).await;
            }
        })
        .counted_by(move || {
            let (account, api) = (counting.clone(), counted.clone());
            async move { account.parts(&api, "stages").await }
        })
        .run()
        .await;
    world.concluded(&report).await;
}
