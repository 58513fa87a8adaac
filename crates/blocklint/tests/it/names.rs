//! Strings in code do not contain names of libraries: behaviour of libraries is data in `rules/models`, which users can
//! override.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{add_files, repository};

/// Libraries without a model that code might still mention.
const OTHERS: [&str; 22] = [
    "aiohttp",
    "attr",
    "attrs",
    "boto3",
    "celery",
    "django",
    "flask",
    "homeassistant",
    "kafka",
    "lombok",
    "numpy",
    "pandas",
    "psycopg",
    "psycopg2",
    "pydantic",
    "redis",
    "sqlalchemy",
    "tornado",
    "uvicorn",
    "async_trait",
    "reqwest",
    "springframework",
];

/// Names that code may contain: files of standard libraries, and runtimes.
const KNOWN: [&str; 14] = [
    "python",
    "std",
    "jdk",
    "asyncio",
    "anyio",
    "trio",
    "tokio",
    "async_std",
    "smol",
    "netty",
    "reactor",
    "vertx",
    "gevent",
    "eventlet",
];

/// Files of the linker's languages that hold tables of names which change what code means, such as the generators of
/// constructors.
const TABLES: [&str; 7] = ["mod", "words", "names", "builtins", "protocols", "conventions", "generated_code"];

/// True for files that may contain names of libraries: tables of names, and the list of runtimes.
fn is_table(file: &Path) -> bool {
    let path = file.to_string_lossy();
    path.contains("blocklint_link/src/lang/") && file.file_stem().is_some_and(|stem| TABLES.iter().any(|table| stem == *table))
        || file.ends_with("blocklint_core/src/words.rs")
        // The way in which a framework serialises responses cannot be a model row.
        || file.parent().is_some_and(|folder| folder.ends_with("blocklint_analysis/src/rules/large_response_on_loop"))
}

/// The libraries of all model files, as they are written in code.
fn libraries() -> BTreeSet<String> {
    let mut models = Vec::new();
    add_files(&repository().join("rules/models"), "toml", &mut models);
    let mut names = OTHERS.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    for model in models {
        let text = fs::read_to_string(&model).expect("a model");
        let quoted = |key: &str| {
            let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
            line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
        };
        let libraries = quoted("library = ");
        assert!(!libraries.is_empty(), "{} names no library", model.display());
        if libraries.iter().any(|name| name.contains(':')) {
            // Java code has names of packages, not of artifacts.
            names.extend(quoted("roots = "));
        } else if text.contains("\nlanguage = \"rust\"") {
            // Many crates have common words as names, which count only at the beginning of a path.
            names.extend(libraries.iter().map(|name| name.replace('-', "_") + "::"));
        } else {
            names.extend(libraries.iter().flat_map(|name| name.split('.')).map(|part| part.replace('-', "_")));
        }
    }
    // Common parts of names, and names that are also formats.
    let parts =
        ["io", "org", "com", "projectreactor", "core", "common", "code", "lib", "java", "py", "toml", "markdown"];
    for known in KNOWN.iter().chain(&parts) {
        names.remove(*known);
        names.remove(&format!("{known}::"));
    }
    names
}

/// The string literals of Rust code, with their lines; comments and test modules are none.
fn strings(code: &str) -> Vec<(usize, &str)> {
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or(code);
    let bytes = code.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &code[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\") {
            // An escaped character, which may be a quote.
            3
        } else if rest.starts_with("r\"") || rest.starts_with("r#\"") {
            let close = if rest.starts_with("r\"") { "\"" } else { "\"#" };
            let start = rest.find('"').map_or(rest.len(), |quote| quote + 1);
            let length = rest[start..].find(close).unwrap_or(rest.len() - start);
            found.push((at + start, &rest[start..start + length]));
            start + length + close.len()
        } else if rest.starts_with('"') {
            let mut end = 1;
            while end < rest.len() && rest.as_bytes()[end] != b'"' {
                end += if rest.as_bytes()[end] == b'\\' { 2 } else { 1 };
            }
            found.push((at + 1, &rest[1..end]));
            end + 1
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        at += skipped;
    }
    found.into_iter().map(|(start, text)| (code[..start].lines().count(), text)).collect()
}

/// True if the text names a path of the library: the name alone, or in front of `.x` or `::x`.
fn names_library(text: &str, library: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(library).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + library.len()..]);
        let begins = !before.ends_with(is_name);
        let path = library.ends_with("::").then_some(after);
        let member = path.or_else(|| after.strip_prefix("::")).or_else(|| after.strip_prefix('.'));
        begins && (text == library || member.is_some_and(|rest| rest.starts_with(is_name)))
    })
}

#[test]
fn no_crate_names_a_library() {
    let libraries = libraries();
    assert!(libraries.contains("requests") && libraries.contains("redis.clients.jedis"), "{libraries:?}");
    let mut sources = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).expect("crates") {
        add_files(&entry.expect("a crate").path().join("src"), "rs", &mut sources);
    }
    assert!(sources.len() > 100, "only {} files were found", sources.len());
    let mut named = Vec::new();
    for source in sources.iter().filter(|source| !is_table(source)) {
        let code = fs::read_to_string(source).expect("a source");
        for (line, text) in strings(&code) {
            for library in libraries.iter().filter(|library| names_library(text, library)) {
                named.push(format!("{}:{line}: `{library}` in {text:?}", source.display()));
            }
        }
    }
    assert!(named.is_empty(), "libraries belong in rules/models:\n{}", named.join("\n"));
}

#[test]
fn strings_and_names_are_found() {
    let code = "// \"no\"\nlet a = \"x.requests.get\"; /* \"no\" */ let b = '\"'; let c = r#\"a \"requests\" b\"#;\n\"\\\"requests\"";
    let found = strings(code);
    assert_eq!(found, [(2, "x.requests.get"), (2, "a \"requests\" b"), (3, "\\\"requests")]);
    let named = found.iter().map(|(_, text)| names_library(text, "requests")).collect::<Vec<_>>();
    assert_eq!(named, [true, false, false]);
    assert!(names_library("requests", "requests") && names_library("requests::get", "requests"));
    assert!(names_library("ignore::Walk", "ignore::") && !names_library("ignore", "ignore::"));
    assert!(!names_library("all requests. Then", "requests") && !names_library("my_requests.x", "requests"));
}
