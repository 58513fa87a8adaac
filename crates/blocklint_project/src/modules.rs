//! The modules of Maven and Gradle builds, and their dependencies on each other.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use roxmltree::{Document, Node};

use crate::units::Unit;

/// The greatest size of a build file that is read, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// A module of a build: a folder with a build file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its folder, absolute.
    pub folder: Utf8PathBuf,
    /// Its direct dependencies in the project, also those of its tests: indices into the list of modules, sorted.
    pub needs: Vec<usize>,
    /// The names of external artifacts on which its users depend too: neither optional nor only for its tests.
    pub artifacts: Vec<String>,
    /// True if its build file does not show all of its dependencies.
    pub is_open: bool,
}

/// The content of a build file.
#[derive(Default)]
struct BuildFile {
    names: Vec<String>,
    parent: Option<String>,
    needs: Vec<ModuleDependency>,
    is_open: bool,
}

/// A dependency in a build file.
struct ModuleDependency {
    name: String,
    /// True if users of the module depend on it too.
    is_passed_on: bool,
    /// True if it is certainly a module of the project.
    is_project: bool,
}

/// The maximal number of parents of a module whose dependencies it inherits, because parents may form a cycle.
const MAX_PARENTS: usize = 7;

/// Reads the build files of the units, and returns a module for each unit that has one, in the order of the units.
pub fn read_modules(units: &[Unit]) -> Vec<Module> {
    let mut folders: Vec<&Utf8Path> = Vec::new();
    let mut build_files: Vec<BuildFile> = Vec::new();
    for unit in units {
        let builds = unit.manifests.iter().filter(|path| is_build_file(path.file_name().unwrap_or_default()));
        let mut build_file: Option<BuildFile> = None;
        for path in builds {
            let Some(text) = short_text(path) else { continue };
            let parsed = match path.file_name() {
                Some("pom.xml") => parse_maven(&text),
                _ => parse_gradle(&text),
            };
            let merged = build_file.get_or_insert_with(BuildFile::default);
            merged.names.extend(parsed.names);
            merged.parent = merged.parent.take().or(parsed.parent);
            merged.needs.extend(parsed.needs);
            merged.is_open |= parsed.is_open;
        }
        let Some(mut build_file) = build_file else { continue };
        build_file.names.extend(unit.folder.file_name().map(str::to_owned));
        folders.push(&unit.folder);
        build_files.push(build_file);
    }
    // If several modules have one name, the nearest is meant.
    let module_named = |name: &str, from: usize| {
        let last = name.rsplit([':', '/']).next().unwrap_or(name);
        let path = name.trim_start_matches(':').replace(':', "/");
        let candidates = build_files
            .iter()
            .enumerate()
            .filter(|(index, candidate)| *index != from && candidate.names.iter().any(|name| name == last));
        candidates
            .max_by_key(|(index, candidate)| {
                let shared_folders =
                    folders[from].components().zip(folders[*index].components()).take_while(|(a, b)| a == b).count();
                (
                    folders[*index].ends_with(&path),
                    candidate.names.first().is_some_and(|name| name == last),
                    shared_folders,
                    std::cmp::Reverse(*index),
                )
            })
            .map(|(index, _)| index)
    };
    let mut modules: Vec<Module> = Vec::new();
    for (index, build_file) in build_files.iter().enumerate() {
        let mut module =
            Module { folder: folders[index].to_path_buf(), is_open: build_file.is_open, ..Module::default() };
        // A module inherits the dependencies of its parents.
        let mut next = Some(index);
        for _ in 0..=MAX_PARENTS {
            let Some(current) = next else { break };
            for need in &build_files[current].needs {
                match module_named(&need.name, index) {
                    Some(needed) => module.needs.push(needed),
                    None if need.is_project => module.is_open = true,
                    None if need.is_passed_on => module.artifacts.push(need.name.clone()),
                    None => {}
                }
            }
            let parent = build_files[current].parent.as_deref();
            next = parent.and_then(|name| module_named(name, current)).filter(|&parent| parent != current);
        }
        // A build file in a folder above may add dependencies: `subprojects { … }`.
        for (outer, outer_file) in build_files.iter().enumerate() {
            if outer != index && folders[index].starts_with(folders[outer]) {
                let projects = outer_file.needs.iter().filter(|need| need.is_project);
                module.needs.extend(projects.filter_map(|need| module_named(&need.name, index)));
                module.is_open |= outer_file.is_open;
            }
        }
        module.needs.retain(|&needed| needed != index);
        module.needs.sort_unstable();
        module.needs.dedup();
        modules.push(module);
    }
    modules
}

pub(crate) fn is_build_file(name: &str) -> bool {
    matches!(name, "pom.xml" | "build.gradle" | "build.gradle.kts")
}

pub(crate) fn short_text(path: &Utf8Path) -> Option<String> {
    let is_long = fs::metadata(path).map_or(true, |file| file.len() > MAX_SIZE);
    if is_long { None } else { fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) }
}

fn parse_maven(text: &str) -> BuildFile {
    // The dependencies in a file that is no XML are unknown.
    let Ok(document) = Document::parse(text) else { return BuildFile { is_open: true, ..BuildFile::default() } };
    let project = document.root_element();
    let mut build_file = BuildFile {
        names: child_text(project, "artifactId").map(str::to_owned).into_iter().collect(),
        parent: first_child(project, "parent").and_then(|parent| child_text(parent, "artifactId")).map(str::to_owned),
        ..BuildFile::default()
    };
    let profiles = first_child(project, "profiles").into_iter().flat_map(|all| children_named(all, "profile"));
    let lists = std::iter::once(project).chain(profiles).filter_map(|element| first_child(element, "dependencies"));
    for dependency in lists.flat_map(|list| children_named(list, "dependency")) {
        let Some(name) = child_text(dependency, "artifactId") else { continue };
        if name.contains("${") {
            build_file.is_open = true;
            continue;
        }
        let is_passed_on = child_text(dependency, "optional") != Some("true")
            && !matches!(child_text(dependency, "scope"), Some("test" | "provided" | "system" | "import"));
        build_file.needs.push(ModuleDependency { name: name.to_owned(), is_passed_on, is_project: false });
    }
    build_file
}

fn parse_gradle(text: &str) -> BuildFile {
    let text = remove_between(text, "/*", "*/");
    let mut build_file = BuildFile::default();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line).trim();
        // `implementation project(':core')`, `api(project(":core"))`, `project(path: ':core', …)`
        for (at, _) in line.match_indices("project(") {
            let is_word =
                line[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '.');
            let inside = &line[at + "project(".len()..];
            let inside = inside.split(')').next().unwrap_or(inside);
            let Some(path) = first_quoted(inside).filter(|_| is_word) else { continue };
            if path.contains('$') {
                build_file.is_open = true
            } else {
                build_file.needs.push(ModuleDependency { name: path.to_owned(), is_passed_on: true, is_project: true })
            }
        }
        // `implementation(projects.libCore)`
        for (at, _) in line.match_indices("projects.") {
            if line[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '.') {
                continue;
            }
            let path = &line[at + "projects.".len()..];
            let end = path.find(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_')).unwrap_or(path.len());
            let path: Vec<String> = path[..end].split('.').map(camel_to_kebab).collect();
            build_file.needs.push(ModuleDependency { name: path.join(":"), is_passed_on: true, is_project: true });
        }
        // `implementation "group:name:version"`
        let is_for_users =
            ["implementation", "api", "compile", "runtimeOnly"].iter().any(|word| line.starts_with(word));
        if is_for_users
            && let Some(name) = first_quoted(line).and_then(|text| text.split(':').nth(1))
            && !line.contains("project(")
        {
            build_file.needs.push(ModuleDependency { name: name.to_owned(), is_passed_on: true, is_project: false });
        }
    }
    build_file
}

/// Converts the name of a type-safe project accessor to that of its folder: `libCore` to `lib-core`.
fn camel_to_kebab(name: &str) -> String {
    let mut dashed = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            dashed.push('-');
        }
        dashed.extend(letter.to_lowercase());
    }
    dashed
}

/// Returns the first quoted text of a line.
pub(crate) fn first_quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\''])?;
    let quote = text[start..].chars().next()?;
    let rest = &text[start + 1..];
    rest.find(quote).map(|end| &rest[..end])
}

/// Returns the child elements with a name.
pub(crate) fn children_named<'t, 'd: 't>(element: Node<'t, 'd>, name: &'t str) -> impl Iterator<Item = Node<'t, 'd>> {
    element.children().filter(move |node| node.is_element() && node.tag_name().name() == name)
}

pub(crate) fn first_child<'t, 'd: 't>(element: Node<'t, 'd>, name: &'t str) -> Option<Node<'t, 'd>> {
    children_named(element, name).next()
}

/// Returns the text of the first child element with a name.
pub(crate) fn child_text<'t, 'd: 't>(element: Node<'t, 'd>, name: &'t str) -> Option<&'t str> {
    first_child(element, name)?.text().map(str::trim)
}

/// Removes everything between each `open` and the next `close`; a part that is not closed is kept.
pub(crate) fn remove_between(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, after_close)) = after.split_once(close) else { break };
        kept.push_str(before);
        rest = after_close;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(build_files: &BuildFile) -> Vec<&str> {
        build_files.needs.iter().map(|need| need.name.as_str()).collect()
    }

    #[test]
    fn a_pom_has_a_name_a_parent_and_dependencies() {
        let build_files = parse_maven(
            "<project xmlns='http://maven.apache.org/POM/4.0.0'><parent><artifactId>all</artifactId></parent><!-- <artifactId>old</artifactId> -->
             <artifactId>web</artifactId><dependencyManagement><dependencies><dependency><artifactId>managed</artifactId>
             </dependency></dependencies></dependencyManagement><dependencies><dependency><groupId>shop</groupId>
             <artifactId>core</artifactId><exclusions><exclusion><artifactId>not</artifactId></exclusion></exclusions>
             </dependency><dependency><artifactId>junit</artifactId><scope>test</scope></dependency></dependencies>
             <profiles><profile><dependencies><dependency><artifactId>jdk</artifactId><optional>true</optional>
             </dependency></dependencies></profile></profiles>
             <build><plugins><plugin><artifactId>shade</artifactId></plugin></plugins></build></project>",
        );
        assert_eq!(build_files.names, ["web"]);
        assert_eq!(build_files.parent.as_deref(), Some("all"));
        assert_eq!(names(&build_files), ["core", "junit", "jdk"]);
        let passed_on: Vec<bool> = build_files.needs.iter().map(|need| need.is_passed_on).collect();
        assert_eq!(passed_on, [true, false, false]);
        assert!(!build_files.is_open);
    }

    #[test]
    fn gradle_refers_to_projects_in_three_ways() {
        let build_files = parse_gradle(
            "dependencies {\n  api project(':core') // project(':gone')\n  implementation(project(path: \":lib:a\"))\n
             implementation(projects.libB.io)\n  implementation 'org.x:reactor:1'\n  my.project(':no')\n}",
        );
        assert_eq!(names(&build_files), [":core", ":lib:a", "lib-b:io", "reactor"]);
    }

    #[test]
    fn a_dependency_named_by_a_property_makes_the_module_open() {
        let named = "<dependencies><dependency><artifactId>${which}</artifactId></dependency></dependencies>";
        assert!(parse_maven(&format!("<project>{named}</project>")).is_open);
        assert!(parse_maven("<project><artifactId>cut").is_open);
        assert!(parse_gradle("api project(\":$which\")").is_open);
    }
}
