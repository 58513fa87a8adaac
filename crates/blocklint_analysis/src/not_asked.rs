//! Rust: what is only done for those who ask for it, by a caller who does not: `Query { ids, ..Query::default() }`, and far
//! below `match (&after, &before) { (None, None) => return Ok(()), … }`.

use blocklint_facts::{AltKind, Comparison, ExitKind, FileFacts, Form, FormId, SiteKind};

use crate::ids::SiteRef;
use crate::link::Link;
use crate::search::Way;

impl Link<'_> {
    /// Whether the last call of a way is not reached where none of some parameters of its function is given, and the way's
    /// first function makes what is asked for without naming any of them, the rest by default.
    pub(crate) fn asks_for_none_of(&self, ways: &[Way]) -> bool {
        let [first, .., before, last] = ways else { return false };
        let asked = self.leaves_without(last.site);
        if asked.is_empty() {
            return false;
        }
        let facts = self.program.facts(before.site.file);
        let args = facts.args_of(before.site.site);
        let given: Option<Vec<&str>> = asked
            .iter()
            .map(|&at| match facts.form(args.get(at)?.value) {
                Form::Var(var) => Some(facts.text(facts.var(var).name)),
                Form::Attr(_, sym) => Some(facts.text(sym)),
                _ => None,
            })
            .collect();
        given.is_some_and(|given| self.makes_the_rest_by_default(first.site, &given))
    }

    /// The parameters of a site's function without all of which it ends before the site.
    fn leaves_without(&self, site: SiteRef) -> Vec<usize> {
        let facts = self.program.facts(site.file);
        let at = facts.site(site.site).at;
        let body = facts.body_of(at);
        let params = facts.params_of(body);
        let param = |form: FormId| match facts.form(form) {
            Form::Var(var) => params.iter().position(|param| param.name == facts.var(var).name),
            _ => None,
        };
        let none_of = |test: FormId| -> Option<Vec<usize>> {
            let Form::Alt(AltKind::And, list) = facts.form(test) else { return None };
            let absent = |part: FormId| match facts.form(part) {
                Form::Compare(Comparison::Is, subject, none) if facts.form(none) == Form::None => param(subject),
                _ => None,
            };
            facts.list(list).iter().map(|&part| absent(part)).collect()
        };
        facts
            .exits
            .iter()
            .filter(|exit| {
                exit.kind == ExitKind::Return && facts.body_of(exit.at) == body && exit.at.position < at.position
            })
            .find_map(|exit| none_of(facts.region(exit.at.region.get()?).test))
            .unwrap_or_default()
    }

    /// Whether the function of a site makes a value of named parts, none of them one of these, and the rest by default.
    fn makes_the_rest_by_default(&self, site: SiteRef, parts: &[&str]) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        let body = facts.body_of(row.at);
        let mut made = facts.sites.iter().enumerate().filter(|(_, made)| {
            made.kind == SiteKind::New && facts.body_of(made.at) == body && made.span.start <= row.span.end
        });
        // The last one that is made before the call, or in it.
        let mut nearest = None;
        for (at, _) in made.by_ref() {
            let site = blocklint_facts::SiteId(at as u32);
            if facts.args_of(site).iter().any(|argument| is_default(facts, argument.value)) {
                nearest = Some(site);
            }
        }
        nearest
            .is_some_and(|site| !facts.args_of(site).iter().any(|argument| parts.contains(&facts.text(argument.name))))
    }
}

/// Whether a form is the rest of a value that is made by `default`.
fn is_default(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::StarStar(rest) => {
            matches!(facts.form(rest), Form::Result(made) if facts.text(facts.site(made).name) == "default")
        }
        _ => false,
    }
}
