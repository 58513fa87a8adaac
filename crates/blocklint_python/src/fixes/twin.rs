//! The async twin in place of a call: `time.sleep(1)` → `await asyncio.sleep(1)`.

use blocklint_core::{Applicability, Refusal, WrittenEdit, last_name};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use super::{File, Site};

impl<'a> File<'a, '_> {
    /// Renames the callee and awaits the call; arguments stay as they are.
    pub(super) fn twin(&self, site: &Site<'a>, path: &str, method: bool, same: bool) -> Result<WrittenEdit, Refusal> {
        let callee = self.callee(site.call);
        self.without_comments(callee)?;
        if last_name(path).trim_start_matches('_').starts_with(char::is_uppercase) {
            return Err(Refusal::new(
                "the twin is a class: nothing awaits its objects, and they are used in another way",
            ));
        }
        let applicability = if same { site.same() } else { Applicability::Unsafe };
        if method && let Expr::Attribute(attribute) = &*site.call.func {
            let name = last_name(path);
            let kept = self.text(TextRange::new(callee.start(), attribute.attr.range().start()));
            let rest = self.text(TextRange::new(attribute.attr.range().end(), callee.end()));
            let edits = self.awaited(site, callee, &format!("{kept}{name}{rest}"));
            return Ok(WrittenEdit { title: format!("Replace with `await ….{name}(…)`"), applicability, edits });
        }
        self.has_library(site, path)?;
        let (written, mut edits) = self.imported(site, path)?;
        let title = format!("Replace with `await {written}(…)`");
        edits.extend(self.awaited(site, callee, &written));
        Ok(WrittenEdit { title, applicability, edits })
    }
}
