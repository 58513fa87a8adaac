//! Java: futures that are known to be done where their value is read, so that `get` does not wait:
//! `if (f.isSuccess()) use(f.get())`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Form, FormId, SiteKind};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::syntax::forms::{field_of, is_same};
use crate::values::value::EnvId;

impl Linker<'_> {
    /// True if the same body tests, before a call on a future, that the future is done.
    pub(crate) fn is_checked_done(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return false;
        }
        let Some(receiver) = self.receiver_form(site) else { return false };
        // `if (!isDone()) throw …; return super.get();`
        let on_base = matches!(facts.form(receiver), Form::Name(sym) if facts.text(sym) == lang::java::words::SUPER);
        self.calls_before(site, lang::java::names::DONE_TESTS).any(|test| {
            let tested = self.receiver_form(site.file.site_ref(test));
            on_base && tested.is_none_or(|tested| facts.form(tested) == Form::This)
                || tested.is_some_and(|tested| {
                    is_same(facts, tested, receiver)
                        || self.is_getter_of_same_field(site.file, tested, receiver)
                        || self.is_getter_of_same_field(site.file, receiver, tested)
                })
        }) || self.is_checked_by_own_method(site, receiver)
    }

    /// True if the same body calls, before this site, a method of its own class that returns true if the future of
    /// a field is done: `assert isSuspended(); suspended.join();`.
    fn is_checked_by_own_method(&self, site: SiteRef, receiver: FormId) -> bool {
        let facts = self.program.facts(site.file);
        let site_at = self.program.site(site).at;
        let body = facts.body_of(site_at);
        if field_of(facts, receiver).is_none() {
            return false;
        }
        let mut before = self.program.sites_in(site.file.body_ref(body)).filter(|tested| {
            let site_facts = self.program.site(*tested);
            site_facts.kind == SiteKind::Call && site_facts.args.len == 0 && site_facts.at.position < site_at.position
        });
        before.any(|earlier_call| {
            let [Target::Body { body: method, .. }] = self.targets(earlier_call, EnvId::NONE).list[..] else {
                return false;
            };
            method.file == site.file
                && self.program.exits_in(method).any(|exit| {
                    matches!(facts.form(exit.value), Form::Result(earlier_call)
                            if lang::java::names::DONE_TESTS.contains(&facts.text(facts.site(earlier_call).name))
                                && self
                                    .receiver_form(site.file.site_ref(earlier_call))
                                    .is_some_and(|tested| is_same(facts, tested, receiver)))
                })
        })
    }

    /// True if form `b` is a call of the getter of the field that form `a` reads: `task.future` and `task.getFuture()`.
    pub(crate) fn is_getter_of_same_field(&self, file: FileId, a: FormId, b: FormId) -> bool {
        let facts = self.program.facts(file);
        let (Form::Attr(owner, name), Form::Result(call)) = (facts.form(a), facts.form(b)) else { return false };
        let Form::Attr(receiver, getter) = facts.form(facts.site(call).callee) else { return false };
        facts.args_of(call).is_empty()
            && lang::java::names::is_getter_of(facts.text(getter), facts.text(name))
            && is_same(facts, owner, receiver)
    }
}
