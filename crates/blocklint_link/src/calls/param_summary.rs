//! Summaries of the parameters of a body: the uses of each within the body. Uses through other callees are added on demand.

use crate::lang;
use std::rc::Rc;

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{
    BodyId, ClassId, FileFacts, Flow, Form, FormId, ParamKind, Site, SiteFlags, SiteId, SiteKind, VarId, VarKind,
};
use rustc_hash::FxHashMap;

use crate::calls::targets::Passing;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, VarRef};
use crate::program::occurrences::{Mention, Wrap};
use crate::values::value::EnvId;

/// One use of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamUse {
    /// It is called at this site.
    Call(SiteId),
    /// It is the n-th argument of this site.
    Arg(SiteId, u32),
    /// It is iterated at this site.
    Consume(SiteId),
    /// It is returned from this body.
    Return(BodyId),
    /// It is stored in an attribute of this name.
    Store(blocklint_facts::Sym),
}

/// The uses of the parameters of one file.
#[derive(Debug, Default)]
pub(crate) struct FileParamUses {
    /// By the parameter's variable: the body of the use and the use.
    pub of_param: FxHashMap<VarId, Vec<(BodyId, ParamUse)>>,
    /// Bodies with parameters that nested bodies use or that are returned: their indices.
    pub captured: FxHashMap<BodyId, Vec<u32>>,
}

impl FileParamUses {
    fn new(facts: &FileFacts, is_functional: impl Fn(&str) -> bool, consumes: impl Fn(&str) -> bool) -> Self {
        let mut uses = FileParamUses::default();
        for (at, site) in facts.sites.iter().enumerate() {
            let id = SiteId(at as u32);
            let body = facts.body_of(site.at);
            match site.kind {
                SiteKind::Call | SiteKind::New => {
                    uses.see(facts, body, site.callee, |_| ParamUse::Call(id));
                    // `work.run()` on a parameter: the one method of a functional interface.
                    if let Form::Attr(base, name) = facts.form(site.callee)
                        && is_functional(facts.text(name))
                    {
                        uses.see(facts, body, base, |_| ParamUse::Call(id));
                    }
                    // `lines.map(parse).toList()` on a parameter that is a stream.
                    if let Form::Attr(base, name) = facts.form(site.callee)
                        && consumes(facts.text(name))
                    {
                        uses.see(facts, body, chained_on(facts, base), |_| ParamUse::Consume(id));
                    }
                    for (index, arg) in facts.args_of(id).iter().enumerate() {
                        let value = referred(facts, arg.value, &is_functional);
                        uses.see(facts, body, value, |_| ParamUse::Arg(id, index as u32));
                        // `Self { job }`, `Self { job: Box::new(job) }`.
                        if facts.language == Language::Rust && site.kind == SiteKind::New && arg.name.is_some() {
                            uses.see(facts, body, unwrap_single_argument(facts, arg.value), |_| {
                                ParamUse::Store(arg.name)
                            });
                        }
                    }
                }
                SiteKind::Decorate | SiteKind::Macro => {
                    for (index, arg) in facts.args_of(id).iter().enumerate() {
                        uses.see(facts, body, arg.value, |_| ParamUse::Arg(id, index as u32));
                    }
                }
                SiteKind::Iterate => uses.see(facts, body, site.callee, |_| ParamUse::Consume(id)),
                _ => {}
            }
        }
        for exit in &facts.exits {
            let body = facts.body_of(exit.at);
            uses.see(facts, body, referred(facts, exit.value, &is_functional), |_| ParamUse::Return(body));
        }
        for assign in &facts.assigns {
            if let Form::Attr(_, sym) = facts.form(assign.target) {
                let body = facts.body_of(assign.at);
                let value = match facts.language {
                    Language::Rust => unwrap_single_argument(facts, assign.value),
                    _ => referred(facts, assign.value, &is_functional),
                };
                uses.see(facts, body, value, |_| ParamUse::Store(sym));
            }
        }
        for (&var, rows) in &uses.of_param {
            let row = facts.var(var);
            let VarKind::Param(index) = row.kind else { continue };
            if rows.iter().any(|(body, of)| *body != row.body || matches!(of, ParamUse::Return(_))) {
                uses.captured.entry(row.body).or_default().push(index);
            }
        }
        for params in uses.captured.values_mut() {
            params.sort_unstable();
        }
        uses
    }

    fn see(&mut self, facts: &FileFacts, body: BodyId, form: FormId, make: impl Fn(VarId) -> ParamUse) {
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

/// Returns `work` for `work::run`, because both run the same code if `run` is the one method of a functional interface
/// (Java).
fn referred(facts: &FileFacts, form: FormId, is_functional: impl Fn(&str) -> bool) -> FormId {
    match facts.form(form) {
        Form::Path(base, name) if facts.language == Language::Java && is_functional(facts.text(name)) => base,
        _ => form,
    }
}

/// Returns the beginning of a chain of calls: `lines` of `lines.map(parse).filter(known)`.
fn chained_on(facts: &FileFacts, form: FormId) -> FormId {
    let mut at = form;
    for _ in 0..MOST_CHAINED {
        let Form::Result(site) = facts.form(at) else { break };
        let Form::Attr(base, _) = facts.form(facts.site(site).callee) else { break };
        at = base;
    }
    at
}

/// Calls on each other that one chain is followed through.
const MOST_CHAINED: usize = 8;

/// Returns the only argument of the call that a form is the result of, else the form; in Rust through all calls that
/// wrap it: `Some(Arc::new(work))`.
pub(crate) fn unwrap_single_argument(facts: &FileFacts, form: FormId) -> FormId {
    let mut at = form;
    for _ in 0..if facts.language == Language::Rust { MOST_WRAPPED } else { 1 } {
        let Form::Result(site) = facts.form(at) else { break };
        let [only] = facts.args_of(site)[..] else { break };
        at = only.value;
    }
    at
}

/// Calls around each other that wrap one value.
const MOST_WRAPPED: usize = 3;

/// The uses of one parameter by a body, as far as its own frame decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// It is called during the call.
    pub called: bool,
    /// It is iterated during the call.
    pub consumed: bool,
    /// It will run in these contexts.
    pub handed: Vec<(Context, Option<Runtime>)>,
    /// The result may be the parameter itself.
    pub returned: bool,
    /// It is stored in attributes of these names (symbols of the body's file).
    pub stored: Vec<blocklint_facts::Sym>,
    /// It is an operator's callable.
    pub on_chain: bool,
    /// Where the chain runs it; chains that the body returns are left open.
    pub chain: crate::reactive::Position,
    /// The machinery of the chain.
    pub chain_runtime: Option<Runtime>,
    /// Closures of the body that use it and outlive the call: the uses in them.
    pub in_closures: Vec<(BodyId, ParamUse)>,
}

impl<'a> Linker<'a> {
    /// Returns the uses of the parameters of a file.
    pub(crate) fn uses_in(&self, file: FileId) -> Rc<FileParamUses> {
        self.query(&self.tables.calls.param_uses, file, Rc::default, || {
            let facts = self.program.facts(file);
            let consumes = |name: &str| {
                let library = self.library.of(Language::Java);
                facts.language == Language::Java && library.name_uses(name).intersects(blocklint_models::Uses::CONSUMES)
            };
            Rc::new(FileParamUses::new(facts, |name| self.is_functional_name(facts.language, name), consumes))
        })
    }

    /// True if a method of this name may be the one of a functional interface.
    fn is_functional_name(&self, language: Language, name: &str) -> bool {
        if language != Language::Java {
            return false;
        }
        let of_libraries = || self.library.of(Language::Java).override_names().map(|row| row.name).collect();
        crate::lang::words_of(language).is_functional_method(name)
            || lang::java::names::ITERATOR_STEPS.contains(&name)
            || self.tables.java.functional_names.get_or_init(of_libraries).contains(name)
    }

    /// Returns the uses of a body's n-th parameter.
    pub fn summary(&self, body: BodyRef, index: u32) -> Rc<Summary> {
        let find = || Rc::new(self.summarise(body, index));
        self.query(&self.tables.calls.summaries, (body, index), Rc::default, find)
    }

    fn summarise(&self, body: BodyRef, index: u32) -> Summary {
        let (facts, body_id) = self.program.facts_and_id(body);
        let mut summary = Summary::default();
        let Some(param) = self.program.params_of(body).get(index as usize) else { return summary };
        let uses = self.uses_in(body.file);
        let Some(rows) = uses.of_param.get(&param.var) else { return summary };
        let mut by_coroutine = false;
        for &(inside, of) in rows {
            let passing = match of {
                // An awaited value must be a coroutine, which is a root itself.
                ParamUse::Call(site) if facts.site(site).flags.has(SiteFlags::AWAITED) => continue,
                ParamUse::Call(site) | ParamUse::Arg(site, _)
                    if self.is_of_coroutine_at(body.file, facts.site(site).at.region, param.var) =>
                {
                    continue;
                }
                ParamUse::Call(_) => Passing { called: true, ..Passing::default() },
                // Unpacking `*args` iterates over the tuple, not over what is in it.
                ParamUse::Consume(_) if matches!(param.kind, ParamKind::VarArgs | ParamKind::KwArgs) => continue,
                ParamUse::Consume(_) => Passing { consumed: true, ..Passing::default() },
                ParamUse::Arg(site, arg) => self.passing(body.file.site_ref(site), arg, EnvId::NONE),
                ParamUse::Return(of) => {
                    if of == body_id {
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
            if passing.on_chain {
                summary.on_chain = true;
                summary.chain_runtime = passing.chain_runtime;
                summary.chain.merge(&passing.chain);
                // A body that blocks on the chain or subscribes to it runs the callable during its own call.
                if inside == body_id && !summary.chain.driven.is_empty() {
                    summary.chain.driven.clear();
                    summary.called = true;
                }
            }
            for runs in self.frames_of(body, inside, 6) {
                match runs {
                    Frame::Here => {
                        if self.program.body(body).flow == Flow::Coroutine
                            || self.program.body(body).flow == Flow::AsyncGenerator
                        {
                            if passing.called {
                                summary.handed.push((Context::EventLoop, None));
                            }
                        } else {
                            summary.called |= passing.called;
                            summary.consumed |= passing.consumed;
                        }
                        for &context in &passing.handed {
                            summary.handed.push(context);
                        }
                    }
                    Frame::Elsewhere(context, runtime) => {
                        if passing.called {
                            summary.handed.push((context, runtime));
                        }
                        summary.handed.extend(passing.handed.iter().copied());
                    }
                    Frame::Closure(closure) => match facts.body(closure).flow {
                        // The caller that gets the coroutine drives it on an event loop.
                        Flow::Coroutine | Flow::AsyncGenerator => {
                            by_coroutine = true;
                            if passing.called {
                                summary.handed.push((Context::EventLoop, None));
                            }
                            summary.handed.extend(passing.handed.iter().copied());
                        }
                        Flow::Sync | Flow::Generator => summary.in_closures.push((inside, of)),
                    },
                }
            }
        }
        // Closures of both kinds: the one of the callable's own kind is taken.
        if by_coroutine && !summary.in_closures.is_empty() {
            summary.handed.retain(|handed| *handed != (Context::EventLoop, None));
        }
        summary.handed.sort();
        summary.handed.dedup();
        summary.in_closures.dedup();
        summary
    }

    /// Returns the frames in which a nested body runs, seen from the body around it.
    fn frames_of(&self, outer: BodyRef, inside: BodyId, depth: u32) -> Vec<Frame> {
        if outer.file.body_ref(inside) == outer {
            return vec![Frame::Here];
        }
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let facts = self.program.facts(outer.file);
        let row = facts.body(inside);
        // A coroutine or generator inside is a closure, which the code that gets it drives. A generator expression runs
        // in the frames of the body around it.
        if matches!(row.kind, blocklint_facts::BodyKind::GeneratorExpression) {
            return self.frames_of(outer, row.parent, depth);
        }
        let mut frames = Vec::new();
        let file = self.program.index_of(outer.file);
        let mut mentions: Vec<(Mention, Wrap)> = file.uses_of_callable(inside).iter().collect();
        // A method of an object without a class of its own: where the object goes.
        for made in makers_of_object_around(facts, inside) {
            mentions.extend(file.uses_of_result(made).iter());
        }
        let mut at = 0;
        let mut names = Vec::new();
        while at < mentions.len() && mentions.len() < 64 {
            let (mention, _) = mentions[at];
            at += 1;
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
                        // Decorated: the name it is bound to follows.
                        mentions.extend(file.uses_of_result(site).iter());
                        continue;
                    }
                    let around = facts.body_of(site_row.at);
                    let passing = self.passing(outer.file.site_ref(site), arg, EnvId::NONE);
                    if passing.called || passing.consumed {
                        frames.extend(self.frames_of(outer, around, depth));
                    }
                    for &(context, runtime) in &passing.handed {
                        frames.push(Frame::Elsewhere(context, runtime));
                    }
                    if passing.returned {
                        mentions.extend(file.uses_of_result(site).iter());
                    }
                }
                Mention::Exit(_) => frames.push(Frame::Closure(inside)),
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

    /// True if a mention in the variable's file is of this variable and not of another of its name.
    pub fn mentions_var(&self, var: VarRef, mention: Mention) -> bool {
        let (facts, id) = self.program.facts_and_id(var);
        let form = match mention {
            Mention::Arg(site, arg) => facts.args_of(site)[arg as usize].value,
            Mention::Assign(assign) => facts.assign(assign).value,
            Mention::Exit(exit) => facts.exits.at(exit as usize).value,
            Mention::Operand(site) => facts.site(site).callee,
            Mention::Default(param) => facts.params[param as usize].default,
        };
        self.form_mentions(var.file, form, id, 8)
    }

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

/// Returns the site that makes the object of the anonymous class around a method (Java).
fn makers_of_object_around(facts: &FileFacts, inside: BodyId) -> Vec<SiteId> {
    let class = facts.body(inside).class;
    let is_nameless = |class: ClassId| facts.text(facts.class(class).name).is_empty();
    let Some(class) = class.get().filter(|&class| facts.language == Language::Java && is_nameless(class)) else {
        return Vec::new();
    };
    let makes = |site: &Site| site.kind == SiteKind::New && facts.form(site.callee) == Form::Class(class);
    let sites = facts.sites.iter().enumerate().filter(|(_, site)| makes(site));
    sites.map(|(at, _)| SiteId(at as u32)).collect()
}

/// Where a nested body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// During the call of the body around it.
    Here,
    /// In this context.
    Elsewhere(Context, Option<Runtime>),
    /// This nested body leaves as a value.
    Closure(BodyId),
}
