//! Snapshots of what a program says, whenever it says it.

/// Whatever differs from run to run, made the same.
pub fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        let words: Vec<String> = line
            .split(' ')
            .map(|word| {
                let digits = word.chars().filter(char::is_ascii_digit).count();
                let clock = word.len() == 8 && word.matches(':').count() == 2 && digits == 6;
                if clock { "HH:MM:SS".to_owned() } else { word.to_owned() }
            })
            .collect();
        let mut line = words.join(" ");
        for unit in ["ms", "s"] {
            while let Some(at) = line.find(&format!(" {unit}")) {
                let number = line[..at].rfind(' ').map_or(0, |space| space + 1);
                let is_number = line[number..at].chars().all(|char| char.is_ascii_digit() || char == '.');
                let ends =
                    line[at + 1 + unit.len()..].chars().next().is_none_or(|char| !char.is_alphanumeric());
                if !is_number || !ends || number == at {
                    break;
                }
                line.replace_range(number..at + 1 + unit.len(), "TIME");
            }
        }
        steady.push_str(&line);
        steady.push('\n');
    }
    steady
}
