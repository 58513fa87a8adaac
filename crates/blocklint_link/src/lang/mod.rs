//! How each language looks names up, and the names of each language that change what code means.

pub mod conventions;
pub mod java;
pub mod python;
pub mod rust;

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{AssignKind, FileFacts, Form, FormId, VarId};
use rustc_hash::FxHashMap;

use crate::program::Program;
use crate::program::ids::{FileId, Name};

/// The method by which threads are set going, in all languages that have one.
pub(crate) const STARTS_THREAD: &str = "start";

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

/// The type of a literal in a language, where it has one that is looked up.
pub(crate) fn literal_type(language: Language, literal: Literal) -> Option<&'static str> {
    match language {
        Language::Python => Some(match literal {
            Literal::Bool => "builtins.bool",
            Literal::Int => "builtins.int",
            Literal::Float => "builtins.float",
            Literal::Str => "builtins.str",
            Literal::Bytes => "builtins.bytes",
            Literal::List => "builtins.list",
            Literal::Set => "builtins.set",
            Literal::Dict => "builtins.dict",
        }),
        Language::Java => match literal {
            Literal::Str => Some("java.lang.String"),
            Literal::List => Some(lang::java::names::ARRAY),
            _ => None,
        },
        Language::Rust => match literal {
            Literal::Str => Some("str"),
            Literal::List => Some("std::vec::Vec"),
            _ => None,
        },
    }
}

/// Whether a type says that something can be read or written, and not what.
pub(crate) fn is_any_stream(language: Language, path: &str) -> bool {
    match language {
        Language::Python => lang::python::names::is_abstract(path),
        Language::Rust => lang::rust::names::is_reader(path),
        Language::Java => lang::java::names::STREAMS.contains(&path),
    }
}

/// Whether a type is that of literals or displays, from which projects derive none of their own as a rule.
pub fn is_literal_type(language: Language, path: &str) -> bool {
    use Literal::{Bool, Bytes, Dict, Float, Int, List, Set, Str};
    [Bool, Int, Float, Str, Bytes, List, Set, Dict].iter().any(|&literal| literal_type(language, literal) == Some(path))
}

/// Which end of a string a method asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringEnd {
    First,
    Last,
}

/// The end that the strings' own method of this name asks for.
pub(crate) fn asks_for_end(language: Language, method: &str) -> Option<StringEnd> {
    match (language, method) {
        (Language::Python, "startswith") | (Language::Rust, "starts_with") | (Language::Java, "startsWith") => {
            Some(StringEnd::First)
        }
        (Language::Python, "endswith") | (Language::Rust, "ends_with") | (Language::Java, "endsWith") => {
            Some(StringEnd::Last)
        }
        _ => None,
    }
}

/// Names under which imports bind another name: original → aliases.
pub(crate) fn import_aliases(program: &Program<'_>) -> FxHashMap<Name, Vec<Name>> {
    let mut aliases: FxHashMap<Name, Vec<Name>> = FxHashMap::default();
    for (slot, source) in program.files.iter().enumerate() {
        let file = FileId(slot as u32);
        let facts = &source.facts;
        for assign in facts.assigns.iter().filter(|assign| assign.kind == AssignKind::Import) {
            let (Form::Var(var), Form::Import(import)) = (facts.form(assign.target), facts.form(assign.value)) else {
                continue;
            };
            let import = facts.import(import);
            let bound = facts.var(var).name;
            if import.name.is_some() && import.name != bound {
                let (Some(original), Some(alias)) = (program.global(file, import.name), program.global(file, bound))
                else {
                    continue;
                };
                let list = aliases.entry(original).or_default();
                if !list.contains(&alias) {
                    list.push(alias);
                }
            } else if import.name.is_none() && facts.language == Language::Rust {
                // `use a::b as c`: the last segment of the module is the name.
                let last = facts.text(import.module).rsplit("::").next().unwrap_or("");
                if let (Some(original), Some(alias)) = (program.name(last), program.global(file, bound))
                    && original != alias
                {
                    let list = aliases.entry(original).or_default();
                    if !list.contains(&alias) {
                        list.push(alias);
                    }
                }
            }
        }
    }
    aliases
}

/// What a test that comes out as `holds` tells of a variable's class: its form, and whether the variable is an instance
/// of it (`isinstance(v, C)`, `v instanceof C`).
pub(crate) fn instance_test(facts: &FileFacts, test: FormId, holds: bool, var: VarId) -> Option<(FormId, bool)> {
    match facts.form(test) {
        Form::Result(site) if facts.text(facts.site(site).name) == "isinstance" => {
            let [subject, class] = facts.args_of(site)[..] else { return None };
            (facts.form(subject.value) == Form::Var(var)).then_some((class.value, holds))
        }
        Form::Cast(value, class) if facts.form(value) == Form::Var(var) => Some((class, holds)),
        Form::Not(inner) => instance_test(facts, inner, !holds, var),
        // All of `a and b` hold, none of `a or b` does.
        Form::Alt(blocklint_facts::AltKind::And, list) if holds => {
            facts.list(list).iter().find_map(|&part| instance_test(facts, part, true, var))
        }
        Form::Alt(blocklint_facts::AltKind::Or, list) if !holds => {
            facts.list(list).iter().find_map(|&part| instance_test(facts, part, false, var))
        }
        _ => None,
    }
}

/// Seconds of one unit of a constructor of durations (`Duration::from_secs`, `Duration.ofMillis`).
pub(crate) fn duration_unit(language: Language, name: &str) -> Option<f64> {
    Some(match (language, name) {
        (Language::Rust, "from_secs" | "from_secs_f64" | "from_secs_f32") | (Language::Java, "ofSeconds") => 1.0,
        (Language::Rust, "from_millis") | (Language::Java, "ofMillis") => 1e-3,
        (Language::Rust, "from_micros") => 1e-6,
        (Language::Rust, "from_nanos") | (Language::Java, "ofNanos") => 1e-9,
        (Language::Rust, "from_mins") | (Language::Java, "ofMinutes") => 60.0,
        (Language::Java, "ofHours") => 3600.0,
        _ => return None,
    })
}

/// Whether a method of this name makes an instance.
pub fn is_constructor(language: Language, name: &str) -> bool {
    match language {
        Language::Python => matches!(name, "__init__" | "__new__" | "__post_init__"),
        Language::Java => name == "<init>",
        Language::Rust => false,
    }
}

/// Whether a function of this name gives a count to loop over, not things.
pub fn counts(language: Language, name: &str) -> bool {
    language == Language::Python && matches!(name, "range" | "count")
}

/// Whether classes whose construction nobody sees are, by the language's customs, made many times by others: Java's
/// libraries are used through builders and containers. A Python or Rust program mostly makes one of each.
pub fn is_made_by_others(language: Language) -> bool {
    language == Language::Java
}

/// The library function that a type without one of this name of its own has by what it derives.
pub(crate) fn derived_function(language: Language, name: &str) -> Option<&'static str> {
    match (language, name) {
        (Language::Rust, "default") => Some("std::default::Default::default"),
        (Language::Rust, "parse") => Some("clap::Parser::parse"),
        (Language::Rust, "parse_from") => Some("clap::Parser::parse_from"),
        (Language::Rust, "try_parse") => Some("clap::Parser::try_parse"),
        (Language::Rust, "try_parse_from") => Some("clap::Parser::try_parse_from"),
        _ => None,
    }
}

/// Whether a method of this name says true to the first who asks, and to nobody after.
pub fn sets_once(language: Language, name: &str) -> bool {
    match language {
        Language::Java => name == "compareAndSet",
        Language::Rust => name == "compare_exchange",
        Language::Python => false,
    }
}

/// The method that asks whether a person sits at the other end of a stream.
pub fn asks_for_terminal(language: Language) -> Option<&'static str> {
    match language {
        Language::Python => Some("isatty"),
        Language::Rust => Some("is_terminal"),
        Language::Java => None,
    }
}

/// Whether a method of this name gives what a dictionary has under a key, or a default.
pub fn reads_a_key(language: Language, name: &str) -> bool {
    language == Language::Python && matches!(name, "get" | "pop")
}

/// Whether a method of this name puts keys into a dictionary.
pub(crate) fn fills_keys(language: Language, name: &str) -> bool {
    language == Language::Python && matches!(name, "update" | "setdefault")
}

/// Whether a method of this name puts something into a collection.
pub fn fills(name: &str) -> bool {
    matches!(name, "update" | "append" | "add" | "extend" | "insert" | "setdefault" | "put")
}

/// Whether a method of this name takes something out of a collection.
pub fn empties(name: &str) -> bool {
    matches!(name, "clear" | "pop" | "popitem" | "popleft" | "remove" | "discard" | "get_nowait")
}

/// Methods that tell a thread, a process or a server to end.
pub const TELLS_TO_END: &[&str] =
    &["set", "stop", "cancel", "close", "shutdown", "terminate", "kill", "quit", "interrupt", "send_signal"];

/// Methods that wait until another calls one of those.
pub const WAITS: &[&str] = &["wait"];

/// Methods that tell the same with nothing in the place of work.
pub const GIVES_SENTINEL: &[&str] = &["put", "put_nowait", "send"];

/// Whether a function of this name ends what lives as long as the program, or puts it back for a test.
pub fn ends_a_life(name: &str) -> bool {
    let first = name.trim_start_matches('_').split('_').next().unwrap_or(name);
    matches!(
        first,
        "stop" | "close" | "aclose" | "shutdown" | "terminate" | "teardown" | "cleanup" | "dispose" | "reset" | "clear"
    ) || matches!(name, "__exit__" | "__aexit__" | "__del__")
}

/// Whether an exception of this name tells of a failure. Some are rather an answer: that a key, an attribute, a file or a
/// module is not there, that a text cannot be read as a number, that time is up.
pub fn is_failure(language: Language, name: &str) -> bool {
    language == Language::Python
        && !matches!(
            name,
            "KeyError"
                | "IndexError"
                | "LookupError"
                | "AttributeError"
                | "NameError"
                | "StopIteration"
                | "StopAsyncIteration"
                | "ImportError"
                | "ModuleNotFoundError"
                | "FileNotFoundError"
                | "FileExistsError"
                | "NotImplementedError"
                | "ValueError"
                | "TypeError"
                | "JSONDecodeError"
                | "UnicodeDecodeError"
                | "TimeoutError"
                | "Empty"
                | "Full"
        )
}

/// Whether a method of this name chooses the instance that a constructor call gives.
pub fn gives_instances(language: Language, name: &str) -> bool {
    language == Language::Python && name == "__new__"
}

/// Whether a metaclass's method of this name chooses the instance that a call of its class gives.
pub fn calls_class(language: Language, name: &str) -> bool {
    language == Language::Python && name == "__call__"
}

/// Whether a keyword of a class statement names its metaclass.
pub fn names_metaclass(language: Language, name: &str) -> bool {
    language == Language::Python && name == "metaclass"
}

/// Whether a method of this name ends the threads of what it is called on.
pub fn ends_threads(name: &str) -> bool {
    matches!(name, "shutdown" | "shutdownNow" | "shutdownGracefully" | "close" | "terminate" | "join" | "dispose")
}

/// Whether a method of this name, given a callable, calls it for each element.
pub fn goes_through(language: Language, name: &str) -> bool {
    match language {
        Language::Rust => matches!(name, "map" | "for_each" | "filter_map" | "flat_map" | "then" | "and_then"),
        Language::Python => name == "map",
        Language::Java => matches!(name, "map" | "forEach" | "flatMap"),
    }
}

/// Whether what has this name makes a pool that has a thread for whoever asks, or runs what a thread of it waits for.
pub fn makes_growing_pool(name: &str) -> bool {
    ["Cached", "Virtual", "ThreadPerTask", "WorkStealing", "ForkJoin"].iter().any(|part| name.contains(part))
}

/// Whether a method or function of this name, of a type that nobody knows, only calculates: what numbers, texts, collections
/// and iterators have.
pub fn only_calculates(language: Language, name: &str) -> bool {
    const SHARED: [&str; 16] = [
        "len", "min", "max", "sum", "abs", "append", "push", "add", "insert", "extend", "pop", "sort", "map", "filter",
        "zip", "range",
    ];
    SHARED.contains(&name)
        || match language {
            Language::Rust => matches!(
                name,
                "iter"
                    | "iter_mut"
                    | "into_iter"
                    | "collect"
                    | "enumerate"
                    | "rev"
                    | "fold"
                    | "all"
                    | "any"
                    | "count"
                    | "chars"
                    | "bytes"
                    | "as_bytes"
                    | "as_str"
                    | "to_owned"
                    | "to_string"
                    | "clone"
                    | "push_str"
                    | "contains"
                    | "split"
                    | "is_empty"
                    | "wrapping_add"
                    | "wrapping_mul"
                    | "rotate_left"
                    | "pow"
                    | "sqrt"
                    | "chunks"
                    | "windows"
                    | "step_by"
                    | "with_capacity"
                    | "new"
                    | "get"
                    | "unwrap"
                    | "unwrap_or_default"
                    | "unwrap_or"
                    | "trim"
                    | "lines"
                    | "split_whitespace"
                    | "replace"
                    | "to_lowercase"
                    | "to_uppercase"
                    | "for_each"
                    | "product"
                    | "format"
                    | "vec"
                    | "black_box"
                    | "assert"
                    | "cmp"
                    | "swap"
                    | "sort_unstable"
                    | "dedup"
                    | "join"
                    | "concat"
                    | "take"
                    | "skip"
            ),
            Language::Python => matches!(
                name,
                "sorted"
                    | "enumerate"
                    | "reversed"
                    | "int"
                    | "float"
                    | "str"
                    | "list"
                    | "dict"
                    | "set"
                    | "tuple"
                    | "round"
                    | "pow"
                    | "split"
                    | "strip"
                    | "join"
                    | "lower"
                    | "upper"
                    | "replace"
                    | "items"
                    | "keys"
                    | "values"
                    | "all"
                    | "any"
                    | "divmod"
                    | "isinstance"
                    | "ord"
                    | "chr"
                    | "bytes"
                    | "bytearray"
                    | "format"
                    | "update"
            ),
            Language::Java => matches!(
                name,
                "length"
                    | "size"
                    | "charAt"
                    | "get"
                    | "put"
                    | "sqrt"
                    | "pow"
                    | "hashCode"
                    | "equals"
                    | "stream"
                    | "collect"
                    | "toString"
            ),
        }
}

/// Whether the threads to which the language's own functions hand work are bounded to a few for each core: Python's are, and
/// the rest waits in a queue; those of Rust's runtimes are hundreds.
pub fn bounds_offloads(language: Language) -> bool {
    language == Language::Python
}
