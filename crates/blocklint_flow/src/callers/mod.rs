//! Callers of a body: the calls by its names, the calls it is an argument of, the loops that consume the object that it
//! makes.

pub(crate) mod argument_edges;
pub(crate) mod container_calls;
pub(crate) mod java_objects;
pub mod loop_check;
pub(crate) mod trail;
pub mod unawaited;

use std::cell::RefCell;
use std::rc::Rc;

use blocklint_core::{Language, Runtime};
use blocklint_facts::{BodyKind, Form, SiteKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::linker::query::{EmptyMeanwhile, Table};
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::EnvId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::container_calls::Dispatch;
use crate::callers::trail::{Subject, Trail};

/// A body under a binding of what it captured; without one it stands for all its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The body.
    pub body: BodyRef,
    /// The binding.
    pub env: EnvId,
}

impl Node {
    /// Returns the body for all its callers.
    pub fn plain(body: BodyRef) -> Self {
        Node { body, env: EnvId::NONE }
    }
}

/// One caller of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The site.
    pub site: SiteRef,
    /// The binding of the site's own body.
    pub env: EnvId,
    /// The argument by which it is passed; none if it is the callee.
    pub arg: Option<u32>,
    /// How it runs.
    pub kind: CallerKind,
    /// True if the callee's first parameter is a receiver that the site does not list.
    pub with_receiver: bool,
    /// Inferred steps of the edge, unions apart.
    pub steps: u8,
    /// Alternatives of the edge that are not one: the site's targets, or the overrides of a method.
    pub shared: bool,
}

impl Caller {
    /// Returns a site that runs its callee, as far as definitions show.
    pub(crate) fn plain(site: SiteRef, env: EnvId, with_receiver: bool) -> Self {
        Caller { site, env, arg: None, kind: CallerKind::Runs, with_receiver, steps: 0, shared: false }
    }
}

/// How a caller runs a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallerKind {
    /// Now, on its own thread.
    Runs,
    /// It consumes the coroutine or iterator that the body made earlier.
    Consumes,
    /// It hands a named function to an event loop.
    HandsToLoop(Option<Runtime>),
}

/// Callers by node, remembered.
pub struct Callers<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) dispatch: Dispatch,
    /// True if only callers in the files that are looked at count.
    near: bool,
    callers: Table<Node, Rc<[Caller]>, EmptyMeanwhile>,
    sites: Table<BodyRef, Rc<[SiteRef]>, EmptyMeanwhile>,
    /// Where bound closures are made.
    creators: RefCell<FxHashMap<Node, Vec<SiteRef>>>,
}

/// The argument of a caller that drives what was handed over elsewhere: none that the site lists.
const NOT_AT_THE_SITE: u32 = u32::MAX;

/// Callers beyond which the search does not look for facts that hold for all of them.
const MOST_ASKED: usize = 16;

impl<'l, 'a> Callers<'l, 'a> {
    /// Returns the tables without any answer.
    pub fn new(linker: &'l Linker<'a>) -> Self {
        Callers {
            linker,
            dispatch: Dispatch::default(),
            near: false,
            callers: Table::default(),
            sites: Table::default(),
            creators: RefCell::default(),
        }
    }

    /// Returns those in the files that a run looks at; with a run that looks at all, all of them.
    pub(crate) fn near(linker: &'l Linker<'a>) -> Self {
        Callers { near: true, ..Callers::new(linker) }
    }

    /// True if callers in a file count.
    fn counts(&self, file: FileId) -> bool {
        !self.near || self.linker.is_in_focus(file)
    }

    /// Returns all callers of a node.
    pub fn of(&self, node: Node) -> Rc<[Caller]> {
        self.linker.query(&self.callers, node, Rc::default, || {
            let mut found = FoundCallers::default();
            self.collect(node, &mut found);
            self.sort(&mut found.callers);
            found.callers.dedup();
            Rc::from(found.callers)
        })
    }

    /// Sorts callers by their places and bindings.
    fn sort(&self, callers: &mut [Caller]) {
        callers.sort_by_key(|caller| (caller.site, caller.arg, self.linker.values.env_digest(caller.env), caller.env));
    }

    /// Returns the callers of a node that only a container holds.
    pub(crate) fn through_containers(&self, node: Node) -> Vec<Caller> {
        let (mut found, mut trails) = (FoundCallers::default(), Vec::new());
        for &site in self.dispatch.only(node.body) {
            self.call(Subject::Body(node), site, EnvId::NONE, &mut trails, &mut found);
        }
        found.callers
    }

    fn collect(&self, node: Node, found: &mut FoundCallers) {
        let mut trails = Vec::new();
        if node.env != EnvId::NONE {
            if let Some(creators) = self.creators.borrow().get(&node) {
                trails.extend(creators.iter().map(|&site| Trail::ResultOf(site, EnvId::NONE)));
            }
        } else {
            self.start(node.body, &mut trails);
        }
        if node.env == EnvId::NONE {
            trails.push(Trail::Literal(node.body));
            for &site in self.dispatch.only(node.body) {
                self.call(Subject::Body(node), site, EnvId::NONE, &mut trails, found);
            }
        }
        self.follow(Subject::Body(node), trails, found);
    }

    /// Adds the names under which a body is first known.
    fn start(&self, body: BodyRef, trails: &mut Vec<Trail>) {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let row = linker.program.body(body);
        let local =
            row.class.is_none() && row.parent.get().is_some_and(|parent| facts.body(parent).kind != BodyKind::Module);
        if local && row.var.is_some() {
            trails.push(Trail::NamedIn(body.file, row.name));
        } else {
            trails.extend(linker.body_names(body).into_iter().map(Trail::Named));
            trails.extend(linker.names_of_implicit_sites(body).into_iter().map(Trail::Named));
        }
        if let Some(class) = row.class.get()
            && linker.is_run_by_instance(body)
        {
            self.start_instances(body.file.class_ref(class), trails);
        }
    }

    /// Adds the places where instances of a class are made or declared, for methods that run without being named.
    fn start_instances(&self, class: ClassRef, trails: &mut Vec<Trail>) {
        let linker = self.linker;
        let classes = linker.with_descendants(class, 64, usize::MAX);
        let mut names: Vec<Name> = classes.iter().flat_map(|&class| linker.class_names(class)).collect();
        names.sort();
        names.dedup();
        if linker.program.language(class.file) == Language::Java {
            trails.extend(classes.iter().map(|&class| Trail::Object(class)));
        }
        for name in names {
            for &(file, sym) in linker.program.occurrences(name).iter().filter(|(file, _)| self.counts(*file)) {
                let facts = linker.program.facts(file);
                for &site in linker.program.index_of(file).sites_named(sym) {
                    if matches!(facts.site(site).kind, SiteKind::Call | SiteKind::New) {
                        trails.push(Trail::ResultOf(file.site_ref(site), EnvId::NONE));
                    }
                }
                for param in facts.params.iter().filter(|param| linker.names_type(file, param.annotation, sym)) {
                    trails.push(Trail::NamedIn(file, param.name));
                }
                for row in facts.assigns.iter().filter(|row| linker.names_type(file, row.annotation, sym)) {
                    match facts.form(row.target) {
                        Form::Attr(_, field) => trails.extend(linker.program.global(file, field).map(Trail::Named)),
                        Form::Var(var) => {
                            let name = facts.var(var).name;
                            trails.push(Trail::NamedIn(file, name));
                            trails.extend(linker.program.global(file, name).map(Trail::Named));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Returns every site that calls a body, by whatever name, verified.
    pub fn call_sites(&self, body: BodyRef) -> Rc<[SiteRef]> {
        self.linker.query(&self.sites, body, Rc::default, || self.find_call_sites(body).into())
    }

    fn find_call_sites(&self, body: BodyRef) -> Vec<SiteRef> {
        let node = Node::plain(body);
        let mut trails = Vec::new();
        self.start(body, &mut trails);
        let mut found = FoundCallers::default();
        self.follow(Subject::Body(node), trails, &mut found);
        let mut sites: Vec<SiteRef> = found
            .looked
            .iter()
            .filter(|(site, env)| self.linker.targets(*site, *env).receiver_of(body).is_some())
            .map(|(site, _)| *site)
            .collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// Returns these sites if there are any, and so few that all of them can be asked.
    pub(crate) fn few_call_sites(&self, body: BodyRef) -> Option<Rc<[SiteRef]>> {
        Some(self.call_sites(body)).filter(|sites| are_few(sites))
    }

    /// Returns the calls of a trait's or base's method that may mean this implementation of it.
    pub fn sites_by_base(&self, body: BodyRef) -> Vec<SiteRef> {
        let mut trails = Vec::new();
        self.start(body, &mut trails);
        let mut found = FoundCallers::default();
        self.follow(Subject::Body(Node::plain(body)), trails, &mut found);
        let may_mean = |site: SiteRef, env: EnvId| {
            self.linker.targets(site, env).list.iter().any(|target| match *target {
                Target::Overrides { class, name } => self.linker.may_run_override(class, name, body, site),
                _ => false,
            })
        };
        let mut sites: Vec<SiteRef> =
            found.looked.iter().filter(|(site, env)| may_mean(*site, *env)).map(|(site, _)| *site).collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// Returns the callers of a library callable under another name, or as an argument; `seeds` are its mentions.
    pub(crate) fn of_row(&self, path: PathId, seeds: &[(FileId, Mention, Wrap)]) -> Vec<Caller> {
        let mut found = FoundCallers::default();
        let mut trails = Vec::new();
        let subject = Subject::Row(path);
        for &(file, mention, wrap) in seeds {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, &mut trails, &mut found);
        }
        self.follow(subject, trails, &mut found);
        self.sort(&mut found.callers);
        found.callers.dedup();
        found.callers
    }
}

/// True if there are any sites, and so few that all of them can be asked.
pub(crate) fn are_few(sites: &[SiteRef]) -> bool {
    (1..=MOST_ASKED).contains(&sites.len())
}

/// Callers found so far for one node.
#[derive(Default)]
pub(crate) struct FoundCallers {
    callers: Vec<Caller>,
    looked: FxHashSet<(SiteRef, EnvId)>,
    passed: FxHashSet<(SiteRef, u32, EnvId)>,
}

/// Adds steps, at most to `low`.
pub(crate) fn add_steps(a: u8, b: u8) -> u8 {
    a.saturating_add(b).min(LOW_STEPS)
}
