//! Call sites that may run a body, found by the names under which the body is called.

use crate::calls::targets::MOST_SITES;
use crate::lang;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, Name, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::EnvId;
use blocklint_core::Language;
use std::rc::Rc;

impl<'a> Linker<'a> {
    /// The sites that call a body by one of its names, verified; for typing parameters.
    pub(crate) fn sites_calling(&self, body: BodyRef) -> Vec<SiteRef> {
        let mut found = Vec::new();
        let mut looked = 0;
        for name in self.body_names(body) {
            for &site in self.first_sites_named(name).iter() {
                looked += 1;
                if looked > MOST_SITES {
                    return found;
                }
                if self.targets(site, EnvId::NONE).receiver_of(body).is_some() {
                    found.push(site);
                }
            }
        }
        self.add_sites_of_result(body, &mut found);
        found
    }

    /// The first sites of a name, one more than are looked at. Thousands of functions may share a name that hardly a site bears.
    pub(crate) fn first_sites_named(&self, name: Name) -> Rc<[SiteRef]> {
        let known = self.first_sites.borrow().get(&name).cloned();
        known.unwrap_or_else(|| {
            let found: Rc<[SiteRef]> = self.program.sites_named(name).take(MOST_SITES + 1).collect();
            self.first_sites.borrow_mut().insert(name, Rc::clone(&found));
            found
        })
    }

    /// The sites that call a nested function as the result of the function around it: `@register("name")`.
    pub(crate) fn add_sites_of_result(&self, body: BodyRef, found: &mut Vec<SiteRef>) {
        let facts = self.program.facts(body.file);
        let Some(parent) = self.program.body(body).parent.get() else { return };
        let row = facts.body(parent);
        if row.kind != blocklint_facts::BodyKind::Function || row.var.is_none() {
            return;
        }
        let Some(name) = self.program.global(body.file, row.name) else { return };
        for site in self.with_aliases(name).into_iter().flat_map(|name| self.program.sites_named(name)).take(MOST_SITES)
        {
            for (mention, _) in self.program.uses_of_result(site).iter() {
                let Mention::Operand(of) = mention else { continue };
                let of = site.file.site_ref(of);
                if self.targets(of, EnvId::NONE).receiver_of(body).is_some() && !found.contains(&of) {
                    found.push(of);
                }
            }
        }
    }

    /// The names by which a body is called: its own, import aliases, of a constructor the classes'.
    pub fn body_names(&self, body: BodyRef) -> Vec<Name> {
        let facts = self.program.facts(body.file);
        let row = self.program.body(body);
        let own = facts.text(row.name);
        if let Some(class) = row.class.get()
            && matches!(own, "__init__" | "__new__" | "__post_init__" | "<init>" | "__call__")
        {
            let mut names: Vec<Name> = self.program.name(own).into_iter().collect();
            let mut queue = vec![body.file.class_ref(class)];
            let mut seen = Vec::new();
            while let Some(class) = queue.pop() {
                if seen.contains(&class) || seen.len() > 256 {
                    continue;
                }
                seen.push(class);
                names.extend(self.class_names(class));
                queue.extend(self.derived(class).iter().copied());
            }
            names.sort();
            names.dedup();
            return names;
        }
        if row.var.is_none() {
            return Vec::new();
        }
        let mut names = match self.program.global(body.file, row.name) {
            Some(name) => self.with_aliases(name),
            None => Vec::new(),
        };
        if row.class.is_some()
            && facts.language == Language::Rust
            && let Some(conversion) = lang::rust::impl_selection::conversion_by(own)
        {
            names.extend(self.program.name(conversion));
        }
        // A macro's calls are written without its mark.
        if facts.language == Language::Rust
            && let Some(bare) = own.strip_suffix('!')
        {
            names.extend(self.program.name(bare));
        }
        names.extend(self.names_run_by_protocol(body));
        names
    }
}
