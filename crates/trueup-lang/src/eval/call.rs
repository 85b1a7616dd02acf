//! Function calls: arguments, expansion, the functions that decide for themselves what to evaluate, and all others.

use trueup_core::{Diagnostic, Diagnostics, Kind, Marks, Origin, Type, Value, nearest};

use super::Evaluator;
use crate::functions::{self, Argument, Problem};
use crate::syntax::Call;

/// How many arguments a call may come to, however they are written.
const ARGUMENTS_MAX: usize = 1_000_000;

impl Evaluator<'_> {
    pub(super) fn call(&mut self, call: &Call, origin: Origin) -> Value {
        let name = call.name.text.strip_prefix("core::").unwrap_or(&call.name.text);
        match name {
            "try" => return self.try_each(call, origin),
            "can" => return self.can(call, origin),
            _ => {}
        }
        let Some(arguments) = self.arguments(call) else { return Value::unknown(Type::Any) };
        arguments.iter().for_each(|argument| self.environment.report_source(&argument.value));
        if let Some(function) = functions::find(name) {
            if function.renders_template() && self.environment.renders_template() {
                let summary = format!("`{name}` cannot be called within a template that it renders");
                return self.mistake(call.name.origin, summary);
            }
            if function.depends_on_content() {
                let marks = arguments.iter().map(|argument| argument.value.all_marks());
                self.marks_seen |= marks.fold(Marks::NONE, |all, marks| all | marks);
            }
            return match functions::call(function, &arguments, self.environment, self.ambient) {
                Ok(value) => value,
                Err(problem) => self.problem(name, problem, &arguments, origin),
            };
        }
        self.foreign_call(name, call.name.origin, &arguments, origin)
    }

    /// A function of the environment, which sees known values without marks.
    fn foreign_call(
        &mut self,
        name: &str,
        name_origin: Origin,
        arguments: &[Argument],
        origin: Origin,
    ) -> Value {
        if !self.environment.has_function(name) {
            return self.unknown_function(name, name_origin);
        }
        let marks = arguments.iter().fold(Marks::NONE, |marks, argument| marks | argument.value.all_marks());
        self.marks_seen |= marks;
        if !arguments.iter().all(|argument| argument.value.is_wholly_known()) {
            return Value::unknown(Type::Any).with_marks(marks);
        }
        let values: Vec<Value> = arguments.iter().map(|argument| argument.value.without_marks()).collect();
        match self.environment.call(name, &values) {
            Ok(value) => value.with_marks(marks),
            Err(_) if marks | self.ambient != Marks::NONE => self.mistake(
                origin,
                format!("`{name}` has no result; the reason is not shown, because an argument is secret"),
            ),
            Err(message) => self.mistake(origin, format!("`{name}`: {message}")),
        }
    }

    /// The arguments, or `None` if they cannot be counted yet or something about them was told.
    fn arguments(&mut self, call: &Call) -> Option<Vec<Argument>> {
        let before = self.diagnostics.len();
        let mut arguments: Vec<Argument> = call
            .arguments
            .iter()
            .map(|argument| Argument { value: self.value(argument), origin: argument.origin })
            .collect();
        if call.expand_last
            && let Some(last) = arguments.pop()
        {
            match last.value.kind() {
                Kind::List(items) | Kind::Set(items) if items.len() <= ARGUMENTS_MAX => {
                    let marks = last.value.marks();
                    let origin = last.origin;
                    let expanded = items.iter().map(|item| item.clone().with_marks(marks));
                    arguments.extend(expanded.map(|value| Argument { value, origin }));
                }
                Kind::Unknown(Type::Any | Type::List(_) | Type::Set(_) | Type::Tuple(_)) => return None,
                kind => {
                    let summary = format!("`...` expands a list into arguments, and this is {}", kind.name());
                    self.mistake(last.origin, summary);
                }
            }
        }
        (self.diagnostics.len() == before).then_some(arguments)
    }

    fn problem(&mut self, name: &str, problem: Problem, arguments: &[Argument], origin: Origin) -> Value {
        let place =
            problem.argument.and_then(|at| arguments.get(at)).map_or(origin, |argument| argument.origin);
        let mut diagnostic = Diagnostic::error(format!("`{name}`: {}", problem.message));
        diagnostic.hints = problem.hints;
        self.tell(place, diagnostic)
    }

    fn unknown_function(&mut self, name: &str, origin: Origin) -> Value {
        let known: Vec<&str> = functions::names().collect();
        let mut diagnostic = Diagnostic::error(format!("there is no function `{name}`"));
        if let Some(instead) = functions::removed(name) {
            diagnostic = Diagnostic::error(format!("the function `{name}` is no longer there")).hint(instead);
        } else if let Some(near) = nearest(name, known) {
            diagnostic = diagnostic.hint(format!("did you mean `{near}`?"));
        }
        self.tell(origin, diagnostic)
    }

    /// The first argument that can be evaluated. It bears the marks of those before: that they cannot be tells of them.
    fn try_each(&mut self, call: &Call, origin: Origin) -> Value {
        let mut failures = Diagnostics::new();
        let mut failed_marks = Marks::NONE;
        for argument in &call.arguments {
            let (value, told, marks) = self.attempt_marked(argument);
            if told.has_errors() {
                failures.extend(told);
                failed_marks |= marks;
            } else if value.is_wholly_known() {
                return value.with_marks(failed_marks);
            } else {
                // Once it is known it may turn out to be wrong after all, and then another one counts.
                return Value::unknown(Type::Any).with_marks(value.all_marks() | failed_marks);
            }
        }
        if call.arguments.is_empty() {
            return self.mistake(origin, "`try` needs at least one argument");
        }
        let reasons: Vec<String> = failures.iter().map(|failure| failure.summary.clone()).collect();
        self.tell(
            origin,
            Diagnostic::error("`try`: none of the arguments can be evaluated").detail(reasons.join("; ")),
        )
    }

    /// Whether its argument can be evaluated, which tells of the secrets in it.
    fn can(&mut self, call: &Call, origin: Origin) -> Value {
        let [argument] = call.arguments.as_slice() else {
            return self.mistake(origin, "`can` takes one argument");
        };
        let (value, told, marks) = self.attempt_marked(argument);
        let can = if told.has_errors() {
            Value::from(false)
        } else if value.is_wholly_known() {
            Value::from(true)
        } else {
            Value::unknown(Type::Bool)
        };
        can.with_marks(marks)
    }
}
