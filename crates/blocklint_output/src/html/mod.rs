//! HTML: an interactive report in one file, which needs no other file and no network.
//!
//! The page is assembled from the files of this folder: `page.html`, `report.css` and the scripts, without a build
//! step.
//!
//! No file name or source text can become markup: the data are JSON in an element that browsers do not run, and the
//! scripts make every text a text node. A content security policy forbids any other script and every request.

mod data;
mod excerpts;
mod steps;

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use camino::Utf8Path;
use sha2::{Digest, Sha256};

use crate::{Overview, Plan, RenderInput, Summary};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("report.css");
/// The scripts, each after those it uses.
const SCRIPTS: [&str; 8] = [
    include_str!("dom.js"),
    include_str!("code.js"),
    include_str!("model.js"),
    include_str!("graph.js"),
    include_str!("list.js"),
    include_str!("detail.js"),
    include_str!("plan.js"),
    include_str!("app.js"),
];

/// The parts of the report besides findings.
#[derive(Clone, Copy, Debug)]
pub struct HtmlReport<'a> {
    /// The project root. Shown paths are relative to it, and its name is the report's title.
    pub root: &'a Utf8Path,
    /// The engine's overview of the causes.
    pub overview: &'a Overview,
    /// The plan of changes, with located places.
    pub plan: Option<&'a Plan>,
    /// The counts, which other formats write in their last line.
    pub summary: &'a Summary,
}

/// Writes the report.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_html(out: &mut dyn Write, input: &RenderInput<'_>, report: &HtmlReport<'_>) -> io::Result<()> {
    // A checkout may have `\r\n`. Browsers make it `\n` before they compute the hash.
    let [page, style, scripts] = [PAGE, STYLE, &SCRIPTS.concat()].map(|text| text.replace("\r\n", "\n"));
    let script = format!("(() => {{\n'use strict';\n{scripts}}})();\n");
    let title = escape_html(report.root.file_name().unwrap_or("project"));
    for (index, piece) in page.split("{{").enumerate() {
        let Some((name, text_after)) = piece.split_once("}}").filter(|_| index > 0) else {
            out.write_all(piece.as_bytes())?;
            continue;
        };
        match name {
            "title" => out.write_all(title.as_bytes())?,
            "style-hash" => out.write_all(csp_hash(&style).as_bytes())?,
            "script-hash" => out.write_all(csp_hash(&script).as_bytes())?,
            "style" => out.write_all(style.as_bytes())?,
            "script" => out.write_all(script.as_bytes())?,
            "data" => serde_json::to_writer(MarkupFreeWriter(out), &data::Report::new(input, report))?,
            _ => return Err(io::Error::other(format!("page.html has no `{name}`"))),
        }
        out.write_all(text_after.as_bytes())?;
    }
    Ok(())
}

/// Returns a source expression of a content security policy that allows exactly this text.
fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// Returns a text with the characters of HTML markup escaped.
fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes JSON that cannot end the element around it: writes `<`, `>` and `&` as escapes. JSON has them only in
/// strings, where an escape means the same character.
struct MarkupFreeWriter<'a>(&'a mut dyn Write);

impl Write for MarkupFreeWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut unwritten = bytes;
        while let Some(index) = unwritten.iter().position(|byte| matches!(byte, b'<' | b'>' | b'&')) {
            self.0.write_all(&unwritten[..index])?;
            write!(self.0, "\\u{:04x}", unwritten[index])?;
            unwritten = &unwritten[index + 1..];
        }
        self.0.write_all(unwritten)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_contains_no_markup() {
        let mut out = Vec::new();
        serde_json::to_writer(MarkupFreeWriter(&mut out), &["</script><!--", "a&b", "\u{202e}"])
            .expect("memory takes everything");
        let text = String::from_utf8(out).expect("utf-8");
        assert!(!text.contains(['<', '>', '&']), "{text}");
        let back: Vec<String> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(back, ["</script><!--", "a&b", "\u{202e}"]);
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escape_html("<b>\"x\" & 'y'\n"), "&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39; ");
    }
}
