//! Syntax tree → program: macros are expanded, names and functions resolved, constant patterns compiled.
//!
//! Unknown names and functions, and wrong numbers of arguments, are found here rather than when a policy is evaluated.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use trueup_core::nearest;

use super::error::{CelError, Span};
use super::functions::{CONSTANT_PATTERN_BYTES_MAX, FUNCTIONS, Function, Style, regular_expression};
use super::operators::{BinaryOperator, UnaryOperator};
use super::syntax::{Expr, ExprKind};
use super::value::{Type, Value};

/// The macros over the elements of a list or the keys of a map.
const MACROS: [&str; 6] = ["all", "exists", "exists_one", "existsOne", "filter", "map"];

const HAS_USAGE: &str = "write it as in `has(resource.inputs.tags)`";

/// An expression that is ready to be evaluated.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Box<NodeKind>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Constant(Value),
    /// A declared variable, by its index.
    Variable(usize),
    /// A variable of an enclosing macro; 0 is the innermost.
    Local(usize),
    Select {
        operand: Node,
        field: SmolStr,
    },
    /// `has(operand.field)`
    Has {
        operand: Node,
        field: SmolStr,
    },
    Index {
        operand: Node,
        index: Node,
    },
    Unary {
        operator: UnaryOperator,
        operand: Node,
    },
    Binary {
        operator: BinaryOperator,
        left: Node,
        right: Node,
    },
    And(Vec<Node>),
    Or(Vec<Node>),
    Conditional {
        condition: Node,
        then: Node,
        otherwise: Node,
    },
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Call {
        function: &'static Function,
        arguments: Vec<Node>,
    },
    /// `matches` with a constant pattern.
    Matches {
        text: Node,
        pattern: regex::Regex,
    },
    /// A macro over the elements of a list or the keys of a map.
    Comprehension {
        range: Node,
        fold: Fold,
    },
}

/// What a comprehension makes of its elements.
#[derive(Debug)]
pub(super) enum Fold {
    All(Node),
    Exists(Node),
    ExistsOne(Node),
    Filter(Node),
    Map { condition: Option<Node>, element: Node },
}

/// How an expression refers to a variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    /// Whether it refers to the variable as a whole.
    pub(super) whole: bool,
    /// The fields that it selects.
    pub(super) fields: BTreeSet<SmolStr>,
}

/// The program of a tree, and how it refers to the variables.
pub(super) fn compile(tree: &Expr, variables: &[&str]) -> Result<(Node, Vec<Reference>), CelError> {
    let referenced = vec![Reference::default(); variables.len()];
    let mut compiler = Compiler { variables, referenced, locals: Vec::new() };
    let root = compiler.node(tree)?;
    Ok((root, compiler.referenced))
}

struct Compiler<'v> {
    variables: &'v [&'v str],
    referenced: Vec<Reference>,
    locals: Vec<SmolStr>,
}

impl Compiler<'_> {
    fn node(&mut self, expr: &Expr) -> Result<Node, CelError> {
        let span = expr.span;
        let kind = match &*expr.kind {
            ExprKind::Literal(value) => NodeKind::Constant(value.clone()),
            ExprKind::Name { name, absolute } => self.name(name, *absolute, span)?,
            ExprKind::Select { operand, field } => match self.qualified_type(expr) {
                Some(of) => NodeKind::Constant(Value::Type(of)),
                None => NodeKind::Select { operand: self.selected(operand, field)?, field: field.clone() },
            },
            ExprKind::Index { operand, index } => {
                NodeKind::Index { operand: self.node(operand)?, index: self.node(index)? }
            }
            ExprKind::Call { .. } => self.call(expr)?,
            ExprKind::List(elements) => NodeKind::List(self.nodes(elements)?),
            ExprKind::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| Ok((self.node(key)?, self.node(value)?)));
                NodeKind::Map(entries.collect::<Result<_, CelError>>()?)
            }
            ExprKind::Unary { operator, operand } => {
                NodeKind::Unary { operator: *operator, operand: self.node(operand)? }
            }
            ExprKind::Binary { operator, left, right, operator_span } => {
                let kind = NodeKind::Binary {
                    operator: *operator,
                    left: self.node(left)?,
                    right: self.node(right)?,
                };
                return Ok(Node { kind: Box::new(kind), span: *operator_span });
            }
            ExprKind::And(terms) => NodeKind::And(self.nodes(terms)?),
            ExprKind::Or(terms) => NodeKind::Or(self.nodes(terms)?),
            ExprKind::Conditional { condition, then, otherwise } => NodeKind::Conditional {
                condition: self.node(condition)?,
                then: self.node(then)?,
                otherwise: self.node(otherwise)?,
            },
        };
        Ok(Node { kind: Box::new(kind), span })
    }

    fn nodes(&mut self, exprs: &[Expr]) -> Result<Vec<Node>, CelError> {
        exprs.iter().map(|expr| self.node(expr)).collect()
    }

    /// Variables of macros shadow declared ones, and those shadow types.
    fn name(&mut self, name: &str, absolute: bool, span: Span) -> Result<NodeKind, CelError> {
        if !absolute && let Some(distance) = self.locals.iter().rev().position(|local| local == name) {
            return Ok(NodeKind::Local(distance));
        }
        if let Some(index) = self.variable(name, absolute) {
            self.referenced[index].whole = true;
            return Ok(NodeKind::Variable(index));
        }
        if let Some(of) = Type::ALL.into_iter().find(|of| of.name() == name) {
            return Ok(NodeKind::Constant(Value::Type(of)));
        }
        let known = || self.locals.iter().map(SmolStr::as_str).chain(self.variables.iter().copied());
        let error = CelError::new(span, format!("unknown variable `{name}`"));
        Err(match nearest(name, known()) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => {
                let names: Vec<String> = known().map(|name| format!("`{name}`")).collect();
                match names.is_empty() {
                    true => error,
                    false => error.hint(format!("known variables: {}", names.join(", "))),
                }
            }
        })
    }

    /// The operand of a selection: of a variable, no more than the field is referred to.
    fn selected(&mut self, operand: &Expr, field: &SmolStr) -> Result<Node, CelError> {
        if let ExprKind::Name { name, absolute } = &*operand.kind
            && let Some(index) = self.variable(name, *absolute)
        {
            self.referenced[index].fields.insert(field.clone());
            return Ok(Node { kind: Box::new(NodeKind::Variable(index)), span: operand.span });
        }
        self.node(operand)
    }

    /// The declared variable that a name denotes, unless a macro's shadows it.
    fn variable(&self, name: &str, absolute: bool) -> Option<usize> {
        let shadowed = !absolute && self.locals.iter().any(|local| local == name);
        self.variables.iter().position(|variable| *variable == name && !shadowed)
    }

    /// The type that a dotted name denotes.
    fn qualified_type(&self, expr: &Expr) -> Option<Type> {
        let ExprKind::Select { field, .. } = &*expr.kind else { return None };
        let of = Type::ALL
            .into_iter()
            .find(|of| of.name().rsplit_once('.').is_some_and(|(_, last)| last == field))?;
        let shadowed = || self.locals.iter().any(|local| of.name().split('.').next() == Some(local));
        (expr.qualified_name()? == of.name() && !shadowed()).then_some(of)
    }

    fn call(&mut self, expr: &Expr) -> Result<NodeKind, CelError> {
        let ExprKind::Call { function, receiver, arguments, name_span } = &*expr.kind else {
            unreachable!("only calls come here");
        };
        match receiver {
            None if function == "has" => self.has(arguments, *name_span),
            None => self.function(function, Style::Global, None, arguments, *name_span),
            Some(receiver) => {
                if let ExprKind::Name { name, .. } = &*receiver.kind
                    && name == "optional"
                {
                    let function = format!("optional.{function}");
                    let span = receiver.span.to(*name_span);
                    return self.function(&function, Style::Global, None, arguments, span);
                }
                match self.comprehension(function, receiver, arguments, *name_span)? {
                    Some(kind) => Ok(kind),
                    None => self.function(function, Style::Member, Some(receiver), arguments, *name_span),
                }
            }
        }
    }

    fn has(&mut self, arguments: &[Expr], span: Span) -> Result<NodeKind, CelError> {
        let [argument] = arguments else {
            return Err(CelError::new(span, "`has` takes one field").hint(HAS_USAGE));
        };
        match &*argument.kind {
            ExprKind::Select { operand, field } => {
                Ok(NodeKind::Has { operand: self.selected(operand, field)?, field: field.clone() })
            }
            ExprKind::Index { .. } => {
                let error = CelError::new(argument.span, "`has` takes a field, not an index");
                Err(error.hint("test for a key with `in`, as in `\"team\" in resource.inputs.tags`"))
            }
            _ => Err(CelError::new(argument.span, "`has` takes one field").hint(HAS_USAGE)),
        }
    }

    /// A macro over elements, if the name is one's.
    fn comprehension(
        &mut self,
        name: &str,
        range: &Expr,
        arguments: &[Expr],
        span: Span,
    ) -> Result<Option<NodeKind>, CelError> {
        let usage = match name {
            "all" | "exists" | "exists_one" | "existsOne" | "filter" => "a variable and a condition",
            "map" => "a variable, perhaps a condition, and an expression",
            _ => return Ok(None),
        };
        let (variable, condition, last) = match arguments {
            [variable, last] => (variable, None, last),
            [variable, condition, last] if name == "map" => (variable, Some(condition), last),
            _ => {
                let error = CelError::new(span, format!("`{name}` takes {usage}"));
                return Err(error
                    .hint(format!("write it as in `plan.resources.{name}(it, it.type == \"std_file\")`")));
            }
        };
        let ExprKind::Name { name: variable, absolute: false } = &*variable.kind else {
            let message = format!("the first argument of `{name}` is the name of a variable");
            return Err(CelError::new(variable.span, message));
        };
        let range = self.node(range)?;
        self.locals.push(variable.clone());
        let condition = condition.map(|condition| self.node(condition)).transpose()?;
        let last = self.node(last)?;
        self.locals.pop();
        let fold = match name {
            "all" => Fold::All(last),
            "exists" => Fold::Exists(last),
            "filter" => Fold::Filter(last),
            "map" => Fold::Map { condition, element: last },
            _ => Fold::ExistsOne(last),
        };
        Ok(Some(NodeKind::Comprehension { range, fold }))
    }

    fn function(
        &mut self,
        name: &str,
        style: Style,
        receiver: Option<&Expr>,
        arguments: &[Expr],
        span: Span,
    ) -> Result<NodeKind, CelError> {
        let arity = arguments.len() + usize::from(receiver.is_some());
        let function = find(name, style, arity).map_err(|error| error(span))?;
        let mut nodes = Vec::with_capacity(arity);
        for expr in receiver.into_iter().chain(arguments) {
            nodes.push(self.node(expr)?);
        }
        if name == "matches"
            && let NodeKind::Constant(Value::String(pattern)) = &*nodes[1].kind
        {
            let pattern = regular_expression(pattern, CONSTANT_PATTERN_BYTES_MAX)
                .map_err(|message| CelError::new(nodes[1].span, message))?;
            return Ok(NodeKind::Matches { text: nodes.swap_remove(0), pattern });
        }
        Ok(NodeKind::Call { function, arguments: nodes })
    }
}

/// The function of this name that is called this way, or what is wrong with the call.
fn find(name: &str, style: Style, arity: usize) -> Result<&'static Function, impl FnOnce(Span) -> CelError> {
    let same_name = || FUNCTIONS.iter().filter(|function| function.name == name);
    let same_style = || same_name().filter(|function| function.style == style);
    if let Some(function) = same_style().find(|function| function.arity() == arity) {
        return Ok(function);
    }
    let (message, hint) = if let Some(function) = same_style().next() {
        let receiver = usize::from(style == Style::Member);
        let counted = |count: usize| match count {
            0 => "no arguments".to_owned(),
            1 => "1 argument".to_owned(),
            _ => format!("{count} arguments"),
        };
        let (takes, given) = (function.arity() - receiver, arity - receiver);
        (format!("`{name}` takes {}, not {given}", counted(takes)), None)
    } else if same_name().next().is_some() {
        let way = match style {
            Style::Global => format!("`{name}` is called on a value"),
            Style::Member => format!("`{name}` is not called on a value"),
        };
        let form = match style {
            Style::Global => format!("write `value.{name}(…)`"),
            Style::Member => format!("write `{name}(…)`"),
        };
        (way, Some(form))
    } else if style == Style::Global && MACROS.contains(&name) {
        let form = format!("write `list.{name}(it, …)`");
        (format!("`{name}` is called on a list or a map"), Some(form))
    } else {
        let meant = nearest(name, FUNCTIONS.iter().map(|function| function.name).chain(MACROS));
        (format!("unknown function `{name}`"), meant.map(|meant| format!("did you mean `{meant}`?")))
    };
    Err(move |span| {
        let error = CelError::new(span, message);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    })
}
