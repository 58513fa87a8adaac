//! Names of each language's own methods, functions, types and exceptions that change how code is read: constructors, literals, durations,
//! dictionaries, iteration. Each language fills one [`LanguageWords`]; names that all languages share are functions and lists of this file.
//! Names of libraries are rows of models.

/// The method by which threads are set going, in all languages that have one.
pub(crate) const STARTS_THREAD: &str = "start";

/// Methods that ask a thread, a process or a server to end.
pub const TELLS_TO_END: &[&str] =
    &["set", "stop", "cancel", "close", "shutdown", "terminate", "kill", "quit", "interrupt", "send_signal"];

/// Methods that wait until another calls one of those.
pub const WAITS: &[&str] = &["wait"];

/// Methods that ask for the end by an element that means it.
pub const SENDS_SENTINEL: &[&str] = &["put", "put_nowait", "send"];

/// Kinds of literals that have a type of their own.
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

/// The end of a string that a method asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringEnd {
    First,
    Last,
}

/// The names of one language. A list that a language has no names for is empty.
#[derive(Clone, Copy, Debug)]
pub struct LanguageWords {
    /// The types of literals that are looked up by a path.
    pub(crate) literal_types: &'static [(Literal, &'static str)],
    /// Types of which only is known that they can be read or written.
    pub(crate) any_streams: &'static [&'static str],
    /// The methods of strings that ask for their beginning and their end.
    pub(crate) string_ends: [&'static str; 2],
    /// Constructors of durations, with the seconds of one unit.
    pub(crate) durations: &'static [(&'static str, f64)],
    /// Methods that make an instance.
    pub(crate) constructors: &'static [&'static str],
    /// Functions that return a count to loop over, not elements.
    pub(crate) counters: &'static [&'static str],
    /// Functions that a type has by its derives, with their paths in the library.
    pub(crate) derived_functions: &'static [(&'static str, &'static str)],
    /// Methods that return true to the first caller only.
    pub(crate) first_caller_checks: &'static [&'static str],
    /// The method that asks if a terminal is at the other end of a stream.
    pub terminal_check: Option<&'static str>,
    /// Methods that return the value of a dictionary's key, or a default.
    pub(crate) key_reads: &'static [&'static str],
    /// Methods that put keys into a dictionary.
    pub(crate) key_writes: &'static [&'static str],
    /// Exceptions that answer a question (a key, a file or a module is absent; a text is no number; time is up) instead of telling of a
    /// failure; `None` where names of exceptions are not read.
    pub(crate) expected_exceptions: Option<&'static [&'static str]>,
    /// Methods that choose the instance which a constructor call returns.
    pub(crate) instance_makers: &'static [&'static str],
    /// Methods of a metaclass that choose the instance which a call of its class returns.
    pub(crate) class_calls: &'static [&'static str],
    /// The keyword of a class statement that names its metaclass.
    pub(crate) metaclass_keyword: Option<&'static str>,
    /// Methods and functions that call the callable they get for each element.
    pub(crate) element_callers: &'static [&'static str],
    /// Methods and functions that only calculate, whatever type has them.
    pub(crate) calculations: &'static [&'static str],
    /// The method that a subscript calls.
    pub(crate) subscript_method: &'static str,
    /// Methods of functional interfaces of the language's own library.
    pub(crate) functional_methods: &'static [&'static str],
    /// True if a cast sets the functional interface of a lambda.
    pub(crate) casts_callables: bool,
    /// True if the declared type of a local counts for each unknown value that is assigned to it:
    /// `found: Optional[Store] = None`.
    pub(crate) declares_later_values: bool,
    /// True if methods take their receiver as a parameter.
    pub(crate) passes_receiver: bool,
    /// True if asynchronous results are awaited. Rows of Java name the future or publisher itself.
    pub(crate) has_await: bool,
    /// True if a function without a known result mostly returns the result of the callable that it is given.
    pub(crate) returns_result_of_callable: bool,
    /// True if classes are mostly made many times by libraries (builders, containers), where no call of the constructor is seen.
    pub is_made_by_others: bool,
    /// True if the threads that the language's own functions hand work to are few for each core, and further work waits in a queue.
    pub bounds_offloads: bool,
}

impl LanguageWords {
    /// Returns the type of a literal, if it is looked up by a path.
    pub(crate) fn literal_type(&self, literal: Literal) -> Option<&'static str> {
        self.literal_types.iter().find(|(of, _)| *of == literal).map(|&(_, path)| path)
    }

    /// True if a type is that of literals or displays. Projects derive none of their own as a rule.
    pub fn is_literal_type(&self, path: &str) -> bool {
        self.literal_types.iter().any(|&(_, of)| of == path)
    }

    /// True if a type shows that something can be read or written, but not what it is.
    pub(crate) fn is_any_stream(&self, path: &str) -> bool {
        self.any_streams.contains(&path)
    }

    /// Returns the end of a string that a method of this name asks for.
    pub(crate) fn asks_for_end(&self, method: &str) -> Option<StringEnd> {
        let [first, last] = self.string_ends;
        match method {
            _ if method == first => Some(StringEnd::First),
            _ if method == last => Some(StringEnd::Last),
            _ => None,
        }
    }

    /// Returns the seconds of one unit of a constructor of durations: `Duration::from_secs`, `Duration.ofMillis`.
    pub(crate) fn duration_unit(&self, name: &str) -> Option<f64> {
        self.durations.iter().find(|(of, _)| *of == name).map(|&(_, seconds)| seconds)
    }

    /// True if a method of this name makes an instance.
    pub fn is_constructor(&self, name: &str) -> bool {
        self.constructors.contains(&name)
    }

    /// True if a function of this name returns a count to loop over, not elements.
    pub fn counts(&self, name: &str) -> bool {
        self.counters.contains(&name)
    }

    /// Returns the library function that a type has by its derives, for a function of this name.
    pub(crate) fn derived_function(&self, name: &str) -> Option<&'static str> {
        self.derived_functions.iter().find(|(of, _)| *of == name).map(|&(_, path)| path)
    }

    /// True if a method of this name returns true to the first caller only.
    pub fn sets_once(&self, name: &str) -> bool {
        self.first_caller_checks.contains(&name)
    }

    /// True if a method of this name returns the value of a dictionary's key, or a default.
    pub fn reads_a_key(&self, name: &str) -> bool {
        self.key_reads.contains(&name)
    }

    /// True if a method of this name puts keys into a dictionary.
    pub(crate) fn fills_keys(&self, name: &str) -> bool {
        self.key_writes.contains(&name)
    }

    /// True if an exception of this name reports a failure, and is no answer such as `KeyError`.
    pub fn is_failure(&self, name: &str) -> bool {
        self.expected_exceptions.is_some_and(|expected| !expected.contains(&name))
    }

    /// True if a method of this name chooses the instance that a constructor call returns.
    pub fn chooses_instances(&self, name: &str) -> bool {
        self.instance_makers.contains(&name)
    }

    /// True if a metaclass's method of this name chooses the instance that a call of its class returns.
    pub fn calls_class(&self, name: &str) -> bool {
        self.class_calls.contains(&name)
    }

    /// True if a keyword of a class statement names its metaclass.
    pub fn names_metaclass(&self, name: &str) -> bool {
        self.metaclass_keyword == Some(name)
    }

    /// True if a method or function of this name calls the callable it gets for each element.
    pub fn goes_through(&self, name: &str) -> bool {
        self.element_callers.contains(&name)
    }

    /// True if a method or function of this name, of a type that is not known, only calculates: methods of numbers, texts,
    /// collections and iterators.
    pub fn only_calculates(&self, name: &str) -> bool {
        CALCULATIONS.contains(&name) || self.calculations.contains(&name)
    }

    /// True if a method name is that of a functional interface of the language's own library.
    pub(crate) fn is_functional_method(&self, name: &str) -> bool {
        self.functional_methods.contains(&name)
    }
}

/// Methods and functions that only calculate, in all languages.
const CALCULATIONS: &[&str] = &[
    "len", "min", "max", "sum", "abs", "append", "push", "add", "insert", "extend", "pop", "sort", "map", "filter",
    "zip", "range",
];

/// True if a method of this name puts something into a collection.
pub fn fills(name: &str) -> bool {
    matches!(name, "update" | "append" | "add" | "extend" | "insert" | "setdefault" | "put")
}

/// True if a method of this name takes something out of a collection.
pub fn empties(name: &str) -> bool {
    matches!(name, "clear" | "pop" | "popitem" | "popleft" | "remove" | "discard" | "get_nowait")
}

/// True if a function of this name ends an object that lives as long as the program, or resets it for a test.
pub fn ends_a_life(name: &str) -> bool {
    let first = name.trim_start_matches('_').split('_').next().unwrap_or(name);
    matches!(
        first,
        "stop" | "close" | "aclose" | "shutdown" | "terminate" | "teardown" | "cleanup" | "dispose" | "reset" | "clear"
    ) || matches!(name, "__exit__" | "__aexit__" | "__del__")
}

/// True if a method of this name ends the threads of the object it is called on.
pub fn ends_threads(name: &str) -> bool {
    matches!(name, "shutdown" | "shutdownNow" | "shutdownGracefully" | "close" | "terminate" | "join" | "dispose")
}

/// True if a constructor or factory of this name makes a pool that has a thread for each task, or that runs the tasks its threads wait for.
pub fn makes_growing_pool(name: &str) -> bool {
    ["Cached", "Virtual", "ThreadPerTask", "WorkStealing", "ForkJoin"].iter().any(|part| name.contains(part))
}
