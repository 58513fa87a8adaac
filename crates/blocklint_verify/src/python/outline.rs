//! Turns a Cython source into the outline that Python would see: classes, functions, parameters, attributes.

use std::sync::LazyLock;

use camino::Utf8Path;
use regex::Regex;

/// The shapes of lines that are understood.
struct Shapes {
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

static SHAPES: LazyLock<Option<Shapes>> = LazyLock::new(|| {
    let regex = |text: &str| Regex::new(text).ok();
    Some(Shapes {
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

/// Python source with the same public names and empty bodies; what is not understood is left out. `folder` is where
/// included files lie.
pub(super) fn outline(text: &str, folder: &Utf8Path) -> String {
    match &*SHAPES {
        Some(shapes) => shapes.outline(text, folder, 0),
        None => String::new(),
    }
}

impl Shapes {
    fn outline(&self, text: &str, folder: &Utf8Path, depth: u32) -> String {
        let text = text.replace('\t', "    ");
        let lines: Vec<&str> = text.lines().collect();
        let mut result: Vec<String> = Vec::new();
        let mut decorators: Vec<String> = Vec::new();
        // Indents of the classes around, below which members stand.
        let mut classes: Vec<usize> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            at += 1;
            if let Some(found) = self.decorator.captures(line) {
                decorators.push(format!("{}@{}", &found[1], &found[2]));
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            if !line.trim().is_empty() {
                classes.retain(|class| *class < indent);
            }
            let member = indent == classes.last().map_or(0, |class| class + 4);
            let part =
                |found: &regex::Captures<'_>, at: usize| found.get(at).map_or("", |part| part.as_str()).to_owned();
            if let (Some(found), true) = (self.class.captures(line), member) {
                classes.push(indent);
                let bases = part(&found, 3);
                let bases: Vec<&str> = bases.split(',').map(str::trim).filter(|b| self.dotted.is_match(b)).collect();
                result.append(&mut decorators);
                result.push(format!("{}class {}({}):", &found[1], &found[2], bases.join(", ")));
                result.push(format!("{}    pass", &found[1]));
            } else if let (Some(found), true) = (self.function.captures(line), member) {
                let whole = found.get(0).map_or(0, |all| all.end());
                let mut signature = line[whole..].to_owned();
                while signature.matches('(').count() + 1 > signature.matches(')').count() && at < lines.len() {
                    signature.push(' ');
                    signature.push_str(lines[at].split('#').next().unwrap_or("").trim());
                    at += 1;
                }
                let (space, asynchronous) = (part(&found, 1), part(&found, 2));
                result.append(&mut decorators);
                result.push(format!("{space}{asynchronous}def {}({}):", &found[3], self.parameters(&signature)));
                result.push(format!("{space}    pass"));
            } else if let (Some(found), true) = (self.include.captures(line), depth < 4) {
                // An included file lies beside; a path that leads elsewhere is not opened.
                let inside =
                    Utf8Path::new(&found[1]).components().all(|c| matches!(c, camino::Utf8Component::Normal(_)));
                if let (true, Ok(bytes)) = (inside, std::fs::read(folder.join(&found[1]))) {
                    result.push(self.outline(&String::from_utf8_lossy(&bytes), folder, depth + 1));
                }
            } else if let (Some(found), true) = (self.property.captures(line), member) {
                let space = &found[1];
                result.push(format!("{space}@property\n{space}def {}(self):\n{space}    pass", &found[2]));
            } else if let (Some(found), true) = (self.attribute.captures(line), member) {
                result.push(format!("{}{} = None", &found[1], &found[2]));
            } else if self.plain.is_match(line) && !line.contains('(') && !line.contains('\\') {
                result.push(line.to_owned());
            }
            if !line.trim().is_empty() {
                decorators.clear();
            }
        }
        result.join("\n") + "\n"
    }

    /// Returns the names between the parentheses, without types and with `None` for each default.
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
            if let Some(found) = self.name.captures(left.trim()) {
                names.push(format!("{}{}", &found[1], if default { "=None" } else { "" }));
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
