//! Edits of blocking calls in lambdas of a reactive chain, and in arguments that create a chain.

use blocklint_core::{Publishers, Refusal};
use tree_sitter::Node;

use super::place::{Around, argument_of, around, is_result_of, only_argument_of};
use super::{Edits, File, Shape, Wish, insert, replace};
use crate::kinds::{K, kind};
use crate::walker::span;

/// Methods that create a publisher of the result of a callable.
const SOURCES: &[&str] = &["fromCallable", "fromSupplier", "fromRunnable", "defer"];
/// Those of [`SOURCES`] whose callable returns the value.
const VALUES: &[&str] = &["fromCallable", "fromSupplier"];
/// Final types: the type of a value is exactly this one.
const FINAL: &[&str] = &["String", "Boolean", "Integer", "Long", "Double", "Byte", "Character", "byte[]"];
/// Operators whose callable runs on the thread on which the value before arrives.
const OPERATORS: &[&str] = &[
    "map",
    "mapNotNull",
    "flatMap",
    "flatMapMany",
    "flatMapIterable",
    "flatMapSequential",
    "concatMap",
    "concatMapIterable",
    "switchMap",
    "filter",
    "filterWhen",
    "handle",
    "doOnNext",
    "doOnSuccess",
    "doOnEach",
    "reduce",
    "scan",
    "onErrorResume",
    "onErrorMap",
];

impl<'t> File<'_, 't> {
    /// Returns the edits for a call in a chain, and their shape.
    pub(super) fn edit_chain(&self, call: Node<'t>, wish: Wish<'_>) -> Result<(Shape, Edits), Refusal> {
        let factory = only_argument_of(call).filter(|factory| self.factory_call(*factory, wish.of).is_some());
        if let Some(factory) = factory {
            return self.edit_argument(call, factory, wish);
        }
        match around(call) {
            Around::Lambda(lambda) => self.edit_in_lambda(call, lambda, wish),
            Around::Method(method) if wish.offload => self.defer_method(method, wish.of),
            Around::Method(_) => Err(Refusal::new("the publisher must become part of the surrounding chain")),
            Around::Other => Err(Refusal::new("the call is in no method")),
        }
    }

    /// Returns the name of a static method call on a publisher class, and true if it is the class of many values.
    fn factory_call(&self, call: Node<'t>, publishers: Publishers) -> Option<(&str, bool)> {
        let object = self.text(call.child_by_field_name("object")?);
        let name = self.text(call.child_by_field_name("name")?);
        let many = if self.imports.means(object, publishers.one) {
            false
        } else if self.imports.means(object, publishers.many) {
            true
        } else {
            return None;
        };
        Some((name, many))
    }

    /// Returns the text of `Schedulers.boundedElastic()`; the caller imports the class.
    pub(super) fn worker_scheduler(&self, publishers: Publishers) -> String {
        format!("{}.{}", self.imports.name_of(publishers.schedulers), publishers.workers)
    }

    /// Returns the white space before the next call of a chain, which is a line break if the calls are on lines of
    /// their own.
    fn gap_behind(&self, call: Node<'t>) -> &str {
        let next = call.parent().filter(|next| next.child_by_field_name("object") == Some(call));
        let Some(name) = next.and_then(|next| next.child_by_field_name("name")) else { return "" };
        self.gap_between(call, name)
    }

    /// Returns the white space between a receiver and the dot before the method's name.
    fn gap_between(&self, object: Node<'t>, name: Node<'t>) -> &str {
        let between = self.source.get(object.end_byte()..name.start_byte()).unwrap_or_default();
        let gap = between.split('.').next().unwrap_or_default();
        if gap.trim().is_empty() { gap } else { "" }
    }

    /// Returns the edits for a call that is the argument of a factory: `Mono.just(call())`.
    fn edit_argument(&self, call: Node<'t>, factory: Node<'t>, wish: Wish<'_>) -> Result<(Shape, Edits), Refusal> {
        let publishers = wish.of;
        let Some((name, many)) = self.factory_call(factory, publishers) else {
            return Err(Refusal::new("the call is not an argument of `Mono.just` or the like"));
        };
        let top = match around(factory) {
            Around::Lambda(node) | Around::Method(node) => node,
            Around::Other => return Err(Refusal::new("the call is in no method")),
        };
        self.check_catches(call, top)?;
        if let Around::Method(method) = around(factory)
            && let Some(shared) = self.edit_of_enclosing_method(call, method)
        {
            return Ok(shared);
        }
        if let Some(template) = wish.template
            && (name, many) == ("just", false)
        {
            let (text, mut edits) = self.fill_template(call, template)?;
            edits.push(replace(factory, text));
            return Ok((Shape::JustToPublisher, edits));
        }
        if !wish.offload {
            return Err(Refusal::new("the publisher must become part of the surrounding chain"));
        }
        let shape = match (name, many) {
            ("just", false) => Shape::JustToCallable,
            ("fromIterable", true) => Shape::IterableToCallable,
            _ => return Err(Refusal::new(format!("`{name}` has no form that computes its argument later"))),
        };
        let mut body = top;
        // The lambda can also capture locals of the methods and lambdas around.
        while let Around::Lambda(node) | Around::Method(node) = around(body) {
            body = node;
        }
        self.check_captures(call, body)?;
        let workers = self.worker_scheduler(publishers);
        let mut edits = self.imports.edits(&[publishers.one, publishers.schedulers]);
        let (Some(object), Some(method)) = (factory.child_by_field_name("object"), factory.child_by_field_name("name"))
        else {
            return Err(Refusal::new("the call is not an argument of `Mono.just` or the like"));
        };
        // A type argument (`Mono.<String>just`) stays.
        edits.push(replace(object, self.imports.name_of(publishers.one)));
        let witness = match shape {
            Shape::JustToCallable => self.type_witness(factory, publishers).unwrap_or_default(),
            _ => String::new(),
        };
        edits.push(replace(method, format!("{witness}fromCallable")));
        edits.push(insert(call.start_byte(), "() -> "));
        let more = match shape {
            Shape::IterableToCallable => {
                if factory.child_by_field_name("type_arguments").is_some() || has_type_arguments(factory) {
                    return Err(Refusal::new("the type arguments that are written here would no longer fit"));
                }
                format!(".flatMapIterable({0} -> {0})", self.unused_name("all", body))
            }
            _ => String::new(),
        };
        let gap = self.gap_behind(factory);
        edits.push(insert(factory.end_byte(), format!("{gap}.subscribeOn({workers}){more}")));
        Ok((shape, edits))
    }

    /// Returns the edits for a call in a lambda.
    fn edit_in_lambda(&self, call: Node<'t>, lambda: Node<'t>, wish: Wish<'_>) -> Result<(Shape, Edits), Refusal> {
        let publishers = wish.of;
        let Some(taker) = argument_of(lambda) else {
            return Err(Refusal::new("the lambda is not an argument of an operator"));
        };
        let source = self.factory_call(taker, publishers);
        let operator = wish.taker.and_then(|path| path.rsplit_once('.'));
        if let Some(template) = wish.template
            && is_result_of(call, lambda)
        {
            if let Some((name, false)) = source
                && VALUES.contains(&name)
            {
                return self.source_of_publisher(call, lambda, taker, template, publishers);
            }
            let is_map = taker.child_by_field_name("name").is_some_and(|name| self.text(name) == "map");
            let many = operator == Some((publishers.many, "map"));
            if is_map && (many || operator == Some((publishers.one, "map"))) {
                self.check_catches(call, lambda)?;
                let (text, mut edits) = self.fill_template(call, template)?;
                let (name, shape) =
                    if many { ("concatMap", Shape::MapToConcatMap) } else { ("flatMap", Shape::MapToFlatMap) };
                let Some(method) = taker.child_by_field_name("name") else {
                    return Err(Refusal::new("the lambda is not an argument of an operator"));
                };
                edits.push(replace(method, name));
                edits.push(replace(call, text));
                return Ok((shape, edits));
            }
        }
        if !wish.offload {
            return Err(Refusal::new("the publisher must become part of the surrounding chain"));
        }
        if let Some((name, _)) = source {
            if !SOURCES.contains(&name) {
                return Err(Refusal::new(format!("`subscribeOn` would not move the work of `{name}`")));
            }
            let (workers, gap) = (self.worker_scheduler(publishers), self.gap_behind(taker));
            let mut edits = self.imports.edits(&[publishers.schedulers]);
            let is_last = taker.parent().is_none_or(|next| next.child_by_field_name("object") != Some(taker));
            match (self.type_witness(taker, publishers), taker.child_by_field_name("name")) {
                (Some(witness), Some(method)) => edits.push(insert(method.start_byte(), witness)),
                _ if is_last && name == "fromRunnable" && !self.is_dropped(taker) => {
                    return Err(Refusal::new("the result type is declared in another file"));
                }
                _ => {}
            }
            edits.push(insert(taker.end_byte(), format!("{gap}.subscribeOn({workers})")));
            return Ok((Shape::SourceOnWorker, edits));
        }
        let (Some(object), Some(name)) = (taker.child_by_field_name("object"), taker.child_by_field_name("name"))
        else {
            return Err(Refusal::new("the lambda is not an argument of an operator"));
        };
        // The innermost lambda around the call can be an argument of another method than an operator: of a template, of
        // an executor.
        let is_operator = operator.is_some_and(|(owner, operator)| {
            (owner == publishers.one || owner == publishers.many)
                && OPERATORS.contains(&operator)
                && self.text(name) == operator
        });
        if !is_operator {
            return Err(Refusal::new("the chain does not decide the lambda's thread"));
        }
        if let Some(shared) = self.edit_upstream(object) {
            return Ok(shared);
        }
        let (workers, gap) = (self.worker_scheduler(publishers), self.gap_between(object, name));
        let mut edits = self.imports.edits(&[publishers.schedulers]);
        edits.push(insert(object.end_byte(), format!("{gap}.publishOn({workers})")));
        Ok((Shape::OperatorOnWorker, edits))
    }

    /// Returns the edit of another call of the same method that makes the whole body run on a worker, if there is one;
    /// the argument of the chain then runs there too.
    fn edit_of_enclosing_method(&self, call: Node<'t>, method: Node<'t>) -> Option<(Shape, Edits)> {
        self.wanted.iter().find_map(|(other, remedy)| {
            let in_method = matches!(around(*other), Around::Method(outer) if outer == method);
            let makes_chain = |publishers: Publishers| {
                only_argument_of(*other).is_some_and(|factory| self.factory_call(factory, publishers).is_some())
            };
            let wish = remedy.edit_kinds.iter().find_map(Wish::of).filter(|wish| wish.offload && !makes_chain(wish.of));
            let wish = wish.filter(|_| *other != call && in_method)?;
            self.defer_method(method, wish.of).ok()
        })
    }

    /// Returns the edit of an earlier call of the chain that moves all later operators to a worker, if there is one;
    /// one change of threads is enough for both calls.
    fn edit_upstream(&self, object: Node<'t>) -> Option<(Shape, Edits)> {
        let mut next = Some(object);
        while let Some(up) = next.filter(|up| kind(*up) == K::Invocation) {
            let arguments = up.child_by_field_name("arguments");
            let is_in_lambda_of_link = |call: Node<'t>| {
                arguments.is_some_and(|list| span(list).contains(span(call)))
                    && matches!(around(call), Around::Lambda(lambda) if argument_of(lambda) == Some(up))
            };
            let moved =
                self.wanted.iter().filter(|(call, _)| is_in_lambda_of_link(*call)).find_map(|(call, remedy)| {
                    let wish = remedy.edit_kinds.iter().find_map(Wish::of)?;
                    self.edit_chain(*call, wish)
                        .ok()
                        .filter(|(shape, _)| matches!(shape, Shape::OperatorOnWorker | Shape::SourceOnWorker))
                });
            if moved.is_some() {
                return moved;
            }
            next = up.child_by_field_name("object");
        }
        None
    }

    /// Replaces `fromCallable(() -> f().block())` by a chain of the publisher itself: `defer(() -> f())`.
    fn source_of_publisher(
        &self,
        call: Node<'t>,
        lambda: Node<'t>,
        taker: Node<'t>,
        template: &[blocklint_core::Piece],
        publishers: Publishers,
    ) -> Result<(Shape, Edits), Refusal> {
        self.check_catches(call, lambda)?;
        let (text, mut edits) = self.fill_template(call, template)?;
        let one = self.imports.name_of(publishers.one);
        // A `fromFuture` with a supplier is lazy too, so it replaces the whole call.
        let is_lazy = text.starts_with(&format!("{one}.fromFuture(() ->"));
        if is_lazy && lambda.child_by_field_name("body") == Some(call) {
            edits.push((span(taker), text));
            return Ok((Shape::CallableToFuture, edits));
        }
        let Some(name) = taker.child_by_field_name("name") else {
            return Err(Refusal::new("the lambda is not an argument of an operator"));
        };
        edits.push(replace(name, "defer"));
        edits.push(replace(call, text));
        Ok((Shape::CallableToDefer, edits))
    }

    /// Returns the type argument `<T>` that a publisher needs when a call is appended to it, because the compiler then
    /// no longer infers its type from the `return` or the declaration.
    fn type_witness(&self, creation: Node<'t>, publishers: Publishers) -> Option<String> {
        if has_type_arguments(creation) {
            return None;
        }
        let parent = creation.parent()?;
        let ty = match kind(parent) {
            K::Return => match around(creation) {
                Around::Method(method) => method.child_by_field_name("type"),
                _ => None,
            },
            K::VariableDeclarator => parent.parent().and_then(|declaration| declaration.child_by_field_name("type")),
            _ => None,
        }?;
        let (many, element) = self.publisher_element(ty, publishers)?;
        // For a final class the compiler infers the type from the value.
        (!many && !FINAL.contains(&&*element)).then(|| format!("<{element}>"))
    }

    /// True if the result of a call is not used.
    fn is_dropped(&self, call: Node<'t>) -> bool {
        call.parent().is_some_and(|parent| kind(parent) == K::ExprStatement)
    }

    /// Returns a name that is not used in a body: the wanted one, or that with a number.
    pub(super) fn unused_name(&self, preferred_name: &str, body: Node<'t>) -> String {
        let text = self.text(body);
        let is_free =
            |name: &str| !text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|word| word == name);
        let numbered = (2..).map(|number| format!("{preferred_name}{number}"));
        std::iter::once(preferred_name.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
    }
}

/// True if a call has explicit type arguments (`Flux.<String>fromIterable`).
fn has_type_arguments(call: Node<'_>) -> bool {
    crate::kinds::named(call).any(|part| kind(part) == K::TypeArguments)
}
