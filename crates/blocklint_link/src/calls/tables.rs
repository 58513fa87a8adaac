//! The memo tables of queries about calls.

use std::cell::OnceCell;
use std::rc::Rc;

use blocklint_facts::FormId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::param_summary::{FileParamUses, ParamSummary};
use crate::calls::passed_as_argument::{ConstructorCalls, PassedItems};
use crate::calls::sites_by_name::SitesByName;
use crate::calls::targets::Targets;
use crate::linker::Typed;
use crate::linker::query::{Plain, Step, Store, Table};
use crate::program::Program;
use crate::program::ids::{BodyRef, FileId, Name, PathId, SiteRef};
use crate::values::value::EnvId;

/// The key of an argument: a site, the body that it calls, the index of a parameter of the body, and true if the body
/// has a receiver that the argument list does not contain.
pub(crate) type ArgumentKey = (SiteRef, BodyRef, u32, bool);

/// The memo tables of queries about calls.
pub(crate) struct CallTables {
    pub(crate) targets: Table<(SiteRef, EnvId), Rc<Targets>, Step, BySite<Rc<Targets>>>,
    /// The targets of a site without a known target, shared because most sites have none.
    pub(crate) unknown_targets: Rc<Targets>,
    pub(crate) callees: Table<(SiteRef, EnvId), Typed, Step>,
    pub(crate) results: Table<(SiteRef, EnvId), Typed, Step>,
    pub(crate) summaries: Table<(BodyRef, u32), Rc<ParamSummary>, Step>,
    /// The uses of the parameters of a file.
    pub(crate) param_uses: Table<FileId, Rc<FileParamUses>, Plain>,
    /// Call sites and mentions by name.
    pub(crate) by_name: Table<Name, Rc<SitesByName>, Plain>,
    /// Call sites and mentions by name, in the files in focus.
    pub(crate) by_name_in_focus: Table<Name, Rc<SitesByName>, Plain>,
    pub(crate) passed_items: Table<Name, PassedItems, Plain>,
    pub(crate) constructor_calls: Table<Name, ConstructorCalls, Plain>,
    pub(crate) first_sites: Table<Name, Rc<[SiteRef]>, Plain>,
    /// Arguments that sites pass to parameters of bodies.
    pub(crate) arguments: Table<ArgumentKey, Option<FormId>, Plain>,
    /// True for library types whose iteration holds the thread.
    pub(crate) iteration_holds_thread: Table<PathId, bool, Plain>,
    /// The names of sites that iterate (Python).
    pub(crate) iterating: OnceCell<FxHashSet<Name>>,
}

impl CallTables {
    /// Returns empty tables.
    pub(crate) fn new(program: &Program<'_>) -> Self {
        CallTables {
            targets: Table::of(BySite::new(program)),
            unknown_targets: Rc::new(Targets { unknown: true, ..Targets::default() }),
            callees: Table::default(),
            results: Table::default(),
            summaries: Table::default(),
            param_uses: Table::default(),
            by_name: Table::default(),
            by_name_in_focus: Table::default(),
            passed_items: Table::default(),
            constructor_calls: Table::default(),
            first_sites: Table::default(),
            arguments: Table::default(),
            iteration_holds_thread: Table::default(),
            iterating: OnceCell::new(),
        }
    }
}

/// The answers about sites. Lookups are far more frequent than answers, and most have no environment, so answers
/// without an environment are in an array for each file.
pub(crate) struct BySite<V> {
    plain: Vec<FileAnswers<V>>,
    bound: FxHashMap<(SiteRef, EnvId), V>,
}

/// The answers about one file.
enum FileAnswers<V> {
    /// There is no answer yet; the file has this many sites.
    Empty(u32),
    /// The answers by site.
    Filled(Box<[Option<V>]>),
}

impl<V> BySite<V> {
    fn new(program: &Program<'_>) -> Self {
        let sites = program.files.iter().map(|file| file.facts.sites.len() as u32);
        BySite { plain: sites.map(FileAnswers::Empty).collect(), bound: FxHashMap::default() }
    }
}

impl<V> Store<(SiteRef, EnvId), V> for BySite<V> {
    #[inline]
    fn find(&self, key: &(SiteRef, EnvId)) -> Option<&V> {
        let (site, env) = *key;
        if env != EnvId::NONE {
            return self.bound.get(key);
        }
        match &self.plain[site.file.index()] {
            FileAnswers::Filled(answers) => answers[site.index()].as_ref(),
            FileAnswers::Empty(_) => None,
        }
    }

    fn keep(&mut self, key: (SiteRef, EnvId), answer: V) {
        let (site, env) = key;
        if env != EnvId::NONE {
            self.bound.insert(key, answer);
            return;
        }
        let of_file = &mut self.plain[site.file.index()];
        if let FileAnswers::Empty(sites) = *of_file {
            *of_file = FileAnswers::Filled((0..sites).map(|_| None).collect());
        }
        if let FileAnswers::Filled(answers) = of_file {
            answers[site.index()] = Some(answer);
        }
    }
}
