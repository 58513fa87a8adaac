//! [`Shape`]: the shapes of the edits of reactive chains, each with an example and its title.

/// The shape of an edit. Each is compiled against the real libraries in `tests/fixtures/java-compile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// `fromCallable(() -> call())` → `fromCallable(() -> call()).subscribeOn(workers)`.
    SourceOnWorker,
    /// `.map(v -> call(v))` → `.publishOn(workers).map(v -> call(v))`.
    OperatorOnWorker,
    /// The body of a method that returns one value → `return Mono.<T>defer(() -> { … }).subscribeOn(workers);`.
    MethodDeferred,
    /// The body of a method that returns many values → `return Flux.<T>defer(() -> { … }).subscribeOn(workers);`.
    MethodOfManyDeferred,
    /// The body of a method with checked exceptions, which a supplier must not throw.
    MethodCalled,
    /// The body of a method that returns many values and has checked exceptions.
    MethodOfManyCalled,
    /// `Mono.just(call())` → `Mono.fromCallable(() -> call()).subscribeOn(workers)`.
    JustToCallable,
    /// `Flux.fromIterable(call())` →
    /// `Mono.fromCallable(() -> call()).flatMapIterable(all -> all).subscribeOn(workers)`.
    IterableToCallable,
    /// `Mono.just(f().block())` → `f()`.
    JustToPublisher,
    /// `.map(v -> f(v).block())` → `.flatMap(v -> f(v))`, of one value.
    MapToFlatMap,
    /// `.map(v -> f(v).block())` → `.concatMap(v -> f(v))`, of many values, whose order stays.
    MapToConcatMap,
    /// `Mono.fromCallable(() -> f().block())` → `Mono.defer(() -> f())`.
    CallableToDefer,
    /// `Mono.fromCallable(() -> client.send(r, h))` → `Mono.fromFuture(() -> client.sendAsync(r, h))`.
    CallableToFuture,
    /// `final Scheduler own = newSingle("own")` → `static final Scheduler OWN = newBoundedElastic(…, "own", …)`.
    FieldShared,
    /// `own = newSingle("own")` in a constructor → the field is declared with the shared scheduler.
    ConstructorShared,
    /// `.subscribeOn(newSingle("own"))` → `.subscribeOn(OWN_SCHEDULER)`, a new static field.
    InlineShared,
    /// `Scheduler own = newSingle("own")` in a method → `Scheduler own = OWN_SCHEDULER`.
    LocalShared,
}

impl Shape {
    /// All shapes.
    pub const ALL: &'static [Shape] = &[
        Shape::SourceOnWorker,
        Shape::OperatorOnWorker,
        Shape::MethodDeferred,
        Shape::MethodOfManyDeferred,
        Shape::MethodCalled,
        Shape::MethodOfManyCalled,
        Shape::JustToCallable,
        Shape::IterableToCallable,
        Shape::JustToPublisher,
        Shape::MapToFlatMap,
        Shape::MapToConcatMap,
        Shape::CallableToDefer,
        Shape::CallableToFuture,
        Shape::FieldShared,
        Shape::ConstructorShared,
        Shape::InlineShared,
        Shape::LocalShared,
    ];

    /// Returns the description of the edit, in the imperative.
    pub fn title(self) -> &'static str {
        match self {
            Shape::SourceOnWorker => "Subscribe to the source on a worker",
            Shape::OperatorOnWorker => "Continue on a worker before the operator",
            Shape::MethodDeferred => "Run the method's body on a worker, when its result is subscribed to",
            Shape::MethodOfManyDeferred => "Run the method's body on a worker, when its results are subscribed to",
            Shape::MethodCalled => "Run the method's body on a worker, with its checked exceptions",
            Shape::MethodOfManyCalled => {
                "Run the method's body on a worker, with its checked exceptions, for many results"
            }
            Shape::JustToCallable => "Make the call on a worker, when the chain is subscribed to",
            Shape::IterableToCallable => "Make the call on a worker, and continue with its elements",
            Shape::JustToPublisher => "Use the publisher itself",
            Shape::MapToFlatMap => "Let the operator subscribe to the publisher",
            Shape::MapToConcatMap => "Let the operator subscribe to the publishers one after the other",
            Shape::CallableToDefer => "Return the publisher itself, when the chain is subscribed to",
            Shape::CallableToFuture => "Use the asynchronous call",
            Shape::FieldShared => {
                "Share one scheduler between all instances (its tasks keep no order, and no thread is theirs)"
            }
            Shape::ConstructorShared => {
                "Share one scheduler between all instances, made with the class (its tasks keep no order, and no \
                 thread is theirs)"
            }
            Shape::InlineShared => {
                "Share one scheduler between all calls (its tasks keep no order, and no thread is theirs)"
            }
            Shape::LocalShared => {
                "Share one scheduler between all calls of the method (its tasks keep no order, and no thread is theirs)"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_has_its_own_title() {
        let mut titles: Vec<&str> = Shape::ALL.iter().map(|shape| shape.title()).collect();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), Shape::ALL.len());
    }
}
