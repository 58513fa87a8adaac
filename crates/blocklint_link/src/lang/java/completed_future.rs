//! Java: futures that are known to be done where they are asked for their value: `if (f.isSuccess()) use(f.get())`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Form, FormId, SiteKind};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::syntax::forms::{field_of, is_same};
use crate::values::value::EnvId;

impl Linker<'_> {
    /// True if the same body has tested, before a call on a future, that the future is done.
    pub(crate) fn was_checked_done(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return false;
        }
        let Some(receiver) = self.receiver_form(site) else { return false };
        // `if (!isDone()) throw …; return super.get();`
        let on_base = matches!(facts.form(receiver), Form::Name(sym) if facts.text(sym) == lang::java::words::SUPER);
        self.calls_before(site, lang::java::names::DONE_TESTS).any(|asked| {
            let of = self.receiver_form(site.file.site_ref(asked));
            on_base && of.is_none_or(|of| facts.form(of) == Form::This)
                || of.is_some_and(|of| {
                    is_same(facts, of, receiver)
                        || self.reads_same(site.file, of, receiver)
                        || self.reads_same(site.file, receiver, of)
                })
        }) || self.checked_own_is_done(site, receiver)
    }

    /// True if the same body has called, before this site, a method of its own class that returns whether the future of
    /// a field is done: `assert isSuspended(); suspended.join();`.
    fn checked_own_is_done(&self, site: SiteRef, receiver: FormId) -> bool {
        let facts = self.program.facts(site.file);
        let here = self.program.site(site).at;
        let body = facts.body_of(here);
        if field_of(facts, receiver).is_none() {
            return false;
        }
        let mut before = self.program.sites_in(site.file.body_ref(body)).filter(|of| {
            let row = self.program.site(*of);
            row.kind == SiteKind::Call && row.args.len == 0 && row.at.position < here.position
        });
        before.any(|asked| {
            let [Target::Body { body: told, .. }] = self.targets(asked, EnvId::NONE).list[..] else { return false };
            told.file == site.file
                && self.program.exits_in(told).any(|exit| {
                    matches!(facts.form(exit.value), Form::Result(call)
                            if lang::java::names::DONE_TESTS.contains(&facts.text(facts.site(call).name))
                                && self
                                    .receiver_form(site.file.site_ref(call))
                                    .is_some_and(|of| is_same(facts, of, receiver)))
                })
        })
    }

    /// True if form `b` is a call of the getter of the field that form `a` reads: `it.getFuture()` and `it.future`.
    pub(crate) fn reads_same(&self, file: FileId, a: FormId, b: FormId) -> bool {
        let facts = self.program.facts(file);
        let (Form::Attr(of, name), Form::Result(call)) = (facts.form(a), facts.form(b)) else { return false };
        let Form::Attr(from, getter) = facts.form(facts.site(call).callee) else { return false };
        facts.args_of(call).is_empty()
            && lang::java::names::is_getter_of(facts.text(getter), facts.text(name))
            && is_same(facts, of, from)
    }
}
