//! `blocklint why PATH:LINE`.

use std::io::{self, BufWriter, Write};

use blocklint_output::explanation;
use blocklint_project::{Request, discover};
use camino::Utf8Path;

use super::{current_folder, unless_closed};
use crate::CLEAN;
use crate::arguments::Why;
use crate::messages::Failure;

pub(crate) fn why(why: &Why) -> Result<u8, Failure> {
    let (path, line) = place(&why.place)?;
    let current = current_folder()?;
    let paths = [path.to_path_buf()];
    let project = discover(Request { current: &current, paths: &paths, isolated: why.isolated })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let Some(file) = project.files.iter().position(|file| file.reported) else {
        return Err(Failure::new(format!("{path}: no such Python, Rust or Java file")));
    };
    let models = blocklint_engine::load_models(&project.configuration, &current)?;
    let sites = blocklint_engine::explain(&project, &models, file, line)?;
    if sites.is_empty() {
        return Err(Failure::new(format!("{path}:{line}: nothing is called on this line")));
    }
    let stdout = io::stdout();
    let styled = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let mut out = BufWriter::new(stdout.lock());
    unless_closed(explanation(&mut out, &sites, &current, styled).and_then(|()| out.flush()))?;
    Ok(CLEAN)
}

/// Reads `PATH:LINE`, also with a column behind, as findings print it.
fn place(text: &str) -> Result<(&Utf8Path, u32), Failure> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let wrong = || Failure::new(format!("`{text}` names no line; expected PATH:LINE, as in `app/views.py:42`"));
    let (head, last) = text.rsplit_once(':').ok_or_else(wrong)?;
    let last = number(last).ok_or_else(wrong)?;
    let found = match head.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
        Some((path, line)) => (path, line),
        None => (head, last),
    };
    if found.0.is_empty() { Err(wrong()) } else { Ok((Utf8Path::new(found.0), found.1)) }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_line_is_named_as_findings_print_it() {
        let read = |text| place(text).ok().map(|(path, line)| (path.to_string(), line));
        assert_eq!(read("a/b.py:12"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("a/b.py:12:5"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("odd:name.py:3"), Some(("odd:name.py".to_owned(), 3)));
        for wrong in ["a.py", "a.py:", "a.py:0", "a.py:x", ":4", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
