//! Java: names by which code says what goes on: that something failed, that a host is a socket's, that there is one of a class.

/// Says that what a listener listened for went well.
pub const IS_SUCCESS: &str = "isSuccess";

/// Gives why something failed; nothing where it did not.
pub const CAUSE: &str = "cause";

/// The object itself, as its base sees it.
pub(crate) const SUPER: &str = "super";

/// The object itself, also of a class around: `Outer.this`.
pub(crate) const THIS: &str = "this";

/// Give a task to a thread again and again.
pub const REPEATS: &[&str] = &["scheduleAtFixedRate", "scheduleWithFixedDelay"];

/// Whether a call of this name on the sink of a chain ends the chain, as it should.
pub(crate) fn ends_sink(name: &str) -> bool {
    matches!(name, "complete" | "success" | "onComplete" | "onSuccess")
}

/// Whether an annotation of this name says that a method never blocks.
pub(crate) fn says_not_to_block(name: &str) -> bool {
    name == "NonBlocking"
}

/// Whether a static method of this name gives the one object of its class.
pub fn gives_the_one(name: &str) -> bool {
    matches!(name, "getInstance" | "instance")
}

/// Whether a test of this name asks for a level of logging that is off as a rule.
pub fn asks_for_details(name: &str) -> bool {
    matches!(name, "isDebugEnabled" | "isTraceEnabled")
}

/// Whether a test of this name asks for a mode of operation: few programs run in it.
pub fn asks_for_mode(name: &str) -> bool {
    name.starts_with("is") && name.ends_with("Mode")
}

/// Whether a class of this name keeps a program's settings: `CommonConfigHolder`.
pub fn keeps_settings(name: &str) -> bool {
    ["Config", "Configuration", "Settings"]
        .iter()
        .any(|what| name.ends_with(what) || name.strip_suffix("Holder").is_some_and(|name| name.ends_with(what)))
}

/// Whether a folder of this name holds tests, or what is there for them.
pub(crate) fn is_folder_of_tests(name: &str) -> bool {
    matches!(name, "testing" | "testkit" | "testFixtures" | "jmh")
        || name.ends_with("-test")
        || name.ends_with("-tests")
        || name.ends_with("-testing")
        || name.ends_with("Test")
        || name.ends_with("Tests")
        || name.starts_with("test-")
        || name.starts_with("testing-")
}

/// The abstract methods of the functional interfaces of `java.lang` and `java.util`.
pub(crate) const FUNCTIONAL_METHODS: &[&str] = &[
    "run",
    "call",
    "apply",
    "accept",
    "get",
    "test",
    "compare",
    "applyAsInt",
    "applyAsLong",
    "applyAsDouble",
    "getAsInt",
    "getAsLong",
    "getAsDouble",
    "getAsBoolean",
];

/// The type of tables by a key, and what reads one.
pub(crate) const TABLE: &str = "java.util.Map";
pub(crate) const READS_TABLE: &[&str] = &["get", "getOrDefault"];

/// Whether an operator of this name gives its callable every element of what it stands on.
pub(crate) fn goes_through_all(name: &str) -> bool {
    matches!(
        name,
        "forEach" | "forEachOrdered" | "peek" | "doOnNext" | "allMatch" | "anyMatch" | "noneMatch" | "filter"
    ) || ["map", "flatMap", "concatMap", "transform"].iter().any(|start| name.starts_with(start))
}

/// Whether a call of this name begins a chain with all that a collection holds.
pub(crate) fn makes_stream_of_all(name: &str) -> bool {
    matches!(name, "stream" | "parallelStream" | "values" | "fromIterable" | "fromStream" | "iterable")
}

/// Whether an operator of this name passes all elements on as they are.
pub(crate) fn keeps_elements(name: &str) -> bool {
    matches!(name, "sorted" | "sort" | "distinct" | "peek" | "doOnNext" | "parallel" | "sequential" | "unordered")
}
