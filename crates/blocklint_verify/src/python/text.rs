//! The source text of forms, for messages and for the names in annotations; and the decorators of functions.

use blocklint_facts::{Form, FormId};

use blocklint_link::program::ids::FileId;

use super::entity::Function;
use super::sources::Sources;

impl Sources<'_> {
    /// Returns the text of a form: names, attributes and types. Other expressions are written as `?`.
    pub(super) fn text(&self, file: FileId, form: FormId) -> String {
        let mut text = String::new();
        self.write(file, form, &mut text, 0);
        text
    }

    fn write(&self, file: FileId, form: FormId, text: &mut String, depth: u32) {
        if depth > 32 {
            return;
        }
        let facts = self.program.facts(file);
        let list = |parts: &[FormId], between: &str, text: &mut String| {
            for (index, &part) in parts.iter().enumerate() {
                if index > 0 {
                    text.push_str(between);
                }
                self.write(file, part, text, depth + 1);
            }
        };
        match facts.form(form) {
            Form::Var(var) => text.push_str(facts.text(facts.var(var).name)),
            Form::Name(name) | Form::Str(name) => text.push_str(facts.text(name)),
            Form::None => text.push_str("None"),
            Form::Ellipsis => text.push_str("..."),
            Form::Attr(base, name) => {
                self.write(file, base, text, depth + 1);
                text.push('.');
                text.push_str(facts.text(name));
            }
            Form::Subscript(base, index) => {
                self.write(file, base, text, depth + 1);
                text.push('[');
                self.write(file, index, text, depth + 1);
                text.push(']');
            }
            Form::Display(_, parts) => list(facts.list(parts), ", ", text),
            Form::Join(parts) => list(facts.list(parts), " | ", text),
            Form::Result(site) => {
                self.write(file, facts.site(site).callee, text, depth + 1);
                text.push_str("()");
            }
            Form::Class(class) => text.push_str(facts.text(facts.class(class).name)),
            Form::Bound(inner) | Form::Cast(_, inner) | Form::Star(inner) => self.write(file, inner, text, depth + 1),
            _ => text.push('?'),
        }
    }

    /// Returns the last names of a function's decorators.
    pub(super) fn decorators(&self, function: &Function) -> Vec<String> {
        let file = function.body.file;
        let facts = self.program.facts(file);
        let name = |form: &FormId| {
            let form = match facts.form(*form) {
                Form::Result(site) => facts.site(site).callee,
                _ => *form,
            };
            let text = self.text(file, form);
            text.rsplit('.').next().unwrap_or(&text).to_owned()
        };
        facts.list(self.program.body(function.body).decorators).iter().map(name).collect()
    }

    /// True if the function is a property.
    pub(super) fn is_property(&self, function: &Function) -> bool {
        let known = ["cached_property", "setter", "getter", "reify"];
        self.decorators(function).iter().any(|name| name.ends_with("property") || known.contains(&name.as_str()))
    }
}
