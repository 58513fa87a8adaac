//! Source text of sites and forms for messages, reconstructed from facts. Parts that are not names are `…`.

use crate::lang;
use crate::linker::Linker;
use crate::program::ids::{FileId, SiteRef};
use blocklint_core::Language;
use blocklint_facts::{BodyKind, Form, FormId, SiteKind};

impl Linker<'_> {
    /// Returns the source text of a site's callee.
    pub fn written_site(&self, site: SiteRef) -> String {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        match site_facts.kind {
            SiteKind::Read => format!("{}.{}", self.written(site.file, site_facts.callee), facts.text(site_facts.name)),
            SiteKind::Call | SiteKind::New | SiteKind::Macro | SiteKind::Decorate => {
                let text = self.written(site.file, site_facts.callee);
                if site_facts.kind == SiteKind::Macro && !text.ends_with('!') { format!("{text}!") } else { text }
            }
            SiteKind::Test => format!("if {}", self.written(site.file, site_facts.callee)),
            SiteKind::Format => format!("{{{}}}", self.written(site.file, site_facts.callee)),
            SiteKind::Compare => match self.program.args_of(site)[..] {
                [other] => {
                    let operands = [site_facts.callee, other.value].map(|form| self.written(site.file, form));
                    operands.join(&format!(
                        " {} ",
                        lang::python::protocols::comparison_operator(facts.text(site_facts.name))
                    ))
                }
                _ => self.written(site.file, site_facts.callee),
            },
            _ => self.written(site.file, site_facts.callee),
        }
    }

    /// Returns a description of an implicit call of a method: "`list()` iterates over `books`". `None` for an explicit
    /// call of the method, and for loops, `with` and attributes, whose text shows the call.
    pub fn words_for_operation(&self, site: SiteRef, method: &str) -> Option<String> {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        if facts.language != Language::Python || !method.starts_with("__") {
            return None;
        }
        let site_name = facts.text(site_facts.name);
        let (operation, operand) = match site_facts.kind {
            SiteKind::Call if site_name != method && self.is_run_by_protocol(site, method) => {
                let operand = self.program.args_of(site).iter().find(|arg| arg.name.is_none()).map(|arg| arg.value)?;
                (format!("`{site_name}()`"), operand)
            }
            SiteKind::Test => ("the test of its truth".to_owned(), site_facts.callee),
            SiteKind::Format => ("formatting".to_owned(), site_facts.callee),
            SiteKind::Operator if site_name == "__contains__" => ("`in`".to_owned(), site_facts.callee),
            SiteKind::Compare => {
                let sign = lang::python::protocols::comparison_operator(site_name);
                (format!("`{sign}`"), self.operand_with_method(site, method))
            }
            SiteKind::Operator => ("the operator".to_owned(), self.operand_with_method(site, method)),
            _ => return None,
        };
        let operand = self.written(site.file, operand);
        Some(if lang::python::protocols::runs_by_iteration(site_name, method) {
            format!("{operation} iterates over `{operand}`")
        } else {
            format!("{operation} calls `{method}` of `{operand}`")
        })
    }

    /// Returns the operand of a binary operation whose method runs: the right one if the left one is a literal or the
    /// method is a reflected one (`__radd__`), else the left one.
    fn operand_with_method(&self, site: SiteRef, method: &str) -> FormId {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        let is_literal = matches!(
            facts.form(site_facts.callee),
            Form::None | Form::Bool(_) | Form::Int(_) | Form::Float(_) | Form::Str(_) | Form::Bytes(_) | Form::Text(_)
        );
        let is_left =
            !is_literal && lang::python::protocols::is_left_operand_method(facts.text(site_facts.name), method);
        match self.program.args_of(site)[..] {
            [other] if !is_left => other.value,
            _ => site_facts.callee,
        }
    }

    /// Returns the source text of a form; parts that are not names are `…`.
    pub fn written(&self, file: FileId, form: FormId) -> String {
        self.written_within(file, form, 12)
    }

    fn written_within(&self, file: FileId, form: FormId, depth: u32) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Var(var) => facts.text(facts.var(var).name).to_owned(),
            Form::Name(sym) => facts.text(sym).to_owned(),
            Form::This => "this".to_owned(),
            Form::Attr(base, sym) => format!("{}.{}", self.written_within(file, base, depth), facts.text(sym)),
            Form::Path(base, sym) => format!("{}::{}", self.written_within(file, base, depth), facts.text(sym)),
            Form::Result(site) => {
                let site_facts = facts.site(site);
                match site_facts.kind {
                    SiteKind::Call | SiteKind::New => {
                        let args = if facts.args_of(site).is_empty() { "()" } else { "(…)" };
                        format!("{}{args}", self.written_within(file, site_facts.callee, depth))
                    }
                    SiteKind::Enter | SiteKind::Decorate => self.written_within(file, site_facts.callee, depth),
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
