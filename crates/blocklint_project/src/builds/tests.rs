use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::Builds;
use crate::units::Unit;

const LIBRARY: &str = "io.reactive:core";

/// Returns the version of the library in a project of these files, for its folder `app`.
fn asked(files: &[(&str, &str)]) -> Option<String> {
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
    let brought =
        |of: &str, version: &str| (of == "org.boot:all" || of == "org.boot").then(|| format!("boot {version}"));
    let found = Builds::read(&units, &root).version(&root.join("app"), LIBRARY, &brought);
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
fn a_parent_in_the_project_manages_by_a_property_that_its_child_may_change() {
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
    let of = |child: &str| asked(&[("pom.xml", &parent), ("app/pom.xml", child)]);
    assert_eq!(of(&child("")).as_deref(), Some("3.1.7.RELEASE"));
    assert_eq!(of(&child("<properties><core>3.5.0</core></properties>")).as_deref(), Some("3.5.0"));
}

#[test]
fn a_parent_from_elsewhere_and_an_imported_bill_bring_it_along() {
    let parent = "<parent><groupId>org.boot</groupId><artifactId>all</artifactId><version>2.0.2</version><relativePath/></parent>";
    assert_eq!(asked(&[("app/pom.xml", &pom(parent))]).as_deref(), Some("boot 2.0.2"));
    let import = dependency("org.boot:all", "${boot}", "<type>pom</type><scope>import</scope>");
    let imports = pom(&format!("<properties><boot>2.1.0</boot></properties>{}", managed(&import)));
    assert_eq!(asked(&[("app/pom.xml", &imports)]).as_deref(), Some("boot 2.1.0"));
    // A bill of the project itself is read.
    let bill = pom(&format!(
        "<groupId>shop</groupId><artifactId>bill</artifactId>{}",
        managed(&dependency(LIBRARY, "3.4.1", ""))
    ));
    let import = dependency("shop:bill", "1", "<type>pom</type><scope>import</scope>");
    assert_eq!(asked(&[("bill/pom.xml", &bill), ("app/pom.xml", &pom(&managed(&import)))]).as_deref(), Some("3.4.1"));
}

#[test]
fn what_no_file_says_is_unknown() {
    let unknown = pom(&format!("<dependencies>{}</dependencies>", dependency(LIBRARY, "${core}", "")));
    assert_eq!(asked(&[("app/pom.xml", &unknown)]), None);
    let round = pom(&format!(
        "<properties><core>${{core}}</core></properties><dependencies>{}</dependencies>",
        dependency(LIBRARY, "${core}", "")
    ));
    assert_eq!(asked(&[("app/pom.xml", &round)]), None);
    assert_eq!(asked(&[("app/pom.xml", "<project><cut")]), None);
    assert_eq!(asked(&[("app/build.gradle", "implementation 'io.reactive:core'")]), None);
    assert_eq!(asked(&[("app/build.gradle", "implementation \"io.reactive:core:$core\"")]), None);
    // Another library whose name begins alike.
    assert_eq!(asked(&[("app/build.gradle", "implementation 'io.reactive:core-test:1.0'")]), None);
}

#[test]
fn gradle_names_coordinates_plugins_and_variables() {
    let says = |script: &str| asked(&[("app/build.gradle", script)]);
    assert_eq!(says("dependencies {\n  implementation 'io.reactive:core:3.1.7' // old\n}").as_deref(), Some("3.1.7"));
    assert_eq!(says("def core = '3.2.0'\nimplementation \"io.reactive:core:${core}\"").as_deref(), Some("3.2.0"));
    assert_eq!(says("ext.core = '3.2.1'\napi(\"io.reactive:core:$core\")").as_deref(), Some("3.2.1"));
    assert_eq!(says("set('core', \"3.2.2\")\napi(\"io.reactive:core:${core}\")").as_deref(), Some("3.2.2"));
    assert_eq!(says("plugins {\n  id 'org.boot' version '2.0.2'\n}").as_deref(), Some("boot 2.0.2"));
    assert_eq!(says("plugins {\n  id(\"org.boot\") version \"2.7.1\" apply false\n}").as_deref(), Some("boot 2.7.1"));
    let above = [("gradle.properties", "boot=2.3.4\n"), ("settings.gradle", "")];
    let bill = ("app/build.gradle.kts", "implementation(platform(\"org.boot:all:${property.boot}\"))");
    assert_eq!(asked(&[above[0], above[1], bill]).as_deref(), Some("boot 2.3.4"));
}

#[test]
fn a_catalog_names_versions() {
    let says = |catalog: &str| {
        asked(&[("build.gradle", ""), ("gradle/libs.versions.toml", catalog), ("app/build.gradle", "")])
    };
    let versions = "[versions]\ncore = \"3.1.0\"\nboot = { strictly = \"2.2.0\" }\n";
    for library in ["c = { module = \"io.reactive:core\", version.ref = \"core\" }", "c = \"io.reactive:core:3.1.0\""] {
        assert_eq!(says(&format!("{versions}[libraries]\n{library}\n")).as_deref(), Some("3.1.0"), "{library}");
    }
    let group = "c = { group = \"io.reactive\", name = \"core\", version = \"3.9\" }";
    assert_eq!(says(&format!("[libraries]\n{group}\n")).as_deref(), Some("3.9"));
    let plugin = "boot = { id = \"org.boot\", version.ref = \"boot\" }";
    assert_eq!(says(&format!("{versions}[plugins]\n{plugin}\n")).as_deref(), Some("boot 2.2.0"));
}
