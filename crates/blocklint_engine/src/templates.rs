//! Recognises templates of source files, which a project generator fills in: `{{ name }}`, `{% if … %}`, `<% … %>`,
//! `${package}`. They do not parse, but are not reported as unreadable (BLT902).

use blocklint_core::Language;
use blocklint_facts::FileFacts;
use camino::Utf8Path;

/// The message of the first problem of a template.
const MESSAGE: &str = "a template of a source file";

/// The greatest length of a problem's text that is searched for placeholders, in bytes.
const MAX_LENGTH: usize = 4_000;

/// Marks facts as those of a template, if a placeholder is at the first problem.
pub(crate) fn mark_template(facts: &mut FileFacts, bytes: &[u8]) {
    let language = facts.language;
    let Some(first) = facts.problems.first_mut() else { return };
    let (start, end) = (first.span.start as usize, first.span.end as usize);
    let (Some(before), Some(inside)) = (bytes.get(..start), bytes.get(start..end)) else { return };
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line_end = bytes[end..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| end + at);
    let line_end = line_end.min(start + inside.len().min(MAX_LENGTH) + MAX_LENGTH);
    if has_placeholder(&String::from_utf8_lossy(&bytes[line_start..line_end]), language) {
        MESSAGE.clone_into(&mut first.message);
    }
}

/// True if these facts are those of a template, by their problems or by the path of the file.
pub(crate) fn is_template(facts: &FileFacts, relative: &Utf8Path) -> bool {
    facts.problems.first().is_some_and(|first| first.message == MESSAGE) || is_in_templates(relative)
}

/// True if a folder is one of templates by the convention of a generator, or if a part of the path is a placeholder.
fn is_in_templates(relative: &Utf8Path) -> bool {
    let path = relative.as_str().replace('\\', "/");
    let is_template = |part: &str| part == "archetype-resources" || part.contains("{{") || part.contains("{%");
    path.split('/').any(is_template) || path.contains("src/main/g8/")
}

/// True if a line of the text holds a placeholder: `{{ name }}`, `{{ name | lower }}`, `{% … %}`, `{# … #}`, `<% … %>`,
/// `${name}` of Java and the lines of Velocity (`#set(…)`), which are no code of the language.
fn has_placeholder(text: &str, language: Language) -> bool {
    let between = |line: &str, open: &str, close: &str, is_one: &dyn Fn(&str) -> bool| {
        let mut parts = line.split(open).skip(1);
        parts.any(|part| part.split_once(close).is_some_and(|(inside, _)| is_one(inside.trim())))
    };
    let is_name = |inside: &str| {
        let of_name = |c: char| c.is_ascii_alphanumeric() || " ._-|()'\"".contains(c);
        inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && inside.chars().all(of_name)
    };
    text.lines().any(|line| {
        let directive = line.trim_start();
        between(line, "{{", "}}", &is_name)
            || between(line, "{%", "%}", &|_| true)
            || between(line, "{#", "#}", &|_| true)
            || between(line, "<%", "%>", &|_| true)
            || language == Language::Java && between(line, "${", "}", &is_name)
            || language == Language::Java
                && ["#set(", "#if(", "#foreach(", "#end"].iter().any(|name| directive.starts_with(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_distinguished_from_code() {
        let (python, java) = (Language::Python, Language::Java);
        for text in
            ["from {{ cookie.slug }} import x", "{% if x %}", "class <%= name %>:", "{# note #}", "x = {{name|lower}}"]
        {
            assert!(has_placeholder(text, python), "{text}");
        }
        for text in ["package ${package};", "#set( $symbol = '#' )", "import {{ base }}.x;", "class ${name} {"] {
            assert!(has_placeholder(text, java), "{text}");
        }
        for (text, language) in [
            ("def f(:", python),
            ("x = {{}}", python),
            ("f'{{{x}}}' +", python),
            ("new HashMap<>() {{ put(1, 2); }};;)", java),
            ("print(f'${x}'", python),
        ] {
            assert!(!has_placeholder(text, language), "{text}");
        }
    }

    #[test]
    fn folders_of_templates_are_recognised() {
        for path in
            ["{{cookie.slug}}/main.py", "a/src/main/resources/archetype-resources/src/A.java", "src/main/g8/A.java"]
        {
            assert!(is_in_templates(Utf8Path::new(path)), "{path}");
        }
        for path in ["app/templates/main.py", "main.py", "a/resources/A.java"] {
            assert!(!is_in_templates(Utf8Path::new(path)), "{path}");
        }
    }
}
