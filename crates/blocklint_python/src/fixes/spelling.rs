//! Names and imports for edits of other tools: the spelling of a path at an offset, and the addition of imports.

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
    /// The name that is imported from it; `None` if the module is imported.
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

/// Returns how code at an offset writes a path (`asyncio.sleep` or `sleep`), by the rules of [`crate::fix`].
///
/// # Errors
///
/// If the name means something else there, or the file cannot be parsed.
pub fn spell_path(source: &str, offset: u32, path: &str) -> Result<Spelling, Refusal> {
    let offset = TextSize::new(offset);
    let spelling = with_parsed_file(source, |file| {
        let mut finder = FunctionFinder { offset, functions: Vec::new() };
        finder.visit_body(&file.module.body);
        finder.functions.reverse();
        file.spell_path(&finder.functions, offset, path)
    });
    spelling.unwrap_or_else(|| Err(Refusal::new("the file cannot be read")))
}

/// Returns a text with imports added, each in its place among the others.
pub fn add_imports(source: &str, imports: &[Import]) -> String {
    let mut text = source.to_owned();
    for import in imports {
        if let Some((span, added)) = with_parsed_file(&text, |file| file.import_edit(import)) {
            text.replace_range(span.start as usize..span.end as usize, &added);
        }
    }
    text
}

/// Calls `ask` with the parsed file; `None` if it cannot be parsed.
fn with_parsed_file<T>(source: &str, ask: impl for<'a> FnOnce(&File<'a, 'a>) -> T) -> Option<T> {
    if depth::check_nesting(source).is_some() {
        return None;
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module).with_target_version(PythonVersion::latest()));
    let module: &ModModule = match parsed.syntax() {
        Mod::Module(module) if !parsed.has_invalid_syntax() => module,
        _ => return None,
    };
    Some(ask(&File::without_edits(source, module)))
}

/// A visitor that finds the functions around an offset, the outermost first.
struct FunctionFinder<'a> {
    offset: TextSize,
    functions: Vec<&'a StmtFunctionDef>,
}

impl<'a> SourceOrderVisitor<'a> for FunctionFinder<'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if node.range().contains_inclusive(self.offset) { TraversalSignal::Traverse } else { TraversalSignal::Skip }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::FunctionDef(function) = statement
            && function.body.first().is_some_and(|first| (first.start()..=function.end()).contains(&self.offset))
        {
            self.functions.push(function);
        }
        ruff_python_ast::visitor::source_order::walk_stmt(self, statement);
    }
}

#[cfg(test)]
mod tests {
    use super::{Import, add_imports, spell_path};

    const FILE: &str = "\"\"\"About.\"\"\"\n\nimport older\n\n\ndef load():\n    return older.get(1)\n";

    #[test]
    fn a_path_is_spelt_by_existing_imports() {
        let at = FILE.find("older.get").expect("it is there") as u32;
        let known = spell_path(FILE, at, "older.Session").expect("it is there");
        assert_eq!((known.written.as_str(), known.import), ("older.Session", None));
        let new = spell_path(FILE, at, "newer.Client").expect("it is there");
        let import = Import { module: "newer".to_owned(), name: None };
        assert_eq!((new.written.as_str(), new.import.as_ref()), ("newer.Client", Some(&import)));
        let text = add_imports(FILE, &[import]);
        assert!(text.contains("import newer\nimport older\n"), "{text}");
    }

    #[test]
    fn a_name_that_a_function_binds_is_not_taken() {
        let text = "def load(newer):\n    return 1\n";
        let spelled =
            spell_path(text, text.find('1').expect("it is there") as u32, "newer.Client").expect("it is there");
        assert_eq!(spelled.written, "Client");
    }
}
