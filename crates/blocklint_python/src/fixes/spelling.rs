//! Names and imports for edits that others write: how a path is spelt at a place, and a text with imports added.

use blocklint_core::Refusal;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Mod, ModModule, PythonVersion, Stmt, StmtFunctionDef};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextSize};

use super::File;
use crate::depth;

/// An import that a file needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Import {
    /// The module.
    pub module: String,
    /// The name that is imported from it; none if the module itself is imported.
    pub name: Option<String>,
}

/// A path as a file writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The text.
    pub written: String,
    /// The import that it needs.
    pub import: Option<Import>,
}

/// Returns how code at an offset writes a path, in the words of [`crate::fix`].
///
/// # Errors
///
/// Where the name means something else there, or the file cannot be read.
pub fn spelling(source: &str, offset: u32, path: &str) -> Result<Spelling, Refusal> {
    let at = TextSize::new(offset);
    let spelled = parsed(source, |file| {
        let mut around = Around { at, functions: Vec::new() };
        around.visit_body(&file.module.body);
        around.functions.reverse();
        file.spelling(&around.functions, at, path)
    });
    spelled.unwrap_or_else(|| Err(Refusal::new("the file cannot be read")))
}

/// Returns a text with imports added, each in its place among the others.
pub fn with_imports(source: &str, imports: &[Import]) -> String {
    let mut text = source.to_owned();
    for import in imports {
        if let Some((span, added)) = parsed(&text, |file| file.with_import(import)) {
            text.replace_range(span.start as usize..span.end as usize, &added);
        }
    }
    text
}

/// Asks a file in which no call is mended.
fn parsed<T>(source: &str, ask: impl for<'a> FnOnce(&File<'a, 'a>) -> T) -> Option<T> {
    if depth::check_nesting(source).is_some() {
        return None;
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    let module: &ModModule = match parsed.syntax() {
        Mod::Module(module) if !parsed.has_invalid_syntax() => module,
        _ => return None,
    };
    Some(ask(&File::of_text(source, module)))
}

/// Finds the functions around a place, the outermost first.
struct Around<'a> {
    at: TextSize,
    functions: Vec<&'a StmtFunctionDef>,
}

impl<'a> SourceOrderVisitor<'a> for Around<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node.range().contains_inclusive(self.at) {
            true => TraversalSignal::Traverse,
            false => TraversalSignal::Skip,
        }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::FunctionDef(function) = statement
            && function.body.first().is_some_and(|first| (first.start()..=function.end()).contains(&self.at))
        {
            self.functions.push(function);
        }
        ruff_python_ast::visitor::source_order::walk_stmt(self, statement);
    }
}

#[cfg(test)]
mod tests {
    use super::{Import, spelling, with_imports};

    const FILE: &str = "\"\"\"About.\"\"\"\n\nimport older\n\n\ndef load():\n    return older.get(1)\n";

    #[test]
    fn a_path_is_spelt_by_what_is_imported() {
        let at = FILE.find("older.get").expect("it is there") as u32;
        let known = spelling(FILE, at, "older.Session").expect("it is there");
        assert_eq!((known.written.as_str(), known.import), ("older.Session", None));
        let new = spelling(FILE, at, "newer.Client").expect("it is there");
        let import = Import { module: "newer".to_owned(), name: None };
        assert_eq!((new.written.as_str(), new.import.as_ref()), ("newer.Client", Some(&import)));
        let text = with_imports(FILE, &[import]);
        assert!(text.contains("import newer\nimport older\n"), "{text}");
    }

    #[test]
    fn a_name_that_a_function_binds_is_not_taken() {
        let text = "def load(newer):\n    return 1\n";
        let spelled = spelling(text, text.find('1').expect("it is there") as u32, "newer.Client").expect("it is there");
        assert_eq!(spelled.written, "Client");
    }
}
