//! The type that several types have in common, and conversion to a type that leaves its elements' type open.
//!
//! `any` within a collection type does not mean that elements may differ: they are brought to one type, which the
//! elements themselves decide.

use smol_str::SmolStr;
use trueup_core::{Kind, Mismatch, ObjectType, Path, Type, Value, convert};

/// The type to which values of all these types convert, or `None` if there is none.
pub fn unify(types: &[Type]) -> Option<Type> {
    let (first, rest) = types.split_first()?;
    if rest.iter().all(|ty| ty == first) {
        return Some(first.clone());
    }
    if types.contains(&Type::Any) {
        return Some(Type::Any);
    }
    if types.iter().all(|ty| matches!(ty, Type::Bool | Type::Number | Type::String)) {
        // Different ones, so text is the only chance; and only if one of them is text already.
        return types.contains(&Type::String).then_some(Type::String);
    }
    if types.iter().all(|ty| matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))) {
        return unify_sequences(types);
    }
    if types.iter().all(|ty| matches!(ty, Type::Map(_) | Type::Object(_))) {
        return unify_keyed(types);
    }
    None
}

fn unify_sequences(types: &[Type]) -> Option<Type> {
    let tuples: Vec<&[Type]> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Tuple(elements) => Some(elements.as_slice()),
            _ => None,
        })
        .collect();
    let length = tuples.first().map_or(0, |tuple| tuple.len());
    if tuples.len() == types.len() && tuples.iter().all(|tuple| tuple.len() == length) {
        let element = |at: usize| unify(&tuples.iter().map(|tuple| tuple[at].clone()).collect::<Vec<_>>());
        return Some(Type::tuple((0..length).map(element).collect::<Option<Vec<_>>>()?));
    }
    let sets: Vec<Type> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Set(own) => Some((**own).clone()),
            _ => None,
        })
        .collect();
    // What is no set becomes one of those that are, whose elements decide; unless there is a list, which a set can become.
    let lists = types.iter().any(|ty| matches!(ty, Type::List(_)));
    if !sets.is_empty() && !lists {
        let element = unify(&sets)?;
        let fits = |ty: &Type| match ty {
            Type::Tuple(own) => own.iter().all(|own| may_become(own, &element)),
            _ => true,
        };
        return types.iter().all(fits).then(|| Type::set(element.clone()));
    }
    let mut elements = Vec::new();
    for ty in types {
        match ty {
            Type::Tuple(own) => elements.extend(own.iter().cloned()),
            Type::List(own) => elements.push((**own).clone()),
            _ => {}
        }
    }
    let element = unify_elements(elements)?;
    let fits = |set: &Type| may_become(set, &element);
    sets.iter().all(fits).then(|| Type::list(element.clone()))
}

fn unify_keyed(types: &[Type]) -> Option<Type> {
    let objects: Vec<&ObjectType> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Object(object) => Some(&**object),
            _ => None,
        })
        .collect();
    let same_names = |object: &&ObjectType| object.attributes.keys().eq(objects[0].attributes.keys());
    if objects.len() == types.len() && objects.iter().all(same_names) {
        let attribute = |name: &SmolStr| {
            let types: Vec<Type> = objects.iter().map(|object| object.attributes[name].clone()).collect();
            Some((name.clone(), unify(&types)?))
        };
        let attributes: Vec<_> = objects[0].attributes.keys().map(attribute).collect::<Option<_>>()?;
        return Some(Type::object(attributes));
    }
    let mut elements = Vec::new();
    for ty in types {
        match ty {
            Type::Object(object) => elements.extend(object.attributes.values().cloned()),
            Type::Map(own) => elements.push((**own).clone()),
            _ => {}
        }
    }
    // What may be of any type may become the type of the others, and this a map.
    let open = elements.contains(&Type::Any).then_some(Type::Any);
    Some(Type::map(unify_elements(elements).or(open)?))
}

/// The type of a collection's elements. A null among them, whose type is open, has no say.
fn unify_elements(mut types: Vec<Type>) -> Option<Type> {
    types.retain(|ty| *ty != Type::Any);
    if types.is_empty() { Some(Type::Any) } else { unify(&types) }
}

/// Whether a value of one type may convert to another; text may, if it says the right thing.
fn may_become(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::String, Type::Bool | Type::Number) => true,
        _ => unify(&[from.clone(), to.clone()]).is_some_and(|common| common == *to || common == Type::Any),
    }
}

/// The value as one of this type, where `any` within a collection stands for the type its elements have in common.
pub fn convert_unified(value: &Value, wanted: &Type) -> Result<Value, Vec<Mismatch>> {
    let settled = settle(value, wanted).map_err(|mismatch| vec![mismatch])?;
    convert(value, &settled)
}

/// The wanted type with its open element types replaced by those that the value asks for.
fn settle(value: &Value, wanted: &Type) -> Result<Type, Mismatch> {
    if !is_open(wanted) {
        return Ok(wanted.clone());
    }
    Ok(match (value.kind(), wanted) {
        (Kind::List(items) | Kind::Set(items), Type::List(element)) => {
            Type::list(settle_elements(value, items.iter(), element)?)
        }
        (Kind::List(items) | Kind::Set(items), Type::Set(element)) => {
            Type::set(settle_elements(value, items.iter(), element)?)
        }
        (Kind::Map(entries) | Kind::Object(entries), Type::Map(element)) => {
            Type::map(settle_elements(value, entries.iter().map(|(_, item)| item), element)?)
        }
        (Kind::Map(entries) | Kind::Object(entries), Type::Object(object)) => {
            let mut settled = (**object).clone();
            for (name, ty) in &mut settled.attributes {
                if let Some(item) = entries.get(name) {
                    *ty = settle(item, ty)?;
                }
            }
            Type::Object(settled.into())
        }
        (Kind::List(items), Type::Tuple(elements)) if items.len() == elements.len() => Type::tuple(
            items
                .iter()
                .zip(elements.iter())
                .map(|(item, ty)| settle(item, ty))
                .collect::<Result<Vec<_>, _>>()?,
        ),
        (Kind::Unknown(Type::Tuple(elements)), Type::List(element)) if **element == Type::Any => {
            Type::list(common(value, elements)?)
        }
        (Kind::Unknown(Type::Tuple(elements)), Type::Set(element)) if **element == Type::Any => {
            Type::set(common(value, elements)?)
        }
        (Kind::Unknown(Type::Object(object)), Type::Map(element)) if **element == Type::Any => {
            let types: Vec<Type> = object.attributes.values().cloned().collect();
            Type::map(common(value, &types)?)
        }
        (Kind::Unknown(Type::List(own) | Type::Set(own)), Type::List(element)) if **element == Type::Any => {
            Type::List(own.clone())
        }
        (Kind::Unknown(Type::List(own) | Type::Set(own)), Type::Set(element)) if **element == Type::Any => {
            Type::Set(own.clone())
        }
        (Kind::Unknown(Type::Map(own)), Type::Map(element)) if **element == Type::Any => {
            Type::Map(own.clone())
        }
        _ => wanted.clone(),
    })
}

fn settle_elements<'a>(
    whole: &Value,
    mut items: impl Iterator<Item = &'a Value> + Clone,
    element: &Type,
) -> Result<Type, Mismatch> {
    let mut types = Vec::new();
    for item in items.clone().filter(|item| !item.is_null()) {
        let ty = match settle(item, element)? {
            Type::Any => Type::of(item),
            settled => settled,
        };
        if !types.contains(&ty) {
            types.push(ty);
        }
    }
    if types.is_empty() {
        return Ok(element.clone());
    }
    let common = common(whole, &types)?;
    if is_open(&common) && common != Type::Any {
        // What is open in it, each element settles for itself.
        items.try_for_each(|item| settle(item, &common).map(drop))?;
    }
    Ok(common)
}

/// The type that the elements of a value have in common.
fn common(whole: &Value, types: &[Type]) -> Result<Type, Mismatch> {
    if types.is_empty() {
        return Ok(Type::Any);
    }
    unify(types).ok_or_else(|| Mismatch {
        path: Path::ROOT,
        origin: whole.origin(),
        message: "the elements have no type in common".to_owned(),
    })
}

/// Whether `any` stands in it.
fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Any => true,
        Type::Bool | Type::Number | Type::String => false,
        Type::List(element) | Type::Set(element) | Type::Map(element) => is_open(element),
        Type::Object(object) => object.attributes.values().any(is_open),
        Type::Tuple(elements) => elements.iter().any(is_open),
    }
}
