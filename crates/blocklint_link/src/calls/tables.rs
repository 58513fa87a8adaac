//! Tables of the answers about calls that the linker keeps.

use std::cell::OnceCell;
use std::rc::Rc;

use blocklint_facts::FormId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::param_summary::{FileParamUses, Summary};
use crate::calls::passed_as_argument::{ConstructorCalls, PassedItems};
use crate::calls::sites_by_name::SitesByName;
use crate::calls::targets::Targets;
use crate::linker::Typed;
use crate::linker::query::{Always, QueryStart, Step, Store, Table, Whole};
use crate::program::Program;
use crate::program::ids::{BodyRef, FileId, Name, PathId, SiteRef};
use crate::values::value::EnvId;

/// A site, the body it calls, a parameter of that, and whether its receiver is one that the site does not list.
pub(crate) type ArgumentKey = (SiteRef, BodyRef, u32, bool);

/// The answers about calls.
pub(crate) struct CallTables {
    pub(crate) targets: Table<(SiteRef, EnvId), Rc<Targets>, Step, BySite<Rc<Targets>>>,
    /// The targets of a site of which nothing is known; many are.
    pub(crate) no_targets: Rc<Targets>,
    pub(crate) callees: Table<(SiteRef, EnvId), Typed, Step>,
    pub(crate) results: Table<(SiteRef, EnvId), Typed, Step>,
    pub(crate) summaries: Table<(BodyRef, u32), Rc<Summary>, Step>,
    /// The uses of the parameters of a file.
    pub(crate) param_uses: Table<FileId, Rc<FileParamUses>, Always>,
    /// Where the bearers of one name are called.
    pub(crate) by_name: Table<Name, Rc<SitesByName>, Always>,
    /// Call sites by name in the files of the focus alone.
    pub(crate) by_name_near: Table<Name, Rc<SitesByName>, Always>,
    pub(crate) given: Table<Name, PassedItems, Whole>,
    pub(crate) constructor_calls: Table<Name, ConstructorCalls, Whole>,
    pub(crate) first_sites: Table<Name, Rc<[SiteRef]>, Always>,
    /// Arguments that sites pass to parameters of bodies.
    pub(crate) arguments: Table<ArgumentKey, Option<FormId>, Always>,
    /// Library types by whether iterating over them enters a row.
    pub(crate) iterated: Table<PathId, bool, Always>,
    /// Python: the names of sites that iterate.
    pub(crate) iterating: OnceCell<FxHashSet<Name>>,
}

impl CallTables {
    /// Returns the tables without any answer.
    pub(crate) fn new(program: &Program<'_>) -> Self {
        CallTables {
            targets: Table::of(BySite::new(program)),
            no_targets: Rc::new(Targets { unknown: true, ..Targets::default() }),
            callees: Table::default(),
            results: Table::default(),
            summaries: Table::default(),
            param_uses: Table::default(),
            by_name: Table::default(),
            by_name_near: Table::default(),
            given: Table::default(),
            constructor_calls: Table::default(),
            first_sites: Table::default(),
            arguments: Table::default(),
            iterated: Table::default(),
            iterating: OnceCell::new(),
        }
    }
}

/// Answers about sites. They are asked for far more often than found, mostly for all callers of a body: without an environment they stand
/// in a row for each file.
pub(crate) struct BySite<V> {
    plain: Vec<FileAnswers<V>>,
    bound: FxHashMap<(SiteRef, EnvId), V>,
    running: FxHashSet<(SiteRef, EnvId)>,
}

/// The answers about one file.
enum FileAnswers<V> {
    /// Nothing was asked yet; the file has this many sites.
    Unasked(u32),
    /// By site.
    Asked(Box<[Option<V>]>),
}

impl<V> BySite<V> {
    fn new(program: &Program<'_>) -> Self {
        let sites = program.files.iter().map(|file| file.facts.sites.len() as u32);
        BySite {
            plain: sites.map(FileAnswers::Unasked).collect(),
            bound: FxHashMap::default(),
            running: FxHashSet::default(),
        }
    }

    #[inline]
    fn get(&self, (site, env): (SiteRef, EnvId)) -> Option<&V> {
        if env != EnvId::NONE {
            return self.bound.get(&(site, env));
        }
        match &self.plain[site.file.index()] {
            FileAnswers::Asked(answers) => answers[site.index()].as_ref(),
            FileAnswers::Unasked(_) => None,
        }
    }
}

impl<V: Clone> Store<(SiteRef, EnvId), V> for BySite<V> {
    #[inline]
    fn begin(&mut self, key: &(SiteRef, EnvId), marks: bool, may_start: impl FnOnce() -> bool) -> QueryStart<V> {
        if let Some(answer) = self.get(*key) {
            return QueryStart::Known(answer.clone());
        }
        if self.running.contains(key) {
            return QueryStart::Running;
        }
        if !may_start() {
            return QueryStart::Refused;
        }
        if marks {
            self.running.insert(*key);
        }
        QueryStart::Started
    }

    fn keep(&mut self, key: (SiteRef, EnvId), answer: V) {
        self.running.remove(&key);
        let (site, env) = key;
        if env != EnvId::NONE {
            self.bound.insert(key, answer);
            return;
        }
        let of_file = &mut self.plain[site.file.index()];
        if let FileAnswers::Unasked(sites) = *of_file {
            *of_file = FileAnswers::Asked((0..sites).map(|_| None).collect());
        }
        if let FileAnswers::Asked(answers) = of_file {
            answers[site.index()] = Some(answer);
        }
    }

    fn forget(&mut self, key: &(SiteRef, EnvId)) {
        self.running.remove(key);
    }
}
