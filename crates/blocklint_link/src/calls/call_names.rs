//! Call sites of a body, found by the names under which code can call it.

use crate::calls::targets::MAX_SITES;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, Name, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::EnvId;
use std::rc::Rc;

/// The most subclasses of one class whose names are searched.
const MAX_DESCENDANTS: usize = 256;

impl<'a> Linker<'a> {
    /// Returns the sites that call a body by one of its names and have the body as a target, for the values of its
    /// parameters.
    pub(crate) fn sites_calling(&self, body: BodyRef) -> Vec<SiteRef> {
        let mut sites = Vec::new();
        let mut checked = 0;
        for name in self.body_names(body) {
            for &site in self.first_sites_named(name).iter() {
                checked += 1;
                if checked > MAX_SITES {
                    return sites;
                }
                if self.targets(site, EnvId::NONE).receiver_of(body).is_some() {
                    sites.push(site);
                }
            }
        }
        self.add_sites_of_result(body, &mut sites);
        sites
    }

    /// Returns the first sites of a name, one more than [`MAX_SITES`]. They are remembered by name, because thousands
    /// of functions may share a name.
    pub(crate) fn first_sites_named(&self, name: Name) -> Rc<[SiteRef]> {
        let find = || self.program.sites_named(name).take(MAX_SITES + 1).collect();
        self.query(&self.tables.calls.first_sites, name, Rc::default, find)
    }

    /// Adds the sites that call a nested function as the result of the function around it: `@register("name")`.
    pub(crate) fn add_sites_of_result(&self, body: BodyRef, found: &mut Vec<SiteRef>) {
        let facts = self.program.facts(body.file);
        let Some(parent) = self.program.body(body).parent.get() else { return };
        let body_facts = facts.body(parent);
        if body_facts.kind != blocklint_facts::BodyKind::Function || body_facts.var.is_none() {
            return;
        }
        let Some(name) = self.program.global(body.file, body_facts.name) else { return };
        for site in self.with_aliases(name).into_iter().flat_map(|name| self.program.sites_named(name)).take(MAX_SITES)
        {
            for (mention, _) in self.program.uses_of_result(site).iter() {
                let Mention::Operand(call) = mention else { continue };
                let call = site.file.site_ref(call);
                if self.targets(call, EnvId::NONE).receiver_of(body).is_some() && !found.contains(&call) {
                    found.push(call);
                }
            }
        }
    }

    /// Returns the names under which a body can be called: its own name and import aliases of it, for a constructor the
    /// names of its class and subclasses, and the names of implicit calls.
    pub fn body_names(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        let body_name = facts.text(body_facts.name);
        if let Some(class) = body_facts.class.get()
            && matches!(body_name, "__init__" | "__new__" | "__post_init__" | "<init>" | "__call__")
        {
            let mut names: Vec<Name> = self.program.name(body_name).into_iter().collect();
            let class = body.file.class_ref(class);
            names.extend(self.class_names(class));
            for derived in self.descendants(class, MAX_DESCENDANTS).classes {
                names.extend(self.class_names(derived));
            }
            names.sort();
            names.dedup();
            return names;
        }
        if body_facts.var.is_none() {
            return Vec::new();
        }
        let mut names = match self.program.global(body.file, body_facts.name) {
            Some(name) => self.with_aliases(name),
            None => Vec::new(),
        };
        names.extend(self.names_of_implicit_calls(body));
        names
    }
}
