//! Address ranges: cidrhost cidrnetmask cidrsubnet cidrsubnets. Addresses of both families are computed with as 128-bit
//! numbers.

use std::net::{Ipv4Addr, Ipv6Addr};

use bigdecimal::ToPrimitive;
use trueup_core::Value;

use super::{Call, Function, Outcome, Problem, Returns, Wanted, function, param};

pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "cidrhost",
        &[param("prefix", Wanted::Text), param("hostnum", Wanted::Number)],
        Returns::Text,
        cidrhost,
    ),
    function("cidrnetmask", &[param("prefix", Wanted::Text)], Returns::Text, cidrnetmask),
    function(
        "cidrsubnet",
        &[param("prefix", Wanted::Text), param("newbits", Wanted::Number), param("netnum", Wanted::Number)],
        Returns::Text,
        cidrsubnet,
    ),
    function("cidrsubnets", &[param("prefix", Wanted::Text)], Returns::Texts, cidrsubnets)
        .more(param("newbits", Wanted::Number)),
];

/// A range of addresses: those that begin with the first `length` bits of `address`.
#[derive(Clone, Copy)]
struct Prefix {
    /// In the lowest `bits` bits.
    address: u128,
    length: u32,
    /// 32 or 128.
    bits: u32,
}

impl Prefix {
    fn parse(call: &Call<'_>) -> Result<Self, Problem> {
        let text = call.text(0);
        let invalid = || {
            Problem::at(0, format!("{} is no range of addresses", call.shown(text)))
                .hint("write an address and the length of the prefix: 10.0.0.0/8")
        };
        let (address, length) = text.split_once('/').ok_or_else(invalid)?;
        let (address, bits) = match ipv4(address) {
            Some(address) => (u128::from(u32::from(address)), 32),
            None => (u128::from(address.parse::<Ipv6Addr>().map_err(|_| invalid())?), 128),
        };
        let all_digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let length =
            length.parse().ok().filter(|length| all_digits && *length <= bits).ok_or_else(invalid)?;
        let prefix = Prefix { address, length, bits };
        Ok(Prefix { address: address & prefix.mask(), ..prefix })
    }

    fn mask(self) -> u128 {
        low_bits(self.bits) ^ low_bits(self.bits - self.length)
    }

    fn host_bits(self) -> u32 {
        self.bits - self.length
    }

    fn show_address(self, address: u128) -> String {
        if self.bits == 32 {
            Ipv4Addr::from(u32::try_from(address).unwrap_or(u32::MAX)).to_string()
        } else {
            Ipv6Addr::from(address).to_string()
        }
    }
}

/// A number whose lowest bits are set.
fn low_bits(count: u32) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// An address in dotted form. Zeros before a number are left alone, as they always were; they do not make it octal.
fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *octet = part.parse().ok().filter(|_| digits)?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets))
}

fn whole(call: &Call<'_>, at: usize) -> Result<i128, Problem> {
    let number = call.arguments.get(at).and_then(Value::as_number);
    number
        .filter(|number| number.is_integer())
        .and_then(|number| number.to_decimal().to_i128())
        .ok_or_else(|| Problem::at(at, "must be a whole number"))
}

fn cidrhost(call: &Call<'_>) -> Outcome {
    let prefix = Prefix::parse(call)?;
    let number = whole(call, 1)?;
    let last = low_bits(prefix.host_bits());
    let host = match u128::try_from(number) {
        Ok(host) => Some(host).filter(|host| *host <= last),
        // Counted from the end, of which -1 is the last.
        Err(_) => last.checked_sub(number.unsigned_abs() - 1),
    };
    match host {
        Some(host) => Ok(Value::string(prefix.show_address(prefix.address | host))),
        None => {
            let length = prefix.length;
            Err(Problem::at(
                1,
                format!(
                    "a prefix of {length} bits does not hold a host numbered {}",
                    call.shown_number(number)
                ),
            ))
        }
    }
}

fn cidrnetmask(call: &Call<'_>) -> Outcome {
    let prefix = Prefix::parse(call)?;
    if prefix.bits != 32 {
        return Err(Problem::at(0, "only IPv4 ranges have a netmask"));
    }
    Ok(Value::string(prefix.show_address(prefix.mask())))
}

fn cidrsubnet(call: &Call<'_>) -> Outcome {
    let prefix = Prefix::parse(call)?;
    let (new_bits, number) = (whole(call, 1)?, whole(call, 2)?);
    let Ok(new_bits) = u32::try_from(new_bits) else {
        return Err(Problem::at(1, "must not be negative"));
    };
    if new_bits > prefix.host_bits() {
        let message = format!("a prefix of {} bits cannot be longer by {new_bits}", prefix.length);
        return Err(Problem::at(1, message));
    }
    let number = u128::try_from(number).ok().filter(|number| *number <= low_bits(new_bits));
    let Some(number) = number else {
        return Err(Problem::at(2, format!("{new_bits} bits hold numbers from 0 to {}", low_bits(new_bits))));
    };
    let length = prefix.length + new_bits;
    // A shift by all bits happens only for the number zero.
    let address = prefix.address | number.checked_shl(prefix.bits - length).unwrap_or(0);
    Ok(Value::string(format!("{}/{length}", prefix.show_address(address))))
}

fn cidrsubnets(call: &Call<'_>) -> Outcome {
    let prefix = Prefix::parse(call)?;
    let mut subnets = Vec::new();
    // The first address after the subnets so far, counted from the beginning of the range; `None` beyond the end.
    let mut next = Some(0u128);
    for at in 1..call.arguments.len() {
        let new_bits = whole(call, at)?;
        let new_bits = u32::try_from(new_bits)
            .ok()
            .filter(|bits| *bits >= 1)
            .ok_or_else(|| Problem::at(at, "a prefix becomes longer by at least one bit"))?;
        if new_bits > 32 {
            return Err(Problem::at(at, "a prefix becomes longer by at most 32 bits"));
        }
        if new_bits > prefix.host_bits() {
            let message = format!("a prefix of {} bits cannot be longer by {new_bits}", prefix.length);
            return Err(Problem::at(at, message));
        }
        let host_bits = prefix.host_bits() - new_bits;
        let size_mask = low_bits(host_bits);
        let start = next.and_then(|next| next.checked_add(size_mask)).map(|next| next & !size_mask);
        let start = start.filter(|start| *start <= low_bits(prefix.host_bits())).ok_or_else(|| {
            let place = at;
            Problem::at(at, format!("there is no room left for subnet {place}"))
        })?;
        next = start.checked_add(size_mask).and_then(|last| last.checked_add(1));
        let address = prefix.address | start;
        subnets.push(Value::string(format!("{}/{}", prefix.show_address(address), prefix.length + new_bits)));
    }
    Ok(Value::list(subnets))
}
