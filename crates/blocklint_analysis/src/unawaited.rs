//! Coroutines that are made and dropped: what an edit that forgets an `await` leaves behind.

use blocklint_facts::{SiteFlags, SiteId, SiteKind};

use crate::ids::{FileId, SiteRef};
use crate::link::Link;
use crate::value::{EnvId, Val};

impl Link<'_> {
    /// The calls of a file that stand as statements and give a coroutine, of the project or (where the models say that
    /// what is called is asynchronous) of a library: of each the body's qualified name and the name called. A library's
    /// task or future is among them, which may well be dropped: compare with what was there before.
    pub fn unawaited(&self, file: FileId) -> Vec<(String, String)> {
        let facts = self.program.facts(file);
        let mut found = Vec::new();
        for (at, row) in facts.sites.iter().enumerate() {
            let dropped = row.flags.has(SiteFlags::DISCARDED) && !row.flags.has(SiteFlags::AWAITED);
            if !dropped || !matches!(row.kind, SiteKind::Call | SiteKind::New) {
                continue;
            }
            let site = SiteRef { file, site: SiteId(at as u32) };
            let result = self.result(site, EnvId::NONE);
            let members = self.values.members(result.value);
            if members.iter().any(|member| matches!(member, Val::Coroutine { .. } | Val::Awaitable(_))) {
                let function = self.qualified_name(self.program.body_of_site(site));
                found.push((function, facts.symbols.get(row.name).to_owned()));
            }
        }
        found
    }
}
