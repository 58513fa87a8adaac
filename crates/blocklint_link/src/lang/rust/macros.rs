//! The project's own macros: which `macro_rules!` a call means.

use blocklint_facts::{BodyId, BodyKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, Name, SiteRef};
use crate::values::value::{BoundId, EnvId, Val};

/// The number of macros of one name beyond which the meant one counts as unknown.
const MOST: usize = 4;

impl Linker<'_> {
    /// Returns the macro that a call means: one of its name in its own crate, else the only one of the project, which
    /// its crate exports. In its own file it is a variable.
    pub(crate) fn macro_of_project(&self, site: SiteRef) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let name = facts.text(self.program.site(site).name);
        let name = self.program.name(&format!("{name}!"))?;
        let all = self.macros_named(name);
        let own = self.crate_of(site.file).map(|own| &own.folder);
        let of_crate = |body: &&BodyRef| self.crate_of(body.file).map(|of| &of.folder) == own;
        let mut meant: Vec<BodyRef> = all.iter().filter(of_crate).copied().collect();
        if meant.is_empty() {
            meant = all;
        }
        if meant.is_empty() || meant.len() > MOST {
            return None;
        }
        let members: Vec<Val> =
            meant.iter().map(|&body| Val::Fn { body, receiver: BoundId::NONE, env: EnvId::NONE }).collect();
        let typed = Typed { value: self.values.union(&members), inferred_steps: 0 };
        Some(if meant.len() == 1 { typed } else { self.inferred(typed) })
    }

    fn macros_named(&self, name: Name) -> Vec<BodyRef> {
        let mut found = Vec::new();
        for &(file, sym) in self.program.occurrences(name) {
            let facts = self.program.facts(file);
            let rows = facts.bodies.iter().enumerate();
            let named =
                rows.filter(|(_, row)| row.name == sym && row.kind == BodyKind::Function && row.class.is_none());
            found.extend(named.map(|(at, _)| file.body_ref(BodyId(at as u32))));
        }
        found
    }
}
