//! The check of a row of a Python model against the library.

use blocklint_facts::Flow;
use blocklint_models::{CallRow, Entry, Path, TypeExpr, TypeRow, segment_matches};

use super::entity::{Base, Entity};
use super::signature::lost_parameters;
use super::sources::Sources;
use crate::report::Found;
use crate::rows::{RowView, arguments_of};

/// Checks the rows of one file against one set of sources.
pub(crate) struct Checker<'a> {
    sources: &'a Sources<'a>,
    /// Paths of `[[call]]` rows without a glob.
    exact: Vec<&'a str>,
}

impl<'a> Checker<'a> {
    /// For the rows of one file.
    pub(crate) fn new(sources: &'a Sources<'a>, calls: &'a [Entry<CallRow>]) -> Self {
        let paths = calls.iter().flat_map(|entry| &entry.paths).filter(|path| !path.rank.is_glob());
        Checker { sources, exact: paths.map(|path| path.text.as_str()).collect() }
    }

    /// Returns the mistakes of one path of a row, and adds the names that a glob covers to `found`.
    pub(crate) fn path(&self, row: RowView<'_>, path: &Path, found: &mut Found) -> Vec<String> {
        if path.rank.is_glob() {
            return self.glob(row, path, found);
        }
        let text = path.text.as_str();
        let mut targets = self.sources.resolve(text);
        if targets.is_empty() {
            return vec![self.missing(text)];
        }
        if targets.iter().all(Entity::is_outside) {
            return match &targets[0] {
                Entity::Outside(to) if !to.starts_with("builtins.") => {
                    vec![format!("leads to `{to}`, which is not at hand; give its package with --with")]
                }
                _ => Vec::new(),
            };
        }
        targets.retain(|entity| !entity.is_outside());
        match row {
            RowView::Type(row) => self.ty(row, text, &targets),
            RowView::Call(call) => {
                let mut messages = self.kind(call, text, &targets);
                messages.extend(self.arguments(row, &targets));
                messages.extend(self.twins(call, text, &targets));
                messages
            }
            RowView::Handover(_) => self.arguments(row, &targets),
        }
    }

    fn missing(&self, path: &str) -> String {
        let parts: Vec<&str> = path.split('.').collect();
        for length in (1..parts.len()).rev() {
            let head = parts[..length].join(".");
            let known = self.sources.resolve(&head);
            if !known.is_empty() {
                let compiled = known.iter().any(|entity| match entity {
                    Entity::Module(module) => self.sources.is_compiled(*module),
                    _ => false,
                });
                let hint = if compiled { " in its sources; it is compiled and has no stub" } else { "" };
                return format!("`{head}` has no `{}`{hint}", parts[length]);
            }
        }
        format!("no module `{}`", parts[0])
    }

    fn glob(&self, row: RowView<'_>, path: &Path, found: &mut Found) -> Vec<String> {
        let parts: Vec<&str> = path.text.split('.').collect();
        let first = parts.iter().position(|part| part.contains(['*', '['])).unwrap_or(parts.len());
        let head = parts[..first].join(".");
        let entities = self.sources.resolve(&head);
        if entities.is_empty() {
            return vec![self.missing(&parts[..(first + 1).min(parts.len())].join("."))];
        }
        if path.rank.is_deep() {
            return Vec::new();
        }
        let mut covered = vec![(head, entities)];
        for part in &parts[first..] {
            let mut next = Vec::new();
            for (head, owners) in &covered {
                for owner in owners {
                    for (name, members) in self.sources.public_members(owner) {
                        if segment_matches(part, &name) {
                            next.push((format!("{head}.{name}"), members));
                        }
                    }
                }
            }
            covered = next;
        }
        let is_call = |entity: &Entity| match entity {
            Entity::Function(function) => !self.sources.is_property(function),
            Entity::Value(_) => true,
            _ => false,
        };
        for (_, members) in &mut covered {
            members.retain(is_call);
        }
        covered.retain(|(_, members)| !members.is_empty());
        // Of two owners the later one speaks for a name.
        let covered: std::collections::BTreeMap<String, Vec<Entity>> = covered.into_iter().collect();
        found.expansions.push((path.text.clone(), covered.keys().cloned().collect()));
        if covered.is_empty() {
            return vec!["matches nothing".to_owned()];
        }
        let RowView::Call(row) = row else { return Vec::new() };
        if row.held().is_none() || row.is_async == Some(true) {
            return Vec::new();
        }
        let loose = covered.iter().filter(|(name, members)| {
            !self.exact.contains(&name.as_str()) && members.iter().all(|entity| self.sources.is_coroutine(entity))
        });
        loose.map(|(name, _)| format!("covers the coroutine function `{name}`")).collect()
    }

    fn kind(&self, row: &CallRow, path: &str, found: &[Entity]) -> Vec<String> {
        let one = |message: &str| vec![message.to_owned()];
        let functions: Vec<_> = found.iter().filter_map(Entity::function).collect();
        if row.property {
            let is_read = |entity: &Entity| match entity {
                Entity::Value(_) => true,
                Entity::Function(function) => self.sources.is_property(function),
                _ => false,
            };
            return if found.iter().any(is_read) { Vec::new() } else { one("is not a property") };
        }
        let only_functions = !functions.is_empty() && functions.len() == found.len();
        if only_functions && functions.iter().all(|function| self.sources.is_property(function)) {
            return one("is a property; say `property = true`");
        }
        if let [Entity::Module(_)] = found {
            return one("is a module");
        }
        let held = row.held().is_some();
        let entities = || functions.iter().map(|function| Entity::Function(*function));
        if row.is_async == Some(true) {
            if !functions.is_empty() && !entities().any(|entity| self.sources.is_async(&entity)) {
                return one("is not seen to give something to await");
            }
        } else if held && !functions.is_empty() && entities().all(|entity| self.sources.is_coroutine(&entity)) {
            return one("is a coroutine function");
        }
        if held && row.is_async != Some(true) && !row.lazy && !path.ends_with(".__iter__") && !functions.is_empty() {
            let decorators: Vec<Vec<String>> = functions.iter().map(|f| self.sources.decorators(f)).collect();
            if decorators.iter().all(|names| names.iter().any(|name| name == "contextmanager")) {
                return one("is a context manager: the effect is that of entering it");
            }
            let generates = |(function, names): (&super::entity::Function, &Vec<String>)| {
                self.sources.flow(function) == Flow::Generator && names.is_empty()
            };
            if functions.iter().zip(&decorators).all(generates) {
                return one("is a generator function: say `lazy = true`");
            }
        }
        Vec::new()
    }

    fn ty(&self, row: &TypeRow, path: &str, found: &[Entity]) -> Vec<String> {
        let classes: Vec<_> = found
            .iter()
            .filter_map(|entity| match entity {
                Entity::Class(class) => Some(*class),
                _ => None,
            })
            .collect();
        if classes.is_empty() {
            let is_value = found.iter().any(|entity| matches!(entity, Entity::Value(_)));
            let is_meant = is_value && (!row.fields.is_empty() || self.exact.contains(&path));
            return if is_meant { Vec::new() } else { vec!["is not a class".to_owned()] };
        }
        let mut messages = Vec::new();
        let orders: Vec<Vec<Base>> = classes.iter().map(|class| self.sources.mro(*class)).collect();
        for base in row.bases.iter().filter_map(TypeExpr::path).filter(|base| !base.contains('<')) {
            let wanted = self.sources.resolve(base);
            let last = base.rsplit('.').next().unwrap_or(base);
            let is_same = |known: &Base| match known {
                Base::Class(class) => wanted.contains(&Entity::Class(*class)),
                Base::Builtin(name) => *name == last,
                Base::Outside(path) => path.rsplit('.').next() == Some(last),
            };
            if !orders.iter().flatten().any(is_same) {
                messages.push(format!("does not derive from `{base}`"));
            }
        }
        for (name, _) in &row.fields {
            if classes.iter().all(|class| self.sources.member(&Entity::Class(*class), name).is_empty()) {
                messages.push(format!("has no field `{name}`"));
            }
        }
        messages
    }

    fn arguments(&self, row: RowView<'_>, found: &[Entity]) -> Vec<String> {
        let references = arguments_of(row);
        let known = if references.is_empty() { Vec::new() } else { self.sources.signatures(found) };
        // Any overload may have the argument; else the first says what is wrong.
        let mismatch = |argument: &blocklint_models::Argument| {
            let messages: Vec<_> = known.iter().map(|signature| signature.mismatch(argument)).collect();
            if messages.iter().any(Option::is_none) { None } else { messages.into_iter().next().flatten() }
        };
        references.iter().filter_map(mismatch).collect()
    }

    fn twins(&self, row: &CallRow, path: &str, found: &[Entity]) -> Vec<String> {
        let mut messages = Vec::new();
        let name = path.rsplit('.').next().unwrap_or(path);
        for twin in row.instead.iter().flat_map(|instead| instead.all()) {
            let target = twin.replace('*', name);
            if self.sources.module(target.split('.').next().unwrap_or("")).is_none() {
                continue;
            }
            let mut twins = self.sources.resolve(&target);
            twins.retain(|entity| !entity.is_outside());
            if twins.is_empty() {
                messages.push(format!("twin `{target}` does not exist"));
                continue;
            }
            let functions = || twins.iter().filter(|entity| entity.function().is_some());
            if functions().next().is_none() {
                continue;
            }
            if !functions().any(|entity| self.sources.is_async(entity)) {
                messages.push(format!("twin `{target}` is not seen to give something to await"));
            } else if row.rewrite.is_none() {
                let lost = lost_parameters(&self.sources.signatures(found), &self.sources.signatures(&twins));
                messages.extend(lost.iter().map(|name| format!("twin `{target}` has no parameter `{name}`")));
            }
        }
        messages
    }

    /// Returns the mistake of an alias: both sides must be the same thing, or one class derive from the other.
    pub(crate) fn alias(&self, left: &str, right: &str) -> Option<String> {
        if right.contains('<') {
            return None;
        }
        let (one, other) = (self.sources.resolve(left), self.sources.resolve(right));
        if one.iter().chain(&other).any(Entity::is_outside) {
            return None;
        }
        let is_missing = |path: &str| self.sources.module(path.split('.').next().unwrap_or("")).is_none();
        // A facade in another package, which is not at hand.
        if is_missing(left) || is_missing(right) {
            return None;
        }
        if one.is_empty() || other.is_empty() {
            return Some(format!("`{}` does not exist", if one.is_empty() { left } else { right }));
        }
        let same = one.iter().any(|a| other.iter().any(|b| self.is_same(a, b)));
        (!same).then(|| format!("is not `{right}`"))
    }

    fn is_same(&self, a: &Entity, b: &Entity) -> bool {
        match (a, b) {
            (Entity::Value(_), _) | (_, Entity::Value(_)) | (Entity::Module(_), Entity::Module(_)) => true,
            (Entity::Function(a), Entity::Function(b)) => a.body == b.body,
            (Entity::Class(a), Entity::Class(b)) => {
                a == b
                    || self.sources.mro(*a).contains(&Base::Class(*b))
                    || self.sources.mro(*b).contains(&Base::Class(*a))
            }
            _ => a == b,
        }
    }
}
