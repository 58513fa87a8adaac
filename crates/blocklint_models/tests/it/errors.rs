//! Tests of the errors of model files: each kind of error, as the line that a user sees.

use blocklint_models::{check_builtin_files, check_user_files};

const PYTHON: &str = "schema = 1\nlanguage = \"python\"\nlibrary = \"acme\"\ndocs = \"https://acme.example\"\n";
const RUST: &str = "schema = 1\nlanguage = \"rust\"\nlibrary = \"acme\"\ndocs = \"https://acme.example\"\n";
const JAVA: &str =
    "schema = 1\nlanguage = \"java\"\nlibrary = \"org:acme\"\nroots = [\"acme\"]\ndocs = \"https://acme.example\"\n";

/// Returns the errors of one built-in file; rows begin at line 5 (Java: 6).
fn lines(header: &str, rows: &str) -> Vec<String> {
    errors(&[("acme.toml", &format!("{header}{rows}"))])
}

fn errors(files: &[(&str, &str)]) -> Vec<String> {
    match check_builtin_files(files.iter().copied()) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn expect(header: &str, rows: &str, expected: &[&str]) {
    assert_eq!(lines(header, rows), expected, "{rows}");
}

#[test]
fn unknown_keys_tables_and_values_are_errors() {
    expect(
        PYTHON,
        r#"calls = 1
[[call]]
path = "acme.get"
efect = "network"
[[call]]
path = "acme.put"
effect = "netwrok"
thread = "holdsgil"
lazy = "yes"
timeout = true
severity = 3
[[handover]]
path = "acme.run"
argumnt = 0
argument = 0
context = "workr"
[[type]]
path = "acme.T"
note = "no such key here"
[[switch]]
name = "acme"
imports = ["acme"]
import = ["acme"]
"#,
        &[
            "acme.toml:5: calls: unknown key `calls`; did you mean `call`?",
            "acme.toml:8: [[call]] efect: unknown key `efect`; did you mean `effect`?",
            "acme.toml:11: [[call]] effect: `netwrok` is not one of sleep, network, database, file, subprocess, wait, nested-loop, cpu, input, none; did you mean `network`?",
            "acme.toml:12: [[call]] thread: `holdsgil` is not one of frees, holds-gil; did you mean `holds-gil`?",
            "acme.toml:13: [[call]] lazy: must be true or false",
            r#"acme.toml:14: [[call]] timeout: must be an argument: 0, -1, "name", "name@0", "*" or "receiver""#,
            "acme.toml:15: [[call]] severity: must be one of note, warning, error",
            "acme.toml:18: [[handover]] argumnt: unknown key `argumnt`; did you mean `argument`?",
            "acme.toml:20: [[handover]] context: `workr` is not one of event-loop, greenlet, worker, unknown, caller, chain; did you mean `worker`?",
            "acme.toml:23: [[type]] note: unknown key `note`",
            "acme.toml:26: [[switch]] imports: unknown key `imports`; did you mean `import`?",
        ],
    );
}

#[test]
fn missing_keys_are_errors() {
    expect(
        PYTHON,
        "[[call]]\neffect = \"network\"\n\n[[handover]]\npath = \"acme.run\"\nargument = 0\n[[switch]]\nimport = [\"acme\"]\n",
        &[
            "acme.toml:5: [[call]] path: missing key `path`",
            "acme.toml:8: [[handover]] context: missing key `context`",
            "acme.toml:11: [[switch]] name: missing key `name`",
        ],
    );
    assert_eq!(
        errors(&[("a.toml", ""), ("j.toml", "schema = 2\nlanguage = \"java\"\n")]),
        [
            "a.toml:1: docs: missing key `docs`",
            "a.toml:1: language: missing key `language`",
            "a.toml:1: library: missing key `library`",
            "a.toml:1: schema: missing key `schema`",
            "j.toml:1: docs: missing key `docs`",
            "j.toml:1: library: missing key `library`",
            "j.toml:1: roots: missing key `roots`: in Java a library's name does not give it",
            "j.toml:1: schema: this blocklint reads schema 1",
        ]
    );
}

#[test]
fn invalid_toml_is_reported_and_the_rest_is_checked() {
    let lines = lines(PYTHON, "[[call]]\npath = \"acme.get\"\nefect = \n[[call]]\npath = \"acme.put\"\nlazzy = true\n");
    assert!(lines.iter().any(|line| line.starts_with("acme.toml:7: toml: ")), "{lines:?}");
    assert!(
        lines.contains(&"acme.toml:10: [[call]] lazzy: unknown key `lazzy`; did you mean `lazy`?".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn tables_of_the_wrong_kind_are_errors() {
    expect(
        PYTHON,
        "alias = \"x\"\ncall = 3\n",
        &[
            "acme.toml:5: alias: must be a table of strings",
            "acme.toml:6: call: must be written `[[call]]`, once per row",
        ],
    );
    expect(PYTHON, "[call]\npath = \"acme.get\"\n", &["acme.toml:5: call: must be written `[[call]]`, once per row"]);
    expect(
        PYTHON,
        "[alias]\nacme.Client = \"acme.client.Client\"\n",
        &["acme.toml:6: [alias] acme: must be a path as a string; put the path in quotes"],
    );
}

#[test]
fn values_that_do_not_parse_are_errors() {
    expect(
        PYTHON,
        r#"version = ">=2.x"
[[call]]
path = ["acme.get", "acme.{a,b", "acme..c"]
effect = "network"
when = { argument = "a b", equals = 1 }
[[call]]
path = "acme::put"
effect = "network"
[[call]]
path = "acme.list"
returns = "builtins.list[acme.T"
version = "2"
[[call]]
path = "acme.go"
effect = "network"
rewrite = "await {recv er}"
[[call]]
path = "acme.map"
moves = { sauce = 0 }
concurrency = 1.5
[[handover]]
path = "acme.run"
argument = 0
context = { sync = "worker" }
offer = "asyncio"
"#,
        &[
            r#"acme.toml:5: version: `>=2.x` is not a version range such as ">=2,<3""#,
            "acme.toml:7: [[call]] path: `acme..c` is not a path of python",
            "acme.toml:7: [[call]] path: `acme.{a,b` has a brace without its partner",
            r#"acme.toml:9: [[call]] when: must be an argument: 0, -1, "name", "name@0", "*" or "receiver""#,
            "acme.toml:11: [[call]] path: `acme::put` is not a path of python",
            "acme.toml:15: [[call]] returns: `builtins.list[acme.T` is not a type of python",
            r#"acme.toml:16: [[call]] version: `2` is not a version range such as ">=2,<3""#,
            "acme.toml:20: [[call]] rewrite: `{recv er}` is no placeholder",
            "acme.toml:23: [[call]] moves: must be { source = ... } or { rest = ... }, a context or the argument that holds the scheduler",
            r#"acme.toml:24: [[call]] concurrency: must be "unbounded", "bounded" or an argument"#,
            "acme.toml:28: [[handover]] context: must be a context, { sync = ..., async = ... } or { of = argument }",
            "acme.toml:29: [[handover]] offer: must be a list of runtimes",
        ],
    );
}

#[test]
fn invalid_conditions_are_errors() {
    let condition = |condition: &str, expected: &str| {
        let rows = format!("[[call]]\npath = \"acme.get\"\neffect = \"network\"\nwhen = {condition}\n");
        expect(PYTHON, &rows, &[format!("acme.toml:8: [[call]] when: {expected}").as_str()]);
    };
    condition("{ equals = 1 }", "a condition has exactly one of argument, context, runtime, switch, library");
    condition(
        "{ argumnt = 0, equals = 1 }",
        "a condition has exactly one of argument, context, runtime, switch, library; did you mean `argument`?",
    );
    condition(
        r#"{ argument = 0, context = "worker" }"#,
        "a condition has exactly one of argument, context, runtime, switch, library",
    );
    condition("{ argument = 0 }", "a condition on an argument needs a test");
    condition("{ argument = 0, equal = 1 }", "unknown test `equal`; did you mean `equals`?");
    condition(r#"{ argument = 0, version = ">=2" }"#, "`version` is no test of `argument`");
    condition(r#"{ library = "acme", equals = 1 }"#, "`equals` is no test of `library`");
    condition(r#"{ context = "worker", absent = true }"#, "`absent` is no test of `context`");
    condition(
        r#"{ context = "eventloop" }"#,
        "`eventloop` is not one of event-loop, greenlet, worker, unknown; did you mean `event-loop`?",
    );
    condition(r#"{ argument = 0, from = ["request", "web"] }"#, "`web` is not one of request, network, file");
    condition("{ argument = 0, null = 1 }", "must be true or false");
    condition(r#"{ argument = 0, less = "1" }"#, "must be a number");
    condition(r#"{ argument = 0, size = "large" }"#, "`large` is not one of unbounded");
    condition(r#"{ argument = 0, type = "acme.T[" }"#, "`acme.T[` is not a type of python");
    condition("{ argument = 0, equals = [[1]] }", "must be a literal (true, a number, a string) or a list of literals");
    condition("\"asyncio\"", "must be a condition or a list of conditions");
    condition("[{ argument = 0, absent = true }, 3]", "must be a condition or a list of conditions");
}

#[test]
fn paths_outside_of_roots_and_aliases_are_errors() {
    expect(
        PYTHON,
        r#"[alias]
"acme.Client" = "acme.client.Client"
"other.Client" = "another.Client"
"acme.a" = "acme.b"
"acme.b" = "acme.a.c"
[[call]]
path = "requests.get"
effect = "network"
[[call]]
path = ["acme.Client.get",
        "acme_extra.get"]
effect = "network"
"#,
        &[
            "acme.toml:7: [alias] other.Client: neither side is under this file's roots (acme)",
            "acme.toml:8: [alias] acme.a: aliases go in a circle from `acme.a`",
            "acme.toml:9: [alias] acme.b: aliases go in a circle from `acme.b`",
            "acme.toml:11: [[call]] path: `requests.get` is not under this file's roots (acme)",
            "acme.toml:14: [[call]] path: `acme.Client.get` is an alias; write `acme.client.Client.get`",
            "acme.toml:15: [[call]] path: `acme_extra.get` is not under this file's roots (acme)",
        ],
    );
    expect(
        JAVA,
        "[alias]\n\"acme.Old\" = \"acme.New\"\n[[call]]\npath = \"acme.Old.get(int)\"\neffect = \"network\"\n",
        &["acme.toml:9: [[call]] path: `acme.Old.get(int)` is an alias; write `acme.New.get(int)`"],
    );
    // A facade crate re-exports a path of another model.
    let facade = format!("{RUST}[alias]\n\"sdk::sql\" = \"sqlite::sql\"\n");
    let sqlite = "schema = 1\nlanguage = \"rust\"\nlibrary = \"sqlite\"\ndocs = \"d\"\n";
    assert_eq!(errors(&[("facade.toml", &facade), ("sqlite.toml", sqlite)]), [""; 0]);
    // A library can implement a foreign trait, or its own trait for a foreign type.
    expect(
        RUST,
        "[[call]]\npath = [\"<acme::F as std::io::Read>::read\", \"<std::fs::File as acme::Sync>::sync\"]\neffect = \"file\"\n[[call]]\npath = \"<std::fs::File as std::io::Read>::read\"\neffect = \"file\"\n",
        &["acme.toml:9: [[call]] path: `<std::fs::File as std::io::Read>::read` is not under this file's roots (acme)"],
    );
}

#[test]
fn empty_rows_and_keys_that_need_another_are_errors() {
    expect(
        PYTHON,
        r#"[[call]]
path = "acme.a"
when = { argument = 0, absent = true }
[[call]]
path = "acme.b"
native = true
thread = "frees"
severity = "note"
fails = "raises"
timeout = 0
fix = "twin"
returns = "acme.T"
[[call]]
path = "acme.c"
effect = "cpu"
fix = "none"
unit = "ms"
[[handover]]
path = "acme.d"
argument = 0
context = "worker"
effect = "sleep"
during = ["acme.e"]
[[type]]
path = "acme.T"
version = ">=1"
"#,
        &[
            "acme.toml:6: [[call]] path: the row says nothing about the call",
            "acme.toml:10: [[call]] native: `native` needs `effect`",
            "acme.toml:11: [[call]] thread: `thread` needs `effect`",
            "acme.toml:12: [[call]] severity: `severity` needs `effect`",
            "acme.toml:13: [[call]] fails: `fails` needs `effect`",
            "acme.toml:14: [[call]] timeout: `timeout` needs `effect`",
            "acme.toml:15: [[call]] fix: `fix` needs `effect`",
            r#"acme.toml:20: [[call]] fix: fix = "none" needs `note`: say why"#,
            "acme.toml:21: [[call]] unit: `unit` needs `timeout`",
            "acme.toml:26: [[handover]] effect: `effect` needs `wraps = true`",
            r#"acme.toml:27: [[handover]] during: `during` needs context = "caller""#,
            "acme.toml:29: [[type]] path: the row says nothing about the call",
        ],
    );
}

#[test]
fn contradictory_keys_are_errors() {
    expect(
        PYTHON,
        r#"[[call]]
path = "acme.a"
effect = "none"
timeout = 0
lazy = true
[[call]]
path = "acme.b"
effect = "file"
fix = "none"
note = "no twin"
instead = "acme.c"
feature = "fs"
[[call]]
path = "acme.get_*"
property = true
effect = "file"
[[handover]]
path = "acme.d"
argument = 0
via = "decorator"
context = "worker"
[[handover]]
path = "acme.e"
context = "worker"
[[handover]]
path = "acme.f"
argument = 0
context = "event-loop"
offer = ["asyncio"]
[[type]]
path = "acme.G.*"
role = "lock"
"#,
        &[
            r#"acme.toml:8: [[call]] timeout: `timeout` contradicts effect = "none""#,
            r#"acme.toml:9: [[call]] lazy: `lazy` contradicts effect = "none""#,
            r#"acme.toml:13: [[call]] fix: fix = "none" contradicts `instead`"#,
            "acme.toml:16: [[call]] feature: only Rust has features",
            "acme.toml:19: [[call]] property: a glob matches calls only, no reading of a property",
            "acme.toml:24: [[handover]] via: contradicts `argument`: give exactly one of the two",
            "acme.toml:26: [[handover]] argument: missing key: give `argument` or `via`",
            "acme.toml:33: [[handover]] offer: only a handover to a worker, or at a chain, can be offered as a fix",
            "acme.toml:35: [[type]] path: `acme.G.*` is a pattern: a type has one path",
        ],
    );
    expect(
        RUST,
        "[[call]]\npath = \"acme::a\"\neffect = \"cpu\"\nthread = \"frees\"\n[[handover]]\npath = \"acme::b\"\nargument = 0\ncontext = \"worker\"\nprocess = true\n",
        &[
            "acme.toml:8: [[call]] thread: only Python has a GIL",
            "acme.toml:13: [[handover]] process: only Python has a GIL",
        ],
    );
}

#[test]
fn rows_that_are_never_reached_are_errors() {
    expect(
        PYTHON,
        r#"[[call]]
path = "acme.Connection.{commit,close}"
effect = "database"
[[call]]
path = "acme.Connection.commit"
when = { argument = 0, absent = true }
effect = "network"
returns = "acme.Result"
[[call]]
path = "acme.Connection.commit"
async = true
[[call]]
path = "acme.Connection.commit"
lazy = true
[[call]]
path = ["acme.get", "acme.get"]
returns = "acme.Result"
[[handover]]
path = "acme.run"
argument = 0
context = "worker"
[[handover]]
path = "acme.run"
argument = 1
context = "worker"
[[handover]]
path = "acme.run"
argument = 0
when = { argument = 1, absent = true }
context = "caller"
[[type]]
path = "acme.Result"
tags = ["a"]
[[type]]
path = "acme.Result"
tags = ["b"]
role = "future"
"#,
        &[
            "acme.toml:9: [[call]] path: `acme.Connection.commit`: never reached for `effect`; the row at line 6 holds always",
            "acme.toml:17: [[call]] path: `acme.Connection.commit`: never reached for `effect`; the row at line 6 holds always",
            "acme.toml:20: [[call]] path: `acme.get` occurs twice in the row",
            "acme.toml:31: [[handover]] path: `acme.run`: never reached for `context`; the row at line 23 holds always",
            "acme.toml:39: [[type]] path: `acme.Result`: never reached for `tags`; the row at line 36 holds always",
        ],
    );
    // Rows with a version or a condition hide no other row, and rows of properties hide no rows of calls.
    expect(
        PYTHON,
        r#"[[call]]
path = "acme.get"
version = "<2"
effect = "network"
[[call]]
path = "acme.get"
unless = { argument = 0, absent = true }
effect = "file"
[[call]]
path = "acme.get"
property = true
effect = "file"
[[call]]
path = "acme.get"
effect = "sleep"
"#,
        &[],
    );
}

#[test]
fn a_path_in_two_files_is_an_error() {
    let file = |version: &str| format!("{PYTHON}{version}[[call]]\npath = \"acme.get\"\neffect = \"network\"\n");
    assert_eq!(
        errors(&[("b.toml", &file("")), ("a.toml", &file(""))]),
        ["b.toml:6: [[call]] path: `acme.get` is also described in a.toml:6"]
    );
    let (old, new) = (file("version = \"<2\"\n"), file("version = \">=2\"\n"));
    assert_eq!(errors(&[("new.toml", &new), ("old.toml", &old)]), [""; 0]);
    assert_eq!(errors(&[("new.toml", &new), ("old.toml", &new)]).len(), 1, "the same versions");
}

#[test]
fn undeclared_names_are_errors() {
    expect(
        PYTHON,
        r##"[[type]]
path = "acme.Box"
params = ["T"]
tags = ["os-handle"]
through = "U"
fields = { one = "T", two = "list[V]" }
[[call]]
path = "acme.Box.get"
returns = "(T, W)"
when = [{ argument = 0, type = "#os-handel" }, { switch = "gevnt" }]
effect = "file"
[[switch]]
name = "gevent"
import = ["gevent"]
green = ["acme", "acmee"]
[[switch]]
name = "idle"
context = "greenlet"
[[switch]]
name = "gevent"
library = "gevent"
"##,
        &[
            "acme.toml:9: [[type]] through: `U` is not one of `params`",
            "acme.toml:10: [[type]] fields: `V` is neither a path nor one of the type's params",
            "acme.toml:10: [[type]] fields: `list` is neither a path nor one of the type's params; did you mean `builtins.list`?",
            "acme.toml:13: [[call]] returns: `W` is neither a path nor one of the type's params",
            "acme.toml:14: [[call]] when: no switch is named `gevnt`; did you mean `gevent`?",
            "acme.toml:14: [[call]] when: no type has the tag `#os-handel`; did you mean `#os-handle`?",
            "acme.toml:19: [[switch]] green: `acme` has no row with `native`",
            "acme.toml:19: [[switch]] green: no model has library `acmee`; did you mean `acme`?",
            "acme.toml:21: [[switch]] name: nothing turns it on: give `call`, `import`, `library` or `setting`",
            "acme.toml:24: [[switch]] name: switch `gevent` is already declared in acme.toml:16",
        ],
    );
}

#[test]
fn invalid_twins_are_errors() {
    expect(
        PYTHON,
        r#"[alias]
"acme.Store" = "acme.store.Store"
[[call]]
path = "acme.{get,put,list,stat}"
effect = "network"
instead = "acme.get"
[[call]]
path = "acme.read"
effect = "file"
instead = { asyncio = ["acme.aread", "acme.put"], trio = "acme.note" }
[[call]]
path = "acme.write"
effect = "file"
instead = "acme.a*"
[[call]]
path = "acme.awrite"
effect = "file"
[[call]]
path = "acme.note"
effect = "file"
severity = "note"
[[call]]
path = "acme.store.Store.get"
effect = "file"
instead = "acme.Store.*"
[[call]]
path = "acme.open"
effect = "file"
instead = "acme.maybe"
[[call]]
path = "acme.maybe"
when = { argument = 0, absent = true }
effect = "file"
"#,
        &[
            "acme.toml:10: [[call]] instead: `acme.get` holds the thread too (acme.toml:8)",
            "acme.toml:10: [[call]] instead: `acme.get` names the call itself",
            "acme.toml:14: [[call]] instead: `acme.put` holds the thread too (acme.toml:8)",
            "acme.toml:18: [[call]] instead: `acme.awrite` holds the thread too (acme.toml:20)",
            "acme.toml:29: [[call]] instead: `acme.Store.*` names the call itself",
        ],
    );
}

#[test]
fn a_glob_makes_a_twin_invalid_unless_a_more_specific_row_decides() {
    expect(
        PYTHON,
        r#"[[call]]
path = "acme.Client.*"
effect = "network"
[[call]]
path = "acme.Client.{aget,aput}"
async = true
[[call]]
path = "acme.Client.aput"
effect = "none"
[[call]]
path = "acme.Client.{get,put}"
effect = "database"
instead = "acme.Client.a*"
"#,
        &["acme.toml:17: [[call]] instead: `acme.Client.aget` holds the thread too (acme.toml:6)"],
    );
}

#[test]
fn user_files_may_describe_any_path() {
    let user = "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"app.db.Store.*\"\neffect = \"database\"\ninstead = \"app.db.AsyncStore.*\"\n[[call]]\npath = \"elsewhere.go\"\neffect = \"none\"\n";
    assert_eq!(check_user_files([("blocking.toml", user)]).map(|files| files.len()), Ok(1));
    let wrong = "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"app.db.get\"\nefect = \"database\"\n";
    let errors = check_user_files([("blocking.toml", wrong), ("other.toml", "schema = 1\n")]).expect_err("wrong");
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "blocking.toml:5: [[call]] efect: unknown key `efect`; did you mean `effect`?",
            "other.toml:1: language: missing key `language`",
        ]
    );
}
