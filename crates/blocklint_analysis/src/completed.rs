//! Futures that are known to be done where they are asked for their value: `if (f.isSuccess()) use(f.get())`.

use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, SiteKind};

use crate::ids::SiteRef;
use crate::link::Link;
use crate::names;

impl<'a> Link<'a> {
    /// Whether the future that a call stands on was asked before, in the same body, if it is done.
    pub(crate) fn is_done_there(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return false;
        }
        let Some(receiver) = self.receiver_form(site) else { return false };
        let here = facts.site(site.site).at;
        let body = facts.body_of(here);
        let index = self.program.index_of(site.file);
        names::java::DONE_TESTS.iter().any(|test| {
            let sym = self.program.name(test).and_then(|name| self.program.local(site.file, name));
            sym.into_iter().flat_map(|sym| index.sites_named(sym)).any(|&asked| {
                let row = facts.site(asked);
                row.kind == SiteKind::Call
                    && row.at.position < here.position
                    && facts.body_of(row.at) == body
                    && self
                        .receiver_form(SiteRef { file: site.file, site: asked })
                        .is_some_and(|of| is_same(facts, of, receiver))
            })
        })
    }
}

/// Whether two forms read the same variable or field.
fn is_same(facts: &FileFacts, a: FormId, b: FormId) -> bool {
    match (facts.form(a), facts.form(b)) {
        (Form::Var(a), Form::Var(b)) => a == b,
        (Form::Attr(a, x), Form::Attr(b, y)) => x == y && is_same(facts, a, b),
        (Form::This, Form::This) => true,
        _ => false,
    }
}
