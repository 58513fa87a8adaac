//! Edits that drop or add a keyword argument of a call: `get("/", response_class=JSONResponse)` → `get("/")`.

use blocklint_core::{Applicability, Refusal, WrittenEdit};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{File, Site};
use crate::walk::span;

impl<'a> File<'a, '_> {
    /// Removes a keyword argument, and the comma between it and its neighbour.
    pub(super) fn drop_argument(
        &self,
        site: &Site<'a>,
        name: &str,
        changes: Option<&str>,
    ) -> Result<WrittenEdit, Refusal> {
        let arguments = &site.call.arguments;
        let ranges: Vec<TextRange> = arguments.iter_source_order().map(|argument| argument.range()).collect();
        let keyword = arguments
            .keywords
            .iter()
            .find(|keyword| keyword.arg.as_ref().is_some_and(|keyword_name| keyword_name == name));
        let Some(range) = keyword.map(Ranged::range) else {
            return Err(Refusal::new("the argument is not passed by name"));
        };
        let index = ranges.iter().position(|keyword_range| *keyword_range == range).unwrap_or(0);
        let removed = match (index.checked_sub(1).and_then(|before| ranges.get(before)), ranges.get(index + 1)) {
            (Some(before), _) => TextRange::new(before.end(), range.end()),
            (None, Some(behind)) => TextRange::new(range.start(), behind.start()),
            // The only argument, and the trailing comma if there is one.
            (None, None) => TextRange::new(arguments.start() + TextSize::of('('), arguments.end() - TextSize::of(')')),
        };
        self.check_has_no_comments(removed)?;
        Ok(WrittenEdit {
            title: match changes {
                Some(changes) => format!("Drop `{}`: {changes}", self.text(range)),
                None => format!("Drop `{}`", self.text(range)),
            },
            applicability: if changes.is_none() { Applicability::Safe } else { Applicability::Unsafe },
            edits: vec![(span(removed), String::new())],
        })
    }

    /// Adds a keyword argument after the others.
    pub(super) fn add_argument(
        &self,
        site: &Site<'a>,
        name: &str,
        value: &str,
        changes: &str,
    ) -> Result<WrittenEdit, Refusal> {
        let arguments = &site.call.arguments;
        if arguments.keywords.iter().any(|keyword| keyword.arg.as_ref().is_none_or(|keyword_name| keyword_name == name))
        {
            return Err(Refusal::new("the call may pass this argument already"));
        }
        let last = arguments.iter_source_order().last().map(|argument| argument.range());
        let (offset, text) = match last {
            Some(last) => (last.end(), format!(", {name}={value}")),
            None => (arguments.start() + TextSize::of('('), format!("{name}={value}")),
        };
        Ok(WrittenEdit {
            title: format!("Add `{name}={value}`: {changes}"),
            applicability: Applicability::Unsafe,
            edits: vec![(span(TextRange::empty(offset)), text)],
        })
    }
}
