//! All conditions on parameters that a place stands under. A label carries the innermost one to its callers; the others are
//! asked of each direct caller alone.

use std::rc::Rc;

use blocklint_facts::RegionId;
use rustc_hash::FxHashMap;

use crate::conditions::branches::answer;
use crate::entries::callers::{Caller, CallerKind};
use crate::graph::label::{Guard, Question};
use crate::link::Link;
use crate::link::constants::Constant;
use crate::link::rows::Shown;
use crate::link::value::EnvId;
use crate::program::ids::{BodyRef, SiteRef};
use crate::search::{Next, Search, State, StateId, Way};

/// Ways of one state beyond which callers do not choose among them.
const MOST_WAYS: usize = 32;

impl Search<'_, '_> {
    /// Whether a caller rules out that a site of the body it calls is reached: by what it passes, or by the object it calls
    /// the body on.
    pub(crate) fn is_out(&self, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
        let is_conditional = self.remembered.conditional.borrow().get(&site).copied();
        let is_conditional = is_conditional.unwrap_or_else(|| {
            let found = self.link.is_conditional(site);
            self.remembered.conditional.borrow_mut().insert(site, found);
            found
        });
        if !is_conditional {
            return false;
        }
        let key = (caller, body, site);
        if let Some(&known) = self.remembered.outs.borrow().get(&key) {
            return known;
        }
        let is_out = self.link.rules_out(caller, body, site)
            || self.link.asks_for_left_out(&self.callers, caller, body, site)
            || self.link.own_state_rules_out(caller, body, site);
        self.remembered.outs.borrow_mut().insert(key, is_out);
        is_out
    }

    /// Makes each way lead on only where its own call does: of several ways of one state what the call passes may rule out
    /// some.
    pub(crate) fn leave_out_what_is_ruled_out(&mut self) {
        let decides = |state: &State| {
            let mut sites = state.ways.iter().map(|way| way.site);
            (2..=MOST_WAYS).contains(&state.ways.len()) && sites.any(|site| self.link.is_conditional(site))
        };
        let decides: Vec<bool> = self.graph.states.iter().map(decides).collect();
        let mut changes = Vec::new();
        let edges = self.graph.states.iter().enumerate().flat_map(|(at, state)| {
            state.ways.iter().enumerate().map(move |(nth, way)| (Edge::Way(at, nth), *way, state.node.env))
        });
        let hits = self.graph.hits.iter().enumerate().map(|(at, hit)| (Edge::Hit(at), hit.way, EnvId::NONE));
        for (edge, way, env) in edges.chain(hits) {
            let Next::State(next) = way.next else { continue };
            if decides[next.0 as usize]
                && let Some(left) = self.left_of(way, env, next)
            {
                changes.push((edge, next, left));
            }
        }
        let mut restricted: FxHashMap<(StateId, Vec<usize>), StateId> = FxHashMap::default();
        for (edge, next, left) in changes {
            let id = *restricted.entry((next, left)).or_insert_with(|| {
                let of = &self.graph.states[next.0 as usize];
                let (node, label) = (of.node, of.label);
                self.graph.states.push(State { node, label, ways: Vec::new() });
                StateId(self.graph.states.len() as u32 - 1)
            });
            match edge {
                Edge::Way(state, nth) => self.graph.states[state].ways[nth].next = Next::State(id),
                Edge::Hit(hit) => self.graph.hits[hit].way.next = Next::State(id),
            }
        }
        // Now that each way leads where it does.
        for ((of, left), id) in restricted {
            let ways = &self.graph.states[of.0 as usize].ways;
            let ways = left.into_iter().map(|nth| ways[nth]).collect();
            self.graph.states[id.0 as usize].ways = ways;
        }
    }

    /// Which ways of a state a way to it does not rule out; nothing if it rules out none.
    fn left_of(&self, way: Way, env: EnvId, next: StateId) -> Option<Vec<usize>> {
        let state = &self.graph.states[next.0 as usize];
        let body = state.node.body;
        if way.arg.is_some() {
            return None;
        }
        let with_receiver = self.link.targets(way.site, env).receiver_of(body)?;
        let caller = Caller::plain(way.site, env, with_receiver);
        let ways = state.ways.iter().enumerate();
        let left: Vec<usize> =
            ways.filter(|(_, way)| !self.is_out(caller, body, way.site)).map(|(nth, _)| nth).collect();
        (left.len() < state.ways.len()).then_some(left)
    }
}

/// A way of the graph, by where it stands.
enum Edge {
    Way(usize, usize),
    Hit(usize),
}

impl Link<'_> {
    /// Whether a caller may rule out that a site is reached.
    fn is_conditional(&self, site: SiteRef) -> bool {
        !self.guards_over(site).is_empty() || !self.parts_over(site).is_empty() || !self.own_tests_over(site).is_empty()
    }

    /// Whether what a caller passes to a body rules out that a site of it is reached.
    pub(crate) fn rules_out(&self, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
        if caller.arg.is_some() || caller.kind != CallerKind::Runs || self.program.body_of_site(site) != body {
            return false;
        }
        self.guards_over(site).iter().any(|guard| self.fails(caller, body, guard))
    }

    /// The conditions on parameters around a site, of all branches up to its body; remembered for its branch.
    pub(crate) fn guards_over(&self, site: SiteRef) -> Rc<[Guard]> {
        let facts = self.program.facts(site.file);
        let region = facts.site(site.site).at.region;
        if let Some(known) = self.guards.borrow().get(&(site.file, region)) {
            return known.clone();
        }
        let mut found = Vec::new();
        let mut at: RegionId = region;
        while let Some(id) = at.get() {
            found.extend(self.guards_of_branch(site, id).into_iter().filter(|guard| guard.escape.is_none()));
            at = facts.region(id).parent;
        }
        let found: Rc<[Guard]> = Rc::from(found);
        self.guards.borrow_mut().insert((site.file, region), found.clone());
        found
    }

    fn fails(&self, caller: Caller, body: BodyRef, guard: &Guard) -> bool {
        let Question::Choice(choice) = &*guard.question else { return false };
        if guard.asked.is_some() {
            return false;
        }
        let is_out = |constant: &Constant| match answer(choice, constant) {
            _ if guard.replaces(constant) => false,
            Shown::Yes => !guard.wanted,
            Shown::No => guard.wanted,
            Shown::Param(_) | Shown::Hidden => false,
        };
        match self.passed_with(caller.site, body, guard.param, caller.with_receiver) {
            Some(form) => {
                self.constants_at(caller.site, form, caller.env).iter().all(|reaching| is_out(&reaching.constant))
            }
            None if self.unpacks(caller.site) => false,
            None => self.default_of(body, guard.param).is_some_and(|constant| is_out(&constant)),
        }
    }
}
