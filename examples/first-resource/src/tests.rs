// src/tests.rs
use std::fs;

use trueup::conformance::Kit;
use trueup::value;

#[test]
fn files_keep_their_contract() {
    let folder = std::env::temp_dir().join(format!("notes-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is room for files");
    let path = |name: &str| folder.join(name).display().to_string();
    let file = |name: &str, content: &str| value!({ path: (path(name)), content: content });
    trueup::run(async {
        let kit = Kit::new(crate::provider(), "my_file", file("a.txt", "one")).await;
        let report = kit
            .expect("the type is sound")
            .updated(file("a.txt", "another"))
            .replaced(file("b.txt", "one"))
            .run()
            .await;
        report.assert_passed();
    });
    fs::remove_dir_all(folder).expect("nobody else is there");
}
