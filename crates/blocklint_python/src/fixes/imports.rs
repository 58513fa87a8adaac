//! The imports that edits need: an existing name where there is one, else an import in its place among the others.

use blocklint_core::{Refusal, Span};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef, StmtImportFrom};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::spelling::{Import, Spelling};
use super::{File, Site};
use crate::walk::span;

/// An edit: what is replaced and by what.
pub(super) type TextEdit = (Span, String);

impl<'a> File<'a, '_> {
    /// How the file writes a function that it imports by name, or whose module it imports.
    pub(super) fn known_as(&self, site: &Site<'a>, path: &str) -> Option<String> {
        let module = path.rsplit_once('.').map_or("", |(module, _)| module);
        self.names.paths().find(|spelled| *spelled == path || *spelled == module)?;
        self.names.written(path, &site.around.functions, site.call.range().start())
    }

    /// Refuses a path of a library that the file does not use: the project may not depend on it.
    pub(super) fn has_library(&self, site: &Site<'a>, path: &str) -> Result<(), Refusal> {
        let root = path.split('.').next().unwrap_or(path);
        let written = || self.names.written(path, &site.around.functions, site.call.range().start());
        match is_standard(root) || self.names.uses(root) || written().is_some() {
            true => Ok(()),
            false => Err(Refusal::new(format!("`{root}` is not imported in this file"))),
        }
    }

    /// How a path is written at a place, and the edits that make it so.
    pub(super) fn imported(&self, site: &Site<'a>, path: &str) -> Result<(String, Vec<TextEdit>), Refusal> {
        let Spelling { written, import } = self.spelling(&site.around.functions, site.call.range().start(), path)?;
        Ok((written, import.iter().map(|import| self.with_import(import)).collect()))
    }

    /// How a path is written at a place in these functions (the innermost first), and the import that this needs.
    pub(super) fn spelling(
        &self,
        functions: &[&'a StmtFunctionDef],
        at: TextSize,
        path: &str,
    ) -> Result<Spelling, Refusal> {
        let spelled = |written: &str, import| Ok(Spelling { written: written.to_owned(), import });
        let Some((module, name)) = path.rsplit_once('.') else { return spelled(path, None) };
        if module == "builtins" {
            return match self.names.is_free(name, path, functions, at) {
                true => spelled(name, None),
                false => Err(Refusal::new(format!("`{name}` means something else here"))),
            };
        }
        if let Some(written) = self.names.written(path, functions, at) {
            return spelled(&written, None);
        }
        // A module is imported as a whole; what lies deeper by the name that is used, a module if it is one of a
        // package: `from anyio import to_thread`.
        if !module.contains('.') && self.names.is_free(module, module, functions, at) {
            return spelled(path, Some(Import { module: module.to_owned(), name: None }));
        }
        if self.names.is_free(name, path, functions, at) {
            return spelled(name, Some(Import { module: module.to_owned(), name: Some(name.to_owned()) }));
        }
        Err(Refusal::new(format!("`{}` means something else here", module.split('.').next().unwrap_or(module))))
    }

    /// The edit that adds an import in its place.
    pub(super) fn with_import(&self, import: &Import) -> TextEdit {
        let module = &import.module;
        match &import.name {
            Some(name) => self.add_from(module, name),
            None => self.add_import(&format!("import {module}"), module, false),
        }
    }

    /// `from MODULE import NAME`, merged into one that exists.
    fn add_from(&self, module: &str, name: &str) -> TextEdit {
        let existing = self.module.body.iter().find_map(|statement| match statement {
            Stmt::ImportFrom(import)
                if import.level == 0
                    && import.module.as_ref().is_some_and(|of| of.as_str() == module)
                    && import.names.iter().all(|alias| alias.name.as_str() != "*") =>
            {
                Some(import)
            }
            _ => None,
        });
        match existing.and_then(|import| self.merged(import, name)) {
            Some(edit) => edit,
            None => self.add_import(&format!("from {module} import {name}"), module, true),
        }
    }

    /// Returns a name among those that an import brings, in their order.
    fn merged(&self, import: &StmtImportFrom, name: &str) -> Option<TextEdit> {
        let key = |name: &str| {
            let constant = name.chars().all(|c| !c.is_lowercase());
            let class = name.starts_with(char::is_uppercase);
            (
                if constant {
                    0
                } else if class {
                    1
                } else {
                    2
                },
                name.to_owned(),
            )
        };
        let last = import.names.last()?;
        let one_per_line = import
            .names
            .first()
            .is_some_and(|first| self.line_start(first.range().start()) != self.line_start(import.range.start()));
        let lead = |at: TextSize| self.text(TextRange::new(self.line_start(at), at));
        match import.names.iter().find(|alias| key(alias.name.as_str()) > key(name)) {
            Some(next) => {
                let at = next.range().start();
                let blank = lead(at);
                let text = match one_per_line && blank.trim().is_empty() {
                    true => format!("{name},{}{blank}", self.newline_at(at)),
                    false => format!("{name}, "),
                };
                Some((span(TextRange::empty(at)), text))
            }
            None => {
                let blank = lead(last.range().start());
                let text = match one_per_line && blank.trim().is_empty() {
                    true => format!(",{}{blank}{name}", self.newline_at(last.range().start())),
                    false => format!(", {name}"),
                };
                Some((span(TextRange::empty(last.range().end())), text))
            }
        }
    }

    /// Returns a line among the imports at the top of the file.
    fn add_import(&self, line: &str, module: &str, is_from: bool) -> TextEdit {
        let sections = self.sections();
        let root = module.split('.').next().unwrap_or(module);
        let standard = is_standard(root);
        let of_root = |section: &&[&Stmt]| section.iter().any(|statement| root_of(statement) == Some(root));
        let of_kind = |section: &&[&Stmt]| {
            !section.iter().any(|statement| root_of(statement) == Some("__future__"))
                && section.iter().any(|statement| root_of(statement).is_some_and(|of| is_standard(of) == standard))
        };
        let views: Vec<&[&Stmt]> = sections.iter().map(Vec::as_slice).collect();
        if let Some(section) =
            views.iter().find(|s| !standard && of_root(s)).or_else(|| views.iter().find(|s| of_kind(s)))
        {
            return self.among(section, line, module, is_from);
        }
        // A section of its own: the standard library stands before all but `__future__`, others behind it.
        let future = |section: &&[&Stmt]| section.iter().all(|s| root_of(s) == Some("__future__"));
        let behind = match standard {
            true => views.iter().take_while(|s| future(s)).last(),
            false => views.iter().rev().find(|s| s.iter().any(|st| root_of(st).is_some())),
        };
        match (behind, views.iter().find(|s| !future(s))) {
            (Some(section), _) => {
                let Some(last) = section.last() else { return self.at_start(line) };
                let at = self.behind_line(last.range().end());
                let newline = self.newline_at(last.range().start());
                (span(TextRange::empty(at)), format!("{}{newline}{line}{newline}", self.line_break_before(at)))
            }
            (None, Some(section)) if !self.is_commented(section[0]) => {
                let at = self.line_start(section[0].range().start());
                let newline = self.newline_at(at);
                (span(TextRange::empty(at)), format!("{line}{newline}{newline}"))
            }
            _ => self.at_start(line),
        }
    }

    /// Returns a line in its place within a section.
    fn among(&self, section: &[&Stmt], line: &str, module: &str, is_from: bool) -> TextEdit {
        // Where both kinds are mixed, modules alone decide the order.
        let mixed =
            section.windows(2).any(|pair| matches!(pair[0], Stmt::ImportFrom(_)) && matches!(pair[1], Stmt::Import(_)));
        let key = |from: bool, module: &str| (from && !mixed, module.to_lowercase(), from);
        let own = key(is_from, module);
        let place = section.iter().position(|statement| {
            let from = matches!(statement, Stmt::ImportFrom(_));
            let relative = matches!(statement, Stmt::ImportFrom(import) if import.level > 0);
            relative || key(from, module_of(statement)) > own
        });
        match place {
            Some(0) if !self.is_commented(section[0]) && self.is_first_on_line(section[0]) => {
                let at = self.line_start(section[0].range().start());
                (span(TextRange::empty(at)), format!("{line}{}", self.newline_at(at)))
            }
            Some(next) => self.behind(section[next.max(1) - 1], line),
            None => match section.last() {
                Some(last) => self.behind(last, line),
                None => self.at_start(line),
            },
        }
    }

    fn behind(&self, statement: &Stmt, line: &str) -> TextEdit {
        let at = self.behind_line(statement.range().end());
        let newline = self.newline_at(statement.range().start());
        (span(TextRange::empty(at)), format!("{}{line}{newline}", self.line_break_before(at)))
    }

    /// Where a file has no imports: behind its docstring, else above its first statement.
    fn at_start(&self, line: &str) -> TextEdit {
        let mut statements = self.module.body.iter();
        let first = statements.next();
        let docstring = first.filter(|statement| is_docstring(statement));
        let newline = self.newline_at(TextSize::new(0));
        if let Some(docstring) = docstring {
            let at = self.behind_line(docstring.range().end());
            let text = format!("{}{newline}{line}{newline}", self.line_break_before(at));
            return (span(TextRange::empty(at)), text);
        }
        let Some(first) = first else { return (span(TextRange::empty(TextSize::new(0))), format!("{line}{newline}")) };
        let mut at = self.line_start(first.range().start());
        // Comments right above the statement belong to it, unless they head the file.
        let above = self.above_comments(at);
        if above > self.head() {
            at = above;
        }
        let gap = match first {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => format!("{newline}{newline}"),
            _ => newline.to_owned(),
        };
        (span(TextRange::empty(at)), format!("{line}{newline}{gap}"))
    }

    /// Returns the imports that the file begins with, divided where blank lines or other text stand between them.
    fn sections(&self) -> Vec<Vec<&'a Stmt>> {
        let mut sections: Vec<Vec<&Stmt>> = Vec::new();
        for (at, statement) in self.module.body.iter().enumerate() {
            if at == 0 && is_docstring(statement) {
                continue;
            }
            if !matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)) {
                // `if TYPE_CHECKING:`, `try: import …` and settings may stand between imports.
                if sections.is_empty()
                    && !matches!(statement, Stmt::If(_) | Stmt::Try(_) | Stmt::Assign(_) | Stmt::Expr(_))
                {
                    break;
                }
                if !sections.is_empty() {
                    break;
                }
                continue;
            }
            let follows = sections.last().and_then(|section| section.last()).is_some_and(|last: &&Stmt| {
                let between = self.text(TextRange::new(last.range().end(), statement.range().start()));
                between.matches('\n').count().max(between.matches('\r').count()) < 2
                    && (root_of(last) == Some("__future__")) == (root_of(statement) == Some("__future__"))
            });
            match sections.last_mut() {
                Some(section) if follows => section.push(statement),
                _ => sections.push(vec![statement]),
            }
        }
        sections
    }

    pub(super) fn line_start(&self, at: TextSize) -> TextSize {
        let before = self.source.get(..at.to_usize()).unwrap_or_default();
        let start = before.rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
        let start = if start == 0 && before.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { start };
        TextSize::new(start as u32)
    }

    /// Returns the line before the one that begins at `start`, without its end.
    pub(super) fn line_above(&self, start: TextSize) -> Option<TextRange> {
        let before = self.source.get(..start.to_usize())?;
        let end = before.strip_suffix("\r\n").or_else(|| before.strip_suffix(['\n', '\r']))?.len();
        let end = TextSize::new(end as u32);
        Some(TextRange::new(self.line_start(end), end))
    }

    /// Returns the start of the line behind the one on which `end` lies; of the whole statement list on it.
    fn behind_line(&self, end: TextSize) -> TextSize {
        // Another statement may follow on the line and go on for several.
        let mut end = end;
        for statement in &self.module.body {
            if statement.range().start() > end
                && !self.text(TextRange::new(end, statement.range().start())).contains(['\n', '\r'])
            {
                end = statement.range().end();
            }
        }
        let rest = self.source.get(end.to_usize()..).unwrap_or_default();
        let length = match rest.find(['\n', '\r']) {
            Some(at) if rest[at..].starts_with("\r\n") => at + 2,
            Some(at) => at + 1,
            None => rest.len(),
        };
        end + TextSize::new(length as u32)
    }

    /// Returns a line break where the file ends without one.
    fn line_break_before(&self, at: TextSize) -> &'static str {
        match self.source.get(..at.to_usize()) {
            Some(before) if !before.is_empty() && !before.ends_with(['\n', '\r']) => self.newline_at(TextSize::new(0)),
            _ => "",
        }
    }

    /// Returns the line end that the file uses from here on.
    pub(super) fn newline_at(&self, at: TextSize) -> &'static str {
        let rest = self.source.get(at.to_usize()..).unwrap_or_default();
        match rest.find(['\n', '\r']) {
            Some(at) if rest[at..].starts_with("\r\n") => "\r\n",
            Some(at) if rest[at..].starts_with('\r') => "\r",
            Some(_) => "\n",
            None if self.source.contains("\r\n") => "\r\n",
            None => "\n",
        }
    }

    /// True if comments stand right above a statement that do not head the file.
    fn is_commented(&self, statement: &Stmt) -> bool {
        let start = self.line_start(statement.range().start());
        let above = self.above_comments(start);
        above != start && above > self.head()
    }

    /// Returns the start of the comments that stand right above a line, else of the line.
    pub(super) fn above_comments(&self, line: TextSize) -> TextSize {
        let mut above = line;
        while let Some(previous) = self.line_above(above) {
            if !self.text(previous).trim_start().starts_with('#') {
                break;
            }
            above = previous.start();
        }
        above
    }

    /// Where the text begins, behind its byte-order mark.
    fn head(&self) -> TextSize {
        TextSize::of(if self.source.starts_with('\u{feff}') { "\u{feff}" } else { "" })
    }

    fn is_first_on_line(&self, statement: &Stmt) -> bool {
        self.line_start(statement.range().start()) == statement.range().start()
    }
}

fn is_docstring(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(expression) if matches!(&*expression.value, Expr::StringLiteral(_)))
}

/// Returns the first part of what a statement imports; nothing for a relative import.
fn root_of(statement: &Stmt) -> Option<&str> {
    match statement {
        Stmt::ImportFrom(import) if import.level > 0 => None,
        Stmt::Import(_) | Stmt::ImportFrom(_) => module_of(statement).split('.').next(),
        _ => None,
    }
}

fn module_of(statement: &Stmt) -> &str {
    match statement {
        Stmt::Import(import) => import.names.first().map_or("", |alias| alias.name.as_str()),
        Stmt::ImportFrom(import) => import.module.as_ref().map_or("", |module| module.as_str()),
        _ => "",
    }
}

/// True if a module is of the standard library: those that files import often enough to tell one section from another.
fn is_standard(root: &str) -> bool {
    const MODULES: &[&str] = &[
        "abc",
        "argparse",
        "array",
        "ast",
        "asyncio",
        "atexit",
        "base64",
        "binascii",
        "bisect",
        "builtins",
        "bz2",
        "calendar",
        "cmath",
        "codecs",
        "collections",
        "colorsys",
        "concurrent",
        "configparser",
        "contextlib",
        "contextvars",
        "copy",
        "csv",
        "ctypes",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "dis",
        "email",
        "enum",
        "errno",
        "faulthandler",
        "fcntl",
        "filecmp",
        "fileinput",
        "fnmatch",
        "fractions",
        "ftplib",
        "functools",
        "gc",
        "getpass",
        "gettext",
        "glob",
        "graphlib",
        "grp",
        "gzip",
        "hashlib",
        "heapq",
        "hmac",
        "html",
        "http",
        "imaplib",
        "importlib",
        "inspect",
        "io",
        "ipaddress",
        "itertools",
        "json",
        "keyword",
        "linecache",
        "locale",
        "logging",
        "lzma",
        "mailbox",
        "math",
        "mimetypes",
        "mmap",
        "multiprocessing",
        "netrc",
        "numbers",
        "operator",
        "optparse",
        "os",
        "pathlib",
        "pickle",
        "pkgutil",
        "platform",
        "plistlib",
        "poplib",
        "posixpath",
        "pprint",
        "profile",
        "pty",
        "pwd",
        "queue",
        "random",
        "re",
        "readline",
        "resource",
        "runpy",
        "sched",
        "secrets",
        "select",
        "selectors",
        "shelve",
        "shlex",
        "shutil",
        "signal",
        "smtplib",
        "socket",
        "socketserver",
        "sqlite3",
        "ssl",
        "stat",
        "statistics",
        "string",
        "struct",
        "subprocess",
        "sys",
        "sysconfig",
        "syslog",
        "tarfile",
        "tempfile",
        "textwrap",
        "threading",
        "time",
        "timeit",
        "tokenize",
        "tomllib",
        "traceback",
        "tracemalloc",
        "tty",
        "types",
        "typing",
        "unicodedata",
        "unittest",
        "urllib",
        "uuid",
        "venv",
        "warnings",
        "wave",
        "weakref",
        "webbrowser",
        "xml",
        "xmlrpc",
        "zipfile",
        "zipimport",
        "zlib",
        "zoneinfo",
    ];
    MODULES.binary_search(&root).is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_standard;

    #[test]
    fn the_table_is_sorted() {
        for module in ["asyncio", "os", "time", "typing", "zoneinfo", "abc"] {
            assert!(is_standard(module), "{module}");
        }
        assert!(!is_standard("anyio") && !is_standard(""));
    }
}
