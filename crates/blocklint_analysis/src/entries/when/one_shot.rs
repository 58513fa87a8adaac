//! Programs that do one thing and end: `raise SystemExit(main())`, where `main` runs one coroutine whose answer is the exit
//! code. Nobody else waits for that loop.

use blocklint_core::{Effect, Language};
use blocklint_facts::{
    BodyId, BodyKind, Comparison, FileFacts, Flow, Form, FormId, RegionKind, Site, SiteFlags, SiteId,
};
use blocklint_models::{Concurrency, Uses};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::code::regions::around;
use crate::entries::memo::Memo;
use crate::idioms;
use crate::link::Link;
use crate::link::targets::Target;
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, FileId, SiteRef};
use crate::program::index::Mention;

impl Link<'_> {
    /// Whether a function is such a program's main one: the file, run as a program, ends with what it gives, starts nothing
    /// beside the one coroutine, and awaits nothing that serves.
    pub(crate) fn is_one_shot(&self, main: BodyRef) -> bool {
        let facts = self.program.facts(main.file);
        let row = facts.body(main.body);
        let is_function = row.kind == BodyKind::Function && row.class.is_none();
        facts.language == Language::Python
            && is_function
            && self.is_exit_code(main)
            && !self.serves(main.file)
            && !self.starts_beside(main)
    }

    /// Whether a call makes a coroutine that a function drives for what it gives, on a loop that nobody else uses:
    /// `settings = asyncio.run(load())`. A program's main function is not one: what it drives serves others, as a rule.
    pub(crate) fn is_driven_alone(&self, made: SiteRef) -> bool {
        let facts = self.program.facts(made.file);
        let body = facts.body(facts.body_of(facts.site(made.site).at));
        let is_nested = body.parent.get().is_some_and(|parent| facts.body(parent).kind == BodyKind::Function);
        if facts.language != Language::Python
            || body.kind != BodyKind::Function
            || !is_nested && idioms::python::may_be_main(facts.text(body.name))
        {
            return false;
        }
        let index = self.program.index_of(made.file);
        self.drivers_of(made).iter().any(|&site| !index.uses_of_result(site).is_empty())
            && self.targets(made, EnvId::NONE).list.iter().all(|target| match *target {
                Target::Body { body, .. } => !self.serves_or_starts(body),
                _ => true,
            })
    }

    /// Whether a call makes a coroutine that a command line drives, and nothing that this awaits in turn starts tasks or serves: one
    /// person waits for it, on a loop that nobody else uses.
    pub(crate) fn is_driven_by_command(&self, made: SiteRef) -> bool {
        self.program.language(made.file) == Language::Python
            && self.program.is_command_line(made.file)
            && !self.drivers_of(made).is_empty()
            && self.targets(made, EnvId::NONE).list.iter().all(|target| match *target {
                Target::Body { body, .. } => self.is_quiet(body, 4, &mut FxHashSet::default()),
                _ => false,
            })
    }

    /// The calls that run the coroutine which a call makes, on a loop of their own: `asyncio.run(load())`.
    fn drivers_of(&self, made: SiteRef) -> SmallVec<[SiteId; 1]> {
        let index = self.program.index_of(made.file);
        let drives = |site: SiteId| {
            let callee = self.callee(SiteRef { file: made.file, site }, EnvId::NONE);
            self.values.members(callee.value).iter().any(|val| match *val {
                Val::External(path) | Val::Method { path, .. } => {
                    self.library.calls(path).effect().any(|row| row.held() == Some(Effect::NestedLoop))
                }
                _ => false,
            })
        };
        let first_arguments = index.uses_of_result(made.site).iter().filter_map(|(mention, _)| match mention {
            Mention::Arg(site, 0) => Some(site),
            _ => None,
        });
        first_arguments.filter(|&site| drives(site)).collect()
    }

    /// Whether neither a coroutine nor what it awaits of the project starts tasks or serves.
    fn is_quiet(&self, body: BodyRef, depth: u32, seen: &mut FxHashSet<BodyRef>) -> bool {
        if !seen.insert(body) {
            return true;
        }
        let facts = self.program.facts(body.file);
        if idioms::python::serves(facts.text(facts.body(body.body).name)) || self.serves_or_starts(body) {
            return false;
        }
        let Some(depth) = depth.checked_sub(1) else { return true };
        self.awaited_in(body).all(|site| {
            self.targets(site, EnvId::NONE).list.iter().all(|target| match *target {
                Target::Body { body, .. } => self.is_quiet(body, depth, seen),
                _ => true,
            })
        })
    }

    /// Whether a coroutine starts tasks itself, or awaits what serves or goes on for ever.
    fn serves_or_starts(&self, body: BodyRef) -> bool {
        let facts = self.program.facts(body.file);
        let starting = self.starting_names();
        (0..facts.sites.len() as u32).map(SiteId).any(|site| {
            let row = facts.site(site);
            facts.body_of(row.at) == body.body
                && (awaits_what_serves(facts, &row) || {
                    let name = facts.text(row.name);
                    (starting.contains(name) || idioms::python::sounds_concurrent(name))
                        && self.may_start(SiteRef { file: body.file, site })
                })
        })
    }

    /// Whether a file that is run as a program ends with what a function of it gives.
    fn is_exit_code(&self, main: BodyRef) -> bool {
        let facts = self.program.facts(main.file);
        let name = facts.body(main.body).name;
        let is_main = |form: FormId| match facts.form(form) {
            Form::Result(call) => facts.site(call).name == name,
            _ => false,
        };
        self.sites_under(main.file, idioms::python::EXITS).any(|exit| {
            let at = facts.site(exit).at;
            facts.body_of(at) == BodyId(0)
                && facts.args_of(exit).iter().any(|arg| is_main(arg.value))
                && self.tests_over(SiteRef { file: main.file, site: exit }).any(|(test, holds)| {
                    holds
                        && matches!(facts.form(test), Form::Compare(Comparison::Eq, left, right)
                        if [left, right].iter().any(|&side| self.is_module_name(main.file, side)))
                })
        })
    }

    fn is_module_name(&self, file: FileId, form: FormId) -> bool {
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Name(sym) => facts.text(sym) == "__name__",
            Form::Var(var) => facts.text(facts.var(var).name) == "__name__",
            _ => false,
        }
    }

    /// Whether a file awaits what, by its name, serves, or awaits for ever.
    fn serves(&self, file: FileId) -> bool {
        let facts = self.program.facts(file);
        facts.sites.iter().any(|row| awaits_what_serves(facts, &row))
    }

    /// Whether another body of the file starts tasks beside its own.
    fn starts_beside(&self, main: BodyRef) -> bool {
        let starting = self.starting_names();
        let facts = self.program.facts(main.file);
        (0..facts.sites.len() as u32).map(SiteId).any(|site| {
            let row = facts.site(site);
            facts.body_of(row.at) != main.body
                && starting.contains(facts.text(row.name))
                && self.may_start(SiteRef { file: main.file, site })
        })
    }

    /// Python: whether tasks run beside a site: it makes a coroutine that is neither awaited nor driven there, or the body of the
    /// site started some before, or began to serve.
    pub(crate) fn runs_beside_others(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if facts.language != Language::Python {
            return false;
        }
        let row = facts.site(site.site);
        let makes_coroutine = || {
            self.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
                Target::Body { body, .. } => self.program.facts(body.file).body(body.body).flow == Flow::Coroutine,
                _ => false,
            })
        };
        let is_task = !row.flags.has(SiteFlags::AWAITED) && makes_coroutine() && self.drivers_of(site).is_empty();
        let starting = self.starting_names();
        is_task
            || (0..facts.sites.len() as u32).map(SiteId).any(|other| {
                let before = facts.site(other);
                facts.body_of(before.at) == facts.body_of(row.at)
                    && before.at.position < row.at.position
                    && (awaits_what_serves(facts, &before)
                        || starting.contains(facts.text(before.name))
                            && self.may_start(SiteRef { file: site.file, site: other }))
            })
    }

    /// Whether a call is one that starts tasks, or is not known and sounds so.
    fn may_start(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        let targets = self.targets(site, EnvId::NONE);
        targets.list.is_empty() && idioms::python::sounds_concurrent(facts.text(facts.site(site.site).name))
            || targets.list.iter().any(|target| match *target {
                Target::Row { path, .. } => {
                    self.library.calls(path).iter().any(|row| row.row.concurrency == Some(Concurrency::Unbounded))
                }
                _ => false,
            })
    }

    /// The names of library calls that start tasks.
    fn starting_names(&self) -> &FxHashSet<String> {
        self.above::<Memo>().starting.get_or_init(|| {
            let models = self.library.of(Language::Python);
            models.names(Uses::CONCURRENCY).map(|name| name.name.to_owned()).collect()
        })
    }
}

/// Whether a call is awaited that, by its name, serves, or that stands in a loop without end.
fn awaits_what_serves(facts: &FileFacts, row: &Site) -> bool {
    row.flags.has(SiteFlags::AWAITED)
        && (idioms::python::serves(facts.text(row.name)) || {
            around(facts, row.at.region)
                .map(|id| facts.region(id))
                .any(|region| region.kind == RegionKind::Loop && facts.form(region.test) == Form::Bool(true))
        })
}
