//! What classes derive from, and what all they have.

use std::sync::LazyLock;

use blocklint_facts::Form;
use regex::Regex;

use super::builtins::builtin_type;
use super::entity::{Base, ClassRef, Entity};
use super::evaluate::Place;
use super::sources::Sources;

/// Bases that say something about types only.
static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(typing|typing_extensions|abc|_typeshed)\.|^(Generic|Protocol|ABC|NamedTuple)\b").ok()
});

/// Bases of one class that are looked at.
const MOST: usize = 200;

impl Sources {
    /// What a class derives from.
    fn bases(&self, class: ClassRef) -> Vec<Base> {
        let file = self.file(class.file);
        let facts = &file.facts;
        let row = facts.class(class.class);
        let mut nodes = facts.list(row.bases).to_vec();
        for &node in facts.list(row.bases) {
            // `with_metaclass(Meta, Base)` and the like.
            if let Form::Result(site) = facts.form(node) {
                nodes.extend(facts.args_of(site).iter().map(|arg| arg.value));
            }
        }
        let owner = self.outer(class);
        let mut found = Vec::new();
        for node in nodes {
            let before = found.len();
            for base in self.evaluate(node, Place { file: class.file, owner }) {
                match base {
                    Entity::Class(base) | Entity::Instance(base) if base != class => found.push(Base::Class(base)),
                    Entity::Value(value) => {
                        found.extend(self.value_of(&value).into_iter().filter_map(|entity| match entity {
                            Entity::Class(base) => Some(Base::Class(base)),
                            Entity::Outside(path) => Some(Base::Outside(path)),
                            _ => None,
                        }));
                    }
                    Entity::Outside(path) => {
                        let plain = path.strip_prefix("builtins.").unwrap_or(&path);
                        found.push(match builtin_type(plain) {
                            Some(known) => Base::Builtin(known.name),
                            None => Base::Outside(path),
                        });
                    }
                    _ => {}
                }
            }
            if found.len() == before {
                found.push(Base::Outside(self.text(class.file, node).into()));
            }
        }
        let is_plain =
            |base: &Base| matches!((base, &*PLAIN), (Base::Outside(path), Some(plain)) if plain.is_match(path));
        found.retain(|base| !is_plain(base));
        found
    }

    /// A class and all it derives from, nearest first.
    pub(super) fn mro(&self, class: ClassRef) -> Vec<Base> {
        let mut order: Vec<Base> = Vec::new();
        let mut queue = vec![Base::Class(class)];
        while !queue.is_empty() {
            let entry = queue.remove(0);
            if order.contains(&entry) {
                continue;
            }
            if let Base::Class(of) = &entry
                && order.len() < MOST
            {
                let mut next = self.bases(*of);
                next.append(&mut queue);
                queue = next;
            }
            order.push(entry);
        }
        order
    }

    /// The class in whose body a class stands.
    pub(super) fn outer(&self, class: ClassRef) -> Option<ClassRef> {
        let file = self.file(class.file);
        let parent = file.facts.class(class.class).parent.get()?;
        let at = file.facts.classes.iter().position(|row| row.body == parent)?;
        Some(ClassRef { file: class.file, class: blocklint_facts::ClassId(at as u32) })
    }

    /// Everything without a leading underscore that a glob may mean, inherited names included, sorted.
    pub(super) fn public_members(&self, entity: &Entity) -> Vec<(String, Vec<Entity>)> {
        let mut names: Vec<String> = Vec::new();
        self.public_names(entity, &mut names, 0);
        names.sort();
        names.dedup();
        names.retain(|name| !name.starts_with('_'));
        names.into_iter().map(|name| (name.clone(), self.member(entity, &name))).collect()
    }

    fn public_names(&self, entity: &Entity, names: &mut Vec<String>, depth: u32) {
        match entity {
            Entity::Module(module) if depth < 32 => {
                let scope = self.module_scope(*module);
                names.extend(scope.order.iter().map(ToString::to_string));
                for star in &scope.stars {
                    if let Some(source) = self.module(star).filter(|source| source != module) {
                        self.public_names(&Entity::Module(source), names, depth + 1);
                    }
                }
            }
            Entity::Instance(class) | Entity::Class(class) => {
                for base in self.mro(*class) {
                    if let Base::Class(base) = base {
                        names.extend(self.class_scope(base).order.iter().map(ToString::to_string));
                    }
                }
            }
            _ => {}
        }
    }
}
