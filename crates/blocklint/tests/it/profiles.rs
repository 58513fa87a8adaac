//! The profiles of Cargo.toml: the profile of wheels optimises all packages, although it inherits from `release`.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// Returns the packages with overrides in a profile, with their optimisation level.
fn levels(manifest: &Table, profile: &str) -> Vec<(String, Option<i64>)> {
    let packages = manifest["profile"][profile]["package"].as_table().expect("it names packages");
    packages.iter().map(|(name, of)| (name.clone(), of.get("opt-level").and_then(Value::as_integer))).collect()
}

#[test]
fn wheels_are_optimised_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("Cargo.toml")).expect("Cargo.toml is there");
    let manifest: Table = text.parse().expect("Cargo.toml is TOML");
    let dist = levels(&manifest, "dist");
    assert_eq!(manifest["profile"]["dist"]["opt-level"].as_integer(), Some(3));
    for (name, level) in levels(&manifest, "release") {
        assert!(level.is_some(), "{name} has no level");
        assert!(dist.contains(&(name.clone(), Some(3))), "profile.dist.package lacks {name} = {{ opt-level = 3 }}");
    }
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("Cargo.lock is there");
    for (name, level) in dist {
        assert_eq!(level, Some(3), "{name} of profile.dist.package");
        assert!(
            lock.contains(&format!("name = \"{name}\"\n")),
            "profile.dist.package names {name}, which is no dependency"
        );
    }
}
