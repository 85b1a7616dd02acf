//! Blocks that change others: override files as in Terraform, and our own files, which add to what `.tf` files declare.

use trueup_core::Diagnostics;

use super::at;
use super::blocks::subject;
use super::resource::NESTED;
use crate::syntax::{Block, Body, BodyShape, Item};

/// Merges the blocks of override files into those they override: attributes take the place of those of the same name,
/// nested blocks the place of all of the same name; `lifecycle` is merged word by word.
pub(super) fn override_blocks(
    primary: &mut Vec<Block>,
    overrides: Vec<Block>,
    diagnostics: &mut Diagnostics,
) {
    for over in overrides {
        match over.name.text.as_str() {
            "locals" => override_locals(primary, over, diagnostics),
            // These have no names to be found by: they count as if they stood in an ordinary file.
            "terraform" | "stack" | "moved" | "removed" | "import" => primary.push(over),
            _ => match primary.iter_mut().find(|block| same_name(block, &over)) {
                Some(block) => merge(block, over, diagnostics),
                // A provider without a block has an empty configuration, which may be overridden.
                None if over.name.text == "provider" && alias(&over).is_none() => primary.push(over),
                None => {
                    let alias = alias(&over).map_or(String::new(), |it| format!(" with the alias `{it}`"));
                    let summary = format!("there is no {}{alias} to override", subject(&over));
                    let hint = "declare it in a file whose name does not end in `override.tf`";
                    diagnostics.push(at(over.header, summary).hint(hint));
                }
            },
        }
    }
}

/// Adds the blocks of our own files. A resource that is declared elsewhere may get our words and nothing else, so that
/// the other files stay valid for Terraform.
pub(super) fn add_blocks(primary: &mut Vec<Block>, additions: Vec<Block>, diagnostics: &mut Diagnostics) {
    let declared = primary.len();
    for addition in additions {
        let known = primary[..declared].iter_mut().find(|block| same_name(block, &addition));
        match known {
            Some(block) if matches!(block.name.text.as_str(), "resource" | "data" | "ephemeral") => {
                for item in &addition.body.items {
                    if !matches!(item.name().text.as_str(), "lifecycle" | "bind") {
                        let summary = format!("{} is declared elsewhere already", subject(&addition));
                        let hint = "here it may only get `lifecycle` and `bind`";
                        diagnostics.push(at(item.name().origin, summary).hint(hint));
                    }
                }
                let mut addition = addition;
                addition.body.items.retain(|it| matches!(it.name().text.as_str(), "lifecycle" | "bind"));
                merge(block, addition, diagnostics);
            }
            _ => primary.push(addition),
        }
    }
}

fn same_name(block: &Block, other: &Block) -> bool {
    let labels = |block: &Block| block.labels.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    block.name.text == other.name.text && labels(block) == labels(other) && alias(block) == alias(other)
}

/// The alias of a provider block, which is part of its name.
fn alias(block: &Block) -> Option<&str> {
    let alias = block.body.attribute("alias").filter(|_| block.name.text == "provider")?;
    alias.value.as_literal_str()
}

fn merge(block: &mut Block, mut over: Block, diagnostics: &mut Diagnostics) {
    shape_resource(block, diagnostics);
    shape_resource(&mut over, diagnostics);
    block.body.json |= over.body.json;
    let mut replaced: Vec<smol_str::SmolStr> = Vec::new();
    for item in over.body.items {
        match item {
            Item::Attribute(attribute) => {
                let own =
                    |it: &Item| matches!(it, Item::Attribute(own) if own.name.text == attribute.name.text);
                match block.body.items.iter().position(own) {
                    Some(found) => block.body.items[found] = Item::Attribute(attribute),
                    None => block.body.items.push(Item::Attribute(attribute)),
                }
            }
            Item::Block(inner) if inner.name.text == "lifecycle" => {
                let own = block.body.items.iter_mut().find_map(|it| match it {
                    Item::Block(own) if own.name.text == "lifecycle" => Some(own),
                    _ => None,
                });
                match own {
                    Some(own) => merge(own, inner, diagnostics),
                    None => block.body.items.push(Item::Block(inner)),
                }
            }
            Item::Block(inner) => {
                let name = block_name(&inner);
                if !replaced.contains(&name) {
                    let own = |it: &Item| matches!(it, Item::Block(own) if block_name(own) == name);
                    block.body.items.retain(|it| !own(it));
                    replaced.push(name);
                }
                block.body.items.push(Item::Block(inner));
            }
        }
    }
}

/// JSON does not tell blocks from attributes, and they are merged in different ways: those that each resource may have
/// are told apart here. What only its provider knows is not, so the body stays what it was.
fn shape_resource(block: &mut Block, diagnostics: &mut Diagnostics) {
    if block.body.json && matches!(block.name.text.as_str(), "resource" | "data" | "ephemeral") {
        let body = block.body.clone().shaped(BodyShape { blocks: NESTED }, diagnostics);
        block.body = Body { json: true, ..body };
    }
}

/// What a nested block makes: a dynamic one what its label says.
fn block_name(block: &Block) -> smol_str::SmolStr {
    match block.labels.first() {
        Some(label) if block.name.text == "dynamic" => label.text.clone(),
        _ => block.name.text.clone(),
    }
}

fn override_locals(primary: &mut [Block], over: Block, diagnostics: &mut Diagnostics) {
    for item in over.body.items {
        let own = primary.iter_mut().filter(|block| block.name.text == "locals");
        let own = own.flat_map(|block| &mut block.body.items).find(|it| it.name().text == item.name().text);
        match own {
            Some(own) => *own = item,
            None => {
                let summary = format!("there is no local value `{}` to override", item.name().text);
                let hint = "declare it in a file whose name does not end in `override.tf`";
                diagnostics.push(at(item.name().origin, summary).hint(hint));
            }
        }
    }
}
