//! Reads `Cargo.lock`, and replaces the oldest versions of dependencies with the locked ones.

use camino::Utf8Path;
use toml::de::{DeTable, DeValue};

use crate::crates::{CrateRootKind, RustCrate};
use crate::within::read_text_within;

/// Returns the names and versions of the packages in a lock file.
pub(crate) fn locked_packages(file: &Utf8Path, root: &Utf8Path) -> Vec<(String, String)> {
    let Some(text) = read_text_within(file, root) else { return Vec::new() };
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

/// Replaces the oldest allowed versions of dependencies with the locked ones. A published library keeps the oldest
/// versions, because its users have lock files of their own.
pub(crate) fn apply_lock_file(crates: &mut [RustCrate], root: &Utf8Path) {
    let mut lock_files: Vec<(&Utf8Path, Vec<(String, String)>)> = Vec::new();
    for package in crates {
        let is_program = package.roots.iter().any(|root| root.kind == CrateRootKind::Binary);
        if package.is_published && !is_program {
            continue;
        }
        let mut above = package.folder.ancestors().take_while(|folder| folder.starts_with(root));
        let Some(folder) = above.find(|folder| folder.join("Cargo.lock").is_file()) else { continue };
        let index = match lock_files.iter().position(|(known, _)| *known == folder) {
            Some(index) => index,
            None => {
                lock_files.push((folder, locked_packages(&folder.join("Cargo.lock"), root)));
                lock_files.len() - 1
            }
        };
        for dependency in package.dependencies.iter_mut().flatten() {
            let versions = lock_files[index].1.iter().filter(|(package, _)| *package == dependency.package);
            let versions: Vec<&str> = versions.map(|(_, version)| version.as_str()).collect();
            let locked = match (&dependency.oldest, &versions[..]) {
                (None, [only]) => Some(*only),
                (None, _) => None,
                (Some(oldest), all) => {
                    all.iter().copied().find(|version| compatible_part(version) == compatible_part(oldest))
                }
            };
            if let Some(version) = locked {
                dependency.oldest = Some(version.to_owned());
            }
        }
    }
}

/// Returns the numbers of a version up to the first that is not zero. Versions with an equal part are compatible for
/// Cargo.
fn compatible_part(version: &str) -> Vec<u64> {
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
    use super::compatible_part;

    #[test]
    fn compatible_versions_have_an_equal_part() {
        for (one, other, same) in [
            ("1", "1.40.0", true),
            ("1.2", "2.0.0", false),
            ("0.3", "0.3.9", true),
            ("0.3", "0.4.0", false),
            ("0.0.4", "0.0.5", false),
            ("1.0.0-rc.1", "1.0.0", true),
        ] {
            assert_eq!(compatible_part(one) == compatible_part(other), same, "{one} {other}");
        }
    }
}
