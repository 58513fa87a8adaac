//! Code as the facts have it, written out for people.

use crate::link::Link;
use crate::program::ids::SiteRef;
use blocklint_facts::{BodyKind, Form, FormId, SiteKind};

impl Link<'_> {
    /// The callee of a site as it is written, as far as names go.
    pub fn written_site(&self, site: SiteRef) -> String {
        let facts = self.program.facts(site.file);
        let row = self.program.site(site);
        match row.kind {
            SiteKind::Read => format!("{}.{}", self.written(site.file, row.callee), facts.text(row.name)),
            SiteKind::Call | SiteKind::New | SiteKind::Macro | SiteKind::Decorate => {
                let text = self.written(site.file, row.callee);
                if row.kind == SiteKind::Macro && !text.ends_with('!') { format!("{text}!") } else { text }
            }
            _ => self.written(site.file, row.callee),
        }
    }

    /// A form as it is written, as far as names go; what has no name is `…`.
    pub fn written(&self, file: crate::program::ids::FileId, form: FormId) -> String {
        self.written_within(file, form, 12)
    }

    fn written_within(&self, file: crate::program::ids::FileId, form: FormId, depth: u32) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(var) => facts.text(facts.var(var).name).to_owned(),
            Form::Name(sym) => facts.text(sym).to_owned(),
            Form::This => "this".to_owned(),
            Form::Attr(base, sym) => format!("{}.{}", self.written_within(file, base, depth), facts.text(sym)),
            Form::Path(base, sym) => format!("{}::{}", self.written_within(file, base, depth), facts.text(sym)),
            Form::Result(site) => {
                let row = facts.site(site);
                match row.kind {
                    SiteKind::Call | SiteKind::New => {
                        let args = if facts.args_of(site).is_empty() { "()" } else { "(…)" };
                        format!("{}{args}", self.written_within(file, row.callee, depth))
                    }
                    SiteKind::Enter | SiteKind::Decorate => self.written_within(file, row.callee, depth),
                    _ => "…".to_owned(),
                }
            }
            Form::Await(inner) | Form::Try(inner) => self.written_within(file, inner, depth),
            Form::Subscript(base, _) => format!("{}[…]", self.written_within(file, base, depth)),
            Form::Str(_) | Form::Text(_) => "\"…\"".to_owned(),
            Form::Callable(body) => match facts.body(body).kind {
                BodyKind::Lambda => "<lambda>".to_owned(),
                _ => facts.text(facts.body(body).name).to_owned(),
            },
            Form::Run(_) => "<generator>".to_owned(),
            Form::Class(class) => facts.text(facts.class(class).name).to_owned(),
            _ => "…".to_owned(),
        }
    }
}
