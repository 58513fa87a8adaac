//! Edits that pass a callable in place of its result: `to_thread(load(path))` → `to_thread(load, path)`.

use blocklint_core::{Applicability, Refusal, WrittenEdit};
use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::{File, Site};

impl<'a> File<'a, '_> {
    /// Replaces an argument `f(x)` by `f, x` if the call around it `passes` further arguments on, else by
    /// `functools.partial(f, x)`.
    pub(super) fn pass_callable(&self, site: &Site<'a>, passes: bool) -> Result<WrittenEdit, Refusal> {
        let Some(outer_call) = site.around.outer_call else {
            return Err(Refusal::new("it is not an argument of the call that runs it"));
        };
        let range = site.call.range();
        let arguments = &site.call.arguments;
        let as_keyword = outer_call.arguments.keywords.iter().find(|keyword| keyword.value.range() == range);
        let is_last = outer_call.arguments.args.last().is_some_and(|last| last.range() == range)
            && outer_call.arguments.keywords.is_empty();
        let has_no_arguments = arguments.args.is_empty() && arguments.keywords.is_empty();
        let is_plain = !matches!(&*arguments.args, [Expr::Generator(_)]);
        let callee = self.callee_range(site.call);
        self.check_has_no_comments(range)?;
        let title = "Pass the callable instead of its result".to_owned();
        let applicability = Applicability::Unsafe;
        let func = self.text(callee).trim_end();
        if has_no_arguments {
            return Ok(WrittenEdit { title, applicability, edits: vec![(crate::walk::span(range), func.to_owned())] });
        }
        let inside = self.text(arguments.range());
        let inside = inside.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(inside);
        if passes && as_keyword.is_none() && is_last && is_plain && arguments.keywords.is_empty() {
            let content = format!("{func}, {}", inside.trim().trim_end_matches(',').trim_end());
            return Ok(WrittenEdit { title, applicability, edits: vec![(crate::walk::span(range), content)] });
        }
        if !is_plain {
            return Err(Refusal::new("the call's only argument is a generator expression"));
        }
        let (partial, mut edits) = self.spell_and_import(site, "functools.partial")?;
        edits.push((crate::walk::span(range), format!("{partial}({func}, {})", inside.trim())));
        Ok(WrittenEdit { title, applicability, edits })
    }
}
