//! The kind of a file by its path: tests, examples, demos, benchmarks and command-line programs.

use crate::program::folders;

/// Folders of benchmarks and load tests.
const BENCHMARK_FOLDERS: &[&str] = &["perf", "benchmark", "benchmarks", "jmh", "loadtest"];

/// Prefixes of packages that still have the placeholder name of a project generator: `com.example.demo`.
const PLACEHOLDER_PACKAGES: &[&str] = &["com/example/", "org/example/", "net/example/", "io/example/"];

/// Returns a path without its placeholder package, because that says nothing of the kind of file: `src` of
/// `src/com/example/demo/App.java`.
fn without_placeholder_package(relative: &str) -> &str {
    let find = |package: &&str| relative.find(*package).filter(|&at| at == 0 || relative[..at].ends_with('/'));
    match PLACEHOLDER_PACKAGES.iter().find_map(find) {
        Some(start) if relative[..start].split('/').any(|folder| matches!(folder, "java" | "kotlin" | "src")) => {
            &relative[..start]
        }
        _ => relative,
    }
}

/// True if a file is part of a demo, by the folders above it: `demo-app/`, `samples/`.
pub(crate) fn is_in_demo_folder(relative: &str) -> bool {
    folders(relative)
        .flat_map(|folder| folder.split('-'))
        .any(|word| matches!(word, "demo" | "demos" | "example" | "examples" | "sample" | "samples"))
}

/// True if a file is an example, a demo or a benchmark, by its folders. Such a program has no users.
pub fn is_example(relative: &str) -> bool {
    folders(without_placeholder_package(relative)).any(|folder| {
        folder.split(['_', '-']).any(|word| matches!(word, "example" | "examples"))
            || matches!(
                folder,
                "sample" | "samples" | "demo" | "demos" | "benchmark" | "benchmarks" | "perf" | "docs_src"
            )
    })
}

/// True if a file is in a folder of examples or benchmarks. Samples and demos do not count, unlike in [`is_example`].
pub fn is_in_example_folder(relative: &str) -> bool {
    folders(without_placeholder_package(relative))
        .any(|folder| matches!(folder, "example" | "examples") || BENCHMARK_FOLDERS.contains(&folder))
}

/// True if a file contains tests, by its path below the project root.
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

/// True if a Rust file belongs to a command-line program, by its folders: the crate is called `…-cli`, or a module
/// contains the commands or the terminal interface.
pub(crate) fn is_rust_command(relative: &str) -> bool {
    folders(relative).any(|folder| {
        matches!(folder, "command" | "commands" | "subcommands" | "tui" | "xtask")
            || folder.ends_with("-cli")
            || folder.ends_with("_cli")
    }) || relative.ends_with("/cli.rs")
}
