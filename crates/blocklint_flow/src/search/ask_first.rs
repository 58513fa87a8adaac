//! Queries in a random order before the search, for tests that findings do not depend on the order of queries: targets
//! of calls, callers of bodies, roots.

use blocklint_link::linker::ask_first::shuffle;
use blocklint_link::linker::work::WorkUnit;

use crate::callers::Node;
use crate::search::Search;

impl Search<'_, '_> {
    /// Computes all targets, callers and roots before the search, in an order that depends on the seed alone.
    pub fn with_shuffled_queries(self, seed: u64) -> Self {
        self.linker.ask_first(seed);
        let mut bodies = self.linker.program.all_bodies();
        shuffle(&mut bodies, seed);
        for body in bodies {
            self.linker.attempt(WorkUnit::Body(body), || {
                self.callers_of_labels.find_callers(Node::plain(body));
                self.conditions.callers.call_sites(body);
                self.conditions.roots.find_root(body);
            });
        }
        self
    }
}
