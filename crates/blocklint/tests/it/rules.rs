//! `docs/rules.md` is generated from the rules and their pages: `UPDATE=1 cargo test --workspace --test it rules::`.

use blocklint_rules::{RULES, Rule, async_codes, rules_of_async_code};

use crate::pages::assert_current;

const HEAD: &str = "# Rules

<!-- Made from the rules and their pages: `UPDATE=1 cargo test --workspace --test it rules::` renews it. -->

`blocklint rule BLT101` prints the page of a rule, `blocklint rule --all` those of all: what it reports, why, how to fix it, when to suppress it.
With `--output-format json` they are objects for programs. The pages stand in [rules](../rules/).

Codes begin alike by kind: BLT1 holds a thread that must not block, BLT2 is about responses, BLT3 about gevent and eventlet, BLT4 about work
that is passed to threads, BLT5 about what is made anew, BLT6 about locks, BLT9 about comments and files. Every prefix can be selected.

| code | name | reports that | sees what these of flake8-async see |
| --- | --- | --- | --- |
";

/// Returns the first paragraph after a text.
fn paragraph<'p>(rule: &'p Rule, behind: &str) -> &'p str {
    let rest = rule.page.split_once(behind).unwrap_or_else(|| panic!("{} has no `{behind}`", rule.code)).1;
    rest.split("\n\n").next().unwrap_or_default().trim()
}

/// Returns the text with links relative to `docs`.
fn from_docs(text: &str) -> String {
    text.replace("](../docs/", "](").replace("](BLT", "](../rules/BLT")
}

fn page() -> String {
    let mut rules = RULES.to_vec();
    rules.sort_by_key(|rule| rule.code);
    let mut page = HEAD.to_owned();
    for Rule { code, name, summary, .. } in &rules {
        let same = async_codes().iter().filter(|known| rules_of_async_code(&known.code).contains(code));
        let same = same.map(|known| known.code.as_str()).collect::<Vec<_>>().join(", ");
        page += &format!("| [{code}](#{}-{name}) | {name} | {summary} | {same} |\n", code.to_string().to_lowercase());
    }
    for rule in rules {
        let Rule { code, name, .. } = rule;
        let what = from_docs(paragraph(rule, &format!("# {name} ({code})\n\n")));
        let fix = from_docs(paragraph(rule, "\n## How to fix it\n\n"));
        page += &format!("\n## {code} {name}\n\n{what}\n\n{fix}\n\n[Its page](../rules/{code}-{name}.md)\n");
    }
    page
}

#[test]
fn the_page_is_what_the_rules_say() {
    assert_current("rules.md", &page(), "rules");
}

/// All links of the page lead to existing files.
#[test]
fn its_links_lead_somewhere() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = page();
    let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut count = 0;
    for link in links.filter(|link| !link.starts_with('#') && !link.starts_with("http")) {
        let file = link.split('#').next().unwrap_or_default();
        assert!(docs.join(file).exists(), "{link}");
        count += 1;
    }
    assert!(count >= RULES.len(), "{count} links");
}
