//! The names that an expression refers to, found without evaluating it.

use smol_str::SmolStr;

use crate::syntax::{
    Access, AccessKind, Expr, ExprKind, ForResult, ObjectKey, StaticTraversal, TemplatePart, Traversal,
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
    Search { scope: Vec::new(), visit }.expression(expression);
}

struct Search<'a> {
    scope: Vec<SmolStr>,
    visit: &'a mut dyn FnMut(&Traversal, &[SmolStr]),
}

impl Search<'_> {
    fn expression(&mut self, expression: &Expr) {
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
            ExprKind::Call(call) => call.arguments.iter().for_each(|argument| self.expression(argument)),
            ExprKind::Unary(_, operand) => self.expression(operand),
            ExprKind::Binary(_) => self.chain(expression),
            ExprKind::Conditional(conditional) => {
                self.expression(&conditional.condition);
                self.expression(&conditional.then);
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

    /// Operators lean to the left and may be many: a loop, not a recursion.
    fn chain(&mut self, expression: &Expr) {
        let mut rights = Vec::new();
        let mut leftmost = expression;
        while let ExprKind::Binary(binary) = &leftmost.kind {
            rights.push(&binary.right);
            leftmost = &binary.left;
        }
        self.expression(leftmost);
        rights.into_iter().rev().for_each(|right| self.expression(right));
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
