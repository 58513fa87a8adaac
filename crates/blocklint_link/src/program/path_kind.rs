//! Tests, examples, demos, benchmarks and command lines, by the path of a file: its name and the folders above it.

use crate::program::folders;

/// Folders of programs that measure, or that put load on others.
const MEASURES: &[&str] = &["perf", "benchmark", "benchmarks", "jmh", "loadtest"];

/// The beginnings of packages that still have a project generator's name: `com.example.demo`.
const UNNAMED: &[&str] = &["com/example/", "org/example/", "net/example/", "io/example/"];

/// Returns a path without the folders of a package that have no meaning: project generators write `com.example.demo`.
fn named(relative: &str) -> &str {
    let begins = |start: &&str| relative.find(*start).filter(|&at| at == 0 || relative[..at].ends_with('/'));
    match UNNAMED.iter().find_map(begins) {
        Some(at) if relative[..at].split('/').any(|folder| matches!(folder, "java" | "kotlin" | "src")) => {
            &relative[..at]
        }
        _ => relative,
    }
}

/// True if a file is part of a demo, by the folders above it.
pub(crate) fn is_of_demo(relative: &str) -> bool {
    folders(relative)
        .flat_map(|folder| folder.split('-'))
        .any(|word| matches!(word, "demo" | "demos" | "example" | "examples" | "sample" | "samples"))
}

/// True if a file is an example, a demo or a benchmark, as far as its path shows. Such a program serves no users.
pub fn is_example(relative: &str) -> bool {
    folders(named(relative)).any(|folder| {
        folder.split(['_', '-']).any(|word| matches!(word, "example" | "examples"))
            || matches!(
                folder,
                "sample" | "samples" | "demo" | "demos" | "benchmark" | "benchmarks" | "perf" | "docs_src"
            )
    })
}

/// True if a file belongs to an example program or a benchmark. Such programs lie in folders named for that.
pub fn is_for_show(relative: &str) -> bool {
    folders(named(relative)).any(|folder| matches!(folder, "example" | "examples") || MEASURES.contains(&folder))
}

/// True if a file holds tests, by its path below the project root.
pub(crate) fn is_test(relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    // `phd-tests`, `tests_integration`
    let of_tests = |folder: &str| folder.split(['-', '_']).any(|word| word == "tests");
    let in_folder = folders(relative).any(|folder| matches!(folder, "test" | "benches") || of_tests(folder));
    let in_folder =
        in_folder || name.ends_with(".java") && folders(relative).any(crate::lang::java::words::is_folder_of_tests);
    let is_example = name.ends_with(".rs") && folders(relative).any(|folder| folder == "examples");
    in_folder
        || is_example
        || matches!(name, "tests.rs" | "test.rs" | "testutil.rs" | "testutils.rs")
        || matches!(name, "conftest.py" | "testutil.py" | "testutils.py")
        || name.starts_with("test_") && (name.ends_with(".py") || name.ends_with(".rs"))
        || name.ends_with("_test.py")
}

/// True if a Rust file is one of a command line, as far as its folders show: the crate is called so, or its module
/// holds the commands, or what a terminal shows to the one person before it.
pub(crate) fn is_rust_command(relative: &str) -> bool {
    folders(relative).any(|folder| {
        matches!(folder, "command" | "commands" | "subcommands" | "tui" | "xtask")
            || folder.ends_with("-cli")
            || folder.ends_with("_cli")
    }) || relative.ends_with("/cli.rs")
}
