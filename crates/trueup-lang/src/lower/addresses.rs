//! Addresses that programs write: in `moved`, `removed`, `import`, `replace_triggered_by` and `bind`.

use smol_str::SmolStr;
use trueup_core::{Address, AddressRange, Diagnostic, InstanceKey, Mode, ModulePath, Path, Step};

use crate::declare::at;
use crate::syntax::{AccessKind, Expr, ExprKind, StaticStep, StaticTraversal};
use crate::world::Frame;

/// The range that a traversal names, seen from a module.
pub(super) fn range(
    traversal: &StaticTraversal,
    module: &ModulePath,
) -> Result<AddressRange, Box<Diagnostic>> {
    let (range, rest) = read(&traversal.root.text, &traversal.steps, module, traversal)?;
    if rest.is_empty() { Ok(range) } else { Err(no_address(traversal)) }
}

/// The one resource that an expression names, seen from a module; its indexes may be computed.
pub(super) fn computed_address(
    frame: &Frame<'_>,
    expression: &Expr,
    module: &ModulePath,
) -> Result<Address, Box<Diagnostic>> {
    let wrong = || Box::new(at(expression.origin, "a resource's address is expected here"));
    let traversal = computed_traversal(frame, expression).ok_or_else(wrong)?;
    match range(&traversal, module)? {
        AddressRange::Resource(address) => Ok(address),
        AddressRange::Module(_) => Err(wrong()),
    }
}

/// The resource that an expression names, and what of it.
pub(super) fn computed_reference(
    frame: &Frame<'_>,
    expression: &Expr,
    module: &ModulePath,
) -> Result<(Address, Path), Box<Diagnostic>> {
    let wrong = || Box::new(at(expression.origin, "this takes references to resources or their attributes"));
    let traversal = computed_traversal(frame, expression).ok_or_else(wrong)?;
    let (range, rest) = read(&traversal.root.text, &traversal.steps, module, &traversal)?;
    let AddressRange::Resource(address) = range else { return Err(wrong()) };
    let path = rest.iter().fold(Path::ROOT, |path, step| {
        path.join(match step {
            StaticStep::Attribute(name) | StaticStep::Key(name) => Step::Key(name.clone()),
            StaticStep::Index(index) => Step::Index(*index),
        })
    });
    Ok((address, path))
}

/// A traversal with its indexes evaluated. A text counts as the traversal written in it: JSON has no other way to write one.
pub(super) fn computed_traversal(frame: &Frame<'_>, expression: &Expr) -> Option<StaticTraversal> {
    let ExprKind::Traversal(traversal) = &expression.kind else {
        let quoted = expression.as_quoted_expression()?;
        return matches!(quoted.kind, ExprKind::Traversal(_)).then(|| computed_traversal(frame, &quoted))?;
    };
    let mut steps = Vec::with_capacity(traversal.steps.len());
    for access in &traversal.steps {
        steps.push(match &access.kind {
            AccessKind::Attribute(name) => StaticStep::Attribute(name.clone()),
            AccessKind::Index(index) => {
                let value = frame.evaluate(index);
                match value.as_str() {
                    // It would be shown.
                    _ if value.is_secret() => return None,
                    Some(key) => StaticStep::Key(key.into()),
                    None => StaticStep::Index(value.as_number().and_then(trueup_core::Number::as_u64)?),
                }
            }
        });
    }
    let (root, origin) = (traversal.root.clone(), expression.origin);
    Some(StaticTraversal { root, steps, complete: true, origin })
}

/// Reads modules, type, name and keys; what is left is the path within the resource.
fn read<'a>(
    root: &SmolStr,
    steps: &'a [StaticStep],
    module: &ModulePath,
    traversal: &StaticTraversal,
) -> Result<(AddressRange, &'a [StaticStep]), Box<Diagnostic>> {
    let wrong = || no_address(traversal);
    let mut modules = module.steps().to_vec();
    let (mut root, mut steps) = (root.clone(), steps);
    while root == "module" {
        let [StaticStep::Attribute(name), rest @ ..] = steps else { return Err(wrong()) };
        let (key, rest) = key(rest);
        modules.push(trueup_core::ModuleStep { name: name.clone(), key });
        match rest {
            [] => {
                let path = ModulePath::new(modules).map_err(|_| wrong())?;
                return Ok((AddressRange::Module(path), rest));
            }
            [StaticStep::Attribute(next), rest @ ..] => (root, steps) = (next.clone(), rest),
            _ => return Err(wrong()),
        }
    }
    let modes = [Mode::Data, Mode::Ephemeral];
    let mode = modes.into_iter().find(|mode| mode.prefix().strip_suffix('.') == Some(&root));
    if mode.is_some() {
        let [StaticStep::Attribute(type_name), rest @ ..] = steps else { return Err(wrong()) };
        (root, steps) = (type_name.clone(), rest);
    }
    let [StaticStep::Attribute(name), rest @ ..] = steps else { return Err(wrong()) };
    let address = match mode.unwrap_or(Mode::Resource) {
        Mode::Resource => Address::resource(&root, name),
        Mode::Data => Address::data(&root, name),
        Mode::Ephemeral => Address::ephemeral(&root, name),
    };
    let (key, rest) = key(rest);
    let address = address.map_err(|_| wrong())?.with_key(key);
    let path = ModulePath::new(modules).map_err(|_| wrong())?;
    Ok((AddressRange::Resource(address.in_module(path)), rest))
}

fn key(steps: &[StaticStep]) -> (Option<InstanceKey>, &[StaticStep]) {
    match steps {
        [StaticStep::Index(index), rest @ ..] => (Some(InstanceKey::Index(*index)), rest),
        [StaticStep::Key(key), rest @ ..] => (Some(InstanceKey::Key(key.clone())), rest),
        _ => (None, steps),
    }
}

fn no_address(traversal: &StaticTraversal) -> Box<Diagnostic> {
    let hint = "write it like `aws_instance.web`, `aws_instance.web[0]` or `module.net`";
    Box::new(at(traversal.origin, format!("`{traversal}` is not an address")).hint(hint))
}
