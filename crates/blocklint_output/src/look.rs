//! Colours and links of a terminal.

use anstyle::Style;
use blocklint_core::Place;
use camino::Utf8Path;

use crate::paths::file_uri;

/// The abilities of the reader's terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// True if it shows colours.
    pub styled: bool,
    /// True if it makes links of places (OSC 8).
    pub links: bool,
    /// The number of findings that are shown in full, those of the first causes; a line each for the others. All if none.
    pub most_blocks: Option<usize>,
}

impl Look {
    /// Returns the style where colours are shown, else none.
    pub(crate) fn style(self, style: Style) -> Style {
        if self.styled { style } else { Style::new() }
    }

    /// Returns the text of a place, as a link to its file where there are links.
    pub(crate) fn link(self, text: &str, place: &Place) -> String {
        self.link_to(text, &place.path)
    }

    /// Returns the text as a link to a page, where there are links and a page.
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
