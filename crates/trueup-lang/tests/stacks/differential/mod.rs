//! Generated folders under both tools: whatever Terraform makes of one, we make of it too.
//!
//! Many generated modules stand in one folder, because each run of Terraform costs more than a module does. What may be
//! refused stands in `try`, so that a refusal is a value that can be compared.

pub(crate) mod expressions;
mod modules;
pub(crate) mod random;

use trueup_core::Value;
use trueup_test_servers::environment::number_variable;
use trueup_test_servers::sized;

use crate::stacks::bench::Bench;
use crate::stacks::terraform::{Terraform, plain};

/// How many modules: Terraform takes up to half a second for each.
fn usual_cases() -> u64 {
    sized(10, 80)
}

#[test]
fn generated_modules_give_the_same_under_terraform() {
    let Some(terraform) = Terraform::find() else {
        println!("left out: there is no `terraform` on PATH to compare with");
        return;
    };
    // For soaks: other modules than the usual ones, and more of them.
    let (seed, cases) = (number_variable("TRUEUP_SEED").unwrap_or(1), number_variable("TRUEUP_CASES"));
    let cases: Vec<u64> = (seed..seed + cases.unwrap_or_else(usual_cases)).collect();
    let found = differences(&terraform, &cases);
    assert!(found.is_empty(), "{} of {} modules differ:\n{}", found.len(), cases.len(), found.join("\n"));
}

/// How the modules of these seeds differ. Where one tool refuses a whole folder, its halves are looked at.
fn differences(terraform: &Terraform, seeds: &[u64]) -> Vec<String> {
    let bench = Bench::new([]);
    let mut files = modules::Files::new();
    let mut main = String::new();
    for seed in seeds {
        modules::write_case(*seed, &format!("g{seed}"), &mut files);
        main.push_str(&format!("module \"g{seed}\" {{\n  source = \"./g{seed}\"\n}}\noutput \"g{seed}\" {{\n  value = module.g{seed}\n}}\n"));
    }
    bench.write("main.tf", &main);
    files.iter().for_each(|(name, text)| bench.write(name, text));
    let ours = bench.try_outputs().map(|outputs| plain(&outputs));
    let theirs = terraform.outputs(bench.folder.path());
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let of =
                |outputs: &Value, seed: &u64| outputs.get(&format!("g{seed}")).cloned().unwrap_or_default();
            let differs = |seed: &&u64| of(&ours, seed) != of(&theirs, seed);
            let told = |seed: &u64| {
                let name = format!("g{seed}/main.tf");
                let text = files.iter().find(|(own, _)| *own == name).map_or("", |(_, text)| text);
                format!("seed {seed}:\n{}", first_difference(text, &of(&ours, seed), &of(&theirs, seed)))
            };
            seeds.iter().filter(differs).map(told).collect()
        }
        (Err(_), Err(_)) if seeds.len() == 1 => Vec::new(),
        // Terraform plans some values with another type than they turn out to have, and then refuses what it planned.
        (Ok(_), Err(theirs)) if seeds.len() == 1 && theirs.contains("inconsistent final plan") => Vec::new(),
        (ours, theirs) if seeds.len() == 1 => {
            let told = |outcome: Result<Value, String>| match outcome {
                Ok(_) => "fine".to_owned(),
                Err(refused) => refused,
            };
            vec![format!("seed {}:\n  ours:   {}\n  theirs: {}", seeds[0], told(ours), told(theirs))]
        }
        _ => {
            let (first, second) = seeds.split_at(seeds.len() / 2);
            let mut found = differences(terraform, first);
            found.extend(differences(terraform, second));
            found
        }
    }
}

/// The first output that differs; of `all` the first element, with what it stands for.
fn first_difference(text: &str, ours: &Value, theirs: &Value) -> String {
    let items = |value: &Value| value.get("all").and_then(Value::as_items).map(<[Value]>::to_vec);
    let (our_items, their_items) = (items(ours).unwrap_or_default(), items(theirs).unwrap_or_default());
    let position = our_items.iter().zip(&their_items).position(|(ours, theirs)| ours != theirs);
    let Some(position) = position else {
        return format!("{text}\n  ours:   {ours}\n  theirs: {theirs}");
    };
    let all = text.rfind("output \"all\"").map_or("", |start| &text[start..]);
    let name = all.lines().nth(position + 2).unwrap_or_default().trim();
    // What is declared up to there is all it can depend on.
    format!("{text}\n  {name}\n  ours:   {}\n  theirs: {}", our_items[position], their_items[position])
}
