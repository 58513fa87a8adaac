//! Java: classes whose objects run on worker threads only, because each object is passed to a call that runs it there:
//! `router.get().blockingHandler(new Rates())`. The deployment of verticles is in `deployment.rs`.

use blocklint_core::Context;
use blocklint_facts::{BodyKind, Form, SiteId, SiteKind};

use crate::linker::Linker;
use crate::program::ids::{ClassRef, FileId};
use crate::program::occurrences::Mention;
use crate::reactive::BodyUse;
use crate::values::value::{EnvId, Val};

impl Linker<'_> {
    /// True if each known instance of a class is passed to a call that runs it on a worker thread, or to the
    /// constructor of another class of the project, which then calls it: `router.get().blockingHandler(new Rates())`.
    pub(crate) fn is_passed_to_workers(&self, class: ClassRef) -> bool {
        let (facts, class_id) = self.program.facts_and_id(class);
        if facts.text(self.program.class(class).name).is_empty() {
            let mut creations = facts.sites.iter().enumerate().filter(|(_, site_facts)| {
                site_facts.kind == SiteKind::New && facts.form(site_facts.callee) == Form::Class(class_id)
            });
            let index = self.program.index_of(class.file);
            return creations.next().is_some_and(|(index_of_site, _)| {
                let uses = index.uses_of_result(SiteId(index_of_site as u32));
                let mut uses = uses.iter().peekable();
                uses.peek().is_some() && uses.all(|(mention, _)| self.is_use_on_workers(class.file, mention))
            });
        }
        let Some(name) = self.program.global(class.file, self.program.class(class).name) else { return false };
        let mut has_instance = false;
        for &(file, sym) in self.program.occurrences(name) {
            if self.program.is_test(file) {
                continue;
            }
            let index = self.program.index_of(file);
            let creations = index.sites_named(sym).iter().filter(|&&site| {
                self.program.facts(file).site(site).kind == SiteKind::New
                    && self.values.members(self.callee(file.site_ref(site), EnvId::NONE).value)[..]
                        == [Val::Class(class)]
            });
            for &site in creations {
                has_instance = true;
                // The methods of an object that a deployed verticle creates run on the verticle's threads.
                let creating_class = self.class_around(self.program.body_of_site(file.site_ref(site)));
                if creating_class.is_some_and(|creating_class| {
                    creating_class != class && !self.is_deployable(class) && self.is_deployed_on_workers(creating_class)
                }) {
                    continue;
                }
                let uses = index.uses_of_result(site);
                let mut uses = uses.iter().peekable();
                if uses.peek().is_none() || !uses.all(|(mention, _)| self.is_use_on_workers(file, mention)) {
                    return false;
                }
            }
        }
        has_instance
    }

    /// True if a use of an object passes it to a worker thread, or to the constructor of a project's class, which then
    /// calls it.
    fn is_use_on_workers(&self, file: FileId, mention: Mention) -> bool {
        let facts = self.program.facts(file);
        if let Mention::Assign(assign) = mention
            && let Form::Var(var) = facts.form(facts.assign(assign).target)
            && facts.body(facts.var(var).body).kind != BodyKind::Class
        {
            // The uses that pass the variable to a call decide where the object runs.
            let index = self.program.index_of(file);
            let mentions = index.mentions_named(facts.var(var).name).iter();
            let contexts: Vec<Context> = mentions
                .filter(|(mention, _)| self.mentions_var(file.var_ref(var), *mention))
                .filter_map(|(mention, _)| match mention {
                    Mention::Arg(site, arg) => Some(self.argument_use(file.site_ref(site), arg, EnvId::NONE)),
                    _ => None,
                })
                .flat_map(|passing| passing.handed.iter().map(|&(context, _)| context).collect::<Vec<_>>())
                .collect();
            return !contexts.is_empty() && contexts.iter().all(|&context| context == Context::Worker);
        }
        // The function returns the object, so the uses of its result decide.
        if let Mention::Exit(exit) = mention {
            let returning = self.program.body_of(file, facts.exits.at(exit as usize).at);
            let uses = self.uses_of_body(returning);
            let calls = || uses.iter().filter(|body_use| !self.program.is_test(body_use.file()));
            return calls().next().is_some()
                && calls().all(|body_use| {
                    let BodyUse::Call(site) = *body_use else { return false };
                    let uses = self.program.uses_of_result(site);
                    let mut uses = uses.iter().peekable();
                    uses.peek().is_some()
                        && uses.all(|(mention, _)| {
                            !matches!(mention, Mention::Exit(_)) && self.is_use_on_workers(site.file, mention)
                        })
                });
        }
        let Mention::Arg(receiving_call, arg) = mention else { return false };
        let receiving_call = file.site_ref(receiving_call);
        if self.program.site(receiving_call).kind == SiteKind::New {
            let callee = self.callee(receiving_call, EnvId::NONE);
            if matches!(self.values.members(callee.value)[..], [Val::Class(_)]) {
                return true;
            }
        }
        let passing = self.argument_use(receiving_call, arg, EnvId::NONE);
        !passing.handed.is_empty() && passing.handed.iter().all(|(context, _)| *context == Context::Worker)
    }
}
