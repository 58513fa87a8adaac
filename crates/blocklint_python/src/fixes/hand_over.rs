//! A callable in place of its result: `to_thread(load(path))` → `to_thread(load, path)`.

use blocklint_core::{Applicability, Refusal, WrittenEdit};
use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::{File, Site};

impl<'a> File<'a, '_> {
    /// Hands over what is called to the call around it: with its arguments behind it where that `passes` them on, else
    /// bound to them.
    pub(super) fn hand_over(&self, site: &Site<'a>, passes: bool) -> Result<WrittenEdit, Refusal> {
        let Some(taker) = site.around.taker else {
            return Err(Refusal::new("it is not an argument of the call that runs it"));
        };
        let range = site.call.range();
        let arguments = &site.call.arguments;
        let named = taker.arguments.keywords.iter().find(|keyword| keyword.value.range() == range);
        let is_last = taker.arguments.args.last().is_some_and(|last| last.range() == range)
            && taker.arguments.keywords.is_empty();
        let nothing = arguments.args.is_empty() && arguments.keywords.is_empty();
        let plain = !matches!(&*arguments.args, [Expr::Generator(_)]);
        let callee = self.callee(site.call);
        self.without_comments(range)?;
        let title = "Hand over the callable instead of its result".to_owned();
        let applicability = Applicability::Unsafe;
        let func = self.text(callee).trim_end();
        if nothing {
            return Ok(WrittenEdit { title, applicability, edits: vec![(crate::walk::span(range), func.to_owned())] });
        }
        let inside = self.text(arguments.range());
        let inside = inside.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(inside);
        if passes && named.is_none() && is_last && plain && arguments.keywords.is_empty() {
            let content = format!("{func}, {}", inside.trim().trim_end_matches(',').trim_end());
            return Ok(WrittenEdit { title, applicability, edits: vec![(crate::walk::span(range), content)] });
        }
        if !plain {
            return Err(Refusal::new("a generator expression is its only argument"));
        }
        let (partial, mut edits) = self.imported(site, "functools.partial")?;
        edits.push((crate::walk::span(range), format!("{partial}({func}, {})", inside.trim())));
        Ok(WrittenEdit { title, applicability, edits })
    }
}
