//! Functions that only put a publisher together: what they do themselves runs wherever their result is composed.

use blocklint_core::{Context, Language, Runtime};
use blocklint_facts::{BodyKind, Flow};
use blocklint_models::Role;

use crate::link::Link;
use crate::link::chains::BodyUse;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, SiteRef};
use crate::program::index::Mention;

impl<'a> Link<'a> {
    /// Whether a function's declared result is a publisher, and not all its calls stand where they may block.
    pub(crate) fn assembles(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let row = facts.body(body.body);
        if facts.language == Language::Rust {
            return row.kind == BodyKind::Function && self.gives_future(body) && !self.runs_only_aside(body);
        }
        if facts.language != Language::Java || row.kind != BodyKind::Function || row.flow != Flow::Sync {
            return false;
        }
        self.declared_role(body) == Some(Role::Publisher) && !self.runs_only_aside(body)
    }

    /// What rules need to know of a function's declared result.
    pub(crate) fn declared_role(&self, body: BodyRef) -> Option<Role> {
        let facts = self.program.facts(body.file);
        let row = facts.body(body.body);
        if row.returns.is_none() {
            return None;
        }
        let declared = self.annotation(self.signature_scope(body), row.returns);
        self.values.members(declared.value).into_iter().find_map(|val| match val {
            Val::Library { ty, .. } => self.library.role(ty),
            Val::Instance { class, .. } => self.mro(class).iter().find_map(|ancestor| match *ancestor {
                crate::link::hierarchy::Ancestor::Library(ty, _) => self.library.role(ty),
                _ => None,
            }),
            _ => None,
        })
    }

    /// The call that makes a chain of what this call gives: `just(f())`.
    pub(crate) fn factory_given(&self, site: SiteRef) -> Option<SiteRef> {
        let facts = self.program.facts(site.file);
        let uses = self.program.index_of(site.file).uses_of_result(site.site);
        let given = uses.iter().find_map(|(mention, _)| match mention {
            Mention::Arg(taker, _) => Some(SiteRef { file: site.file, site: taker }),
            _ => None,
        })?;
        if facts.body_of(facts.site(given.site).at) != facts.body_of(facts.site(site.site).at)
            || self.is_publisher(self.result(site, EnvId::NONE).value)
        {
            return None;
        }
        self.makes_chain(given).then_some(given)
    }

    /// Whether every known call stands in a test, or directly in a closure that runs where it may block.
    fn runs_only_aside(&self, body: BodyRef) -> bool {
        let uses = self.uses_of_body(body);
        !uses.is_empty()
            && !self.program.is_test(body.file)
            && uses.iter().all(|of| {
                self.program.is_test(of.file())
                    || match *of {
                        BodyUse::Call(site) => self.stands_in_worker(self.program.body_of_site(site)),
                        BodyUse::Passed(site, arg) => self.is_worker_argument(site, arg),
                    }
            })
    }

    /// Whether a lambda is handed to a worker, or stands where a chain was moved to one.
    fn stands_in_worker(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        if facts.body(body.body).kind != BodyKind::Lambda {
            return false;
        }
        let mentions = self.program.index_of(body.file).uses_of_callable(body.body);
        !mentions.is_empty()
            && mentions.iter().all(|(mention, _)| match mention {
                Mention::Arg(site, arg) => self.is_worker_argument(SiteRef { file: body.file, site }, arg),
                _ => false,
            })
    }

    fn is_worker_argument(&self, site: SiteRef, arg: u32) -> bool {
        let passing = self.passing(site, arg, EnvId::NONE);
        if passing.on_chain {
            return self.is_moved_away(site);
        }
        !passing.handed.is_empty() && passing.handed.iter().all(|(context, _)| *context == Context::Worker)
    }

    /// The machinery of assembled publishers, as their library's rows say for its operators.
    pub(crate) fn runtime_of_publisher(&self, body: BodyRef) -> Option<Runtime> {
        let facts = self.program.facts(body.file);
        let declared = self.annotation(self.signature_scope(body), facts.body(body.body).returns);
        self.values.members(declared.value).into_iter().find_map(|val| match val {
            Val::Library { ty, .. } => {
                let map = self.library.member(ty, "map");
                self.library.handovers(map).iter().find_map(|row| row.runtime)
            }
            _ => None,
        })
    }
}
