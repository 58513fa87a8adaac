//! The life of a Rust program: what runs before it serves, and programs that serve nobody.
//!
//! `main` runs once. What it calls up to the first place from which a server or an endless loop is reached runs while
//! nobody is served, and so does what such a callee runs up to its own first place of that kind. A program none of
//! whose crates listens or loops for ever is a command: it answers the one who waits for it.

use blocklint_core::{Language, Span};
use blocklint_facts::{BodyId, BodyKind, Form, RegionId, RegionKind, SiteFlags, SiteKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callers::Callers;
use crate::hierarchy::Ancestor;
use crate::ids::{BodyRef, ClassRef, FileId, SiteRef};
use crate::link::Link;
use crate::mentions::Mention;
use crate::names::{rust_modules, rust_serving};
use crate::scopes::When;
use crate::value::{EnvId, Val};

/// How many callers up.
const DEPTH: u32 = 24;

/// Callers looked at for one function.
const MOST_SITES: usize = 128;

/// Functions that may be found to reach a server; a program with more of them is not followed further.
const MOST_SERVING: usize = 4096;

/// When functions of Rust are entered, remembered.
pub(crate) struct Life<'s, 'l, 'a> {
    link: &'l Link<'a>,
    callers: &'s Callers<'l, 'a>,
    serving: Option<Serving>,
    /// `None` while it is asked for.
    entered: FxHashMap<BodyRef, Option<When>>,
}

/// From where servers are reached.
#[derive(Default)]
struct Serving {
    /// Where in a function: a call that serves, or one that leads there.
    points: FxHashMap<BodyRef, Vec<Point>>,
    /// Functions that wait for a server until it ends.
    to_the_end: FxHashSet<BodyRef>,
    /// By crate: whether its code serves or loops for ever; where no manifest speaks for a file the last entry.
    crates: Vec<bool>,
    /// Whether a program is a command, by the crate of its `main`.
    commands: FxHashMap<usize, bool>,
}

/// A place from which a server is reached.
#[derive(Clone, Copy)]
struct Point {
    span: Span,
    region: RegionId,
    /// What follows runs after the server has ended.
    to_the_end: bool,
}

impl<'s, 'l, 'a> Life<'s, 'l, 'a> {
    /// Nothing asked yet.
    pub(crate) fn new(link: &'l Link<'a>, callers: &'s Callers<'l, 'a>) -> Self {
        Life { link, callers, serving: None, entered: FxHashMap::default() }
    }

    /// When a site runs.
    pub(crate) fn of_site(&mut self, site: SiteRef) -> When {
        self.site(site, DEPTH).unwrap_or(When::Unknown)
    }

    /// The same; `None` where only those call its function that are asked for already.
    fn site(&mut self, site: SiteRef, depth: u32) -> Option<When> {
        let inner = self.link.program.body_of_site(site);
        if self.link.is_for_tests(inner) {
            return Some(When::Test);
        }
        let function = self.function_around(inner);
        match self.entered(function, depth)? {
            When::StartUp if self.runs_before_serving(site, inner, function) => Some(When::StartUp),
            When::StartUp => Some(When::Unknown),
            when => Some(when),
        }
    }

    /// The function a body stands in: closures and blocks belong to it.
    fn function_around(&self, body: BodyRef) -> BodyRef {
        let facts = self.link.program.facts(body.file);
        let mut at = body.body;
        while matches!(
            facts.body(at).kind,
            BodyKind::Lambda | BodyKind::AsyncBlock | BodyKind::GeneratorExpression
        ) && let Some(parent) = facts.body(at).parent.get()
        {
            at = parent;
        }
        BodyRef { file: body.file, body: at }
    }

    /// When a function is entered.
    fn entered(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        if let Some(&known) = self.entered.get(&body) {
            return known;
        }
        // A cycle tells nothing: its other callers decide.
        self.entered.insert(body, None);
        let when = self.find(body, depth);
        match when {
            Some(_) => self.entered.insert(body, when),
            None => self.entered.remove(&body),
        };
        when
    }

    fn find(&mut self, body: BodyRef, depth: u32) -> Option<When> {
        let link = self.link;
        if link.is_for_tests(body) {
            return Some(When::Test);
        }
        if link.program.is_command_line(body.file) {
            return Some(When::Command);
        }
        if self.is_main(body) {
            return Some(self.main(body));
        }
        if let Some(when) = crate::scopes::registered(link, body) {
            return Some(when);
        }
        let Some(depth) = depth.checked_sub(1) else { return Some(When::Unknown) };
        let Some(sites) = self.entering(body) else { return Some(When::Unknown) };
        if sites.is_empty() || sites.len() > MOST_SITES {
            return Some(When::Unknown);
        }
        let mut all: Option<When> = None;
        for site in sites {
            let when = self.site(site, depth);
            all = match (all, when) {
                (Some(known), Some(when)) => Some(known.and(when)),
                (known, when) => known.or(when),
            };
            if matches!(all, Some(When::Serving | When::Unknown)) {
                break;
            }
        }
        all
    }

    /// Whether a function is where a program begins.
    fn is_main(&self, body: BodyRef) -> bool {
        let facts = self.link.program.facts(body.file);
        let row = facts.body(body.body);
        let relative = &self.link.program.files[body.file.index()].relative;
        row.kind == BodyKind::Function
            && facts.text(row.name) == "main"
            && row.parent.get() == Some(BodyId(0))
            && rust_modules::is_crate_root(self.link, relative)
    }

    /// When a program's `main` runs, as far as what it does not say: nobody knows where its server is not found.
    fn main(&mut self, body: BodyRef) -> When {
        let relative = &self.link.program.files[body.file.index()].relative;
        if relative == "build.rs" || relative.ends_with("/build.rs") {
            return When::Command;
        }
        let package = self.crate_index(body.file);
        if let Some(package) = package
            && self.is_command(package)
        {
            return When::Command;
        }
        let has_points = self.serving().points.contains_key(&body) || self.endless_in(body).next().is_some();
        if has_points { When::StartUp } else { When::Unknown }
    }

    fn crate_index(&self, file: FileId) -> Option<usize> {
        let own = self.link.crate_of(file)?;
        self.link.program.layout.crates.iter().position(|package| std::ptr::eq(package, own))
    }

    /// Whether the programs of a crate serve nobody: neither it nor what it depends on listens or loops for ever.
    fn is_command(&mut self, package: usize) -> bool {
        let crates = &self.link.program.layout.crates;
        self.serving();
        let Some(serving) = &mut self.serving else { return false };
        if let Some(&known) = serving.commands.get(&package) {
            return known;
        }
        let mut open = vec![package];
        let mut at = 0;
        let mut is_command = true;
        while let Some(&next) = open.get(at) {
            at += 1;
            let Some(dependencies) = &crates[next].dependencies else {
                is_command = false;
                break;
            };
            if serving.crates[next] {
                is_command = false;
                break;
            }
            for (_, name, _) in dependencies {
                if let Some(found) = crates.iter().position(|package| package.package == *name)
                    && !open.contains(&found)
                {
                    open.push(found);
                }
            }
        }
        serving.commands.insert(package, is_command);
        is_command
    }

    /// The sites that run a function: calls, and calls that take it. None where it may be run unseen.
    fn entering(&self, body: BodyRef) -> Option<Vec<SiteRef>> {
        let link = self.link;
        let facts = link.program.facts(body.file);
        let row = facts.body(body.body);
        let mut sites: Vec<SiteRef> = self.callers.call_sites(body).to_vec();
        for (site, _) in link.given_body(body) {
            let here = link.program.facts(site.file);
            let taker = here.text(here.site(site.site).name);
            if !rust_serving::RUNS_IN_PLACE.contains(&taker) {
                return None;
            }
            sites.push(site);
        }
        if let Some(class) = row.class.get() {
            let class = ClassRef { file: body.file, class };
            let name = link.program.global(body.file, row.name)?;
            let bearers = link.bearers(name);
            for ancestor in link.mro(class).iter() {
                match ancestor {
                    Ancestor::Class(base) => sites.extend(bearers.by_base.get(base).into_iter().flatten()),
                    // Who calls a library's trait is not seen.
                    _ => return None,
                }
            }
            // A rare name on a receiver that is not known mostly means this method.
            if link.hierarchy.bodies_named(name) <= 2 {
                sites.extend(&bearers.unknown);
            }
        }
        sites.sort();
        sites.dedup();
        Some(sites)
    }

    /// Whether a site of a function that is entered at start-up runs before anybody is served, or after.
    fn runs_before_serving(&mut self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        if !self.runs_in_place(inner, function) || self.is_repeated(site, inner, function) {
            return false;
        }
        let link = self.link;
        let facts = link.program.facts(site.file);
        let row = facts.site(site.site);
        let endless: Vec<Point> = self.endless_in(function).collect();
        let points = self.serving().points.get(&function);
        points.into_iter().flatten().chain(&endless).all(|point| {
            let precedes = point.span.start < row.span.start && point.span.end <= row.span.start;
            !precedes || point.to_the_end || are_exclusive(link, site.file, point.region, row.at.region)
        })
    }

    /// Whether the closures around a body run once, where they stand.
    fn runs_in_place(&self, inner: BodyRef, function: BodyRef) -> bool {
        let link = self.link;
        let facts = link.program.facts(inner.file);
        let mut at = inner.body;
        while at != function.body {
            if facts.body(at).kind == BodyKind::Lambda {
                let uses = link.program.index_of(inner.file).uses_of_callable(at);
                let mut any = false;
                for (mention, _) in uses.iter() {
                    any = true;
                    let in_place = match mention {
                        Mention::Operand(_) => true,
                        Mention::Arg(site, _) => {
                            let name = facts.text(facts.site(site).name);
                            rust_serving::RUNS_IN_PLACE.contains(&name)
                                || self.is_of_std(SiteRef { file: inner.file, site })
                        }
                        _ => false,
                    };
                    if !in_place {
                        return false;
                    }
                }
                if !any {
                    return false;
                }
            }
            match facts.body(at).parent.get() {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        true
    }

    /// Whether a call is one of the standard library's.
    fn is_of_std(&self, site: SiteRef) -> bool {
        let link = self.link;
        link.values.members(link.callee(site, EnvId::NONE).value).iter().any(|&val| match val {
            Val::External(path) | Val::Method { path, .. } => {
                let text = link.library.text(path);
                text.starts_with("std::") || text.starts_with("core::")
            }
            _ => false,
        })
    }

    /// Whether a site stands in a loop that waits each time round, as those do that serve.
    fn is_repeated(&self, site: SiteRef, inner: BodyRef, function: BodyRef) -> bool {
        let facts = self.link.program.facts(site.file);
        let mut bodies = vec![inner.body];
        while let Some(&last) = bodies.last()
            && last != function.body
            && let Some(parent) = facts.body(last).parent.get()
        {
            bodies.push(parent);
        }
        let span = facts.site(site.site).span;
        facts.regions.iter().any(|region| {
            region.kind == RegionKind::Loop
                && bodies.contains(&region.body)
                && region.span.start <= span.start
                && span.end <= region.span.end
                && !facts.sites.iter().any(|row| row.kind == SiteKind::Iterate && row.callee == region.test)
        })
    }

    /// The endless loops of a function that wait, its closures apart.
    fn endless_in(&self, function: BodyRef) -> impl Iterator<Item = Point> {
        let facts = self.link.program.facts(function.file);
        facts
            .regions
            .iter()
            .enumerate()
            .filter(move |(at, region)| {
                region.body == function.body && is_endless(self.link, function.file, RegionId(*at as u32))
            })
            .map(|(at, region)| Point { span: region.span, region: RegionId(at as u32), to_the_end: false })
    }

    /// From where servers are reached, found when first asked for.
    fn serving(&mut self) -> &Serving {
        if self.serving.is_none() {
            let found = self.find_serving();
            self.serving = Some(found);
        }
        self.serving.get_or_insert_default()
    }

    fn find_serving(&self) -> Serving {
        let link = self.link;
        let program = link.program;
        let mut found =
            Serving { crates: vec![false; program.layout.crates.len() + 1], ..Serving::default() };
        let mut open = Vec::new();
        let names = [
            (rust_serving::SERVING, false),
            (rust_serving::SERVING_AWAITED, true),
        ];
        for (name, awaited) in names.into_iter().flat_map(|(names, awaited)| names.iter().map(move |&name| (name, awaited))) {
            let Some(name) = program.name(name) else { continue };
            for site in program.sites_named(name) {
                if self.is_serving(site, awaited) {
                    self.add(&mut found, &mut open, site, true);
                }
            }
        }
        for path in rust_serving::SERVING_PATHS {
            let last = path.rsplit("::").next().unwrap_or(path);
            let Some(name) = program.name(last) else { continue };
            for site in program.sites_named(name) {
                if program.language(site.file) == Language::Rust && self.calls_path(site, path) {
                    self.add(&mut found, &mut open, site, false);
                }
            }
        }
        for (slot, source) in program.files.iter().enumerate() {
            let file = FileId(slot as u32);
            if source.facts.language != Language::Rust {
                continue;
            }
            for at in 0..source.facts.regions.len() {
                let body = BodyRef { file, body: source.facts.region(RegionId(at as u32)).body };
                if is_endless(link, file, RegionId(at as u32)) && !link.is_for_tests(body) {
                    self.mark_crate(&mut found, file);
                }
            }
        }
        let mut seen: FxHashSet<BodyRef> = open.iter().copied().collect();
        while let Some(body) = open.pop() {
            if seen.len() > MOST_SERVING {
                break;
            }
            let to_the_end = found.to_the_end.contains(&body);
            let mut sites = self.callers.call_sites(body).to_vec();
            sites.extend(link.given_body(body).into_iter().map(|(site, _)| site));
            for site in sites {
                let mut above = Vec::new();
                self.add(&mut found, &mut above, site, to_the_end);
                open.extend(above.into_iter().filter(|&body| seen.insert(body)));
            }
        }
        found
    }

    /// Whether a call of a serving name serves: not one of the project, which does where its own code does.
    fn is_serving(&self, site: SiteRef, awaited: bool) -> bool {
        let link = self.link;
        let facts = link.program.facts(site.file);
        let row = facts.site(site.site);
        if facts.language != Language::Rust || row.kind != SiteKind::Call {
            return false;
        }
        if awaited && !row.flags.has(SiteFlags::AWAITED) {
            return false;
        }
        let targets = link.targets(site, EnvId::NONE);
        targets.list.iter().all(|target| matches!(target, crate::targets::Target::Row { .. }))
    }

    fn calls_path(&self, site: SiteRef, path: &str) -> bool {
        let link = self.link;
        link.values.members(link.callee(site, EnvId::NONE).value).iter().any(|&val| match val {
            Val::External(found) | Val::Method { path: found, .. } => *link.library.text(found) == *path,
            _ => false,
        })
    }

    /// Adds a place from which a server is reached.
    fn add(&self, found: &mut Serving, open: &mut Vec<BodyRef>, site: SiteRef, to_the_end: bool) {
        let link = self.link;
        let inner = link.program.body_of_site(site);
        if link.is_for_tests(inner) {
            return;
        }
        self.mark_crate(found, site.file);
        let function = self.function_around(inner);
        let facts = link.program.facts(site.file);
        let row = facts.site(site.site);
        let to_the_end = to_the_end && inner == function && row.flags.has(SiteFlags::AWAITED);
        if to_the_end {
            found.to_the_end.insert(function);
        }
        let points = found.points.entry(function).or_default();
        if points.is_empty() {
            open.push(function);
        }
        points.push(Point { span: row.span, region: row.at.region, to_the_end });
    }

    fn mark_crate(&self, found: &mut Serving, file: FileId) {
        let last = found.crates.len() - 1;
        let at = self.crate_index(file).unwrap_or(last);
        found.crates[at] = true;
    }
}

/// Whether a region is a loop that nothing leaves and that waits each time round.
fn is_endless(link: &Link<'_>, file: FileId, id: RegionId) -> bool {
    let facts = link.program.facts(file);
    let region = facts.region(id);
    if region.kind != RegionKind::Loop || facts.form(region.test) != Form::Bool(true) {
        return false;
    }
    let inside = |span: Span| region.span.start <= span.start && span.end <= region.span.end;
    let waits = facts.sites.iter().any(|row| {
        row.flags.has(SiteFlags::AWAITED) && facts.body_of(row.at) == region.body && inside(row.span)
    });
    waits && !facts.exits.iter().any(|exit| facts.body_of(exit.at) == region.body && inside(exit.span))
}

/// Whether two places stand in different arms of one branch.
fn are_exclusive(link: &Link<'_>, file: FileId, a: RegionId, b: RegionId) -> bool {
    let facts = link.program.facts(file);
    let arms = |from: RegionId| {
        let mut found = Vec::new();
        let mut at = from;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            if matches!(region.kind, RegionKind::Then | RegionKind::Else | RegionKind::Case) {
                found.push((region.body, region.group, id));
            }
            at = region.parent;
        }
        found
    };
    let (a, b) = (arms(a), arms(b));
    a.iter().any(|one| b.iter().any(|other| one.0 == other.0 && one.1 == other.1 && one.2 != other.2))
}
