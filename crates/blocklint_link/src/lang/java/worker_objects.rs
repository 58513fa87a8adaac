//! Java: objects that are only passed to calls which run them on a worker thread: `router.get().blockingHandler(new Rates())`.
//! The deployment of verticles is in `deployment.rs`.

use blocklint_core::Context;
use blocklint_facts::{BodyKind, Form, SiteKind};

use crate::linker::Linker;
use crate::program::ids::{ClassRef, FileId};
use crate::program::occurrences::Mention;
use crate::reactive::BodyUse;
use crate::values::value::{EnvId, Val};

impl Linker<'_> {
    /// True if every known instance of a class is passed to a call that runs it where it may block, or to another class
    /// of the project, which then calls it itself: `router.get().blockingHandler(new Rates())`.
    pub(crate) fn is_passed_to_workers(&self, class: ClassRef) -> bool {
        let (facts, class_id) = self.program.facts_and_id(class);
        if facts.text(self.program.class(class).name).is_empty() {
            let mut made = facts
                .sites
                .iter()
                .enumerate()
                .filter(|(_, row)| row.kind == SiteKind::New && facts.form(row.callee) == Form::Class(class_id));
            let index = self.program.index_of(class.file);
            return made.next().is_some_and(|(at, _)| {
                let uses = index.uses_of_result(blocklint_facts::SiteId(at as u32));
                let mut uses = uses.iter().peekable();
                uses.peek().is_some() && uses.all(|(mention, _)| self.keeps_off_the_loop(class.file, mention))
            });
        }
        let Some(name) = self.program.global(class.file, self.program.class(class).name) else { return false };
        let mut any = false;
        for &(file, sym) in self.program.occurrences(name) {
            if self.program.is_test(file) {
                continue;
            }
            let index = self.program.index_of(file);
            let made = index.sites_named(sym).iter().filter(|&&site| {
                self.program.facts(file).site(site).kind == SiteKind::New
                    && self.values.members(self.callee(file.site_ref(site), EnvId::NONE).value)[..]
                        == [Val::Class(class)]
            });
            for &site in made {
                any = true;
                // An object that a verticle of workers makes serves on the verticle's threads.
                let around = self.class_around(self.program.body_of_site(file.site_ref(site)));
                if around.is_some_and(|around| {
                    around != class && !self.is_deployable(class) && self.is_deployed_on_workers(around)
                }) {
                    continue;
                }
                let uses = index.uses_of_result(site);
                let mut uses = uses.iter().peekable();
                if uses.peek().is_none() || !uses.all(|(mention, _)| self.keeps_off_the_loop(file, mention)) {
                    return false;
                }
            }
        }
        any
    }

    /// True if a use of an object hands it to a worker thread, or to a class of the project, which then calls it.
    fn keeps_off_the_loop(&self, file: FileId, mention: Mention) -> bool {
        let facts = self.program.facts(file);
        if let Mention::Assign(assign) = mention
            && let Form::Var(var) = facts.form(facts.assign(assign).target)
            && facts.body(facts.var(var).body).kind != BodyKind::Class
        {
            // One of its uses decides where it runs; the others do not make it run.
            let index = self.program.index_of(file);
            let of_var = index.mentions_named(facts.var(var).name).iter();
            let places: Vec<Context> = of_var
                .filter(|(mention, _)| self.mentions_var(file.var_ref(var), *mention))
                .filter_map(|(mention, _)| match mention {
                    Mention::Arg(site, arg) => Some(self.argument_use(file.site_ref(site), arg, EnvId::NONE)),
                    _ => None,
                })
                .flat_map(|passing| passing.handed.iter().map(|&(context, _)| context).collect::<Vec<_>>())
                .collect();
            return !places.is_empty() && places.iter().all(|&place| place == Context::Worker);
        }
        // The callers of its maker get the object and pass it on.
        if let Mention::Exit(exit) = mention {
            let maker = self.program.body_of(file, facts.exits.at(exit as usize).at);
            let uses = self.uses_of_body(maker);
            let calls = || uses.iter().filter(|of| !self.program.is_test(of.file()));
            return calls().next().is_some()
                && calls().all(|of| {
                    let BodyUse::Call(site) = *of else { return false };
                    let uses = self.program.uses_of_result(site);
                    let mut uses = uses.iter().peekable();
                    uses.peek().is_some()
                        && uses.all(|(mention, _)| {
                            !matches!(mention, Mention::Exit(_)) && self.keeps_off_the_loop(site.file, mention)
                        })
                });
        }
        let Mention::Arg(taker, arg) = mention else { return false };
        let taker = file.site_ref(taker);
        if self.program.site(taker).kind == SiteKind::New {
            let callee = self.callee(taker, EnvId::NONE);
            if matches!(self.values.members(callee.value)[..], [Val::Class(_)]) {
                return true;
            }
        }
        let passing = self.argument_use(taker, arg, EnvId::NONE);
        !passing.handed.is_empty() && passing.handed.iter().all(|(context, _)| *context == Context::Worker)
    }
}
