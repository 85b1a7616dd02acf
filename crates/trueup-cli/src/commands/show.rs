//! `show`: what is known of a resource.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use trueup_core::{Address, AddressRange};
use trueup_state::{Record, Snapshot};

use crate::arguments::{JsonArgs, StageArgs};
use crate::completion;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::{natural, record_json, record_lines};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Show what is recorded of a resource: inputs, outputs, what it depends on and what needs it
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup show std_file.index\n  trueup show module.net --json")]
pub(crate) struct ShowArgs {
    /// A resource, all instances of one, or a module
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: AddressRange,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &ShowArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let snapshot = workplace.snapshot(Access::Look).await?;
    let records = covered(&snapshot, &args.address, session.name())?;
    if args.json.json {
        let records: Vec<_> = records.iter().map(|record| record_json(record)).collect();
        session.ui.data(&json!({ "version": 1, "kind": "records", "records": records }).to_string());
        return Ok(Exit::Done);
    }
    for (at, record) in records.iter().enumerate() {
        if at > 0 {
            session.ui.data("");
        }
        session.ui.data(
            &record_lines(record, &dependents(&snapshot, &record.address), session.ui.out()).join("\n"),
        );
    }
    Ok(Exit::Done)
}

/// The records of a range, in natural order; fails if there are none.
pub(super) fn covered<'s>(
    snapshot: &'s Snapshot,
    range: &AddressRange,
    name: &str,
) -> CommandResult<Vec<&'s Record>> {
    let records = snapshot.records.iter().map(|(record, _)| &**record);
    let mut found: Vec<&Record> = records.filter(|record| range.covers(&record.address)).collect();
    if found.is_empty() {
        let known: Vec<String> =
            snapshot.records.iter().map(|(record, _)| record.address.to_string()).collect();
        let hint = match trueup_core::nearest(&range.to_string(), known.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("`{name} state list` tells what is recorded"),
        };
        return Err(CommandError::new(format!("nothing is recorded of {range}"), hint));
    }
    found.sort_by(|left, right| natural::compare_addresses(&left.address, &right.address));
    Ok(found)
}

/// Who needs a resource, by what is recorded.
pub(super) fn dependents<'s>(snapshot: &'s Snapshot, address: &Address) -> Vec<&'s Address> {
    let records = snapshot.records.iter().map(|(record, _)| &**record);
    let mut found: Vec<&Address> = records
        .filter(|record| record.meta.dependencies.contains(address))
        .map(|record| &record.address)
        .collect();
    found.sort_by(|left, right| natural::compare_addresses(left, right));
    found
}
