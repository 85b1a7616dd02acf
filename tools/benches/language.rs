//! What reading a program costs: time in proportion to its length, and memory for the tree alone.
//!
//! Besides the timings, the peak of the memory that parsing allocates is printed, as the difference that the largest
//! program makes.

use divan::{AllocProfiler, Bencher, black_box};
use trueup_core::{SourceMap, Value};
use trueup_front_end::{BuildRequest, Purpose, RandomBytes, Variables};
use trueup_lang::StackFolder;
use trueup_lang::eval::{Constants, evaluate, references};
use trueup_lang::syntax::{Body, parse_body, parse_expression};
use trueup_program::FunctionAnswers;
use trueup_provider::Registry;
use trueup_provider_std::{Randomness, terraform_provider};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const RESOURCES: [usize; 3] = [100, 1_000, 10_000];

/// Resources of six lines each, with references, templates, lists and maps.
fn program(resources: usize) -> String {
    let resource = |at: usize| {
        format!(
            "resource \"aws_instance\" \"web_{at}\" {{\n  ami           = var.ami[\"region-{at}\"]\n  instance_type = var.size == \"large\" ? \"m5.large\" : \"t3.micro\"\n  tags          = {{ Name = \"web-${{var.stage}}-{at}\", Index = {at} }}\n  subnets       = [for s in aws_subnet.main[*].id : s if s != null]\n}}\n"
        )
    };
    (0..resources).map(resource).collect()
}

fn parsed(text: &str) -> Body {
    let mut sources = SourceMap::new();
    let file = sources.add("main.tf", text);
    let parsed = parse_body(text, file);
    assert!(parsed.diagnostics.is_empty());
    parsed.tree
}

#[divan::bench(args = RESOURCES)]
fn parse(bencher: Bencher<'_, '_>, resources: usize) {
    let text = program(resources);
    bencher.counter(divan::counter::BytesCount::of_str(&text)).bench_local(|| parsed(black_box(&text)));
}

#[divan::bench(args = RESOURCES)]
fn find_references(bencher: Bencher<'_, '_>, resources: usize) {
    let body = parsed(&program(resources));
    bencher.bench_local(|| {
        let attributes = body.blocks().flat_map(|block| block.body.attributes());
        attributes.map(|attribute| references(black_box(&attribute.value)).len()).sum::<usize>()
    });
}

/// Objects with many keys, which are quadratic where keys are searched one by one.
#[divan::bench(args = [1_000, 10_000, 100_000])]
fn parse_and_evaluate_an_object(bencher: Bencher<'_, '_>, keys: usize) {
    let entries: String = (0..keys).map(|at| format!("key_{at} = \"value {at}\"\n")).collect();
    let text = format!("{{\n{entries}}}");
    bencher.bench_local(|| -> Value {
        let file = SourceMap::new().add("object", "");
        let expression = parse_expression(black_box(&text), file).expect("an object");
        evaluate(&expression, &Constants::default()).value
    });
}

/// Resources of five lines each, in chains of ten, as a folder: read, evaluated, checked and lowered.
#[divan::bench(args = RESOURCES, sample_count = 5, sample_size = 1)]
fn build(bencher: Bencher<'_, '_>, resources: usize) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let resource = |at: usize| {
        let input = match at % 10 {
            0 => "\"first of ${var.stage}\"".to_owned(),
            _ => format!("\"after ${{terraform_data.r{}.output}}\"", at - 1),
        };
        format!(
            "resource \"terraform_data\" \"r{at}\" {{\n  input = {input}\n\n  triggers_replace = [upper(var.stage), {at}]\n}}\n"
        )
    };
    let text: String = (0..resources).map(resource).collect();
    std::fs::write(
        folder.path().join("main.tf"),
        format!("variable \"stage\" {{ default = \"dev\" }}\n{text}"),
    )
    .expect("there is room for a file");
    let registry = Registry::new().with(terraform_provider(Randomness::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("there is room for a runtime");
    let variables = Variables::default();
    let random: std::sync::Arc<RandomBytes> = std::sync::Arc::new(|bytes: &mut [u8]| bytes.fill(0));
    bencher.bench_local(|| {
        let request = BuildRequest {
            registry: &registry,
            stack: "bench",
            stage: "dev",
            variables: &variables,
            home: None,
            plan_time: std::time::SystemTime::UNIX_EPOCH,
            now: std::time::SystemTime::UNIX_EPOCH,
            random: &random,
            purpose: Purpose::Deploy,
            answers: &FunctionAnswers::default(),
            known: None,
            waited_for: &[],
        };
        let built = runtime.block_on(StackFolder::read(folder.path()).build(request)).expect("it is sound");
        assert_eq!(built.program.resources.len(), resources);
        built
    });
}
