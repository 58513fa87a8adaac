//! Tests of the check of Python models, against a small package that the tests write.

use std::fs;

use blocklint_models::{File, Origin, read_file};
use blocklint_verify::{ExtractedLibrary, LibrarySources, VerifyReport, verify};
use camino::Utf8PathBuf;

const FILES: &[(&str, &str)] = &[
    (
        "acme/__init__.py",
        "from .core import *\nfrom .core import Client as Old\nfrom . import lazy\n\
         def helper(path, mode=\"r\", *, timeout=None): ...\n",
    ),
    (
        "acme/core.py",
        r#"
import abc
from contextlib import contextmanager
from other import Unknown
class Base(abc.ABC):
    def close(self, wait=True): ...
class Client(Base):
    limit: int = 3
    def __init__(self, url, key=None):
        self.session = Session()
    def get(self, path, timeout=None): ...
    @property
    def text(self): ...
    def pages(self):
        yield 1
    @contextmanager
    def open(self):
        yield
class AsyncClient(Base):
    async def get(self, path): ...
    def post(self, path):
        return self.get(path)
class Session: ...
class Child(Unknown): ...
class Names(dict): ...
"#,
    ),
    ("acme/lazy.pyi", "class Stub:\n    def run(self, job: str) -> None: ...\n"),
    (
        "acme/fast.pyx",
        "cdef class Table:\n    cdef public int rows\n    def read(self, object source,\n             int limit=3):\n        pass\n",
    ),
];

fn model(rows: &str) -> File {
    let text = format!("schema = 1\nlanguage = \"python\"\nlibrary = \"acme\"\n{rows}");
    let (file, errors) = read_file("acme.toml", &text, Origin::User);
    assert_eq!(errors, []);
    file.expect("a model")
}

fn report(rows: &str, version: &str) -> VerifyReport {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in FILES {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let folders = vec![Utf8PathBuf::from_path_buf(folder.path().to_path_buf()).expect("UTF-8")];
    let versions = vec![ExtractedLibrary { version: version.to_owned(), folders }];
    verify(&model(rows), &LibrarySources { versions, ..LibrarySources::default() })
}

fn problems(rows: &str) -> Vec<String> {
    report(rows, "1.0").problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

#[test]
fn true_rows_have_no_problems() {
    let rows = r#"
        [[call]]
        path = ["acme.Client.{get,close}", "acme.Old.close", "acme.lazy.Stub.run", "acme.fast.Table.read"]
        effect = "network"
        [[call]]
        path = "acme.helper"
        effect = "file"
        timeout = "timeout"
        unless = { argument = "mode@1", equals = "w" }
        [[call]]
        path = "acme.AsyncClient.{get,post}"
        async = true
        [[call]]
        path = "acme.Client.pages"
        effect = "network"
        lazy = true
        [[call]]
        path = "acme.Client.text"
        property = true
        effect = "network"
        [[call]]
        path = "acme.core.Names.get"
        effect = "none"
        [[type]]
        path = "acme.Client"
        bases = ["acme.core.Base"]
        fields = { session = "acme.core.Session", limit = "builtins.int" }
        [[call]]
        path = "acme.Client.<answer>.read"
        effect = "network"
        [[call]]
        path = "acme.Client.generated"
        effect = "network"
        unchecked = "made from a schema"
    "#;
    let report = report(rows, "1.0");
    assert_eq!(report.problems, []);
    assert_eq!((report.rows, report.checked, report.exempt, report.unchecked), (9, 12, 2, 1));
}

#[test]
fn false_rows_are_reported() {
    let rows = r#"
        [[call]]
        path = "acme.Client.fetch"
        effect = "network"
        [[call]]
        path = "acme.AsyncClient.get"
        effect = "network"
        [[call]]
        path = "acme.Client.get"
        async = true
        [[call]]
        path = "acme.Client.text"
        effect = "network"
        [[call]]
        path = "acme.Client.pages"
        effect = "network"
        [[call]]
        path = "acme.Client.open"
        effect = "file"
        [[call]]
        path = "acme.helper"
        effect = "file"
        timeout = "timeout@2"
        unless = { argument = "encoding", absent = true }
        [[call]]
        path = "acme.Child.run"
        effect = "file"
        [[call]]
        path = "acme.core.Names.fetch"
        effect = "none"
        [[type]]
        path = "acme.Client"
        bases = ["acme.core.Session"]
        fields = { cookies = "builtins.dict" }
    "#;
    assert_eq!(
        problems(rows),
        [
            "acme.Client.fetch: `acme.Client` has no `fetch`",
            "acme.AsyncClient.get: is a coroutine function",
            "acme.Client.get: is not seen to give something to await",
            "acme.Client.text: is a property; say `property = true`",
            "acme.Client.pages: is a generator function: say `lazy = true`",
            "acme.Client.open: is a context manager: the effect is that of entering it",
            "acme.helper: `timeout` is keyword only, not 2",
            "acme.helper: has no parameter `encoding` (path, mode, timeout)",
            "acme.Child.run: leads to `other.Unknown.run`, which is not at hand; give its package with --with",
            "acme.core.Names.fetch: `acme.core.Names` has no `fetch`",
            "acme.Client: does not derive from `acme.core.Session`",
            "acme.Client: has no field `cookies`",
        ]
    );
}

#[test]
fn twins_take_the_same_arguments() {
    let rows = "[[call]]\npath = \"acme.Client.get\"\neffect = \"network\"\ninstead = \"acme.AsyncClient.*\"\n";
    assert_eq!(problems(rows), ["acme.Client.get: twin `acme.AsyncClient.get` has no parameter `timeout`"]);
}

#[test]
fn a_glob_covers_no_coroutine_function() {
    let rows = "[[call]]\npath = \"acme.AsyncClient.*\"\neffect = \"network\"\n";
    assert_eq!(problems(rows), ["acme.AsyncClient.*: covers the coroutine function `acme.AsyncClient.get`"]);
    let expansions = report(rows, "1.0").expansions;
    let covered = ["acme.AsyncClient.close", "acme.AsyncClient.get", "acme.AsyncClient.post"].map(str::to_owned);
    assert_eq!(expansions, [("acme.AsyncClient.*".to_owned(), covered.to_vec())]);
}

#[test]
fn both_sides_of_an_alias_are_the_same_definition() {
    let aliases = "[alias]\n\"acme.Old\" = \"acme.Client\"\n\"acme.Session\" = \"acme.Client\"\n\"acme.Gone\" = \"acme.Client\"\n";
    assert_eq!(problems(aliases), ["acme.Session: is not `acme.Client`", "acme.Gone: `acme.Gone` does not exist"]);
}

#[test]
fn a_row_for_another_version_needs_that_version() {
    let rows = "[[call]]\npath = \"acme.Client.get\"\nversion = \"<1\"\neffect = \"network\"\n";
    let report = report(rows, "1.0");
    assert_eq!((report.checked, report.needs.as_slice()), (0, ["<1".to_owned()].as_slice()));
}
