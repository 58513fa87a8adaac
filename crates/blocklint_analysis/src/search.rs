//! The search: which bodies hold their thread, by which calls, and who that is to.
//!
//! Labels flow from the calls that enter a model row to the callers of their bodies, until a root absorbs them. The
//! result is a graph of states (a body with a label) and of hits (a label at a site of a root); confidence and the
//! best path are read off it afterwards.

use blocklint_core::{Hold, Severity, WhereSet};
use blocklint_facts::{Form, FormId, SiteKind, VarKind};
use blocklint_models::{CallRow, Match, Uses};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::{Caller, CallerKind, Callers, Node, add_steps};
use crate::cuts::Cuts;
use crate::ids::{BodyRef, FileId, Name, PathId, SiteRef};
use crate::label::{Guard, Label, LabelHold, LabelId, Labels, Question, Source};
use crate::link::Link;
use crate::mentions::{Mention, Wrap};
use crate::roots::{Root, RootKind, Roots};
use crate::rows::Shown;
use crate::targets::Target;
use crate::value::{EnvId, Val};

/// A body with one of its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StateId(pub(crate) u32);

/// What an edge leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Next {
    /// A called body with its label.
    State(StateId),
    /// A model row: the cause of this number.
    Leaf(u32),
}

/// One way on from a state or hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub(crate) site: SiteRef,
    pub(crate) arg: Option<u32>,
    pub(crate) next: Next,
    /// Inferred steps of this edge, unions apart.
    pub(crate) steps: u8,
    /// Whether the site has other targets.
    pub(crate) shared: bool,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) node: Node,
    pub(crate) label: LabelId,
    pub(crate) ways: Vec<Way>,
}

/// A label at a site of a root.
#[derive(Debug)]
pub(crate) struct Hit {
    /// The body that must not block.
    pub(crate) root: BodyRef,
    /// What kind of root, or the context a function is handed to.
    pub(crate) kind: Root,
    /// Whether the site hands a function over instead of running it.
    pub(crate) handed: bool,
    pub(crate) label: Label,
    pub(crate) way: Way,
}

/// A call that enters a model row.
#[derive(Debug)]
pub(crate) struct LeafSite<'m> {
    pub(crate) site: SiteRef,
    pub(crate) row: Match<'m, CallRow>,
    pub(crate) path: PathId,
    /// Silenced for some rules.
    pub(crate) label: LabelId,
}

/// The graph that the search leaves behind.
pub(crate) struct Graph<'m> {
    pub(crate) labels: Labels,
    pub(crate) states: Vec<State>,
    pub(crate) leaves: Vec<LeafSite<'m>>,
    pub(crate) hits: Vec<Hit>,
    /// Bodies that carry a label.
    pub(crate) labelled: FxHashSet<BodyRef>,
    /// Sites at which a model row holds the thread, with how many rows do.
    pub(crate) leaf_sites: FxHashMap<SiteRef, u32>,
}

/// The search over one program.
pub(crate) struct Search<'l, 'a> {
    pub(crate) link: &'l Link<'a>,
    pub(crate) callers: Callers<'l, 'a>,
    pub(crate) roots: Roots<'l, 'a>,
    pub(crate) cuts: &'l Cuts,
    graph: Graph<'a>,
    ids: FxHashMap<(Node, LabelId), StateId>,
    longest: FxHashMap<Node, Vec<LabelId>>,
    queue: Vec<StateId>,
}

impl<'l, 'a> Search<'l, 'a> {
    pub(crate) fn new(link: &'l Link<'a>, cuts: &'l Cuts) -> Self {
        Search {
            link,
            callers: Callers::new(link),
            roots: Roots::new(link),
            cuts,
            graph: Graph {
                labels: Labels::default(),
                states: Vec::new(),
                leaves: Vec::new(),
                hits: Vec::new(),
                labelled: FxHashSet::default(),
                leaf_sites: FxHashMap::default(),
            },
            ids: FxHashMap::default(),
            longest: FxHashMap::default(),
            queue: Vec::new(),
        }
    }

    /// Finds the leaves and follows their labels to the roots.
    pub(crate) fn run(mut self) -> Graph<'a> {
        self.find_leaves();
        while let Some(state) = self.queue.pop() {
            self.expand(state);
        }
        self.graph
    }

    /// Resolves the sites whose last name is that of a row that holds its thread.
    fn find_leaves(&mut self) {
        let program = self.link.program;
        let mut sites: Vec<SiteRef> = Vec::new();
        let mut mentioned: Vec<Name> = Vec::new();
        for language in blocklint_core::Language::ALL {
            let models = self.link.library.of(*language);
            let mut names: FxHashSet<Name> = FxHashSet::default();
            let wanted = Uses::EFFECT.union(Uses::LAZY);
            let (mut read, mut called) = (FxHashSet::<Name>::default(), FxHashSet::<Name>::default());
            for row in models.names(wanted) {
                // An iteration stands under the front end's name.
                let text = match row.name {
                    "__next__" => "__iter__",
                    other => other.strip_suffix('!').unwrap_or(other),
                };
                let Some(name) = program.name(text) else { continue };
                names.insert(name);
                if row.paths(wanted).any(|path| !path.uses.intersects(Uses::PROPERTY)) {
                    called.extend(self.link.with_aliases(name));
                }
                if row.paths(wanted).any(|path| path.uses.intersects(Uses::PROPERTY)) {
                    read.extend(self.link.with_aliases(name));
                }
            }
            let globbed = self.glob_names(*language);
            names.extend(globbed.iter().copied());
            let mut aliased: Vec<Name> = names.iter().flat_map(|&name| self.link.with_aliases(name)).collect();
            aliased.sort();
            aliased.dedup();
            mentioned.extend(aliased.iter().copied().filter(|name| called.contains(name) || globbed.contains(name)));
            for name in aliased {
                let is_read = read.contains(&name);
                sites.extend(program.sites_named(name).filter(|site| {
                    let facts = program.facts(site.file);
                    facts.language == *language && (is_read || facts.site(site.site).kind != SiteKind::Read)
                }));
            }
        }
        sites.sort();
        sites.dedup();
        let iterated = self.iterated_names();
        for &site in &sites {
            if self.may_be_leaf(site, &iterated) {
                self.leaves_at(site, EnvId::NONE);
            }
        }
        self.find_passed_rows(&mentioned, &sites);
    }

    /// Callables of libraries that are passed on or bound to another name: `call_later(1, time.sleep, 2)`.
    fn find_passed_rows(&mut self, names: &[Name], direct: &[SiteRef]) {
        let link = self.link;
        let program = link.program;
        let mut seeds: FxHashMap<PathId, Vec<(FileId, Mention, Wrap)>> = FxHashMap::default();
        for &name in names {
            for &(file, sym) in program.occurrences(name) {
                for &(mention, wrap) in program.index_of(file).mentions_named(sym) {
                    if wrap == Wrap::Element || matches!(mention, Mention::Operand(_)) {
                        continue;
                    }
                    for path in self.mentioned_rows(file, mention) {
                        seeds.entry(path).or_default().push((file, mention, wrap));
                    }
                }
            }
        }
        let mut seeds: Vec<_> = seeds.into_iter().collect();
        seeds.sort_by_key(|(path, _)| *path);
        for (path, places) in seeds {
            for caller in self.callers.of_row(path, &places) {
                match caller.arg {
                    // Under its own name it was looked at already.
                    None if caller.env == EnvId::NONE && direct.binary_search(&caller.site).is_ok() => {}
                    None => self.leaves_at(caller.site, caller.env),
                    Some(_) => self.passed_row(path, caller),
                }
            }
        }
    }

    /// The library callables with an effect that a mention may be.
    fn mentioned_rows(&self, file: FileId, mention: Mention) -> Vec<PathId> {
        let link = self.link;
        let facts = link.program.facts(file);
        let (at, form) = match mention {
            Mention::Arg(site, arg) => (facts.site(site).at, facts.args_of(site)[arg as usize].value),
            Mention::Assign(assign) => {
                let row = facts.assign(assign);
                // An import binds a name that the search knows as an alias.
                if row.kind == blocklint_facts::AssignKind::Import {
                    return Vec::new();
                }
                (row.at, row.value)
            }
            Mention::Exit(exit) => (facts.exits.at(exit as usize).at, facts.exits.at(exit as usize).value),
            Mention::Default(param) => (blocklint_facts::At::default(), facts.params[param as usize].default),
            Mention::Operand(_) => return Vec::new(),
        };
        let scope = crate::eval::Scope { file, at, env: EnvId::NONE };
        let typed = link.eval(scope, form);
        let paths = link.values.members(typed.value).into_iter().filter_map(|val| match val {
            Val::External(path) | Val::Method { path, .. } => Some(path),
            _ => None,
        });
        paths.filter(|&path| link.library.calls(path).effect().any(|row| row.held().is_some())).collect()
    }

    /// A library callable that a call runs or hands over with arguments that are not written as its own.
    fn passed_row(&mut self, path: PathId, caller: Caller) {
        let rows = self.link.library.calls(path);
        let Some(row) = rows.effect().find(|row| row.when.is_empty() && row.held().is_some()) else { return };
        let Some(label) = self.link.unseen(row.row) else { return };
        let program = self.link.program;
        let Some(label) = self.cuts.apply(program, caller.site, label) else { return };
        let label_id = self.graph.labels.id(label.clone());
        let leaf = self.graph.leaves.len() as u32;
        self.graph.leaves.push(LeafSite { site: caller.site, row, path, label: label_id });
        let way = Way {
            site: caller.site,
            arg: caller.arg,
            next: Next::Leaf(leaf),
            steps: caller.steps,
            shared: caller.shared,
        };
        if let CallerKind::HandsToLoop(runtime) = caller.kind {
            let runtime = runtime.or_else(|| self.link.runtime_of(caller.site.file));
            let kind = Root { kind: RootKind::Registered, context: blocklint_core::Context::EventLoop, runtime };
            self.hit(program.body_of_site(caller.site), kind, true, &label, way);
            return;
        }
        self.arrive(caller.site, caller.env, label, way);
    }

    /// Names that globs of rows stand for: those of the project's classes and of what files of the library name.
    fn glob_names(&self, language: blocklint_core::Language) -> Vec<Name> {
        let link = self.link;
        let models = link.library.of(language);
        let mut found = Vec::new();
        for glob in models.glob_name_patterns() {
            let separator = crate::library::separator(language);
            let head = glob.prefix.split(separator).next().unwrap_or("");
            let Some(head) = link.program.name(head).filter(|_| !head.contains('*')) else { continue };
            // Only files that name the library's first segment can call it.
            for &(file, _) in link.program.occurrences(head) {
                if link.program.language(file) != language {
                    continue;
                }
                let facts = link.program.facts(file);
                for site in &facts.sites {
                    if !matches!(site.kind, SiteKind::Call | SiteKind::New)
                        || !blocklint_models::segment_matches(glob.pattern, facts.text(site.name))
                    {
                        continue;
                    }
                    found.extend(link.program.global(file, site.name));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// Drops sites that their head alone rules out; `iterated` are names of calls whose result may block in a loop.
    fn may_be_leaf(&self, site: SiteRef, iterated: &FxHashSet<Name>) -> bool {
        let facts = self.link.program.facts(site.file);
        let row = facts.site(site.site);
        match row.kind {
            SiteKind::Write | SiteKind::Import | SiteKind::Decorate => false,
            SiteKind::Iterate => self.may_block_iterated(site.file, row.callee, iterated, 4),
            _ => match facts.form(row.callee) {
                Form::Attr(base, _) => !matches!(
                    facts.form(base),
                    Form::Str(_) | Form::Bytes(_) | Form::Int(_) | Form::Float(_) | Form::Pairs(_) | Form::Display(..)
                ),
                _ => true,
            },
        }
    }

    /// Whether iterating over a form may run a row: not over displays, nor over results of calls that neither the
    /// project nor a row says gives such a thing.
    fn may_block_iterated(&self, file: FileId, form: FormId, iterated: &FxHashSet<Name>, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        let link = self.link;
        let facts = link.program.facts(file);
        match facts.form(form) {
            Form::Display(..) | Form::Pairs(_) | Form::Str(_) | Form::Bytes(_) | Form::Run(_) => false,
            Form::Result(site) if facts.site(site).kind != SiteKind::Call => true,
            Form::Result(site) => match link.program.global(file, facts.site(site).name) {
                Some(name) => iterated.contains(&name) || link.hierarchy.is_defined(name) || link.is_import_alias(name),
                None => true,
            },
            Form::Var(var) if matches!(facts.var(var).kind, VarKind::Param(_)) => true,
            Form::Var(var) => facts.assigns_of(var).any(|row| {
                row.annotation.is_some()
                    || row.kind == blocklint_facts::AssignKind::Import
                    || row.value.is_some() && self.may_block_iterated(file, row.value, iterated, depth)
            }),
            _ => true,
        }
    }

    /// Names of calls that give values of library types whose iteration holds the thread.
    fn iterated_names(&self) -> FxHashSet<Name> {
        let link = self.link;
        let mut found = FxHashSet::default();
        for language in blocklint_core::Language::ALL {
            for row in link.library.of(*language).names(Uses::RETURNS) {
                let Some(name) = link.program.name(row.name) else { continue };
                let blocks =
                    row.paths(Uses::RETURNS).any(|path| link.library.gives_slow_iteration(*language, path.path));
                if blocks {
                    found.extend(link.with_aliases(name));
                }
            }
        }
        // A type's own name calls its constructor.
        for language in blocklint_core::Language::ALL {
            for row in link.library.of(*language).names(Uses::EFFECT) {
                if matches!(row.name, "__next__" | "__iter__") {
                    for path in row.paths(Uses::EFFECT) {
                        let owner = path.path.rsplit(['.', ':']).nth(1).and_then(|owner| link.program.name(owner));
                        found.extend(owner.into_iter().flat_map(|owner| link.with_aliases(owner)));
                    }
                }
            }
        }
        found
    }

    /// The rows that hold the thread at a site, under a binding.
    fn leaves_at(&mut self, site: SiteRef, env: EnvId) {
        let link = self.link;
        if !self.may_enter_row(site, env) {
            return;
        }
        let targets = link.targets(site, env);
        let awaited = link.program.facts(site.file).site(site.site).flags.has(blocklint_facts::SiteFlags::AWAITED);
        for target in &targets.list {
            let Target::Row { path, receiver, property, made } = *target else { continue };
            if awaited && targets.list.len() > 1 && self.link.has_async_target(&targets) {
                // What is awaited here is the coroutine among the alternatives.
                continue;
            }
            if let Some(made) = made {
                // The lazy result of another call is consumed here; that call says what happens.
                let _ = made;
                continue;
            }
            let Some(leaf) = link.leaf(site, path, receiver, property, env) else { continue };
            let steps = add_steps(targets.steps, u8::from(leaf.undecided));
            let unknown = u8::from(targets.unknown && !self.is_own_field(site));
            let steps = add_steps(steps, unknown);
            if leaf.row.lazy {
                for (consumer, arg) in self.callers.consumers_of_lazy(site) {
                    self.leaf(site, consumer, arg, &leaf.label, leaf.row, path, steps, targets.list.len() > 1, env);
                }
                continue;
            }
            self.leaf(site, site, None, &leaf.label, leaf.row, path, steps, targets.list.len() > 1, env);
        }
    }

    /// Whether the callee of a call may be a library's; most calls of a common name are a project's own, or unknown.
    fn may_enter_row(&self, site: SiteRef, env: EnvId) -> bool {
        let row = self.link.program.facts(site.file).site(site.site);
        if row.kind != SiteKind::Call {
            return true;
        }
        let callee = self.link.callee(site, env);
        let mut members = self.link.values.members(callee.value).into_iter();
        members.any(|val| match val {
            Val::Fn { .. } => self.link.library.has_user_rows(),
            Val::Unknown(_) | Val::None | Val::Module(_) | Val::Folder(_) => false,
            Val::External(path) | Val::Method { path, .. } => !self.link.library.calls(path).is_empty(),
            _ => true,
        })
    }

    fn is_own_field(&self, site: SiteRef) -> bool {
        let facts = self.link.program.facts(site.file);
        self.link.receiver_form(site).is_some_and(|form| match facts.form(form) {
            Form::Attr(base, _) => crate::mentions::is_own_receiver(facts, base),
            _ => false,
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn leaf(
        &mut self,
        row_site: SiteRef,
        consumer: SiteRef,
        arg: Option<u32>,
        label: &Label,
        row: Match<'a, CallRow>,
        path: PathId,
        steps: u8,
        shared: bool,
        env: EnvId,
    ) {
        let program = self.link.program;
        let mut label = label.clone();
        let same_body = program.body_of_site(consumer) == program.body_of_site(row_site);
        if consumer != row_site {
            // A guard speaks of the parameters of the body the call stands in.
            if !same_body {
                label.guard = None;
                if let LabelHold::Param { .. } = label.hold {
                    label.hold = LabelHold::Fixed(Hold::Unstated);
                }
            }
            self.raise_in_loop(&mut label, consumer);
        }
        // Consumed in the same body, it stands at the row's call.
        let place = if same_body { row_site } else { consumer };
        let label = match self.cuts.apply(program, row_site, label) {
            Some(label) => label,
            None => return,
        };
        let label_id = self.graph.labels.id(label.clone());
        let leaf = self.graph.leaves.len() as u32;
        self.graph.leaves.push(LeafSite { site: row_site, row, path, label: label_id });
        *self.graph.leaf_sites.entry(place).or_default() += 1;
        let way = Way { site: place, arg: if same_body { None } else { arg }, next: Next::Leaf(leaf), steps, shared };
        self.arrive(place, env, label, way);
    }

    /// A label reaches a site: its body carries it, or the site is one of a root.
    fn arrive(&mut self, site: SiteRef, env: EnvId, label: Label, way: Way) {
        let program = self.link.program;
        let body = program.body_of_site(site);
        let Some(label) = self.cuts.apply(program, site, label) else { return };
        let Some(mut label) = self.cuts.apply_body(program, body, label) else { return };
        if self.link.off_the_loop(site) {
            label.place = label.place.without(WhereSet::EVENT_LOOP);
            if label.place.is_empty() {
                return;
            }
        }
        // Of several conditions the row's come first, then branches from the inside out.
        if label.guard.is_none() {
            label.guard = self.link.branch_guard(site);
        }
        if let Some(root) = self.roots.of(body) {
            self.hit(body, root, false, &label, way);
            if root.absorbs() {
                return;
            }
        }
        self.push(Node { body, env }, label, way);
    }

    fn hit(&mut self, root: BodyRef, kind: Root, handed: bool, label: &Label, way: Way) {
        if !label.place.holds(kind.context, kind.runtime) {
            return;
        }
        let (mut label, mut way) = (label.clone(), way);
        // A root's own parameter is not visible.
        if let Some(guard) = label.guard.take() {
            match guard.source {
                Source::When => return,
                Source::Unless => way.steps = add_steps(way.steps, 1),
                Source::Timeout | Source::Branch => {}
            }
        }
        if let LabelHold::Param { .. } = label.hold {
            label.hold = LabelHold::Fixed(Hold::Unstated);
            cap_wait(&mut label);
        }
        // Bounded and short is not worse than what is bounded and real.
        if let LabelHold::Fixed(Hold::Seconds(seconds)) = label.hold
            && seconds <= SHORT
            && !label.fails
        {
            label.severity = label.severity.min(Severity::Warning);
        }
        self.graph.hits.push(Hit { root, kind, handed, label, way });
    }

    fn push(&mut self, node: Node, label: Label, way: Way) {
        let id = self.graph.labels.id(label);
        if let Some(&state) = self.ids.get(&(node, id)) {
            let ways = &mut self.graph.states[state.0 as usize].ways;
            if !ways.contains(&way) {
                ways.push(way);
            }
            return;
        }
        let state = StateId(self.graph.states.len() as u32);
        self.graph.states.push(State { node, label: id, ways: vec![way] });
        self.graph.labelled.insert(node.body);
        self.ids.insert((node, id), state);
        self.longest.entry(node).or_default().push(id);
        self.queue.push(state);
    }

    /// Pushes a state's label to everything that enters its body.
    fn expand(&mut self, state: StateId) {
        let (node, label) = {
            let row = &self.graph.states[state.0 as usize];
            (row.node, self.graph.labels.get(row.label).clone())
        };
        let mut label = label;
        // What a cached function reads is read once.
        if label.effect == blocklint_core::Effect::File && self.link.method_kind(node.body).cached {
            label.once = true;
            label.severity = Severity::Note;
            label.hold = LabelHold::Fixed(Hold::Brief);
        }
        let callers = self.callers.of(node);
        for caller in callers.iter() {
            self.enter(*caller, node, state, &label);
        }
    }

    fn enter(&mut self, caller: Caller, node: Node, state: StateId, label: &Label) {
        let mut label = label.clone();
        let mut steps = caller.steps;
        match self.decide(&mut label, caller, node) {
            Decided::Holds { undecided } => steps = add_steps(steps, u8::from(undecided)),
            Decided::Fails => return,
        }
        // Which callee a flag selects says more than a branch inside of it.
        let open = label.guard.as_ref().is_none_or(|guard| guard.source == Source::Branch);
        if open
            && caller.arg.is_none()
            && let Some(guard) = self.link.selection_guard(caller.site, node.body)
        {
            label.guard = Some(guard);
        }
        let way = Way { site: caller.site, arg: caller.arg, next: Next::State(state), steps, shared: caller.shared };
        if let CallerKind::HandsToLoop(runtime) = caller.kind {
            // Coroutines and lambdas stand in their own place only.
            if self.roots.of(node.body).is_some() {
                return;
            }
            let program = self.link.program;
            let Some(label) = self.cuts.apply(program, caller.site, label) else { return };
            let body = program.body_of_site(caller.site);
            let Some(label) = self.cuts.apply_body(program, body, label) else { return };
            let runtime = runtime.or_else(|| self.link.runtime_of(caller.site.file));
            let kind = Root { kind: RootKind::Registered, context: blocklint_core::Context::EventLoop, runtime };
            self.hit(body, kind, true, &label, way);
            return;
        }
        self.arrive(caller.site, caller.env, label, way);
    }

    /// A loop around what consumes a lazy result makes short calls long. A loop around a call of the project does not:
    /// that a helper looks at one file each time is still short (see ARCHITECTURE.md).
    fn raise_in_loop(&self, label: &mut Label, site: SiteRef) {
        let facts = self.link.program.facts(site.file);
        if !label.once && label.severity == Severity::Note && facts.in_loop(facts.site(site.site).at.region) {
            label.severity = Severity::Warning;
        }
    }

    /// Decides a label's guard and hold by the arguments of a site.
    fn decide(&self, label: &mut Label, caller: Caller, node: Node) -> Decided {
        let mut undecided = false;
        if let LabelHold::Param { index, unit } = label.hold {
            label.hold = match self.argument_for(caller, node, index) {
                Given::Constant(constant) => match constant {
                    crate::rows::Constant::Null => LabelHold::Fixed(Hold::Unbounded),
                    crate::rows::Constant::Param(index) => LabelHold::Param { index, unit },
                    constant => match constant.seconds() {
                        Some(seconds) => LabelHold::Fixed(Hold::Seconds(seconds * unit)),
                        None => LabelHold::Fixed(Hold::Unstated),
                    },
                },
                Given::Forwarded => LabelHold::Param { index, unit },
                Given::Hidden => LabelHold::Fixed(Hold::Unstated),
            };
            cap_wait(label);
        }
        if let Some(guard) = label.guard.take() {
            match self.argument_for(caller, node, guard.param) {
                Given::Forwarded => label.guard = Some(guard),
                Given::Hidden => match guard.source {
                    Source::When => return Decided::Fails,
                    Source::Unless => undecided = true,
                    Source::Timeout | Source::Branch => {}
                },
                Given::Constant(constant) => match self.answer(&guard, &constant) {
                    Shown::Yes if guard.wanted => {}
                    Shown::No if !guard.wanted => {}
                    Shown::Yes | Shown::No => return Decided::Fails,
                    Shown::Param(index) if guard.passed < 3 => {
                        label.guard = Some(Guard { param: index, passed: guard.passed + 1, ..guard });
                    }
                    Shown::Param(_) | Shown::Hidden => match guard.source {
                        Source::When => return Decided::Fails,
                        Source::Unless => undecided = true,
                        Source::Timeout | Source::Branch => {}
                    },
                },
            }
        }
        Decided::Holds { undecided }
    }

    fn answer(&self, guard: &Guard, constant: &crate::rows::Constant) -> Shown {
        use crate::rows::Constant;
        if let Constant::Param(index) = constant {
            return Shown::Param(*index);
        }
        match &*guard.question {
            Question::Zero => match constant {
                Constant::Hidden => Shown::Hidden,
                constant => match constant.seconds() {
                    Some(seconds) if seconds <= 0.0 => Shown::Yes,
                    _ => Shown::No,
                },
            },
            Question::Choice(choice) => crate::branches::answer(choice, constant),
            Question::Condition(condition) => {
                let mut all = Shown::Yes;
                for test in &condition.tests {
                    match self.link.test_constant(test, constant) {
                        Shown::Yes => {}
                        other => {
                            all = other;
                            break;
                        }
                    }
                }
                all
            }
        }
    }

    /// The literal that a site passes to a parameter of the node.
    fn argument_for(&self, caller: Caller, node: Node, index: u32) -> Given {
        use crate::rows::Constant;
        let link = self.link;
        let facts = link.program.facts(node.body.file);
        let here = link.program.facts(caller.site.file);
        if let Some(arg) = caller.arg {
            // Passed as an argument: whoever calls it there chooses its arguments, unless a row forwards them.
            return self.forwarded_argument(caller, arg, index);
        }
        // Beyond the named parameters of a wrapper, what is passed on by `*args` counts as it stands.
        let first_rest =
            facts.params_of(node.body.body).iter().position(|param| param.kind == blocklint_facts::ParamKind::VarArgs);
        if let Some(rest) = first_rest
            && index as usize >= rest
        {
            let position = (index as usize).saturating_sub(usize::from(caller.with_receiver));
            let argument = blocklint_models::Argument::Position(position as i32);
            if let Some(form) = link.argument(caller.site, &argument) {
                return Given::Constant(link.constant(caller.site, form, caller.env, 6));
            }
            return if self.forwards_all(caller.site) { Given::Forwarded } else { Given::Hidden };
        }
        match link.passed_with(caller.site, node.body, index, caller.with_receiver) {
            Some(form) => Given::Constant(link.constant(caller.site, form, caller.env, 6)),
            None => {
                let unpacked = here
                    .args_of(caller.site.site)
                    .iter()
                    .any(|arg| matches!(here.form(arg.value), Form::Star(_) | Form::StarStar(_)));
                if unpacked {
                    return if self.forwards_all(caller.site) { Given::Forwarded } else { Given::Hidden };
                }
                let Some(param) = facts.params_of(node.body.body).get(index as usize) else { return Given::Hidden };
                if param.default.is_none() {
                    return Given::Hidden;
                }
                let parent = facts.body(node.body.body).parent.get().unwrap_or(blocklint_facts::BodyId(0));
                match link.constant_in(node.body.file, parent, param.default, EnvId::NONE, 6) {
                    Constant::Param(_) => Given::Hidden,
                    constant => Given::Constant(constant),
                }
            }
        }
    }

    /// Whether a site forwards its body's own `*args, **kwargs`: then what its callers pass counts.
    fn forwards_all(&self, site: SiteRef) -> bool {
        let facts = self.link.program.facts(site.file);
        let body = facts.body_of(facts.site(site.site).at);
        facts.args_of(site.site).iter().any(|arg| match facts.form(arg.value) {
            Form::Star(inner) | Form::StarStar(inner) => match facts.form(inner) {
                Form::Var(var) => facts.var(var).body == body,
                _ => false,
            },
            _ => false,
        })
    }

    /// The literal that later arguments pass to a handed-over callable.
    fn forwarded_argument(&self, caller: Caller, arg: u32, index: u32) -> Given {
        let facts = self.link.program.facts(caller.site.file);
        let args = facts.args_of(caller.site.site);
        let rest = &args[(arg as usize + 1).min(args.len())..];
        match rest.iter().filter(|arg| arg.name.is_none()).nth(index as usize) {
            Some(arg) => Given::Constant(self.link.constant(caller.site, arg.value, caller.env, 6)),
            None => Given::Hidden,
        }
    }
}

/// Up to so many seconds a hold is no `error`.
const SHORT: f64 = 0.01;

/// A wait that is given a time is bounded, even if the code does not tell how long.
fn cap_wait(label: &mut Label) {
    let bounded = matches!(label.hold, LabelHold::Fixed(Hold::Seconds(_) | Hold::Unstated));
    if bounded && label.effect == blocklint_core::Effect::Wait && !label.fails {
        label.severity = label.severity.min(Severity::Warning);
    }
}

enum Decided {
    Holds { undecided: bool },
    Fails,
}

enum Given {
    Constant(crate::rows::Constant),
    Forwarded,
    Hidden,
}
