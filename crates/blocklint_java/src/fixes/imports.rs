//! Imports of a file: the names of imported classes, and the edits that add an import.

use blocklint_core::Span;
use tree_sitter::Node;

use crate::fixes::{Edits, insert};
use crate::kinds::{K, kind, named};

/// The imports and declarations of a file.
pub(super) struct Imports<'s> {
    /// Imported classes in the order of the file, with the spans of their imports.
    classes: Vec<(&'s str, Span)>,
    /// Packages that are imported by `*`.
    packages: Vec<&'s str>,
    /// Names of the classes that the file declares.
    declared: Vec<&'s str>,
    /// The end of the package declaration.
    package_end: Option<usize>,
    /// The start of the first declaration.
    first: usize,
}

impl<'s> Imports<'s> {
    /// Collects the imports and declarations of a file.
    pub(super) fn new(source: &'s str, root: Node<'_>) -> Self {
        let mut found =
            Imports { classes: Vec::new(), packages: Vec::new(), declared: Vec::new(), package_end: None, first: 0 };
        let mut any = false;
        for node in named(root) {
            match kind(node) {
                K::Package => found.package_end = Some(node.end_byte()),
                K::Import => {
                    let text = source.get(node.byte_range()).unwrap_or_default();
                    let path = text.trim_start_matches("import").trim_end_matches(';').trim();
                    if path.starts_with("static ") {
                        continue;
                    }
                    match path.strip_suffix(".*") {
                        Some(package) => found.packages.push(package),
                        None => {
                            found.classes.push((path, Span::new(node.start_byte() as u32, node.end_byte() as u32)));
                        }
                    }
                }
                _ => {
                    if !any {
                        found.first = node.start_byte();
                        any = true;
                    }
                    if let Some(name) = node.child_by_field_name("name") {
                        found.declared.push(source.get(name.byte_range()).unwrap_or_default());
                    }
                }
            }
        }
        found
    }

    /// True if a written name refers to this class.
    pub(super) fn means(&self, written: &str, path: &str) -> bool {
        written == path || split(path).1 == written && self.knows(path)
    }

    fn knows(&self, path: &str) -> bool {
        let (package, name) = split(path);
        !self.is_taken(path)
            && (self.classes.iter().any(|(class, _)| *class == path)
                || self.packages.contains(&package) && !self.classes.iter().any(|(class, _)| split(class).1 == name))
    }

    /// True if the simple name of a class refers to another class.
    fn is_taken(&self, path: &str) -> bool {
        let name = split(path).1;
        self.declared.contains(&name) || self.classes.iter().any(|(class, _)| *class != path && split(class).1 == name)
    }

    /// Returns how a class is written if it is imported: its simple name, unless that refers to another class.
    pub(super) fn name_of<'p>(&self, path: &'p str) -> &'p str {
        if self.is_taken(path) { path } else { split(path).1 }
    }

    /// Returns the edits that import these classes where they are not imported yet, in the order of the file's imports.
    pub(super) fn edits(&self, paths: &[&str]) -> Edits {
        let mut wanted: Vec<&str> =
            paths.iter().copied().filter(|path| !self.is_taken(path) && !self.knows(path)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut edits: Edits = Vec::new();
        for path in wanted {
            let line = format!("import {path};");
            // Next to imports that share the most packages with it, else in alphabetical order.
            let shared = self.classes.iter().map(|(class, _)| shared_parts(class, path)).max().unwrap_or_default();
            let near = || self.classes.iter().filter(|(class, _)| shared == 0 || shared_parts(class, path) == shared);
            let above = near().rfind(|(class, _)| *class < path);
            let (offset, text) = match (above, near().next()) {
                (Some((_, span)), _) => (span.end as usize, format!("\n{line}")),
                (None, Some((_, span))) => (span.start as usize, format!("{line}\n")),
                (None, None) => match self.package_end {
                    Some(end) => (end, format!("\n\n{line}")),
                    None => (self.first, format!("{line}\n\n")),
                },
            };
            // Two insertions at the same offset are joined.
            match edits.iter_mut().find(|(span, _)| span.start as usize == offset) {
                Some((_, known)) if text.starts_with('\n') => known.push_str(&format!("\n{line}")),
                Some((_, known)) => {
                    let end = known.trim_end().len();
                    known.insert_str(end, &format!("\n{line}"));
                }
                None => edits.push(insert(offset, text)),
            }
        }
        edits
    }
}

/// Returns the number of leading packages that two paths share.
fn shared_parts(package: &str, other_package: &str) -> usize {
    let packages = |path| split(path).0.split('.').filter(|part: &&str| !part.is_empty());
    packages(package).zip(packages(other_package)).take_while(|(a, b)| a == b).count()
}

/// Splits a path into its package and its last name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}
