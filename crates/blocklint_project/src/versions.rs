//! The versions of a unit's Python dependencies: the version in a lock file, else an exact pin, else the installed
//! version, else the newest that the manifest allows.

use camino::{Utf8Path, Utf8PathBuf};

use crate::units::Unit;
use crate::within::{lies_within, read_text_within};

/// The version of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Its normalised name, in lower case with `-`.
    pub name: String,
    /// The version; `None` if the manifest has no upper bound, so that it counts as newer than every version.
    pub version: Option<String>,
    /// True if the version is from a lock file, an exact pin or an installation.
    pub is_exact: bool,
    /// The oldest version that a range allows, if it has a lower bound.
    pub oldest: Option<String>,
    /// The file with the version.
    pub said_in: Utf8PathBuf,
}

const LOCKS: [&str; 4] = ["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"];

/// Returns the versions of those dependencies of a unit that have these names, by the files at or above its folder, up
/// to the project root.
pub fn find_dependencies(unit: &Unit, root: &Utf8Path, names: &[String]) -> Vec<Dependency> {
    let mut manifests = read_texts(&unit.manifests, root);
    manifests.extend(read_texts(&requirement_files(&unit.folder), root));
    // Lock files may be long, so they are read only if a manifest mentions one of the names.
    let mentions_name = |(_, text): &(Utf8PathBuf, String)| {
        let text = text.to_ascii_lowercase();
        names.iter().any(|name| text.contains(name.as_str()))
    };
    if !manifests.iter().any(mentions_name) {
        return Vec::new();
    }
    let folders: Vec<&Utf8Path> = unit.folder.ancestors().take_while(|folder| folder.starts_with(root)).collect();
    let locks: Vec<Utf8PathBuf> = folders.iter().flat_map(|folder| LOCKS.map(|lock| folder.join(lock))).collect();
    let locks = read_texts(&locks, root);
    let version_of = |name: &String| {
        let exact = |version: String, said_in: &Utf8Path| Dependency {
            name: name.clone(),
            version: Some(version),
            is_exact: true,
            oldest: None,
            said_in: said_in.to_path_buf(),
        };
        let locked = locks.iter().find_map(|(file, text)| Some(exact(locked_version(text, name)?, file)));
        let ranges: Vec<(&Utf8PathBuf, Vec<Bound>)> = manifests
            .iter()
            .flat_map(|(file, text)| requirements_on(text, name).into_iter().map(move |bounds| (file, bounds)))
            .collect();
        let pinned = || {
            ranges.iter().find_map(|(file, bounds)| {
                let pin = bounds.iter().find(|bound| bound.operator == "==" || bound.operator == "===")?;
                (!pin.version.contains('*')).then(|| exact(pin.version.clone(), file))
            })
        };
        let installed =
            || folders.iter().find_map(|folder| installed_version(folder, root, name)).map(|(v, file)| exact(v, &file));
        let ranged = || {
            let (file, bounds) = ranges.first()?;
            Some(Dependency {
                name: name.clone(),
                version: newest_allowed(bounds),
                is_exact: false,
                oldest: bounds.iter().find(|bound| bound.operator == ">=").map(|bound| bound.version.clone()),
                said_in: (*file).clone(),
            })
        };
        locked.or_else(pinned).or_else(installed).or_else(ranged)
    };
    names.iter().filter_map(version_of).collect()
}

/// Returns the files `requirements/*.txt`, sorted by name.
fn requirement_files(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Ok(entries) = folder.join("requirements").read_dir_utf8() else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path().to_path_buf());
    let mut files: Vec<Utf8PathBuf> = files.filter(|file| file.extension() == Some("txt")).collect();
    files.sort();
    files
}

fn read_texts(files: &[Utf8PathBuf], root: &Utf8Path) -> Vec<(Utf8PathBuf, String)> {
    files.iter().filter_map(|file| Some((file.clone(), read_text_within(file, root)?))).collect()
}

/// One bound of a requirement: `>=0.100`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    operator: String,
    version: String,
}

/// Returns the version of a package in the text of a lock file.
fn locked_version(text: &str, name: &str) -> Option<String> {
    let quoted = |rest: &str| rest.split('"').nth(1).map(|version| version.trim_start_matches('=').to_owned());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line
            .strip_prefix("name = ")
            .is_some_and(|written_name| normalise_name(written_name.trim_matches('"')) == name)
        {
            let version = lines.by_ref().take(4).find_map(|line| quoted(line.trim().strip_prefix("version = ")?));
            if version.is_some() {
                return version;
            }
        } else if line
            .strip_suffix(": {")
            .is_some_and(|written_name| normalise_name(written_name.trim_matches('"')) == name)
        {
            let in_package = lines.by_ref().take_while(|line| !line.trim_start().starts_with('}'));
            let version = in_package.filter_map(|line| quoted(line.trim().strip_prefix("\"version\":")?)).next();
            if version.is_some() {
                return version;
            }
        }
    }
    None
}

/// Returns the bounds of every requirement on a package in the text of a manifest, in the syntax of PEP 508
/// (`fastapi[all]>=0.100,<1`) or of Poetry (`fastapi = "^0.100"`).
fn requirements_on(text: &str, name: &str) -> Vec<Vec<Bound>> {
    let mut requirements = Vec::new();
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or(line).trim();
        if line.starts_with('#') {
            continue;
        }
        for part in std::iter::once(line).chain(line.split(['"', '\'']).skip(1)) {
            let end =
                part.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.')).unwrap_or(part.len());
            if normalise_name(&part[..end]) != name {
                continue;
            }
            let rest = part[end..].trim_start();
            let rest = match rest.strip_prefix('[') {
                Some(inside) => inside.split_once(']').map_or("", |(_, rest)| rest).trim_start(),
                None => rest,
            };
            // `name = "…"` or `name = {version = "…"}`; `name == 1` is PEP 508.
            let poetry = rest.strip_prefix('=').filter(|rest| !rest.starts_with('='));
            let spec = match poetry {
                Some(rest) if rest.trim_start().starts_with('{') => {
                    let version = rest.split_once("version").map_or("", |(_, rest)| rest);
                    version.split('"').nth(1).unwrap_or("").to_owned()
                }
                Some(rest) => rest.split(['"', '\'']).nth(1).unwrap_or("").to_owned(),
                None => rest.split(['"', '\'', ';', '#']).next().unwrap_or("").to_owned(),
            };
            let bounds = parse_bounds(&spec, poetry.is_some());
            if !bounds.is_empty() || rest.is_empty() || poetry.is_some() || rest.starts_with([';', '"', '\'', ',']) {
                requirements.push(bounds);
            }
        }
    }
    // Requirements with bounds come before those without.
    requirements.sort_by_key(Vec::is_empty);
    requirements
}

fn parse_bounds(spec: &str, poetry: bool) -> Vec<Bound> {
    let mut bounds = Vec::new();
    for part in spec.trim().trim_matches(['(', ')']).split(',') {
        let part = part.trim();
        let end = part.find(|c: char| c.is_ascii_digit() || c == '*' || c == 'v').unwrap_or(part.len());
        let (operator, version) = (part[..end].trim(), part[end..].trim());
        let version = version.split_whitespace().next().unwrap_or("").trim_start_matches('v');
        if version.is_empty() || version == "*" {
            continue;
        }
        let bound = |operator: &str, version: String| Bound { operator: operator.to_owned(), version };
        match operator {
            "^" | "~" | "~=" => {
                bounds.push(bound(">=", version.to_owned()));
                bounds.push(bound("<", first_excluded(version, operator)));
            }
            "==" | "===" if version.ends_with(".*") => {
                bounds.push(bound(">=", version.trim_end_matches(".*").to_owned()));
                bounds.push(bound("<", first_excluded(version.trim_end_matches(".*"), "~")));
            }
            "" if poetry => bounds.push(bound("==", version.to_owned())),
            ">=" | ">" | "<" | "<=" | "==" | "===" => bounds.push(bound(operator, version.to_owned())),
            _ => {}
        }
    }
    bounds
}

/// Returns the first version that is too new for `^1.2`, `~1.2` or `~=1.2.3`.
fn first_excluded(version: &str, operator: &str) -> String {
    let mut numbers: Vec<u64> = version.split('.').map_while(|part| part.parse().ok()).collect();
    let raised = match operator {
        "^" => numbers.iter().position(|number| *number != 0).unwrap_or(numbers.len().saturating_sub(1)),
        "~=" => numbers.len().saturating_sub(2),
        _ => numbers.len().saturating_sub(1).min(1),
    };
    if let Some(number) = numbers.get_mut(raised) {
        *number += 1;
    }
    numbers.truncate(raised + 1);
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}

/// Returns the newest version that bounds allow; `None` without an upper bound. For `<2` it is `1.99999`.
fn newest_allowed(bounds: &[Bound]) -> Option<String> {
    let upper = bounds.iter().find(|bound| matches!(bound.operator.as_str(), "<" | "<="))?;
    if upper.operator == "<=" {
        return Some(upper.version.clone());
    }
    let mut numbers: Vec<u64> = upper.version.split('.').map_while(|part| part.parse().ok()).collect();
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    let last = numbers.last_mut()?;
    *last -= 1;
    numbers.push(99_999);
    Some(numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("."))
}

/// Returns the installed version of a package from a virtual environment in a folder, with the path of its metadata.
fn installed_version(folder: &Utf8Path, root: &Utf8Path, name: &str) -> Option<(String, Utf8PathBuf)> {
    for environment in [".venv", "venv", "env"] {
        let Ok(pythons) = folder.join(environment).join("lib").read_dir_utf8() else { continue };
        for python in pythons.flatten() {
            let packages = python.path().join("site-packages");
            let Some(entries) = packages.read_dir_utf8().ok().filter(|_| lies_within(&packages, root)) else {
                continue;
            };
            for entry in entries.flatten() {
                let Some((written_name, version)) =
                    entry.file_name().strip_suffix(".dist-info").and_then(|stem| stem.rsplit_once('-'))
                else {
                    continue;
                };
                if normalise_name(written_name) == name {
                    return Some((version.to_owned(), entry.path().to_path_buf()));
                }
            }
        }
    }
    None
}

/// Returns the normalised name of a package (PEP 503).
fn normalise_name(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest_of(text: &str) -> Option<Option<String>> {
        requirements_on(text, "fastapi").first().map(|bounds| newest_allowed(bounds))
    }

    #[test]
    fn locked_version_reads_each_kind_of_lock_file() {
        for text in [
            "[[package]]\nname = \"fastapi\"\nversion = \"0.115.2\"\n",
            "{\n  \"default\": {\n    \"fastapi\": {\n      \"hashes\": [],\n      \"version\": \"==0.115.2\"\n    }\n",
        ] {
            assert_eq!(locked_version(text, "fastapi").as_deref(), Some("0.115.2"));
        }
        assert_eq!(locked_version("name = \"fastapi-users\"\nversion = \"1.0\"", "fastapi"), None);
    }

    #[test]
    fn ranges_allow_a_newest_version() {
        let below = |text: &str| Some(Some(text.to_owned()));
        assert_eq!(newest_of("fastapi>=0.100,<0.116"), below("0.115.99999"));
        assert_eq!(newest_of("dependencies = [\"fastapi[all]~=0.115.0\"]"), below("0.115.99999"));
        assert_eq!(newest_of("fastapi = \"^0.115\""), below("0.115.99999"));
        assert_eq!(newest_of("fastapi = {extras = [\"all\"], version = \"^1.2\"}"), below("1.99999"));
        assert_eq!(newest_of("    \"fastapi>=0.100\","), Some(None));
        assert_eq!(newest_of("fastapi"), Some(None));
        assert_eq!(newest_of("fastapi-users==1.0"), None);
    }

    #[test]
    fn a_pin_is_exact() {
        assert_eq!(
            requirements_on("fastapi==0.99.1  # old", "fastapi"),
            [vec![Bound { operator: "==".to_owned(), version: "0.99.1".to_owned() }]]
        );
    }
}
