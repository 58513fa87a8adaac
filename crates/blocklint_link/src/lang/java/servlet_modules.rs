//! Java: modules that answer requests on a servlet container's threads. A method of such a module that returns a
//! publisher is called, and usually also subscribed to, on a thread of the container's pool.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::FileFacts;

use crate::linker::Linker;
use crate::program::ids::FileId;

/// The part of a file's path that follows the path of its module.
const SOURCES: &str = "src/";

impl Linker<'_> {
    /// True if the module of a file uses servlets and no reactive server.
    pub fn serves_by_servlets(&self, file: FileId) -> bool {
        let relative = &self.program.files[file.index()].relative;
        let module = module_of(relative);
        self.query(&self.tables.java.servlet_modules, module, bool::default, || {
            let (mut servlets, mut reactive) = (false, false);
            for other in self.program.files {
                if other.facts.language == Language::Java && module_of(&other.relative) == module {
                    servlets |= imports_any(&other.facts, lang::java::names::is_servlet_path);
                    reactive |= imports_any(&other.facts, lang::java::names::is_reactive_server_path);
                }
            }
            !reactive && (servlets || self.is_built_with_servlets(file))
        })
    }
}

impl Linker<'_> {
    /// True if the module of a file imports a server or framework that answers requests on event loops: a reactive
    /// server, or a framework that is built on one.
    pub(crate) fn serves_on_event_loops(&self, file: FileId) -> bool {
        let module = module_of(&self.program.files[file.index()].relative);
        self.query(&self.tables.java.event_loop_modules, module, bool::default, || {
            let files_of_module = self
                .program
                .files
                .iter()
                .filter(|other| other.facts.language == Language::Java && module_of(&other.relative) == module);
            let is_server_on_loops = |path: &str| {
                lang::java::names::is_reactive_server_path(path)
                    || lang::java::names::is_event_loop_framework_path(path)
            };
            self.is_built_with_reactive_server(file)
                || files_of_module.into_iter().any(|other| imports_any(&other.facts, is_server_on_loops))
        })
    }
}

/// Returns the path of the module of a file, with a final `/`.
fn module_of(relative: &str) -> &str {
    relative.find(SOURCES).map_or("", |end| &relative[..end])
}

/// True if an import of a file has a path that `wanted` accepts.
fn imports_any(facts: &FileFacts, wanted: impl Fn(&str) -> bool) -> bool {
    facts.imports.iter().any(|import| {
        wanted(facts.text(import.module)) || import.name.get().is_some_and(|name| wanted(facts.text(name)))
    })
}
