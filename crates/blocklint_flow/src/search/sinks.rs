//! Sinks: call sites that match a blocking model row, directly, by an alias, or through a callable that they pass.
//! Labels begin at sinks.

use blocklint_core::{Context, Hold, Language};
use blocklint_facts::{AssignKind, At, Form, FormId, SiteFlags, SiteKind, Sym, VarKind};
use blocklint_link::calls::targets::Target;
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::imports::library_reach::{LibraryReach, LibrarySet};
use blocklint_link::lang::java::library_roots::JavaRoots;
use blocklint_link::linker::LOW_STEPS;
use blocklint_link::linker::work::WorkUnit;
use blocklint_link::program::ids::{FileId, Name, PathId, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::{EnvId, Val};
use blocklint_models::{CallRow, Match, Uses};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::{Caller, CallerKind, add_steps};
use crate::entries::root::{Root, RootKind};
use crate::graph::marks::Marks;
use crate::graph::{EdgeTarget, FlowEdge, HitKind, SinkSite};
use crate::search::Search;

/// The most assignments that are followed from a variable to its literal values.
const MAX_LITERAL_DEPTH: u32 = 3;

/// The most assignments and forwarding calls that are followed to the iterated value.
const MAX_ITERATED_DEPTH: u32 = 4;

/// Names of calls whose results may hold the thread when code iterates over them.
struct IteratedNames {
    /// Calls that return a library type whose iteration holds the thread.
    blocking: FxHashSet<Name>,
    /// Calls whose result iterates over their arguments: `map`, `zip`.
    forwarding: FxHashSet<Name>,
}

impl<'l, 'a> Search<'l, 'a> {
    /// Finds all sinks. Candidates are the sites and mentions whose last name is the last name of a blocking row; each
    /// candidate is then resolved.
    pub(crate) fn find_sinks(&mut self) {
        let program = self.linker.program;
        let library_reach = self.linker.reach();
        let mut sites: Vec<SiteRef> = Vec::new();
        let mut mentioned_names: Vec<(FileId, Sym)> = Vec::new();
        let java_roots = JavaRoots::new(program, &self.linker.library);
        for language in program.languages() {
            let models = self.linker.library.of(*language);
            // For each name the libraries that have a row of this name.
            let mut libraries_by_name: FxHashMap<Name, LibrarySet> = FxHashMap::default();
            let blocking_uses = Uses::EFFECT.union(Uses::LAZY);
            let (mut read_names, mut called_names) = (FxHashSet::<Name>::default(), FxHashSet::<Name>::default());
            // A call under an alias has the alias's last name.
            let separator = blocklint_link::models::library::separator(*language);
            for (spelling, target) in models.renamings() {
                let last_name = spelling.rsplit(separator).next().and_then(|last_name| program.name(last_name));
                if let Some(name) = last_name
                    && self.linker.library.calls(self.linker.library.path(*language, target)).effect().next().is_some()
                {
                    let library_names = [spelling, target].map(|path| path.split(separator).next().unwrap_or(path));
                    libraries_by_name.entry(name).or_default().merge(&library_reach.roots(library_names.into_iter()));
                    called_names.extend(self.linker.with_aliases(name));
                }
            }
            for named_rows in models.names(blocking_uses) {
                let row_name = program.name(named_rows.name.strip_suffix('!').unwrap_or(named_rows.name));
                // `list(books)` runs `__iter__`, so it matches that row like a `for` loop.
                let protocol_names = match *language {
                    Language::Python if named_rows.name.starts_with("__") => {
                        self.linker.names_running_library_method(named_rows.name)
                    }
                    _ => Vec::new(),
                };
                let mut site_names: Vec<Name> = row_name.into_iter().chain(protocol_names).collect();
                site_names.retain(|&name| self.linker.is_name_in_focus(name));
                site_names.sort();
                site_names.dedup();
                if site_names.is_empty() {
                    continue;
                }
                if *language == Language::Java
                    && !named_rows.paths(blocking_uses).any(|path| java_roots.may_have(path.path))
                {
                    continue;
                }
                let (mut library_names, mut has_callable, mut has_property): (Vec<&str>, bool, bool) =
                    (Vec::new(), false, false);
                for path in named_rows.paths(blocking_uses) {
                    let head = path.path.split(separator).next().unwrap_or(path.path);
                    if library_names.last() != Some(&head) {
                        library_names.push(head);
                    }
                    let is_property = path.uses.intersects(Uses::PROPERTY);
                    has_callable |= !is_property;
                    has_property |= is_property;
                }
                let libraries = library_reach.roots(library_names.into_iter());
                for name in site_names {
                    libraries_by_name.entry(name).or_default().merge(&libraries);
                    if has_callable {
                        called_names.extend(self.linker.with_aliases(name));
                    }
                    if has_property {
                        read_names.extend(self.linker.with_aliases(name));
                    }
                }
            }
            sites.extend(self.calls_of_callable_objects(*language, library_reach));
            let wildcard_names = match language {
                Language::Java => {
                    let wildcard_sites = self.linker.java_glob_sites();
                    sites.extend(wildcard_sites.sites);
                    mentioned_names.extend(wildcard_sites.names);
                    let implemented = self.linker.names_implemented_by_library();
                    implemented.into_iter().map(|name| (name, LibrarySet::default())).collect()
                }
                Language::Python | Language::Rust => self.wildcard_names(*language, library_reach),
            };
            if *language == Language::Python {
                let libraries = library_reach.roots(self.linker.descriptor_libraries().into_iter());
                for &name in self.linker.descriptor_attribute_names() {
                    read_names.insert(name);
                    libraries_by_name.entry(name).or_default().merge(&libraries);
                }
            }
            let mut libraries_by_alias: FxHashMap<Name, LibrarySet> = FxHashMap::default();
            for (name, libraries) in libraries_by_name {
                for name in self.linker.with_aliases(name) {
                    libraries_by_alias.entry(name).or_default().merge(&libraries);
                }
            }
            for (&name, libraries) in &wildcard_names {
                libraries_by_alias.entry(name).or_default().merge(libraries);
            }
            for (name, libraries) in libraries_by_alias {
                let has_property = read_names.contains(&name);
                let has_callable = called_names.contains(&name) || wildcard_names.contains_key(&name);
                for &(file, sym) in program.occurrences(name) {
                    if !self.linker.is_in_focus(file) {
                        continue;
                    }
                    let facts = program.facts(file);
                    if facts.language != *language || !library_reach.may_hold(file, *language, &libraries) {
                        continue;
                    }
                    if has_callable {
                        mentioned_names.push((file, sym));
                    }
                    let named_sites = program.index_of(file).sites_named(sym).iter().copied();
                    let matching_sites =
                        named_sites.filter(|&site| has_property || facts.site(site).kind != SiteKind::Read);
                    sites.extend(matching_sites.map(|site| file.site_ref(site)));
                }
            }
        }
        sites.retain(|&site| self.may_begin_at(site));
        sites.sort();
        sites.dedup();
        mentioned_names.sort();
        mentioned_names.dedup();
        let iterated = self.iterated_names();
        for &site in &sites {
            let linker = self.linker;
            linker.attempt_site(site, || {
                if self.may_be_sink(site, &iterated) {
                    self.add_sinks_at(site, EnvId::NONE);
                }
            });
        }
        self.add_passed_sinks(&mentioned_names, &sites);
    }

    /// Adds the sinks of library callables that are passed on or bound to another name: `call_later(1, time.sleep, 2)`.
    fn add_passed_sinks(&mut self, mentioned_names: &[(FileId, Sym)], resolved_sites: &[SiteRef]) {
        let linker = self.linker;
        let program = linker.program;
        let mut mentions_by_path: FxHashMap<PathId, Vec<(FileId, Mention, Wrap)>> = FxHashMap::default();
        for &(file, sym) in mentioned_names {
            for (mention, wrap) in program.index_of(file).mentions_named(sym).iter() {
                if wrap == Wrap::Element || matches!(mention, Mention::Operand(_)) {
                    continue;
                }
                let body = linker.body_of_mention(file, mention);
                let paths = linker.attempt(WorkUnit::Body(body), || self.mentioned_rows(file, mention));
                for path in paths.into_iter().flatten() {
                    mentions_by_path.entry(path).or_default().push((file, mention, wrap));
                }
            }
        }
        let mut mentions_by_path: Vec<_> = mentions_by_path.into_iter().collect();
        mentions_by_path.sort_by_cached_key(|(path, _)| (linker.library.language(*path), linker.library.text(*path)));
        for (path, mentions) in mentions_by_path {
            for caller in self.callers_of_labels.callers_of_row(path, &mentions) {
                if !self.may_begin_at(caller.site) {
                    continue;
                }
                linker.attempt_site(caller.site, || match caller.arg {
                    // `find_sinks` has resolved the call under its own name.
                    None if caller.env == EnvId::NONE
                        && resolved_sites.binary_search(&caller.site).is_ok()
                        && !self.calls_parameter(caller.site) => {}
                    None => self.add_sinks_at(caller.site, caller.env),
                    Some(_) => self.add_passed_sink(path, caller),
                });
            }
        }
    }

    /// Returns the blocking library callables that are possible values of a mention.
    fn mentioned_rows(&self, file: FileId, mention: Mention) -> Vec<PathId> {
        let linker = self.linker;
        let facts = linker.program.facts(file);
        let (position, form) = match mention {
            Mention::Arg(site, arg) => (facts.site(site).at, facts.args_of(site)[arg as usize].value),
            Mention::Assign(assign) => {
                let assignment = facts.assign(assign);
                // Imports are skipped, because `with_aliases` covers them.
                if assignment.kind == AssignKind::Import {
                    return Vec::new();
                }
                (assignment.at, assignment.value)
            }
            Mention::Exit(exit) => (facts.exits.at(exit as usize).at, facts.exits.at(exit as usize).value),
            Mention::Default(param) => (At::default(), facts.params[param as usize].default),
            Mention::Operand(_) => return Vec::new(),
        };
        // The value of a parameter is followed from the call that passes it, so that callers are distinguished.
        if self.is_parameter(file, form) {
            return Vec::new();
        }
        let scope = blocklint_link::values::expr::Scope { file, at: position, env: EnvId::NONE };
        let typed = linker.eval(scope, form);
        let paths = linker.values.members(typed.value).into_iter().filter_map(|val| match val {
            Val::External(path) | Val::Method { path, .. } => Some(path),
            _ => None,
        });
        paths.filter(|&path| linker.library.calls(path).effect().any(|row| row.held_effect().is_some())).collect()
    }

    /// Adds the sink of a library callable that a call gets as an argument and runs or hands over.
    fn add_passed_sink(&mut self, path: PathId, caller: Caller) {
        let rows = self.linker.library.calls(path);
        // The callable's arguments are unknown, so a Java row with a parameter list does not apply.
        let fits_any_arguments = |matched: &Match<'_, CallRow>| {
            self.linker.program.language(caller.site.file) != Language::Java
                || !matched.path.ends_with(')')
                || matched.path.ends_with("()")
                || matched.path.ends_with("(_)")
        };
        let is_blocking = |matched: &Match<'_, CallRow>| {
            matched.when.is_empty() && matched.held_effect().is_some() && fits_any_arguments(matched)
        };
        let Some(matched) = rows.effect().find(is_blocking) else { return };
        let Some(label) = self.linker.effect_without_arguments(matched.row) else { return };
        let program = self.linker.program;
        let label_id = self.graph.labels.id(label.clone());
        let sink = self.graph.sinks.len() as u32;
        self.graph.sinks.push(SinkSite {
            site: caller.site,
            row: matched,
            path,
            label: label_id,
            held_by: None,
            wraps: None,
        });
        let edge = FlowEdge {
            site: caller.site,
            arg: caller.arg,
            next: EdgeTarget::Sink(sink),
            steps: caller.steps,
            shared: caller.shared,
            marks: Marks::default(),
        };
        if let CallerKind::PassesToLoop(runtime) = caller.kind {
            let remaining = self.suppressions.suppress_at_site(program, caller.site, label.clone());
            let hit_kind = HitKind { handed: true, suppressed: remaining.is_none() };
            let label = remaining.unwrap_or(label);
            let runtime = runtime.or_else(|| self.linker.runtime_of(caller.site.file));
            let root = Root { kind: RootKind::Registered, context: Context::EventLoop, runtime };
            if !label.place.contains(root.context, root.runtime) {
                return;
            }
            self.add_hit_of_kind(program.body_of_site(caller.site), root, hit_kind, &label, edge);
            return;
        }
        self.propagate_to_site(caller.site, caller.env, label, edge);
    }

    /// Returns the called names that match a wildcard row, each with the libraries of its rows. Only files that may use
    /// the library are searched.
    fn wildcard_names(&self, language: Language, library_reach: &LibraryReach) -> FxHashMap<Name, LibrarySet> {
        let linker = self.linker;
        let models = linker.library.of(language);
        let separator = blocklint_link::models::library::separator(language);
        let mut patterns: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for glob in models.glob_name_patterns() {
            let library_name = glob.prefix.split(separator).next().unwrap_or("");
            if !library_name.contains('*') && library_reach.is_present(language, library_name) {
                patterns.entry(library_name).or_default().push(glob.pattern);
            }
        }
        let mut names: FxHashMap<Name, LibrarySet> = FxHashMap::default();
        for (library_name, patterns) in patterns {
            let libraries = library_reach.roots(std::iter::once(library_name));
            // Only files that mention the library's first segment, or a module of it, can call it:
            // `from redis.asyncio import Redis` mentions `redis.asyncio` and not `redis`.
            let module_names =
                linker.program.name(library_name).into_iter().chain(library_reach.modules_of(library_name));
            let mut files: Vec<FileId> = module_names
                .flat_map(|library_name| linker.program.occurrences(library_name))
                .map(|&(file, _)| file)
                .collect();
            files.sort();
            files.dedup();
            for file in files {
                if !linker.is_in_focus(file)
                    || linker.program.language(file) != language
                    || !library_reach.may_hold(file, language, &libraries)
                {
                    continue;
                }
                let facts = linker.program.facts(file);
                for site in &facts.sites {
                    if !matches!(site.kind, SiteKind::Call | SiteKind::New) {
                        continue;
                    }
                    let text = facts.text(site.name);
                    if patterns.iter().any(|pattern| blocklint_models::segment_matches(pattern, text))
                        && let Some(name) = linker.program.global(file, site.name)
                    {
                        names.entry(name).or_default().merge(&libraries);
                    }
                }
            }
        }
        names
    }

    /// False if the syntax of a site alone shows that it matches no blocking row: a method of a literal, a loop over a
    /// list.
    fn may_be_sink(&self, site: SiteRef, iterated: &IteratedNames) -> bool {
        let facts = self.linker.program.facts(site.file);
        let site_facts = self.linker.program.site(site);
        match site_facts.kind {
            SiteKind::Write | SiteKind::Import | SiteKind::Decorate => false,
            SiteKind::Iterate => {
                !self.is_literal_or_display(site.file, site_facts.callee, MAX_LITERAL_DEPTH)
                    && self.may_block_when_iterated(site.file, site_facts.callee, iterated, MAX_ITERATED_DEPTH)
            }
            SiteKind::Call if self.may_enter_by_argument(site, iterated) => true,
            SiteKind::Call => match facts.form(site_facts.callee) {
                Form::Attr(base, _) => {
                    !self.is_literal_or_display(site.file, base, MAX_LITERAL_DEPTH)
                        && !self.has_annotation_without_row(site, base, site_facts.name)
                }
                // `list` blocks only through its arguments, which the arm above has ruled out.
                Form::Name(_) => !self.iterates_over_arguments(site),
                _ => true,
            },
            _ => match facts.form(site_facts.callee) {
                Form::Attr(base, _) => !self.is_literal_or_display(site.file, base, MAX_LITERAL_DEPTH),
                _ => true,
            },
        }
    }

    /// True if a call may iterate over an argument whose iteration holds the thread: `list(books)`, `", ".join(file)`
    /// (Python).
    fn may_enter_by_argument(&self, site: SiteRef, iterated: &IteratedNames) -> bool {
        self.iterates_over_arguments(site)
            && self.linker.program.args_of(site).iter().any(|arg| {
                !self.is_literal_or_display(site.file, arg.value, MAX_LITERAL_DEPTH)
                    && self.may_block_when_iterated(site.file, arg.value, iterated, MAX_ITERATED_DEPTH)
            })
    }

    /// True if a call has the name of a function that iterates over its arguments: `list`, `sum` (Python).
    fn iterates_over_arguments(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let name = self.linker.program.global(site.file, self.linker.program.site(site).name);
        facts.language == Language::Python && name.is_some_and(|name| self.linker.names_of_iteration().contains(&name))
    }

    /// True if a form is a literal or a list, set or dict display, or a variable that only has such values.
    fn is_literal_or_display(&self, file: FileId, form: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.linker.program.facts(file);
        match facts.form(form) {
            Form::Str(_) | Form::Text(_) | Form::Bytes(_) | Form::Int(_) | Form::Float(_) => true,
            Form::Pairs(_) | Form::Display(..) => true,
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                let mut assigns = facts.assigns_of(var).peekable();
                assigns.peek().is_some()
                    && assigns.all(|assignment| self.is_literal_or_display(file, assignment.value, depth))
            }
            _ => false,
        }
    }

    /// True if a form is a parameter that is annotated with library types, and no row describes their method `method`
    /// (Python).
    fn has_annotation_without_row(&self, site: SiteRef, form: FormId, method: Sym) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let Form::Var(var) = facts.form(form) else { return false };
        let var_facts = facts.var(var);
        let VarKind::Param(index) = var_facts.kind else { return false };
        let annotation = facts.params_of(var_facts.body)[index as usize].annotation;
        // In Rust an imported trait may add the method, and in Java an overload decides.
        if facts.language != Language::Python || annotation.is_none() || facts.assigns_of(var).next().is_some() {
            return false;
        }
        let declared = linker.annotation(linker.signature_scope(site.file.body_ref(var_facts.body)), annotation);
        let members = linker.values.members(declared.value);
        !members.is_empty()
            && members.into_iter().all(|val| match val {
                Val::None => true,
                Val::Library { ty, .. } => {
                    linker.library.ty(ty).is_none_or(|rows| rows.through().is_none()) && {
                        let path = linker.library.member(ty, facts.text(method));
                        linker.library.calls(path).is_empty()
                    }
                }
                _ => false,
            })
    }

    /// True if iterating over a form may block. False for displays, and for results of calls that neither the project
    /// defines nor a row describes as blocking.
    fn may_block_when_iterated(&self, file: FileId, form: FormId, iterated: &IteratedNames, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        let linker = self.linker;
        let facts = linker.program.facts(file);
        match facts.form(form) {
            Form::Display(..) | Form::Pairs(_) | Form::Run(_) => false,
            Form::Str(_) | Form::Text(_) | Form::Bytes(_) => false,
            Form::Result(site) if facts.site(site).kind != SiteKind::Call => true,
            Form::Result(site) => match linker.program.global(file, facts.site(site).name) {
                Some(name) if iterated.forwarding.contains(&name) => {
                    let args = facts.args_of(site);
                    args.iter().any(|arg| self.may_block_when_iterated(file, arg.value, iterated, depth))
                }
                Some(name) => {
                    iterated.blocking.contains(&name)
                        || linker.hierarchy.is_defined(name)
                        || linker.is_import_alias(name)
                }
                None => true,
            },
            Form::Var(var) if matches!(facts.var(var).kind, VarKind::Param(_)) => true,
            Form::Var(var) => facts.assigns_of(var).any(|assignment| {
                assignment.annotation.is_some()
                    || assignment.kind == AssignKind::Import
                    || assignment.value.is_some()
                        && self.may_block_when_iterated(file, assignment.value, iterated, depth)
            }),
            _ => true,
        }
    }

    /// Returns the names of calls that return values of library types whose iteration holds the thread.
    fn iterated_names(&self) -> IteratedNames {
        let linker = self.linker;
        let mut blocking = FxHashSet::default();
        let mut forwarding = FxHashSet::default();
        for language in linker.program.languages() {
            for row in linker.library.of(*language).names(Uses::RETURNS) {
                let Some(name) = linker.program.name(row.name).filter(|&name| linker.is_name_in_focus(name)) else {
                    continue;
                };
                let is_blocking = row
                    .paths(Uses::RETURNS)
                    .any(|path| linker.library.result_has_blocking_iteration(*language, path.path));
                if is_blocking {
                    blocking.extend(linker.with_aliases(name));
                }
            }
        }
        // A type's own name calls its constructor.
        for language in linker.program.languages() {
            for row in linker.library.of(*language).names(Uses::EFFECT) {
                if matches!(row.name, "__next__" | "__iter__" | "into_iter") {
                    for path in row.paths(Uses::EFFECT) {
                        let owner = path.path.rsplit(['.', ':']).nth(1).and_then(|owner| linker.program.name(owner));
                        blocking.extend(owner.into_iter().flat_map(|owner| linker.with_aliases(owner)));
                    }
                }
            }
        }
        for row in linker.library.of(Language::Python).names(Uses::LAZY) {
            let forwards = |path: &str| {
                let rows = linker.library.calls(linker.library.path(Language::Python, path));
                rows.effect().any(|row| row.lazy && row.held_effect().is_none())
            };
            if let Some(name) = linker.program.name(row.name)
                && !blocking.contains(&name)
                && row.paths(Uses::LAZY).any(|path| forwards(path.path))
            {
                forwarding.insert(name);
            }
        }
        IteratedNames { blocking, forwarding }
    }

    /// Adds the sinks for the rows that hold the thread at a site. `env` binds the parameters of the body.
    fn add_sinks_at(&mut self, site: SiteRef, env: EnvId) {
        let linker = self.linker;
        if !self.may_enter_row(site, env) {
            return;
        }
        let targets = linker.targets(site, env);
        let is_awaited = linker.program.site(site).flags.has(SiteFlags::AWAITED);
        // `add_passed_sinks` adds callables that arrive as parameters, once for each caller.
        let passed_by_callers =
            if env == EnvId::NONE && self.calls_parameter(site) { self.passed_paths(site) } else { Vec::new() };
        for target in &targets.list {
            let Target::Row { path, receiver, property, made: lazy_call } = *target else { continue };
            if passed_by_callers.contains(&path) {
                continue;
            }
            if targets.list.len() > 1 && linker.has_async_target(&targets) && linker.expects_coroutine(site) {
                // The site awaits its result, so it runs the coroutine among the alternatives.
                continue;
            }
            // The site consumes the lazy result of another call, and that call is the sink.
            if lazy_call.is_some() {
                continue;
            }
            if is_awaited && self.returns_unawaitable(site, path, env) {
                // The code awaits the result, so the object is async although it is declared sync: `await db.exec(…)`.
                continue;
            }
            let is_alternative = linker.rows_are_alternatives(site, &targets);
            let Some(sink) = linker.sink(site, path, receiver, property, env) else { continue };
            let sinks_if_guard_fails =
                if property { Vec::new() } else { linker.effects_if_guard_fails(site, &sink, receiver, env) };
            for sink in std::iter::once(sink).chain(sinks_if_guard_fails) {
                let undecided = if sink.row.requires_unseen_source() { LOW_STEPS } else { u8::from(sink.undecided) };
                let steps = add_steps(targets.steps, undecided);
                let unknown = u8::from(targets.unknown && !self.is_on_own_field(site));
                let steps = add_steps(steps, unknown);
                // A loop consumes the lazy value itself.
                let is_loop = linker.program.site(site).kind == SiteKind::Iterate;
                if sink.row.lazy && !is_loop {
                    for (consumer, arg) in self.conditions.callers.consumers_of_lazy_result(site) {
                        self.add_sink(site, consumer, arg, &sink.label, sink.row, path, steps, is_alternative, env);
                    }
                    continue;
                }
                self.add_sink(site, site, None, &sink.label, sink.row, path, steps, is_alternative, env);
            }
        }
    }

    /// True if a library's callable returns a value that cannot be awaited, as far as its rows say.
    fn returns_unawaitable(&self, site: SiteRef, path: PathId, env: EnvId) -> bool {
        let linker = self.linker;
        if linker.program.language(site.file) == Language::Rust {
            // The call runs a method of this name of an asynchronous trait, on a type that is not known to implement
            // it.
            return linker.library.calls(path).with(|row| row.is_async == Some(true)).next().is_none();
        }
        if linker.program.language(site.file) != Language::Python {
            return false;
        }
        if linker.library.calls(path).with(|row| row.is_async == Some(true)).next().is_some() {
            return false;
        }
        let result = linker.result(site, env);
        linker.values.members(result.value).iter().all(|val| match *val {
            Val::Library { ty, .. } => linker.library.ty(ty).is_none_or(|rows| rows.awaits().is_none()),
            Val::Unknown(_) | Val::None | Val::Tuple(_) => true,
            _ => false,
        })
    }

    /// True if the callee of a call may belong to a library. Most calls of a common name run a function of the project,
    /// or an unknown one.
    fn may_enter_row(&self, site: SiteRef, env: EnvId) -> bool {
        let site_facts = self.linker.program.site(site);
        if site_facts.kind == SiteKind::Iterate {
            let operand = self.linker.eval(self.linker.scope_of(site, env), site_facts.callee);
            return self.linker.values.members(operand.value).into_iter().any(|val| match val {
                Val::Library { ty, .. } => self.linker.iteration_holds_thread(ty),
                Val::Instance { .. } | Val::Lazy { .. } => true,
                _ => false,
            });
        }
        if site_facts.kind != SiteKind::Call {
            return true;
        }
        let callee = self.linker.callee(site, env);
        let mut members = self.linker.values.members(callee.value).into_iter();
        members.any(|val| match val {
            Val::Fn { body, .. } => {
                self.linker.library.has_user_rows() || self.linker.implemented_by_library(body).is_some()
            }
            Val::Unknown(_) | Val::None | Val::Module(_) | Val::Folder(_) => false,
            Val::External(path) | Val::Method { path, .. } => {
                !self.linker.library.calls(path).is_empty() || self.linker.runs_argument_methods(path)
            }
            _ => true,
        })
    }

    /// True if the callee is a parameter of the body or of a body around it.
    fn calls_parameter(&self, site: SiteRef) -> bool {
        self.is_parameter(site.file, self.linker.program.site(site).callee)
    }

    /// True if a form is a parameter.
    fn is_parameter(&self, file: FileId, form: FormId) -> bool {
        let facts = self.linker.program.facts(file);
        matches!(facts.form(form), Form::Var(var) if matches!(facts.var(var).kind, VarKind::Param(_)))
    }

    /// Returns the library callables that are possible values of a called parameter. Instances of library types are
    /// left out.
    fn passed_paths(&self, site: SiteRef) -> Vec<PathId> {
        let callee = self.linker.callee(site, EnvId::NONE);
        let paths = self.linker.values.members(callee.value).into_iter().filter_map(|val| match val {
            Val::External(path) | Val::Method { path, .. } => Some(path),
            _ => None,
        });
        paths.collect()
    }

    /// True if the receiver of a call is a field of `self`: `self.client.get()`.
    fn is_on_own_field(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        self.linker.receiver_form(site).is_some_and(|form| match facts.form(form) {
            Form::Attr(base, _) => blocklint_link::program::occurrences::is_own_receiver(facts, base),
            _ => false,
        })
    }

    /// Adds a sink and propagates its label. `consumer` is the site that consumes the lazy result of the call at
    /// `row_site`, or that call itself; `arg` is the argument through which the consumer gets the result.
    #[allow(clippy::too_many_arguments)]
    fn add_sink(
        &mut self,
        row_site: SiteRef,
        consumer: SiteRef,
        arg: Option<u32>,
        label: &Label,
        row: Match<'a, CallRow>,
        path: PathId,
        steps: u8,
        is_alternative: bool,
        env: EnvId,
    ) {
        let program = self.linker.program;
        let mut label = label.clone();
        let same_body = program.body_of_site(consumer) == program.body_of_site(row_site);
        if consumer != row_site {
            // A guard is a condition on the parameters of the body that contains the call.
            if !same_body {
                label.guard = None;
                label.outer = None;
                if let LabelHold::Param { .. } = label.hold {
                    label.hold = LabelHold::Fixed(Hold::Unstated);
                }
            }
            self.raise_in_loop(&mut label, consumer);
        }
        // If the result is consumed in the same body, the finding is reported at the row's call.
        let place = if same_body { row_site } else { consumer };
        // Comments at `place` are left to `propagate_to_site`, which records the suppressed finding.
        let label =
            if place == row_site { Some(label) } else { self.suppressions.suppress_at_site(program, row_site, label) };
        let Some(label) = label else { return };
        let label_id = self.graph.labels.id(label.clone());
        let sink = self.graph.sinks.len() as u32;
        self.graph.sinks.push(SinkSite { site: row_site, row, path, label: label_id, held_by: None, wraps: None });
        *self.graph.sink_rows_at.entry(place).or_default() += 1;
        let edge = FlowEdge {
            site: place,
            arg: if same_body { None } else { arg },
            next: EdgeTarget::Sink(sink),
            steps,
            shared: is_alternative,
            marks: Marks::default(),
        };
        self.propagate_to_site(place, env, label, edge);
    }
}
