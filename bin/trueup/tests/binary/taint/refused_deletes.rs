//! A server that takes objects and refuses to delete them, quoting the request: by then the program may be gone, and with
//! it everything that tells what the recorded texts were made of.

use super::finder::Finder;
use super::server;
use super::trial::Trial;

const QUERY: &str = "qu3ry?token=with&signs/9f8e7d";
const DOCUMENT: &str = "d0cument \"quoted\" \\ secret 4b5c";
const HEADER: &str = "h3ader:with-colon+and-plus-1a2b";

fn trial() -> Trial {
    let url = server::start();
    let text = format!(
        r#"
variable "query" {{ sensitive = true }}
variable "document" {{ sensitive = true }}
variable "header" {{ sensitive = true }}

resource "std_http" "kept" {{
  headers = {{ Authorization = "Basic ${{base64encode("user:${{var.header}}")}}" }}
  create {{
    url       = "{url}/keep?first=1&token=${{urlencode(var.query)}}&last=2"
    body_text = jsonencode({{ login = {{ user = "ada", password = var.document }}, list = ["x-${{var.document}}"] }})
  }}
  delete {{
    url       = "{url}/keep?first=1&token=${{urlencode(var.query)}}&last=2"
    body_text = jsonencode({{ login = {{ user = "ada", password = var.document }}, list = ["x-${{var.document}}"] }})
  }}
}}
"#
    );
    let variables = [("TF_VAR_query", QUERY), ("TF_VAR_document", DOCUMENT), ("TF_VAR_header", HEADER)];
    let trial = Trial::new(&text, &variables, Finder::new(&[QUERY, DOCUMENT, HEADER]));
    trial.done("deploy --yes");
    trial
}

#[track_caller]
fn refused(trial: &Trial, command: &str) {
    let told = trial.failed(command);
    let said = told.out + &told.err;
    assert!(said.contains("bad words") && said.contains("(secret)"), "{command}: {said}");
}

/// SECRET-5, SECRET-8
#[test]
fn a_refused_destroy_shows_no_secret() {
    let trial = trial();
    refused(&trial, "destroy --yes");
    refused(&trial, "destroy --yes --json");
    trial.search_kept();
}

/// SECRET-5, SECRET-8: no expression of the program tells any more what the recorded texts were made of.
#[test]
fn a_refused_delete_of_a_removed_resource_shows_no_secret() {
    let trial = trial();
    trial.folder.write("main.tf", "");
    refused(&trial, "deploy --yes");
    refused(&trial, "deploy --yes --json");
    trial.search_kept();
}
