//! Java: names of types, methods, packages and annotations with a conventional meaning: a class with one instance, a
//! method that closes its object, a folder of tests. These are lists and tests of names; the lookup of names is in
//! `names.rs`.

use crate::lang::words::{LanguageWords, Literal};
use blocklint_facts::{FileFacts, Form, List};

/// The type of arrays; its type argument is the type of the elements.
pub(crate) const ARRAY: &str = "java.lang.Object[]";

/// The abstract classes of byte and character streams, which do not show the medium behind them.
pub(crate) const ABSTRACT_STREAMS: &[&str] =
    &["java.io.InputStream", "java.io.OutputStream", "java.io.Reader", "java.io.Writer"];

/// The classes of `java.lang` that the linker resolves without a model row.
pub(crate) const LANG_CLASSES: &[&str] = &[
    "Boolean",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "Double",
    "Enum",
    "Exception",
    "Float",
    "Integer",
    "Long",
    "Number",
    "RuntimeException",
    "Short",
    "String",
    "StringBuffer",
    "StringBuilder",
    "Throwable",
    "Void",
];

/// Methods of futures after which the future is done: tests such as `isDone`, and `run` of a future task.
pub(crate) const DONE_TESTS: &[&str] =
    &["isDone", "isSuccess", "isCompletedExceptionally", "isCompletedNormally", "isCompleted", "run"];

/// The method that reads an atomic reference or flag.
pub const ATOMIC_READ: &str = "get";

/// Methods that set an atomic reference or flag.
pub const ATOMIC_WRITES: &[&str] = &["set", "lazySet", "setRelease", "setPlain", "compareAndSet", "getAndSet"];

/// The method that sets an atomic reference if its value is the first argument.
pub const ATOMIC_CLAIM: &str = "compareAndSet";

/// Returns the last segments of the names of annotations.
pub fn annotation_names(facts: &FileFacts, annotations: List) -> impl Iterator<Item = &str> {
    facts.list(annotations).iter().filter_map(|&annotation| match facts.form(annotation) {
        Form::Result(site) => Some(facts.text(facts.site(site).name)),
        Form::Var(var) => Some(facts.text(facts.var(var).name)),
        Form::Name(name) => Some(facts.text(name)),
        _ => None,
    })
}

/// The operator that every future with callbacks has.
pub const FUTURE_OPERATOR: &str = "map";

/// True if a type of this name is the argument of a completion handler: a value or a failure.
pub fn is_result_of_future(name: &str) -> bool {
    name == "AsyncResult"
}

/// True if a publisher or future of this name emits at most one value, so that its callbacks run once for each
/// subscription.
pub fn emits_at_most_once(name: &str) -> bool {
    name == "Mono"
        || name == "Uni"
        || name == "Single"
        || name == "Maybe"
        || name == "Completable"
        || name.ends_with("Future")
}

/// True if a method of this name makes an object for its caller: `createClient`, `openStore`.
pub fn makes_on_demand(name: &str) -> bool {
    begins_with_verb(name, &["build", "create", "open", "connect", "of", "new"])
}

/// True if a method of this name, by convention, runs once in the life of its object, because it starts or closes the
/// object's parts.
pub fn runs_once(name: &str) -> bool {
    matches!(name, "<init>" | "<clinit>" | "main")
        || begins_with_verb(
            name,
            &["start", "init", "initialize", "setup", "setUp", "configure", "bootstrap", "launch"],
        )
        || closes_object(name)
}

/// True if a method of this name closes its object.
pub fn closes_object(name: &str) -> bool {
    begins_with_verb(name, &["close", "stop", "shutdown", "destroy", "dispose"]) || name.contains("Shutdown")
}

/// True if an annotation of this name, of any framework, gives a class one object: `@Singleton`.
pub fn is_singleton_annotation(name: &str) -> bool {
    name.ends_with("Singleton") || name == "ApplicationScoped"
}

/// True if a name is one of these verbs, or begins with one of them: `openStore` with `open`.
fn begins_with_verb(name: &str, verbs: &[&str]) -> bool {
    verbs
        .iter()
        .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase)))
}

/// True if an annotation of this name makes a container call a constructor: `@Inject`.
pub fn is_injection_annotation(name: &str) -> bool {
    matches!(name, "Inject" | "Autowired")
}

/// True if a path belongs to a servlet API: one of its segments is `servlet`.
pub(crate) fn is_servlet_path(path: &str) -> bool {
    path.split('.').any(|part| part == "servlet")
}

/// True if a path belongs to a reactive server, which answers requests with publishers.
pub(crate) fn is_reactive_server_path(path: &str) -> bool {
    let mut parts = path.split('.');
    let found = parts.find(|part| matches!(*part, "reactive" | "netty" | "ServerWebExchange"));
    let mut remaining_parts = parts;
    match (found, remaining_parts.next()) {
        // An HTTP client and an HTTP server share this package.
        (Some("reactive"), Some("function")) => remaining_parts.any(|part| part == "server"),
        (Some(_), Some("client")) => false,
        (Some(_), _) => !remaining_parts.any(|part| part == "client"),
        (None, _) => false,
    }
}

/// True if a path belongs to a framework that runs handlers with a future or publisher as their result on event loops.
pub(crate) fn is_event_loop_framework_path(path: &str) -> bool {
    ["io.quarkus.", "io.smallrye."].iter().any(|package| path.starts_with(package))
}

/// True if an annotation is of JAX-RS: most servers run its methods on worker threads.
pub(crate) fn is_jax_rs_annotation(path: &str) -> bool {
    path.starts_with("jakarta.ws.rs.")
}

/// True if a program with a dependency of this name answers requests with servlets.
pub(crate) fn is_servlet_artifact(name: &str) -> bool {
    matches!(name, "spring-boot-starter-web" | "spring-boot-starter-tomcat" | "spring-boot-starter-jetty")
        || name.contains("webmvc")
        || name.ends_with("servlet-api")
}

/// True if a dependency of this name is a reactive server, which answers requests with publishers.
pub(crate) fn is_reactive_server_artifact(name: &str) -> bool {
    // Spring Boot's own reactive server is not in this list, because it answers with servlets if the program has both
    // servers.
    ["starter-gateway", "gateway-server", "vertx-web", "quarkus", "micronaut-http-server", "armeria"]
        .iter()
        .any(|part| name.contains(part))
}

/// True if a dependency of this name answers requests with publishers, unless the program has servlets.
pub(crate) fn is_reactive_without_servlets_artifact(name: &str) -> bool {
    name == "spring-boot-starter-webflux"
}

/// True if a method of this name is a getter: `getName`, `isOpen`.
pub fn is_getter(name: &str) -> bool {
    ["get", "is"].iter().any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.starts_with(char::is_uppercase)))
}

/// True if a method of this name runs while a program starts.
pub fn starts_up(name: &str) -> bool {
    matches!(name, "doStart" | "startUp" | "initialize" | "bootstrap")
}

/// True if a getter of this name returns true for an enabled feature: `isCacheEnabled`, `useProxy`.
pub fn is_feature_flag(name: &str) -> bool {
    name.ends_with("Enabled")
        || name == "enabled"
        || ["is", "getUse", "use", "getEnable", "enable", "should"]
            .iter()
            .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.starts_with(char::is_uppercase)))
}

/// True if a variable, field or getter of this name holds settings.
pub fn holds_settings(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["conf", "config", "configuration", "settings", "options", "properties", "props"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}

/// True if an annotation of this name marks a method that is visible only for tests.
pub fn is_test_visibility_annotation(name: &str) -> bool {
    name == "VisibleForTesting"
}

/// True if objects of a class of this name are deployed with one thread for all their timers and handlers.
pub(crate) fn is_deployable_class(name: &str) -> bool {
    name.ends_with("Verticle")
}

/// True if an annotation of this name may make a container's proxy run a method on another thread.
pub(crate) fn is_proxy_annotation(name: &str) -> bool {
    name.starts_with("Async")
}

/// True if a method of this name is the getter of this field: `getFuture` of `future`.
pub fn is_getter_of(getter: &str, field: &str) -> bool {
    let Some(rest) = getter.strip_prefix("get").or_else(|| getter.strip_prefix("is")) else { return false };
    let (mut property_chars, mut field_chars) = (rest.chars(), field.chars());
    match (property_chars.next(), field_chars.next()) {
        (Some(a), Some(b)) => {
            a.is_uppercase() && a.to_lowercase().eq(b.to_lowercase()) && property_chars.as_str() == field_chars.as_str()
        }
        _ => false,
    }
}

/// The method that deploys a verticle.
pub(crate) const DEPLOY_METHOD: &str = "deployVerticle";

/// The keyword after the type in a class literal: `Order.class`.
pub(crate) const CLASS_LITERAL: &str = "class";

/// True if a call of this name on a class returns the class's name.
pub(crate) fn returns_class_name(name: &str) -> bool {
    matches!(name, "getName" | "getCanonicalName")
}

/// True if a call of this name returns a publisher of existing data, which ends. A subscription to later data has
/// another name.
pub fn is_lookup(name: &str) -> bool {
    ["find", "get", "load", "list", "fetch", "read", "query", "select"]
        .iter()
        .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase)))
}

/// Functions that return true if their argument is `null` or empty.
pub const EMPTINESS_TESTS: &[&str] = &["isNullOrEmpty", "isEmpty", "isBlank", "isNull", "isNullOrBlank"];

/// True if a class of this name holds a program's settings.
pub fn is_settings(name: &str) -> bool {
    ["Properties", "Config", "Configuration", "Settings"].iter().any(|end| name.ends_with(end))
}

/// True if a call of this name returns few elements: the roots of a machine's file systems.
pub(crate) fn returns_few_elements(name: &str) -> bool {
    name == "listRoots"
}

/// The method that reads a map by a key.
pub const MAP_READ: &str = "get";

/// Methods that add an entry to a map.
pub const MAP_WRITES: &[&str] = &["put", "putIfAbsent"];

/// The method that adds the result of a callable to a map if the key is missing.
pub const MAP_COMPUTE: &str = "computeIfAbsent";

/// The names of sites that take a lock: the `synchronized` block, and the method of a `Lock`.
pub const LOCK_ENTRIES: &[&str] = &["synchronized", "lock"];

/// True if a type of Java's standard library is an interface that a lambda implements, or the type of an iterator.
pub(crate) fn is_functional_interface(path: &str) -> bool {
    path.starts_with("java.util.function.") || other_functional_method(path).is_some()
}

/// Returns the abstract method of a functional interface of `java.*`, or the first method that a loop calls on an
/// iterable or iterator.
pub(crate) fn functional_method_of(path: &str) -> Option<&'static str> {
    if let Some(method) = other_functional_method(path) {
        return Some(method);
    }
    let name = path.strip_prefix("java.util.function.")?;
    let by_result_type = |plain, int, long, double| match name {
        _ if name.starts_with("ToInt") || name.starts_with("Int") && name.ends_with("Operator") => int,
        _ if name.starts_with("ToLong") || name.starts_with("Long") && name.ends_with("Operator") => long,
        _ if name.starts_with("ToDouble") || name.starts_with("Double") && name.ends_with("Operator") => double,
        _ if name.ends_with("ToIntFunction") => int,
        _ if name.ends_with("ToLongFunction") => long,
        _ if name.ends_with("ToDoubleFunction") => double,
        _ => plain,
    };
    Some(match name {
        "Supplier" => "get",
        "BooleanSupplier" => "getAsBoolean",
        "IntSupplier" => "getAsInt",
        "LongSupplier" => "getAsLong",
        "DoubleSupplier" => "getAsDouble",
        _ if name.ends_with("Consumer") => "accept",
        _ if name.ends_with("Predicate") => "test",
        _ if name.ends_with("Function") || name.ends_with("Operator") => {
            by_result_type("apply", "applyAsInt", "applyAsLong", "applyAsDouble")
        }
        _ => return None,
    })
}

/// Returns the method of a functional interface or iterator that is not in `java.util.function`.
fn other_functional_method(path: &str) -> Option<&'static str> {
    Some(match path {
        "java.lang.Runnable" => "run",
        "java.util.concurrent.Callable" => "call",
        "java.util.Comparator" => "compare",
        "java.util.Iterator" => "next",
        "java.util.Enumeration" => "nextElement",
        "java.util.Spliterator" => "tryAdvance",
        "java.lang.Iterable" => "iterator",
        _ => return None,
    })
}

/// The method that a loop calls on an iterable object; the loop then calls the methods of the iterator that it returns.
pub const ITERATOR_METHOD: &str = "iterator";

/// Methods that every iterable object inherits, and that iterate over it.
pub const INHERITED_ITERATIONS: &[&str] = &["forEach", "forEachRemaining"];

/// The methods that a loop calls on an iterator.
pub const ITERATOR_STEPS: &[&str] = &["hasNext", "next"];

/// Returns the index of the type argument that the n-th parameter of a functional interface's method has: 0 for
/// `accept` of `Consumer<T>`.
pub(crate) fn functional_argument(interface: &str, index: usize) -> Option<usize> {
    let name = interface.strip_prefix("java.util.function.")?;
    match name {
        "UnaryOperator" | "BinaryOperator" => Some(0),
        "Supplier" => None,
        _ if name.starts_with("Bi") || name.starts_with("ToIntBi") || name.starts_with("ToLongBi") => Some(index),
        _ => (index == 0).then_some(0),
    }
}

/// Returns the index of the type argument that a functional interface's method returns: 1 for `apply` of
/// `Function<T, R>`.
pub(crate) fn functional_return(interface: &str) -> Option<usize> {
    match interface {
        "java.util.concurrent.Callable" => Some(0),
        _ => match interface.strip_prefix("java.util.function.")? {
            "Supplier" | "UnaryOperator" | "BinaryOperator" | "IntFunction" | "LongFunction" | "DoubleFunction" => {
                Some(0)
            }
            "Function" => Some(1),
            "BiFunction" => Some(2),
            _ => None,
        },
    }
}

/// True if packages with this root belong to the Java runtime, which every program has.
pub(crate) fn is_runtime_package(root: &str) -> bool {
    root.starts_with("java.")
}

/// Returns the seconds of a constant of `TimeUnit`, by its path.
pub(crate) fn time_unit(path: &str) -> Option<f64> {
    Some(match path.strip_prefix("java.util.concurrent.TimeUnit.")? {
        "NANOSECONDS" => 1e-9,
        "MICROSECONDS" => 1e-6,
        "MILLISECONDS" => 1e-3,
        "SECONDS" => 1.0,
        "MINUTES" => 60.0,
        "HOURS" => 3600.0,
        "DAYS" => 86400.0,
        _ => return None,
    })
}

/// True if a path refers to `TimeUnit`.
pub(crate) fn is_time_unit(path: &str) -> bool {
    path == "java.util.concurrent.TimeUnit"
}

/// The names of Java.
pub(crate) const WORDS: LanguageWords = LanguageWords {
    literal_types: &[(Literal::Str, "java.lang.String"), (Literal::List, ARRAY)],
    any_streams: ABSTRACT_STREAMS,
    string_ends: ["startsWith", "endsWith"],
    absence_tests: &[],
    failure_tests: &[],
    failure: None,
    falls_through_cases: true,
    durations: &[("ofSeconds", 1.0), ("ofMillis", 1e-3), ("ofNanos", 1e-9), ("ofMinutes", 60.0), ("ofHours", 3600.0)],
    constructors: &["<init>"],
    counters: &[],
    derived_functions: &[],
    first_caller_checks: &["compareAndSet"],
    terminal_check: None,
    key_reads: &[],
    key_writes: &[],
    expected_exceptions: None,
    instance_makers: &[],
    class_calls: &[],
    metaclass_keyword: None,
    element_callers: &["map", "forEach", "flatMap"],
    calculations: &[
        "length", "size", "charAt", "get", "put", "sqrt", "pow", "hashCode", "equals", "stream", "collect", "toString",
    ],
    subscript_method: "__getitem__",
    functional_methods: FUNCTIONAL_METHODS,
    casts_callables: true,
    declares_later_values: false,
    passes_receiver: false,
    has_await: false,
    returns_result_of_callable: false,
    constructs_in_libraries: true,
    bounds_offloads: false,
};

/// The method of a result that returns true for success.
pub const IS_SUCCESS: &str = "isSuccess";

/// The method of a result that returns its failure, or `null` after success.
pub const CAUSE: &str = "cause";

/// The keyword `super`.
pub(crate) const SUPER: &str = "super";

/// The keyword `this`, also in `Outer.this`.
pub(crate) const THIS: &str = "this";

/// Methods of executors that run a task repeatedly.
pub const REPEATED_SCHEDULES: &[&str] = &["scheduleAtFixedRate", "scheduleWithFixedDelay"];

/// True if a call of this name on a reactive sink completes its chain with success.
pub(crate) fn completes_sink(name: &str) -> bool {
    matches!(name, "complete" | "success" | "onComplete" | "onSuccess")
}

/// True if an annotation of this name marks a method that never blocks.
pub(crate) fn marks_non_blocking(name: &str) -> bool {
    name == "NonBlocking"
}

/// True if a static method of this name returns the singleton of its class.
pub fn returns_singleton(name: &str) -> bool {
    matches!(name, "getInstance" | "instance")
}

/// True if a method of this name tests for a log level that is usually off.
pub fn is_verbose_level_test(name: &str) -> bool {
    matches!(name, "isDebugEnabled" | "isTraceEnabled")
}

/// True if a method of this name tests for a mode of operation that few programs use: `isDebugMode`.
pub fn is_mode_test(name: &str) -> bool {
    name.starts_with("is") && name.ends_with("Mode")
}

/// True if a class of this name is, or holds, a program's settings: `CommonConfigHolder`.
pub fn keeps_settings(name: &str) -> bool {
    ["Config", "Configuration", "Settings"]
        .iter()
        .any(|suffix| name.ends_with(suffix) || name.strip_suffix("Holder").is_some_and(|name| name.ends_with(suffix)))
}

/// True if a folder of this name contains tests or code for tests.
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

/// The type of maps.
pub(crate) const MAP_TYPE: &str = "java.util.Map";

/// Methods that return the value of a key in a map.
pub(crate) const MAP_LOOKUPS: &[&str] = &["get", "getOrDefault"];

/// True if an operator of this name calls its callable with every element of its receiver: `forEach`, `map`.
pub(crate) fn calls_with_every_element(name: &str) -> bool {
    matches!(
        name,
        "forEach" | "forEachOrdered" | "peek" | "doOnNext" | "allMatch" | "anyMatch" | "noneMatch" | "filter"
    ) || ["map", "flatMap", "concatMap", "transform"].iter().any(|start| name.starts_with(start))
}

/// True if a call of this name begins a chain with all elements of a collection.
pub(crate) fn streams_all_elements(name: &str) -> bool {
    matches!(name, "stream" | "parallelStream" | "values" | "fromIterable" | "fromStream" | "iterable")
}

/// True if the result of an operator of this name has all elements of its receiver, unchanged: `sorted`.
pub(crate) fn passes_all_elements(name: &str) -> bool {
    matches!(name, "sorted" | "sort" | "distinct" | "peek" | "doOnNext" | "parallel" | "sequential" | "unordered")
}

/// Exceptions that answer a question (a text is no number, an element or a class is absent) and report no failure.
const ANSWERING_EXCEPTIONS: &[&str] = &[
    "ArrayIndexOutOfBoundsException",
    "ClassCastException",
    "DateTimeParseException",
    "IndexOutOfBoundsException",
    "InterruptedException",
    "MissingResourceException",
    "NoSuchElementException",
    "NoSuchFieldException",
    "NoSuchFileException",
    "NoSuchMethodException",
    "NumberFormatException",
    "TimeoutException",
    "UnsupportedOperationException",
];

/// True if an exception answers a question and reports no failure: `NumberFormatException`, `UserNotFoundException`.
pub fn answers_a_question(exception: &str) -> bool {
    ANSWERING_EXCEPTIONS.contains(&exception) || exception.contains("NotFound") || exception.contains("Exists")
}
