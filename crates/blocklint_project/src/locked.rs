//! `Cargo.lock`: the versions that a workspace is built with.

use camino::Utf8Path;
use toml::de::{DeTable, DeValue};

use crate::crates::{CrateRootKind, RustCrate};
use crate::within::text_within;

/// Returns names and versions of the crates that a lock file names.
pub(crate) fn locked(file: &Utf8Path, root: &Utf8Path) -> Vec<(String, String)> {
    let Some(text) = text_within(file, root) else { return Vec::new() };
    let Ok(document) = DeTable::parse(&text) else { return Vec::new() };
    let Some(DeValue::Array(packages)) = document.get_ref().get("package").map(|packages| packages.get_ref()) else {
        return Vec::new();
    };
    let package = |value: &toml::Spanned<DeValue<'_>>| {
        let table = value.get_ref().as_table()?;
        let text = |key: &str| Some(table.get(key)?.get_ref().as_str()?.to_owned());
        Some((text("name")?, text("version")?))
    };
    packages.iter().filter_map(package).collect()
}

/// Replaces the oldest versions that manifests allow with the versions that crates are built with. A library that is
/// published in a registry keeps the oldest ones, because its users have lock files of their own.
pub(crate) fn take_locked(crates: &mut [RustCrate], root: &Utf8Path) {
    let mut read: Vec<(&Utf8Path, Vec<(String, String)>)> = Vec::new();
    for own in crates {
        let is_program = own.roots.iter().any(|root| root.kind == CrateRootKind::Binary);
        if own.is_published && !is_program {
            continue;
        }
        let mut above = own.folder.ancestors().take_while(|folder| folder.starts_with(root));
        let Some(folder) = above.find(|folder| folder.join("Cargo.lock").is_file()) else { continue };
        let at = match read.iter().position(|(known, _)| *known == folder) {
            Some(at) => at,
            None => {
                read.push((folder, locked(&folder.join("Cargo.lock"), root)));
                read.len() - 1
            }
        };
        for dependency in own.dependencies.iter_mut().flatten() {
            let versions = read[at].1.iter().filter(|(package, _)| *package == dependency.package);
            let versions: Vec<&str> = versions.map(|(_, version)| version.as_str()).collect();
            let found = match (&dependency.oldest, &versions[..]) {
                (None, [only]) => Some(*only),
                (None, _) => None,
                (Some(asked), all) => all.iter().copied().find(|version| line_of(version) == line_of(asked)),
            };
            if let Some(version) = found {
                dependency.oldest = Some(version.to_owned());
            }
        }
    }
}

/// Returns the part of a version that decides compatibility for Cargo: the numbers up to the first that is not zero.
/// Versions with an equal part are compatible.
fn line_of(version: &str) -> Vec<u64> {
    let numbers = version.split(['.', '-', '+']).map_while(|part| part.parse().ok());
    let mut line = Vec::new();
    for number in numbers {
        line.push(number);
        if number != 0 {
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn versions_of_one_line_are_those_that_cargo_may_swap() {
        for (one, other, same) in [
            ("1", "1.40.0", true),
            ("1.2", "2.0.0", false),
            ("0.3", "0.3.9", true),
            ("0.3", "0.4.0", false),
            ("0.0.4", "0.0.5", false),
            ("1.0.0-rc.1", "1.0.0", true),
        ] {
            assert_eq!(line_of(one) == line_of(other), same, "{one} {other}");
        }
    }
}
