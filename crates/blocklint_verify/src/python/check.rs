//! The check of the paths of a Python model against the sources of its library.

use blocklint_facts::Flow;
use blocklint_models::{CallRow, Entry, Path, TypeExpr, TypeRow, segment_matches};

use super::entity::{Base, Entity};
use super::signature::lost_parameters;
use super::sources::Sources;
use crate::report::GlobExpansions;
use crate::rows::{RowView, arguments_of};

/// The checker of the rows of one model against the sources of one version of its library.
pub(crate) struct Checker<'a> {
    sources: &'a Sources<'a>,
    /// Paths of `[[call]]` rows without a glob.
    exact: Vec<&'a str>,
}

impl<'a> Checker<'a> {
    /// Returns a checker for the rows of a model.
    pub(crate) fn new(sources: &'a Sources<'a>, calls: &'a [Entry<CallRow>]) -> Self {
        let paths = calls.iter().flat_map(|entry| &entry.paths).filter(|path| !path.rank.is_glob());
        Checker { sources, exact: paths.map(|path| path.text.as_str()).collect() }
    }

    /// Returns the mistakes of a path of a row, and adds the names that a glob covers to `expansions`.
    pub(crate) fn check_path(&self, row: RowView<'_>, path: &Path, expansions: &mut GlobExpansions) -> Vec<String> {
        if path.rank.is_glob() {
            return self.check_glob(row, path, expansions);
        }
        let text = path.text.as_str();
        let mut targets = self.sources.resolve(text);
        if targets.is_empty() {
            return vec![self.missing_message(text)];
        }
        if targets.iter().all(Entity::is_outside) {
            return match &targets[0] {
                Entity::Outside(path) if !path.starts_with("builtins.") => {
                    vec![format!("leads to `{path}`, which is not at hand; give its package with --with")]
                }
                _ => Vec::new(),
            };
        }
        targets.retain(|entity| !entity.is_outside());
        match row {
            RowView::Type(row) => self.check_type(row, text, &targets),
            RowView::Call(call) => {
                let mut messages = self.check_call(call, text, &targets);
                messages.extend(self.check_arguments(row, &targets));
                messages.extend(self.check_twins(call, text, &targets));
                messages
            }
            RowView::Handover(_) => self.check_arguments(row, &targets),
        }
    }

    /// Returns the message about a path that does not exist, with its longest existing prefix.
    fn missing_message(&self, path: &str) -> String {
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

    fn check_glob(&self, row: RowView<'_>, path: &Path, expansions: &mut GlobExpansions) -> Vec<String> {
        let parts: Vec<&str> = path.text.split('.').collect();
        let first = parts.iter().position(|part| part.contains(['*', '['])).unwrap_or(parts.len());
        let head = parts[..first].join(".");
        let entities = self.sources.resolve(&head);
        if entities.is_empty() {
            return vec![self.missing_message(&parts[..(first + 1).min(parts.len())].join("."))];
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
        // If two owners have a member of one name, the later one counts.
        let covered: std::collections::BTreeMap<String, Vec<Entity>> = covered.into_iter().collect();
        expansions.0.push((path.text.clone(), covered.keys().cloned().collect()));
        if covered.is_empty() {
            return vec!["matches nothing".to_owned()];
        }
        let RowView::Call(row) = row else { return Vec::new() };
        if row.held_effect().is_none() || row.is_async == Some(true) {
            return Vec::new();
        }
        let coroutine_functions = covered.iter().filter(|(name, members)| {
            !self.exact.contains(&name.as_str()) && members.iter().all(|entity| self.sources.is_coroutine(entity))
        });
        coroutine_functions.map(|(name, _)| format!("covers the coroutine function `{name}`")).collect()
    }

    /// Checks that the targets of a call row are what it states: a property, async, lazy, or a plain function.
    fn check_call(&self, row: &CallRow, path: &str, targets: &[Entity]) -> Vec<String> {
        let single = |message: &str| vec![message.to_owned()];
        let functions: Vec<_> = targets.iter().filter_map(Entity::function).collect();
        if row.property {
            let is_read = |entity: &Entity| match entity {
                Entity::Value(_) => true,
                Entity::Function(function) => self.sources.is_property(function),
                _ => false,
            };
            return if targets.iter().any(is_read) { Vec::new() } else { single("is not a property") };
        }
        let only_functions = !functions.is_empty() && functions.len() == targets.len();
        if only_functions && functions.iter().all(|function| self.sources.is_property(function)) {
            return single("is a property; say `property = true`");
        }
        if let [Entity::Module(_)] = targets {
            return single("is a module");
        }
        let held = row.held_effect().is_some();
        let entities = || functions.iter().map(|function| Entity::Function(*function));
        if row.is_async == Some(true) {
            if !functions.is_empty() && !entities().any(|entity| self.sources.is_async(&entity)) {
                return single("is not seen to give something to await");
            }
        } else if held && !functions.is_empty() && entities().all(|entity| self.sources.is_coroutine(&entity)) {
            return single("is a coroutine function");
        }
        if held && row.is_async != Some(true) && !row.lazy && !path.ends_with(".__iter__") && !functions.is_empty() {
            let decorators: Vec<Vec<String>> = functions.iter().map(|f| self.sources.decorators(f)).collect();
            if decorators.iter().all(|names| names.iter().any(|name| name == "contextmanager")) {
                return single("is a context manager: the effect is that of entering it");
            }
            let is_generator = |(function, names): (&super::entity::Function, &Vec<String>)| {
                self.sources.flow(function) == Flow::Generator && names.is_empty()
            };
            if functions.iter().zip(&decorators).all(is_generator) {
                return single("is a generator function: say `lazy = true`");
            }
        }
        Vec::new()
    }

    fn check_type(&self, row: &TypeRow, path: &str, targets: &[Entity]) -> Vec<String> {
        let classes: Vec<_> = targets
            .iter()
            .filter_map(|entity| match entity {
                Entity::Class(class) => Some(*class),
                _ => None,
            })
            .collect();
        if classes.is_empty() {
            let is_value = targets.iter().any(|entity| matches!(entity, Entity::Value(_)));
            let may_be_value = is_value && (!row.fields.is_empty() || self.exact.contains(&path));
            return if may_be_value { Vec::new() } else { vec!["is not a class".to_owned()] };
        }
        let mut messages = Vec::new();
        let orders: Vec<Vec<Base>> = classes.iter().map(|class| self.sources.mro(*class)).collect();
        for base in row.bases.iter().filter_map(TypeExpr::path).filter(|base| !base.contains('<')) {
            let base_class = self.sources.resolve(base);
            let last = base.rsplit('.').next().unwrap_or(base);
            let is_same = |known: &Base| match known {
                Base::Class(class) => base_class.contains(&Entity::Class(*class)),
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

    /// Returns the mistakes of the arguments that a row refers to.
    fn check_arguments(&self, row: RowView<'_>, targets: &[Entity]) -> Vec<String> {
        let references = arguments_of(row);
        let signatures = if references.is_empty() { Vec::new() } else { self.sources.signatures(targets) };
        // One overload with the argument is enough; otherwise the message is about the first overload.
        let mismatch = |argument: &blocklint_models::Argument| {
            let messages: Vec<_> = signatures.iter().map(|signature| signature.mismatch(argument)).collect();
            if messages.iter().any(Option::is_none) { None } else { messages.into_iter().next().flatten() }
        };
        references.iter().filter_map(mismatch).collect()
    }

    fn check_twins(&self, row: &CallRow, path: &str, targets: &[Entity]) -> Vec<String> {
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
                let lost = lost_parameters(&self.sources.signatures(targets), &self.sources.signatures(&twins));
                messages.extend(lost.iter().map(|name| format!("twin `{target}` has no parameter `{name}`")));
            }
        }
        messages
    }

    /// Returns the mistake of an alias: both sides must be the same definition, or one class must derive from the
    /// other.
    pub(crate) fn check_alias(&self, left: &str, right: &str) -> Option<String> {
        if right.contains('<') {
            return None;
        }
        let (left_entities, right_entities) = (self.sources.resolve(left), self.sources.resolve(right));
        if left_entities.iter().chain(&right_entities).any(Entity::is_outside) {
            return None;
        }
        let is_missing = |path: &str| self.sources.module(path.split('.').next().unwrap_or("")).is_none();
        // One side is in another package that was not extracted, such as a facade.
        if is_missing(left) || is_missing(right) {
            return None;
        }
        if left_entities.is_empty() || right_entities.is_empty() {
            return Some(format!("`{}` does not exist", if left_entities.is_empty() { left } else { right }));
        }
        let is_same = left_entities.iter().any(|a| right_entities.iter().any(|b| self.is_same(a, b)));
        (!is_same).then(|| format!("is not `{right}`"))
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
