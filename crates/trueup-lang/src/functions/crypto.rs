//! What needs randomness or keys: bcrypt rsadecrypt uuid. Randomness comes from the environment, and only at apply.

use trueup_core::{Type, Value};

use super::hash::uuid_text;
use super::rsa::rsadecrypt;
use super::{Call, Function, Outcome, Problem, Returns, Wanted, function, param};

const COST_DEFAULT: u32 = 10;

pub(super) const FUNCTIONS: &[Function] = &[
    function("bcrypt", &[param("str", Wanted::Text)], Returns::Text, bcrypt)
        .more(param("cost", Wanted::Number)),
    function(
        "rsadecrypt",
        &[param("ciphertext", Wanted::Text), param("privatekey", Wanted::Text)],
        Returns::Text,
        rsadecrypt,
    ),
    function("uuid", &[], Returns::Text, uuid),
];

fn bcrypt(call: &Call<'_>) -> Outcome {
    let cost = match call.arguments.len() {
        1 => COST_DEFAULT,
        2 => u32::try_from(call.integer(1)?).unwrap_or(u32::MAX),
        _ => return Err(Problem::new("expected a text and perhaps a cost")),
    };
    if cost > 31 {
        return Err(Problem::at(1, "the cost must be from 4 to 31"));
    }
    // Lower ones are raised to the default, as in Terraform.
    let cost = if cost < 4 { COST_DEFAULT } else { cost };
    if call.text(0).len() > 72 {
        return Err(Problem::at(0, "is longer than 72 bytes, beyond which nothing would count"));
    }
    let Some(moment) = &call.surroundings().moment else { return Ok(Value::unknown(Type::String)) };
    let mut salt = [0u8; 16];
    (moment.random)(&mut salt);
    match bcrypt::hash_with_salt(call.text(0), cost, salt) {
        Ok(parts) => Ok(Value::string(parts.format_for_version(bcrypt::Version::TwoA))),
        Err(error) => Err(Problem::new(format!("cannot compute the hash: {error}"))),
    }
}

#[allow(clippy::unnecessary_wraps)]
fn uuid(call: &Call<'_>) -> Outcome {
    let Some(moment) = &call.surroundings().moment else { return Ok(Value::unknown(Type::String)) };
    let mut bytes = [0u8; 16];
    (moment.random)(&mut bytes);
    Ok(Value::string(uuid_text(bytes, 4)))
}
