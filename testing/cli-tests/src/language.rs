//! A small language, so that the seam between command line and front ends is crossed by more than one.
//!
//! A file `stack.lines` has a declaration on each line: `stack NAME`, `protect STAGE`, `output NAME VALUE`,
//! `previewed ADDRESS` (the rest of the file is read once that resource can be previewed), or a resource:
//! `TYPE NAME key=value …`. Values are words, `"quoted texts"` with `\n`, `$variables` and `@addresses.output`.

use std::path::Path;

use trueup::{Address, BoxFuture, Diagnostic, Diagnostics, FileId, Origin, SourceMap, Value};
use trueup_front_end::{
    BuildRequest, BuiltProgram, FrontEnd, GeneratedFile, GivenVariable, InvalidProgram, LoadedProgram,
    Premise, PremiseKind, ProgramSource, StackSettings,
};
use trueup_program::{Expression, Node, OutputDeclaration, Place, Program, Reference, ResourceDeclaration};

const FILE: &str = "stack.lines";

/// The language.
pub struct Lines;

struct Source {
    text: String,
    sources: SourceMap,
    file: FileId,
}

impl FrontEnd for Lines {
    fn load(&self, folder: &Path) -> LoadedProgram {
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path);
        let found = text.is_ok();
        let text = text.unwrap_or_default();
        let mut sources = SourceMap::new();
        let file = sources.add(FILE, text.clone());
        let mut settings = StackSettings::default();
        let mut diagnostics = Diagnostics::new();
        for (start, line) in lines(&text) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["stack", name] => settings.name = Some((*name).into()),
                ["protect", stage] => settings.protected_stages.push((*stage).into()),
                [one] => {
                    let origin = Origin { file, start, end: start + line.len() as u32 };
                    let mut mistake = Diagnostic::error(format!("`{one}` alone says nothing"))
                        .hint("write TYPE NAME key=value");
                    mistake.origin = Some(origin);
                    diagnostics.push(mistake);
                }
                _ => {}
            }
        }
        let files = if found { vec![path] } else { Vec::new() };
        let source = Box::new(Source { text, sources: sources.clone(), file });
        let providers = Vec::new();
        LoadedProgram { source, settings, sources, diagnostics, files, providers, found }
    }

    fn format(&self, file_name: &str, text: &str) -> Option<Result<String, InvalidProgram>> {
        file_name.ends_with(FILE).then(|| {
            let tidy = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok(text.lines().map(|line| tidy(line) + "\n").collect())
        })
    }

    fn scaffold(&self, stack: &str) -> Vec<GeneratedFile> {
        let text = format!("stack {stack}\ntest_file hello path=hello.txt content=hello\n");
        vec![GeneratedFile { path: FILE.into(), text }]
    }
}

impl ProgramSource for Source {
    fn build<'a>(&'a self, request: BuildRequest<'a>) -> BoxFuture<'a, Result<BuiltProgram, InvalidProgram>> {
        Box::pin(async move {
            let mut program =
                Program { stack: request.stack.into(), sources: self.sources.clone(), ..Program::default() };
            let mut pending = Vec::new();
            for (start, line) in lines(&self.text) {
                let origin = Origin { file: self.file, start, end: start + line.len() as u32 };
                let words = words(line);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                match words.as_slice() {
                    ["stack" | "protect", ..] | [] => {}
                    ["output", name, value] => {
                        let (name, value) = ((*name).into(), self.value(value, &request, origin)?);
                        program.outputs.push(OutputDeclaration { name, value, secret: false });
                    }
                    ["previewed", address] => {
                        let reference = Reference {
                            address: self.address(address, origin)?,
                            path: "path".parse().map_err(|_| self.mistake("no path".to_owned(), origin))?,
                        };
                        if request.known.and_then(|known| known.resolve(&reference)).is_none() {
                            pending.push(origin);
                            break;
                        }
                    }
                    [type_name, name, fields @ ..] => {
                        let address = self.address(&format!("{type_name}.{name}"), origin)?;
                        let mut entries = Vec::new();
                        for field in fields {
                            let (key, value) = field
                                .split_once('=')
                                .ok_or_else(|| self.mistake(format!("`{field}` is not key=value"), origin))?;
                            let origin = self.value_origin(line, key, origin);
                            entries.push((key.into(), self.value(value, &request, origin)?));
                        }
                        let inputs = Expression::new(Node::Object(entries));
                        let place = Some(Place::Source(origin));
                        program
                            .resources
                            .push(ResourceDeclaration { place, ..ResourceDeclaration::new(address, inputs) });
                    }
                    [_] => {}
                }
            }
            let variables = request.variables.clone();
            let premises = move || {
                let given = variables.given.iter().filter_map(|given| match given {
                    GivenVariable::Value { name, text } => {
                        Some(Premise::of(PremiseKind::Variable, name.as_str(), text.as_bytes()))
                    }
                    GivenVariable::File(_) => None,
                });
                given.collect()
            };
            Ok(BuiltProgram {
                program,
                pending,
                stuck: None,
                files: Vec::new(),
                warnings: Diagnostics::new(),
                premises: Box::new(premises),
            })
        })
    }

    fn evaluate<'a>(
        &'a self,
        text: &'a str,
        request: BuildRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, InvalidProgram>> {
        Box::pin(async move {
            let origin = Origin { file: self.file, start: 0, end: 0 };
            let expression = self.value(text, &request, origin)?;
            let evaluated = match request.known {
                Some(known) => expression.evaluate(known),
                None => expression.evaluate(&()),
            };
            match evaluated.diagnostics.has_errors() {
                true => Err(evaluated.diagnostics.into()),
                false => Ok(evaluated.value),
            }
        })
    }
}

impl Source {
    /// Where the value of a key stands: from after the sign to the next space, or to the end of the quotes.
    fn value_origin(&self, line: &str, key: &str, whole: Origin) -> Origin {
        let Some(at) = line.find(&format!(" {key}=")) else { return whole };
        let start = at + key.len() + 2;
        let quoted = line[start..].starts_with('"');
        let end = match quoted {
            true => line[start + 1..].find('"').map(|end| start + end + 2),
            false => line[start..].find(' ').map(|end| start + end),
        };
        let end = end.unwrap_or(line.len());
        Origin { start: whole.start + start as u32, end: whole.start + end as u32, ..whole }
    }

    fn mistake(&self, summary: String, origin: Origin) -> InvalidProgram {
        let mut diagnostic = Diagnostic::error(summary);
        diagnostic.origin = Some(origin);
        InvalidProgram { diagnostics: diagnostic.into(), sources: self.sources.clone() }
    }

    fn address(&self, text: &str, origin: Origin) -> Result<Address, InvalidProgram> {
        text.parse().map_err(|error: trueup::AddressError| self.mistake(error.to_string(), origin))
    }

    fn value(
        &self,
        text: &str,
        request: &BuildRequest<'_>,
        origin: Origin,
    ) -> Result<Expression, InvalidProgram> {
        if let Some(reference) = text.strip_prefix('@') {
            let (address, path) = reference
                .rsplit_once('.')
                .ok_or_else(|| self.mistake(format!("`{text}` names no output"), origin))?;
            let path = path.parse().map_err(|_| self.mistake(format!("`{path}` is no output"), origin))?;
            let reference = Reference { address: self.address(address, origin)?, path };
            return Ok(Expression::new(Node::Reference(reference)));
        }
        let value = match text.strip_prefix('$') {
            Some(name) => variable(request, name)
                .ok_or_else(|| self.mistake(format!("the variable `{name}` has no value"), origin))?,
            None => text.replace("\\n", "\n"),
        };
        Ok(Value::from(value).with_origin(origin).into())
    }
}

fn variable(request: &BuildRequest<'_>, name: &str) -> Option<String> {
    let given = request.variables.given.iter().rev().find_map(|given| match given {
        GivenVariable::Value { name: own, text } if own == name => Some(text.clone()),
        GivenVariable::Value { .. } | GivenVariable::File(_) => None,
    });
    let environment = || request.variables.environment.iter().find(|(own, _)| own == name);
    given.or_else(|| environment().map(|(_, value)| value.clone()))
}

/// The lines that say something, with where they start.
fn lines(text: &str) -> Vec<(u32, &str)> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let said = line.trim_end();
        if !said.is_empty() && !said.starts_with('#') {
            found.push((start, said));
        }
        start += line.len() as u32;
    }
    found
}

/// Words, where quotes keep spaces together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for char in line.chars() {
        match char {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().into_iter().for_each(|word| word.push(other)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
