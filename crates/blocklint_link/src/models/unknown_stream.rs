//! Streams whose source is unknown (the row test `unseen`): a stream that a caller passes may read from a file, a
//! socket or memory.

use crate::lang;
use blocklint_facts::{Form, FormId, VarKind};

use crate::linker::Linker;
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, SiteRef};
use crate::syntax::forms::value_of_local;
use crate::values::value::{EnvId, Val};

/// The maximal number of nested wrappers around a stream.
const MAX_WRAPPERS: u32 = 4;

/// The maximal number of callers through which a captured parameter is followed.
const MAX_HOPS: u32 = 3;

/// The maximal number of calls of a method whose arguments are evaluated.
const MAX_SITES: usize = 40;

impl Linker<'_> {
    /// Returns the result of the test `unseen` for an argument. A parameter whose declared type is any stream has the
    /// result `Param`, because its callers may know the source.
    pub fn unseen_test(&self, site: SiteRef, form: FormId, env: EnvId) -> ConditionResult {
        let members = self.values.members(self.eval(self.scope_of(site, env), form).value);
        if members.is_empty() || !members.iter().all(|&val| self.is_any_stream(val)) {
            return ConditionResult::No;
        }
        self.unseen_at(site, form, MAX_HOPS)
    }

    /// Returns the result for a form that is declared as any stream.
    fn unseen_at(&self, site: SiteRef, form: FormId, hops: u32) -> ConditionResult {
        let facts = self.program.facts(site.file);
        let mut stream = self.unwrap_readers(site, form);
        while let Form::Cast(inner, _) = facts.form(stream) {
            stream = self.unwrap_readers(site, inner);
        }
        let Form::Var(var) = facts.form(stream) else { return ConditionResult::No };
        let var_facts = facts.var(var);
        let VarKind::Param(index) = var_facts.kind else { return ConditionResult::No };
        if facts.assigns_of(var).next().is_some() {
            return ConditionResult::No;
        }
        if var_facts.body == facts.body_of(self.program.site(site).at) {
            ConditionResult::Param(index)
        } else if self.is_stream_unseen(site.file.body_ref(var_facts.body), index, hops) {
            ConditionResult::Yes
        } else {
            ConditionResult::No
        }
    }

    /// True if no caller shows the source of a parameter's stream: the method has no known call, or a call passes a
    /// stream whose source is unknown as well.
    fn is_stream_unseen(&self, body: BodyRef, index: u32, hops: u32) -> bool {
        let Some(hops) = hops.checked_sub(1) else { return false };
        let Some(name) = self.program.global(body.file, self.program.body(body).name) else { return true };
        let mut passed = self
            .program
            .sites_named(name)
            .take(MAX_SITES)
            .filter_map(|site| {
                let with_receiver = self.targets(site, EnvId::NONE).receiver_of(body)?;
                Some((site, self.argument_for_param(site, body, index, with_receiver)?))
            })
            .peekable();
        passed.peek().is_none()
            || passed.any(|(site, form)| match self.unseen_test_within(site, form, hops) {
                ConditionResult::Yes => true,
                ConditionResult::Param(index) => self.is_stream_unseen(self.program.body_of_site(site), index, hops),
                ConditionResult::No | ConditionResult::Unknown => false,
            })
    }

    fn unseen_test_within(&self, site: SiteRef, form: FormId, hops: u32) -> ConditionResult {
        let members = self.values.members(self.eval(self.scope_of(site, EnvId::NONE), form).value);
        if members.is_empty() || !members.iter().all(|&val| self.is_any_stream(val)) {
            ConditionResult::No
        } else {
            self.unseen_at(site, form, hops)
        }
    }

    /// True if the declared type of a value is any stream (`Read`, `InputStream`), or a wrapper around one.
    pub(crate) fn is_any_stream(&self, val: Val) -> bool {
        let language = match val {
            Val::Library { ty, .. } => self.library.language(ty),
            _ => return false,
        };
        let innermost = self.types_through(val);
        innermost.last().is_some_and(|&ty| lang::words_of(language).is_any_stream(&self.library.text(ty)))
    }

    /// Returns the stream inside of readers that the same body creates: `input` of `BufReader::new(input)` and of
    /// `new InputStreamReader(input, UTF_8)`.
    pub(crate) fn unwrap_readers(&self, site: SiteRef, form: FormId) -> FormId {
        let facts = self.program.facts(site.file);
        let mut stream = form;
        for _ in 0..MAX_WRAPPERS {
            let Some(value) = value_of_local(facts, stream) else { return stream };
            let Form::Result(call) = facts.form(value) else { return stream };
            let call = site.file.site_ref(call);
            let callee = self.callee(call, EnvId::NONE);
            let wraps = self.values.members(callee.value).iter().any(|val| match *val {
                Val::External(path) | Val::Method { path, .. } => self.result_holds_argument(path, 0),
                _ => false,
            });
            match self.program.args_of(call).first() {
                Some(inner) if wraps => stream = inner.value,
                _ => return stream,
            }
        }
        stream
    }
}
