//! `blocklint why PATH:LINE`.

use std::io::{self, BufWriter, Write};

use blocklint_output::explanation;
use blocklint_project::{Request, discover};
use camino::Utf8Path;

use super::{current_folder, left_out, unless_closed};
use crate::arguments::Why;
use crate::messages::Failure;
use crate::{CLEAN, console};

pub(crate) fn why(why: &Why) -> Result<u8, Failure> {
    let Line { path, cell, line } = place(&why.place)?;
    let current = current_folder()?;
    let paths = [path.to_path_buf()];
    let project = discover(Request { current: &current, paths: &paths, isolated: why.isolated })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let Some(file) = project.files.iter().position(|file| file.reported) else {
        return Err(Failure::new(format!("{path}: no such Python, Rust or Java file")));
    };
    let models = blocklint_engine::load_models(&project, &current)?;
    let (sites, left_out) = blocklint_engine::explain(&project, &models, file, cell, line, console::containment())?;
    left_out::tell(&project, &left_out, &current);
    if sites.is_empty() {
        return Err(Failure::new(format!("{}: nothing is called on this line", why.place)));
    }
    let stdout = io::stdout();
    let styled = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let mut out = BufWriter::new(stdout.lock());
    unless_closed(explanation(&mut out, &sites, &current, styled).and_then(|()| out.flush()))?;
    Ok(CLEAN)
}

/// A line of a file; in a notebook of one of its cells.
#[derive(Debug)]
struct Line<'a> {
    path: &'a Utf8Path,
    cell: Option<u32>,
    line: u32,
}

/// Reads `PATH:LINE` or `PATH:cell CELL:LINE`, also with a column behind, as findings print it.
fn place(text: &str) -> Result<Line<'_>, Failure> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let wrong = || Failure::new(format!("`{text}` names no line; expected PATH:LINE, as in `app/views.py:42`"));
    let (head, last) = text.rsplit_once(':').ok_or_else(wrong)?;
    let last = number(last).ok_or_else(wrong)?;
    let found = match head.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
        Some((path, line)) => (path, line),
        None => (head, last),
    };
    let (path, line) = found;
    let (path, cell) = match path.rsplit_once(":cell ").and_then(|(path, cell)| Some((path, number(cell)?))) {
        Some((path, cell)) => (path, Some(cell)),
        None => (path, None),
    };
    if path.is_empty() { Err(wrong()) } else { Ok(Line { path: Utf8Path::new(path), cell, line }) }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_line_is_named_as_findings_print_it() {
        let read = |text| place(text).ok().map(|line| (line.path.to_string(), line.line));
        assert_eq!(read("a/b.py:12"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("a/b.py:12:5"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("odd:name.py:3"), Some(("odd:name.py".to_owned(), 3)));
        let cell = place("a/b.ipynb:cell 3:2:5").expect("a line");
        assert_eq!((cell.path.as_str(), cell.cell, cell.line), ("a/b.ipynb", Some(3), 2));
        for wrong in ["a.py", "a.py:", "a.py:0", "a.py:x", ":4", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
