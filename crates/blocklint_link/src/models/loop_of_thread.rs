//! Futures of an event loop that another thread runs. To wait for one holds the thread that waits, but the loop goes on: only on the
//! loop's own thread such a wait never ends (Python).

use blocklint_core::{Context, Effect, Language};
use blocklint_facts::{Form, FormId, SiteKind, VarId};

use crate::classes::hierarchy::Ancestor;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef};
use crate::program::occurrences::is_own_receiver;
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The variable or field that holds an event loop.
#[derive(Clone, Copy, Debug)]
enum LoopHolder {
    Var(FileId, VarId, Name),
    Field(ClassRef, Name),
}

impl Linker<'_> {
    /// True if the receiver of a call is a future of an event loop that a thread of its own runs:
    /// `run_coroutine_threadsafe(ask(), self.loop).result()`, `Thread(target=self.loop.run_forever)`.
    pub(crate) fn waits_for_loop_of_another_thread(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Python {
            return false;
        }
        let future = match self.receiver_form(site).map(|form| facts.form(form)) {
            Some(Form::Var(var)) => facts.only_value_of(var).map(|only| facts.form(only.value)),
            future => future,
        };
        let Some(Form::Result(made)) = future else { return false };
        let made = site.file.site_ref(made);
        let scope = self.scope_of(made, EnvId::NONE);
        self.program.args_of(made).iter().any(|arg| self.is_run_by_a_thread(scope, arg.value))
    }

    fn loop_holder(&self, scope: Scope, form: FormId) -> Option<LoopHolder> {
        let facts = self.program.facts(scope.file);
        match facts.form(form) {
            Form::Var(var) => {
                let name = self.program.global(scope.file, facts.var(var).name)?;
                Some(LoopHolder::Var(scope.file, var, name))
            }
            Form::Attr(owner, sym) => {
                let name = self.program.global(scope.file, sym)?;
                let class = match is_own_receiver(facts, owner) {
                    true => self.class_around(scope.file.body_ref(facts.body_of(scope.at))),
                    false => match self.values.members(self.eval(scope, owner).value)[..] {
                        [Val::Instance { class, .. } | Val::Class(class)] => Some(class),
                        _ => None,
                    },
                };
                class.map(|class| LoopHolder::Field(class, name))
            }
            _ => None,
        }
    }

    /// True if a form is an object whose method that runs an event loop is run by a thread.
    fn is_run_by_a_thread(&self, scope: Scope, form: FormId) -> bool {
        let Some(holder) = self.loop_holder(scope, form) else { return false };
        let (LoopHolder::Var(_, _, name) | LoopHolder::Field(_, name)) = holder;
        self.program.occurrences(name).iter().any(|&(file, _)| {
            let facts = self.program.facts(file);
            (0..facts.sites.len() as u32).map(|at| file.site_ref(blocklint_facts::SiteId(at))).any(|site| {
                let row = self.program.site(site);
                if !matches!(row.kind, SiteKind::Call) {
                    return false;
                }
                let runs = |method: FormId| self.is_loop_run(site, method, holder);
                let is_handed = |(at, arg): (usize, &blocklint_facts::Arg)| {
                    runs(arg.value) && self.is_handed_to_a_thread(site, at as u32)
                };
                self.program.args_of(site).iter().enumerate().any(is_handed)
                    || runs(row.callee) && self.is_run_on_a_thread(self.program.body_of_site(site))
            })
        })
    }

    /// True if a form is the method of a held object that runs an event loop on the thread that calls it: `self.loop.run_forever`.
    fn is_loop_run(&self, site: SiteRef, method: FormId, holder: LoopHolder) -> bool {
        let facts = self.program.facts(site.file);
        let Form::Attr(of, _) = facts.form(method) else { return false };
        let is_held = match (holder, facts.form(of)) {
            (LoopHolder::Var(file, var, _), Form::Var(of)) => file == site.file && var == of,
            (LoopHolder::Field(class, name), Form::Attr(owner, sym)) => {
                let related = |own: ClassRef| self.is_subclass(own, class) || self.is_subclass(class, own);
                self.program.global(site.file, sym) == Some(name)
                    && is_own_receiver(facts, owner)
                    && self.class_around(self.program.body_of_site(site)).is_some_and(related)
            }
            _ => false,
        };
        is_held
            && self.values.members(self.eval(self.scope_of(site, EnvId::NONE), method).value).iter().any(|val| {
                let Val::Method { path, .. } = *val else { return false };
                self.library.calls(path).effect().any(|row| row.held_effect() == Some(Effect::NestedLoop))
            })
    }

    fn is_handed_to_a_thread(&self, site: SiteRef, arg: u32) -> bool {
        self.argument_use(site, arg, EnvId::NONE).handed.iter().any(|&(context, _)| context == Context::Worker)
    }

    /// True if a thread is given a function, or one around it, or runs it as a method of its own.
    fn is_run_on_a_thread(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let is_given =
            || self.sites_passing_body(body).into_iter().any(|(site, arg)| self.is_handed_to_a_thread(site, arg));
        let is_method_of_thread = || {
            let Some(class) = row.class.get() else { return false };
            self.mro(body.file.class_ref(class)).iter().any(|ancestor| {
                let Ancestor::Library(ty, _) = *ancestor else { return false };
                let method = self.library.member(ty, facts.text(row.name));
                self.library.handovers(method).iter().any(|row| row.context.fixed() == Some(Context::Worker))
            })
        };
        row.parent.get().is_some() && (is_given() || is_method_of_thread())
    }
}
