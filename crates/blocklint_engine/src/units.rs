//! The units of a project as the linker needs them: the versions of their libraries (from manifests, lock files and
//! Java builds), and the switches of models that launch files and settings turn on.

use std::fs;

use blocklint_analysis::{Dependency, UnitLayout};
use blocklint_core::Language;
use blocklint_models::{Models, Setting, Switch, Version};
use blocklint_project::{Builds, Project, find_commands, find_dependencies, find_settings, oldest_python};
use camino::{Utf8Path, Utf8PathBuf};

/// The greatest size in bytes of a file that is searched for commands and settings.
const MAX_SIZE: u64 = 256 << 10;

/// Returns the units of a project with the versions of their libraries and the switches that are on.
///
/// A launch file applies to the unit that contains it. If this unit has no code (a folder `docker` with requirements of
/// its own), the launch file applies to the unit above. It also applies to units below that have no launch file.
pub(crate) fn unit_layouts(project: &Project, models: &Models) -> Vec<UnitLayout> {
    let switches: Vec<&Switch> = models.lang(Language::Python).switches().map(|(switch, _)| switch).collect();
    let with_settings: Vec<&Switch> = switches.iter().copied().filter(|switch| !switch.setting.is_empty()).collect();
    let relative_to_base = |folder: &Utf8Path| {
        let inside = folder.strip_prefix(&project.base).map_or_else(|_| folder.to_string(), ToString::to_string);
        inside.replace('\\', "/")
    };
    let mut units: Vec<UnitLayout> = project
        .units
        .iter()
        .map(|unit| UnitLayout { folder: relative_to_base(&unit.folder), ..UnitLayout::default() })
        .collect();
    let mut has_code = vec![false; units.len()];
    for file in project.files.iter().filter(|file| file.language == Language::Python) {
        if let Some(unit_has_code) = has_code.get_mut(file.unit as usize) {
            *unit_has_code = true;
        }
    }
    let mut has_launch = vec![false; units.len()];
    let unit_of = |file: &Utf8Path| {
        let contains_file = |&index: &usize| file.starts_with(&project.units[index].folder);
        let containing = || (0..project.units.len()).filter(contains_file);
        let depth = |index: &usize| project.units[*index].folder.as_str().len();
        containing().filter(|&index| has_code[index]).max_by_key(depth).or_else(|| containing().max_by_key(depth))
    };
    let manifests = project.units.iter().flat_map(|unit| &unit.manifests);
    let scripts = manifests.filter(|path| path.file_name() == Some("pyproject.toml"));
    for path in project.launches.iter().chain(scripts) {
        let Some(unit) = unit_of(path) else { continue };
        let Some(text) = short_text(path) else { continue };
        let on = switches_turned_on(&with_settings, path, &text);
        has_launch[unit] |= !on.is_empty() || starts_a_server(&with_settings, &text);
        units[unit].switches.extend(on);
    }
    let is_configuration = |path: &Utf8Path| {
        let name = path.file_name().unwrap_or_default();
        with_settings.iter().flat_map(|switch| &switch.setting).any(|setting| match setting {
            Setting::File { file, .. } => blocklint_models::segment_matches(file, name),
            Setting::Command { .. } => false,
        })
    };
    let sources = project.files.iter().filter(|file| file.language == Language::Python && is_configuration(&file.path));
    for file in sources {
        let Some(text) = short_text(&file.path) else { continue };
        let on = switches_turned_on(&with_settings, &file.path, &text);
        if let Some(unit) = units.get_mut(file.unit as usize) {
            has_launch[file.unit as usize] |= !on.is_empty();
            unit.switches.extend(on);
        }
    }
    // Units are sorted by folder, so a parent is complete before its children.
    for index in 0..units.len() {
        let folders = || project.units.iter().map(|unit| unit.folder.clone()).collect::<Vec<_>>();
        if !has_launch[index]
            && let Some(parent) = parent_folder(&folders(), index)
        {
            units[index].switches = units[parent].switches.clone();
            has_launch[index] = has_launch[parent];
        }
    }
    for unit in &mut units {
        for name in &project.configuration.switches {
            match name.value.strip_prefix('!') {
                Some(name) => unit.off.push(name.to_owned()),
                None => unit.switches.push(name.value.clone()),
            }
        }
        unit.switches.retain(|name| !unit.off.contains(name));
        unit.switches.sort();
        unit.switches.dedup();
    }
    let mut libraries: Vec<String> = switches.iter().filter_map(|switch| switch.library.clone()).collect();
    libraries.extend(models.lang(Language::Python).dated().flat_map(|file| file.libraries.iter().cloned()));
    libraries.sort();
    libraries.dedup();
    for (index, unit) in units.iter_mut().enumerate().filter(|(index, _)| has_code[*index]) {
        unit.versions = find_dependencies(&project.units[index], &project.root, &libraries)
            .into_iter()
            .map(|dependency| Dependency {
                version: dependency.version.as_deref().and_then(Version::parse_loose),
                oldest: dependency.oldest.as_deref().and_then(Version::parse_loose),
                is_exact: dependency.is_exact,
                said_in: relative_to_base(&dependency.said_in),
                name: dependency.name,
            })
            .collect();
        unit.python = oldest_python(&project.units[index].folder, &project.root);
    }
    add_build_versions(project, models, &mut units, &relative_to_base);
    units.sort_by(|a, b| a.folder.cmp(&b.folder));
    units
}

/// Adds the versions of libraries that Maven and Gradle builds state, for units with Java code.
fn add_build_versions(
    project: &Project,
    models: &Models,
    units: &mut [UnitLayout],
    relative_to_base: &dyn Fn(&Utf8Path) -> String,
) {
    let mut has_code = vec![false; units.len()];
    for file in project.files.iter().filter(|file| file.language == Language::Java) {
        if let Some(unit_has_code) = has_code.get_mut(file.unit as usize) {
            *unit_has_code = true;
        }
    }
    if !has_code.contains(&true) {
        return;
    }
    let builds = Builds::read(&project.units, &project.root);
    for file in models.lang(Language::Java).managed() {
        let Some(library) = file.libraries.first() else { continue };
        let managed_version = |of: &str, version: &str| {
            let by = file.managed.iter().find(|managed| managed.by.iter().any(|by| by == of))?;
            by.library_version(version).map(ToString::to_string)
        };
        for (index, unit) in units.iter_mut().enumerate().filter(|(index, _)| has_code[*index]) {
            let folder = &project.units[index].folder;
            let Some(dependency) = builds.version(folder, library, &managed_version) else { continue };
            unit.versions.push(Dependency {
                version: dependency.version.as_deref().and_then(Version::parse_loose),
                oldest: None,
                is_exact: true,
                said_in: relative_to_base(&dependency.said_in),
                name: dependency.name,
            });
        }
    }
}

/// Returns the index of the innermost folder that contains another one.
fn parent_folder(folders: &[Utf8PathBuf], index: usize) -> Option<usize> {
    let inner = &folders[index];
    let containing = folders.iter().enumerate().filter(|(outer, folder)| *outer != index && inner.starts_with(folder));
    containing.max_by_key(|(_, folder)| folder.as_str().len()).map(|(outer, _)| outer)
}

/// Returns the text of a file of at most [`MAX_SIZE`] bytes.
fn short_text(path: &Utf8Path) -> Option<String> {
    let is_long = fs::metadata(path).map_or(true, |file| file.len() > MAX_SIZE);
    if is_long { None } else { fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) }
}

/// Returns the names of the switches that a file turns on by a setting or by an option of a command.
fn switches_turned_on(switches: &[&Switch], path: &Utf8Path, text: &str) -> Vec<String> {
    let name = path.file_name().unwrap_or_default();
    let is_on = |setting: &Setting| match setting {
        Setting::File { file, key, equals } => {
            blocklint_models::segment_matches(file, name)
                && find_settings(text, key).iter().any(|value| equals.contains(value))
        }
        Setting::Command { command, option, equals } => {
            find_commands(text, &|word| word == command).iter().any(|command| {
                option.iter().any(|option| {
                    command.option(option).is_some_and(|value| equals.iter().any(|expected| expected == value))
                })
            })
        }
    };
    switches.iter().filter(|switch| switch.setting.iter().any(is_on)).map(|switch| switch.name.clone()).collect()
}

/// True if a text starts a command that a setting of a switch names.
fn starts_a_server(switches: &[&Switch], text: &str) -> bool {
    let is_server = |word: &str| {
        switches.iter().flat_map(|switch| &switch.setting).any(|setting| match setting {
            Setting::Command { command, .. } => command == word,
            Setting::File { .. } => false,
        })
    };
    !find_commands(text, &is_server).is_empty()
}
