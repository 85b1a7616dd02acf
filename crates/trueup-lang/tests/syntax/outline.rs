//! A compact textual form of the tree, for comparison in tests: everything in prefix notation.

use trueup_lang::syntax::{
    Access, AccessKind, Body, Expr, ExprKind, ForResult, Item, Literal, ObjectKey, TemplatePart,
};

pub(crate) fn outline(expression: &Expr) -> String {
    match &expression.kind {
        ExprKind::Literal(Literal::Null) => "null".to_owned(),
        ExprKind::Literal(Literal::Bool(truth)) => truth.to_string(),
        ExprKind::Literal(Literal::Number(number)) => number.to_string(),
        ExprKind::Literal(Literal::String(text)) => format!("{text:?}"),
        ExprKind::Template(template) => format!("(template {})", parts(&template.parts)),
        ExprKind::Traversal(traversal) => format!("{}{}", traversal.root.text, steps(&traversal.steps)),
        ExprKind::Access(source, accesses) => format!("(of {} {})", outline(source), steps(accesses)),
        ExprKind::Splat(splat) => format!("(each {} {})", outline(&splat.source), outline(&splat.each)),
        ExprKind::SplatItem => "@".to_owned(),
        ExprKind::Call(call) => {
            let dots = if call.expand_last { "..." } else { "" };
            format!("({} {}{dots})", call.name.text, all(&call.arguments)).replace(" )", ")")
        }
        ExprKind::Unary(operator, operand) => format!("({} {})", operator.symbol(), outline(operand)),
        ExprKind::Binary(chain) => chain.operations.iter().fold(outline(&chain.first), |left, operation| {
            format!("({} {left} {})", operation.operator.symbol(), outline(&operation.right))
        }),
        ExprKind::Conditional(conditional) => {
            let otherwise = outline(&conditional.otherwise);
            conditional.branches.iter().rev().fold(otherwise, |otherwise, branch| {
                format!("(? {} {} {otherwise})", outline(&branch.condition), outline(&branch.then))
            })
        }
        ExprKind::For(it) => {
            let key = it.key.as_ref().map(|key| format!("{}, ", key.text)).unwrap_or_default();
            let result = match &it.result {
                ForResult::Tuple(value) => outline(value),
                ForResult::Object { key, value, grouped } => {
                    let dots = if *grouped { "..." } else { "" };
                    format!("{} => {}{dots}", outline(key), outline(value))
                }
            };
            let filter =
                it.filter.as_ref().map(|filter| format!(" if {}", outline(filter))).unwrap_or_default();
            format!("(for {key}{} in {}: {result}{filter})", it.value.text, outline(&it.collection))
        }
        ExprKind::Tuple(items) => format!("[{}]", all(items)),
        ExprKind::Object(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| match &item.key {
                    ObjectKey::Name(name) => format!("{}: {}", name.text, outline(&item.value)),
                    ObjectKey::Expr(key) => format!("{}: {}", outline(key), outline(&item.value)),
                })
                .collect();
            format!("{{{}}}", items.join(" "))
        }
        ExprKind::Parentheses(inner) => format!("({})", outline(inner)),
    }
}

pub(crate) fn outline_body(body: &Body) -> String {
    let items: Vec<_> = body
        .items
        .iter()
        .map(|item| match item {
            Item::Attribute(attribute) => format!("{} = {}", attribute.name.text, outline(&attribute.value)),
            Item::Block(block) => {
                let labels: String = block.labels.iter().map(|label| format!(" {:?}", label.text)).collect();
                format!("{}{labels} {{{}}}", block.name.text, outline_body(&block.body))
            }
        })
        .collect();
    items.join("; ")
}

fn all(expressions: &[Expr]) -> String {
    expressions.iter().map(outline).collect::<Vec<_>>().join(" ")
}

fn steps(accesses: &[Access]) -> String {
    let step = |access: &Access| match &access.kind {
        AccessKind::Attribute(name) => format!(".{name}"),
        AccessKind::Index(index) => format!("[{}]", outline(index)),
    };
    accesses.iter().map(step).collect()
}

fn parts(parts: &[TemplatePart]) -> String {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => format!("{text:?}"),
        TemplatePart::Interpolation(expression) => outline(expression),
        TemplatePart::If { condition, then, otherwise } => {
            format!("(if {} [{}] [{}])", outline(condition), self::parts(then), self::parts(otherwise))
        }
        TemplatePart::For { key, value, collection, body } => {
            let key = key.as_ref().map(|key| format!("{}, ", key.text)).unwrap_or_default();
            format!("(for {key}{} in {} [{}])", value.text, outline(collection), self::parts(body))
        }
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}
