//! Python: implementations that are not meant where a body calls several methods of one object: one that leaves another of
//! these methods to others ends with `NotImplementedError` there.

use blocklint_core::Language;
use blocklint_facts::{BodyFlags, Form, FormId, SiteKind};

use crate::code::regions::lies_in;
use crate::link::Link;
use crate::link::hierarchy::Ancestor;
use crate::program::ids::{BodyRef, ClassRef, Name, SiteRef};

impl Link<'_> {
    /// Whether a site enters a method of a class that does not implement what the same body calls besides on the same object,
    /// wherever it comes past the site.
    pub(crate) fn is_undone_besides(&self, site: SiteRef, entered: BodyRef) -> bool {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        let class = self.program.facts(entered.file).body(entered.body).class.get();
        let (Form::Attr(base, _), Some(class), Language::Python) = (facts.form(row.callee), class, facts.language)
        else {
            return false;
        };
        let class = ClassRef { file: entered.file, class };
        // What is derived from it may do the rest.
        if !matches!(facts.form(base), Form::Var(_)) || !self.derived(class).is_empty() {
            return false;
        }
        let own = facts.body_of(row.at);
        let on_same = |callee: FormId| match facts.form(callee) {
            Form::Attr(of, name) if facts.form(of) == facts.form(base) => self.program.global(site.file, name),
            _ => None,
        };
        facts
            .sites
            .iter()
            .filter(|other| other.kind == SiteKind::Call && facts.body_of(other.at) == own)
            .filter(|other| lies_in(facts, row.at.region, other.at.region))
            .filter_map(|other| on_same(other.callee))
            .any(|name| self.is_left_to_others(class, name))
    }

    /// Whether what a class has under a name is a method without code of its own.
    fn is_left_to_others(&self, class: ClassRef, name: Name) -> bool {
        let owner = self.mro(class).iter().find_map(|of| match *of {
            Ancestor::Class(of) => self.own_member(of, name),
            _ => None,
        });
        let Some((owner, var)) = owner else { return false };
        let bodies = self.functions_of(owner, var);
        let is_stub = |body: &BodyRef| self.program.facts(body.file).body(body.body).flags.has(BodyFlags::STUB);
        !bodies.is_empty() && bodies.iter().all(is_stub)
    }
}
