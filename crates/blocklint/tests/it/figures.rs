//! Measured figures in README.md and docs are those of the page that measures them. A measuring page marks a
//! figure with `<!-- figure: NAME -->VALUE<!-- end -->`, a page that quotes it with `<!-- quoted: NAME -->VALUE<!-- end
//! -->`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages with measured figures.
const MEASURING: [&str; 3] = ["benchmarks/panel/README.md", "benchmarks/fixed/README.md", "docs/speed.md"];
/// Pages that quote figures. Every share and every ratio on them must be a quotation.
const QUOTING: [&str; 4] = ["README.md", "docs/analysis.md", "docs/faq.md", "docs/ci.md"];
const END: &str = "<!-- end -->";

fn read(page: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Returns the names and values that a page marks with a word, in order.
fn marked<'p>(page: &'p str, word: &str) -> Vec<(&'p str, &'p str)> {
    let mut found = Vec::new();
    let opening = format!("<!-- {word}: ");
    let mut rest = page;
    while let Some(at) = rest.find(&opening) {
        let mark = &rest[at + opening.len()..];
        let (name, behind) = mark.split_once(" -->").expect("a mark ends");
        let (value, after) = behind.split_once(END).expect("a figure ends");
        found.push((name, value));
        rest = after;
    }
    found
}

/// Returns the page without the figures that it quotes.
fn without_quotations(page: &str) -> String {
    let mut kept = String::new();
    let mut rest = page;
    while let Some((before, mark)) = rest.split_once("<!-- quoted: ") {
        kept += before;
        rest = mark.split_once(END).expect("a figure ends").1;
    }
    kept + rest
}

/// True if a line has a share or a ratio: a number before `%` or `times`.
fn is_claim(line: &str) -> bool {
    [" %", "%", " times "]
        .iter()
        .any(|unit| line.match_indices(unit).any(|(at, _)| line[..at].ends_with(|last: char| last.is_ascii_digit())))
}

#[test]
fn quoted_figures_are_those_of_the_pages_that_measure_them() {
    let pages: Vec<String> = MEASURING.map(read).into();
    let mut measured = BTreeMap::new();
    for (page, text) in MEASURING.iter().zip(&pages) {
        let figures = marked(text, "figure");
        assert!(!figures.is_empty(), "{page} marks no figure");
        for (name, value) in figures {
            assert!(measured.insert(name, value).is_none(), "{page}: the figure {name} stands in two places");
        }
    }
    let mut quoted = 0;
    for page in QUOTING {
        let text = read(page);
        for (name, value) in marked(&text, "quoted") {
            let known = measured.get(name).unwrap_or_else(|| panic!("{page} quotes {name}, which no page measures"));
            assert_eq!(*known, value, "{page} quotes another {name} than the page that measures it");
            quoted += 1;
        }
        for line in without_quotations(&text).lines() {
            assert!(!is_claim(line), "{page} gives a figure that is no quotation: {line}");
        }
    }
    assert!(quoted >= 15, "{quoted} figures are quoted");
}

#[test]
fn ranges_of_the_speed_page_are_those_of_its_table() {
    let page = read("docs/speed.md");
    let table =
        page.split_once("<!-- speed -->").expect("a table").1.split_once("<!-- end of speed -->").expect("an end").0;
    let ratios = |column: usize| {
        let rows = table
            .lines()
            .filter(|line| line.starts_with("| ") && !line.starts_with("| package") && !line.starts_with("| ---"));
        let values: Vec<f64> =
            rows.map(|row| row.split('|').nth(column).expect("a column").trim().parse().expect("a ratio")).collect();
        assert!(values.len() >= 6, "{values:?}");
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        format!("{least:.1} to {most:.1}")
    };
    let figures: BTreeMap<&str, &str> = marked(&page, "figure").into_iter().collect();
    // The cells after the empty one at the left: package, files, MB, CPU, ruff, ratio, wall, ruff, ratio.
    assert_eq!(figures["speed.cpu"], ratios(6));
    assert_eq!(figures["speed.wall"], ratios(9));
}
