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
use crate::linker::query::{Plain, Step, Store, Table};
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
    pub(crate) param_uses: Table<FileId, Rc<FileParamUses>, Plain>,
    /// Where the bearers of one name are called.
    pub(crate) by_name: Table<Name, Rc<SitesByName>, Plain>,
    /// Call sites by name in the files of the focus alone.
    pub(crate) by_name_near: Table<Name, Rc<SitesByName>, Plain>,
    pub(crate) given: Table<Name, PassedItems, Plain>,
    pub(crate) constructor_calls: Table<Name, ConstructorCalls, Plain>,
    pub(crate) first_sites: Table<Name, Rc<[SiteRef]>, Plain>,
    /// Arguments that sites pass to parameters of bodies.
    pub(crate) arguments: Table<ArgumentKey, Option<FormId>, Plain>,
    /// Library types by whether iterating over them enters a row.
    pub(crate) iterated: Table<PathId, bool, Plain>,
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
        BySite { plain: sites.map(FileAnswers::Unasked).collect(), bound: FxHashMap::default() }
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
            FileAnswers::Asked(answers) => answers[site.index()].as_ref(),
            FileAnswers::Unasked(_) => None,
        }
    }

    fn keep(&mut self, key: (SiteRef, EnvId), answer: V) {
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
}
