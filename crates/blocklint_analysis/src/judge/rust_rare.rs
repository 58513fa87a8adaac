//! Rust: what is done hardly ever, or by nobody who waits: behind what is kept by its key already, in a search that ends at
//! its first hit, by an actor, where a program looks into itself, and in a library's copy.

use blocklint_facts::{
    AltKind, BodyId, ClassKind, Comparison, ExitKind, Form, FormId, RegionId, RegionKind, SiteId, SuppressionKind,
    VarId, VarKind,
};

use crate::code::forms::{last_name, mentions};
use crate::code::regions::touches;
use crate::code::regions::{around, lies_in};
use crate::graph::Way;
use crate::link::Link;
use crate::link::names::rust;
use crate::link::value::{EnvId, Val};
use crate::program::folders;
use crate::program::ids::{BodyRef, FileId, SiteRef};

/// How deep a form is looked into.
const DEPTH: u32 = 6;

/// Words of folders and crates in which a program measures itself.
const MEASURES_ITSELF: &[&str] = &["prof", "pprof", "profiler", "profiling"];

/// Folders of libraries that were copied into a project.
const COPIES: &[&str] = &["vendor", "vendored", "third_party", "third-party"];

/// Words for putting something in place of something else.
const CHANGES: &[&str] = &["update", "set", "apply", "change", "replace", "reload"];

/// Words for what somebody who runs a program chooses.
const CONFIGURATION: &[&str] = &["config", "configuration"];

/// Beginnings of the names of methods that put something where it is kept.
const KEEPS: &[&str] = &["set", "insert", "put", "store", "get_or_init"];

/// Traits whose types do their work one message after the other, behind the requests.
const ACTORS: &[&str] = &["Actor"];

impl Link<'_> {
    /// Whether a file is of a library's copy: who finds something there tells the library's authors.
    pub(crate) fn is_of_copy(&self, file: FileId) -> bool {
        folders(&self.program.files[file.index()].relative).any(|folder| COPIES.contains(&folder))
    }

    /// Whether a file is of the part of a program that measures the program itself: its developers ask for that.
    pub(crate) fn measures_itself(&self, file: FileId) -> bool {
        folders(&self.program.files[file.index()].relative)
            .any(|folder| folder.split(['-', '_']).any(|word| MEASURES_ITSELF.contains(&word)))
    }

    /// Whether a function puts a new configuration in place of the old one, by its name: somebody who runs the program asks
    /// for that, now and then.
    pub(crate) fn configures_anew(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let name = facts.text(facts.body(body.body).name);
        name.split_once('_').is_some_and(|(verb, noun)| CHANGES.contains(&verb) && CONFIGURATION.contains(&noun))
    }

    /// Whether the author of a call on a way says beside it that it holds its thread on purpose, or briefly enough.
    pub(crate) fn is_meant(&self, ways: &[Way]) -> bool {
        ways.iter().any(|way| {
            let facts = self.program.facts(way.site.file);
            let span = facts.site(way.site.site).span;
            let mut comments = facts.suppressions.iter();
            comments.any(|comment| comment.kind == SuppressionKind::Meant && touches(comment.line, span))
        })
    }

    /// Whether a method's type is an actor's.
    pub(crate) fn is_of_actor(&self, body: BodyRef) -> bool {
        if !ACTORS.iter().any(|name| self.program.name(name).is_some()) {
            return false;
        }
        let Some(class) = self.class_around(body.file, body.body) else { return false };
        let own = rust::subject(self, class).unwrap_or(class);
        self.impls(own).into_iter().any(|block| {
            let facts = self.program.facts(block.file);
            let mut names =
                facts.list(facts.class(block.class).bases).iter().filter_map(|&base| last_name(facts, base));
            names.any(|name| ACTORS.contains(&facts.text(name)))
        })
    }

    /// Whether a call of a way is only made where nothing is kept yet under a key that its function is given:
    /// `if let Some(found) = kept.get(&key) { return found; }`. It is paid for once with each key.
    pub(crate) fn is_kept_by_key(&self, ways: &[Way]) -> bool {
        ways.iter().any(|way| self.is_behind_kept(way.site, true))
    }

    /// The same where the object itself keeps one value of it. How often the object is made is not seen.
    pub(crate) fn is_kept_by_object(&self, ways: &[Way]) -> bool {
        ways.iter().any(|way| self.is_behind_kept(way.site, false))
    }

    fn is_behind_kept(&self, site: SiteRef, by_key: bool) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        let body = facts.body_of(row.at);
        around(facts, row.at.region).any(|id| {
            let Some(asked) = self.found_nothing(site.file, id) else { return false };
            let Some(lookup) = looked_up(facts.form(asked), &|form| facts.form(form)) else { return false };
            let is_key = |form: Form| match form {
                Form::Var(var) => {
                    let var = facts.var(var);
                    var.body == body && matches!(var.kind, VarKind::Param(index) if index > 0)
                }
                _ => false,
            };
            let has_key = || facts.args_of(lookup).iter().any(|arg| mentions(facts, arg.value, DEPTH, &is_key));
            let is_kept = if by_key { has_key() } else { self.keeps_what_it_makes(site.file, body, lookup) };
            is_kept && self.gives_what_is_found(site.file, body, asked)
        })
    }

    /// Whether what an object is asked for is put into it in the same function: `match self.kept() { Some(found) => found,
    /// None => { let made = make(); self.set_kept(made.clone()); made } }`.
    fn keeps_what_it_makes(&self, file: FileId, body: BodyId, lookup: SiteId) -> bool {
        let facts = self.program.facts(file);
        let is_own = |form: Form| matches!(form, Form::Var(var) if facts.text(facts.var(var).name) == "self");
        let asked = facts.site(lookup);
        let by_call = || {
            facts.sites.iter().any(|row| {
                let name = facts.text(row.name);
                facts.body_of(row.at) == body
                    && row.span.start > asked.span.end
                    && KEEPS.iter().any(|start| name.starts_with(start))
                    && mentions(facts, row.callee, DEPTH, &is_own)
            })
        };
        let by_assignment = || {
            facts.assigns.iter().any(|row| {
                facts.body_of(row.at) == body
                    && row.span.start > asked.span.end
                    && matches!(facts.form(row.target), Form::Attr(base, _) if is_own(facts.form(base)))
            })
        };
        mentions(facts, asked.callee, DEPTH, &is_own) && (by_call() || by_assignment())
    }

    /// What a branch has asked for and not found: `None => …`, the rest after `if let Some(…) = … { return … }`.
    fn found_nothing(&self, file: FileId, id: RegionId) -> Option<FormId> {
        let facts = self.program.facts(file);
        let region = facts.region(id);
        let (test, holds) = match region.kind {
            RegionKind::Case => (region.test, true),
            _ => self.test_of(file, id)?,
        };
        if test.is_none() {
            return None;
        }
        match facts.form(test) {
            Form::Compare(Comparison::Is, asked, none) if holds && facts.form(none) == Form::None => Some(asked),
            Form::Compare(Comparison::IsNot, asked, none) if !holds && facts.form(none) == Form::None => Some(asked),
            _ => None,
        }
    }

    /// Whether a function gives what was found as it is: `Some(found) => Ok(found)`.
    fn gives_what_is_found(&self, file: FileId, body: BodyId, asked: FormId) -> bool {
        let facts = self.program.facts(file);
        let is_found = |var: VarId| {
            facts.var(var).body == body
                && facts.assigns_of(var).any(|assign| match facts.form(assign.value) {
                    Form::Field(of, _) | Form::Part(of, _) => facts.form(of) == facts.form(asked) || of == asked,
                    _ => false,
                })
        };
        facts.exits.iter().any(|exit| {
            let kind = exit.kind == ExitKind::Return && facts.body_of(exit.at) == body && exit.value.is_some();
            kind && mentions(facts, exit.value, DEPTH, &|form| matches!(form, Form::Var(var) if is_found(var)))
        })
    }

    /// How many variants the enum has that a test compares with one of: `if language == Language::Hip`.
    pub(crate) fn variants_beside(&self, site: SiteRef, test: FormId) -> usize {
        let facts = self.program.facts(site.file);
        let parts = match facts.form(test) {
            Form::Alt(AltKind::And, list) => facts.list(list),
            _ => std::slice::from_ref(&test),
        };
        parts.iter().map(|&part| self.variants_compared(site, part)).max().unwrap_or_default()
    }

    fn variants_compared(&self, site: SiteRef, test: FormId) -> usize {
        let facts = self.program.facts(site.file);
        let Form::Compare(Comparison::Eq, left, right) = facts.form(test) else { return 0 };
        let base = match (facts.form(left), facts.form(right)) {
            (Form::Path(base, _), _) | (_, Form::Path(base, _)) => base,
            _ => return 0,
        };
        let typed = self.eval(self.scope_of(site, EnvId::NONE), base);
        match self.values.members(typed.value)[..] {
            [Val::Class(class)] => {
                let facts = self.program.facts(class.file);
                let row = facts.class(class.class);
                let variants = || facts.vars.iter().filter(|var| var.body == row.body).count();
                if row.kind == ClassKind::Enum { variants() } else { 0 }
            }
            _ => 0,
        }
    }

    /// Whether a site is the test of a branch by which a loop's function is left with what was found: the loop goes on to
    /// the first hit alone.
    pub(crate) fn ends_search(&self, site: SiteRef, within: RegionId) -> bool {
        let facts = self.program.facts(site.file);
        let body = facts.region(within).body;
        facts.exits.iter().any(|exit| {
            let inside = exit.kind == ExitKind::Return
                && facts.body_of(exit.at) == body
                && lies_in(facts, exit.at.region, within);
            inside
                && around(facts, exit.at.region).any(|id| {
                    let region = facts.region(id);
                    region.kind == RegionKind::Then
                        && region.test.is_some()
                        && facts.form(region.test) == Form::Result(site.site)
                })
        })
    }
}

/// The call that a form is, behind `?`.
fn looked_up(form: Form, inner: &dyn Fn(FormId) -> Form) -> Option<SiteId> {
    match form {
        Form::Result(site) => Some(site),
        Form::Try(of) => looked_up(inner(of), inner),
        _ => None,
    }
}
