//! Questions in a random order before the search, for tests: an answer must not depend on the question that was asked first.

use crate::linker::Linker;
use crate::program::ids::SiteRef;
use crate::values::value::EnvId;

impl Linker<'_> {
    /// Asks for the targets of every call site, in an order that depends on the seed alone.
    pub fn ask_first(&self, seed: u64) {
        let mut sites = self.program.all_sites();
        shuffle(&mut sites, seed);
        for site in sites {
            self.targets(site, EnvId::NONE);
        }
    }
}

/// Shuffles sites by the method of Fisher and Yates, with the random numbers of SplitMix64.
fn shuffle(sites: &mut [SiteRef], seed: u64) {
    let mut state = seed;
    for last in (1..sites.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut random = state;
        random = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random = (random ^ (random >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        random ^= random >> 31;
        let other = usize::try_from(random % (last as u64 + 1)).unwrap_or(last);
        sites.swap(last, other);
    }
}
