//! `blocklint why PATH:LINE`.

use camino::Utf8Path;

use crate::arguments::Why;
use crate::messages::Failure;

pub(crate) fn why(why: &Why) -> Result<u8, Failure> {
    let (path, line) = place(&why.place)?;
    let _ = why.isolated;
    Err(Failure::new(format!("{path}:{line}: explaining needs the analysis, which this build lacks")))
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
