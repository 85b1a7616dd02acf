//! Dates: formatdate plantimestamp timeadd timecmp timestamp. The time itself comes from the environment.

use trueup_core::{Type, Value};

use super::timestamp::{Civil, Span, Timestamp};
use super::{Call, Function, Outcome, Problem, Returns, Wanted, function, param};

pub(super) const FUNCTIONS: &[Function] = &[
    function(
        "formatdate",
        &[param("format", Wanted::Text), param("time", Wanted::Text)],
        Returns::Text,
        formatdate,
    ),
    function("plantimestamp", &[], Returns::Text, |call| Ok(told(call.surroundings().plan_time))),
    function(
        "timeadd",
        &[param("timestamp", Wanted::Text), param("duration", Wanted::Text)],
        Returns::Text,
        timeadd,
    ),
    function(
        "timecmp",
        &[param("timestamp_a", Wanted::Text), param("timestamp_b", Wanted::Text)],
        Returns::Number,
        timecmp,
    ),
    function("timestamp", &[], Returns::Text, |call| {
        Ok(told(call.surroundings().moment.as_ref().map(|moment| moment.now)))
    }),
];

fn told(time: Option<std::time::SystemTime>) -> Value {
    match time {
        Some(time) => Value::string(Timestamp::from_system(time).to_string()),
        None => Value::unknown(Type::String),
    }
}

fn time(call: &Call<'_>, at: usize) -> Result<Timestamp, Problem> {
    Timestamp::parse(call.text(at)).ok_or_else(|| {
        Problem::at(at, format!("{} is no point in time", call.shown(call.text(at))))
            .hint("write it as RFC 3339 does: 2006-01-02T15:04:05Z")
    })
}

fn timeadd(call: &Call<'_>) -> Outcome {
    let later = time(call, 0)?.plus(Span::parse(call.text(1))?);
    let later = later.ok_or_else(|| Problem::new("the result is too far away"))?;
    Ok(Value::string(later.to_string()))
}

fn timecmp(call: &Call<'_>) -> Outcome {
    let (left, right) = (time(call, 0)?, time(call, 1)?);
    let order = (left.seconds, left.nanoseconds).cmp(&(right.seconds, right.nanoseconds));
    Ok(Value::from(order as i8))
}

fn formatdate(call: &Call<'_>) -> Outcome {
    let time = time(call, 1)?;
    let civil = time.civil();
    let mut text = String::new();
    let mut rest = call.text(0);
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = quoted(&rest[1..], &mut text)?;
            continue;
        }
        let length = rest.find(|char| char != first).unwrap_or(rest.len());
        let (run, after) = rest.split_at(length);
        if first.is_ascii_alphabetic() {
            let Some(part) = part(run, civil, time) else {
                return Err(Problem::at(0, format!("`{run}` means nothing in a format of dates"))
                    .hint("text that is to stand for itself is put in single quotes"));
            };
            text.push_str(&part);
        } else {
            text.push_str(run);
        }
        rest = after;
    }
    Ok(Value::string(text))
}

/// After an opening quote: copies up to the closing one, two of them standing for one.
fn quoted<'a>(rest: &'a str, text: &mut String) -> Result<&'a str, Problem> {
    let mut rest = rest;
    loop {
        let Some(end) = rest.find('\'') else {
            return Err(Problem::at(0, "a single quote in the format is never closed"));
        };
        text.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                text.push('\'');
                rest = after;
            }
            None => return Ok(rest),
        }
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn part(run: &str, civil: Civil, time: Timestamp) -> Option<String> {
    let month = MONTHS[(civil.month as usize - 1) % 12];
    let day = DAYS[civil.weekday % 7];
    let hour12 = if civil.hour.is_multiple_of(12) { 12 } else { civil.hour % 12 };
    Some(match run {
        "YYYY" => format!("{:04}", civil.year),
        "YY" => format!("{:02}", civil.year.rem_euclid(100)),
        "MMMM" => month.to_owned(),
        "MMM" => month[..3].to_owned(),
        "MM" => format!("{:02}", civil.month),
        "M" => civil.month.to_string(),
        "DD" => format!("{:02}", civil.day),
        "D" => civil.day.to_string(),
        "EEEE" => day.to_owned(),
        "EEE" => day[..3].to_owned(),
        "hh" => format!("{:02}", civil.hour),
        "h" => civil.hour.to_string(),
        "HH" => format!("{hour12:02}"),
        "H" => hour12.to_string(),
        "AA" => if civil.hour < 12 { "AM" } else { "PM" }.to_owned(),
        "aa" => if civil.hour < 12 { "am" } else { "pm" }.to_owned(),
        "mm" => format!("{:02}", civil.minute),
        "m" => civil.minute.to_string(),
        "ss" => format!("{:02}", civil.second),
        "s" => civil.second.to_string(),
        "ZZZZZ" => time.offset(":"),
        "ZZZZ" => time.offset(""),
        "ZZZ" if time.offset_minutes == 0 => "UTC".to_owned(),
        "ZZZ" => time.offset(""),
        "Z" if time.offset_minutes == 0 => "Z".to_owned(),
        "Z" => time.offset(":"),
        _ => return None,
    })
}
