//! Conversion between `file:` URIs and paths.

use camino::{Utf8Path, Utf8PathBuf};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::protocol::Uri;

/// Characters that are percent-encoded in a URI: all but letters, digits, `/`, `-`, `.`, `_` and `~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the path of a `file:` URI; `None` for another scheme or another host.
pub(crate) fn to_path(uri: &Uri) -> Option<Utf8PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let encoded = match rest.strip_prefix('/') {
        Some(_) => rest,
        None => rest.strip_prefix("localhost").filter(|path| path.starts_with('/'))?,
    };
    let path = percent_decode_str(encoded).decode_utf8().ok()?;
    let path = if cfg!(windows) { path.trim_start_matches('/').replace('/', "\\") } else { path.into_owned() };
    let path = Utf8PathBuf::from(path);
    path.is_absolute().then(|| blocklint_project::absolute(Utf8Path::new(""), &path))
}

/// Returns the `file:` URI of a path.
pub(crate) fn from_path(path: &Utf8Path) -> Uri {
    let path = if cfg!(windows) { format!("/{}", path.as_str().replace('\\', "/")) } else { path.to_string() };
    Uri(format!("file://{}", utf8_percent_encode(&path, ENCODED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_round_trip_and_other_schemes_have_no_path() {
        for path in ["/a/b c.py", "/é/#1?/x%20y.rs", "/a+b@c/d:e.java"] {
            assert_eq!(to_path(&from_path(Utf8Path::new(path))).as_deref(), Some(Utf8Path::new(path)));
        }
        let read = |uri: &str| to_path(&Uri(uri.to_owned())).map(Utf8PathBuf::into_string);
        assert_eq!(read("file:///a/./b/../c%3A.py").as_deref(), Some("/a/c:.py"));
        assert_eq!(read("file://localhost/a.py").as_deref(), Some("/a.py"));
        for other in ["untitled:Untitled-1", "file://host/a.py", "vscode-notebook-cell:/a.ipynb#x", "file:///%ff"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
