//! The tables: `expression  =>  value`, or `expression  =>  error: start of the message`. Lines that begin with `#` are
//! comments. Values are written as they are printed.

use crate::cel::evaluated;

#[test]
fn every_case_of_the_tables_holds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cel/tables");
    let mut tables: Vec<_> = std::fs::read_dir(folder)
        .expect("the tables are there")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    tables.sort();
    let mut cases = 0;
    let mut failures = Vec::new();
    for table in tables {
        let text = std::fs::read_to_string(&table).expect("a readable table");
        let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        for (at, line) in lines {
            cases += 1;
            if let Err(found) = check(line) {
                failures.push(format!("{}:{}: {line}\n    found {found}", table.display(), at + 1));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {cases} cases:\n{}", failures.len(), failures.join("\n"));
}

fn check(line: &str) -> Result<(), String> {
    let (expression, expected) = line.rsplit_once("  =>  ").ok_or("no `  =>  `")?;
    match (evaluated(expression), expected.strip_prefix("error: ")) {
        (Ok(value), None) if value.to_string() == expected => Ok(()),
        (Err(error), Some(message)) if error.message().starts_with(message) => Ok(()),
        (Ok(value), _) => Err(value.to_string()),
        (Err(error), _) => Err(format!("error: {error}")),
    }
}
