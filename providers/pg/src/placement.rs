//! Which database an object is in.

use trueup_provider::{PlanHook, Planned, Result};

use crate::connections::Connections;

/// The database that an object is in, by its inputs or by the configuration.
pub(crate) fn database_of<'a>(given: Option<&'a String>, config: &'a Connections) -> &'a str {
    given.map_or(config.database(), String::as_str)
}

/// Plans a new object if it is to be in another database than it is: nothing moves from one to another.
pub(crate) fn plan_database(
    given: &Planned<Option<String>>,
    config: Option<&Connections>,
    recorded: Option<&str>,
    plan: &mut PlanHook,
) -> Result<()> {
    let (Planned::Known(given), Some(config)) = (given, config) else { return Ok(()) };
    let wanted = database_of(given.as_ref(), config).to_owned();
    match recorded {
        Some(recorded) if recorded != wanted => plan.replace("database"),
        _ => {}
    }
    plan.set_output("database", &wanted)
}
