//! Where values are given to calls as arguments.

use blocklint_core::Language;

use crate::link::Link;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, Name, SiteRef};
use crate::program::index::Mention;

impl Link<'_> {
    /// The sites that take a function as an argument, and which one it is.
    pub fn given_body(&self, body: BodyRef) -> Vec<(SiteRef, u32)> {
        let mut found = self.given(&self.body_names(body), |val| matches!(val, Val::Fn { body: of, .. } if of == body));
        // A `lambda` has no name and stands where it is given.
        if self.program.language(body.file) == Language::Python {
            let uses = self.program.index_of(body.file).uses_of_callable(body.body);
            found.extend(uses.iter().filter_map(|(mention, _)| match mention {
                Mention::Arg(site, arg) => Some((SiteRef { file: body.file, site }, arg)),
                _ => None,
            }));
        }
        found
    }

    /// The sites that take a value as an argument, wherever one of its names is mentioned.
    pub fn given(&self, names: &[Name], is_meant: impl Fn(Val) -> bool) -> Vec<(SiteRef, u32)> {
        let mut found = Vec::new();
        for &name in names {
            for &(file, sym) in self.program.occurrences(name) {
                let facts = self.program.facts(file);
                for (mention, _) in self.program.index_of(file).mentions_named(sym).iter() {
                    let Mention::Arg(site, arg) = mention else { continue };
                    let site = SiteRef { file, site };
                    let form = facts.args_of(site.site)[arg as usize].value;
                    let typed = self.eval(self.scope_of(site, EnvId::NONE), form);
                    if self.values.members(typed.value).iter().any(|val| is_meant(*val)) {
                        found.push((site, arg));
                    }
                }
            }
        }
        found
    }
}
