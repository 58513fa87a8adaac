//! The replacement of `*` in an `instead` path.

use blocklint_core::Language;

use super::path::{last_name, star_text};

/// Returns the twin of a call: `*` in `twin` stands for what the row's own `*` matched, or for the name called where
/// the row's path has none. `pattern` is the row's expanded path, `path` the path called.
pub fn expand_twin(twin: &str, pattern: &str, path: &str, language: Language) -> String {
    if !twin.contains('*') {
        return twin.to_owned();
    }
    let name = last_name(path, language);
    let stands_for = star_text(last_name(pattern, language), name).unwrap_or(name);
    twin.replace('*', stands_for)
}

#[cfg(test)]
mod tests {
    use blocklint_core::Language::{Java, Python};

    use super::expand_twin;

    #[test]
    fn a_star_stands_for_the_name_or_for_what_the_star_matched() {
        let python = |twin, pattern, path| expand_twin(twin, pattern, path, Python);
        assert_eq!(python("r.AsyncClient.*", "r.Client.*", "r.Client.get"), "r.AsyncClient.get");
        assert_eq!(python("d.QuerySet.a*", "d.QuerySet.get", "d.QuerySet.get"), "d.QuerySet.aget");
        assert_eq!(expand_twin("v.Fs.*", "v.Fs.*Blocking", "v.Fs.readBlocking", Java), "v.Fs.read");
        assert_eq!(expand_twin("v.Fs.go(_)", "v.Fs.x(_)", "v.Fs.x", Java), "v.Fs.go(_)");
    }
}
