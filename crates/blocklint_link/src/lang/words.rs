//! Names of methods, functions, types and exceptions that have a meaning in a language: constructors, types of
//! literals, durations, dictionaries, iteration. Each language fills one [`LanguageWords`]; names that all languages
//! share are functions and lists of this file. Names of libraries are rows of models.

/// The method that starts a thread, in all languages that have one.
pub(crate) const THREAD_START: &str = "start";

/// Methods that make a thread, a process or a server end: `stop_event.set()`, `process.terminate()`.
pub const STOP_METHODS: &[&str] =
    &["set", "stop", "cancel", "close", "shutdown", "terminate", "kill", "quit", "interrupt", "send_signal"];

/// Methods that wait until another thread calls one of [`STOP_METHODS`]: `stop_event.wait()`.
pub const WAIT_METHODS: &[&str] = &["wait"];

/// Methods that put an element into a queue; a sentinel (`queue.put(None)`) makes the reader end.
pub const SENTINEL_METHODS: &[&str] = &["put", "put_nowait", "send"];

/// The kind of a literal or display, for its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Bool,
    Int,
    Float,
    Str,
    Bytes,
    List,
    Set,
    Dict,
}

/// The end of a string that a method tests: `startswith`, `endswith`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringEnd {
    First,
    Last,
}

/// The names of one language. A list that a language has no names for is empty.
#[derive(Clone, Copy, Debug)]
pub struct LanguageWords {
    /// The paths of the types of literals.
    pub(crate) literal_types: &'static [(Literal, &'static str)],
    /// Types of streams that do not show the medium: `typing.IO`, `InputStream`.
    pub(crate) any_streams: &'static [&'static str],
    /// The methods that test the beginning and the end of a string.
    pub(crate) string_ends: [&'static str; 2],
    /// Methods that test whether a value is absent, each with true if "yes" means absent: `is_none`, `is_some`.
    pub(crate) absence_tests: &'static [(&'static str, bool)],
    /// Methods that test whether an operation failed, each with true if "yes" means failed: `is_err`, `is_ok`.
    pub failure_tests: &'static [(&'static str, bool)],
    /// The name of the variant of a failed result: `Err`.
    pub failure: Option<&'static str>,
    /// True if a case can run where its test does not hold, because the case before it falls through.
    pub(crate) falls_through_cases: bool,
    /// Constructors of durations, with the seconds of one unit.
    pub(crate) durations: &'static [(&'static str, f64)],
    /// Methods that make an instance.
    pub(crate) constructors: &'static [&'static str],
    /// Functions that return a count to loop over, not elements.
    pub(crate) counters: &'static [&'static str],
    /// Functions that derives add to a type, with their paths in the library.
    pub(crate) derived_functions: &'static [(&'static str, &'static str)],
    /// Methods that return true for their first caller only.
    pub(crate) first_caller_checks: &'static [&'static str],
    /// The method that returns true if a stream is a terminal.
    pub terminal_check: Option<&'static str>,
    /// Methods that return the value of a dictionary's key, or a default: `get`, `pop`.
    pub(crate) key_reads: &'static [&'static str],
    /// Methods that put keys into a dictionary.
    pub(crate) key_writes: &'static [&'static str],
    /// Exceptions that answer a question (a key, a file or a module is absent; a text is no number; time is up) and
    /// report no failure; `None` if the language's exceptions are not classified.
    pub(crate) expected_exceptions: Option<&'static [&'static str]>,
    /// Methods that choose the instance that a constructor call returns: `__new__`.
    pub(crate) instance_makers: &'static [&'static str],
    /// Methods of a metaclass that choose the instance that a call of its class returns: `__call__`.
    pub(crate) class_calls: &'static [&'static str],
    /// The keyword of a class statement that names its metaclass.
    pub(crate) metaclass_keyword: Option<&'static str>,
    /// Methods and functions that call their callable argument for each element: `map`.
    pub(crate) element_callers: &'static [&'static str],
    /// Methods and functions that only calculate, on every type that has them.
    pub(crate) calculations: &'static [&'static str],
    /// The method that a subscript calls.
    pub(crate) subscript_method: &'static str,
    /// Methods of functional interfaces of the language's own library.
    pub(crate) functional_methods: &'static [&'static str],
    /// True if a cast sets the functional interface of a lambda.
    pub(crate) casts_callables: bool,
    /// True if the declared type of a local applies to each unknown value that is assigned to it:
    /// `found: Optional[Store] = None`.
    pub(crate) declares_later_values: bool,
    /// True if methods take their receiver as a parameter.
    pub(crate) passes_receiver: bool,
    /// True if the language has `await`. Rows of Java describe the future or publisher itself.
    pub(crate) has_await: bool,
    /// True if a function with an unknown result probably returns the result of its callable argument.
    pub(crate) returns_result_of_callable: bool,
    /// True if libraries (builders, containers) often construct classes, so that the project has no call of the
    /// constructor.
    pub constructs_in_libraries: bool,
    /// True if the standard pools for blocking work have a few threads per core, so that further work waits in a queue.
    pub bounds_offloads: bool,
}

impl LanguageWords {
    /// Returns the path of a literal's type.
    pub(crate) fn literal_type(&self, literal: Literal) -> Option<&'static str> {
        self.literal_types.iter().find(|(kind, _)| *kind == literal).map(|&(_, path)| path)
    }

    /// True if a type is the type of a literal or display. Projects seldom derive classes from these.
    pub fn is_literal_type(&self, path: &str) -> bool {
        self.literal_types.iter().any(|&(_, literal_type)| literal_type == path)
    }

    /// True if a type is a stream that does not show the medium: `typing.IO`, `InputStream`.
    pub(crate) fn is_any_stream(&self, path: &str) -> bool {
        self.any_streams.contains(&path)
    }

    /// Returns true if a method of this name returns true for an absent value (`is_none`), false if it returns false
    /// for one (`is_some`); `None` for other methods.
    pub fn absence_test(&self, method: &str) -> Option<bool> {
        self.absence_tests.iter().find(|(name, _)| *name == method).map(|&(_, says_absent)| says_absent)
    }

    /// Returns true if a method of this name returns true for a failure (`is_err`), false if it returns false for one
    /// (`is_ok`); `None` for other methods.
    pub fn failure_test(&self, method: &str) -> Option<bool> {
        self.failure_tests.iter().find(|(name, _)| *name == method).map(|&(_, says_failed)| says_failed)
    }

    /// Returns the end of a string that a method of this name tests.
    pub(crate) fn string_end(&self, method: &str) -> Option<StringEnd> {
        let [first, last] = self.string_ends;
        match method {
            _ if method == first => Some(StringEnd::First),
            _ if method == last => Some(StringEnd::Last),
            _ => None,
        }
    }

    /// Returns the seconds of one unit of a constructor of durations: `Duration::from_secs`, `Duration.ofMillis`.
    pub(crate) fn duration_unit(&self, name: &str) -> Option<f64> {
        self.durations.iter().find(|(constructor, _)| *constructor == name).map(|&(_, seconds)| seconds)
    }

    /// True if a method of this name makes an instance.
    pub fn is_constructor(&self, name: &str) -> bool {
        self.constructors.contains(&name)
    }

    /// True if a function of this name returns a count to loop over, not elements.
    pub fn returns_count(&self, name: &str) -> bool {
        self.counters.contains(&name)
    }

    /// Returns the path of the library function of this name that a derive adds to a type.
    pub(crate) fn derived_function(&self, name: &str) -> Option<&'static str> {
        self.derived_functions.iter().find(|(function, _)| *function == name).map(|&(_, path)| path)
    }

    /// True if a method of this name returns true for its first caller only.
    pub fn is_first_caller_check(&self, name: &str) -> bool {
        self.first_caller_checks.contains(&name)
    }

    /// True if a method of this name returns the value of a dictionary's key, or a default.
    pub fn reads_key(&self, name: &str) -> bool {
        self.key_reads.contains(&name)
    }

    /// True if a method of this name puts keys into a dictionary.
    pub(crate) fn writes_keys(&self, name: &str) -> bool {
        self.key_writes.contains(&name)
    }

    /// True if an exception of this name reports a failure, unlike `KeyError`, which answers a question.
    pub fn is_failure(&self, name: &str) -> bool {
        self.expected_exceptions.is_some_and(|expected| !expected.contains(&name))
    }

    /// True if a method of this name chooses the instance that a constructor call returns.
    pub fn chooses_instances(&self, name: &str) -> bool {
        self.instance_makers.contains(&name)
    }

    /// True if a metaclass's method of this name chooses the instance that a call of its class returns.
    pub fn is_class_call(&self, name: &str) -> bool {
        self.class_calls.contains(&name)
    }

    /// True if a keyword of a class statement names its metaclass.
    pub fn is_metaclass_keyword(&self, name: &str) -> bool {
        self.metaclass_keyword == Some(name)
    }

    /// True if a method or function of this name calls its callable argument for each element.
    pub fn calls_for_each_element(&self, name: &str) -> bool {
        self.element_callers.contains(&name)
    }

    /// True if a method or function of this name only calculates, for a receiver of unknown type: methods of numbers,
    /// texts, collections and iterators.
    pub fn only_calculates(&self, name: &str) -> bool {
        CALCULATIONS.contains(&name) || self.calculations.contains(&name)
    }

    /// True if a functional interface of the language's own library has a method of this name.
    pub(crate) fn is_functional_method(&self, name: &str) -> bool {
        self.functional_methods.contains(&name)
    }
}

/// Methods and functions that only calculate, in all languages.
const CALCULATIONS: &[&str] = &[
    "len", "min", "max", "sum", "abs", "append", "push", "add", "insert", "extend", "pop", "sort", "map", "filter",
    "zip", "range",
];

/// True if a method of this name adds elements to a collection.
pub fn adds_to_collection(name: &str) -> bool {
    matches!(name, "update" | "append" | "add" | "extend" | "insert" | "setdefault" | "put")
}

/// True if a method of this name removes elements from a collection.
pub fn removes_from_collection(name: &str) -> bool {
    matches!(name, "clear" | "pop" | "popitem" | "popleft" | "remove" | "discard" | "get_nowait")
}

/// True if a function of this name ends an object that lives as long as the program, or resets it for a test.
pub fn ends_lifetime(name: &str) -> bool {
    let first_word = name.trim_start_matches('_').split('_').next().unwrap_or(name);
    matches!(
        first_word,
        "stop" | "close" | "aclose" | "shutdown" | "terminate" | "teardown" | "cleanup" | "dispose" | "reset" | "clear"
    ) || matches!(name, "__exit__" | "__aexit__" | "__del__")
}

/// True if a method of this name ends the threads of the object it is called on.
pub fn ends_threads(name: &str) -> bool {
    matches!(name, "shutdown" | "shutdownNow" | "shutdownGracefully" | "close" | "terminate" | "join" | "dispose")
}

/// True if a constructor or factory of this name makes a pool that starts a thread for each task, or whose waiting
/// threads run other tasks (`ForkJoinPool`).
pub fn makes_unbounded_pool(name: &str) -> bool {
    ["Cached", "Virtual", "ThreadPerTask", "WorkStealing", "ForkJoin"].iter().any(|part| name.contains(part))
}
