//! Snapshots of what a program says, whenever it says it.

/// Whatever differs from run to run, made the same: times of day, and how long something took.
pub fn steady(text: &str) -> String {
    text.lines().map(|line| steady_line(line) + "\n").collect()
}

fn steady_line(line: &str) -> String {
    let mut steady: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let unit = ["ms", "min", "s"].into_iter().find_map(|unit| word.strip_prefix(unit));
        match (unit.filter(|rest| !rest.starts_with(char::is_alphanumeric)), steady.last_mut()) {
            (Some(rest), Some(number)) if is_number(number) => *number = format!("TIME{rest}"),
            _ if is_clock(word) => steady.push("HH:MM:SS".to_owned()),
            _ => steady.push(word.to_owned()),
        }
    }
    steady.join(" ")
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|char| char.is_ascii_digit() || char == '.')
}

fn is_clock(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    word.len() == 8 && word.matches(':').count() == 2 && digits == 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_apart_from_words_that_look_like_them() {
        let check = |before: &str, after: &str| assert_eq!(steady(before), format!("{after}\n"));
        check("Deployed site to t in 0.1 s: 2 created", "Deployed site to t in TIME: 2 created");
        check("13:02:07 a.b created in 14 ms", "HH:MM:SS a.b created in TIME");
        check("checked 3 sources  in 7 ms, 2 stacks", "checked 3 sources  in TIME, 2 stacks");
    }
}
