//! The files of a new stack.

use trueup_front_end::GeneratedFile;

pub(super) fn scaffold(stack: &str) -> Vec<GeneratedFile> {
    let text = format!(
        r#"# A stack: what should be there. `trueup plan` shows what a deploy would do, `trueup deploy` does it.
stack {{
  name = "{stack}"
}}

variable "greeting" {{
  description = "What the file says."
  default     = "Hello"
}}

resource "std_file" "hello" {{
  path    = "out/hello.txt"
  content = "${{var.greeting}} from ${{stack.name}}, stage ${{stack.stage}}.\n"
}}

output "file" {{
  value = std_file.hello.path
}}
"#
    );
    vec![GeneratedFile { path: "main.tu.hcl".into(), text }]
}
