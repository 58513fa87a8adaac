//! Switches of the models that files other than source code turn on for the units of a project.

use std::fs;

use blocklint_analysis::{Dependency, UnitLayout};
use blocklint_core::Language;
use blocklint_models::{Models, Setting, Switch, Version};
use blocklint_project::{Builds, Project, commands, dependencies, oldest_python, settings};
use camino::{Utf8Path, Utf8PathBuf};

/// Longer files (in bytes) are not searched for start commands.
const LONGEST: u64 = 256 << 10;

/// Returns the units of a project, with the switches that commands and configuration turn on.
///
/// A file that starts programs counts for the unit that it lies in, for the one above where that holds no code (a
/// folder `docker` with requirements of its own), and for units below that have no such file.
pub(crate) fn units(project: &Project, models: &Models) -> Vec<UnitLayout> {
    let switches: Vec<&Switch> = models.lang(Language::Python).switches().map(|(switch, _)| switch).collect();
    let with_settings: Vec<&Switch> = switches.iter().copied().filter(|switch| !switch.setting.is_empty()).collect();
    let below = |folder: &Utf8Path| {
        let inside = folder.strip_prefix(&project.base).map_or_else(|_| folder.to_string(), ToString::to_string);
        inside.replace('\\', "/")
    };
    let mut units: Vec<UnitLayout> =
        project.units.iter().map(|unit| UnitLayout { folder: below(&unit.folder), ..UnitLayout::default() }).collect();
    let mut has_code = vec![false; units.len()];
    for file in project.files.iter().filter(|file| file.language == Language::Python) {
        if let Some(own) = has_code.get_mut(file.unit as usize) {
            *own = true;
        }
    }
    let mut has_launch = vec![false; units.len()];
    let unit_of = |file: &Utf8Path| {
        let holding = |&at: &usize| file.starts_with(&project.units[at].folder);
        let all = || (0..project.units.len()).filter(holding);
        let depth = |at: &usize| project.units[*at].folder.as_str().len();
        all().filter(|&at| has_code[at]).max_by_key(depth).or_else(|| all().max_by_key(depth))
    };
    let manifests = project.units.iter().flat_map(|unit| &unit.manifests);
    let scripts = manifests.filter(|path| path.file_name() == Some("pyproject.toml"));
    for path in project.launches.iter().chain(scripts) {
        let Some(at) = unit_of(path) else { continue };
        let Some(text) = short_text(path) else { continue };
        let on = turned_on(&with_settings, path, &text);
        has_launch[at] |= !on.is_empty() || starts_a_server(&with_settings, &text);
        units[at].switches.extend(on);
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
        let on = turned_on(&with_settings, &file.path, &text);
        if let Some(unit) = units.get_mut(file.unit as usize) {
            has_launch[file.unit as usize] |= !on.is_empty();
            unit.switches.extend(on);
        }
    }
    // Parents come first, for units are sorted by folder.
    for at in 0..units.len() {
        if !has_launch[at]
            && let Some(above) = parent(&project.units.iter().map(|unit| unit.folder.clone()).collect::<Vec<_>>(), at)
        {
            units[at].switches = units[above].switches.clone();
            has_launch[at] = has_launch[above];
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
    for (at, unit) in units.iter_mut().enumerate().filter(|(at, _)| has_code[*at]) {
        let found = dependencies(&project.units[at], &project.root, &libraries);
        unit.versions = found
            .into_iter()
            .map(|found| Dependency {
                version: found.version.as_deref().and_then(Version::parse_loose),
                oldest: found.oldest.as_deref().and_then(Version::parse_loose),
                is_exact: found.is_exact,
                said_in: below(&found.said_in),
                name: found.name,
            })
            .collect();
        unit.python = oldest_python(&project.units[at].folder, &project.root);
    }
    of_builds(project, models, &mut units, &below);
    units.sort_by(|a, b| a.folder.cmp(&b.folder));
    units
}

/// Returns the versions of libraries that builds of Java name, for units with such code.
fn of_builds(project: &Project, models: &Models, units: &mut [UnitLayout], below: &dyn Fn(&Utf8Path) -> String) {
    let mut has_code = vec![false; units.len()];
    for file in project.files.iter().filter(|file| file.language == Language::Java) {
        if let Some(own) = has_code.get_mut(file.unit as usize) {
            *own = true;
        }
    }
    if !has_code.contains(&true) {
        return;
    }
    let builds = Builds::read(&project.units, &project.root);
    for file in models.lang(Language::Java).managed() {
        let Some(library) = file.libraries.first() else { continue };
        let brought = |of: &str, version: &str| {
            let by = file.managed.iter().find(|managed| managed.by.iter().any(|by| by == of))?;
            by.library_version(version).map(ToString::to_string)
        };
        for (at, unit) in units.iter_mut().enumerate().filter(|(at, _)| has_code[*at]) {
            let Some(found) = builds.version(&project.units[at].folder, library, &brought) else { continue };
            unit.versions.push(Dependency {
                version: found.version.as_deref().and_then(Version::parse_loose),
                oldest: None,
                is_exact: true,
                said_in: below(&found.said_in),
                name: found.name,
            });
        }
    }
}

fn parent(folders: &[Utf8PathBuf], at: usize) -> Option<usize> {
    let above = folders.iter().enumerate().filter(|(other, folder)| *other != at && folders[at].starts_with(folder));
    above.max_by_key(|(_, folder)| folder.as_str().len()).map(|(other, _)| other)
}

fn short_text(path: &Utf8Path) -> Option<String> {
    let long = fs::metadata(path).map_or(true, |file| file.len() > LONGEST);
    if long { None } else { fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) }
}

/// Returns the switches that a file turns on.
fn turned_on(switches: &[&Switch], path: &Utf8Path, text: &str) -> Vec<String> {
    let name = path.file_name().unwrap_or_default();
    let on = |setting: &Setting| match setting {
        Setting::File { file, key, equals } => {
            blocklint_models::segment_matches(file, name)
                && settings(text, key).iter().any(|value| equals.contains(value))
        }
        Setting::Command { command, option, equals } => commands(text, &|word| word == command).iter().any(|command| {
            option.iter().any(|option| command.option(option).is_some_and(|value| equals.iter().any(|of| of == value)))
        }),
    };
    switches.iter().filter(|switch| switch.setting.iter().any(on)).map(|switch| switch.name.clone()).collect()
}

/// True if a text starts a command that some switch names.
fn starts_a_server(switches: &[&Switch], text: &str) -> bool {
    let is_reported = |word: &str| {
        switches.iter().flat_map(|switch| &switch.setting).any(|setting| match setting {
            Setting::Command { command, .. } => command == word,
            Setting::File { .. } => false,
        })
    };
    !commands(text, &is_reported).is_empty()
}
