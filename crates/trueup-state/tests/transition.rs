//! `transition`: life stories step by step, and random steps that must not lead astray.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use trueup_core::{Address, Value, read_json, value};
use trueup_provider::{Binding, GenerationNumber, IdempotencyToken, InputValues, Slot, State};
use trueup_state::{Attempt, Entry, Generation, Metadata, Record, RecordId, Status, Step, transition};

const ID: RecordId = RecordId::from_bytes([1; 16]);

fn address(name: &str) -> Address {
    Address::resource("t", name).unwrap()
}

fn inputs(content: &str) -> InputValues {
    InputValues { written: value!(content), effective: value!(content) }
}

fn object(content: &str) -> State {
    State {
        inputs: Some(inputs(content)),
        outputs: value!(content),
        private: vec![7],
        schema_version: 1,
        identity: None,
    }
}

fn attempt(content: &str) -> Attempt {
    let token = IdempotencyToken::from_bytes([2; 16]);
    Attempt {
        inputs: inputs(content),
        bindings: vec![Binding::new("b", value!(content))],
        token,
        pending: None,
        stub: false,
    }
}

fn meta(provider: &str) -> Metadata {
    Metadata { provider: provider.into(), ..Metadata::default() }
}

fn create(number: u64, slot: u64, content: &str) -> Step {
    Step::CreateBegun {
        address: address("a"),
        origin: address("a"),
        meta: meta("p"),
        number: GenerationNumber(number),
        slot: Slot(slot),
        attempt: attempt(content),
    }
}

fn adopt(number: u64, slot: u64, content: &str) -> Step {
    let (address, origin) = (address("a"), address("o"));
    let (number, slot) = (GenerationNumber(number), Slot(slot));
    Step::Adopted { address, origin, meta: meta("p"), number, slot, object: object(content) }
}

fn update(content: &str) -> Step {
    Step::UpdateBegun { meta: meta("p"), attempt: attempt(content) }
}

fn answered(number: u64, content: &str) -> Step {
    Step::Answered { number: GenerationNumber(number), object: object(content) }
}

fn settled(number: u64, content: &str) -> Step {
    Step::Settled { number: GenerationNumber(number), object: object(content) }
}

fn pending(number: u64) -> Step {
    Step::Pending { number: GenerationNumber(number), context: value!("job 7") }
}

/// A record in one line: address, current generation, deposed ones. A generation is its number and slot, its content,
/// what is attached to it in brackets, and what is under way.
fn shown(record: Option<&Record>) -> String {
    let Some(Record { address, origin, current, deposed, .. }) = record else { return "nothing".to_owned() };
    let origin = if origin == address { String::new() } else { format!(" (once {origin})") };
    let current = current.as_ref().map_or("none".to_owned(), generation);
    let deposed: String = deposed.iter().map(|it| format!(" | deposed {}", generation(it))).collect();
    format!("{address}{origin}: {current}{deposed}")
}

fn generation(
    Generation { number, slot, object, bindings, dependencies, status, .. }: &Generation,
) -> String {
    let object = object.as_ref().map_or("?".to_owned(), |object| object.outputs.to_string());
    let bindings: String = bindings.iter().map(|binding| format!("[{}]", binding.payload)).collect();
    let attempt = |Attempt { inputs, pending, .. }: &Attempt| {
        let pending = pending.as_ref().map(|context| format!(", pending {context}"));
        format!("{}{}", inputs.written, pending.unwrap_or_default())
    };
    let status = match status {
        Status::Ready => "ready".to_owned(),
        Status::Creating(it) => format!("creating {}", attempt(it)),
        Status::Updating(it) => format!("updating {}", attempt(it)),
        Status::Deleting => "deleting".to_owned(),
    };
    let uses = dependencies.iter().flatten().map(|it| format!(" uses {it}")).collect::<String>();
    format!("{number}/{slot} {object}{bindings} {status}{uses}").replace('"', "")
}

/// Takes the steps one after the other and compares what each leads to. A step that is refused shows why, and leaves
/// the record as it was.
#[track_caller]
fn check(story: impl IntoIterator<Item = Step>, expected: &[&str]) {
    let mut record = None;
    let mut told = Vec::new();
    for step in story {
        match transition(record.clone(), &Entry::new(ID, step)) {
            Ok(next) => {
                record = next;
                told.push(shown(record.as_ref()));
            }
            Err(illegal) => told.push(illegal.to_string()),
        }
    }
    assert_eq!(told.join("\n"), expected.join("\n"));
}

/// REPLACE-1, REPLACE-3, CRASH-4, CRASH-5.
#[test]
fn a_whole_life_passes_through_create_update_replace_and_delete() {
    check(
        [
            create(0, 0, "v1"),
            settled(0, "v1"),
            update("v2"),
            settled(0, "v2"),
            create(1, 1, "v3"),
            answered(1, "v3-"),
            settled(1, "v3"),
            Step::DeleteBegun { number: GenerationNumber::FIRST },
            Step::Deleted { number: GenerationNumber::FIRST },
            Step::DeleteBegun { number: GenerationNumber(1) },
            Step::Deleted { number: GenerationNumber(1) },
        ],
        &[
            "t.a: 0/0 ? creating v1",
            "t.a: 0/0 v1[v1] ready",
            "t.a: 0/0 v1[v1] updating v2",
            "t.a: 0/0 v2[v2] ready",
            "t.a: 1/1 ? creating v3 | deposed 0/0 v2[v2] ready",
            "t.a: 1/1 v3- creating v3 | deposed 0/0 v2[v2] ready",
            "t.a: 1/1 v3[v3] ready | deposed 0/0 v2[v2] ready",
            "t.a: 1/1 v3[v3] ready | deposed 0/0 v2[v2] deleting",
            "t.a: 1/1 v3[v3] ready",
            "t.a: 1/1 v3[v3] deleting",
            "nothing",
        ],
    );
}

/// REPLACE-2, REPLACE-8: delete first, and a generation that is let go.
#[test]
fn deposed_generations_outlive_the_current_one() {
    check(
        [
            create(0, 0, "v1"),
            settled(0, "v1"),
            create(1, 1, "v2"),
            settled(1, "v2"),
            create(2, 2, "v3"),
            Step::Abandoned { number: GenerationNumber(2) },
            create(2, 1, "v3"),
            create(2, 2, "v3"),
            settled(2, "v3"),
            Step::DeleteBegun { number: GenerationNumber(2) },
            Step::Deleted { number: GenerationNumber(2) },
            Step::Dropped { number: GenerationNumber::FIRST },
            Step::Dropped { number: GenerationNumber(1) },
        ],
        &[
            "t.a: 0/0 ? creating v1",
            "t.a: 0/0 v1[v1] ready",
            "t.a: 1/1 ? creating v2 | deposed 0/0 v1[v1] ready",
            "t.a: 1/1 v2[v2] ready | deposed 0/0 v1[v1] ready",
            "t.a: 2/2 ? creating v3 | deposed 0/0 v1[v1] ready | deposed 1/1 v2[v2] ready",
            "t.a: none | deposed 0/0 v1[v1] ready | deposed 1/1 v2[v2] ready",
            "the step `create-begun` cannot follow here: another generation bears that name",
            "t.a: 2/2 ? creating v3 | deposed 0/0 v1[v1] ready | deposed 1/1 v2[v2] ready",
            "t.a: 2/2 v3[v3] ready | deposed 0/0 v1[v1] ready | deposed 1/1 v2[v2] ready",
            "t.a: 2/2 v3[v3] deleting | deposed 0/0 v1[v1] ready | deposed 1/1 v2[v2] ready",
            "t.a: none | deposed 0/0 v1[v1] ready | deposed 1/1 v2[v2] ready",
            "t.a: none | deposed 1/1 v2[v2] ready",
            "nothing",
        ],
    );
}

/// ADOPT-2, ADOPT-5.
#[test]
fn an_adopted_object_is_ready_and_keeps_its_origin() {
    check(
        [adopt(3, 1, "found"), adopt(3, 1, "again"), update("ours"), settled(3, "ours")],
        &[
            "t.a (once t.o): 3/1 found ready",
            "the step `adopted` cannot follow here: the current generation is not one whose create is under way",
            "t.a (once t.o): 3/1 found updating ours",
            "t.a (once t.o): 3/1 ours[ours] ready",
        ],
    );
}

/// CRASH-1: found again after a create of unknown outcome, also beside what it replaces.
#[test]
fn an_object_found_after_a_lost_create_is_the_one_that_was_being_created() {
    check(
        [
            create(0, 0, "v1"),
            adopt(1, 0, "other"),
            adopt(0, 0, "found"),
            create(1, 1, "v2"),
            adopt(1, 0, "takes the old one's name"),
            adopt(1, 1, "found"),
        ],
        &[
            "t.a: 0/0 ? creating v1",
            "the step `adopted` cannot follow here: the current generation is not one whose create is under way",
            "t.a: 0/0 found ready",
            "t.a: 1/1 ? creating v2 | deposed 0/0 found ready",
            "the step `adopted` cannot follow here: another generation bears that name",
            "t.a: 1/1 found ready | deposed 0/0 found ready",
        ],
    );
}

/// CRASH-2, RETRY-4.
#[test]
fn a_failed_create_leaves_what_there_is_of_it_to_be_finished() {
    check(
        [
            create(0, 0, "v1"),
            answered(0, "half"),
            pending(0),
            update("v2"),
            pending(0),
            Step::Abandoned { number: GenerationNumber::FIRST },
            update("v3"),
            settled(0, "v3"),
        ],
        &[
            "t.a: 0/0 ? creating v1",
            "t.a: 0/0 half creating v1",
            "t.a: 0/0 half creating v1, pending job 7",
            "t.a: 0/0 half creating v2",
            "t.a: 0/0 half creating v2, pending job 7",
            "t.a: 0/0 half creating v2",
            "t.a: 0/0 half creating v3",
            "t.a: 0/0 v3[v3] ready",
        ],
    );
}

/// CRASH-2: a replace field changed, so the half-made object is deposed.
#[test]
fn a_half_made_object_is_deposed_by_the_next_generation() {
    check(
        [create(0, 0, "v1"), create(1, 1, "v2"), answered(0, "half"), create(1, 1, "v2"), pending(0)],
        &[
            "t.a: 0/0 ? creating v1",
            "the step `create-begun` cannot follow here: nothing is known of the current generation, so it cannot be \
             deposed",
            "t.a: 0/0 half creating v1",
            "t.a: 1/1 ? creating v2 | deposed 0/0 half ready",
            "the step `pending` cannot follow here: it is not the current generation",
        ],
    );
}

/// CRASH-1, CRASH-3.
#[test]
fn what_is_known_not_to_have_happened_is_undone() {
    check(
        [
            create(0, 0, "v1"),
            Step::Abandoned { number: GenerationNumber::FIRST },
            Step::Abandoned { number: GenerationNumber::FIRST },
            create(0, 0, "v1"),
            settled(0, "v1"),
            update("v2"),
            Step::Abandoned { number: GenerationNumber::FIRST },
        ],
        &[
            "t.a: 0/0 ? creating v1",
            "nothing",
            "the step `abandoned` cannot follow here: there is no such record",
            "t.a: 0/0 ? creating v1",
            "t.a: 0/0 v1[v1] ready",
            "t.a: 0/0 v1[v1] updating v2",
            "t.a: 0/0 v1[v1] ready",
        ],
    );
}

/// CRASH-2, CRASH-6.
#[test]
fn only_an_object_that_is_known_can_be_deleted() {
    check(
        [
            create(0, 0, "v1"),
            Step::DeleteBegun { number: GenerationNumber::FIRST },
            answered(0, "half"),
            Step::Deleted { number: GenerationNumber::FIRST },
            Step::DeleteBegun { number: GenerationNumber::FIRST },
            update("v2"),
            settled(0, "v2"),
            Step::Deleted { number: GenerationNumber(1) },
            Step::Deleted { number: GenerationNumber::FIRST },
        ],
        &[
            "t.a: 0/0 ? creating v1",
            "the step `delete-begun` cannot follow here: nothing is known of the object",
            "t.a: 0/0 half creating v1",
            "the step `deleted` cannot follow here: no delete is under way",
            "t.a: 0/0 half deleting",
            "the step `update-begun` cannot follow here: a delete is under way",
            "the step `settled` cannot follow here: no create or update is under way",
            "the step `deleted` cannot follow here: there is no such generation",
            "nothing",
        ],
    );
}

/// MOVE-1, DRIFT-3.
#[test]
fn a_moved_record_keeps_its_origin() {
    let refreshed =
        |number, content| Step::Refreshed { number: GenerationNumber(number), object: object(content) };
    check(
        [
            create(0, 0, "v1"),
            refreshed(0, "seen"),
            settled(0, "v1"),
            Step::Moved { to: address("b") },
            refreshed(0, "seen"),
            create(1, 1, "v2"),
            adopt(1, 1, "v2"),
            Step::Moved { to: address("a") },
            create(1, 1, "v2"),
        ],
        &[
            "t.a: 0/0 ? creating v1",
            "the step `refreshed` cannot follow here: an operation is under way",
            "t.a: 0/0 v1[v1] ready",
            "t.b (once t.a): 0/0 v1[v1] ready",
            "t.b (once t.a): 0/0 seen[v1] ready",
            "the step `create-begun` cannot follow here: the record has another address",
            "the step `adopted` cannot follow here: the record has another address",
            "t.a: 0/0 seen[v1] ready",
            "t.a: 1/1 ? creating v2 | deposed 0/0 seen[v1] ready",
        ],
    );
}

/// APPLY-10.
#[test]
fn what_the_program_says_besides_inputs_comes_with_each_operation_or_alone() {
    let mut record = None;
    for (step, provider) in [
        (create(0, 0, "v1"), "p"),
        (Step::MetaChanged { meta: meta("q") }, "q"),
        (settled(0, "v1"), "q"),
        (update("v2"), "p"),
    ] {
        record = transition(record, &Entry::new(ID, step)).unwrap();
        assert_eq!(record.as_ref().unwrap().meta.provider, provider);
    }
}

#[test]
fn a_step_of_another_record_is_refused() {
    let record = transition(None, &Entry::new(ID, create(0, 0, "v1"))).unwrap();
    let other = Entry::new(RecordId::from_bytes([9; 16]), settled(0, "v1"));
    let illegal = transition(record, &other).unwrap_err();
    assert_eq!(illegal.to_string(), "the step `settled` cannot follow here: it is about another record");
}

fn any_step() -> impl Strategy<Value = Step> {
    // Few numbers, so that steps meet, and the largest, so that none overflows.
    let number = || prop_oneof![8 => 0u64..4, 1 => u64::MAX - 1..=u64::MAX];
    let content = || "[a-c]";
    let place = || "[ab]".prop_map(|name| address(&name));
    let with_number =
        move |step: fn(GenerationNumber) -> Step| number().prop_map(GenerationNumber).prop_map(step);
    let with_object = move |step: fn(GenerationNumber, State) -> Step| {
        (number(), content())
            .prop_map(move |(number, content)| step(GenerationNumber(number), object(&content)))
    };
    prop_oneof![
        3 => (place(), number(), number(), content()).prop_map(|(address, number, slot, content)| {
            let (number, slot) = (GenerationNumber(number), Slot(slot));
            Step::CreateBegun { origin: address.clone(), address, meta: meta("p"), number, slot, attempt: attempt(&content) }
        }),
        1 => (place(), number(), number(), content()).prop_map(|(address, number, slot, content)| {
            let (origin, object) = (address.clone(), object(&content));
            let (number, slot) = (GenerationNumber(number), Slot(slot));
            Step::Adopted { address, origin, meta: meta("p"), number, slot, object }
        }),
        2 => content().prop_map(|content| update(&content)),
        2 => with_object(|number, object| Step::Answered { number, object }),
        1 => number().prop_map(pending),
        3 => with_object(|number, object| Step::Settled { number, object }),
        1 => with_number(|number| Step::Abandoned { number }),
        1 => with_object(|number, object| Step::Refreshed { number, object }),
        1 => with_object(|number, object| Step::Migrated { number, object }),
        1 => content().prop_map(|provider| Step::MetaChanged { meta: meta(&provider) }),
        2 => with_number(|number| Step::DeleteBegun { number }),
        2 => with_number(|number| Step::Deleted { number }),
        1 => with_number(|number| Step::Dropped { number }),
        1 => place().prop_map(|to| Step::Moved { to }),
    ]
}

/// What holds of every record, whatever happened to it.
fn check_valid(record: &Record) {
    let generations: Vec<_> = record.generations().collect();
    assert!(!generations.is_empty(), "a record has generations");
    let numbers: Vec<_> = generations.iter().map(|it| it.number).collect();
    assert!(numbers.is_sorted_by(|earlier, later| earlier < later), "numbers grow: {numbers:?}");
    let slots: BTreeSet<_> = generations.iter().map(|it| it.slot).collect();
    assert_eq!(slots.len(), generations.len(), "no two generations bear one name");
    assert!(!slots.contains(&record.free_slot()), "a free slot is free");
    for deposed in &record.deposed {
        assert!(deposed.object.is_some(), "a deposed generation has an object");
        assert!(
            matches!(deposed.status, Status::Ready | Status::Deleting),
            "only a delete is under way with it"
        );
    }
    if let Some(Generation { object: None, status, .. }) = &record.current {
        assert!(matches!(status, Status::Creating(_)), "only what is being created may have no object");
    }
}

fn check_reads_back<T>(written: &T)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(written).unwrap();
    assert_eq!(&read_json::<T>(&text).unwrap(), written, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: trueup_test_servers::sized(128, 2_000), ..ProptestConfig::default() })]

    /// CRASH-8.
    #[test]
    fn whatever_happens_leaves_a_valid_record_or_is_refused(steps in prop::collection::vec(any_step(), 0..40)) {
        let mut record: Option<Record> = None;
        let mut journal = Vec::new();
        for step in steps {
            let entry = Entry::new(ID, step);
            // What is refused leaves the record as it was, and is not journalled.
            let Ok(next) = transition(record.clone(), &entry) else { continue };
            next.iter().for_each(check_valid);
            next.iter().for_each(check_reads_back);
            check_reads_back(&entry);
            record = next;
            journal.push(entry);
        }
        let replayed = journal.iter().try_fold(None, transition);
        prop_assert_eq!(replayed, Ok(record));
    }
}

/// Numbers inside records and entries stay what they are.
#[test]
fn entries_and_records_read_back_from_json() {
    let mut object = object("x");
    object.outputs = value!({ n: (u64::MAX), s: (Value::from("hunter2").into_secret()) });
    object.schema_version = u64::MAX;
    let entry = Entry::new(ID, Step::Settled { number: GenerationNumber(u64::MAX), object });
    check_reads_back(&entry);
    let begun = transition(None, &Entry::new(ID, create(u64::MAX, 3, "v1"))).unwrap();
    check_reads_back(&begun.clone().unwrap());
    check_reads_back(&transition(begun, &entry).unwrap().unwrap());
}
