//! Python: modules of a program that nothing loads. They only define functions and classes, and no code imports them or writes their
//! name.

use std::cell::OnceCell;

use blocklint_core::Language;
use blocklint_facts::{BodyId, BodyKind, SiteKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang::python::builtins;
use blocklint_link::lang::python::monkey_patch::loaded_files;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::FileId;
use rustc_hash::FxHashSet;

use crate::entries::purpose::{language_serves, project_takes_arguments};
use crate::lifecycle::never_made::{is_used_by_name, makes_by_name};
use crate::lifecycle::phase::paths_by_convention;

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// The files that code of the program imports.
    loaded: OnceCell<FxHashSet<FileId>>,
    never_loaded: Table<FileId, bool, Plain>,
}

/// True if a module of a program only defines things, and nothing in the project loads it.
pub(crate) fn is_never_loaded(linker: &Linker<'_>, file: FileId) -> bool {
    let memo = linker.layer_memo::<Memo>();
    linker.query(&memo.never_loaded, file, bool::default, || {
        if linker.program.language(file) != Language::Python || !only_defines(linker, file) {
            return false;
        }
        let loaded_files = memo.loaded.get_or_init(|| files_loaded(linker));
        // A project whose files import none of each other is a folder of scripts.
        !loaded_files.is_empty()
            && !loaded_files.contains(&file)
            && !is_used_by_name(linker, stem(linker, file))
            && (language_serves(linker, Language::Python) || project_takes_arguments(linker))
            && !makes_by_name(linker)
    })
}

/// Returns the name of a file without its folders and its ending.
fn stem<'l>(linker: &'l Linker<'_>, file: FileId) -> &'l str {
    let relative = &linker.program.files[file.index()].relative;
    let name = relative.rsplit('/').next().unwrap_or(relative);
    name.strip_suffix(".py").unwrap_or(name)
}

/// Returns the files that files of the program import.
fn files_loaded(linker: &Linker<'_>) -> FxHashSet<FileId> {
    let files = (0..linker.program.files.len() as u32).map(FileId);
    let loading =
        files.filter(|&file| linker.program.language(file) == Language::Python && !linker.program.is_test(file));
    loading.flat_map(|file| loaded_files(linker, file)).collect()
}

/// True if the top level of a file calls nothing, and neither a decorator, a base class nor a convention gives what it defines to others.
fn only_defines(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    if linker.is_for_tests(file.body_ref(BodyId(0))) || stem(linker, file).starts_with("__") {
        return false;
    }
    let calls = facts.sites.iter().any(|site| {
        matches!(site.kind, SiteKind::Call | SiteKind::Decorate)
            && matches!(facts.body(facts.body_of(site.at)).kind, BodyKind::Module | BodyKind::Class)
    });
    let is_given = |body: BodyId| {
        let body_ref = file.body_ref(body);
        linker.registered(body_ref).is_some() || !paths_by_convention(linker, body_ref).is_empty()
    };
    let is_own = |class: u32| {
        let class = file.class_ref(blocklint_facts::ClassId(class));
        linker.mro(class).iter().all(|of| match *of {
            Ancestor::Class(_) => true,
            Ancestor::Library(path, _) => builtins::is_interface_marker(&linker.library.text(path)),
            Ancestor::Unknown => false,
        })
    };
    !calls
        && (0..facts.bodies.len() as u32).map(BodyId).all(|body| !is_given(body))
        && (0..facts.classes.len() as u32).all(is_own)
}
