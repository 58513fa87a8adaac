//! Java: the libraries of which a project may have a value at all. A name like `add` or `get` belongs to rows of many
//! libraries, of which a project uses few; a value of a library enters with an import, a qualified name, or the result
//! of another library.

use crate::lang;
use blocklint_core::Language;
use blocklint_models::root;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::models::library::Library;
use crate::program::Program;

/// The roots of libraries that a project may have values of.
pub struct JavaRoots<'a> {
    program: &'a Program<'a>,
    present: FxHashSet<&'a str>,
    /// True if users' rows exist: these may name the project's own classes, which need no import.
    all: bool,
}

impl<'a> JavaRoots<'a> {
    /// Reads all imports once, and follows what rows name.
    pub fn new(program: &'a Program<'a>, library: &Library<'a>) -> Self {
        let mut roots = JavaRoots { program, present: FxHashSet::default(), all: library.has_user_rows() };
        if roots.all || !program.languages().contains(&Language::Java) {
            return roots;
        }
        for source in program.files.iter().filter(|source| source.facts.language == Language::Java) {
            let facts = &source.facts;
            for import in &facts.imports {
                let mut at = Some(root(Language::Java, facts.text(import.module)));
                while let Some(own) = at {
                    // With one all around it are there.
                    if !roots.present.insert(own) {
                        break;
                    }
                    at = own.rsplit_once('.').map(|(around, _)| around);
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

    /// True if the project may have a value that belongs to a path.
    pub fn has(&self, path: &str) -> bool {
        self.all || self.has_root(root(Language::Java, path))
    }

    fn has_root(&self, root: &str) -> bool {
        root.is_empty()
            || lang::java::names::is_of_runtime(root)
            || self.present.contains(root)
            // Code may name it in full.
            || self.program.files_naming_all(root.split('.')).next().is_some()
    }
}
