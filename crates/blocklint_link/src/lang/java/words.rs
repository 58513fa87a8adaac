//! Java: names of types, methods, packages and annotations whose meaning is a convention: that something failed, that a
//! class has one instance, that a folder holds tests. Lists and how they are read; never the value that a name is bound
//! to.

use crate::lang::words::{LanguageWords, Literal};
use blocklint_facts::{FileFacts, Form, List};

/// The type of arrays; of what is the type argument.
pub(crate) const ARRAY: &str = "java.lang.Object[]";

/// The abstract classes of byte and character streams, which do not show the medium behind them.
pub(crate) const STREAMS: &[&str] =
    &["java.io.InputStream", "java.io.OutputStream", "java.io.Reader", "java.io.Writer"];

/// The classes of `java.lang` that hold nothing but themselves: a parameter that is declared so is known well enough
/// without the arguments of callers.
pub(crate) const VALUES: &[&str] = &[
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

/// Methods of futures that return whether they are done, or do what they are for.
pub(crate) const DONE_TESTS: &[&str] =
    &["isDone", "isSuccess", "isCompletedExceptionally", "isCompletedNormally", "isCompleted", "run"];

/// Reads an atomic reference or flag.
pub const ATOMIC_READ: &str = "get";

/// Methods that set an atomic reference or flag.
pub const ATOMIC_WRITES: &[&str] = &["set", "lazySet", "setRelease", "setPlain", "compareAndSet", "getAndSet"];

/// Sets an atomic reference if it holds what the first argument is.
pub const CLAIM: &str = "compareAndSet";

/// Returns the last names of annotations.
pub fn mark_names(facts: &FileFacts, marks: List) -> impl Iterator<Item = &str> {
    facts.list(marks).iter().filter_map(|&mark| match facts.form(mark) {
        Form::Result(site) => Some(facts.text(facts.site(site).name)),
        Form::Var(var) => Some(facts.text(facts.var(var).name)),
        Form::Name(name) => Some(facts.text(name)),
        _ => None,
    })
}

/// The operator that every future has which calls back.
pub const CONTINUES: &str = "map";

/// True if a type of this name is the argument of a completion handler and holds a value or a failure.
pub fn is_result_of_future(name: &str) -> bool {
    name == "AsyncResult"
}

/// True if a type of this name emits one value at most, so that its callbacks run once for each subscription.
pub fn emits_once(name: &str) -> bool {
    name == "Mono"
        || name == "Uni"
        || name == "Single"
        || name == "Maybe"
        || name == "Completable"
        || name.ends_with("Future")
}

/// True if a method of this name makes an object at its caller's request.
pub fn makes_on_demand(name: &str) -> bool {
    begins(name, &["build", "create", "open", "connect", "of", "new"])
}

/// True if a method of this name, by convention, runs once in the life of its object, because it makes or closes the
/// object's parts.
pub fn runs_once(name: &str) -> bool {
    matches!(name, "<init>" | "<clinit>" | "main")
        || begins(name, &["start", "init", "initialize", "setup", "setUp", "configure", "bootstrap", "launch"])
        || ends(name)
}

/// True if a method of this name closes its object.
pub fn ends(name: &str) -> bool {
    begins(name, &["close", "stop", "shutdown", "destroy", "dispose"]) || name.contains("Shutdown")
}

/// True if an annotation of this name shows that a class has one object, in the scope of any framework.
pub fn is_of_one_object(name: &str) -> bool {
    name.ends_with("Singleton") || name == "ApplicationScoped"
}

/// True if a name is one of these verbs, or begins with one.
fn begins(name: &str, verbs: &[&str]) -> bool {
    verbs
        .iter()
        .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase)))
}

/// True if an annotation of this name shows that a container calls a constructor.
pub fn is_injection(name: &str) -> bool {
    matches!(name, "Inject" | "Autowired")
}

/// True if a path belongs to a servlet API: one of its parts is `servlet`.
pub(crate) fn is_of_servlets(path: &str) -> bool {
    path.split('.').any(|part| part == "servlet")
}

/// True if a path belongs to a reactive server, which answers requests with publishers.
pub(crate) fn is_of_reactive_server(path: &str) -> bool {
    let mut parts = path.split('.');
    let found = parts.find(|part| matches!(*part, "reactive" | "netty" | "ServerWebExchange"));
    let mut rest = parts;
    match (found, rest.next()) {
        // Packages that the client and the server of HTTP share show nothing.
        (Some("reactive"), Some("function")) => rest.any(|part| part == "server"),
        (Some(_), Some("client")) => false,
        (Some(_), _) => !rest.any(|part| part == "client"),
        (None, _) => false,
    }
}

/// True if a path belongs to a framework that answers on event loops the methods that return a future or publisher.
pub(crate) fn is_of_framework_on_loops(path: &str) -> bool {
    ["io.quarkus.", "io.smallrye."].iter().any(|package| path.starts_with(package))
}

/// True if most servers run methods with this annotation on threads of their own.
pub(crate) fn is_of_many_servers(path: &str) -> bool {
    path.starts_with("jakarta.ws.rs.")
}

/// True if a program that is built with a library of this name answers requests with servlets.
pub(crate) fn is_artifact_of_servlets(name: &str) -> bool {
    matches!(name, "spring-boot-starter-web" | "spring-boot-starter-tomcat" | "spring-boot-starter-jetty")
        || name.contains("webmvc")
        || name.ends_with("servlet-api")
}

/// True if a library of this name is a reactive server, which answers requests with publishers.
pub(crate) fn is_artifact_of_reactive_server(name: &str) -> bool {
    // Spring Boot answers by servlets where it finds both of its own servers.
    ["starter-gateway", "gateway-server", "vertx-web", "quarkus", "micronaut-http-server", "armeria"]
        .iter()
        .any(|part| name.contains(part))
}

/// True if a library of this name answers requests with publishers where the program has no servlets.
pub(crate) fn is_artifact_of_publishers(name: &str) -> bool {
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

/// True if a getter of this name returns whether a feature is enabled: `isCacheEnabled`, `useProxy`.
pub fn asks_if_wanted(name: &str) -> bool {
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
        .any(|what| name.ends_with(what))
}

/// True if an annotation of this name shows that a method is visible for tests alone.
pub fn is_for_tests(name: &str) -> bool {
    name == "VisibleForTesting"
}

/// True if objects of a class of this name are deployed with one thread for all their timers and handlers.
pub(crate) fn is_deployed(name: &str) -> bool {
    name.ends_with("Verticle")
}

/// True if an annotation of this name may let the container run a method on another thread.
pub(crate) fn is_run_by_proxy(name: &str) -> bool {
    name.starts_with("Async")
}

/// True if a method of this name is the getter of this field: `getFuture` of `future`.
pub fn is_getter_of(getter: &str, field: &str) -> bool {
    let Some(rest) = getter.strip_prefix("get").or_else(|| getter.strip_prefix("is")) else { return false };
    let (mut of, mut own) = (rest.chars(), field.chars());
    match (of.next(), own.next()) {
        (Some(a), Some(b)) => a.is_uppercase() && a.to_lowercase().eq(b.to_lowercase()) && of.as_str() == own.as_str(),
        _ => false,
    }
}

/// Deploys an object as a whole.
pub(crate) const DEPLOY: &str = "deployVerticle";

/// The word behind the type in a class literal: `Order.class`.
pub(crate) const CLASS: &str = "class";

/// True if a call of this name on a class returns the class's name.
pub(crate) fn returns_class_name(name: &str) -> bool {
    matches!(name, "getName" | "getCanonicalName")
}

/// True if a call of this name returns the data that exist and ends; a subscription to later data has another name.
pub fn looks_something_up(name: &str) -> bool {
    ["find", "get", "load", "list", "fetch", "read", "query", "select"]
        .iter()
        .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase)))
}

/// Tests that ask whether their argument is `null` or empty.
pub const ASKS_FOR_NOTHING: &[&str] = &["isNullOrEmpty", "isEmpty", "isBlank", "isNull", "isNullOrBlank"];

/// True if a class of this name holds a program's settings.
pub fn is_settings(name: &str) -> bool {
    ["Properties", "Config", "Configuration", "Settings"].iter().any(|end| name.ends_with(end))
}

/// True if a loop over the result of a call of this name ends after a few steps: the roots of a machine's file systems.
pub(crate) fn returns_few(name: &str) -> bool {
    name == "listRoots"
}

/// Reads a map by its key.
pub const MAP_READ: &str = "get";

/// Fill a map.
pub const MAP_WRITES: &[&str] = &["put", "putIfAbsent"];

/// Fills a map with the result of a callable for a missing key.
pub const MAP_FILLED_BY: &str = "computeIfAbsent";

/// Takes a lock: the block, and a lock's own method.
pub const ENTER_LOCK: &[&str] = &["synchronized", "lock"];

/// True if a type of Java's standard library is an interface that a lambda implements, or the type of an iterator.
pub(crate) fn is_functional_interface(path: &str) -> bool {
    path.starts_with("java.util.function.") || not_in_package(path).is_some()
}

/// Returns the one method of a functional interface of `java.*`; of an iterable the one that returns the next element.
pub(crate) fn functional_method_of(path: &str) -> Option<&'static str> {
    if let Some(method) = not_in_package(path) {
        return Some(method);
    }
    let name = path.strip_prefix("java.util.function.")?;
    let of_result = |plain, int, long, double| match name {
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
            of_result("apply", "applyAsInt", "applyAsLong", "applyAsDouble")
        }
        _ => return None,
    })
}

/// Returns the method of a functional interface, or of an iterator, outside `java.util.function`.
fn not_in_package(path: &str) -> Option<&'static str> {
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
pub const GONE_THROUGH_BY: &str = "iterator";

/// Methods that every iterable object inherits, and that iterate over it.
pub const GOES_THROUGH_ITSELF: &[&str] = &["forEach", "forEachRemaining"];

/// The methods of an iterator that a loop calls.
pub const STEPS_OF_ITERATOR: &[&str] = &["hasNext", "next"];

/// Returns the type argument of a functional interface of `java.*` that its method's n-th parameter has.
pub(crate) fn functional_argument(interface: &str, index: usize) -> Option<usize> {
    let name = interface.strip_prefix("java.util.function.")?;
    match name {
        "UnaryOperator" | "BinaryOperator" => Some(0),
        "Supplier" => None,
        _ if name.starts_with("Bi") || name.starts_with("ToIntBi") || name.starts_with("ToLongBi") => Some(index),
        _ => (index == 0).then_some(0),
    }
}

/// Returns the type argument of a functional interface of `java.*` that its method returns.
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
pub(crate) fn is_of_runtime(root: &str) -> bool {
    root.starts_with("java.")
}

/// Returns seconds of a constant of the language's units of time, by its path.
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

/// True if a type is the standard library's unit of time.
pub(crate) fn is_time_unit(path: &str) -> bool {
    path == "java.util.concurrent.TimeUnit"
}

/// The words of Java.
pub(crate) const WORDS: LanguageWords = LanguageWords {
    literal_types: &[(Literal::Str, "java.lang.String"), (Literal::List, ARRAY)],
    any_streams: STREAMS,
    string_ends: ["startsWith", "endsWith"],
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

/// Reports success to a listener.
pub const IS_SUCCESS: &str = "isSuccess";

/// Gives why something failed; nothing where it did not.
pub const CAUSE: &str = "cause";

/// The object itself, as its base sees it.
pub(crate) const SUPER: &str = "super";

/// The object itself, also of a class around: `Outer.this`.
pub(crate) const THIS: &str = "this";

/// Give a task to a thread again and again.
pub const REPEATS: &[&str] = &["scheduleAtFixedRate", "scheduleWithFixedDelay"];

/// True if a call of this name on the sink of a chain completes the chain with success.
pub(crate) fn ends_sink(name: &str) -> bool {
    matches!(name, "complete" | "success" | "onComplete" | "onSuccess")
}

/// True if an annotation of this name shows that a method never blocks.
pub(crate) fn marks_non_blocking(name: &str) -> bool {
    name == "NonBlocking"
}

/// True if a static method of this name returns the one object of its class.
pub fn returns_singleton(name: &str) -> bool {
    matches!(name, "getInstance" | "instance")
}

/// True if a test of this name asks for a level of logging that is usually off.
pub fn asks_for_details(name: &str) -> bool {
    matches!(name, "isDebugEnabled" | "isTraceEnabled")
}

/// True if a test of this name asks for a mode of operation, which few programs use: `isDebugMode`.
pub fn asks_for_mode(name: &str) -> bool {
    name.starts_with("is") && name.ends_with("Mode")
}

/// True if a class of this name keeps a program's settings: `CommonConfigHolder`.
pub fn keeps_settings(name: &str) -> bool {
    ["Config", "Configuration", "Settings"]
        .iter()
        .any(|what| name.ends_with(what) || name.strip_suffix("Holder").is_some_and(|name| name.ends_with(what)))
}

/// True if a folder of this name holds tests, or code that supports them.
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

/// True if an operator of this name calls its callable with every element of its receiver.
pub(crate) fn goes_through_all(name: &str) -> bool {
    matches!(
        name,
        "forEach" | "forEachOrdered" | "peek" | "doOnNext" | "allMatch" | "anyMatch" | "noneMatch" | "filter"
    ) || ["map", "flatMap", "concatMap", "transform"].iter().any(|start| name.starts_with(start))
}

/// True if a call of this name begins a chain with all elements of a collection.
pub(crate) fn makes_stream_of_all(name: &str) -> bool {
    matches!(name, "stream" | "parallelStream" | "values" | "fromIterable" | "fromStream" | "iterable")
}

/// True if an operator of this name passes all elements on unchanged.
pub(crate) fn keeps_elements(name: &str) -> bool {
    matches!(name, "sorted" | "sort" | "distinct" | "peek" | "doOnNext" | "parallel" | "sequential" | "unordered")
}
