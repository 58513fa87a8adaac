//! The snapshot from which a request is answered: an analysis, the open documents, settings and client capabilities.

use std::collections::HashMap;
use std::sync::Arc;

use blocklint_core::{Place, Span};
use camino::Utf8Path;

use crate::analysis::{Analysis, FilePath};
use crate::capabilities::Client;
use crate::protocol::{Location, Position, Range, Uri};
use crate::settings::Settings;
use crate::text::Text;
use crate::uri;

/// A file that is open in the client.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The URI as the client spells it.
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) text: Arc<Text>,
}

/// The files that are open in the client.
pub(crate) type Documents = HashMap<FilePath, Document>;

/// The snapshot from which a request is answered.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) client: Arc<Client>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) analysis: Arc<Analysis>,
    pub(crate) documents: Arc<Documents>,
}

impl View {
    pub(crate) fn uri(&self, path: &Utf8Path) -> Uri {
        self.documents.get(path).map_or_else(|| uri::from_path(path), |document| document.uri.clone())
    }

    pub(crate) fn version(&self, path: &Utf8Path) -> Option<i32> {
        self.documents.get(path).map(|document| document.version)
    }

    /// Returns the analysed text of a file, if the client does not show a newer one.
    pub(crate) fn current_text(&self, path: &Utf8Path) -> Option<&Arc<Text>> {
        let text = self.analysis.text(path)?;
        match self.documents.get(path) {
            Some(document) if document.text.content() != text.content() => None,
            _ => Some(text),
        }
    }

    pub(crate) fn range(&self, path: &Utf8Path, span: Span) -> Range {
        match self.analysis.text(path) {
            Some(text) => text.range(span, self.client.encoding),
            None => Range::default(),
        }
    }

    pub(crate) fn location(&self, place: &Place) -> Location {
        Location { uri: self.uri(&place.path), range: self.range(&place.path, place.span) }
    }

    /// Returns the offset of a position in the text of an open file; `None` if the file is not open.
    pub(crate) fn offset(&self, path: &Utf8Path, position: Position) -> Option<u32> {
        Some(self.documents.get(path)?.text.offset(position, self.client.encoding))
    }
}
