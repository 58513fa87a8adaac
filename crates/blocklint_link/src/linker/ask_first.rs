//! Queries in a random order before the search, for tests: an answer must not depend on the order of the queries.

use rustc_hash::FxHashSet;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};
use crate::values::value::EnvId;

impl Linker<'_> {
    /// Computes the targets of every call site, in an order that depends on the seed alone: first for all callers of
    /// the site's body, then under each binding of variables that the first pass created.
    pub fn ask_first(&self, seed: u64) {
        let mut sites: Vec<(SiteRef, EnvId)> =
            self.program.all_sites().into_iter().map(|site| (site, EnvId::NONE)).collect();
        shuffle(&mut sites, seed);
        self.ask_for_targets(&sites);
        let mut bound: Vec<(SiteRef, EnvId)> = Vec::new();
        for env in (1..self.values.env_count() as u32).map(EnvId) {
            let entries = self.values.env_entries(env);
            let bodies: FxHashSet<BodyRef> =
                entries.iter().map(|&(var, _)| var.file.body_ref(self.program.var(var).body)).collect();
            bound.extend(bodies.into_iter().flat_map(|body| self.sites_nested_in(body)).map(|site| (site, env)));
        }
        bound.sort_unstable();
        bound.dedup();
        shuffle(&mut bound, seed);
        self.ask_for_targets(&bound);
    }

    fn ask_for_targets(&self, sites: &[(SiteRef, EnvId)]) {
        for &(site, env) in sites {
            self.attempt_site(site, || self.targets(site, env));
        }
    }

    /// Returns the sites of a body and of all bodies that are nested in it.
    fn sites_nested_in(&self, body: BodyRef) -> Vec<SiteRef> {
        let mut sites = Vec::new();
        let mut bodies = vec![body];
        while let Some(next) = bodies.pop() {
            sites.extend(self.program.sites_in(next));
            bodies.extend(self.program.bodies_in(next));
        }
        sites
    }
}

/// Shuffles rows: a Fisher-Yates shuffle with SplitMix64 as the random number generator.
pub fn shuffle<T>(rows: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..rows.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut random = state;
        random = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random = (random ^ (random >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        random ^= random >> 31;
        let swapped_index = usize::try_from(random % (last as u64 + 1)).unwrap_or(last);
        rows.swap(last, swapped_index);
    }
}
