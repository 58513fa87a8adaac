//! Rust: macros of the project: the `macro_rules!` that a call refers to.

use blocklint_facts::{BodyId, BodyKind};

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, Name, SiteRef};
use crate::values::value::{BoundId, EnvId, Val};

/// The number of macros of one name above which a call has no known macro.
const MOST: usize = 4;

impl Linker<'_> {
    /// Returns the macros that a call may refer to: those of its name in its own crate, else those of other crates. A
    /// macro of the same file is a variable and not looked up here.
    pub(crate) fn macro_of_project(&self, site: SiteRef) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let name = facts.text(self.program.site(site).name);
        let name = self.program.name(&format!("{name}!"))?;
        let macros = self.macros_named(name);
        let own = self.crate_of(site.file).map(|own| &own.folder);
        let of_crate = |body: &&BodyRef| self.crate_of(body.file).map(|package| &package.folder) == own;
        let mut candidates: Vec<BodyRef> = macros.iter().filter(of_crate).copied().collect();
        if candidates.is_empty() {
            candidates = macros;
        }
        if candidates.is_empty() || candidates.len() > MOST {
            return None;
        }
        let members: Vec<Val> =
            candidates.iter().map(|&body| Val::Fn { body, receiver: BoundId::NONE, env: EnvId::NONE }).collect();
        let typed = Typed { value: self.values.union(&members), inferred_steps: 0 };
        Some(if candidates.len() == 1 { typed } else { self.inferred(typed) })
    }

    fn macros_named(&self, name: Name) -> Vec<BodyRef> {
        let mut macros = Vec::new();
        for &(file, sym) in self.program.occurrences(name) {
            let facts = self.program.facts(file);
            let rows = facts.bodies.iter().enumerate();
            let named =
                rows.filter(|(_, row)| row.name == sym && row.kind == BodyKind::Function && row.class.is_none());
            macros.extend(named.map(|(index, _)| file.body_ref(BodyId(index as u32))));
        }
        macros
    }
}
