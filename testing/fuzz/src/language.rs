//! The language: texts are parsed, reported on, formatted and evaluated, alone and as the file of a stack.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use trueup_core::{Diagnostics, Report, SourceMap, Style};
use trueup_front_end::{BuildRequest, Purpose, RandomBytes, Variables};
use trueup_lang::StackFolder;
use trueup_lang::eval::{Constants, evaluate};
use trueup_lang::format::format;
use trueup_lang::syntax::{parse_expression, parse_template};
use trueup_program::FunctionAnswers;
use trueup_provider::Registry;
use trueup_provider_std::{Randomness, Surroundings, std_provider, terraform_provider};

use crate::text;

pub(crate) const EXPRESSIONS: &[&str] = &[
    r#"[for k, v in { a = 1, b = [2, "x"] } : "${k}-${upper(k)}" => v... if v != null]"#,
    r#"jsondecode("{\"a\":[1,2.5e3]}").a[*] == [1, 2500] ? "yes" : templatestring("%{ for x in y }${x}%{ endfor }", {})"#,
    "<<-EOT\n  a ${1 + 2 * -3} %{ if true ~}\n  b\n  %{ endif }\n  EOT\n",
    r#"yamldecode("a: &x [1, *x]\nb: |\n  text\n")"#,
    r#"cidrsubnets("10.0.0.0/8", 4, 4, 8) && regexall("(?P<a>x+)", "axxb") || csvdecode("a,b\n1,2")"#,
    r#"format("%5.2f|%-10s|%#v|%[2]q", 1.5, "é") + formatdate("YYYY-MM-DD'T'hh", "2020-02-20T00:00:00Z")"#,
];

pub(crate) const STACKS: &[&str] = &[
    include_str!("../seeds/stacks/all.tf"),
    include_str!("../seeds/stacks/checks.tf"),
    include_str!("../seeds/stacks/ours.tf"),
];

/// An expression and a template.
pub(crate) fn check_expression(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz", text);
    for parsed in [parse_expression(text, file), parse_template(text, file)] {
        match parsed {
            Ok(expression) => report(&sources, &evaluate(&expression, &Constants::default()).diagnostics),
            Err(diagnostics) => report(&sources, &diagnostics),
        }
    }
}

/// A folder with one file, which is also its variables.
pub(crate) fn check_stack(bytes: &[u8]) {
    if let Some(text) = text(bytes)
        && let Ok(once) = format(text)
    {
        assert_eq!(format(&once).as_ref(), Ok(&once), "formatting twice should change nothing more:\n{text}");
    }
    for [program, variables] in [["main.tf", "terraform.tfvars"], ["main.tf.json", "terraform.tfvars.json"]] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in [program, variables] {
            std::fs::write(folder.path().join(name), bytes).expect("a file in it");
        }
        build(folder.path());
    }
}

fn build(folder: &Path) {
    let loaded = StackFolder::read(folder);
    report(&loaded.sources, &loaded.diagnostics);
    let registry = Registry::new()
        .with(std_provider(Surroundings::new(folder)))
        .with(terraform_provider(Randomness::default()));
    let random: Arc<RandomBytes> = Arc::new(|bytes: &mut [u8]| bytes.fill(7));
    let request = BuildRequest {
        registry: &registry,
        stack: "stack",
        stage: "fuzz",
        variables: &Variables::default(),
        home: None,
        plan_time: SystemTime::UNIX_EPOCH,
        now: SystemTime::UNIX_EPOCH,
        random: &random,
        purpose: Purpose::Validate,
        answers: &FunctionAnswers::default(),
        known: None,
        waited_for: &[],
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    match runtime.block_on(loaded.build(request)) {
        Ok(built) => report(&built.program.sources, &built.warnings),
        Err(unsound) => report(&unsound.sources, &unsound.diagnostics),
    }
}

/// Rendering checks that every place that is named is one of the text.
fn report(sources: &SourceMap, diagnostics: &Diagnostics) {
    Report::new(sources, Style::Plain).render(diagnostics);
}
