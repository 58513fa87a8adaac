//! Modules of Maven and Gradle builds, and which of them each one is built with.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use roxmltree::{Document, Node};

use crate::units::Unit;

/// Longer build files, in bytes, are not read.
const LONGEST: u64 = 1 << 20;

/// A module of a build: a folder with a build file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its folder, absolute.
    pub folder: Utf8PathBuf,
    /// The modules that it is built with directly, also for its tests: indices into the same list, sorted.
    pub needs: Vec<usize>,
    /// The last names of what its users get with it from elsewhere: neither optional nor for its tests.
    pub artifacts: Vec<String>,
    /// True if its build file leaves open what it is built with.
    pub is_open: bool,
}

/// The content of a build file.
#[derive(Default)]
struct Said {
    names: Vec<String>,
    parent: Option<String>,
    needs: Vec<Need>,
    is_open: bool,
}

/// One dependency.
struct Need {
    name: String,
    /// True if users of the module get it too.
    is_passed_on: bool,
    /// True if it can only be a module of the same build.
    is_project: bool,
}

/// Returns the modules of the units that have a build file of Maven or Gradle, in the units' order.
pub fn modules(units: &[Unit]) -> Vec<Module> {
    let mut folders: Vec<&Utf8Path> = Vec::new();
    let mut said: Vec<Said> = Vec::new();
    for unit in units {
        let builds = unit.manifests.iter().filter(|path| is_build(path.file_name().unwrap_or_default()));
        let mut own: Option<Said> = None;
        for path in builds {
            let Some(text) = short_text(path) else { continue };
            let one = match path.file_name() {
                Some("pom.xml") => maven(&text),
                _ => gradle(&text),
            };
            let all = own.get_or_insert_with(Said::default);
            all.names.extend(one.names);
            all.parent = all.parent.take().or(one.parent);
            all.needs.extend(one.needs);
            all.is_open |= one.is_open;
        }
        let Some(mut own) = own else { continue };
        own.names.extend(unit.folder.file_name().map(str::to_owned));
        folders.push(&unit.folder);
        said.push(own);
    }
    // The nearest of several modules of one name is meant.
    let named = |name: &str, from: usize| {
        let last = name.rsplit([':', '/']).next().unwrap_or(name);
        let path = name.trim_start_matches(':').replace(':', "/");
        let all = said.iter().enumerate().filter(|(at, of)| *at != from && of.names.iter().any(|own| own == last));
        all.max_by_key(|(at, of)| {
            let shared = folders[from].components().zip(folders[*at].components()).take_while(|(a, b)| a == b).count();
            (
                folders[*at].ends_with(&path),
                of.names.first().is_some_and(|own| own == last),
                shared,
                std::cmp::Reverse(*at),
            )
        })
        .map(|(at, _)| at)
    };
    let mut found: Vec<Module> = Vec::new();
    for (at, own) in said.iter().enumerate() {
        let mut module = Module { folder: folders[at].to_path_buf(), is_open: own.is_open, ..Module::default() };
        // A module is also built with the needs of its parents.
        let mut of = Some(at);
        for _ in 0..8 {
            let Some(one) = of else { break };
            for need in &said[one].needs {
                match named(&need.name, at) {
                    Some(other) => module.needs.push(other),
                    None if need.is_project => module.is_open = true,
                    None if need.is_passed_on => module.artifacts.push(need.name.clone()),
                    None => {}
                }
            }
            let parent = said[one].parent.as_deref();
            of = parent.and_then(|name| named(name, one)).filter(|&other| other != one);
        }
        // A build around it may say more: `subprojects { … }`.
        for (other, of) in said.iter().enumerate() {
            if other != at && folders[at].starts_with(folders[other]) {
                let projects = of.needs.iter().filter(|need| need.is_project);
                module.needs.extend(projects.filter_map(|need| named(&need.name, at)));
                module.is_open |= of.is_open;
            }
        }
        module.needs.retain(|&other| other != at);
        module.needs.sort_unstable();
        module.needs.dedup();
        found.push(module);
    }
    found
}

pub(crate) fn is_build(name: &str) -> bool {
    matches!(name, "pom.xml" | "build.gradle" | "build.gradle.kts")
}

pub(crate) fn short_text(path: &Utf8Path) -> Option<String> {
    let long = fs::metadata(path).map_or(true, |file| file.len() > LONGEST);
    if long { None } else { fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) }
}

fn maven(text: &str) -> Said {
    // A file that is no XML does not tell which modules it is built with.
    let Ok(document) = Document::parse(text) else { return Said { is_open: true, ..Said::default() } };
    let project = document.root_element();
    let mut said = Said {
        names: element(project, "artifactId").map(str::to_owned).into_iter().collect(),
        parent: child(project, "parent").and_then(|parent| element(parent, "artifactId")).map(str::to_owned),
        ..Said::default()
    };
    let profiles = child(project, "profiles").into_iter().flat_map(|all| children(all, "profile"));
    let lists = std::iter::once(project).chain(profiles).filter_map(|of| child(of, "dependencies"));
    for dependency in lists.flat_map(|list| children(list, "dependency")) {
        let Some(name) = element(dependency, "artifactId") else { continue };
        if name.contains("${") {
            said.is_open = true;
            continue;
        }
        let is_passed_on = element(dependency, "optional") != Some("true")
            && !matches!(element(dependency, "scope"), Some("test" | "provided" | "system" | "import"));
        said.needs.push(Need { name: name.to_owned(), is_passed_on, is_project: false });
    }
    said
}

fn gradle(text: &str) -> Said {
    let text = without(text, "/*", "*/");
    let mut said = Said::default();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line).trim();
        // `implementation project(':core')`, `api(project(":core"))`, `project(path: ':core', …)`
        for (at, _) in line.match_indices("project(") {
            let is_word =
                line[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '.');
            let inside = &line[at + "project(".len()..];
            let inside = inside.split(')').next().unwrap_or(inside);
            let Some(path) = quoted(inside).filter(|_| is_word) else { continue };
            match path.contains('$') {
                true => said.is_open = true,
                false => said.needs.push(Need { name: path.to_owned(), is_passed_on: true, is_project: true }),
            }
        }
        // `implementation(projects.libCore)`
        for (at, _) in line.match_indices("projects.") {
            if line[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '.') {
                continue;
            }
            let path = &line[at + "projects.".len()..];
            let end = path.find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(path.len());
            let path: Vec<String> = path[..end].split('.').map(with_dashes).collect();
            said.needs.push(Need { name: path.join(":"), is_passed_on: true, is_project: true });
        }
        // `implementation "group:name:version"`
        let is_for_users =
            ["implementation", "api", "compile", "runtimeOnly"].iter().any(|word| line.starts_with(word));
        if is_for_users
            && let Some(name) = quoted(line).and_then(|text| text.split(':').nth(1))
            && !line.contains("project(")
        {
            said.needs.push(Need { name: name.to_owned(), is_passed_on: true, is_project: false });
        }
    }
    said
}

/// `libCore` is `lib-core`.
fn with_dashes(name: &str) -> String {
    let mut dashed = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            dashed.push('-');
        }
        dashed.extend(letter.to_lowercase());
    }
    dashed
}

/// Returns the first quoted text.
pub(crate) fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\''])?;
    let quote = text[start..].chars().next()?;
    let rest = &text[start + 1..];
    rest.find(quote).map(|end| &rest[..end])
}

/// Returns the elements of a name directly in another.
pub(crate) fn children<'t, 'd: 't>(of: Node<'t, 'd>, name: &'t str) -> impl Iterator<Item = Node<'t, 'd>> {
    of.children().filter(move |node| node.is_element() && node.tag_name().name() == name)
}

pub(crate) fn child<'t, 'd: 't>(of: Node<'t, 'd>, name: &'t str) -> Option<Node<'t, 'd>> {
    children(of, name).next()
}

/// Returns the text of an element of a name directly in another.
pub(crate) fn element<'t, 'd: 't>(of: Node<'t, 'd>, name: &'t str) -> Option<&'t str> {
    child(of, name)?.text().map(str::trim)
}

/// Returns a text without all that stands between two marks; what is not closed is kept.
pub(crate) fn without(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, behind)) = after.split_once(close) else { break };
        kept.push_str(before);
        rest = behind;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(said: &Said) -> Vec<&str> {
        said.needs.iter().map(|need| need.name.as_str()).collect()
    }

    #[test]
    fn a_pom_says_its_name_its_parent_and_what_it_needs() {
        let said = maven(
            "<project xmlns='http://maven.apache.org/POM/4.0.0'><parent><artifactId>all</artifactId></parent><!-- <artifactId>old</artifactId> -->
             <artifactId>web</artifactId><dependencyManagement><dependencies><dependency><artifactId>managed</artifactId>
             </dependency></dependencies></dependencyManagement><dependencies><dependency><groupId>shop</groupId>
             <artifactId>core</artifactId><exclusions><exclusion><artifactId>not</artifactId></exclusion></exclusions>
             </dependency><dependency><artifactId>junit</artifactId><scope>test</scope></dependency></dependencies>
             <profiles><profile><dependencies><dependency><artifactId>jdk</artifactId><optional>true</optional>
             </dependency></dependencies></profile></profiles>
             <build><plugins><plugin><artifactId>shade</artifactId></plugin></plugins></build></project>",
        );
        assert_eq!(said.names, ["web"]);
        assert_eq!(said.parent.as_deref(), Some("all"));
        assert_eq!(names(&said), ["core", "junit", "jdk"]);
        let passed_on: Vec<bool> = said.needs.iter().map(|need| need.is_passed_on).collect();
        assert_eq!(passed_on, [true, false, false]);
        assert!(!said.is_open);
    }

    #[test]
    fn a_gradle_build_names_projects_in_three_ways() {
        let said = gradle(
            "dependencies {\n  api project(':core') // project(':gone')\n  implementation(project(path: \":lib:a\"))\n
             implementation(projects.libB.io)\n  implementation 'org.x:reactor:1'\n  my.project(':no')\n}",
        );
        assert_eq!(names(&said), [":core", ":lib:a", "lib-b:io", "reactor"]);
    }

    #[test]
    fn what_a_property_names_is_open() {
        let named = "<dependencies><dependency><artifactId>${which}</artifactId></dependency></dependencies>";
        assert!(maven(&format!("<project>{named}</project>")).is_open);
        assert!(maven("<project><artifactId>cut").is_open);
        assert!(gradle("api project(\":$which\")").is_open);
    }
}
