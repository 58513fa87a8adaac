//! Rust: `Option` parameters as conditions: methods that run their closure only for `Some` or only for `None`
//! (`limit.map(|limit| sleep(limit))`), and arguments that are written `Some(…)`.

use blocklint_core::Language;
use blocklint_facts::{Form, FormId, SiteKind, VarKind};

use crate::effect::guard::{Choice, Guard, Question, Source};
use crate::lang::rust::names::keeps_receiver;
use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::syntax::forms::last_name;

/// Methods of `Option` that run their closure only if there is a value.
const RUN_IF_PRESENT: &[&str] = &["and_then", "filter", "inspect", "is_some_and", "map", "map_or"];

/// Methods of `Option` that run their closure only if there is no value.
const RUN_IF_ABSENT: &[&str] = &["get_or_insert_with", "ok_or_else", "or_else", "unwrap_or_else"];

/// The most views (`limit.as_ref()`) between a parameter and the method that runs a closure.
const MOST_VIEWS: usize = 4;

impl Linker<'_> {
    /// Returns the guard over an `Option` parameter under which a method runs its closure:
    /// `limit.map(|limit| sleep(limit))` runs it only if the caller passes a value.
    pub(crate) fn guard_of_option_method(&self, site: SiteRef) -> Option<Guard> {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        if facts.language != Language::Rust || row.kind != SiteKind::Call || row.args.len == 0 {
            return None;
        }
        let name = facts.text(row.name);
        let wants_absence = RUN_IF_ABSENT.contains(&name);
        if !wants_absence && !RUN_IF_PRESENT.contains(&name) {
            return None;
        }
        let Form::Attr(mut receiver, _) = facts.form(row.callee) else { return None };
        for _ in 0..MOST_VIEWS {
            let Form::Result(view) = facts.form(receiver) else { break };
            let Form::Attr(inner, _) = facts.form(facts.site(view).callee) else { return None };
            if !keeps_receiver(facts.text(facts.site(view).name)) {
                return None;
            }
            receiver = inner;
        }
        let Form::Var(var) = facts.form(receiver) else { return None };
        let VarKind::Param(index) = facts.var(var).kind else { return None };
        let body = facts.body_of(row.at);
        if facts.var(var).body != body || facts.assigns_of(var).next().is_some() {
            return None;
        }
        let annotation = facts.params_of(body).get(index as usize)?.annotation;
        let Form::Subscript(head, _) = facts.form(annotation) else { return None };
        (facts.text(last_name(facts, head)?) == "Option")
            .then(|| Guard::new(index, Source::Branch, Question::Choice(Choice::Null), wants_absence))
    }

    /// True if an expression is written `Some(…)`, so that a test for `None` fails.
    pub fn is_written_present(&self, file: FileId, form: FormId) -> bool {
        let facts = self.program.facts(file);
        let Form::Result(call) = facts.form(form) else { return false };
        facts.language == Language::Rust
            && matches!(facts.form(facts.site(call).callee), Form::Name(name) if facts.text(name) == "Some")
    }

    /// True if a local variable that begins as `None` may get a value by a reference: `fill(&mut found)`,
    /// `found.insert(3)`. `own_uses` is the number of uses as an argument or receiver that are known to fill nothing.
    pub fn may_be_filled(&self, file: FileId, var: blocklint_facts::VarId, own_uses: usize) -> bool {
        let facts = self.program.facts(file);
        if facts.language != Language::Rust {
            return false;
        }
        let is_var = |form: FormId| facts.form(form) == Form::Var(var);
        let uses = facts.sites.iter().enumerate().filter(|(index, row)| {
            let is_receiver = matches!(facts.form(row.callee), Form::Attr(base, _) if is_var(base));
            is_receiver && !keeps_receiver(facts.text(row.name)) && !is_query(facts.text(row.name))
                || facts.args_of(blocklint_facts::SiteId(*index as u32)).iter().any(|arg| is_var(arg.value))
        });
        uses.take(own_uses + 1).count() > own_uses
    }
}

/// True if a method only asks whether there is a value.
fn is_query(method: &str) -> bool {
    matches!(method, "is_some" | "is_none" | "is_some_and" | "is_none_or")
}
