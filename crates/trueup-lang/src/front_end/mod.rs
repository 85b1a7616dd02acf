//! Terraform's language behind the seam of the command line.

mod function_page;
mod scaffold;

use std::path::Path;

use smol_str::SmolStr;
use trueup_core::{SourceMap, Value};
use trueup_front_end::{
    BuildRequest, BuiltProgram, FrontEnd, GeneratedFile, InvalidProgram, LoadedProgram, ProgramSource,
};
use trueup_provider::BoxFuture;

use crate::format::{format, is_formattable};
use crate::lower::StackFolder;
use crate::syntax::conceal;

/// Files that end in `.tf`, `.tf.json` and `.tu.hcl`.
pub struct TerraformLanguage;

impl FrontEnd for TerraformLanguage {
    fn load(&self, folder: &Path) -> LoadedProgram {
        let folder = StackFolder::read(folder);
        LoadedProgram {
            settings: folder.settings(),
            sources: folder.sources.clone(),
            diagnostics: folder.diagnostics.clone(),
            files: folder.files(),
            providers: folder.providers(),
            found: folder.found,
            source: Box::new(folder),
        }
    }

    fn format(&self, file_name: &str, text: &str) -> Option<Result<String, InvalidProgram>> {
        is_formattable(file_name).then(|| {
            // The formatter's diagnostics point into the first file of a map.
            let mut sources = SourceMap::new();
            let file = sources.add(file_name, text);
            format(text).map_err(|mut diagnostics| {
                if file_name.ends_with(".tfvars") {
                    conceal(&mut sources, file, &mut diagnostics);
                }
                InvalidProgram { diagnostics, sources }
            })
        })
    }

    fn scaffold(&self, stack: &str) -> Vec<GeneratedFile> {
        scaffold::scaffold(stack)
    }

    fn functions(&self) -> Vec<&'static str> {
        crate::functions::names().collect()
    }

    fn reference(&self) -> Vec<GeneratedFile> {
        vec![function_page::function_page()]
    }
}

impl ProgramSource for StackFolder {
    fn build<'a>(&'a self, request: BuildRequest<'a>) -> BoxFuture<'a, Result<BuiltProgram, InvalidProgram>> {
        Box::pin(self.build(request))
    }

    fn evaluate<'a>(
        &'a self,
        expression: &'a str,
        request: BuildRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, InvalidProgram>> {
        Box::pin(self.evaluate(expression, request))
    }

    fn variables(&self) -> Vec<SmolStr> {
        self.variables().cloned().collect()
    }
}
