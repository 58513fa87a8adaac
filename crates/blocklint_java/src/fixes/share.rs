//! Edits that share a scheduler: one that is created for each instance or call becomes a static field.
//!
//! No instance may dispose of a shared scheduler, so its `dispose()` is removed. The instance disposes of its own
//! subscriptions there instead, which are collected in a new field. If other code depends on the end of the scheduler,
//! the edit is only displayed.

use blocklint_core::{Applicability, Publishers, Refusal, Span};
use tree_sitter::Node;

use super::uses::{Ending, Uses, uses};
use super::{Edits, File, Shape, insert, replace};
use crate::kinds::{K, has, kind, named};
use crate::walker::span;

/// Methods that create a scheduler, with the index of the argument that is its name.
const MAKERS: &[(&str, usize)] =
    &[("newSingle", 0), ("newParallel", 0), ("newElastic", 0), ("newBoundedElastic", BOUNDED_NAME)];
/// The index of a bounded scheduler's name, after the limits of threads and tasks.
const BOUNDED_NAME: usize = 2;
/// Methods that create a scheduler from an executor.
const WRAPPERS: &[&str] = &["fromExecutor", "fromExecutorService"];
/// The name of a new field for a composite of subscriptions.
const SUBSCRIPTIONS: &str = "subscriptions";

/// A written fix.
pub(super) type Shared = (Shape, Applicability, Edits);

impl<'t> File<'_, 't> {
    /// Returns the edits for a call that creates a scheduler.
    pub(super) fn share_scheduler(&self, call: Node<'t>, publishers: Publishers) -> Result<Shared, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(class) = self.class_for_static_field(call) else {
            return refuse("the class around cannot hold a static field");
        };
        let (creation, shared) = self.shared_scheduler(call, class, publishers)?;
        let parent = creation.parent().unwrap_or(creation);
        match kind(parent) {
            K::VariableDeclarator if parent.parent().is_some_and(|field| kind(field) == K::FieldDeclaration) => {
                self.share_field(class, parent, creation, &shared, publishers)
            }
            K::Assignment => self.share_constructor(class, parent, creation, &shared, publishers),
            K::Invocation => self.share_argument(class, creation, &shared, publishers),
            _ if parent.kind() == "argument_list" => self.share_argument(class, creation, &shared, publishers),
            K::VariableDeclarator => self.share_local(class, parent, creation, &shared, publishers),
            _ => refuse("the place that creates and shuts down the shared object must be chosen by hand"),
        }
    }

    /// Returns the expression that creates the scheduler, and the text that creates the shared one.
    fn shared_scheduler(
        &self,
        call: Node<'t>,
        class: Node<'t>,
        publishers: Publishers,
    ) -> Result<(Node<'t>, String), Refusal> {
        let is_of = |call: Node<'t>| {
            call.child_by_field_name("object")
                .is_some_and(|object| self.imports.means(self.text(object), publishers.schedulers))
        };
        let name = call.child_by_field_name("name").map(|name| self.text(name)).unwrap_or_default();
        let schedulers = self.imports.name_of(publishers.schedulers);
        let bounded = |cap: &str, queue: &str, name: &str, ttl: &str| {
            // No code disposes of it, so its threads are daemons.
            format!("{schedulers}.newBoundedElastic({cap}, {queue}, {name}, {ttl}, true)")
        };
        let (cap, queue) = (publishers.cap, publishers.queue);
        let indent = class.child_by_field_name("body").and_then(|body| self.indent_in(body).ok()).unwrap_or_default();
        // The constants have long names, so the arguments are on a line of their own.
        let default = |name: &str| {
            bounded(&format!("\n{indent}{indent}{schedulers}.{cap}"), &format!("{schedulers}.{queue}"), name, TTL)
        };
        if is_of(call) {
            let Some(&(_, at)) = MAKERS.iter().find(|(maker, _)| *maker == name) else {
                return Err(Refusal::new("the creation depends on the instance, so it cannot become static"));
            };
            let arguments: Vec<Node<'t>> =
                call.child_by_field_name("arguments").map(|list| named(list).collect()).unwrap_or_default();
            let Some(label) = arguments.get(at).filter(|label| kind(**label) == K::String) else {
                return Err(Refusal::new("its name or thread factory uses values of other code"));
            };
            let label = self.text(*label);
            if at != BOUNDED_NAME {
                return Ok((call, default(label)));
            }
            let numbers = [0, 1].map(|at| arguments[at]);
            if !numbers.iter().all(|number| self.is_constant(*number)) {
                return Err(Refusal::new("each instance sets its own limit"));
            }
            let ttl = arguments.get(at + 1).filter(|ttl| self.is_constant(**ttl)).map_or(TTL, |ttl| self.text(*ttl));
            return Ok((call, bounded(self.text(numbers[0]), self.text(numbers[1]), label, ttl)));
        }
        let wrapper = super::place::only_argument_of(call).filter(|wrapper| {
            let name = wrapper.child_by_field_name("name").map(|name| self.text(name));
            is_of(*wrapper) && name.is_some_and(|name| WRAPPERS.contains(&name))
        });
        match wrapper {
            Some(wrapper) => Ok((wrapper, default(&format!("\"{}\"", self.scheduler_name(class))))),
            None => Err(Refusal::new("the place that creates and shuts down the shared object must be chosen by hand")),
        }
    }

    /// True if an expression is a number, or a constant of another class.
    fn is_constant(&self, node: Node<'t>) -> bool {
        matches!(kind(node), K::DecimalInteger | K::HexInteger)
            || kind(node) == K::FieldAccess && self.text(node).rsplit('.').next().is_some_and(is_upper)
    }

    /// Returns a scheduler's name for a class: `Client` → `client`, `HttpClient` → `http-client`.
    fn scheduler_name(&self, class: Node<'t>) -> String {
        let name = class.child_by_field_name("name").map(|name| self.text(name)).unwrap_or("shared");
        words(name).join("-").to_lowercase()
    }

    /// Returns the class declaration around a node.
    fn class_around(&self, node: Node<'t>) -> Option<Node<'t>> {
        let mut ancestor = node;
        loop {
            ancestor = ancestor.parent()?;
            if matches!(kind(ancestor), K::ClassDeclaration | K::RecordDeclaration | K::EnumDeclaration) {
                return Some(ancestor);
            }
        }
    }

    /// Returns the innermost class around a node that can have a static field.
    fn class_for_static_field(&self, node: Node<'t>) -> Option<Node<'t>> {
        let mut class = node;
        loop {
            class = self.class_around(class)?;
            let body = class.parent()?;
            // Before Java 16 inner and local classes have no static members.
            let is_free = kind(body) == K::Program
                || kind(body) == K::ClassBody
                    && self.modifiers_of(class).is_some_and(|modifiers| has(modifiers, K::Static));
            if kind(class) == K::ClassDeclaration && is_free {
                return Some(class);
            }
        }
    }

    fn modifiers_of(&self, declaration: Node<'t>) -> Option<Node<'t>> {
        named(declaration).find(|part| kind(*part) == K::Modifiers)
    }

    /// Shares the scheduler of a field: `private final Scheduler own = Schedulers.newSingle("own");`.
    fn share_field(
        &self,
        class: Node<'t>,
        declarator: Node<'t>,
        creation: Node<'t>,
        shared: &str,
        publishers: Publishers,
    ) -> Result<Shared, Refusal> {
        let (field, uses) = self.private_field_uses(class, declarator, publishers)?;
        if !uses.assigned.is_empty() {
            return Err(Refusal::new("the field is assigned more than once"));
        }
        let mut edits = vec![replace(creation, shared)];
        let applicability = self.convert_field(class, field, declarator, &uses, publishers, &mut edits)?;
        Ok((Shape::FieldShared, applicability, edits))
    }

    /// Shares the scheduler of a constructor: `this.own = Schedulers.newSingle("own");`.
    fn share_constructor(
        &self,
        class: Node<'t>,
        assignment: Node<'t>,
        creation: Node<'t>,
        shared: &str,
        publishers: Publishers,
    ) -> Result<Shared, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let target = assignment.child_by_field_name("left");
        let name = target.map(|target| match kind(target) {
            K::FieldAccess => target.child_by_field_name("field").map(|field| self.text(field)).unwrap_or_default(),
            _ => self.text(target),
        });
        let statement = assignment.parent().filter(|statement| kind(*statement) == K::ExprStatement);
        let is_own = statement.and_then(|statement| statement.parent()).is_some_and(|block| {
            kind(block) == K::ConstructorBody && assignment.child_by_field_name("right") == Some(creation)
        });
        let (Some(name), Some(statement), true) = (name, statement, is_own) else {
            return refuse("the place that creates and shuts down the shared object must be chosen by hand");
        };
        let Some(declarator) = self.declarator_of(class, name) else {
            return refuse("its field is declared in another file");
        };
        let (field, uses) = self.private_field_uses(class, declarator, publishers)?;
        if uses.assigned.len() != 1 || declarator.child_by_field_name("value").is_some() {
            return refuse("the field is assigned more than once");
        }
        let mut edits = vec![(self.whole_lines(statement), String::new())];
        edits.push(insert(declarator.end_byte(), format!(" = {shared}")));
        let applicability = self.convert_field(class, field, declarator, &uses, publishers, &mut edits)?;
        Ok((Shape::ConstructorShared, applicability, edits))
    }

    /// Shares the scheduler of an argument: `.subscribeOn(Schedulers.newSingle("inline"))`.
    fn share_argument(
        &self,
        class: Node<'t>,
        creation: Node<'t>,
        shared: &str,
        publishers: Publishers,
    ) -> Result<Shared, Refusal> {
        let mut edits = self.new_field(class, &self.constant_name(class, shared), shared, publishers)?;
        edits.push(replace(creation, self.constant_name(class, shared)));
        Ok((Shape::InlineShared, Applicability::Unsafe, edits))
    }

    /// Shares the scheduler of a local variable: `Scheduler own = Schedulers.newSingle("own");`.
    fn share_local(
        &self,
        class: Node<'t>,
        declarator: Node<'t>,
        creation: Node<'t>,
        shared: &str,
        publishers: Publishers,
    ) -> Result<Shared, Refusal> {
        let name = declarator.child_by_field_name("name").map(|name| self.text(name)).unwrap_or_default();
        let mut scope = declarator;
        while let Some(parent) = scope.parent().filter(|_| kind(scope) != K::Block) {
            scope = parent;
        }
        let uses = uses(self, scope, declarator, name, publishers)?;
        if !uses.assigned.is_empty() {
            return Err(Refusal::new("the local is assigned more than once"));
        }
        let constant = self.constant_name(class, shared);
        let mut edits = self.new_field(class, &constant, shared, publishers)?;
        edits.push(replace(creation, constant));
        for Ending { statement, .. } in &uses.endings {
            edits.push((self.whole_lines(*statement), String::new()));
        }
        // The removed `dispose()` also ended the tasks of the scheduler, so the edit is only displayed.
        let applicability = if uses.endings.is_empty() { Applicability::Unsafe } else { Applicability::Display };
        Ok((Shape::LocalShared, applicability, edits))
    }

    /// Returns an unused name for the constant, made of the scheduler's name.
    fn constant_name(&self, class: Node<'t>, shared: &str) -> String {
        let label = shared.split('"').nth(1).unwrap_or_default();
        let mut name = upper(label);
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            name = "SHARED".to_owned();
        }
        if !name.contains("SCHEDULER") {
            name.push_str("_SCHEDULER");
        }
        self.unused_name(&name, class)
    }

    /// Returns the edits that add a static field at the beginning of a class.
    fn new_field(&self, class: Node<'t>, name: &str, shared: &str, publishers: Publishers) -> Result<Edits, Refusal> {
        let Some(body) = class.child_by_field_name("body") else {
            return Err(Refusal::new("the class around cannot hold a static field"));
        };
        let indent = self.indent_in(body)?;
        let ty = self.imports.name_of(publishers.scheduler);
        let mut edits = self.imports.edits(&[publishers.scheduler]);
        let line = format!("\n{indent}private static final {ty} {name} = {shared};");
        edits.push(insert(body.start_byte() + 1, format!("{line}\n")));
        Ok(edits)
    }

    /// Returns the indentation of the first member of a class.
    fn indent_in(&self, body: Node<'t>) -> Result<&str, Refusal> {
        let first = named(body).next().map_or(0, |member| member.start_byte());
        let before = self.source.get(..first).unwrap_or_default();
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        if line.trim().is_empty() { Ok(line) } else { Err(Refusal::new("the class is on one line")) }
    }

    /// Returns the declarator of a field of a class.
    fn declarator_of(&self, class: Node<'t>, name: &str) -> Option<Node<'t>> {
        let body = class.child_by_field_name("body")?;
        let fields = named(body).filter(|member| kind(*member) == K::FieldDeclaration);
        let mut declarators = fields.flat_map(named).filter(|part| kind(*part) == K::VariableDeclarator);
        declarators
            .find(|part| part.child_by_field_name("name").is_some_and(|declared_name| self.text(declared_name) == name))
    }

    /// Returns the declaration of a private field, and its uses.
    fn private_field_uses(
        &self,
        class: Node<'t>,
        declarator: Node<'t>,
        publishers: Publishers,
    ) -> Result<(Node<'t>, Uses<'t>), Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(field) = declarator.parent() else { return refuse("its field is declared in another file") };
        if field.parent() != class.child_by_field_name("body") {
            return refuse("the class around cannot hold a static field");
        }
        if named(field).filter(|part| kind(*part) == K::VariableDeclarator).count() != 1 {
            return refuse("several fields are declared at once");
        }
        let modifiers = self.modifiers_of(field).map(|modifiers| self.text(modifiers)).unwrap_or_default();
        if !modifiers.split_whitespace().any(|word| word == "private") {
            return refuse("the field is not private, so other classes may use it");
        }
        if modifiers.split_whitespace().any(|word| word != "private" && word != "final") {
            return refuse("the field has modifiers that a constant cannot have");
        }
        let is_scheduler =
            field.child_by_field_name("type").is_some_and(|ty| self.imports.means(self.text(ty), publishers.scheduler));
        if !is_scheduler {
            return refuse("the field is not declared as a `Scheduler`");
        }
        let name = declarator.child_by_field_name("name").map(|name| self.text(name)).unwrap_or_default();
        Ok((field, uses(self, self.root, declarator, name, publishers)?))
    }

    /// Makes the field a constant, and replaces its `dispose()` by one of the subscriptions that the instance started.
    fn convert_field(
        &self,
        class: Node<'t>,
        field: Node<'t>,
        declarator: Node<'t>,
        uses: &Uses<'t>,
        publishers: Publishers,
        edits: &mut Edits,
    ) -> Result<Applicability, Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let (Some(modifiers), Some(name)) = (self.modifiers_of(field), declarator.child_by_field_name("name")) else {
            return refuse("its field is declared in another file");
        };
        edits.push(replace(modifiers, "private static final"));
        let constant_name = upper(self.text(name));
        let constant = self.unused_name(&constant_name, class);
        edits.push(replace(name, &*constant));
        for &(_, read) in &uses.reads {
            edits.push(replace(read, &*constant));
        }
        let Some(first) = uses.endings.first() else { return Ok(Applicability::Unsafe) };
        let starts: Vec<_> = uses.starts.iter().collect();
        if starts.is_empty() {
            edits.extend(uses.endings.iter().map(|ending| (self.whole_lines(ending.statement), String::new())));
            // The subscriber of a returned chain disposes of its subscription.
            let is_plain = uses.reads.iter().all(|(kept, _)| *kept);
            return Ok(if is_plain { Applicability::Unsafe } else { Applicability::Display });
        }
        if uses.endings.len() != 1 {
            return refuse("it is disposed of in several places");
        }
        let composite = self.unused_name(SUBSCRIPTIONS, class);
        let indent = self.indent_in(class.child_by_field_name("body").unwrap_or(class))?;
        let (subscription, all) =
            (self.imports.name_of(publishers.subscription), self.imports.name_of(publishers.subscriptions));
        edits.extend(self.imports.edits(&[publishers.subscription, publishers.subscriptions]));
        let line = format!("\n{indent}private final {subscription}.Composite {composite} = {all}.composite();");
        edits.push(insert(field.end_byte(), line));
        edits.push(replace(first.call, format!("{composite}.dispose()")));
        for start in &starts {
            edits.push(insert(start.expression.start_byte(), format!("{composite}.add(")));
            edits.push(insert(start.expression.end_byte(), ")"));
        }
        let is_local = starts.iter().all(|start| start.once) && uses.reads.iter().all(|(kept, _)| *kept);
        Ok(if is_local { Applicability::Unsafe } else { Applicability::Display })
    }

    /// Returns the span of a statement, with its whole line if it is alone on it.
    fn whole_lines(&self, statement: Node<'t>) -> Span {
        let (start, end) = (statement.start_byte(), statement.end_byte());
        let before = self.source.get(..start).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let after = self.source.get(end..).unwrap_or_default();
        let rest = after.find('\n').map_or(after.len(), |at| at + 1);
        let is_alone = before[line..].trim().is_empty() && after[..rest].trim().is_empty();
        if is_alone { Span::new(line as u32, (end + rest) as u32) } else { span(statement) }
    }
}

/// The library's default for the seconds after which an idle thread ends.
const TTL: &str = "60";

fn is_upper(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// `refreshScheduler`, `refresh-scheduler` → `REFRESH_SCHEDULER`.
fn upper(name: &str) -> String {
    words(name).join("_").to_uppercase()
}

fn words(name: &str) -> Vec<String> {
    let mut words_of_name: Vec<String> = Vec::new();
    let mut lower = false;
    for c in name.chars() {
        let is_word = c.is_ascii_alphanumeric();
        match words_of_name.last_mut().filter(|_| is_word && !(c.is_ascii_uppercase() && lower)) {
            Some(word) if is_word => word.push(c),
            _ if is_word => words_of_name.push(c.to_string()),
            _ => words_of_name.push(String::new()),
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words_of_name.retain(|word| !word.is_empty());
    words_of_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_constants() {
        assert_eq!(upper("refreshScheduler"), "REFRESH_SCHEDULER");
        assert_eq!(upper("refresh-scheduler 2"), "REFRESH_SCHEDULER_2");
        assert_eq!(words("HttpClient").join("-").to_lowercase(), "http-client");
    }
}
