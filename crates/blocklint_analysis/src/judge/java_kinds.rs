//! Java: calls that are made for one kind of many: texts that begin as a list says, values of one type among those that a field takes.

use blocklint_facts::{
    AltKind, Assign, AssignKind, BodyKind, Comparison, ExitKind, FileFacts, Form, FormId, Sym, VarId, VarKind,
};

use crate::code::forms::field_of;
use crate::idioms;
use crate::link::Link;
use crate::link::eval::Scope;
use crate::link::names::{self, StringEnd};
use crate::link::targets::Target;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, FileId, SiteRef};

impl<'a> Link<'a> {
    /// Whether a test around a call, or around the literal that it stands in, says that it is made for one kind of many.
    pub(crate) fn is_for_one_kind(&self, site: SiteRef) -> bool {
        let mut tests = self.regions_outward(site).into_iter().filter_map(|id| self.test_of(site.file, id));
        tests.any(|(test, holds)| {
            self.says_begins(site.file, test, holds)
                || self.says_other_kind(site, test, holds)
                || self.says_part_lacks(site, test, holds)
        })
    }

    /// Whether a method has said that a text begins as one of a list: `if (!isIndexed(path)) return; store(path);`. Those are few of
    /// all texts.
    fn says_begins(&self, file: FileId, test: FormId, holds: bool) -> bool {
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Not(inner) => self.says_begins(file, inner, !holds),
            Form::Alt(AltKind::And, list) if holds => {
                facts.list(list).iter().any(|&part| self.says_begins(file, part, true))
            }
            Form::Alt(AltKind::Or, list) if !holds => {
                facts.list(list).iter().any(|&part| self.says_begins(file, part, false))
            }
            Form::Result(call) if holds && facts.args_of(call).len() == 1 => {
                match self.targets(SiteRef { file, site: call }, EnvId::NONE).list[..] {
                    [Target::Body { body, .. }] => self.looks_for_beginning(body),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether a method gives true only where its parameter begins with one of what a field of its class lists:
    /// `for (String start : STARTS) { if (path.startsWith(start)) return true; } return false;`.
    fn looks_for_beginning(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let exits = facts.exits.iter().filter(|exit| exit.kind == ExitKind::Return && exit.value.is_some());
        let mut any = false;
        for exit in exits.filter(|exit| facts.body_of(exit.at) == body.body) {
            match facts.form(exit.value) {
                Form::Bool(false) => {}
                Form::Bool(true) => {
                    let mut tests = self.tests_at(body.file, exit.at.region);
                    if !tests.any(|(test, holds)| holds && self.begins_as_listed(body, test)) {
                        return false;
                    }
                    any = true;
                }
                _ => return false,
            }
        }
        any
    }

    /// Whether a test is `parameter.startsWith(element)` of a field's list, whose literals are no paths from the root.
    fn begins_as_listed(&self, body: BodyRef, test: FormId) -> bool {
        let facts = self.program.facts(body.file);
        let Form::Result(call) = facts.form(test) else { return false };
        let row = facts.site(call);
        let Form::Attr(subject, _) = facts.form(row.callee) else { return false };
        let is_param = match facts.form(subject) {
            Form::Var(var) => matches!(facts.var(var).kind, VarKind::Param(_)) && facts.var(var).body == body.body,
            _ => false,
        };
        let [only] = facts.args_of(call)[..] else { return false };
        let Form::Var(element) = facts.form(only.value) else { return false };
        is_param
            && names::asks_for_end(facts.language, facts.text(row.name)) == Some(StringEnd::First)
            && list_of(facts, element).is_some_and(|list| !begins_at_root(facts, list))
    }

    /// Whether a field holds a value of one type, which takes others first of all: `Object content = EMPTY;`,
    /// `if (content instanceof File) { … }`.
    fn says_other_kind(&self, site: SiteRef, test: FormId, holds: bool) -> bool {
        let facts = self.program.facts(site.file);
        match facts.form(test) {
            Form::Compare(Comparison::Is, subject, _) if holds => {
                field_of(facts, subject).is_some_and(|field| self.takes_others(site, field))
            }
            _ => false,
        }
    }

    /// Whether a class lacks a part that its constructors take: `if (store == null) { write(file); return; }`.
    fn says_part_lacks(&self, site: SiteRef, test: FormId, holds: bool) -> bool {
        let facts = self.program.facts(site.file);
        match facts.form(test) {
            Form::Compare(comparison @ (Comparison::Eq | Comparison::NotEq), left, right)
                if facts.form(right) == Form::None && (comparison == Comparison::Eq) == holds =>
            {
                field_of(facts, left).is_some_and(|field| self.is_given_when_made(site, field))
            }
            _ => false,
        }
    }

    /// Whether a field is set by constructors alone, to what they are given for a part of the project's own types.
    fn is_given_when_made(&self, site: SiteRef, field: Sym) -> bool {
        let facts = self.program.facts(site.file);
        let mut given = self.assigns_of_field(site, field).filter(|row| row.value.is_some()).peekable();
        given.peek().is_some()
            && given.all(|row| {
                let Form::Var(var) = facts.form(row.value) else { return false };
                let typed = || self.eval(Scope { file: site.file, at: row.at, env: EnvId::NONE }, row.value);
                matches!(facts.var(var).kind, VarKind::Param(_))
                    && names::is_constructor(facts.language, facts.text(facts.body(facts.body_of(row.at)).name))
                    && self.values.members(typed().value).iter().any(|val| matches!(val, Val::Instance { .. }))
            })
    }

    /// Whether a field that may be anything is made with a value, and is given others by several methods.
    fn takes_others(&self, site: SiteRef, field: Sym) -> bool {
        /// Methods that give one a value.
        const SEVERAL: usize = 3;
        let facts = self.program.facts(site.file);
        let is_anything =
            self.assigns_of_field(site, field).any(|row| match row.annotation.get().map(|form| facts.form(form)) {
                Some(Form::Name(name)) => facts.text(name) == idioms::java::ANYTHING,
                _ => false,
            });
        let (given, made): (Vec<Assign>, Vec<Assign>) = self
            .assigns_of_field(site, field)
            .filter(|row| row.value.get().is_some_and(|value| facts.form(value) != Form::None))
            .partition(|row| facts.body(facts.body_of(row.at)).kind == BodyKind::Function);
        is_anything && !made.is_empty() && given.len() >= SEVERAL
    }

    /// What is assigned to a field of the class that a site stands in.
    fn assigns_of_field(&self, site: SiteRef, field: Sym) -> impl Iterator<Item = Assign> {
        let facts = self.program.facts(site.file);
        let class = self.class_of_site(site);
        // What stands beside its declaration stands in the body of the class.
        let own = class.map(|class| facts.class(class.class).body);
        facts.assigns.iter().filter(move |row| {
            row.kind != AssignKind::Definition
                && row.target.is_some()
                && field_of(facts, row.target) == Some(field)
                && {
                    let body = facts.body_of(row.at);
                    Some(body) == own || self.class_around(site.file, body) == class
                }
        })
    }
}

/// What a loop's variable goes through, where that is a field with one value.
fn list_of(facts: &FileFacts, element: VarId) -> Option<FormId> {
    let only = facts.only_value_of(element)?;
    let Form::Element(iterated) = facts.form(only.value) else { return None };
    let Form::Var(list) = facts.form(iterated) else { return None };
    let is_field = facts.body(facts.var(list).body).kind == BodyKind::Class;
    facts.only_value_of(list).filter(|_| is_field).map(|row| row.value)
}

/// Whether a text in a written list is a path from the root, as most requests have.
fn begins_at_root(facts: &FileFacts, list: FormId) -> bool {
    let is_path = |form: FormId| matches!(facts.form(form), Form::Str(text) if facts.text(text).starts_with('/'));
    match facts.form(list) {
        Form::Result(call) => facts.args_of(call).iter().any(|arg| is_path(arg.value)),
        Form::Display(_, list) => facts.list(list).iter().any(|&part| is_path(part)),
        _ => true,
    }
}
