//! Python modules that their project left over: their neighbours are imported, and they are named nowhere.

use std::cell::{OnceCell, RefCell};

use blocklint_core::Language;
use blocklint_facts::{BodyId, BodyKind, Form};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::entries::memo::Memo;
use crate::link::Link;
use crate::link::memo::remembered;
use crate::program::Program;
use crate::program::ids::FileId;

/// Neighbours below which a folder says nothing of the module that nobody imports.
const FEWEST_NEIGHBOURS: usize = 4;

/// Modules that something beside the project's code loads: servers, runners, builders.
const LOADED_BY_NAME: &[&str] = &[
    "__init__",
    "__main__",
    "app",
    "asgi",
    "conftest",
    "conf",
    "handler",
    "lambda_function",
    "main",
    "manage",
    "plugin",
    "plugins",
    "server",
    "settings",
    "setup",
    "tasks",
    "worker",
    "wsgi",
];

/// Which modules a project left over, as far as somebody asked.
#[derive(Default)]
pub(crate) struct LeftOver {
    /// The parts of the names of all modules that Python files import, and the names they import from them.
    imported: OnceCell<FxHashSet<String>>,
    known: RefCell<FxHashMap<FileId, bool>>,
}

impl LeftOver {
    fn imported(&self, program: &Program<'_>) -> &FxHashSet<String> {
        self.imported.get_or_init(|| {
            let python = program.files.iter().filter(|file| file.facts.language == Language::Python);
            let mut names = FxHashSet::default();
            for file in python {
                for import in file.facts.imports.iter() {
                    // Every part may be the module: `import a.b.c` loads all three.
                    names.extend(file.facts.text(import.module).split('.').map(str::to_owned));
                    names.insert(file.facts.text(import.name).to_owned());
                }
            }
            names
        })
    }
}

impl Link<'_> {
    /// Whether nothing of the project imports a Python module or names it in a string, where most modules of the folder are
    /// imported, and it neither runs by itself nor registers anything: nobody calls what it defines.
    pub(crate) fn is_left_over_module(&self, file: FileId) -> bool {
        remembered(&self.above::<Memo>().left_over.known, file, || self.is_imported_nowhere(file))
    }

    fn is_imported_nowhere(&self, file: FileId) -> bool {
        let facts = self.program.facts(file);
        if facts.language != Language::Python {
            return false;
        }
        let Some((folder, stem)) = folder_and_stem(&self.program.files[file.index()].relative) else { return false };
        let imported = self.above::<Memo>().left_over.imported(self.program);
        !imported.contains(stem)
            && !LOADED_BY_NAME.contains(&stem)
            && !self.has_effect_when_loaded(file)
            && self.most_are_imported(folder, imported)
            && !self.is_named_in_string(stem)
    }

    /// Whether a module does more when it is loaded than define things: it runs functions of its own, or decorates them.
    fn has_effect_when_loaded(&self, file: FileId) -> bool {
        let facts = self.program.facts(file);
        let is_script =
            facts.forms.iter().any(|form| matches!(form, Form::Str(text) if facts.text(text) == "__main__"));
        let decorates = facts.bodies.iter().any(|row| {
            row.parent.get() == Some(BodyId(0))
                && row.kind == BodyKind::Function
                && !facts.list(row.decorators).is_empty()
        });
        let runs = || {
            facts.sites.iter().filter(|site| facts.body_of(site.at) == BodyId(0)).any(|site| {
                match facts.form(site.callee) {
                    Form::Var(var) => {
                        let name = facts.var(var).name;
                        facts.bodies.iter().any(|row| row.name == name && row.kind == BodyKind::Function)
                    }
                    _ => false,
                }
            })
        };
        is_script || decorates || runs()
    }

    /// Whether the project imports most modules of a folder, packages too.
    fn most_are_imported(&self, folder: &str, imported: &FxHashSet<String>) -> bool {
        let modules = self.program.files.iter().filter_map(|file| {
            let below = file.relative.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".py")?;
            below.split('/').next().filter(|&stem| stem != "__init__")
        });
        let modules: FxHashSet<&str> = modules.collect();
        let others = modules.len().saturating_sub(1);
        others >= FEWEST_NEIGHBOURS && modules.iter().filter(|&&stem| imported.contains(stem)).count() * 4 >= others * 3
    }

    /// Whether a string somewhere names a module of this name: `"package.module:app"`, `"module.py"`.
    fn is_named_in_string(&self, stem: &str) -> bool {
        // Something stands beside the name.
        let may_name =
            |text: &&str| text.len() > stem.len() && text.bytes().any(|byte| matches!(byte, b'.' | b'/' | b':'));
        self.program.texts().filter(may_name).any(|text| {
            text.match_indices(stem).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + stem.len()..]);
                before.ends_with(['.', '/']) && !after.starts_with(|next: char| next.is_alphanumeric() || next == '_')
                    || after.starts_with([':', '.']) && (before.is_empty() || before.ends_with(['.', '/', ' ']))
            })
        })
    }
}

/// The folder and the name of a Python file's module.
fn folder_and_stem(relative: &str) -> Option<(&str, &str)> {
    let (folder, name) = relative.rsplit_once('/')?;
    Some((folder, name.strip_suffix(".py")?))
}
