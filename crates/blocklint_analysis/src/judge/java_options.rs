//! Java: calls that are made only where somebody opted in, where another branch hands the same call to a worker, or where what is
//! looked for is not there yet.

use blocklint_core::{Context, Language};
use blocklint_facts::{
    AltKind, BodyId, BodyKind, Comparison, ExitKind, FileFacts, Form, FormId, RegionId, RegionKind, Sym,
};

use smallvec::SmallVec;

use crate::code::forms::field_of;
use crate::code::regions::{around, is_beside};
use crate::conditions::branches::answer;
use crate::entries::callers::Caller;
use crate::labels::constant::Constant;
use crate::labels::label::{Guard, Question};
use crate::link::Link;
use crate::link::names::java;
use crate::link::rows::Shown;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use crate::program::index::Mention;

impl<'a> Link<'a> {
    /// The regions around a call, those around the literal that it stands in too, inner ones first.
    pub(crate) fn regions_outward(&self, site: SiteRef) -> SmallVec<[RegionId; 8]> {
        /// Literals within literals.
        const DEEPEST: u32 = 4;
        let facts = self.program.facts(site.file);
        let mut at = facts.site(site.site).at;
        let mut found = SmallVec::new();
        for _ in 0..DEEPEST {
            found.extend(around(facts, at.region));
            let body = facts.body_of(at);
            if facts.body(body).kind != BodyKind::Lambda {
                break;
            }
            let uses = self.program.index_of(site.file).uses_of_callable(body);
            let taker = uses.iter().find_map(|(mention, _)| match mention {
                Mention::Arg(taker, _) => Some(taker),
                _ => None,
            });
            let Some(taker) = taker else { break };
            at = facts.site(taker).at;
        }
        found
    }

    /// Whether a wait is for what a field has only while something goes on: `if (latch != null) { latch.await(); }`, where
    /// another method sets the field to nothing.
    pub(crate) fn waits_while_something_goes_on(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let Some(field) = self.receiver_form(site).and_then(|of| field_of(facts, of)) else { return false };
        let is_asked = around(facts, facts.site(site.site).at.region).any(|id| {
            let region = facts.region(id);
            region.kind == RegionKind::Then
                && region.test.get().is_some_and(|test| match facts.form(test) {
                    Form::Compare(Comparison::NotEq, left, right) => {
                        field_of(facts, left) == Some(field) && facts.form(right) == Form::None
                    }
                    _ => false,
                })
        });
        is_asked
            && facts.assigns.iter().any(|row| {
                row.target.is_some()
                    && row.value.is_some()
                    && field_of(facts, row.target) == Some(field)
                    && facts.form(row.value) == Form::None
                    && facts.body(facts.body_of(row.at)).kind == BodyKind::Function
            })
    }

    /// Whether nobody but tests names a class outside of its own file, nor marks it for a container: whoever makes it asks a
    /// setting for its name.
    pub(crate) fn is_made_by_name(&self, class: ClassRef) -> bool {
        let facts = self.program.facts(class.file);
        let row = facts.class(class.class);
        let Some(name) = self.program.global(class.file, row.name) else { return false };
        facts.language == Language::Java
            && row.decorators.is_empty()
            && row.parent == BodyId(0)
            && !self.program.occurrences(name).iter().any(|&(file, _)| {
                file != class.file && self.program.language(file) == Language::Java && !self.program.is_test(file)
            })
    }

    /// Whether a call is one that the other branch of a test hands to a worker:
    /// `if (isLong(text)) { executeBlocking(() -> hash(text)); } else { hash(text); }`.
    pub(crate) fn is_handed_over_else(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        around(facts, row.at.region).any(|id| {
            matches!(facts.region(id).kind, RegionKind::Then | RegionKind::Else)
                && facts.sites.iter().any(|other| {
                    let body = facts.body_of(other.at);
                    other.name == row.name
                        && facts.body(body).kind == BodyKind::Lambda
                        && self.program.index_of(site.file).uses_of_callable(body).iter().any(|(mention, _)| {
                            let Mention::Arg(taker, arg) = mention else { return false };
                            is_beside(facts, id, facts.site(taker).at.region) && {
                                let handed = self.passing(SiteRef { site: taker, ..site }, arg, EnvId::NONE).handed;
                                handed.iter().any(|&(place, _)| place == Context::Worker)
                            }
                        })
                })
        })
    }

    /// Whether a call stands in a literal that runs where an object has a part which it may lack:
    /// `maybeName.map(name -> resolve(name))` of a field.
    pub(crate) fn is_of_optional_part(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let body = facts.body_of(facts.site(site.site).at);
        if facts.body(body).kind != BodyKind::Lambda {
            return false;
        }
        self.program.index_of(site.file).uses_of_callable(body).iter().any(|(mention, _)| {
            let Mention::Arg(taker, _) = mention else { return false };
            let taker = SiteRef { site: taker, ..site };
            let Some(of) = self.receiver_form(taker) else { return false };
            if !java::RUNS_ON_PART.contains(&facts.text(facts.site(taker.site).name)) || field_of(facts, of).is_none() {
                return false;
            }
            let typed = self.eval(self.scope_of(taker, EnvId::NONE), of);
            self.values.members(typed.value).into_iter().any(|val| match val {
                Val::Library { ty, .. } => *self.library.text(ty) == *java::OPTIONAL,
                _ => false,
            })
        })
    }

    /// Whether a test asks for a flag that an object only ever takes from what it is told: `this.forced = context.isForced();`.
    pub(crate) fn asks_for_kept_setting(&self, file: FileId, test: FormId) -> bool {
        let facts = self.program.facts(file);
        match facts.form(test) {
            Form::Alt(AltKind::And, list) => {
                facts.list(list).iter().any(|&part| self.asks_for_kept_setting(file, part))
            }
            _ => field_of(facts, test).is_some_and(|flag| self.is_kept_setting(file, flag)),
        }
    }

    fn is_kept_setting(&self, file: FileId, flag: Sym) -> bool {
        let facts = self.program.facts(file);
        let mut any = false;
        for row in facts.assigns.iter().filter(|row| row.value.is_some() && row.target.is_some()) {
            if field_of(facts, row.target) != Some(flag) {
                continue;
            }
            let asks = match facts.form(row.value) {
                Form::Result(call) => {
                    let of = self.receiver_form(SiteRef { file, site: call });
                    facts.args_of(call).is_empty()
                        && java::asks_if_wanted(facts.text(facts.site(call).name))
                        && of.is_some_and(|of| facts.form(of) != Form::This)
                }
                Form::Bool(false) => continue,
                _ => false,
            };
            if !asks {
                return false;
            }
            any = true;
        }
        any
    }

    /// Whether a call stands where something is not there yet, and so makes it: `if (!file.exists()) { copy(source, file); }`.
    pub(crate) fn is_made_where_it_lacks(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return false;
        }
        around(facts, facts.site(site.site).at.region).any(|id| {
            let region = facts.region(id);
            let asked = match (region.kind, region.test.get().map(|test| facts.form(test))) {
                (RegionKind::Then, Some(Form::Not(inner))) => facts.form(inner),
                (RegionKind::Else, Some(test)) => test,
                _ => Form::None,
            };
            matches!(asked, Form::Result(call) if java::asks_if_there(facts.text(facts.site(call).name)))
        })
    }

    /// Whether a loop ends where a call that it asks says so: it looks for the first of a few that is there.
    pub(crate) fn ends_loop(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let here = facts.site(site.site).at;
        facts.regions.iter().enumerate().any(|(at, region)| {
            region.kind == RegionKind::Then
                && region.parent == here.region
                && region.test.get().is_some_and(|test| asks(facts, test, site))
                && facts.exits.iter().any(|exit| {
                    exit.kind == ExitKind::Return && exit.at.region.get().is_some_and(|of| of.index() == at)
                })
        })
    }

    /// Java: whether what a caller passes is a setting that fails a condition unless somebody sets it:
    /// `send(message, url.getParameter("sent", false))`.
    pub(crate) fn fails_by_default(&self, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
        let facts = self.program.facts(caller.site.file);
        let Question::Choice(choice) = &*guard.question else { return false };
        if facts.language != Language::Java || guard.asked.is_some() || caller.arg.is_some() {
            return false;
        }
        let Some(form) = self.passed_with(caller.site, body, guard.param, caller.with_receiver) else { return false };
        let Form::Result(call) = facts.form(form) else { return false };
        let args = facts.args_of(call);
        let Some(Form::Bool(default)) = args.iter().last().map(|arg| facts.form(arg.value)) else { return false };
        args.len() == 2
            && java::is_getter(facts.text(facts.site(call).name))
            && match answer(choice, &Constant::Bool(default)) {
                Shown::Yes => !guard.wanted,
                Shown::No => guard.wanted,
                Shown::Param(_) | Shown::Hidden => false,
            }
    }

    /// Whether a getter reads the field of its name: `it.getFuture()` and `it.future`.
    pub(crate) fn reads_same(&self, file: FileId, a: FormId, b: FormId) -> bool {
        let facts = self.program.facts(file);
        let (Form::Attr(of, name), Form::Result(call)) = (facts.form(a), facts.form(b)) else { return false };
        let Form::Attr(from, getter) = facts.form(facts.site(call).callee) else { return false };
        facts.args_of(call).is_empty()
            && java::is_getter_of(facts.text(getter), facts.text(name))
            && crate::link::completed::is_same(facts, of, from)
    }
}

/// Whether a test asks a call, alone or as one of several that must all hold.
fn asks(facts: &FileFacts, test: FormId, site: SiteRef) -> bool {
    match facts.form(test) {
        Form::Result(call) => call == site.site,
        Form::Alt(AltKind::And, list) => facts.list(list).iter().any(|&part| asks(facts, part, site)),
        _ => false,
    }
}
