//! Whether something that an event loop runs is seen to lead to a body.

use std::collections::VecDeque;
use std::rc::Rc;

use blocklint_core::{Confidence, Context, Language};
use blocklint_facts::{BodyId, BodyKind, Form};
use blocklint_models::Role;
use rustc_hash::FxHashSet;

use crate::entries::memo::Memo;
use crate::entries::roots::{RootKind, Roots};
use crate::link::Link;
use crate::link::chains::BodyUse;
use crate::link::names;
use crate::link::value::EnvId;
use crate::program::ids::{BodyRef, FileId, SiteRef};

/// Calls that are followed upwards.
const MOST_HOPS: u32 = 8;

/// Bodies that are looked at for one.
const MOST_BODIES: usize = 400;

impl<'a> Link<'a> {
    /// Whether a body of a chain is likely to run on an event loop: a body that a library enters there, or an operator behind
    /// a source that switches to one, leads to it by calls, by the chains that it gives or by the literals that it makes. In a
    /// project without such bodies it is likely where all that leads to it only gives chains away, to whoever uses the library
    /// that they are of; where plain methods subscribe or wait, the thread is theirs.
    pub(crate) fn may_be_served(&self, roots: &Roots<'_, 'a>, body: BodyRef) -> bool {
        let mut seen = FxHashSet::from_iter([body]);
        let mut queue = VecDeque::from([(body, 0)]);
        let mut is_offered = true;
        while let Some((at, hops)) = queue.pop_front() {
            let enters = |kind| {
                matches!(kind, RootKind::Registered | RootKind::Literal | RootKind::Computing | RootKind::Promised)
            };
            if roots.of(at).is_some_and(|root| enters(root.kind)) {
                return true;
            }
            if hops >= MOST_HOPS || seen.len() > MOST_BODIES || self.is_made_where_it_may_block(at) {
                is_offered = false;
                continue;
            }
            let facts = self.program.facts(at.file);
            let row = facts.body(at.body);
            let uses = match row.kind {
                BodyKind::Lambda => Rc::default(),
                _ => self.uses_of_body(at),
            };
            let uses = || uses.iter().filter(|of| !self.program.is_test(of.file()));
            if uses().any(|of| matches!(*of, BodyUse::Passed(site, arg) if self.is_handed_to_loop(site, arg))) {
                return true;
            }
            // Who makes a literal runs what it makes.
            let parent = row.parent.get().filter(|_| row.kind == BodyKind::Lambda);
            let makers = parent.map(|parent| BodyRef { body: parent, ..at });
            // Who calls one of many says nothing of this one.
            let meant = uses().filter(|of| !self.is_one_of_many(of.site()));
            let callers = meant.map(|of| self.program.body_of_site(of.site())).chain(makers);
            let mut is_last = true;
            for caller in callers {
                is_last = false;
                if seen.insert(caller) {
                    queue.push_back((caller, hops + 1));
                }
            }
            let is_publisher = self.declared_role(at) == Some(Role::Publisher);
            if is_last && is_publisher && self.answers_requests(at) && !self.serves_by_servlets(at.file) {
                return true;
            }
            is_offered &= !is_last || is_publisher && !self.serves_by_servlets(at.file);
        }
        is_offered && !self.has_loop_entries(roots)
    }

    /// Whether an annotation says that requests of HTTP come to a method. Who gives a publisher there leaves it to the server,
    /// which is made for publishers.
    fn answers_requests(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        facts.list(facts.body(body.body).decorators).iter().any(|&mark| match facts.form(mark) {
            Form::Result(site) => names::java::is_verb_of_http(facts.text(facts.site(site).name)),
            Form::Var(var) => names::java::is_verb_of_http(facts.text(facts.var(var).name)),
            Form::Name(name) => names::java::is_verb_of_http(facts.text(name)),
            _ => false,
        })
    }

    /// Whether a call runs the callable in an argument on an event loop.
    fn is_handed_to_loop(&self, site: SiteRef, arg: u32) -> bool {
        let passing = self.passing(site, arg, EnvId::NONE);
        passing.handed.iter().any(|&(context, _)| context == Context::EventLoop)
            || passing.on_chain && self.settled(&passing.chain).root == Some(Confidence::High)
    }

    /// Whether a callable in an argument is an operator's, of which nobody knows where its chain is subscribed to.
    pub(crate) fn is_guessed_on_chain(&self, site: SiteRef, arg: u32) -> bool {
        let passing = self.passing(site, arg, EnvId::NONE);
        passing.on_chain
            && passing.handed.iter().all(|&(context, _)| context != Context::EventLoop)
            && self.settled(&passing.chain).root == Some(Confidence::Medium)
    }

    /// Whether anything of the project, outside of tests, is entered on an event loop by a library, or on a server's own threads.
    fn has_loop_entries(&self, roots: &Roots<'_, 'a>) -> bool {
        *self.above::<Memo>().has_entries.get_or_init(|| {
            let files = (0..self.program.files.len()).map(|at| FileId(at as u32));
            let mut java =
                files.filter(|&file| self.program.language(file) == Language::Java && !self.program.is_test(file));
            java.any(|file| {
                if self.serves_by_servlets(file) {
                    return true;
                }
                let bodies = (0..self.program.facts(file).bodies.len()).map(|at| BodyId(at as u32));
                let mut bodies = bodies.map(|body| BodyRef { file, body });
                bodies.any(|body| roots.is_registered(body))
            })
        })
    }
}
