//! Rust: what is only done for those who ask for it, by a caller who does not: `Query { ids, ..Query::default() }`, and far
//! below `match (&after, &before) { (None, None) => return Ok(()), … }`.

use blocklint_facts::{AltKind, Comparison, ExitKind, FileFacts, Form, FormId, SiteId, SiteKind};

use crate::graph::Way;
use crate::link::Link;
use crate::link::value::{EnvId, Val};
use crate::program::ids::SiteRef;

impl Link<'_> {
    /// Whether the last call of a way is not reached where none of some parameters of its function is given, and the way's
    /// first function makes what is asked for without naming any of them, the rest by default.
    pub(crate) fn asks_for_none_of(&self, ways: &[Way]) -> bool {
        let [first, rest @ ..] = ways else { return false };
        if rest.iter().any(|way| self.is_for_part_left_out(way.site, first.site)) {
            return true;
        }
        let [.., before, last] = rest else { return false };
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

    /// Whether a site stands where an optional part of what is asked for is there, `if let Some(by) = by { … }`, which the
    /// function of the first site leaves out of what it makes.
    fn is_for_part_left_out(&self, site: SiteRef, first: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        self.tests_over(site).any(|(test, holds)| {
            let subject = match facts.form(test) {
                Form::Compare(Comparison::IsNot, subject, none) if holds && facts.form(none) == Form::None => subject,
                _ => return false,
            };
            let part = match facts.form(subject) {
                Form::Var(var) => facts.text(facts.var(var).name),
                Form::Attr(_, sym) => facts.text(sym),
                _ => return false,
            };
            self.makes_the_rest_by_default(first, &[part]) && self.made_by_default_has(first, part)
        })
    }

    /// Whether the value that the function of a site makes last, the rest of it by default, has a part of this name.
    fn made_by_default_has(&self, site: SiteRef, part: &str) -> bool {
        let Some(name) = self.program.name(part) else { return false };
        self.made_by_default(site).is_some_and(|made| {
            let made = SiteRef { file: site.file, site: made };
            self.values.members(self.callee(made, EnvId::NONE).value).iter().any(|val| match *val {
                Val::Class(class) => self.own_member(class, name).is_some(),
                _ => false,
            })
        })
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
        self.made_by_default(site)
            .is_some_and(|site| !facts.args_of(site).iter().any(|argument| parts.contains(&facts.text(argument.name))))
    }

    /// The value that the function of a site makes last before it, or in it, some parts named and the rest by default.
    fn made_by_default(&self, site: SiteRef) -> Option<SiteId> {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        let body = facts.body_of(row.at);
        let is_made = |made: &blocklint_facts::Site, at: SiteId| {
            made.kind == SiteKind::New
                && facts.body_of(made.at) == body
                && made.span.start <= row.span.end
                && facts.args_of(at).iter().any(|argument| is_default(facts, argument.value))
        };
        let mut sites = facts.sites.iter().enumerate().map(|(at, made)| (SiteId(at as u32), made));
        sites.rfind(|(at, made)| is_made(made, *at)).map(|(at, _)| at)
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
