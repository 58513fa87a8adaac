//! Facts of units (folders with a manifest): the switches of the models that are on, greenlets, and adapters that make
//! native calls cooperative.

use crate::lang;
use blocklint_core::{Language, Runtime};
use blocklint_facts::{Form, RegionKind, SiteKind};
use blocklint_models::{Condition, Subject, Switch, SwitchContext};

use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use crate::values::value::{EnvId, Val};

/// The units of a run and their facts.
pub struct Units {
    /// The folder of each unit, in the order of the layout.
    folders: Vec<String>,
    rows: Vec<UnitRow>,
}

/// The facts of one unit.
#[derive(Clone, Debug, Default)]
pub struct UnitRow {
    /// The names of the switches that are on.
    pub on: Vec<String>,
    /// The runtime whose greenlets replace the unit's threads.
    pub greenlets: Option<Runtime>,
    /// True if threads are real threads, because every call that patches has `thread=False`.
    pub real_threads: bool,
    /// The files whose calls patch, if the layout does not turn the switch on as well.
    pub patched_in: Vec<FileId>,
    /// The behaviour of other versions in a declared range, in words, by switch.
    pub other_paths: Vec<(String, String)>,
    /// The libraries whose native calls an adapter makes cooperative.
    pub green: Vec<String>,
}

/// Functions of a rule that decide switches by code and versions.
#[derive(Clone, Copy)]
pub struct SwitchEvidence {
    /// Returns true if the code of a folder shows that a switch is on, if no exact version decides it.
    pub shows: fn(&Linker<'_>, &str, &str) -> bool,
    /// Returns the behaviour of other versions in a declared range, in words.
    pub other_path: fn(&str, &crate::program::Dependency) -> Option<String>,
}

impl Units {
    /// Builds the units, with the switches that code or layout turns on.
    pub fn new(linker: &Linker<'_>, by_code: SwitchEvidence) -> Self {
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
            for file in files_turning_on(linker, switch) {
                let unit = units.unit_index(linker, file);
                let is_off = layout.get(unit).is_some_and(|unit| unit.off.contains(&switch.name));
                if !is_off && !units.rows[unit].on.contains(&switch.name) {
                    units.rows[unit].on.push(switch.name.clone());
                }
            }
        }
        units.read_versions(linker, &switches, by_code);
        for switch in switches.iter().filter(|switch| switch.context == Some(SwitchContext::Greenlet)) {
            let calls = switch.call.iter().flat_map(|path| calls_of(linker, path));
            let calls: Vec<SiteRef> = calls.filter(|site| !depends_on_environment(linker, *site)).collect();
            for index in 0..units.rows.len() {
                let is_own = |site: &&SiteRef| {
                    units.unit_index(linker, site.file) == index && !is_test_or_example(linker, site.file)
                };
                let own: Vec<SiteRef> = calls.iter().filter(is_own).copied().collect();
                let is_set = layout.get(index).is_some_and(|unit| unit.switches.contains(&switch.name));
                if !own.is_empty() && !is_set {
                    units.rows[index].real_threads = own.iter().all(|site| keeps_real_threads(linker, *site));
                    units.rows[index].patched_in.extend(own.iter().map(|site| site.file));
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
    fn read_versions(&mut self, linker: &Linker<'_>, switches: &[&Switch], by_code: SwitchEvidence) {
        let layout = &linker.program.layout.units;
        for index in 0..self.rows.len() {
            let folder = &self.folders[index];
            // A unit that does not state a version of a dependency has the version of the folder above.
            let mut above: Vec<_> = layout
                .iter()
                .filter(|unit| unit.folder == *folder || unit.folder.is_empty() || is_below(folder, &unit.folder))
                .collect();
            above.sort_by_key(|unit| std::cmp::Reverse(unit.folder.len()));
            let stated = |library: &str| {
                above.iter().find_map(|unit| unit.versions.iter().find(|dependency| dependency.name == library))
            };
            for switch in switches {
                let (Some(library), Some(range)) = (&switch.library, &switch.version) else { continue };
                let dependency = stated(library);
                let exact = dependency.is_some_and(|dependency| dependency.is_exact);
                let holds = range.contains(dependency.and_then(|dependency| dependency.version.as_ref()));
                let shows_by_code = || !exact && (by_code.shows)(linker, folder, &switch.name);
                if (holds || shows_by_code()) && !self.rows[index].on.contains(&switch.name) {
                    self.rows[index].on.push(switch.name.clone());
                }
                if let Some(dependency) = dependency.filter(|dependency| !dependency.is_exact)
                    && dependency.oldest.as_ref().is_some_and(|oldest| holds != range.contains(Some(oldest)))
                    && let Some(words) = (by_code.other_path)(&switch.name, dependency)
                {
                    self.rows[index].other_paths.push((switch.name.clone(), words));
                }
            }
        }
    }

    /// True if the threads of any unit are greenlets.
    pub fn any_greenlets(&self) -> bool {
        self.rows.iter().any(|row| row.greenlets.is_some())
    }

    /// Returns the files whose calls patch, in units whose layout does not turn the switch on as well.
    pub fn patched_in(&self) -> impl Iterator<Item = FileId> {
        self.rows.iter().flat_map(|row| row.patched_in.iter().copied())
    }

    /// True if the layout turns a switch on for a file's unit: the command that starts the program, or configuration.
    pub fn is_set(&self, linker: &Linker<'_>, file: FileId, name: &str) -> bool {
        let unit = linker.program.layout.units.get(self.unit_index(linker, file));
        unit.is_some_and(|unit| unit.switches.iter().any(|on| on == name))
    }

    /// Returns the facts of a file's unit.
    pub fn of(&self, linker: &Linker<'_>, file: FileId) -> &UnitRow {
        &self.rows[self.unit_index(linker, file)]
    }

    /// Returns the index of a file's unit: the innermost folder around the file.
    fn unit_index(&self, linker: &Linker<'_>, file: FileId) -> usize {
        let relative = &linker.program.files[file.index()].relative;
        let contains_file = |folder: &str| folder.is_empty() || is_below(relative, folder);
        let above = self.folders.iter().enumerate().filter(|(_, folder)| contains_file(folder));
        above.max_by_key(|(_, folder)| folder.len()).map_or(0, |(index, _)| index)
    }
}

impl Linker<'_> {
    /// Returns the oldest supported Python of a file's unit, by its manifests: major and minor number.
    pub fn oldest_python(&self, file: FileId) -> Option<(u8, u8)> {
        let relative = &self.program.files[file.index()].relative;
        let units = self.program.layout.units.iter();
        let above = units.filter(|unit| unit.folder.is_empty() || is_below(relative, &unit.folder));
        above.max_by_key(|unit| unit.folder.len())?.python
    }
}

impl UnitRow {
    /// True if a condition on a switch holds in this unit; false for conditions on other subjects.
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

/// True if a module is inside of a package.
fn is_module_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the files whose code turns a switch on, without tests and examples.
fn files_turning_on(linker: &Linker<'_>, switch: &Switch) -> Vec<FileId> {
    let mut files: Vec<FileId> = Vec::new();
    for path in &switch.call {
        let is_unconditional =
            |site: &SiteRef| switch.context != Some(SwitchContext::Greenlet) || !depends_on_environment(linker, *site);
        files.extend(calls_of(linker, path).into_iter().filter(is_unconditional).map(|site| site.file));
    }
    for module in &switch.import {
        let mut candidates: Vec<FileId> = Vec::new();
        // `from a.b import c` and `import a.b` both contain the name `a.b`.
        let names = [Some(module.as_str()), module.rsplit_once('.').map(|(parent, _)| parent)];
        for name in names.into_iter().flatten().filter_map(|text| linker.program.name(text)) {
            candidates.extend(linker.program.occurrences(name).iter().map(|(file, _)| *file));
        }
        let imports = |file: &FileId| {
            let facts = linker.program.facts(*file);
            facts.language == Language::Python
                && facts.imports.iter().any(|import| {
                    let text = facts.text(import.module);
                    let imported_name = || module.strip_prefix(text).and_then(|rest| rest.strip_prefix('.'));
                    import.level == 0
                        && (text == module
                            || is_module_below(text, module)
                            || imported_name().is_some_and(|name| name == facts.text(import.name)))
                })
        };
        files.extend(candidates.into_iter().filter(imports));
    }
    files.retain(|file| !is_test_or_example(linker, *file));
    files.sort();
    files.dedup();
    files
}

/// True if a file contains tests, examples or documentation, so that its calls do not describe the program.
fn is_test_or_example(linker: &Linker<'_>, file: FileId) -> bool {
    let relative = &linker.program.files[file.index()].relative;
    linker.program.is_test(file)
        || relative.split('/').any(|folder| matches!(folder, "docs" | "doc" | "examples" | "example"))
}

/// True if a call runs only if an environment variable is set: `if os.environ.get("PATCH"):`. Most environments do not
/// set it.
fn depends_on_environment(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut next = linker.program.site(site).at.region;
    while let Some(id) = next.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Then && lang::python::conventions::is_environment_test(facts, region.test) {
            return true;
        }
        next = region.parent;
    }
    false
}

/// True if a call that patches does not patch threads: `thread=False`.
fn keeps_real_threads(linker: &Linker<'_>, site: SiteRef) -> bool {
    let facts = linker.program.facts(site.file);
    let mut args = linker.program.args_of(site).into_iter();
    args.any(|arg| facts.text(arg.name) == "thread" && facts.form(arg.value) == Form::Bool(false))
}

/// Returns the calls of a library's function, also under import aliases (Python).
pub fn calls_of(linker: &Linker<'_>, path: &str) -> Vec<SiteRef> {
    let wanted = linker.library.path(Language::Python, path);
    let last = path.rsplit('.').next().unwrap_or(path);
    let Some(name) = linker.program.name(last) else { return Vec::new() };
    let mut calls = Vec::new();
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
                let is_wanted =
                    |val: &Val| matches!(*val, Val::External(path) | Val::Method { path, .. } if path == wanted);
                if members.iter().any(is_wanted) {
                    calls.push(site);
                }
            }
        }
    }
    calls.sort();
    calls.dedup();
    calls
}
