//! Sinks: the calls that enter a model row and hold their thread, also under another name or as an argument. Labels
//! begin at these calls.

use blocklint_core::{Hold, Language};
use blocklint_facts::{Form, FormId, SiteKind, Sym, VarKind};
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

/// Names of calls whose results may hold the thread when code iterates over them.
struct IteratedNames {
    /// Calls that return a library type whose iteration holds the thread.
    blocking: FxHashSet<Name>,
    /// Calls whose result iterates over their arguments: `map`, `zip`.
    forwarding: FxHashSet<Name>,
}

impl<'l, 'a> Search<'l, 'a> {
    /// Finds all sinks: resolves the sites and mentions whose last name is that of a row that holds its thread.
    pub(crate) fn find_sinks(&mut self) {
        let program = self.linker.program;
        let reach = self.linker.reach();
        let mut sites: Vec<SiteRef> = Vec::new();
        let mut mentioned: Vec<(FileId, Sym)> = Vec::new();
        let java = JavaRoots::new(program, &self.linker.library);
        for language in program.languages() {
            let models = self.linker.library.of(*language);
            // For each name the libraries that have a row of this name.
            let mut names: FxHashMap<Name, LibrarySet> = FxHashMap::default();
            let wanted = Uses::EFFECT.union(Uses::LAZY);
            let (mut read, mut called) = (FxHashSet::<Name>::default(), FxHashSet::<Name>::default());
            // A call under an alias has the alias's last name.
            let separator = blocklint_link::models::library::separator(*language);
            for (spelling, target) in models.renamings() {
                let last = spelling.rsplit(separator).next().and_then(|last| program.name(last));
                if let Some(name) = last
                    && self.linker.library.calls(self.linker.library.path(*language, target)).effect().next().is_some()
                {
                    let heads = [spelling, target].map(|path| path.split(separator).next().unwrap_or(path));
                    names.entry(name).or_default().merge(&reach.roots(heads.into_iter()));
                    called.extend(self.linker.with_aliases(name));
                }
            }
            for row in models.names(wanted) {
                let own = program.name(row.name.strip_suffix('!').unwrap_or(row.name));
                // `list(books)` enters the row of the iteration as a loop does.
                let by_protocol = match *language {
                    Language::Python if row.name.starts_with("__") => {
                        self.linker.names_running_library_method(row.name)
                    }
                    _ => Vec::new(),
                };
                let mut site_names: Vec<Name> = own.into_iter().chain(by_protocol).collect();
                site_names.retain(|&name| self.linker.is_name_in_focus(name));
                site_names.sort();
                site_names.dedup();
                if site_names.is_empty() {
                    continue;
                }
                if *language == Language::Java && !row.paths(wanted).any(|path| java.may_have(path.path)) {
                    continue;
                }
                let (mut heads, mut is_called, mut is_read): (Vec<&str>, bool, bool) = (Vec::new(), false, false);
                for path in row.paths(wanted) {
                    let head = path.path.split(separator).next().unwrap_or(path.path);
                    if heads.last() != Some(&head) {
                        heads.push(head);
                    }
                    let is_property = path.uses.intersects(Uses::PROPERTY);
                    is_called |= !is_property;
                    is_read |= is_property;
                }
                let roots = reach.roots(heads.into_iter());
                for name in site_names {
                    names.entry(name).or_default().merge(&roots);
                    if is_called {
                        called.extend(self.linker.with_aliases(name));
                    }
                    if is_read {
                        read.extend(self.linker.with_aliases(name));
                    }
                }
            }
            sites.extend(self.calls_of_callable_objects(*language, reach));
            let globbed = match language {
                Language::Java => {
                    let of_globs = self.linker.java_glob_sites();
                    sites.extend(of_globs.sites);
                    mentioned.extend(of_globs.names);
                    let implemented = self.linker.names_implemented_by_library();
                    implemented.into_iter().map(|name| (name, LibrarySet::default())).collect()
                }
                Language::Python | Language::Rust => self.glob_names(*language, reach),
            };
            if *language == Language::Python {
                let roots = reach.roots(self.linker.roots_of_descriptors().into_iter());
                for &name in self.linker.names_of_descriptors() {
                    read.insert(name);
                    names.entry(name).or_default().merge(&roots);
                }
            }
            let mut aliased: FxHashMap<Name, LibrarySet> = FxHashMap::default();
            for (name, roots) in names {
                for name in self.linker.with_aliases(name) {
                    aliased.entry(name).or_default().merge(&roots);
                }
            }
            for (&name, roots) in &globbed {
                aliased.entry(name).or_default().merge(roots);
            }
            for (name, roots) in aliased {
                let is_read = read.contains(&name);
                let is_called = called.contains(&name) || globbed.contains_key(&name);
                for &(file, sym) in program.occurrences(name) {
                    if !self.linker.is_in_focus(file) {
                        continue;
                    }
                    let facts = program.facts(file);
                    if facts.language != *language || !reach.may_hold(file, *language, &roots) {
                        continue;
                    }
                    if is_called {
                        mentioned.push((file, sym));
                    }
                    let of_file = program.index_of(file).sites_named(sym).iter().copied();
                    let wanted = of_file.filter(|&site| is_read || facts.site(site).kind != SiteKind::Read);
                    sites.extend(wanted.map(|site| file.site_ref(site)));
                }
            }
        }
        sites.retain(|&site| self.may_begin_at(site));
        sites.sort();
        sites.dedup();
        mentioned.sort();
        mentioned.dedup();
        let iterated = self.iterated_names();
        for &site in &sites {
            let linker = self.linker;
            linker.attempt_site(site, || {
                if self.may_be_sink(site, &iterated) {
                    self.add_sinks_at(site, EnvId::NONE);
                }
            });
        }
        self.add_passed_sinks(&mentioned, &sites);
    }

    /// Adds the sinks of library callables that are passed on or bound to another name: `call_later(1, time.sleep, 2)`.
    fn add_passed_sinks(&mut self, mentioned: &[(FileId, Sym)], direct: &[SiteRef]) {
        let linker = self.linker;
        let program = linker.program;
        let mut seeds: FxHashMap<PathId, Vec<(FileId, Mention, Wrap)>> = FxHashMap::default();
        for &(file, sym) in mentioned {
            for (mention, wrap) in program.index_of(file).mentions_named(sym).iter() {
                if wrap == Wrap::Element || matches!(mention, Mention::Operand(_)) {
                    continue;
                }
                let body = linker.body_of_mention(file, mention);
                let paths = linker.attempt(WorkUnit::Body(body), || self.mentioned_rows(file, mention));
                for path in paths.into_iter().flatten() {
                    seeds.entry(path).or_default().push((file, mention, wrap));
                }
            }
        }
        let mut seeds: Vec<_> = seeds.into_iter().collect();
        seeds.sort_by_cached_key(|(path, _)| (linker.library.language(*path), linker.library.text(*path)));
        for (path, places) in seeds {
            for caller in self.callers_of_labels.callers_of_row(path, &places) {
                if !self.may_begin_at(caller.site) {
                    continue;
                }
                linker.attempt_site(caller.site, || match caller.arg {
                    // `find_sinks` has resolved the call under its own name.
                    None if caller.env == EnvId::NONE
                        && direct.binary_search(&caller.site).is_ok()
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
        // The value of a parameter is followed from the call that passes it, so that callers are distinguished.
        if self.is_parameter(file, form) {
            return Vec::new();
        }
        let scope = blocklint_link::values::expr::Scope { file, at, env: EnvId::NONE };
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
        let fits_any_arguments = |row: &blocklint_models::Match<'_, blocklint_models::CallRow>| {
            self.linker.program.language(caller.site.file) != blocklint_core::Language::Java
                || !row.path.ends_with(')')
                || row.path.ends_with("()")
                || row.path.ends_with("(_)")
        };
        let is_blocking = |row: &blocklint_models::Match<'_, blocklint_models::CallRow>| {
            row.when.is_empty() && row.held_effect().is_some() && fits_any_arguments(row)
        };
        let Some(row) = rows.effect().find(is_blocking) else { return };
        let Some(label) = self.linker.effect_without_arguments(row.row) else { return };
        let program = self.linker.program;
        let label_id = self.graph.labels.id(label.clone());
        let sink = self.graph.sinks.len() as u32;
        self.graph.sinks.push(SinkSite { site: caller.site, row, path, label: label_id, held_by: None, wraps: None });
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
            let kind = Root { kind: RootKind::Registered, context: blocklint_core::Context::EventLoop, runtime };
            if !label.place.contains(kind.context, kind.runtime) {
                return;
            }
            self.add_hit_of_kind(program.body_of_site(caller.site), kind, hit_kind, &label, edge);
            return;
        }
        self.propagate_to_site(caller.site, caller.env, label, edge);
    }

    /// Returns the names of calls that match a row with a wildcard, with the roots of its library. Only files that may
    /// use the library are searched.
    fn glob_names(&self, language: blocklint_core::Language, reach: &LibraryReach) -> FxHashMap<Name, LibrarySet> {
        let linker = self.linker;
        let models = linker.library.of(language);
        let separator = blocklint_link::models::library::separator(language);
        let mut patterns: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for glob in models.glob_name_patterns() {
            let head = glob.prefix.split(separator).next().unwrap_or("");
            if !head.contains('*') && reach.is_present(language, head) {
                patterns.entry(head).or_default().push(glob.pattern);
            }
        }
        let mut names: FxHashMap<Name, LibrarySet> = FxHashMap::default();
        for (head, patterns) in patterns {
            let roots = reach.roots(std::iter::once(head));
            // Only files that mention the library's first segment, or a module of it, can call it:
            // `from redis.asyncio import Redis` mentions `redis.asyncio` and not `redis`.
            let heads = linker.program.name(head).into_iter().chain(reach.modules_of(head));
            let mut files: Vec<FileId> =
                heads.flat_map(|head| linker.program.occurrences(head)).map(|&(file, _)| file).collect();
            files.sort();
            files.dedup();
            for file in files {
                if !linker.is_in_focus(file)
                    || linker.program.language(file) != language
                    || !reach.may_hold(file, language, &roots)
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
                        names.entry(name).or_default().merge(&roots);
                    }
                }
            }
        }
        names
    }

    /// False if the syntax of a site alone shows that it enters no blocking row: a method of a literal, a loop over a
    /// list.
    fn may_be_sink(&self, site: SiteRef, iterated: &IteratedNames) -> bool {
        let facts = self.linker.program.facts(site.file);
        let row = self.linker.program.site(site);
        match row.kind {
            SiteKind::Write | SiteKind::Import | SiteKind::Decorate => false,
            SiteKind::Iterate => {
                !self.is_plain(site.file, row.callee, 3)
                    && self.may_block_when_iterated(site.file, row.callee, iterated, 4)
            }
            SiteKind::Call if self.may_enter_by_argument(site, iterated) => true,
            SiteKind::Call => match facts.form(row.callee) {
                Form::Attr(base, _) => {
                    !self.is_plain(site.file, base, 3) && !self.is_declared_inert(site, base, row.name)
                }
                // Builtins that iterate over their arguments have no other effect.
                Form::Name(_) => !self.iterates_over_arguments(site),
                _ => true,
            },
            _ => match facts.form(row.callee) {
                Form::Attr(base, _) => !self.is_plain(site.file, base, 3),
                _ => true,
            },
        }
    }

    /// True if a call may iterate over an argument whose iteration holds the thread: `list(books)`, `", ".join(file)`
    /// (Python).
    fn may_enter_by_argument(&self, site: SiteRef, iterated: &IteratedNames) -> bool {
        self.iterates_over_arguments(site)
            && self.linker.program.args_of(site).iter().any(|arg| {
                !self.is_plain(site.file, arg.value, 3)
                    && self.may_block_when_iterated(site.file, arg.value, iterated, 4)
            })
    }

    /// True if a call has the name of a function that iterates over its arguments: `list`, `sum` (Python).
    fn iterates_over_arguments(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let name = self.linker.program.global(site.file, self.linker.program.site(site).name);
        facts.language == Language::Python && name.is_some_and(|name| self.linker.names_of_iteration().contains(&name))
    }

    /// True if a form is a literal or a list, set or dict display, or a variable that only has such values.
    fn is_plain(&self, file: FileId, form: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.linker.program.facts(file);
        match facts.form(form) {
            Form::Str(_) | Form::Text(_) | Form::Bytes(_) | Form::Int(_) | Form::Float(_) => true,
            Form::Pairs(_) | Form::Display(..) => true,
            Form::Var(var) if !matches!(facts.var(var).kind, VarKind::Param(_)) => {
                let mut assigns = facts.assigns_of(var).peekable();
                assigns.peek().is_some() && assigns.all(|row| self.is_plain(file, row.value, depth))
            }
            _ => false,
        }
    }

    /// True if a form is a parameter whose annotation names library types without a row for the method (Python).
    fn is_declared_inert(&self, site: SiteRef, form: FormId, method: Sym) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(site.file);
        let Form::Var(var) = facts.form(form) else { return false };
        let row = facts.var(var);
        let VarKind::Param(index) = row.kind else { return false };
        let annotation = facts.params_of(row.body)[index as usize].annotation;
        // In Rust an imported trait may add the method, and in Java an overload decides.
        if facts.language != Language::Python || annotation.is_none() || facts.assigns_of(var).next().is_some() {
            return false;
        }
        let declared = linker.annotation(linker.signature_scope(site.file.body_ref(row.body)), annotation);
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

    /// True if iterating over a form may enter a row. False for displays, and for results of calls that neither the
    /// project defines nor a row describes as blocking.
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
            Form::Var(var) => facts.assigns_of(var).any(|row| {
                row.annotation.is_some()
                    || row.kind == blocklint_facts::AssignKind::Import
                    || row.value.is_some() && self.may_block_when_iterated(file, row.value, iterated, depth)
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
        let awaited = linker.program.site(site).flags.has(blocklint_facts::SiteFlags::AWAITED);
        // Callables that callers pass are added for each caller by `add_passed_sinks`.
        let passed =
            if env == EnvId::NONE && self.calls_parameter(site) { self.passed_paths(site) } else { Vec::new() };
        for target in &targets.list {
            let Target::Row { path, receiver, property, made } = *target else { continue };
            if passed.contains(&path) {
                continue;
            }
            if targets.list.len() > 1 && linker.has_async_target(&targets) && linker.expects_coroutine(site) {
                // The site awaits its result, so it runs the coroutine among the alternatives.
                continue;
            }
            // The site consumes the lazy result of another call, and that call is the sink.
            if made.is_some() {
                continue;
            }
            if awaited && self.returns_unawaitable(site, path, env) {
                // The declared type is wrong: code that awaits `db.exec(…)` has an asynchronous session.
                continue;
            }
            let is_one_of = linker.runs_one_row(site, &targets);
            let Some(sink) = linker.sink(site, path, receiver, property, env) else { continue };
            let otherwise =
                if property { Vec::new() } else { linker.effects_if_guard_fails(site, &sink, receiver, env) };
            for sink in std::iter::once(sink).chain(otherwise) {
                let undecided = if sink.row.requires_unseen_source() { LOW_STEPS } else { u8::from(sink.undecided) };
                let steps = add_steps(targets.steps, undecided);
                let unknown = u8::from(targets.unknown && !self.is_on_own_field(site));
                let steps = add_steps(steps, unknown);
                // A loop consumes the lazy value itself.
                let is_loop = linker.program.site(site).kind == SiteKind::Iterate;
                if sink.row.lazy && !is_loop {
                    for (consumer, arg) in self.conditions.callers.consumers_of_lazy_result(site) {
                        self.add_sink(site, consumer, arg, &sink.label, sink.row, path, steps, is_one_of, env);
                    }
                    continue;
                }
                self.add_sink(site, site, None, &sink.label, sink.row, path, steps, is_one_of, env);
            }
        }
    }

    /// True if a library's callable returns a value that cannot be awaited, as far as its rows say.
    fn returns_unawaitable(&self, site: SiteRef, path: PathId, env: EnvId) -> bool {
        let linker = self.linker;
        if linker.program.language(site.file) == blocklint_core::Language::Rust {
            // The call runs a method of this name of an asynchronous trait, on a type that is not known to implement
            // it.
            return linker.library.calls(path).with(|row| row.is_async == Some(true)).next().is_none();
        }
        if linker.program.language(site.file) != blocklint_core::Language::Python {
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
        let row = self.linker.program.site(site);
        if row.kind == SiteKind::Iterate {
            let operand = self.linker.eval(self.linker.scope_of(site, env), row.callee);
            return self.linker.values.members(operand.value).into_iter().any(|val| match val {
                Val::Library { ty, .. } => self.linker.iteration_holds_thread(ty),
                Val::Instance { .. } | Val::Lazy { .. } => true,
                _ => false,
            });
        }
        if row.kind != SiteKind::Call {
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

    /// True if the receiver of a call is a field of the own object: `self.client.get()`.
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
        shared: bool,
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
        // `propagate_to_site` applies the comments at `place`, because it creates a suppressed finding for them.
        let label = match place == row_site {
            true => Some(label),
            false => self.suppressions.suppress_at_site(program, row_site, label),
        };
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
            shared,
            marks: Marks::default(),
        };
        self.propagate_to_site(place, env, label, edge);
    }
}
