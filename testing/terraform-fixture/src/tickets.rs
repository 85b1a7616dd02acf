//! Tickets: the ephemeral resources. What becomes of them is written down in the file `tickets.log`, a line each.
//!
//! | `trouble` | what happens |
//! | --- | --- |
//! | `fail-open`, `fail-renew`, `fail-close` | an error, and nothing is done |
//! | `hang-open` | the first opening never answers; whoever reads the pipe `reached` hears of it |

use std::time::{Duration, SystemTime};

use serde_json::{Value as Json, json};
use tonic::Status;
use trueup_core::Value;
use trueup_terraform::protocol::{
    CloseEphemeralRequest, DiagnosticsResponse, OpenEphemeralRequest, OpenEphemeralResponse,
    RenewEphemeralRequest, RenewEphemeralResponse, Timestamp,
};

use crate::lifecycle::text;
use crate::service::{Inner, decode, encode, told};
use crate::trouble;

/// The file that says what became of tickets.
const LOG: &str = "tickets.log";

/// When tickets want to be renewed that do not say when, in seconds since 1970: far away.
const RENEW_AT: i64 = 4_102_444_800;

impl Inner {
    pub(crate) async fn open(&self, request: &OpenEphemeralRequest) -> Result<OpenEphemeralResponse, Status> {
        let schema =
            self.ephemeral.get(&request.type_name).ok_or_else(|| Status::invalid_argument("no such type"))?;
        let config = decode(schema, request.config.as_ref())?;
        let (purpose, trouble) = (text(&config, "purpose"), text(&config, "trouble"));
        let objects = self.objects()?;
        match trouble {
            "fail-open" => {
                let wrong = trouble::error("Cannot open", "There are no tickets.", &["purpose"]);
                return Ok(OpenEphemeralResponse {
                    diagnostics: vec![wrong],
                    ..OpenEphemeralResponse::default()
                });
            }
            "hang-open" => objects.hang_once().await,
            _ => {}
        }
        let serial = objects.log(LOG, &format!("open {purpose}"));
        let opened = config.with_entry("ticket", Value::from(format!("ticket for {purpose}")));
        let opened = opened.with_entry("serial", Value::from(serial.to_string()));
        let renew_in =
            config.get("renew_in").and_then(Value::as_number).and_then(trueup_core::Number::as_u64);
        let private = json!({ "purpose": purpose, "trouble": trouble, "renew_in": renew_in });
        Ok(OpenEphemeralResponse {
            result: encode(schema, &opened)?,
            renew_at: Some(renew_at(renew_in)),
            private: Some(private.to_string().into_bytes().into()),
            ..OpenEphemeralResponse::default()
        })
    }

    pub(crate) fn renew(&self, request: RenewEphemeralRequest) -> Result<RenewEphemeralResponse, Status> {
        let ticket = ticket(request.private.as_deref())?;
        if ticket["trouble"] == "fail-renew" {
            let wrong = trouble::error("Cannot renew", "It is too late.", &[]);
            return Ok(RenewEphemeralResponse {
                diagnostics: vec![wrong],
                ..RenewEphemeralResponse::default()
            });
        }
        self.objects()?.log(LOG, &format!("renew {}", word(&ticket, "purpose")));
        let renew_at = Some(renew_at(ticket["renew_in"].as_u64()));
        Ok(RenewEphemeralResponse { renew_at, private: request.private, diagnostics: Vec::new() })
    }

    pub(crate) fn close(&self, request: &CloseEphemeralRequest) -> Result<DiagnosticsResponse, Status> {
        let ticket = ticket(request.private.as_deref())?;
        if ticket["trouble"] == "fail-close" {
            return Ok(told(trouble::error("Cannot close", "It is stuck.", &[])));
        }
        self.objects()?.log(LOG, &format!("close {}", word(&ticket, "purpose")));
        Ok(DiagnosticsResponse::default())
    }
}

fn ticket(private: Option<&[u8]>) -> Result<Json, Status> {
    let private = private.ok_or_else(|| Status::invalid_argument("the private bytes did not come along"))?;
    serde_json::from_slice(private).map_err(|error| Status::invalid_argument(error.to_string()))
}

fn word<'a>(ticket: &'a Json, name: &str) -> &'a str {
    ticket[name].as_str().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a provider lives by the time of the world")]
fn renew_at(renew_in: Option<u64>) -> Timestamp {
    let at = renew_in.map(|seconds| SystemTime::now() + Duration::from_secs(seconds));
    let since = at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    let seconds = since.and_then(|since| i64::try_from(since.as_secs()).ok());
    Timestamp { seconds: seconds.unwrap_or(RENEW_AT), nanos: 0 }
}
