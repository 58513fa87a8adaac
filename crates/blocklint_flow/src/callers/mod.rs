//! The callers of a body: the calls by its names, the calls that take it as an argument, and the loops that consume the
//! coroutine or iterator that it makes.

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

/// The most subclasses of one class whose names are searched.
const MAX_DESCENDANTS: usize = 64;

/// A body with a binding of the variables that it captures. Without a binding, the node is the body for all its
/// callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The body.
    pub body: BodyRef,
    /// The binding of its captured variables.
    pub env: EnvId,
}

impl Node {
    /// Returns the node of a body without a binding.
    pub fn plain(body: BodyRef) -> Self {
        Node { body, env: EnvId::NONE }
    }
}

/// One caller of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The call site.
    pub site: SiteRef,
    /// The binding of the site's own body.
    pub env: EnvId,
    /// The index of the argument by which the node is passed. `None` if the node is the callee.
    pub arg: Option<u32>,
    /// How the site runs the node.
    pub kind: CallerKind,
    /// True if the callee's first parameter is a receiver that is not among the site's arguments.
    pub with_receiver: bool,
    /// The inferred steps of the edge, without those for several possible targets.
    pub steps: u8,
    /// True if the site has several possible targets: alternatives, or the overrides of a method.
    pub shared: bool,
}

impl Caller {
    /// Returns the caller for a site that calls the node directly, without inferred steps.
    pub(crate) fn plain(site: SiteRef, env: EnvId, with_receiver: bool) -> Self {
        Caller { site, env, arg: None, kind: CallerKind::Runs, with_receiver, steps: 0, shared: false }
    }
}

/// How a caller runs a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallerKind {
    /// The site runs the node at once, on its own thread.
    Runs,
    /// The site consumes the coroutine or iterator that the body made earlier.
    Consumes,
    /// The site passes the node to an event loop, which runs it.
    PassesToLoop(Option<Runtime>),
}

/// Finds the callers of nodes, and caches them.
pub struct Callers<'l, 'a> {
    pub(crate) linker: &'l Linker<'a>,
    pub(crate) dispatch: Dispatch,
    /// True if only callers in the files in focus count.
    is_focused: bool,
    callers: Table<Node, Rc<[Caller]>, EmptyMeanwhile>,
    sites: Table<BodyRef, Rc<[SiteRef]>, EmptyMeanwhile>,
    /// By closure with a binding: the sites that make it.
    creators: RefCell<FxHashMap<Node, Vec<SiteRef>>>,
}

/// The argument index of a caller that runs a callable which was passed at another site, so that it is not among the
/// caller's own arguments.
const PASSED_ELSEWHERE: u32 = u32::MAX;

/// The most callers that are read to find a fact that holds for all of them.
const MOST_READ: usize = 16;

impl<'l, 'a> Callers<'l, 'a> {
    /// Returns empty tables for one program.
    pub fn new(linker: &'l Linker<'a>) -> Self {
        Callers {
            linker,
            dispatch: Dispatch::default(),
            is_focused: false,
            callers: Table::default(),
            sites: Table::default(),
            creators: RefCell::default(),
        }
    }

    /// Returns the tables for callers in the files in focus; in a run over the whole project, all files are.
    pub(crate) fn in_focus(linker: &'l Linker<'a>) -> Self {
        Callers { is_focused: true, ..Callers::new(linker) }
    }

    /// True if callers in a file count.
    fn counts(&self, file: FileId) -> bool {
        !self.is_focused || self.linker.is_in_focus(file)
    }

    /// Returns all callers of a node.
    pub fn find_callers(&self, node: Node) -> Rc<[Caller]> {
        self.linker.query(&self.callers, node, Rc::default, || {
            let mut search = CallerSearch::default();
            self.collect_callers(node, &mut search);
            self.sort(&mut search.callers);
            search.callers.dedup();
            Rc::from(search.callers)
        })
    }

    /// Sorts callers by their places and bindings.
    fn sort(&self, callers: &mut [Caller]) {
        callers.sort_by_key(|caller| (caller.site, caller.arg, self.linker.values.env_digest(caller.env), caller.env));
    }

    /// Returns the callers of a node through a container that holds no other callable: `handlers = [on_close]`.
    pub(crate) fn callers_through_containers(&self, node: Node) -> Vec<Caller> {
        let (mut search, mut trails) = (CallerSearch::default(), Vec::new());
        for &site in self.dispatch.sites_of_only_callable(node.body) {
            self.add_call(Subject::Body(node), site, EnvId::NONE, &mut trails, &mut search);
        }
        search.callers
    }

    fn collect_callers(&self, node: Node, search: &mut CallerSearch) {
        let mut trails = Vec::new();
        if node.env != EnvId::NONE {
            if let Some(creators) = self.creators.borrow().get(&node) {
                trails.extend(creators.iter().map(|&site| Trail::ResultOf(site, EnvId::NONE)));
            }
        } else {
            self.add_first_trails(node.body, &mut trails);
        }
        if node.env == EnvId::NONE {
            trails.push(Trail::Literal(node.body));
            for &site in self.dispatch.sites_of_only_callable(node.body) {
                self.add_call(Subject::Body(node), site, EnvId::NONE, &mut trails, search);
            }
        }
        self.follow(Subject::Body(node), trails, search);
    }

    /// Adds the trails that begin at the definition of a body: its names.
    fn add_first_trails(&self, body: BodyRef, trails: &mut Vec<Trail>) {
        let linker = self.linker;
        let facts = linker.program.facts(body.file);
        let body_facts = linker.program.body(body);
        let is_local = body_facts.class.is_none()
            && body_facts.parent.get().is_some_and(|parent| facts.body(parent).kind != BodyKind::Module);
        if is_local && body_facts.var.is_some() {
            trails.push(Trail::NamedIn(body.file, body_facts.name));
        } else {
            trails.extend(linker.body_names(body).into_iter().map(Trail::Named));
            trails.extend(linker.names_of_implicit_sites(body).into_iter().map(Trail::Named));
        }
        if let Some(class) = body_facts.class.get()
            && linker.is_run_by_instance(body)
        {
            self.add_instance_trails(body.file.class_ref(class), trails);
        }
    }

    /// Adds the trails of a class's instances, from the places where they are made or declared, for methods that code
    /// runs without their name (`__call__`, `Runnable.run`).
    fn add_instance_trails(&self, class: ClassRef, trails: &mut Vec<Trail>) {
        let linker = self.linker;
        let classes = linker.with_descendants(class, MAX_DESCENDANTS, usize::MAX);
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
                for assignment in
                    facts.assigns.iter().filter(|assignment| linker.names_type(file, assignment.annotation, sym))
                {
                    match facts.form(assignment.target) {
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

    /// Returns all sites that have a body as call target, under any name.
    pub fn call_sites(&self, body: BodyRef) -> Rc<[SiteRef]> {
        self.linker.query(&self.sites, body, Rc::default, || self.find_call_sites(body).into())
    }

    fn find_call_sites(&self, body: BodyRef) -> Vec<SiteRef> {
        let node = Node::plain(body);
        let mut trails = Vec::new();
        self.add_first_trails(body, &mut trails);
        let mut search = CallerSearch::default();
        self.follow(Subject::Body(node), trails, &mut search);
        let mut sites: Vec<SiteRef> = search
            .visited
            .iter()
            .filter(|(site, env)| self.linker.targets(*site, *env).receiver_of(body).is_some())
            .map(|(site, _)| *site)
            .collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// Returns the call sites of a body if there are some, and few enough to read all of them.
    pub(crate) fn few_call_sites(&self, body: BodyRef) -> Option<Rc<[SiteRef]>> {
        Some(self.call_sites(body)).filter(|sites| are_few(sites))
    }

    /// Returns the calls of a base's or trait's method that may run this implementation of it.
    pub fn call_sites_through_base(&self, body: BodyRef) -> Vec<SiteRef> {
        let mut trails = Vec::new();
        self.add_first_trails(body, &mut trails);
        let mut search = CallerSearch::default();
        self.follow(Subject::Body(Node::plain(body)), trails, &mut search);
        let may_mean = |site: SiteRef, env: EnvId| {
            self.linker.targets(site, env).list.iter().any(|target| match *target {
                Target::Overrides { class, name } => self.linker.may_run_override(class, name, body, site),
                _ => false,
            })
        };
        let mut sites: Vec<SiteRef> =
            search.visited.iter().filter(|(site, env)| may_mean(*site, *env)).map(|(site, _)| *site).collect();
        sites.sort();
        sites.dedup();
        sites
    }

    /// Returns the callers that run a library callable under another name, or as an argument. `seeds` are the
    /// callable's mentions.
    pub(crate) fn callers_of_row(&self, path: PathId, seeds: &[(FileId, Mention, Wrap)]) -> Vec<Caller> {
        let mut search = CallerSearch::default();
        let mut trails = Vec::new();
        let subject = Subject::Row(path);
        for &(file, mention, wrap) in seeds {
            self.follow_mention(subject, file, mention, wrap, EnvId::NONE, &mut trails, &mut search);
        }
        self.follow(subject, trails, &mut search);
        self.sort(&mut search.callers);
        search.callers.dedup();
        search.callers
    }
}

/// True if there are some sites, and few enough to read all of them.
pub(crate) fn are_few(sites: &[SiteRef]) -> bool {
    (1..=MOST_READ).contains(&sites.len())
}

/// The state of the search for the callers of one node.
#[derive(Default)]
pub(crate) struct CallerSearch {
    /// The callers found so far.
    callers: Vec<Caller>,
    /// The sites that have been checked as possible calls.
    visited: FxHashSet<(SiteRef, EnvId)>,
    /// The arguments by which the node is passed that have been followed.
    passed: FxHashSet<(SiteRef, u32, EnvId)>,
}

/// Returns the sum of two numbers of steps, at most [`LOW_STEPS`].
pub(crate) fn add_steps(a: u8, b: u8) -> u8 {
    a.saturating_add(b).min(LOW_STEPS)
}
