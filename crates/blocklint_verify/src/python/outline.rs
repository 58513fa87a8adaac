//! The outline of a Cython source (`.pyx`) as Python source: its classes, functions, parameters and attributes, with
//! empty bodies.

use std::sync::LazyLock;

use camino::Utf8Path;
use regex::Regex;

/// The patterns of the lines that are recognised.
struct LinePatterns {
    class: Regex,
    function: Regex,
    property: Regex,
    include: Regex,
    decorator: Regex,
    plain: Regex,
    attribute: Regex,
    name: Regex,
    dotted: Regex,
}

static PATTERNS: LazyLock<Option<LinePatterns>> = LazyLock::new(|| {
    let regex = |text: &str| Regex::new(text).ok();
    Some(LinePatterns {
        class: regex(r"^(\s*)(?:cdef\s+|cpdef\s+|public\s+)*class\s+(\w+)\s*(?:\(([^)]*)\))?")?,
        function: regex(r"^(\s*)(async\s+)?(?:def\s|cpdef\s+(?:inline\s+)?(?:[\w.*\[\]]+\s+)*?)\s*(\w+)\s*\(")?,
        property: regex(r"^(\s+)property\s+(\w+)\s*:")?,
        include: regex(r#"^include\s+["']([^"']+)["']"#)?,
        decorator: regex(r"^(\s*)@\s*([\w.]+)")?,
        plain: regex(r"^(?:from\s+[\w.]+\s+import\s|import\s|\w+\s*=\s*[\w.]+\s*$)")?,
        attribute: regex(r"^(\s+)cdef\s+(?:public|readonly)\s+.*?(\w+)\s*$")?,
        name: regex(r"(\w+)\s*(?::.*|\bnot None\s*|\bor None\s*)?$")?,
        dotted: regex(r"^[\w.]+$")?,
    })
});

/// Returns Python source with the same public names and empty bodies. Lines that are not recognised are dropped.
/// `folder` contains the included files.
pub(super) fn outline(text: &str, folder: &Utf8Path) -> String {
    match &*PATTERNS {
        Some(patterns) => patterns.outline(text, folder, 0),
        None => String::new(),
    }
}

impl LinePatterns {
    fn outline(&self, text: &str, folder: &Utf8Path, depth: u32) -> String {
        let text = text.replace('\t', "    ");
        let lines: Vec<&str> = text.lines().collect();
        let mut result: Vec<String> = Vec::new();
        let mut decorators: Vec<String> = Vec::new();
        // The indents of the classes around the line.
        let mut classes: Vec<usize> = Vec::new();
        let mut next = 0;
        while next < lines.len() {
            let line = lines[next];
            next += 1;
            if let Some(captures) = self.decorator.captures(line) {
                decorators.push(format!("{}@{}", &captures[1], &captures[2]));
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            if !line.trim().is_empty() {
                classes.retain(|class| *class < indent);
            }
            let is_member = indent == classes.last().map_or(0, |class| class + 4);
            let part = |captures: &regex::Captures<'_>, group: usize| {
                captures.get(group).map_or("", |part| part.as_str()).to_owned()
            };
            if let (Some(captures), true) = (self.class.captures(line), is_member) {
                classes.push(indent);
                let bases = part(&captures, 3);
                let bases: Vec<&str> = bases.split(',').map(str::trim).filter(|b| self.dotted.is_match(b)).collect();
                result.append(&mut decorators);
                result.push(format!("{}class {}({}):", &captures[1], &captures[2], bases.join(", ")));
                result.push(format!("{}    pass", &captures[1]));
            } else if let (Some(captures), true) = (self.function.captures(line), is_member) {
                let end = captures.get(0).map_or(0, |all| all.end());
                let mut signature = line[end..].to_owned();
                while signature.matches('(').count() + 1 > signature.matches(')').count() && next < lines.len() {
                    signature.push(' ');
                    signature.push_str(lines[next].split('#').next().unwrap_or("").trim());
                    next += 1;
                }
                let (space, asynchronous) = (part(&captures, 1), part(&captures, 2));
                result.append(&mut decorators);
                result.push(format!("{space}{asynchronous}def {}({}):", &captures[3], self.parameters(&signature)));
                result.push(format!("{space}    pass"));
            } else if let (Some(captures), true) = (self.include.captures(line), depth < 4) {
                // An included file is in the folder; a path that leaves the folder is not opened.
                let inside =
                    Utf8Path::new(&captures[1]).components().all(|c| matches!(c, camino::Utf8Component::Normal(_)));
                if let (true, Ok(bytes)) = (inside, std::fs::read(folder.join(&captures[1]))) {
                    result.push(self.outline(&String::from_utf8_lossy(&bytes), folder, depth + 1));
                }
            } else if let (Some(captures), true) = (self.property.captures(line), is_member) {
                let space = &captures[1];
                result.push(format!("{space}@property\n{space}def {}(self):\n{space}    pass", &captures[2]));
            } else if let (Some(captures), true) = (self.attribute.captures(line), is_member) {
                result.push(format!("{}{} = None", &captures[1], &captures[2]));
            } else if self.plain.is_match(line) && !line.contains('(') && !line.contains('\\') {
                result.push(line.to_owned());
            }
            if !line.trim().is_empty() {
                decorators.clear();
            }
        }
        result.join("\n") + "\n"
    }

    /// Returns the parameters between the parentheses, without types and with `None` for each default.
    fn parameters(&self, signature: &str) -> String {
        let (mut depth, mut part, mut parts) = (0i32, String::new(), Vec::new());
        for c in signature.chars() {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            if depth < 0 {
                break;
            }
            if c == ',' && depth == 0 {
                parts.push(std::mem::take(&mut part));
            } else {
                part.push(c);
            }
        }
        parts.push(part);
        let mut names = Vec::new();
        for entry in parts.iter().map(|part| part.trim()) {
            if matches!(entry, "" | "*" | "/") || entry.starts_with('*') {
                names.push(entry.to_owned());
                continue;
            }
            let (left, default) = entry.split_once('=').map_or((entry, false), |(left, _)| (left, true));
            if let Some(captures) = self.name.captures(left.trim()) {
                names.push(format!("{}{}", &captures[1], if default { "=None" } else { "" }));
            }
        }
        names.retain(|name| !name.is_empty());
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::outline;

    #[test]
    fn classes_and_functions_keep_their_names_and_parameters() {
        let text =
            "cdef class A(B):\n    cdef public int rows\n    def f(self, int a, b=(1, 2), *args):\n        x = 1\n";
        let expected = "class A(B):\n    pass\n    rows = None\n    def f(self, a, b=None, *args):\n        pass\n";
        assert_eq!(outline(text, Utf8Path::new("")), expected);
    }
}
