//! What a program follows from besides its texts (PLANFILE-2).

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::{JsonForm, Value};
use trueup_program::{Premise, PremiseKind};

use crate::eval::Reads;

/// The variables that were given and the files that were read by now.
pub(super) fn premises(variables: &IndexMap<SmolStr, Value>, reads: &Reads) -> Vec<Premise> {
    // Each run is given its own ephemeral values.
    let lasting = variables.iter().filter(|(_, value)| !value.all_marks().is_ephemeral());
    let variables = lasting.map(|(name, value)| {
        let content = value.to_json(JsonForm::RECORD);
        let premise = Premise::of(PremiseKind::Variable, name.as_str(), content.as_bytes());
        Premise { secret: value.contains_secret(), ..premise }
    });
    let kind = PremiseKind::Read;
    let reads = reads.noted().into_iter().map(|(name, digest)| Premise { kind, name, digest, secret: false });
    variables.chain(reads).collect()
}
