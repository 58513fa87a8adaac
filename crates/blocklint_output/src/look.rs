//! Colours and links (OSC 8) in the output for a terminal.

use anstyle::Style;
use blocklint_core::Place;
use camino::Utf8Path;

use crate::paths::file_uri;

/// The look of the output, by the abilities of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// True if the output has colours.
    pub styled: bool,
    /// True if places are links (OSC 8).
    pub links: bool,
    /// The most findings that are shown in full. The others are shown in a line each. `None` for no limit.
    pub most_blocks: Option<usize>,
}

/// The most lines of a list below a finding that a terminal shows, so that a cause of hundreds of findings does not push
/// the next one off the screen.
const MOST_LISTED: usize = 10;

impl Look {
    /// Returns the most lines of a list below a finding. Only the output for a terminal has a limit.
    pub(crate) fn most_listed(self) -> usize {
        if self.most_blocks.is_some() { MOST_LISTED } else { usize::MAX }
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
            Some(url) => format!("\u{1b}]8;;{url}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
            None => text.to_owned(),
        }
    }

    fn link_to(self, text: &str, path: &Utf8Path) -> String {
        match self.links {
            true => format!("\u{1b}]8;;{}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\", file_uri(path)),
            false => text.to_owned(),
        }
    }
}
