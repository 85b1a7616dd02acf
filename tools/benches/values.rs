//! What values cost: clones must not grow with the value, comparison and JSON may only grow in proportion.

use divan::{Bencher, black_box};
use trueup_core::{JsonForm, Value, diff, value};

fn main() {
    divan::main();
}

/// Rows of about 100 bytes each.
const ROWS: [u64; 4] = [1, 10, 100, 1_000];

fn table(rows: u64) -> Value {
    let row = |at: u64| value!({ name: (format!("row {at}")), size: at, tags: ["one", "two"], note: "of some length" });
    Value::object([("rows", Value::list((0..rows).map(row)))])
}

#[divan::bench(args = ROWS)]
fn clone(bencher: Bencher<'_, '_>, rows: u64) {
    let value = table(rows);
    bencher.bench_local(|| black_box(&value).clone());
}

#[divan::bench(args = ROWS)]
fn diff_of_equal_values(bencher: Bencher<'_, '_>, rows: u64) {
    let (before, after) = (table(rows), table(rows));
    bencher.bench_local(|| diff(black_box(&before), black_box(&after)));
}

#[divan::bench(args = ROWS)]
fn write_json(bencher: Bencher<'_, '_>, rows: u64) {
    let value = table(rows);
    bencher.bench_local(|| black_box(&value).to_json(JsonForm::RECORD));
}

#[divan::bench(args = ROWS)]
fn read_json(bencher: Bencher<'_, '_>, rows: u64) {
    let text = table(rows).to_json(JsonForm::RECORD);
    bencher.bench_local(|| Value::from_json(black_box(&text)));
}
