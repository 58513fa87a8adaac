//! Jupyter notebooks: their Python code cells as one text.

use std::borrow::Cow;

use ruff_notebook::{Notebook, NotebookError};

use crate::decode::{Decoded, replace_nul_bytes};

/// The Python code of a notebook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotebookText {
    /// Its Python code cells, one below the other, each ended by a line end.
    pub text: String,
    /// The cells, in order.
    pub cells: Vec<Cell>,
}

/// A Python code cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The offset of its first byte in the text.
    pub offset: u32,
    /// Its number among all cells of the notebook, from 1.
    pub number: u32,
}

impl NotebookText {
    pub(crate) fn decoded(&self) -> Decoded<'_> {
        replace_nul_bytes(Cow::Borrowed(&self.text), None)
    }
}

/// Returns the Python code of a notebook of format 4. Other cells (Markdown, other languages, cell magics such as
/// `%%bash`) are left out. The text is empty if the notebook's language is not Python.
///
/// # Errors
///
/// A message that says why the file is no notebook.
pub fn decode_notebook(bytes: &[u8]) -> Result<NotebookText, String> {
    let json = String::from_utf8_lossy(bytes);
    let json = json.strip_prefix('\u{feff}').unwrap_or(&json);
    // A panic in ruff's notebook reader must not end the run over all other files.
    let read = std::panic::catch_unwind(|| Notebook::from_source_code(json))
        .map_err(|_| "skipped: the reader of notebooks failed".to_owned())?;
    let notebook = read.map_err(|error| match error {
        NotebookError::InvalidFormat(found) => format!("not read: a notebook of format {found}, expected 4"),
        NotebookError::InvalidSchema(error) => format!("not read: no Jupyter notebook: {error}"),
        NotebookError::InvalidJson(error) | NotebookError::Json(error) => format!("not read: not JSON: {error}"),
        NotebookError::Io(error) => format!("not read: {error}"),
    })?;
    if !notebook.is_python_notebook() {
        return Ok(NotebookText::default());
    }
    let numbers = notebook.index().iter().map(|cell| cell.cell_index().get() as u32);
    let offsets = notebook.cell_offsets().iter().map(|offset| offset.to_u32());
    let cells = offsets.zip(numbers).map(|(offset, number)| Cell { offset, number }).collect();
    Ok(NotebookText { text: notebook.source_code().to_owned(), cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notebook(cells: &[(&str, &str)]) -> String {
        let cells = cells.iter().map(|(kind, source)| {
            let mut cell = serde_json::json!({ "cell_type": kind, "metadata": {}, "source": source });
            if *kind == "code" {
                cell["execution_count"] = serde_json::Value::Null;
                cell["outputs"] = serde_json::json!([]);
            }
            cell
        });
        let cells = cells.collect::<Vec<_>>();
        serde_json::json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4 }).to_string()
    }

    #[test]
    fn code_cells_are_one_text_and_keep_their_numbers() {
        let json = notebook(&[
            ("markdown", "# é"),
            ("code", "import time"),
            ("code", "%%bash\nsleep 1"),
            ("code", "%matplotlib inline\nx = 1\n"),
        ]);
        let read = decode_notebook(json.as_bytes()).expect("a notebook");
        assert_eq!(read.text, "import time\n%matplotlib inline\nx = 1\n\n");
        assert_eq!(read.cells, [Cell { offset: 0, number: 2 }, Cell { offset: 12, number: 4 }]);
    }

    #[test]
    fn files_that_are_no_notebooks_are_errors() {
        let error = |text: &str| decode_notebook(text.as_bytes()).expect_err("no notebook");
        assert!(error("").starts_with("not read: not JSON: EOF"), "{}", error(""));
        assert!(error("{\"cells\": 1}").starts_with("not read: no Jupyter notebook: "));
        let old = "{\"cells\": [], \"metadata\": {}, \"nbformat\": 3, \"nbformat_minor\": 0}";
        assert_eq!(error(old), "not read: a notebook of format 3, expected 4");
    }

    #[test]
    fn a_notebook_in_another_language_has_no_code() {
        let julia = notebook(&[("code", "sleep(1)")]).replace(
            "\"metadata\":{},\"nbformat\"",
            "\"metadata\":{\"language_info\":{\"name\":\"julia\"}},\"nbformat\"",
        );
        assert_eq!(decode_notebook(julia.as_bytes()), Ok(NotebookText::default()));
    }
}
