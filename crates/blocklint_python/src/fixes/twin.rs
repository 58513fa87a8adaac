//! Edits that replace a call by its async twin: `time.sleep(1)` → `await asyncio.sleep(1)`.

use blocklint_core::{Applicability, Refusal, WrittenEdit, last_name};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use super::{File, Site};

impl<'a> File<'a, '_> {
    /// Replaces the callee by the async twin at `path` and awaits the call; the arguments stay as they are.
    pub(super) fn write_twin(
        &self,
        site: &Site<'a>,
        path: &str,
        is_method: bool,
        is_same: bool,
    ) -> Result<WrittenEdit, Refusal> {
        let callee = self.callee_range(site.call);
        self.check_has_no_comments(callee)?;
        if last_name(path).trim_start_matches('_').starts_with(char::is_uppercase) {
            return Err(Refusal::new(
                "the async twin is a class, whose objects are not awaited and are used differently",
            ));
        }
        let applicability = if is_same { site.applicability_of_same() } else { Applicability::Unsafe };
        if is_method && let Expr::Attribute(attribute) = &*site.call.func {
            let name = last_name(path);
            let receiver = self.text(TextRange::new(callee.start(), attribute.attr.range().start()));
            let rest = self.text(TextRange::new(attribute.attr.range().end(), callee.end()));
            let edits = self.insert_await(site, callee, &format!("{receiver}{name}{rest}"));
            return Ok(WrittenEdit { title: format!("Replace with `await ….{name}(…)`"), applicability, edits });
        }
        self.check_library_is_used(site, path)?;
        let (written, mut edits) = self.spell_and_import(site, path)?;
        let title = format!("Replace with `await {written}(…)`");
        edits.extend(self.insert_await(site, callee, &written));
        Ok(WrittenEdit { title, applicability, edits })
    }
}
