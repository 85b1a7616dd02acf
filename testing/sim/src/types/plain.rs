//! Types of the CRUD contract: found by name, by token, or not at all.

use trueup_provider::{Context, Crud, Found, Inputs, Prior, RawState, Recovery, Result, Sightings, Traits};

use super::{Shown, ShownLater, ask, find, gossip, migrated};
use crate::cloud::{Kind, Line, Request, Seen, Spec};

/// Defines one version of a type.
macro_rules! plain_type {
    ($name:ident, $kind:expr, $recovery:expr, version $version:literal shows $shown:ident) => {
        #[derive(Inputs)]
        pub(super) struct $name {
            #[trueup(default = 1)]
            size: u64,
            #[trueup(replace, default = "red")]
            colour: String,
            needs: Option<String>,
            #[trueup(replace)]
            host: Option<String>,
            note: Option<String>,
            #[trueup(secret)]
            secret: Option<String>,
            #[trueup(inject)]
            line: Line,
        }

        impl $name {
            fn spec(&self) -> Spec {
                Spec {
                    size: self.size,
                    colour: self.colour.clone(),
                    needs: self.needs.clone(),
                    host: self.host.clone(),
                    note: self.note.clone(),
                    bound: None,
                    secret: self.secret.clone(),
                }
            }

            fn echoed(&self, seen: Seen) -> Result<$shown> {
                let echo = self.secret.as_deref().map(gossip).unwrap_or_default();
                Ok($shown { echo, ..seen.into() })
            }

            fn found(&self, seen: Seen) -> Found<Self, $shown> {
                let Spec { size, colour, needs, host, note, bound: _, secret } = seen.spec.clone();
                let line = self.line.clone();
                let inputs = $name { size, colour, needs, host, note, secret, line };
                Found { inputs, outputs: seen.into() }
            }
        }

        impl Crud for $name {
            type Output = $shown;
            type Config = Line;

            const SCHEMA_VERSION: u64 = $version;

            fn traits() -> Traits {
                super::traits()
            }

            fn recovery(&self) -> Recovery {
                $recovery
            }

            async fn create(&self, context: &Context<Line>) -> Result<$shown> {
                let name = ($recovery == Recovery::Lookup).then(|| context.physical_name());
                let by_token = $recovery == Recovery::Token;
                let token = context.token.filter(|_| by_token).map(|token| token.to_string());
                let (spec, tags) = (self.spec(), context.tags());
                let request = Request::Create { kind: $kind, name, spec, token, tags };
                self.echoed(ask::<$shown>(&self.line, context, request).await?)
            }

            async fn read(&self, context: &Context<Line>, prior: &$shown) -> Result<$shown> {
                let seen = ask::<$shown>(&self.line, context, Request::Read { id: prior.id.clone() }).await?;
                Ok($shown { echo: prior.echo.clone(), ..seen.into() })
            }

            async fn update(&self, context: &Context<Line>, prior: &Prior<Self>) -> Result<$shown> {
                let request = Request::Update { id: prior.outputs.id.clone(), spec: self.spec() };
                self.echoed(ask::<$shown>(&self.line, context, request).await?)
            }

            async fn delete(&self, context: &Context<Line>, prior: &$shown) -> Result<()> {
                ask::<$shown>(&self.line, context, Request::Delete { id: prior.id.clone() }).await.map(|_| ())
            }

            async fn lookup(&self, context: &Context<Line>) -> Result<Sightings<Found<Self, $shown>>> {
                if $recovery != Recovery::Lookup {
                    return Ok(Sightings::unsupported());
                }
                let found = find(&self.line, context, $kind, context.physical_name()).await?;
                Ok(found.map_or_else(Sightings::absent, |seen| {
                    let ownership = context.recognise(&seen.tags);
                    Sightings::recognised(self.found(seen), ownership)
                }))
            }

            fn migrate(_: u64, state: RawState) -> Result<RawState> {
                Ok(migrated(state))
            }
        }
    };
}

plain_type!(Box, Kind::Box, Recovery::Lookup, version 0 shows Shown);
plain_type!(Ticket, Kind::Ticket, Recovery::Token, version 0 shows Shown);
plain_type!(Stone, Kind::Stone, Recovery::Blind, version 0 shows Shown);
plain_type!(LaterBox, Kind::Box, Recovery::Lookup, version 1 shows ShownLater);
plain_type!(LaterTicket, Kind::Ticket, Recovery::Token, version 1 shows ShownLater);
plain_type!(LaterStone, Kind::Stone, Recovery::Blind, version 1 shows ShownLater);
