//! Parameter summaries: the use of each parameter by its body, such as "called", "handed over" or "stored". Uses
//! through other callees are added on demand.

use crate::lang;
use std::rc::Rc;

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{
    BodyId, BodyKind, ClassId, FileFacts, Flow, Form, FormId, ParamKind, Site, SiteFlags, SiteId, SiteKind, Sym, VarId,
    VarKind,
};
use rustc_hash::FxHashMap;

use crate::calls::targets::ArgumentUse;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, VarRef};
use crate::program::occurrences::{Mention, Wrap};
use crate::values::value::EnvId;

/// How deep an expression is searched for a variable.
const MAX_FORM_DEPTH: u32 = 8;

/// The most mentions of one parameter that are followed.
const MAX_MENTIONS: usize = 64;

/// The most nested bodies that are followed outwards.
const MAX_FRAME_DEPTH: u32 = 6;

/// One use of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamUse {
    /// The parameter is called at this site.
    Call(SiteId),
    /// The parameter is the n-th argument of this site.
    Arg(SiteId, u32),
    /// The parameter is iterated at this site.
    Consume(SiteId),
    /// The parameter is returned from this body.
    Return(BodyId),
    /// The parameter is stored in an attribute of this name.
    Store(Sym),
}

/// The uses of the parameters of one file.
#[derive(Debug, Default)]
pub(crate) struct FileParamUses {
    /// The uses of each parameter's variable, each with the body around the use.
    pub of_param: FxHashMap<VarId, Vec<(BodyId, ParamUse)>>,
    /// For each body, the indices of its parameters that nested bodies use or that it returns.
    pub captured: FxHashMap<BodyId, Vec<u32>>,
}

impl FileParamUses {
    fn new(facts: &FileFacts, is_functional: impl Fn(&str) -> bool, consumes: impl Fn(&str) -> bool) -> Self {
        let mut uses = FileParamUses::default();
        for (index, site) in facts.sites.iter().enumerate() {
            let id = SiteId(index as u32);
            let body = facts.body_of(site.at);
            match site.kind {
                SiteKind::Call | SiteKind::New => {
                    uses.add_use(facts, body, site.callee, |_| ParamUse::Call(id));
                    // `work.run()` on a parameter calls the only method of a functional interface.
                    if let Form::Attr(base, name) = facts.form(site.callee)
                        && is_functional(facts.text(name))
                    {
                        uses.add_use(facts, body, base, |_| ParamUse::Call(id));
                    }
                    // `lines.map(parse).toList()` iterates over a parameter that is a stream.
                    if let Form::Attr(base, name) = facts.form(site.callee)
                        && consumes(facts.text(name))
                    {
                        uses.add_use(facts, body, start_of_chain(facts, base), |_| ParamUse::Consume(id));
                    }
                    for (index, arg) in facts.args_of(id).iter().enumerate() {
                        let value = callable_of_reference(facts, arg.value, &is_functional);
                        uses.add_use(facts, body, value, |_| ParamUse::Arg(id, index as u32));
                        // `Self { job }`, `Self { job: Box::new(job) }`.
                        if facts.language == Language::Rust && site.kind == SiteKind::New && arg.name.is_some() {
                            uses.add_use(facts, body, unwrap_single_argument(facts, arg.value), |_| {
                                ParamUse::Store(arg.name)
                            });
                        }
                    }
                }
                SiteKind::Decorate | SiteKind::Macro => {
                    for (index, arg) in facts.args_of(id).iter().enumerate() {
                        uses.add_use(facts, body, arg.value, |_| ParamUse::Arg(id, index as u32));
                    }
                }
                SiteKind::Iterate => uses.add_use(facts, body, site.callee, |_| ParamUse::Consume(id)),
                _ => {}
            }
        }
        for exit in &facts.exits {
            let body = facts.body_of(exit.at);
            uses.add_use(facts, body, callable_of_reference(facts, exit.value, &is_functional), |_| {
                ParamUse::Return(body)
            });
        }
        for assign in &facts.assigns {
            if let Form::Attr(_, sym) = facts.form(assign.target) {
                let body = facts.body_of(assign.at);
                let value = match facts.language {
                    Language::Rust => unwrap_single_argument(facts, assign.value),
                    _ => callable_of_reference(facts, assign.value, &is_functional),
                };
                uses.add_use(facts, body, value, |_| ParamUse::Store(sym));
            }
        }
        for (&var, rows) in &uses.of_param {
            let var_facts = facts.var(var);
            let VarKind::Param(index) = var_facts.kind else { continue };
            if rows.iter().any(|(body, use_)| *body != var_facts.body || matches!(use_, ParamUse::Return(_))) {
                uses.captured.entry(var_facts.body).or_default().push(index);
            }
        }
        for params in uses.captured.values_mut() {
            params.sort_unstable();
        }
        uses
    }

    /// Adds a use if a form is a parameter, or has a parameter among its alternatives.
    fn add_use(&mut self, facts: &FileFacts, body: BodyId, form: FormId, make: impl Fn(VarId) -> ParamUse) {
        let var = match facts.form(form) {
            Form::Var(var) => var,
            Form::Alt(_, list) => {
                for &part in facts.list(list) {
                    if let Form::Var(var) = facts.form(part)
                        && matches!(facts.var(var).kind, VarKind::Param(_))
                    {
                        self.of_param.entry(var).or_default().push((body, make(var)));
                    }
                }
                return;
            }
            _ => return,
        };
        if matches!(facts.var(var).kind, VarKind::Param(_)) {
            self.of_param.entry(var).or_default().push((body, make(var)));
        }
    }
}

/// Returns `work` for the method reference `work::run`, because both run the same code if `run` is the only method of a
/// functional interface (Java).
fn callable_of_reference(facts: &FileFacts, form: FormId, is_functional: impl Fn(&str) -> bool) -> FormId {
    match facts.form(form) {
        Form::Path(base, name) if facts.language == Language::Java && is_functional(facts.text(name)) => base,
        _ => form,
    }
}

/// Returns the start of a chain of calls: `lines` of `lines.map(parse).filter(known)`.
fn start_of_chain(facts: &FileFacts, form: FormId) -> FormId {
    let mut start = form;
    for _ in 0..MAX_CHAINED_CALLS {
        let Form::Result(site) = facts.form(start) else { break };
        let Form::Attr(base, _) = facts.form(facts.site(site).callee) else { break };
        start = base;
    }
    start
}

/// The maximal number of calls in a chain that is followed to its start.
const MAX_CHAINED_CALLS: usize = 8;

/// Returns the only argument of a call: `work` of `Arc::new(work)`. Other forms are returned unchanged. In Rust, nested
/// calls are unwrapped: `Some(Arc::new(work))`.
pub(crate) fn unwrap_single_argument(facts: &FileFacts, form: FormId) -> FormId {
    let mut inner = form;
    for _ in 0..if facts.language == Language::Rust { MAX_WRAPPERS } else { 1 } {
        let Form::Result(site) = facts.form(inner) else { break };
        let [only] = facts.args_of(site)[..] else { break };
        inner = only.value;
    }
    inner
}

/// The maximal number of nested calls that wrap one value.
const MAX_WRAPPERS: usize = 3;

/// The summary of one parameter of a body: the use of the parameter during a call of the body and after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamSummary {
    /// True if the parameter is called during the call.
    pub called: bool,
    /// True if the parameter is iterated during the call.
    pub consumed: bool,
    /// The contexts in which the parameter runs after a handover.
    pub handed: Vec<(Context, Option<Runtime>)>,
    /// True if the result may be the parameter.
    pub returned: bool,
    /// The names of the attributes in which the parameter is stored (symbols of the body's file).
    pub stored: Vec<Sym>,
    /// True if the parameter is the callable of an operator of a reactive chain.
    pub on_chain: bool,
    /// The threads on which the chain runs the parameter; chains that the body returns are open.
    pub chain: crate::reactive::Position,
    /// The runtime of the chain.
    pub chain_runtime: Option<Runtime>,
    /// The uses in closures that outlive the call.
    pub in_closures: Vec<(BodyId, ParamUse)>,
}

impl<'a> Linker<'a> {
    /// Returns the uses of all parameters of a file.
    pub(crate) fn param_uses_in(&self, file: FileId) -> Rc<FileParamUses> {
        self.query(&self.tables.calls.param_uses, file, Rc::default, || {
            let facts = self.program.facts(file);
            let consumes = |name: &str| {
                let library = self.library.of(Language::Java);
                facts.language == Language::Java && library.name_uses(name).intersects(blocklint_models::Uses::CONSUMES)
            };
            Rc::new(FileParamUses::new(facts, |name| self.is_functional_name(facts.language, name), consumes))
        })
    }

    /// True if a method of this name may be the only method of a functional interface (Java).
    fn is_functional_name(&self, language: Language, name: &str) -> bool {
        if language != Language::Java {
            return false;
        }
        let of_libraries = || self.library.of(Language::Java).override_names().map(|row| row.name).collect();
        crate::lang::words_of(language).is_functional_method(name)
            || lang::java::names::ITERATOR_STEPS.contains(&name)
            || self.tables.java.functional_names.get_or_init(of_libraries).contains(name)
    }

    /// Returns the summary of a body's n-th parameter.
    pub fn summary(&self, body: BodyRef, index: u32) -> Rc<ParamSummary> {
        let find = || Rc::new(self.summarise(body, index));
        self.query(&self.tables.calls.summaries, (body, index), Rc::default, find)
    }

    /// Computes the summary of a body's n-th parameter from its uses.
    fn summarise(&self, body: BodyRef, index: u32) -> ParamSummary {
        let (facts, body_id) = self.program.facts_and_id(body);
        let mut summary = ParamSummary::default();
        let Some(param) = self.program.params_of(body).get(index as usize) else { return summary };
        let uses = self.param_uses_in(body.file);
        let Some(rows) = uses.of_param.get(&param.var) else { return summary };
        let mut by_coroutine = false;
        for &(user_body, param_use) in rows {
            let argument_use = match param_use {
                // An awaited value is a coroutine, which is a root of its own.
                ParamUse::Call(site) if facts.site(site).flags.has(SiteFlags::AWAITED) => continue,
                ParamUse::Call(site) | ParamUse::Arg(site, _)
                    if self.is_of_coroutine_at(body.file, facts.site(site).at.region, param.var) =>
                {
                    continue;
                }
                ParamUse::Call(_) => ArgumentUse { called: true, ..ArgumentUse::default() },
                // Unpacking `*args` iterates over the tuple, not over its elements.
                ParamUse::Consume(_) if matches!(param.kind, ParamKind::VarArgs | ParamKind::KwArgs) => continue,
                ParamUse::Consume(_) => ArgumentUse { consumed: true, ..ArgumentUse::default() },
                ParamUse::Arg(site, arg) => self.argument_use(body.file.site_ref(site), arg, EnvId::NONE),
                ParamUse::Return(returning) => {
                    if returning == body_id {
                        summary.returned = true;
                    }
                    continue;
                }
                ParamUse::Store(sym) => {
                    if !summary.stored.contains(&sym) {
                        summary.stored.push(sym);
                    }
                    continue;
                }
            };
            if argument_use.on_chain {
                summary.on_chain = true;
                summary.chain_runtime = argument_use.chain_runtime;
                summary.chain.merge(&argument_use.chain);
                // A body that blocks on the chain or subscribes to it runs the callable during the call of the body.
                if user_body == body_id && !summary.chain.drivers.is_empty() {
                    summary.chain.drivers.clear();
                    summary.called = true;
                }
            }
            for frame in self.frames_of(body, user_body, MAX_FRAME_DEPTH) {
                match frame {
                    Frame::Here => {
                        if self.program.body(body).flow == Flow::Coroutine
                            || self.program.body(body).flow == Flow::AsyncGenerator
                        {
                            if argument_use.called {
                                summary.handed.push((Context::EventLoop, None));
                            }
                        } else {
                            summary.called |= argument_use.called;
                            summary.consumed |= argument_use.consumed;
                        }
                        for &context in &argument_use.handed {
                            summary.handed.push(context);
                        }
                    }
                    Frame::Elsewhere(context, runtime) => {
                        if argument_use.called {
                            summary.handed.push((context, runtime));
                        }
                        summary.handed.extend(argument_use.handed.iter().copied());
                    }
                    Frame::Closure(closure) => match facts.body(closure).flow {
                        // The caller that gets the coroutine runs it on an event loop.
                        Flow::Coroutine | Flow::AsyncGenerator => {
                            by_coroutine = true;
                            if argument_use.called {
                                summary.handed.push((Context::EventLoop, None));
                            }
                            summary.handed.extend(argument_use.handed.iter().copied());
                        }
                        Flow::Sync | Flow::Generator => summary.in_closures.push((user_body, param_use)),
                    },
                }
            }
        }
        // The body has a coroutine and a plain closure. It returns the one of the callable's own kind.
        if by_coroutine && !summary.in_closures.is_empty() {
            summary.handed.retain(|handed| *handed != (Context::EventLoop, None));
        }
        summary.handed.sort();
        summary.handed.dedup();
        summary.in_closures.dedup();
        summary
    }

    /// Returns the frames in which a nested body runs, relative to a call of the body around it.
    fn frames_of(&self, outer: BodyRef, nested: BodyId, depth: u32) -> Vec<Frame> {
        if outer.file.body_ref(nested) == outer {
            return vec![Frame::Here];
        }
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let facts = self.program.facts(outer.file);
        let body_facts = facts.body(nested);
        // A nested coroutine or generator is a closure, which the code that gets it runs. A generator expression runs
        // in the frames of the body around it.
        if matches!(body_facts.kind, BodyKind::GeneratorExpression) {
            return self.frames_of(outer, body_facts.parent, depth);
        }
        let mut frames = Vec::new();
        let file = self.program.index_of(outer.file);
        let mut mentions: Vec<(Mention, Wrap)> = file.uses_of_callable(nested).iter().collect();
        // A method of an anonymous class runs where its object goes.
        for creation in sites_creating_object_around(facts, nested) {
            mentions.extend(file.uses_of_result(creation).iter());
        }
        let mut next = 0;
        let mut names = Vec::new();
        while next < mentions.len() && mentions.len() < MAX_MENTIONS {
            let (mention, _) = mentions[next];
            next += 1;
            match mention {
                Mention::Assign(assign) => {
                    if let Form::Var(var) = facts.form(facts.assign(assign).target)
                        && !names.contains(&var)
                    {
                        names.push(var);
                        let sym = facts.var(var).name;
                        for &site in file.sites_named(sym) {
                            if facts.form(facts.site(site).callee) == Form::Var(var) {
                                for frame in self.frames_of(outer, facts.body_of(facts.site(site).at), depth) {
                                    frames.push(frame);
                                }
                            }
                        }
                        for (mention, wrap) in file.mentions_named(sym).iter() {
                            if self.mentions_var(outer.file.var_ref(var), mention) {
                                mentions.push((mention, wrap));
                            }
                        }
                    }
                }
                Mention::Arg(site, arg) => {
                    let site_row = facts.site(site);
                    if site_row.kind == SiteKind::Decorate {
                        // The decorated function is bound to a name; its uses follow.
                        mentions.extend(file.uses_of_result(site).iter());
                        continue;
                    }
                    let around = facts.body_of(site_row.at);
                    let argument_use = self.argument_use(outer.file.site_ref(site), arg, EnvId::NONE);
                    if argument_use.called || argument_use.consumed {
                        frames.extend(self.frames_of(outer, around, depth));
                    }
                    for &(context, runtime) in &argument_use.handed {
                        frames.push(Frame::Elsewhere(context, runtime));
                    }
                    if argument_use.returned {
                        mentions.extend(file.uses_of_result(site).iter());
                    }
                }
                Mention::Exit(_) => frames.push(Frame::Closure(nested)),
                Mention::Operand(site) => {
                    let around = facts.body_of(facts.site(site).at);
                    frames.extend(self.frames_of(outer, around, depth));
                }
                Mention::Default(_) => {}
            }
        }
        frames.dedup();
        frames
    }

    /// True if a mention in the variable's file refers to this variable and not to another one of the same name.
    pub fn mentions_var(&self, var: VarRef, mention: Mention) -> bool {
        let (facts, id) = self.program.facts_and_id(var);
        let form = match mention {
            Mention::Arg(site, arg) => facts.args_of(site)[arg as usize].value,
            Mention::Assign(assign) => facts.assign(assign).value,
            Mention::Exit(exit) => facts.exits.at(exit as usize).value,
            Mention::Operand(site) => facts.site(site).callee,
            Mention::Default(param) => facts.params[param as usize].default,
        };
        self.form_mentions(var.file, form, id, MAX_FORM_DEPTH)
    }

    /// True if a form is a variable, or has it as an alternative, element or awaited value.
    fn form_mentions(&self, file: FileId, form: FormId, var: VarId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(own) => own == var,
            Form::Await(inner) | Form::Try(inner) | Form::Cast(inner, _) | Form::Star(inner) => {
                self.form_mentions(file, inner, var, depth)
            }
            Form::Alt(_, list) | Form::Display(_, list) | Form::Pairs(list) => {
                facts.list(list).iter().any(|&part| self.form_mentions(file, part, var, depth))
            }
            _ => false,
        }
    }
}

/// Returns the site that creates the object of the anonymous class around a method (Java).
fn sites_creating_object_around(facts: &FileFacts, method: BodyId) -> Vec<SiteId> {
    let class = facts.body(method).class;
    let is_nameless = |class: ClassId| facts.text(facts.class(class).name).is_empty();
    let Some(class) = class.get().filter(|&class| facts.language == Language::Java && is_nameless(class)) else {
        return Vec::new();
    };
    let makes = |site: &Site| site.kind == SiteKind::New && facts.form(site.callee) == Form::Class(class);
    let sites = facts.sites.iter().enumerate().filter(|(_, site)| makes(site));
    sites.map(|(at, _)| SiteId(at as u32)).collect()
}

/// The frame in which a nested body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// During the call of the body around it.
    Here,
    /// After a handover, in this context.
    Elsewhere(Context, Option<Runtime>),
    /// After the call, because this nested body is returned as a closure.
    Closure(BodyId),
}
