//! Java: calls on every element of a collection, and on an element that a key selects from a map. A call of a method
//! with several implementations usually runs one of them. If its receiver is the element of a loop or stream, the call
//! runs all implementations in turn, unless a test of the element selects some.

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

/// The number of operators of one chain, and of nested forms, that are followed.
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
        let is_element_of_all = match facts.var(var).kind {
            VarKind::Param(0) => self.is_each_element_param(site, var),
            VarKind::Param(_) => false,
            _ => {
                let mut assigned = facts.assigns_of(var).map(|assignment| assignment.value);
                let is_element = |form: FormId| form.is_some() && matches!(facts.form(form), Form::Element(_));
                assigned.next().is_some_and(is_element) && assigned.next().is_none()
            }
        };
        is_element_of_all && !is_selected_by_test(facts, site_id, var)
    }

    /// True if the receiver of a call is looked up in a map by a key that is no literal (`handlers.get(name).run()`):
    /// the map contains handlers with different purposes, and the call runs one of them.
    pub fn is_looked_up_by_key(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Java {
            return false;
        }
        let Some(form) = self.receiver_form(site) else { return false };
        let Some(looked_up) = value_of_local(facts, form) else { return false };
        let Form::Result(call) = facts.form(looked_up) else { return false };
        let site_facts = facts.site(call);
        let is_read = lang::java::words::MAP_LOOKUPS.contains(&facts.text(site_facts.name));
        let Some(key) = facts.args_of(call).first().copied().filter(|_| is_read) else { return false };
        if matches!(facts.form(key.value), Form::Str(_) | Form::Text(_) | Form::Int(_) | Form::None) {
            return false;
        }
        let targets = self.targets(site.file.site_ref(call), EnvId::NONE);
        targets.list.iter().any(|target| match *target {
            Target::Row { path, .. } => self.library.split(path).is_some_and(|(owner, _)| {
                self.library
                    .supertypes(owner)
                    .iter()
                    .any(|&base| *self.library.text(base) == *lang::java::words::MAP_TYPE)
            }),
            Target::Body { .. } | Target::Overrides { .. } => false,
        })
    }

    /// True if a variable is the parameter of a lambda that a stream's operator calls with every element.
    fn is_each_element_param(&self, site: SiteRef, var: VarId) -> bool {
        let facts = self.program.facts(site.file);
        let body = facts.var(var).body;
        let uses = self.program.index_of(site.file).uses_of_callable(body);
        let mut uses = uses.iter();
        let (Some((Mention::Arg(call, 0), _)), None) = (uses.next(), uses.next()) else { return false };
        if !lang::java::words::calls_with_every_element(facts.text(facts.site(call).name)) {
            return false;
        }
        let mut receiver = self.receiver_form(site.file.site_ref(call));
        for _ in 0..DEEPEST {
            let Some(form) = receiver else { return false };
            match facts.form(form) {
                // A collection.
                Form::Var(_) | Form::Attr(..) => return true,
                Form::Result(before) => {
                    let name = facts.text(facts.site(before).name);
                    if lang::java::words::streams_all_elements(name) {
                        return true;
                    }
                    if !lang::java::words::passes_all_elements(name) {
                        return false;
                    }
                    receiver = self.receiver_form(site.file.site_ref(before));
                }
                _ => return false,
            }
        }
        false
    }
}

/// True if a test around a call mentions the element: `if (handler.accepts(event)) handler.run()`.
fn is_selected_by_test(facts: &FileFacts, site: SiteId, var: VarId) -> bool {
    let is_element = |form: Form| form == Form::Var(var);
    let site_region = facts.site(site).at.region;
    around(facts, site_region).any(|id| {
        let region = facts.region(id);
        matches!(region.kind, RegionKind::Then | RegionKind::Else | RegionKind::Case)
            && region.test.is_some()
            && mentions(facts, region.test, DEEPEST, &is_element)
    })
}
