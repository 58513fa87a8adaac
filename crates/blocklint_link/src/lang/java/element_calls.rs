//! Java: calls on every element of a collection, and on the one that a key picks from a table. Of a method with several
//! implementations one is meant, but where the receiver is what a loop or a stream iterates over, all of them are
//! called in turn, unless a test of the element picks some.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{FileFacts, Form, FormId, RegionKind, SiteId, VarId, VarKind};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::program::occurrences::Mention;
use crate::syntax::forms::{mentions, value_of_local};
use crate::syntax::regions::around;
use crate::values::value::EnvId;

/// Operators of one chain that are looked at, and forms in each other.
const DEEPEST: u32 = 12;

impl Linker<'_> {
    /// True if a call is made on each element of a loop or of a chain.
    pub fn is_called_on_each(&self, site: SiteRef) -> bool {
        let (facts, site_id) = self.program.facts_and_id(site);
        if facts.language != Language::Java {
            return false;
        }
        let Some(form) = self.receiver_form(site) else { return false };
        let Form::Var(var) = facts.form(form) else { return false };
        let goes_through = match facts.var(var).kind {
            VarKind::Param(0) => self.takes_each(site, var),
            VarKind::Param(_) => false,
            _ => {
                let mut given = facts.assigns_of(var).map(|row| row.value);
                let is_element = |form: FormId| form.is_some() && matches!(facts.form(form), Form::Element(_));
                given.next().is_some_and(is_element) && given.next().is_none()
            }
        };
        goes_through && !is_picked(facts, site_id, var)
    }

    /// True if the receiver of a call is looked up in a map by a key that is no literal: the map is a table of
    /// handlers, of which each has its own purpose.
    pub fn is_picked_from_table(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return false;
        }
        let Some(form) = self.receiver_form(site) else { return false };
        let Some(looked_up) = value_of_local(facts, form) else { return false };
        let Form::Result(call) = facts.form(looked_up) else { return false };
        let row = facts.site(call);
        let is_read = lang::java::words::READS_TABLE.contains(&facts.text(row.name));
        let Some(key) = facts.args_of(call).first().copied().filter(|_| is_read) else { return false };
        if matches!(facts.form(key.value), Form::Str(_) | Form::Text(_) | Form::Int(_) | Form::None) {
            return false;
        }
        let targets = self.targets(site.file.site_ref(call), EnvId::NONE);
        targets.list.iter().any(|target| match *target {
            Target::Row { path, .. } => self.library.split(path).is_some_and(|(owner, _)| {
                self.library.supertypes(owner).iter().any(|&of| *self.library.text(of) == *lang::java::words::TABLE)
            }),
            Target::Body { .. } | Target::Overrides { .. } => false,
        })
    }

    /// True if a variable is the parameter of a lambda that is called with every element.
    fn takes_each(&self, site: SiteRef, var: VarId) -> bool {
        let facts = self.program.facts(site.file);
        let body = facts.var(var).body;
        let uses = self.program.index_of(site.file).uses_of_callable(body);
        let mut uses = uses.iter();
        let (Some((Mention::Arg(call, 0), _)), None) = (uses.next(), uses.next()) else { return false };
        if !lang::java::words::goes_through_all(facts.text(facts.site(call).name)) {
            return false;
        }
        let mut at = self.receiver_form(site.file.site_ref(call));
        for _ in 0..DEEPEST {
            let Some(form) = at else { return false };
            match facts.form(form) {
                // A collection itself.
                Form::Var(_) | Form::Attr(..) => return true,
                Form::Result(before) => {
                    let name = facts.text(facts.site(before).name);
                    if lang::java::words::makes_stream_of_all(name) {
                        return true;
                    }
                    if !lang::java::words::keeps_elements(name) {
                        return false;
                    }
                    at = self.receiver_form(site.file.site_ref(before));
                }
                _ => return false,
            }
        }
        false
    }
}

/// True if a test around a call mentions the element.
fn is_picked(facts: &FileFacts, site: SiteId, var: VarId) -> bool {
    let is_element = |form: Form| form == Form::Var(var);
    let at = facts.site(site).at.region;
    around(facts, at).any(|id| {
        let region = facts.region(id);
        matches!(region.kind, RegionKind::Then | RegionKind::Else | RegionKind::Case)
            && region.test.is_some()
            && mentions(facts, region.test, DEEPEST, &is_element)
    })
}
