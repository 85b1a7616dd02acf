//! The whole life of one file, call by call, in a temporary folder: what the engine does for each resource.

mod file;

use std::error::Error;
use std::fs;
use std::path::Path;

use file::File;
use trueup::conformance::{Driver, Kit};
use trueup::handler::{Observed, PlanAnswer, State, Verdict};
use trueup::{Args, Diagnostics, NativeProvider, Report, SourceMap, Style};
use trueup::{Value, value};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("trueup-file-example-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let outcome = trueup::run(async {
        live(&folder).await?;
        refuse_mistakes(&folder).await?;
        conform(&folder).await
    });
    fs::remove_dir_all(&folder)?;
    outcome
}

fn provider() -> NativeProvider {
    NativeProvider::new("my").crud::<File>("file")
}

/// Create, find nothing to do, repair an edit by hand, update, replace, delete.
async fn live(folder: &Path) -> Result<(), Box<dyn Error>> {
    let (hello, moved) = (inside(folder, "hello.txt"), inside(folder, "moved.txt"));
    let driver = Driver::new(provider(), "my_file", &value!({})).await.map_err(told)?;
    let inputs =
        |path: &str, content: &str| driver.inputs(&value!({ path: path, content: content })).map_err(told);

    let first = inputs(&hello, "hello\n")?;
    show("not there yet", &driver.plan(&first, None, None).await?);
    let state = driver.apply(&first, None, None).await.map_err(|failed| failed.failure)?;

    let observed = observe(&driver, &first, &state).await?;
    show("the same again", &driver.plan(&first, Some(&state), Some(&observed)).await?);

    fs::write(&hello, "hacked\n")?;
    let observed = observe(&driver, &first, &state).await?;
    show("edited by hand", &driver.plan(&first, Some(&state), Some(&observed)).await?);
    let state = driver.apply(&first, Some(&state), Some(&observed)).await.map_err(|failed| failed.failure)?;
    assert_eq!(fs::read_to_string(&hello)?, "hello\n");

    let second = inputs(&hello, "hello, world\n")?;
    show("another content", &driver.plan(&second, Some(&state), None).await?);
    let state = driver.apply(&second, Some(&state), None).await.map_err(|failed| failed.failure)?;

    let third = inputs(&moved, "hello, world\n")?;
    show("another path", &driver.plan(&third, Some(&state), None).await?);
    let next = driver.next_generation();
    let new = next.apply(&third, None, None).await.map_err(|failed| failed.failure)?;
    driver.delete(&second, &state).await.map_err(|failed| failed.failure)?;
    assert!(fs::exists(&moved)? && !fs::exists(&hello)?);

    for _ in 0..2 {
        next.delete(&third, &new).await.map_err(|failed| failed.failure)?;
    }
    println!("  -  my_file.it   deleted, twice");
    Ok(())
}

/// All mistakes in one report, before anything is touched.
async fn refuse_mistakes(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("\nA program with mistakes:\n");
    let driver = Driver::new(provider(), "my_file", &value!({})).await.map_err(told)?;
    let mut sources = SourceMap::new();
    let args = File::args().path("").mode("rw-r--r--").into_expression().placed_in(&mut sources);
    let written = args.evaluate(&()).value.with_entry("contnet", value!("hi"));
    let diagnostics = driver.inputs(&written).err().unwrap_or_default();
    println!("{}", Report::new(&sources, Style::Plain).render(&diagnostics));
    assert_eq!((diagnostics.len(), fs::read_dir(folder)?.count()), (4, 0));
    Ok(())
}

/// What the author of a resource type runs in a test.
async fn conform(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("\nThe conformance kit on my_file:\n");
    let (here, there) = (inside(folder, "kit.txt"), inside(folder, "kit-moved.txt"));
    let with = |path: &str, content: &str| value!({ path: path, content: content });
    let kit = Kit::new(provider(), "my_file", with(&here, "one")).await.map_err(told)?;
    let (counted, taken) = (folder.to_owned(), here.clone());
    let report = kit
        .updated(with(&here, "another"))
        .replaced(with(&there, "one"))
        .counted_by(move || {
            let files = fs::read_dir(&counted).map_or(0, Iterator::count);
            async move { files }
        })
        .tampered_by(|state: State| async move { fs::write(path_of(&state), "edited").unwrap_or_default() })
        .removed_by(|state: State| async move { fs::remove_file(path_of(&state)).unwrap_or_default() })
        .taken_by(move |_, _| {
            let taken = taken.clone();
            async move { fs::write(taken, "someone else's").unwrap_or_default() }
        })
        .run()
        .await;
    print!("{report}");
    if report.passed() { Ok(()) } else { Err("the type breaks its contract".into()) }
}

async fn observe(
    driver: &Driver,
    inputs: &trueup::handler::InputValues,
    state: &State,
) -> Result<State, Box<dyn Error>> {
    match driver.read(inputs, state).await? {
        Observed::Present(observed) => Ok(*observed),
        Observed::Absent | Observed::Unreadable => Err("the file is gone".into()),
    }
}

/// One line for a plan, and one for each field that differs.
fn show(why: &str, plan: &PlanAnswer) {
    let sign = match plan.verdict {
        Verdict::NoOp => "•",
        Verdict::MayUpdate => "~?",
        Verdict::Update => "~",
        Verdict::MayReplace => "±?",
        Verdict::Replace => "±",
        Verdict::Create => "+",
    };
    println!("  {sign}  my_file.it   {why}");
    for change in plan.changes.iter().chain(&plan.drift) {
        let side = |value: &Option<Value>| value.as_ref().map_or("(nothing)".to_owned(), ToString::to_string);
        println!("       {}: {} → {}", change.path, side(&change.before), side(&change.after));
    }
}

fn inside(folder: &Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

fn path_of(state: &State) -> String {
    state.outputs.get("path").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn told(diagnostics: Diagnostics) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
