//! Tests of versions in Maven and Gradle builds.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::Builds;
use crate::units::Unit;

const LIBRARY: &str = "io.reactive:core";

/// Returns the version of the library for the folder `app` of a project with these files.
fn version_in_app(files: &[(&str, &str)]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8PathBuf::from_path_buf(folder.path().to_path_buf()).expect("a path of text");
    let mut manifests: Vec<Utf8PathBuf> = Vec::new();
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&root)).expect("a folder");
        fs::write(&path, text).expect("a file");
        manifests.push(path);
    }
    let unit = |path: &Utf8PathBuf| Unit {
        folder: path.parent().unwrap_or(Utf8Path::new("")).to_path_buf(),
        manifests: vec![path.clone()],
    };
    let units: Vec<Unit> = manifests.iter().map(unit).collect();
    let managed_version =
        |of: &str, version: &str| (of == "org.boot:all" || of == "org.boot").then(|| format!("boot {version}"));
    let found = Builds::read(&units, &root).version(&root.join("app"), LIBRARY, &managed_version);
    found.and_then(|found| found.version)
}

fn pom(inside: &str) -> String {
    format!("<project xmlns='http://maven.apache.org/POM/4.0.0'>{inside}</project>")
}

fn dependency(name: &str, version: &str, more: &str) -> String {
    let (group, artifact) = name.split_once(':').unwrap_or((name, ""));
    let version = if version.is_empty() { String::new() } else { format!("<version>{version}</version>") };
    format!("<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{version}{more}</dependency>")
}

fn managed(inside: &str) -> String {
    format!("<dependencyManagement><dependencies>{inside}</dependencies></dependencyManagement>")
}

#[test]
fn a_child_can_change_the_property_of_its_parents_version() {
    let parent = pom(&format!(
        "<groupId>shop</groupId><artifactId>all</artifactId><version>1</version><properties><core>3.1.7.RELEASE</core></properties>{}",
        managed(&dependency(LIBRARY, "${core}", ""))
    ));
    let child = |more: &str| {
        pom(&format!(
            "<parent><groupId>shop</groupId><artifactId>all</artifactId><version>1</version></parent><artifactId>app</artifactId>
             <dependencies>{}</dependencies>{more}",
            dependency(LIBRARY, "", "")
        ))
    };
    let of = |child: &str| version_in_app(&[("pom.xml", &parent), ("app/pom.xml", child)]);
    assert_eq!(of(&child("")).as_deref(), Some("3.1.7.RELEASE"));
    assert_eq!(of(&child("<properties><core>3.5.0</core></properties>")).as_deref(), Some("3.5.0"));
}

#[test]
fn external_parents_and_imported_bills_manage_versions() {
    let parent = "<parent><groupId>org.boot</groupId><artifactId>all</artifactId><version>2.0.2</version><relativePath/></parent>";
    assert_eq!(version_in_app(&[("app/pom.xml", &pom(parent))]).as_deref(), Some("boot 2.0.2"));
    let import = dependency("org.boot:all", "${boot}", "<type>pom</type><scope>import</scope>");
    let imports = pom(&format!("<properties><boot>2.1.0</boot></properties>{}", managed(&import)));
    assert_eq!(version_in_app(&[("app/pom.xml", &imports)]).as_deref(), Some("boot 2.1.0"));
    // A bill of the project itself is read.
    let bill = pom(&format!(
        "<groupId>shop</groupId><artifactId>bill</artifactId>{}",
        managed(&dependency(LIBRARY, "3.4.1", ""))
    ));
    let import = dependency("shop:bill", "1", "<type>pom</type><scope>import</scope>");
    assert_eq!(
        version_in_app(&[("bill/pom.xml", &bill), ("app/pom.xml", &pom(&managed(&import)))]).as_deref(),
        Some("3.4.1")
    );
}

#[test]
fn versions_in_no_file_are_unknown() {
    let unknown = pom(&format!("<dependencies>{}</dependencies>", dependency(LIBRARY, "${core}", "")));
    assert_eq!(version_in_app(&[("app/pom.xml", &unknown)]), None);
    let round = pom(&format!(
        "<properties><core>${{core}}</core></properties><dependencies>{}</dependencies>",
        dependency(LIBRARY, "${core}", "")
    ));
    assert_eq!(version_in_app(&[("app/pom.xml", &round)]), None);
    assert_eq!(version_in_app(&[("app/pom.xml", "<project><cut")]), None);
    assert_eq!(version_in_app(&[("app/build.gradle", "implementation 'io.reactive:core'")]), None);
    assert_eq!(version_in_app(&[("app/build.gradle", "implementation \"io.reactive:core:$core\"")]), None);
    // Another library whose name begins alike.
    assert_eq!(version_in_app(&[("app/build.gradle", "implementation 'io.reactive:core-test:1.0'")]), None);
}

#[test]
fn gradle_scripts_state_coordinates_plugins_and_variables() {
    let version_of_script = |script: &str| version_in_app(&[("app/build.gradle", script)]);
    assert_eq!(
        version_of_script("dependencies {\n  implementation 'io.reactive:core:3.1.7' // old\n}").as_deref(),
        Some("3.1.7")
    );
    assert_eq!(
        version_of_script("def core = '3.2.0'\nimplementation \"io.reactive:core:${core}\"").as_deref(),
        Some("3.2.0")
    );
    assert_eq!(version_of_script("ext.core = '3.2.1'\napi(\"io.reactive:core:$core\")").as_deref(), Some("3.2.1"));
    assert_eq!(
        version_of_script("set('core', \"3.2.2\")\napi(\"io.reactive:core:${core}\")").as_deref(),
        Some("3.2.2")
    );
    assert_eq!(version_of_script("plugins {\n  id 'org.boot' version '2.0.2'\n}").as_deref(), Some("boot 2.0.2"));
    assert_eq!(
        version_of_script("plugins {\n  id(\"org.boot\") version \"2.7.1\" apply false\n}").as_deref(),
        Some("boot 2.7.1")
    );
    let above = [("gradle.properties", "boot=2.3.4\n"), ("settings.gradle", "")];
    let bill = ("app/build.gradle.kts", "implementation(platform(\"org.boot:all:${property.boot}\"))");
    assert_eq!(version_in_app(&[above[0], above[1], bill]).as_deref(), Some("boot 2.3.4"));
}

#[test]
fn version_catalogs_state_versions() {
    let version_of_script = |catalog: &str| {
        version_in_app(&[("build.gradle", ""), ("gradle/libs.versions.toml", catalog), ("app/build.gradle", "")])
    };
    let versions = "[versions]\ncore = \"3.1.0\"\nboot = { strictly = \"2.2.0\" }\n";
    for library in ["c = { module = \"io.reactive:core\", version.ref = \"core\" }", "c = \"io.reactive:core:3.1.0\""] {
        assert_eq!(
            version_of_script(&format!("{versions}[libraries]\n{library}\n")).as_deref(),
            Some("3.1.0"),
            "{library}"
        );
    }
    let group = "c = { group = \"io.reactive\", name = \"core\", version = \"3.9\" }";
    assert_eq!(version_of_script(&format!("[libraries]\n{group}\n")).as_deref(), Some("3.9"));
    let plugin = "boot = { id = \"org.boot\", version.ref = \"boot\" }";
    assert_eq!(version_of_script(&format!("{versions}[plugins]\n{plugin}\n")).as_deref(), Some("boot 2.2.0"));
}
