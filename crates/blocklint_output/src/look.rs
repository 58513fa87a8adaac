//! Colours and links (OSC 8) in the output for a terminal.

use anstyle::Style;
use blocklint_core::Place;
use camino::Utf8Path;

use crate::paths::file_uri;

/// The colours and links of the output, by the abilities of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalStyle {
    /// True if the output has colours.
    pub styled: bool,
    /// True if places are links (OSC 8).
    pub links: bool,
    /// The maximal number of findings that are shown in full; the others have a line each. `None` for no limit.
    pub max_full_findings: Option<usize>,
}

/// The most lines of a list below a finding that a terminal shows, so that a cause of hundreds of findings does not push
/// the next one off the screen.
const MOST_LISTED: usize = 10;

impl TerminalStyle {
    /// Returns the most lines of a list below a finding. Only the output for a terminal has a limit.
    pub(crate) fn most_listed(self) -> usize {
        if self.max_full_findings.is_some() { MOST_LISTED } else { usize::MAX }
    }

    /// Returns the style if the output has colours, else the empty style.
    pub(crate) fn style(self, style: Style) -> Style {
        if self.styled { style } else { Style::new() }
    }

    /// Returns the text of a place, as a link to its file if the output has links.
    pub(crate) fn link(self, text: &str, place: &Place) -> String {
        self.link_to(text, &place.path)
    }

    /// Returns a text, as a link to a page if the output has links and there is a page.
    pub(crate) fn link_to_page(self, text: &str, url: Option<&str>) -> String {
        match url.filter(|_| self.links) {
            Some(url) => hyperlink(text, url),
            None => text.to_owned(),
        }
    }

    fn link_to(self, text: &str, path: &Utf8Path) -> String {
        if self.links { hyperlink(text, &file_uri(path)) } else { text.to_owned() }
    }
}

/// Returns a text with the escape sequences of a link (OSC 8).
fn hyperlink(text: &str, url: &str) -> String {
    format!("\u{1b}]8;;{url}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
}
