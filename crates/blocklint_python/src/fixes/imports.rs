//! Imports that edits need: the name of an existing import, or a new `import` line in the order of the others.

use blocklint_core::{Refusal, Span};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef, StmtImportFrom};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::spelling::{Import, Spelling};
use super::{File, Site};
use crate::walk::span;

/// An edit: the span that is replaced, and the new text.
pub(super) type TextEdit = (Span, String);

impl<'a> File<'a, '_> {
    /// Returns how the file writes a function that it imports, or whose module it imports: `sleep`, `asyncio.sleep`.
    pub(super) fn spelling_by_existing_import(&self, site: &Site<'a>, path: &str) -> Option<String> {
        let module = path.rsplit_once('.').map_or("", |(module, _)| module);
        self.names.imported_paths().find(|spelled| *spelled == path || *spelled == module)?;
        self.names.spell_path(path, &site.around.functions, site.call.range().start())
    }

    /// Refuses a path of a library that the file does not import, because the project may not depend on it.
    pub(super) fn check_library_is_used(&self, site: &Site<'a>, path: &str) -> Result<(), Refusal> {
        let root = path.split('.').next().unwrap_or(path);
        let written = || self.names.spell_path(path, &site.around.functions, site.call.range().start());
        if is_standard(root) || self.names.imports_library(root) || written().is_some() {
            Ok(())
        } else {
            Err(Refusal::new(format!("`{root}` is not imported in this file")))
        }
    }

    /// Returns how a path is written at a call, and the edits that add the import for it.
    pub(super) fn spell_and_import(&self, site: &Site<'a>, path: &str) -> Result<(String, Vec<TextEdit>), Refusal> {
        let Spelling { written, import } = self.spell_path(&site.around.functions, site.call.range().start(), path)?;
        Ok((written, import.iter().map(|import| self.import_edit(import)).collect()))
    }

    /// Returns how a path is written at an offset in these functions (the innermost first), with the import that it
    /// needs.
    pub(super) fn spell_path(
        &self,
        functions: &[&'a StmtFunctionDef],
        at: TextSize,
        path: &str,
    ) -> Result<Spelling, Refusal> {
        let spelled = |written: &str, import| Ok(Spelling { written: written.to_owned(), import });
        let Some((module, name)) = path.rsplit_once('.') else { return spelled(path, None) };
        if module == "builtins" {
            return if self.names.is_free(name, path, functions, at) {
                spelled(name, None)
            } else {
                Err(Refusal::new(format!("`{name}` has another meaning here")))
            };
        }
        if let Some(written) = self.names.spell_path(path, functions, at) {
            return spelled(&written, None);
        }
        // `asyncio.sleep` needs `import asyncio`; a deeper path needs its last name:
        // `from anyio.to_thread import run_sync`.
        if !module.contains('.') && self.names.is_free(module, module, functions, at) {
            return spelled(path, Some(Import { module: module.to_owned(), name: None }));
        }
        if self.names.is_free(name, path, functions, at) {
            return spelled(name, Some(Import { module: module.to_owned(), name: Some(name.to_owned()) }));
        }
        Err(Refusal::new(format!("`{}` has another meaning here", module.split('.').next().unwrap_or(module))))
    }

    /// Returns the edit that adds an import in the order of the others.
    pub(super) fn import_edit(&self, import: &Import) -> TextEdit {
        let module = &import.module;
        match &import.name {
            Some(name) => self.add_from_import(module, name),
            None => self.add_import(&format!("import {module}"), module, false),
        }
    }

    /// Adds `from MODULE import NAME`, if possible to an existing `from MODULE import …`.
    fn add_from_import(&self, module: &str, name: &str) -> TextEdit {
        let existing = self.module.body.iter().find_map(|statement| match statement {
            Stmt::ImportFrom(import)
                if import.level == 0
                    && import.module.as_ref().is_some_and(|module_name| module_name.as_str() == module)
                    && import.names.iter().all(|alias| alias.name.as_str() != "*") =>
            {
                Some(import)
            }
            _ => None,
        });
        match existing.and_then(|import| self.merge_into_import(import, name)) {
            Some(edit) => edit,
            None => self.add_import(&format!("from {module} import {name}"), module, true),
        }
    }

    /// Adds a name to an existing `from` import, in the order of its names.
    fn merge_into_import(&self, import: &StmtImportFrom, name: &str) -> Option<TextEdit> {
        let sort_key = |name: &str| {
            let is_constant = name.chars().all(|c| !c.is_lowercase());
            let is_class = name.starts_with(char::is_uppercase);
            (
                if is_constant {
                    0
                } else if is_class {
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
        let text_before_on_line = |at: TextSize| self.text(TextRange::new(self.line_start(at), at));
        match import.names.iter().find(|alias| sort_key(alias.name.as_str()) > sort_key(name)) {
            Some(next) => {
                let at = next.range().start();
                let blank = text_before_on_line(at);
                let text = if one_per_line && blank.trim().is_empty() {
                    format!("{name},{}{blank}", self.newline_at(at))
                } else {
                    format!("{name}, ")
                };
                Some((span(TextRange::empty(at)), text))
            }
            None => {
                let blank = text_before_on_line(last.range().start());
                let text = if one_per_line && blank.trim().is_empty() {
                    format!(",{}{blank}{name}", self.newline_at(last.range().start()))
                } else {
                    format!(", {name}")
                };
                Some((span(TextRange::empty(last.range().end())), text))
            }
        }
    }

    /// Adds a line among the imports at the top of the file.
    fn add_import(&self, line: &str, module: &str, is_from: bool) -> TextEdit {
        let section_lists = self.import_sections();
        let root = module.split('.').next().unwrap_or(module);
        let is_standard_module = is_standard(root);
        let has_root = |section: &&[&Stmt]| section.iter().any(|statement| imported_package(statement) == Some(root));
        let has_kind = |section: &&[&Stmt]| {
            !section.iter().any(|statement| imported_package(statement) == Some("__future__"))
                && section.iter().any(|statement| {
                    imported_package(statement).is_some_and(|package| is_standard(package) == is_standard_module)
                })
        };
        let sections: Vec<&[&Stmt]> = section_lists.iter().map(Vec::as_slice).collect();
        if let Some(section) = sections
            .iter()
            .find(|s| !is_standard_module && has_root(s))
            .or_else(|| sections.iter().find(|s| has_kind(s)))
        {
            return self.insert_in_section(section, line, module, is_from);
        }
        // A new section: one of the standard library comes before all but `__future__`, any other comes last.
        let is_future = |section: &&[&Stmt]| section.iter().all(|s| imported_package(s) == Some("__future__"));
        let previous = if is_standard_module {
            sections.iter().take_while(|s| is_future(s)).last()
        } else {
            sections.iter().rev().find(|s| s.iter().any(|st| imported_package(st).is_some()))
        };
        match (previous, sections.iter().find(|s| !is_future(s))) {
            (Some(section), _) => {
                let Some(last) = section.last() else { return self.insert_at_start(line) };
                let at = self.next_line_start(last.range().end());
                let newline = self.newline_at(last.range().start());
                (span(TextRange::empty(at)), format!("{}{newline}{line}{newline}", self.line_break_before(at)))
            }
            (None, Some(section)) if !self.is_commented(section[0]) => {
                let at = self.line_start(section[0].range().start());
                let newline = self.newline_at(at);
                (span(TextRange::empty(at)), format!("{line}{newline}{newline}"))
            }
            _ => self.insert_at_start(line),
        }
    }

    /// Adds a line within a section, in its order.
    fn insert_in_section(&self, section: &[&Stmt], line: &str, module: &str, is_from: bool) -> TextEdit {
        // If `import` and `from` lines are mixed, only the modules decide the order.
        let is_mixed =
            section.windows(2).any(|pair| matches!(pair[0], Stmt::ImportFrom(_)) && matches!(pair[1], Stmt::Import(_)));
        let sort_key = |from: bool, module: &str| (from && !is_mixed, module.to_lowercase(), from);
        let new_key = sort_key(is_from, module);
        let next = section.iter().position(|statement| {
            let from = matches!(statement, Stmt::ImportFrom(_));
            let is_relative = matches!(statement, Stmt::ImportFrom(import) if import.level > 0);
            is_relative || sort_key(from, imported_module(statement)) > new_key
        });
        match next {
            Some(0) if !self.is_commented(section[0]) && self.is_first_on_line(section[0]) => {
                let at = self.line_start(section[0].range().start());
                (span(TextRange::empty(at)), format!("{line}{}", self.newline_at(at)))
            }
            Some(next) => self.insert_after(section[next.max(1) - 1], line),
            None => match section.last() {
                Some(last) => self.insert_after(last, line),
                None => self.insert_at_start(line),
            },
        }
    }

    /// Adds a line after a statement.
    fn insert_after(&self, statement: &Stmt, line: &str) -> TextEdit {
        let at = self.next_line_start(statement.range().end());
        let newline = self.newline_at(statement.range().start());
        (span(TextRange::empty(at)), format!("{}{line}{newline}", self.line_break_before(at)))
    }

    /// Adds a line to a file without imports: after its docstring, else above its first statement.
    fn insert_at_start(&self, line: &str) -> TextEdit {
        let mut statements = self.module.body.iter();
        let first = statements.next();
        let docstring = first.filter(|statement| is_docstring(statement));
        let newline = self.newline_at(TextSize::new(0));
        if let Some(docstring) = docstring {
            let offset = self.next_line_start(docstring.range().end());
            let text = format!("{}{newline}{line}{newline}", self.line_break_before(offset));
            return (span(TextRange::empty(offset)), text);
        }
        let Some(first) = first else { return (span(TextRange::empty(TextSize::new(0))), format!("{line}{newline}")) };
        let mut offset = self.line_start(first.range().start());
        // Comments right above the statement belong to it, unless the file begins with them.
        let comments = self.above_comments(offset);
        if comments > self.text_start() {
            offset = comments;
        }
        let gap = match first {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => format!("{newline}{newline}"),
            _ => newline.to_owned(),
        };
        (span(TextRange::empty(offset)), format!("{line}{newline}{gap}"))
    }

    /// Returns the imports at the top of the file, in sections divided by blank lines or other text.
    fn import_sections(&self) -> Vec<Vec<&'a Stmt>> {
        let mut sections: Vec<Vec<&Stmt>> = Vec::new();
        for (index, statement) in self.module.body.iter().enumerate() {
            if index == 0 && is_docstring(statement) {
                continue;
            }
            if !matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_)) {
                // `if TYPE_CHECKING:`, `try: import …` and settings are common above imports.
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
                    && (imported_package(last) == Some("__future__"))
                        == (imported_package(statement) == Some("__future__"))
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

    /// Returns the line before the one that begins at `start`, without its line end.
    pub(super) fn line_above(&self, start: TextSize) -> Option<TextRange> {
        let before = self.source.get(..start.to_usize())?;
        let end = before.strip_suffix("\r\n").or_else(|| before.strip_suffix(['\n', '\r']))?.len();
        let end = TextSize::new(end as u32);
        Some(TextRange::new(self.line_start(end), end))
    }

    /// Returns the start of the line after the one that contains `end`, and after all statements that begin on that
    /// line.
    fn next_line_start(&self, end: TextSize) -> TextSize {
        // Another statement may follow on the line and span several lines.
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

    /// Returns a line break if the text before an offset does not end in one.
    fn line_break_before(&self, at: TextSize) -> &'static str {
        match self.source.get(..at.to_usize()) {
            Some(before) if !before.is_empty() && !before.ends_with(['\n', '\r']) => self.newline_at(TextSize::new(0)),
            _ => "",
        }
    }

    /// Returns the line end of the line at an offset.
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

    /// True if comments are right above a statement, and the file does not begin with them.
    fn is_commented(&self, statement: &Stmt) -> bool {
        let start = self.line_start(statement.range().start());
        let above = self.above_comments(start);
        above != start && above > self.text_start()
    }

    /// Returns the start of the comments right above a line, or of the line if there are none.
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

    /// Returns the start of the text, behind the byte-order mark.
    fn text_start(&self) -> TextSize {
        TextSize::of(if self.source.starts_with('\u{feff}') { "\u{feff}" } else { "" })
    }

    fn is_first_on_line(&self, statement: &Stmt) -> bool {
        self.line_start(statement.range().start()) == statement.range().start()
    }
}

fn is_docstring(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(expression) if matches!(&*expression.value, Expr::StringLiteral(_)))
}

/// Returns the top-level package that a statement imports; `None` for a relative import.
fn imported_package(statement: &Stmt) -> Option<&str> {
    match statement {
        Stmt::ImportFrom(import) if import.level > 0 => None,
        Stmt::Import(_) | Stmt::ImportFrom(_) => imported_module(statement).split('.').next(),
        _ => None,
    }
}

fn imported_module(statement: &Stmt) -> &str {
    match statement {
        Stmt::Import(import) => import.names.first().map_or("", |alias| alias.name.as_str()),
        Stmt::ImportFrom(import) => import.module.as_ref().map_or("", |module| module.as_str()),
        _ => "",
    }
}

/// True for the modules of the standard library that files often import, which is enough to recognise sections.
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
    fn modules_of_the_standard_library_are_found() {
        for module in ["asyncio", "os", "time", "typing", "zoneinfo", "abc"] {
            assert!(is_standard(module), "{module}");
        }
        assert!(!is_standard("anyio") && !is_standard(""));
    }
}
