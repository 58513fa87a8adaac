//! The test that `docs/facts.md` shows the facts which the front ends extract: each source block is followed by its
//! dump. `UPDATE=1 cargo test -p blocklint_facts` renews the dumps.

use blocklint_facts::dump;

/// A fenced block: its language, its text, and the offset of the text in the document.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
    start: usize,
}

fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut offset = 0;
    while let Some(open) = document[offset..].find("\n```").map(|open| offset + open + 4) {
        let line = document[open..].find('\n').map_or(document.len(), |end| open + end + 1);
        // The text keeps its last line end.
        let close = document[line - 1..].find("\n```").map_or(document.len(), |close| line + close);
        blocks.push(Block { language: document[open..line].trim(), text: &document[line..close], start: line });
        offset = close + 3;
    }
    blocks
}

#[test]
fn documented_dumps_equal_the_dumps_of_their_sources() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/facts.md");
    let document = std::fs::read_to_string(path).expect("docs/facts.md can be read");
    let mut fresh = document.clone();
    let mut languages = Vec::new();
    // The blocks are replaced from the end, so that the offsets of earlier blocks stay valid.
    for pair in blocks(&document).windows(2).rev() {
        let [source, shown] = pair else { continue };
        let facts = match (source.language, shown.language) {
            ("py", "text") => blocklint_python::extract(source.text.as_bytes()),
            ("rs", "text") => blocklint_rust::extract(source.text.as_bytes()),
            ("java", "text") => blocklint_java::extract(source.text.as_bytes()),
            _ => continue,
        };
        assert_eq!(facts.problems, [], "the {} example parses", source.language);
        languages.push(source.language);
        fresh.replace_range(shown.start..shown.start + shown.text.len(), &dump(&facts));
    }
    assert_eq!(languages, ["java", "rs", "py"]);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &fresh).expect("docs/facts.md can be written");
    } else {
        assert!(document == fresh, "docs/facts.md is stale: run UPDATE=1 cargo test -p blocklint_facts");
    }
}
