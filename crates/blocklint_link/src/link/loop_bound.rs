//! Bodies that work only in the thread of a running loop: handed to another thread, they would fail.

use blocklint_core::{Context, Language};
use blocklint_models::{Asks, Concurrency, HandoverContext, HandoverRow, Runs, Selector, Uses};
use rustc_hash::FxHashMap;

use crate::link::Link;
use crate::link::targets::Target;
use crate::link::value::EnvId;
use crate::program::ids::{BodyRef, SiteRef};

/// The calls that, by their names, may make tasks on the running loop or ask for it.
pub struct LoopBound {
    sites: FxHashMap<BodyRef, Vec<SiteRef>>,
}

impl LoopBound {
    /// Looks for the names alone.
    pub fn new(link: &Link<'_>) -> Self {
        let models = link.library.of(Language::Python);
        let hands = |row: &&HandoverRow| is_loops(row);
        let names = models
            .names(Uses::HANDOVER)
            .filter(|name| name.paths(Uses::HANDOVER).any(|of| models.handovers(of.path).iter().any(|r| hands(&r.row))))
            .chain(models.names(Uses::ASKS))
            .chain(models.names(Uses::CONCURRENCY));
        let mut sites: FxHashMap<BodyRef, Vec<SiteRef>> = FxHashMap::default();
        for row in names {
            let Some(name) = link.program.name(row.name) else { continue };
            for site in link.with_aliases(name).into_iter().flat_map(|name| link.program.sites_named(name)) {
                if link.program.facts(site.file).language == Language::Python {
                    sites.entry(link.program.body_of_site(site)).or_default().push(site);
                }
            }
        }
        LoopBound { sites }
    }

    /// Whether a body itself needs a running loop in its thread.
    pub fn holds(&self, link: &Link<'_>, body: BodyRef) -> bool {
        let sites = self.sites.get(&body).map_or(&[][..], Vec::as_slice);
        sites.iter().any(|&site| {
            link.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Row { path, .. } => {
                    let handed = link.library.handovers(path);
                    link.library.calls(path).iter().any(|row| {
                        // What starts coroutines; what starts functions in threads has a handover for them.
                        row.asks == Some(Asks::RunningLoop)
                            || row.concurrency == Some(Concurrency::Unbounded) && handed.is_empty()
                    }) || handed.iter().any(|row| is_loops(row.row))
                }
                _ => false,
            })
        })
    }
}

/// Whether a row hands an argument to the loop of this thread.
fn is_loops(row: &HandoverRow) -> bool {
    matches!(row.selector, Selector::Argument(_))
        && matches!(row.context, HandoverContext::Is(Runs::In(Context::EventLoop)))
}
