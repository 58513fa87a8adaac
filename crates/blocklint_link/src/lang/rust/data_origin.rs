//! Rust: the source of data (request, network, file), followed through wrappers (`Ok(bytes)`, `Cursor::new(bytes)`),
//! buffers that calls fill, captured variables of async blocks, and parameters of request handlers.

use blocklint_core::Context;
use blocklint_facts::{AssignKind, Form, FormId, SiteKind, Sym, VarId, VarKind};
use blocklint_models::{HandoverContext, Runs, Selector, Source};

use crate::linker::Linker;
use crate::models::data_origin::{OriginQuery, all_of, any_of, matches_source};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// Methods that return their receiver, its content, or its next piece.
const PASSED_THROUGH: [&str; 48] = [
    "map_err",
    "ok",
    "ok_or",
    "ok_or_else",
    "unwrap_or_default",
    "unwrap_or",
    "unwrap_or_else",
    "context",
    "with_context",
    "wrap_err",
    "wrap_err_with",
    "as_deref",
    "as_mut",
    "as_mut_slice",
    "cloned",
    "copied",
    "into_owned",
    "to_string",
    "into_string",
    "into_boxed_str",
    "trim",
    "freeze",
    "split",
    "split_to",
    "split_off",
    "copy_to_bytes",
    "to_bytes",
    "into_inner",
    "into_body",
    "body",
    "body_mut",
    "into_data",
    "into_data_stream",
    "bytes_stream",
    "collect",
    "concat",
    "try_concat",
    "next",
    "try_next",
    "recv",
    "chunk",
    "data",
    "frame",
    "by_ref",
    "get_ref",
    "get_mut",
    "bytes",
    "text",
];

/// Functions that make a value from their first argument.
const CONSTRUCTORS: [&str; 11] = [
    "Ok",
    "Some",
    "new",
    "from",
    "try_from",
    "from_utf8",
    "from_utf8_lossy",
    "from_utf8_unchecked",
    "copy_from_slice",
    "from_reader",
    "from_ref",
];

/// Methods that append their argument to their receiver.
const APPENDERS: [&str; 9] =
    ["extend_from_slice", "extend", "append", "push_str", "put", "put_slice", "write_all", "unsplit", "write"];

/// Methods and functions that read all data of a reader into a buffer.
const READ_INTO: [&str; 4] = ["read_to_end", "read_to_string", "read_buf", "copy"];

/// The number of assignments to one local that are followed.
const MOST_VALUES: usize = 4;

/// The tags of library types whose values hold data of a source.
const TAGS: [(&str, Source); 3] =
    [("from-request", Source::Request), ("from-network", Source::Network), ("from-file", Source::File)];

impl Linker<'_> {
    /// Returns `Yes` if a value, by its form, comes from the source of the query. `shown` is the answer of the rules
    /// for all languages, which counts if Rust's rules do not decide.
    pub(crate) fn origin_matches_in_rust(
        &self,
        shown: ConditionResult,
        scope: Scope,
        body: BodyRef,
        form: FormId,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(scope.file);
        let by_form = match facts.form(form) {
            Form::Var(var) => match facts.var(var).kind {
                VarKind::Param(_) => self.origin_matches_of_request(scope, var, query),
                _ => self.origin_matches_of_local(scope, body, var, query, depth),
            },
            Form::Attr(base, sym) => match self.field_in_struct_expression(scope, base, sym) {
                Some(value) => self.origin_matches(scope, body, value, query, depth),
                None => self.origin_matches(scope, body, base, query, depth),
            },
            // An element has the source of its collection.
            Form::Element(base) => self.origin_matches(scope, body, base, query, depth),
            Form::Result(site) => {
                self.origin_matches_of_rust_call(scope, body, scope.file.site_ref(site), query, depth)
            }
            _ => ConditionResult::Unknown,
        };
        match by_form {
            ConditionResult::Yes => ConditionResult::Yes,
            _ if shown == ConditionResult::No => shown,
            _ if self.is_tagged(scope, form, query) => ConditionResult::Yes,
            ConditionResult::Param(_) if shown == ConditionResult::Unknown => by_form,
            _ => shown,
        }
    }

    /// True if the type of a value has the tag of the query's source.
    fn is_tagged(&self, scope: Scope, form: FormId, query: OriginQuery<'_>) -> bool {
        let facts = self.program.facts(scope.file);
        if !matches!(facts.form(form), Form::Var(_) | Form::Result(_) | Form::Attr(..) | Form::Await(_) | Form::Try(_))
        {
            return false;
        }
        let typed = self.eval(scope, form);
        let has_tag_of_source = |val: Val| match val {
            Val::Library { ty, .. } => {
                TAGS.iter().any(|&(tag, source)| matches_source(query, source) && self.library.has_tag(ty, tag))
            }
            _ => false,
        };
        self.values.members(typed.value).into_iter().any(|val| {
            // The first type argument counts, too: `Request<Incoming>`, `Result<Response, _>`.
            let content = match val {
                Val::Library { args, .. } => self.values.nth(args, 0),
                _ => None,
            };
            has_tag_of_source(val)
                || content.is_some_and(|content| self.values.members(content).into_iter().any(has_tag_of_source))
        })
    }

    /// Returns `Yes` if a variable is a parameter of bytes or text in a function that a library runs for requests: the
    /// body of the request.
    fn origin_matches_of_request(&self, scope: Scope, var: VarId, query: OriginQuery<'_>) -> ConditionResult {
        if !matches_source(query, Source::Request) {
            return ConditionResult::Unknown;
        }
        let facts = self.program.facts(scope.file);
        let handler = scope.file.body_ref(facts.var(var).body);
        let VarKind::Param(index) = facts.var(var).kind else { return ConditionResult::Unknown };
        let Some(param) = self.program.params_of(handler).get(index as usize).copied() else {
            return ConditionResult::Unknown;
        };
        let holds_bytes = |form: FormId| match facts.form(form) {
            Form::Name(sym) | Form::Path(_, sym) => matches!(facts.text(sym), "Bytes" | "String" | "Vec"),
            Form::Subscript(base, _) => matches!(facts.form(base), Form::Name(sym) if facts.text(sym) == "Vec"),
            Form::Var(var) => facts.text(facts.var(var).name) == "Bytes",
            _ => false,
        };
        if holds_bytes(param.annotation) && self.serves_requests(handler) {
            ConditionResult::Yes
        } else {
            ConditionResult::Unknown
        }
    }

    /// True if a function is passed to a library that runs it on an event loop for requests, or is registered by its
    /// attribute: `#[get("/")]`.
    fn serves_requests(&self, body: BodyRef) -> bool {
        if !self.program.facts(body.file).list(self.program.body(body).decorators).is_empty()
            && self.registered(body).is_some()
        {
            return true;
        }
        self.sites_passing_body(body).iter().any(|&(site, arg)| {
            self.values.members(self.callee(site, EnvId::NONE).value).iter().any(|&val| {
                let (Val::External(path) | Val::Method { path, .. }) = val else { return false };
                self.library.handovers(path).iter().any(|handover| {
                    matches!(handover.row.context, HandoverContext::Is(Runs::In(Context::EventLoop)))
                        && !handover.row.wraps
                        && handover.row.serves()
                        && matches!(&handover.row.selector, Selector::Argument(argument) if self.is_argument(site, arg, argument))
                })
            })
        })
    }

    /// Returns the source of a local that a closure or async block captures, or of a buffer that calls fill.
    fn origin_matches_of_local(
        &self,
        scope: Scope,
        body: BodyRef,
        var: VarId,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(scope.file);
        let owner = scope.file.body_ref(facts.var(var).body);
        let assigns: Vec<_> = facts
            .assigns_of(var)
            .filter(|assign| assign.kind != AssignKind::Declaration)
            .take(MOST_VALUES + 1)
            .collect();
        if assigns.len() > MOST_VALUES {
            return ConditionResult::Unknown;
        }
        if owner != body {
            let captured = all_of(assigns.iter().map(|assign| {
                let scope = Scope { file: scope.file, at: assign.at, env: scope.env };
                self.origin_matches(scope, body, assign.value, query, depth)
            }));
            if captured != ConditionResult::Unknown {
                return captured;
            }
        }
        self.origin_matches_of_buffer(scope, body, var, query, depth)
    }

    /// Returns the source of a buffer: `buffer.extend_from_slice(&body.next().await?)`,
    /// `file.read_to_end(&mut buffer)`.
    fn origin_matches_of_buffer(
        &self,
        scope: Scope,
        body: BodyRef,
        var: VarId,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(scope.file);
        let owner = scope.file.body_ref(facts.var(var).body);
        let is_buffer = |form: FormId| matches!(facts.form(form), Form::Var(other) if other == var);
        let calls = self.program.sites_in(owner).filter(|site| self.program.site(*site).kind == SiteKind::Call);
        any_of(calls.map(|site| {
            let site_facts = self.program.site(site);
            let name = facts.text(site_facts.name);
            let args = self.program.args_of(site);
            let scope = Scope { file: scope.file, at: site_facts.at, env: scope.env };
            let source = match facts.form(site_facts.callee) {
                Form::Attr(base, _) if APPENDERS.contains(&name) && is_buffer(base) => {
                    args.first().map(|arg| arg.value)
                }
                Form::Attr(base, _) if READ_INTO.contains(&name) && args.iter().any(|arg| is_buffer(arg.value)) => {
                    Some(base)
                }
                _ if READ_INTO.contains(&name) && args.len() == 2 && is_buffer(args[1].value) => Some(args[0].value),
                _ => None,
            };
            source.map_or(ConditionResult::Unknown, |form| self.origin_matches(scope, body, form, query, depth))
        }))
    }

    /// Returns the source of the result of a call that returns its receiver, or a value made from its first argument.
    fn origin_matches_of_rust_call(
        &self,
        scope: Scope,
        body: BodyRef,
        site: SiteRef,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        let name = facts.text(site_facts.name);
        match facts.form(site_facts.callee) {
            Form::Attr(base, _) if PASSED_THROUGH.contains(&name) => {
                self.origin_matches(scope, body, base, query, depth)
            }
            Form::Attr(..) => self.origin_matches_of_closure(scope, body, site, query, depth),
            _ if CONSTRUCTORS.contains(&name) => match self.program.args_of(site).first() {
                Some(first) => self.origin_matches(scope, body, first.value, query, depth),
                None => ConditionResult::Unknown,
            },
            _ => self.origin_matches_of_closure(scope, body, site, query, depth),
        }
    }

    /// Returns the value of a field in the struct expression that is assigned to a local.
    fn field_in_struct_expression(&self, scope: Scope, base: FormId, field: Sym) -> Option<FormId> {
        let facts = self.program.facts(scope.file);
        let Form::Var(var) = facts.form(base) else { return None };
        let Form::Result(struct_expression) = facts.form(facts.only_value_of(var)?.value) else { return None };
        facts.args_of(struct_expression).into_iter().find(|arg| arg.name == field).map(|arg| arg.value)
    }

    /// Returns the source of the result of a closure that a library runs on another thread for the caller:
    /// `spawn_blocking(move || read(path)).await`.
    fn origin_matches_of_closure(
        &self,
        scope: Scope,
        body: BodyRef,
        site: SiteRef,
        query: OriginQuery<'_>,
        depth: u32,
    ) -> ConditionResult {
        let facts = self.program.facts(site.file);
        let mut closures = self.program.args_of(site).into_iter().filter_map(|arg| match facts.form(arg.value) {
            Form::Callable(closure) => Some(closure),
            _ => None,
        });
        let Some(closure) = closures.next() else { return ConditionResult::Unknown };
        let hands_over = self.values.members(self.callee(site, EnvId::NONE).value).into_iter().any(|val| match val {
            Val::External(path) | Val::Method { path, .. } => self.library.handovers(path).iter().next().is_some(),
            _ => false,
        });
        if !hands_over {
            return ConditionResult::Unknown;
        }
        let exits = self.program.exits_in(site.file.body_ref(closure)).filter(|exit| exit.value.is_some());
        any_of(exits.map(|exit| {
            let scope = Scope { file: site.file, at: exit.at, env: scope.env };
            self.origin_matches(scope, body, exit.value, query, depth)
        }))
    }
}
