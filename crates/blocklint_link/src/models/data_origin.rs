//! The origin of a value's bytes or text: the row tests `from` (a request, a file, a socket) and `size` (all of the
//! content, not a part).

use std::cell::Cell;

use blocklint_core::Language;
use blocklint_facts::{AssignKind, BodyKind, ExitKind, Form, FormId, VarKind};
use blocklint_models::{Source, Test, TypeExpr};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The most values of one variable that are followed to their origins.
const MAX_VALUES: usize = 4;

/// How many variables and fields are followed to the constant of an argument.
const MAX_CONSTANT_DEPTH: u32 = 4;

/// Methods of strings and bytes that return the same content in another form.
const SAME_CONTENT: [&str; 6] = ["decode", "encode", "strip", "lstrip", "rstrip", "tobytes"];

/// Methods of Rust that return the same content: borrowed, owned, or as another type.
const SAME_CONTENT_IN_RUST: [&str; 16] = [
    "as_ref",
    "as_slice",
    "as_bytes",
    "as_str",
    "to_vec",
    "to_owned",
    "into",
    "into_bytes",
    "into_vec",
    "into_boxed_slice",
    "clone",
    "deref",
    "borrow",
    "chunk",
    "unwrap",
    "expect",
];

/// Methods of streams that return a piece of the content.
const READS_OF_PIECES: [&str; 6] = ["readline", "read1", "peek", "readexactly", "readuntil", "__next__"];

/// The maximal nesting of forms that are followed.
const DEPTH: u32 = 16;

/// The maximal number of calls of a name whose targets are resolved.
const MAX_SITES: usize = 200;

/// The maximal number of calls whose arguments for a parameter are evaluated.
const MAX_CALLERS: usize = 8;

/// The maximal number of forms that are evaluated for one test, because a buffer may be filled with many values.
const FUEL: u32 = 240;

/// A query about the origin of a value. The functions `origin_matches…` return `Yes` if the value has one of the
/// sources and `Param` if a caller decides.
#[derive(Clone, Copy)]
pub(crate) struct OriginQuery<'t> {
    /// The sources that match; none if every known source does.
    sources: Option<&'t [Source]>,
    /// True if the value must be the whole content of its source: no slice, no part, no limited read.
    pub(crate) whole: bool,
    /// The number of project functions that may still be entered.
    calls: u32,
    /// The number of forms that may still be evaluated.
    fuel: &'t Cell<u32>,
}

impl Linker<'_> {
    /// Returns the result of the test `from` or `size` for a value.
    pub fn origin_test(&self, test: &Test, site: SiteRef, form: FormId, env: EnvId) -> ConditionResult {
        let fuel = &Cell::new(FUEL);
        let query = match test {
            Test::From(sources) => OriginQuery { sources: Some(sources), whole: false, calls: 1, fuel },
            _ => OriginQuery { sources: None, whole: true, calls: 1, fuel },
        };
        let body = self.program.body_of_site(site);
        let scope = Scope { env, ..self.scope_of(site, env) };
        self.origin_matches(scope, body, form, query, DEPTH)
    }

    /// Returns the result for a form, with the rules of its language.
    pub(crate) fn origin_matches(
        &self,
        scope: Scope,
        body: BodyRef,
        form: FormId,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let (Some(depth), Some(fuel)) = (depth.checked_sub(1), query.fuel.get().checked_sub(1)) else {
            return ConditionResult::Unknown;
        };
        query.fuel.set(fuel);
        let by_form = self.origin_matches_by_form(scope, body, form, query, depth);
        if by_form == ConditionResult::Yes {
            return by_form;
        }
        match (self.program.facts(scope.file).language, by_form) {
            (Language::Rust, _) => self.origin_matches_in_rust(by_form, scope, body, form, query, depth),
            (_, ConditionResult::Param(_) | ConditionResult::Unknown)
                if self.is_passed_by_library(scope, body, form, query) =>
            {
                ConditionResult::Yes
            }
            (Language::Java, ConditionResult::Unknown) if self.is_passed_by_caller(scope, body, form, query, depth) => {
                ConditionResult::Yes
            }
            (_, ConditionResult::Param(index)) => match self.origin_matches_by_chain(body, index, query, depth) {
                ConditionResult::Yes => ConditionResult::Yes,
                _ => by_form,
            },
            _ => by_form,
        }
    }

    /// True if a form is a parameter of a handler or lambda that only a library calls, and the parameter's type has the
    /// queried source: `def handle(request: Request)`.
    fn is_passed_by_library(&self, scope: Scope, body: BodyRef, form: FormId, query: OriginQuery<'_>) -> bool {
        let facts = self.program.facts(scope.file);
        let Form::Var(var) = facts.form(form) else { return false };
        let var_facts = facts.var(var);
        if !matches!(var_facts.kind, VarKind::Param(_))
            || facts.assigns_of(var).next().is_some()
            || scope.file != body.file
        {
            return false;
        }
        let is_sourced = self.values.members(self.eval(scope, form).value).iter().any(|val| match *val {
            Val::Library { ty, .. } => self.library.source(ty).is_some_and(|source| matches_source(query, source)),
            _ => false,
        });
        is_sourced && !self.has_known_call(body.file.body_ref(var_facts.body))
    }

    /// True if a form is a parameter of the method around a lambda, and a call of the method passes a value of the
    /// queried origin (Java).
    fn is_passed_by_caller(
        &self,
        scope: Scope,
        body: BodyRef,
        form: FormId,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> bool {
        let facts = self.program.facts(scope.file);
        let (Form::Var(var), Some(calls)) = (facts.form(form), query.calls.checked_sub(1)) else { return false };
        let var_facts = facts.var(var);
        let VarKind::Param(index) = var_facts.kind else { return false };
        let is_captured = scope.file == body.file && scope.file.body_ref(var_facts.body) != body;
        if !is_captured || facts.assigns_of(var).next().is_some() {
            return false;
        }
        let around = body.file.body_ref(var_facts.body);
        self.sites_calling(around).into_iter().take(MAX_CALLERS).any(|site| {
            let Some(form) = self.passed_argument(site, around, index) else { return false };
            let scope = self.scope_of(site, EnvId::NONE);
            self.origin_matches(scope, self.program.body_of_site(site), form, OriginQuery { calls, ..query }, depth)
                == ConditionResult::Yes
        })
    }

    /// Returns the result for a lambda's parameter that is an element of a reactive chain: the result for the chain,
    /// such as `request.bodyToMono(String.class)` in `request.bodyToMono(String.class).map(body -> …)` (Java).
    fn origin_matches_by_chain(
        &self,
        lambda: BodyRef,
        index: u32,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(lambda.file);
        if facts.language != Language::Java || self.program.body(lambda).kind != BodyKind::Lambda || index > 0 {
            return ConditionResult::Unknown;
        }
        let uses = self.program.uses_of_callable(lambda);
        let operator = uses.iter().find_map(|(mention, _)| match mention {
            Mention::Arg(site, _) => Some(lambda.file.site_ref(site)),
            _ => None,
        });
        let Some((operator, chain)) = operator.and_then(|site| Some((site, self.receiver_form(site)?))) else {
            return ConditionResult::Unknown;
        };
        let passes_element = self.targets(operator, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Row { path, .. } => {
                self.handovers_for_call(path, operator).iter().any(|matched| !matched.row.gives.is_empty())
            }
            _ => false,
        });
        if !passes_element {
            return ConditionResult::Unknown;
        }
        self.origin_matches(
            self.scope_of(operator, EnvId::NONE),
            self.program.body_of_site(operator),
            chain,
            query,
            depth,
        )
    }

    /// True if a call in the project has a body as its target.
    fn has_known_call(&self, body: BodyRef) -> bool {
        let Some(name) = self.program.global(body.file, self.program.body(body).name) else { return false };
        let mut sites = self.program.sites_named(name).take(MAX_SITES);
        sites.any(|site| self.targets(site, EnvId::NONE).receiver_of(body).is_some())
    }

    /// Returns the result for a form by the rules that all languages share.
    fn origin_matches_by_form(
        &self,
        scope: Scope,
        body: BodyRef,
        form: FormId,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(scope.file);
        match facts.form(form) {
            Form::Await(inner) | Form::Try(inner) | Form::Cast(inner, _) => {
                self.origin_matches(scope, body, inner, query, depth)
            }
            // An element or slice has the origin of its base, but is not the whole content: `body[..64]`.
            Form::Subscript(base, _) if !query.whole => self.origin_matches(scope, body, base, query, depth),
            // A pattern binds the whole value inside a container: `let Json(body) = request`.
            Form::Part(base, _) | Form::Field(base, _) => self.origin_matches(scope, body, base, query, depth),
            Form::Alt(_, list) => {
                let parts = facts.list(list).iter();
                any_of(parts.map(|&part| self.origin_matches(scope, body, part, query, depth)))
            }
            Form::Var(var) => {
                let var_facts = facts.var(var);
                let plain = facts.assigns_of(var).filter(|assign| assign.kind != AssignKind::Declaration);
                let values: Vec<FormId> = plain.map(|assign| assign.value).collect();
                match var_facts.kind {
                    VarKind::Param(index) if values.is_empty() && scope.file.body_ref(var_facts.body) == body => {
                        ConditionResult::Param(index)
                    }
                    VarKind::Param(_) => ConditionResult::Unknown,
                    _ if scope.file.body_ref(var_facts.body) != body
                        || values.is_empty()
                        || values.len() > MAX_VALUES =>
                    {
                        ConditionResult::Unknown
                    }
                    _ => all_of(values.iter().map(|&value| self.origin_matches(scope, body, value, query, depth))),
                }
            }
            Form::Attr(base, sym) => {
                let members = self.values.members(self.eval(scope, base).value);
                let has_source = |val: &Val| {
                    let Val::Library { ty, .. } = *val else { return false };
                    let path = self.library.member(ty, facts.text(sym));
                    let rows = self.library.properties(path);
                    rows.iter().any(|row| row.source.is_some_and(|source| matches_source(query, source)))
                };
                if members.iter().any(has_source) { ConditionResult::Yes } else { ConditionResult::Unknown }
            }
            Form::Result(site) => self.origin_matches_of_call(scope, body, scope.file.site_ref(site), query, depth),
            Form::Str(_) | Form::Bytes(_) | Form::Int(_) | Form::Float(_) | Form::Bool(_) | Form::None => {
                ConditionResult::No
            }
            _ => ConditionResult::Unknown,
        }
    }

    /// Returns the result for the result of a call.
    fn origin_matches_of_call(
        &self,
        scope: Scope,
        body: BodyRef,
        site: SiteRef,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        if let Form::Attr(base, name) = facts.form(site_facts.callee)
            && (SAME_CONTENT.contains(&facts.text(name))
                || self.program.language(site.file) == Language::Rust
                    && SAME_CONTENT_IN_RUST.contains(&facts.text(name)))
        {
            let of_base = self.origin_matches(scope, body, base, query, depth);
            if of_base != ConditionResult::Unknown {
                return of_base;
            }
        }
        let wrapped = self.origin_matches_of_wrapped(scope, body, site, query, depth);
        if wrapped != ConditionResult::Unknown {
            return wrapped;
        }
        let targets = self.targets(site, scope.env);
        let (outer, caller, of_caller) = (scope, body, query);
        let each = targets.list.iter().map(|target| match *target {
            Target::Row { path, property: false, .. } => {
                let rows = self.library.calls(path);
                let has_source = rows.with(|row| row.source.is_some()).any(|row| {
                    row.source.is_some_and(|source| matches_source(query, source))
                        && self.conditions_hold(&row.when, &row.unless, site, scope.env)
                });
                if has_source {
                    return yes_or_unknown(!(query.whole && self.limits_amount(site, scope.env)));
                }
                let returns_receiver =
                    rows.with(|row| row.returns == Some(TypeExpr::SelfType(Vec::new()))).next().is_some();
                if returns_receiver && let Some(chain) = self.receiver_form(site) {
                    return self.origin_matches(scope, body, chain, query, depth);
                }
                let same_as = rows.with(|row| row.same.is_some()).find_map(|row| {
                    let holds = self.conditions_hold(&row.when, &row.unless, site, scope.env);
                    row.same.as_ref().filter(|_| holds).and_then(|argument| self.argument(site, argument))
                });
                same_as.map_or(ConditionResult::Unknown, |form| self.origin_matches(scope, body, form, query, depth))
            }
            Target::Body { body, env, .. } if query.calls > 0 => {
                let callee = body;
                let (facts, body_id) = self.program.facts_and_id(body);
                let query = OriginQuery { calls: query.calls - 1, ..query };
                let returns = facts.exits.iter().filter(|exit| {
                    exit.kind == ExitKind::Return && exit.value.is_some() && facts.body_of(exit.at) == body_id
                });
                all_of(returns.map(|exit| {
                    let scope = Scope { file: body.file, at: exit.at, env };
                    match self.origin_matches(scope, body, exit.value, query, depth) {
                        // The caller decides: in Rust the argument of this call. In other languages the result is
                        // unknown.
                        ConditionResult::Param(index) if facts.language == Language::Rust => {
                            let argument = self.passed_argument(site, callee, index);
                            argument.map_or(ConditionResult::Unknown, |form| {
                                self.origin_matches(outer, caller, form, of_caller, depth)
                            })
                        }
                        ConditionResult::Param(_) => ConditionResult::Unknown,
                        result => result,
                    }
                }))
            }
            _ => ConditionResult::Unknown,
        });
        any_of(each)
    }

    /// Returns the result for a call that wraps its receiver or arguments in a reader: the result for those. Examples
    /// are `GzDecoder::new(&body)` and `archive.by_index(0)` (Rust).
    fn origin_matches_of_wrapped(
        &self,
        scope: Scope,
        body: BodyRef,
        site: SiteRef,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        if self.program.language(site.file) != Language::Rust || !self.returns_wrapper(site, scope.env) {
            return ConditionResult::Unknown;
        }
        let facts = self.program.facts(site.file);
        let receiver = match facts.form(self.program.site(site).callee) {
            Form::Attr(base, _) => Some(base),
            _ => None,
        };
        let args = self.program.args_of(site).into_iter().map(|arg| arg.value);
        any_of(receiver.into_iter().chain(args).map(|form| self.origin_matches(scope, body, form, query, depth)))
    }

    /// True if a call returns a value of a transparent type, or an option or result of one.
    fn returns_wrapper(&self, site: SiteRef, env: EnvId) -> bool {
        let wraps = |val: &Val| match *val {
            Val::Library { ty, .. } => self.library.ty(ty).is_some_and(|rows| rows.through().is_some()),
            _ => false,
        };
        let inner = |val: &Val| match *val {
            Val::Library { args, .. } => self.values.nth(args, 0),
            _ => None,
        };
        let members = self.values.members(self.result(site, env).value);
        members.iter().any(wraps)
            || members.iter().filter_map(inner).any(|value| self.values.members(value).iter().any(wraps))
    }

    /// True if a call reads a piece, or if an argument may limit the amount that it reads: a number, or an argument
    /// with a name such as `size`.
    fn limits_amount(&self, site: SiteRef, env: EnvId) -> bool {
        let facts = self.program.facts(site.file);
        let name = facts.text(self.program.site(site).name);
        let reads_piece = READS_OF_PIECES.contains(&name) || name.starts_with("recv");
        reads_piece
            || self.program.args_of(site).into_iter().any(|arg| {
                let name = if arg.name.is_some() { facts.text(arg.name) } else { "" };
                let is_amount =
                    ["n", "size", "limit", "length", "amt", "chunk_size", "max_bytes", "maxsize"].contains(&name);
                match self.constant(site, arg.value, env, MAX_CONSTANT_DEPTH).number() {
                    Some(number) => number > 0.0,
                    None => is_amount && facts.form(arg.value) != Form::None,
                }
            })
    }
}

/// True if a source matches the query.
pub(crate) fn matches_source(query: OriginQuery<'_>, source: Source) -> bool {
    query.sources.is_none_or(|sources| sources.contains(&source))
}

/// Returns `Yes` if the condition holds, else `Unknown`.
fn yes_or_unknown(holds: bool) -> ConditionResult {
    if holds { ConditionResult::Yes } else { ConditionResult::Unknown }
}

/// Returns `Yes` if any result is `Yes`, else the first `Param`, else `Unknown`.
pub(crate) fn any_of(each: impl Iterator<Item = ConditionResult>) -> ConditionResult {
    let mut combined = ConditionResult::Unknown;
    for result in each {
        match result {
            ConditionResult::Yes => return ConditionResult::Yes,
            ConditionResult::Param(_) if combined == ConditionResult::Unknown => combined = result,
            _ => {}
        }
    }
    combined
}

/// Returns `Yes` if all results are `Yes`, the `Param` if it is the only result, else `Unknown`, also for no results.
pub(crate) fn all_of(each: impl Iterator<Item = ConditionResult>) -> ConditionResult {
    let mut combined = None;
    for result in each {
        match (result, combined) {
            (ConditionResult::Yes, None | Some(ConditionResult::Yes)) => combined = Some(ConditionResult::Yes),
            (ConditionResult::Param(_), None) => combined = Some(result),
            _ => return ConditionResult::Unknown,
        }
    }
    combined.unwrap_or(ConditionResult::Unknown)
}
