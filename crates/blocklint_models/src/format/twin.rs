//! The expansion of `*` in the path of an async twin (`instead`).

use blocklint_core::Language;

use super::path::{last_name, star_text};

/// Returns the twin of a call: `*` in `twin` is replaced by the text that the `*` of the row's path matched, or by the
/// called name if the row's path has no `*`. `pattern` is the row's expanded path, `path` the called path.
pub fn expand_twin(twin: &str, pattern: &str, path: &str, language: Language) -> String {
    if !twin.contains('*') {
        return twin.to_owned();
    }
    let name = last_name(path, language);
    let replacement = star_text(last_name(pattern, language), name).unwrap_or(name);
    twin.replace('*', replacement)
}

#[cfg(test)]
mod tests {
    use blocklint_core::Language::{Java, Python};

    use super::expand_twin;

    #[test]
    fn a_star_is_replaced_by_the_name_or_by_the_matched_text() {
        let python = |twin, pattern, path| expand_twin(twin, pattern, path, Python);
        assert_eq!(python("r.AsyncClient.*", "r.Client.*", "r.Client.get"), "r.AsyncClient.get");
        assert_eq!(python("d.QuerySet.a*", "d.QuerySet.get", "d.QuerySet.get"), "d.QuerySet.aget");
        assert_eq!(expand_twin("v.Fs.*", "v.Fs.*Blocking", "v.Fs.readBlocking", Java), "v.Fs.read");
        assert_eq!(expand_twin("v.Fs.go(_)", "v.Fs.x(_)", "v.Fs.x", Java), "v.Fs.go(_)");
    }
}
