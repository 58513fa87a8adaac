//! Which facts hold for the unit that a file belongs to: switches of the models, greenlets, adapters.

use crate::lang;
use blocklint_core::{Language, Runtime};
use blocklint_facts::{RegionKind, SiteKind};
use blocklint_models::{Condition, Subject, Switch, SwitchContext};

use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::values::value::{EnvId, Val};

/// The units of a run, each with its switches that are on.
pub struct Units {
    /// Folder of each, as the layout lists them.
    folders: Vec<String>,
    rows: Vec<UnitRow>,
}

/// One unit.
#[derive(Clone, Debug, Default)]
pub struct UnitRow {
    /// Names of the switches that are on.
    pub on: Vec<String>,
    /// Whose greenlets its threads are.
    pub greenlets: Option<Runtime>,
    /// Every call that patches leaves threads alone (`thread=False`), so that they are real ones.
    pub real_threads: bool,
    /// The files whose calls patch, where nothing else shows that its threads are greenlets.
    pub patched_in: Vec<FileId>,
    /// The behaviour of other versions that a declared range allows, in words, by the switch that they turn.
    pub other_paths: Vec<(String, String)>,
    /// Libraries whose native calls an adapter made cooperative.
    pub green: Vec<String>,
}

/// Functions by which a rule answers for the switches that it asks for.
#[derive(Clone, Copy)]
pub struct ByCode {
    /// Returns true if the code of a folder shows that a switch is on, where versions do not show it.
    pub shows: fn(&Linker<'_>, &str, &str) -> bool,
    /// Returns the behaviour of other versions that a declared range allows, in words.
    pub other_path: fn(&str, &crate::program::Dependency) -> Option<String>,
}

impl Units {
    /// Builds the units: finds out for each switch of the models whether code or layout turns it on.
    pub fn new(linker: &Linker<'_>, by_code: ByCode) -> Self {
        let layout = &linker.program.layout.units;
        let mut units = Units {
            folders: layout.iter().map(|unit| unit.folder.clone()).collect(),
            rows: layout.iter().map(|unit| UnitRow { on: unit.switches.clone(), ..UnitRow::default() }).collect(),
        };
        if units.folders.is_empty() {
            units.folders.push(String::new());
            units.rows.push(UnitRow::default());
        }
        let switches: Vec<&Switch> = linker.library.of(Language::Python).switches().map(|(switch, _)| switch).collect();
        for switch in &switches {
            for file in turned_on_by(linker, switch) {
                let at = units.at(linker, file);
                let is_off = layout.get(at).is_some_and(|unit| unit.off.contains(&switch.name));
                if !is_off && !units.rows[at].on.contains(&switch.name) {
                    units.rows[at].on.push(switch.name.clone());
                }
            }
        }
        units.read_versions(linker, &switches, by_code);
        for switch in switches.iter().filter(|switch| switch.context == Some(SwitchContext::Greenlet)) {
            let calls = switch.call.iter().flat_map(|path| calls_of(linker, path));
            let calls: Vec<SiteRef> = calls.filter(|site| !is_asked_for(linker, *site)).collect();
            for at in 0..units.rows.len() {
                let own = |site: &&SiteRef| units.at(linker, site.file) == at && !is_aside(linker, site.file);
                let own: Vec<SiteRef> = calls.iter().filter(own).copied().collect();
                let set = layout.get(at).is_some_and(|unit| unit.switches.contains(&switch.name));
                if !own.is_empty() && !set {
                    units.rows[at].real_threads = own.iter().all(|site| leaves_threads(linker, *site));
                    units.rows[at].patched_in.extend(own.iter().map(|site| site.file));
                }
            }
        }
        for row in &mut units.rows {
            for switch in switches.iter().filter(|switch| row.on.contains(&switch.name)) {
                if switch.context == Some(SwitchContext::Greenlet) {
                    row.greenlets = row.greenlets.or(Runtime::parse(&switch.name)).or(Some(Runtime::Gevent));
                }
                row.green.extend(switch.green.iter().cloned());
            }
        }
        units
    }

    /// Turns on the switches that versions of dependencies decide.
    fn read_versions(&mut self, linker: &Linker<'_>, switches: &[&Switch], by_code: ByCode) {
        let layout = &linker.program.layout.units;
        for at in 0..self.rows.len() {
            let folder = &self.folders[at];
            // A unit without a word on a dependency has that of the folder above.
            let mut above: Vec<_> = layout
                .iter()
                .filter(|unit| unit.folder == *folder || unit.folder.is_empty() || is_below(folder, &unit.folder))
                .collect();
            above.sort_by_key(|unit| std::cmp::Reverse(unit.folder.len()));
            let known = |library: &str| {
                above.iter().find_map(|unit| unit.versions.iter().find(|dependency| dependency.name == library))
            };
            for switch in switches {
                let (Some(library), Some(range)) = (&switch.library, &switch.version) else { continue };
                let dependency = known(library);
                let exact = dependency.is_some_and(|dependency| dependency.is_exact);
                let holds = range.holds(dependency.and_then(|dependency| dependency.version.as_ref()));
                let shows_by_code = || !exact && (by_code.shows)(linker, folder, &switch.name);
                if (holds || shows_by_code()) && !self.rows[at].on.contains(&switch.name) {
                    self.rows[at].on.push(switch.name.clone());
                }
                if let Some(dependency) = dependency.filter(|dependency| !dependency.is_exact)
                    && dependency.oldest.as_ref().is_some_and(|oldest| holds != range.holds(Some(oldest)))
                    && let Some(words) = (by_code.other_path)(&switch.name, dependency)
                {
                    self.rows[at].other_paths.push((switch.name.clone(), words));
                }
            }
        }
    }

    /// True if a unit has greenlets.
    pub fn any_greenlets(&self) -> bool {
        self.rows.iter().any(|row| row.greenlets.is_some())
    }

    /// Returns the files whose calls patch, where nothing else shows that threads are greenlets.
    pub fn patched_in(&self) -> impl Iterator<Item = FileId> {
        self.rows.iter().flat_map(|row| row.patched_in.iter().copied())
    }

    /// True if something other than code turns a switch on for a file's unit, such as the command that starts the
    /// program.
    pub fn is_set(&self, linker: &Linker<'_>, file: FileId, name: &str) -> bool {
        let unit = linker.program.layout.units.get(self.at(linker, file));
        unit.is_some_and(|unit| unit.switches.iter().any(|on| on == name))
    }

    /// Returns the unit of a file.
    pub fn of(&self, linker: &Linker<'_>, file: FileId) -> &UnitRow {
        &self.rows[self.at(linker, file)]
    }

    fn at(&self, linker: &Linker<'_>, file: FileId) -> usize {
        let relative = &linker.program.files[file.index()].relative;
        let holds = |folder: &str| folder.is_empty() || is_below(relative, folder);
        let holding = self.folders.iter().enumerate().filter(|(_, folder)| holds(folder));
        holding.max_by_key(|(_, folder)| folder.len()).map_or(0, |(at, _)| at)
    }
}

impl Linker<'_> {
    /// Returns the oldest Python that a file's unit states that it runs on: major and minor number.
    pub fn oldest_python(&self, file: FileId) -> Option<(u8, u8)> {
        let relative = &self.program.files[file.index()].relative;
        let units = self.program.layout.units.iter();
        let holding = units.filter(|unit| unit.folder.is_empty() || is_below(relative, &unit.folder));
        holding.max_by_key(|unit| unit.folder.len())?.python
    }
}

impl UnitRow {
    /// True if a condition on a switch is shown in this unit; false for conditions on other subjects.
    pub fn shows(&self, condition: &Condition) -> bool {
        match &condition.subject {
            Subject::Switch(names) => names.iter().any(|name| self.on.contains(name)),
            _ => false,
        }
    }
}

fn is_below(folder: &str, above: &str) -> bool {
    folder.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// True if a module lies in a package.
fn is_module_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the files whose code turns a switch on; tests turn none on for what they test.
fn turned_on_by(linker: &Linker<'_>, switch: &Switch) -> Vec<FileId> {
    let mut found: Vec<FileId> = Vec::new();
    for path in &switch.call {
        let speaks = |site: &SiteRef| switch.context != Some(SwitchContext::Greenlet) || !is_asked_for(linker, *site);
        found.extend(calls_of(linker, path).into_iter().filter(speaks).map(|site| site.file));
    }
    for module in &switch.import {
        let mut heads: Vec<FileId> = Vec::new();
        // `from a.b import c` names `a.b`, `import a.b` too.
        let names = [Some(module.as_str()), module.rsplit_once('.').map(|(parent, _)| parent)];
        for name in names.into_iter().flatten().filter_map(|text| linker.program.name(text)) {
            heads.extend(linker.program.occurrences(name).iter().map(|(file, _)| *file));
        }
        let imports = |file: &FileId| {
            let facts = linker.program.facts(*file);
            facts.language == Language::Python
                && facts.imports.iter().any(|import| {
                    let text = facts.text(import.module);
                    let taken = || module.strip_prefix(text).and_then(|rest| rest.strip_prefix('.'));
                    import.level == 0
                        && (text == module
                            || is_module_below(text, module)
                            || taken().is_some_and(|name| name == facts.text(import.name)))
                })
        };
        found.extend(heads.into_iter().filter(imports));
    }
    found.retain(|file| !is_aside(linker, *file));
    found.sort();
    found.dedup();
    found
}

/// True if a file's own calls show nothing about the program, because it holds tests, examples or documentation.
fn is_aside(linker: &Linker<'_>, file: FileId) -> bool {
    let relative = &linker.program.files[file.index()].relative;
    linker.program.is_test(file)
        || relative.split('/').any(|folder| matches!(folder, "docs" | "doc" | "examples" | "example"))
}

/// True if a call runs only where the environment asks for it: `if os.environ.get("PATCH"):`. Most environments do not.
fn is_asked_for(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut at = linker.program.site(site).at.region;
    while let Some(id) = at.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Then && lang::python::conventions::is_environment_test(facts, region.test) {
            return true;
        }
        at = region.parent;
    }
    false
}

/// True if a call that patches leaves threads alone: `thread=False`.
fn leaves_threads(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut args = linker.program.args_of(site).into_iter();
    args.any(|arg| facts.text(arg.name) == "thread" && facts.form(arg.value) == blocklint_facts::Form::Bool(false))
}

/// Returns the calls of a library's function, by whatever name.
pub fn calls_of(linker: &Linker<'_>, path: &str) -> Vec<SiteRef> {
    let wanted = linker.library.path(Language::Python, path);
    let last = path.rsplit('.').next().unwrap_or(path);
    let Some(name) = linker.program.name(last) else { return Vec::new() };
    let mut found = Vec::new();
    for name in linker.with_aliases(name) {
        for &(file, sym) in linker.program.occurrences(name) {
            if linker.program.language(file) != Language::Python {
                continue;
            }
            for &site in linker.program.index_of(file).sites_named(sym) {
                let site = file.site_ref(site);
                if linker.program.site(site).kind != SiteKind::Call {
                    continue;
                }
                let members = linker.values.members(linker.callee(site, EnvId::NONE).value);
                let is_it =
                    |val: &Val| matches!(*val, Val::External(of) | Val::Method { path: of, .. } if of == wanted);
                if members.iter().any(is_it) {
                    found.push(site);
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
}
