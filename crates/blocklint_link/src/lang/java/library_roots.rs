//! Java: the libraries whose values a project can have. A name such as `add` or `get` has rows of many libraries, and a
//! project uses few of them. A project gets a library's values by an import, a qualified name, or the result of another
//! library's method.

use crate::lang;
use blocklint_core::Language;
use blocklint_models::library_root;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::models::library::Library;
use crate::program::Program;

/// The root packages of the libraries whose values a project can have.
pub struct JavaRoots<'a> {
    program: &'a Program<'a>,
    present: FxHashSet<&'a str>,
    /// True if the user's configuration has rows, because these may describe the project's own classes, which need no
    /// import.
    all: bool,
}

impl<'a> JavaRoots<'a> {
    /// Collects the libraries of all imports, and the libraries that their rows refer to.
    pub fn new(program: &'a Program<'a>, library: &Library<'a>) -> Self {
        let mut roots = JavaRoots { program, present: FxHashSet::default(), all: library.has_user_rows() };
        if roots.all || !program.languages().contains(&Language::Java) {
            return roots;
        }
        for source in program.files.iter().filter(|source| source.facts.language == Language::Java) {
            let facts = &source.facts;
            for import in &facts.imports {
                let mut enclosing = Some(library_root(Language::Java, facts.text(import.module)));
                while let Some(package) = enclosing {
                    // A package that is present has the packages around it, too.
                    if !roots.present.insert(package) {
                        break;
                    }
                    enclosing = package.rsplit_once('.').map(|(around, _)| around);
                }
            }
        }
        let mut links: FxHashMap<&'a str, Vec<&'a str>> = FxHashMap::default();
        for (from, to) in library.of(Language::Java).links() {
            links.entry(from).or_default().push(to);
        }
        let mut queue: Vec<&str> = links.keys().copied().filter(|from| roots.has_root(from)).collect();
        while let Some(from) = queue.pop() {
            for &to in links.get(from).into_iter().flatten() {
                if !roots.has_root(to) {
                    roots.present.insert(to);
                    queue.push(to);
                }
            }
        }
        roots
    }

    /// True if the project can have a value of the library of a path.
    pub fn may_have(&self, path: &str) -> bool {
        self.all || self.has_root(library_root(Language::Java, path))
    }

    fn has_root(&self, root: &str) -> bool {
        root.is_empty()
            || lang::java::names::is_runtime_package(root)
            || self.present.contains(root)
            // Code may spell out the package.
            || self.program.files_naming_all(root.split('.')).next().is_some()
    }
}
