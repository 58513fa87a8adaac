//! The type [`Rule`]: its code, name, page, sentences and edits.

use blocklint_core::{Effect, Mistake, Refusal, Remedy, RuleCode};

use crate::Advice;
use crate::words::{FindingText, Subject};

/// A rule: it reports one kind of mistake in all languages in which that mistake can be made.
#[derive(Debug)]
pub struct Rule {
    /// The code: `BLT101`.
    pub code: RuleCode,
    /// The name in kebab case. It describes the mistake, so that it reads well after "allow": `blocking-sleep`.
    pub name: &'static str,
    /// The mistake that it reports, in one line without a full stop.
    pub summary: &'static str,
    /// The page about the rule, in Markdown.
    pub page: &'static str,
    /// The effect that the rule reports; `None` for rules that report no effect (BLT9xx).
    pub effect: Option<Effect>,
    /// The noun for the call in a message: `blocking network call`.
    pub noun: &'static str,
    /// The sentences and edits of a rule that reports no effect; `None` if its findings are blocking calls.
    pub(crate) mistake_words: Option<&'static MistakeWords>,
}

/// The sentences and edits of a rule that reports no effect. All functions return `None` for a finding that is a
/// blocking call.
#[derive(Debug)]
pub(crate) struct MistakeWords {
    /// Returns the message, the notes on why it matters, and the help.
    pub(crate) words: fn(&Subject<'_>) -> Option<FindingText>,
    /// Returns the edit, or the reason why there is none.
    pub(crate) remedy: fn(&Subject<'_>, &Advice) -> Option<Result<Remedy, Refusal>>,
    /// Returns the reason why the confidence of the finding is not high, as a clause.
    pub(crate) doubt: fn(&Mistake) -> Option<&'static str>,
}

/// The address of the repository of this build, for links to pages of rules. Only the release workflow sets it, because
/// other builds have no public address.
const REPOSITORY: Option<&str> = option_env!("BLOCKLINT_REPOSITORY");

/// Returns the address of the repository of this build, if the build is a release.
pub fn repository() -> Option<&'static str> {
    REPOSITORY.filter(|repository| !repository.is_empty())
}

impl Rule {
    /// Returns the reason why the confidence of a finding is not high, as a clause; `None` for rules that report an
    /// effect.
    pub fn doubt(&self, mistake: &Mistake) -> Option<&'static str> {
        self.mistake_words.and_then(|words| (words.doubt)(mistake))
    }

    /// Returns the address of the rule's page in a repository, at the version of this build.
    pub fn url_in(&self, repository: &str) -> String {
        let (repository, version) = (repository.trim_end_matches('/'), env!("CARGO_PKG_VERSION"));
        format!("{repository}/blob/v{version}/rules/{}-{}.md", self.code, self.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::RULES;

    #[test]
    fn the_address_of_a_page_ends_with_its_file() {
        for rule in RULES {
            let url = rule.url_in("https://example.org/a/blocklint/");
            let file = url.split("/blob/").nth(1).and_then(|rest| rest.split_once('/')).map(|(_, file)| file);
            let file = file.expect("a file");
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
            assert!(path.is_file(), "{url}");
            assert_eq!(std::fs::read_to_string(path).expect("a page"), rule.page, "{url}");
        }
        assert!(RULES[0].url_in("https://x").starts_with(concat!(
            "https://x/blob/v",
            env!("CARGO_PKG_VERSION"),
            "/rules/BLT101-"
        )));
    }
}
