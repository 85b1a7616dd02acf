//! The names that an expression refers to, found without evaluating it.

use smol_str::SmolStr;

use crate::limits::deep_at;
use crate::syntax::{
    Access, AccessKind, Branch, Expr, ExprKind, ForResult, ObjectKey, StaticTraversal, TemplatePart,
    Traversal,
};

/// All traversals of an expression that begin with a name from outside, in the order they stand. Names of for
/// expressions are left out; what an index computes is listed too.
pub fn references(expression: &Expr) -> Vec<StaticTraversal> {
    let mut found = Vec::new();
    visit_traversals(expression, &mut |traversal, _| found.push(traversal.known_part()));
    found
}

/// Shows all those traversals to a visitor, with the names of the for expressions around each.
pub fn visit_traversals(expression: &Expr, visit: &mut dyn FnMut(&Traversal, &[SmolStr])) {
    Search { scope: Vec::new(), depth: 0, calls: false, visit }.expression(expression);
}

/// Whether a function is called anywhere in an expression.
pub(crate) fn calls_functions(expression: &Expr) -> bool {
    let mut search = Search { scope: Vec::new(), depth: 0, calls: false, visit: &mut |_, _| {} };
    search.expression(expression);
    search.calls
}

struct Search<'a> {
    scope: Vec<SmolStr>,
    /// Whether a function is called.
    calls: bool,
    depth: usize,
    visit: &'a mut dyn FnMut(&Traversal, &[SmolStr]),
}

impl Search<'_> {
    fn expression(&mut self, expression: &Expr) {
        self.depth += 1;
        deep_at(self.depth, || self.parts_of(expression));
        self.depth -= 1;
    }

    fn parts_of(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Literal(_) | ExprKind::SplatItem => {}
            ExprKind::Template(template) => self.parts(&template.parts),
            ExprKind::Traversal(traversal) => {
                if !self.scope.contains(&traversal.root.text) {
                    (self.visit)(traversal, &self.scope);
                }
                self.accesses(&traversal.steps);
            }
            ExprKind::Access(source, accesses) => {
                self.expression(source);
                self.accesses(accesses);
            }
            ExprKind::Splat(splat) => {
                self.expression(&splat.source);
                self.expression(&splat.each);
            }
            ExprKind::Call(call) => {
                self.calls = true;
                call.arguments.iter().for_each(|argument| self.expression(argument));
            }
            ExprKind::Unary(_, operand) => self.expression(operand),
            ExprKind::Binary(chain) => {
                self.expression(&chain.first);
                chain.operations.iter().for_each(|operation| self.expression(&operation.right));
            }
            ExprKind::Conditional(conditional) => {
                for Branch { condition, then } in &conditional.branches {
                    self.expression(condition);
                    self.expression(then);
                }
                self.expression(&conditional.otherwise);
            }
            ExprKind::For(it) => {
                self.expression(&it.collection);
                self.within(it.key.iter().chain([&it.value]).map(|name| name.text.clone()), |search| {
                    match &it.result {
                        ForResult::Tuple(value) => search.expression(value),
                        ForResult::Object { key, value, .. } => {
                            search.expression(key);
                            search.expression(value);
                        }
                    }
                    it.filter.iter().for_each(|filter| search.expression(filter));
                });
            }
            ExprKind::Tuple(items) => items.iter().for_each(|item| self.expression(item)),
            ExprKind::Object(items) => {
                for item in items {
                    if let ObjectKey::Expr(key) = &item.key {
                        self.expression(key);
                    }
                    self.expression(&item.value);
                }
            }
            ExprKind::Parentheses(inner) => self.expression(inner),
        }
    }

    fn accesses(&mut self, accesses: &[Access]) {
        for access in accesses {
            if let AccessKind::Index(index) = &access.kind {
                self.expression(index);
            }
        }
    }

    fn parts(&mut self, parts: &[TemplatePart]) {
        for part in parts {
            match part {
                TemplatePart::Text(_) => {}
                TemplatePart::Interpolation(expression) => self.expression(expression),
                TemplatePart::If { condition, then, otherwise } => {
                    self.expression(condition);
                    self.parts(then);
                    self.parts(otherwise);
                }
                TemplatePart::For { key, value, collection, body } => {
                    self.expression(collection);
                    let names = key.iter().chain([value]).map(|name| name.text.clone());
                    self.within(names, |search| search.parts(body));
                }
            }
        }
    }

    fn within(&mut self, names: impl Iterator<Item = SmolStr>, inside: impl FnOnce(&mut Self)) {
        let depth = self.scope.len();
        self.scope.extend(names);
        inside(self);
        self.scope.truncate(depth);
    }
}
