//! What the path of a file says of it, by the folders it lies in.

use crate::program::folders;

/// Folders of programs that measure, or that put load on others.
const MEASURES: &[&str] = &["perf", "benchmark", "benchmarks", "jmh", "loadtest"];

/// What packages begin with that nobody has named yet: `com.example.demo`.
const UNNAMED: &[&str] = &["com/example/", "org/example/", "net/example/", "io/example/"];

/// A path without the folders of a package that says nothing: project generators write `com.example.demo`.
fn named(relative: &str) -> &str {
    let begins = |start: &&str| relative.find(*start).filter(|&at| at == 0 || relative[..at].ends_with('/'));
    match UNNAMED.iter().find_map(begins) {
        Some(at) if relative[..at].split('/').any(|folder| matches!(folder, "java" | "kotlin" | "src")) => {
            &relative[..at]
        }
        _ => relative,
    }
}

/// Whether a file shows or measures something and serves nobody, as far as its path tells.
pub fn is_example(relative: &str) -> bool {
    folders(named(relative)).any(|folder| {
        folder.split(['_', '-']).any(|word| matches!(word, "example" | "examples"))
            || matches!(
                folder,
                "sample" | "samples" | "demo" | "demos" | "benchmark" | "benchmarks" | "perf" | "docs_src"
            )
    })
}

/// Whether a file belongs to a program that shows something or measures: whole programs lie in folders named for that.
pub fn is_for_show(relative: &str) -> bool {
    folders(named(relative)).any(|folder| matches!(folder, "example" | "examples") || MEASURES.contains(&folder))
}
