//! Rust: values with a declared type of `impl Read` or `dyn Write`: the callers decide if they are files.

use blocklint_facts::{Form, FormId};

use crate::linker::{Linker, Typed};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{PathId, SiteRef};
use crate::program::occurrences::is_own_receiver;
use crate::values::value::{EnvId, Val};

impl Linker<'_> {
    /// Returns a condition on the parameter whose callers decide the type of an argument, if the argument is declared
    /// as a reader or writer.
    pub(crate) fn reader_condition(
        &self,
        members: &[Val],
        site: SiteRef,
        form: FormId,
        env: EnvId,
    ) -> Option<ConditionResult> {
        if !members.iter().any(|val| self.is_any_reader(*val)) {
            return None;
        }
        let inner = self.unwrap_readers(site, form);
        let by_param = self.decided_by_param(site, inner, env);
        if by_param.is_some() {
            return by_param;
        }
        // The callers that made a generic struct decide: `self.input` of a `Parser<R>`.
        let facts = self.program.facts(site.file);
        match facts.form(inner) {
            Form::Attr(base, _) if is_own_receiver(facts, base) => Some(ConditionResult::Param(0)),
            _ => None,
        }
    }

    /// Returns the library types among the type arguments of an instance: `File` of `Parser<File>`.
    pub(crate) fn library_type_arguments(&self, val: Val) -> Vec<PathId> {
        let Val::Instance { args, .. } = val else { return Vec::new() };
        let values = self.values.list(args).into_iter().flat_map(|arg| self.values.members(arg));
        values.flat_map(|val| self.types_through(val)).collect()
    }

    /// True if a value is declared only by a trait of readers or writers: `impl Read`.
    pub(crate) fn is_any_reader(&self, val: Val) -> bool {
        let bound = match val {
            Val::Param { .. } => self.bound_of(val),
            _ => Typed { value: self.values.one(val), inferred_steps: 0 },
        };
        let types = self.values.members(bound.value).into_iter().flat_map(|val| self.types_through(val));
        let mut types = types.peekable();
        types.peek().is_some() && types.any(|ty| super::names::is_reader(&self.library.text(ty)))
    }
}
