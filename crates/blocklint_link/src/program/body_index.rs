//! An index of one file by body: the sites, exits, regions and inner bodies of each body. With it, the cost of a query
//! about one body depends on the size of the body, not of the file.

use blocklint_facts::{BodyId, FileFacts, RegionId, SiteId};

/// Indices of rows of a table, grouped by a key that is counted from 0. Rows of one key are in the order of the table.
#[derive(Debug)]
struct PlacesByKey {
    /// The start of the run of each key in `places`; one entry more than keys.
    starts: Box<[u32]>,
    places: Box<[u32]>,
}

impl PlacesByKey {
    /// Builds the index. `keys` yields the key of each row; rows without a key are left out.
    fn new(count: usize, keys: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let mut starts = vec![0u32; count + 1];
        for key in keys.clone().flatten().filter(|key| *key < count) {
            starts[key + 1] += 1;
        }
        for key in 0..count {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut places = vec![0u32; starts[count] as usize];
        for (place, key) in keys.enumerate() {
            if let Some(key) = key.filter(|key| *key < count) {
                places[next[key] as usize] = place as u32;
                next[key] += 1;
            }
        }
        PlacesByKey { starts: starts.into(), places: places.into() }
    }

    fn places_of(&self, key: usize) -> &[u32] {
        match self.starts.get(key..).and_then(<[_]>::first_chunk) {
            Some([start, end]) => &self.places[*start as usize..*end as usize],
            None => &[],
        }
    }
}

/// The sites, exits, regions and bodies of one file, by the body around them.
#[derive(Debug)]
pub(super) struct ByBody {
    sites: PlacesByKey,
    exits: PlacesByKey,
    regions: PlacesByKey,
    bodies: PlacesByKey,
}

impl ByBody {
    /// Builds the index of one file.
    pub(super) fn new(facts: &FileFacts) -> Self {
        let count = facts.bodies.len();
        let key = |body: BodyId| body.get().map(BodyId::index);
        ByBody {
            sites: PlacesByKey::new(count, facts.sites.iter().map(|site_facts| key(facts.body_of(site_facts.at)))),
            exits: PlacesByKey::new(count, facts.exits.iter().map(|exit| key(facts.body_of(exit.at)))),
            regions: PlacesByKey::new(count, facts.regions.iter().map(|row| key(row.body))),
            bodies: PlacesByKey::new(count, facts.bodies.iter().map(|body_facts| key(body_facts.parent))),
        }
    }

    pub(super) fn sites(&self, body: BodyId) -> impl Iterator<Item = SiteId> + Clone {
        self.sites.places_of(body.index()).iter().map(|place| SiteId(*place))
    }

    pub(super) fn exits(&self, body: BodyId) -> impl Iterator<Item = usize> + Clone {
        self.exits.places_of(body.index()).iter().map(|place| *place as usize)
    }

    pub(super) fn regions(&self, body: BodyId) -> impl Iterator<Item = RegionId> + Clone {
        self.regions.places_of(body.index()).iter().map(|place| RegionId(*place))
    }

    pub(super) fn bodies(&self, body: BodyId) -> impl Iterator<Item = BodyId> + Clone {
        self.bodies.places_of(body.index()).iter().map(|place| BodyId(*place))
    }
}
