//! The tables of docs/suppression.md: each comment is written at each place, and its effect compared with the page.

use crate::pages::read_page;
use crate::support::Project;

/// The places of a comment, in the order of the page's columns.
const PLACES: [&str; 5] = ["call", "last line", "above", "body", "trace"];

/// A row of a table: the comment and its cells.
struct Row {
    comment: String,
    cells: Vec<String>,
}

/// The rows of the first table below a heading.
fn rows(page: &str, heading: &str) -> Vec<Row> {
    let from = page.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("the page has no `{heading}`"));
    let lines = page[from..].lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let rows = lines.skip(2).map(|line| {
        let mut cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
        let comment = cells.next().expect("a comment").trim_matches('`').to_owned();
        Row { comment, cells: cells.collect() }
    });
    rows.collect()
}

/// A function of a program for each place, with `COMMENT` where the comment goes.
fn program(language: &str) -> [&'static str; 5] {
    match language {
        "Python" => [
            "async def first():\n    time.sleep(1)  COMMENT\n",
            "async def last():\n    time.sleep(\n        1\n    )  COMMENT\n",
            "async def above():\n    COMMENT\n    time.sleep(1)\n",
            "async def body():  COMMENT\n    time.sleep(1)\n",
            "def helper():\n    time.sleep(1)  COMMENT\n\n\nasync def traced():\n    helper()\n",
        ],
        "Rust" => [
            "pub async fn first() {\n    std::thread::sleep(std::time::Duration::from_secs(1)); COMMENT\n}\n",
            "pub async fn last() {\n    std::thread::sleep(\n        std::time::Duration::from_secs(1),\n    ); COMMENT\n}\n",
            "pub async fn above() {\n    COMMENT\n    std::thread::sleep(std::time::Duration::from_secs(1));\n}\n",
            "pub async fn body() { COMMENT\n    std::thread::sleep(std::time::Duration::from_secs(1));\n}\n",
            "fn helper() {\n    std::thread::sleep(std::time::Duration::from_secs(1)); COMMENT\n}\npub async fn traced() {\n    helper();\n}\n",
        ],
        _ => [
            "class First extends ChannelInboundHandlerAdapter {\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {\n    Thread.sleep(1000); COMMENT\n  }\n}\n",
            "class Last extends ChannelInboundHandlerAdapter {\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {\n    Thread.sleep(\n      1000\n    ); COMMENT\n  }\n}\n",
            "class Above extends ChannelInboundHandlerAdapter {\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {\n    COMMENT\n    Thread.sleep(1000);\n  }\n}\n",
            "class Body extends ChannelInboundHandlerAdapter {\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception { COMMENT\n    Thread.sleep(1000);\n  }\n}\n",
            "class Traced extends ChannelInboundHandlerAdapter {\n  static void helper() throws Exception {\n    Thread.sleep(1000); COMMENT\n  }\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {\n    helper();\n  }\n}\n",
        ],
    }
}

/// In Java the function of an annotation is below it.
const ANNOTATED: [&str; 5] = [
    "",
    "",
    "",
    "class Body extends ChannelInboundHandlerAdapter {\n  COMMENT\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {\n    Thread.sleep(1000);\n  }\n}\n",
    "class Traced extends ChannelInboundHandlerAdapter {\n  COMMENT\n  static void helper() throws Exception {\n    Thread.sleep(1000);\n  }\n  @Override\n  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {\n    helper();\n  }\n}\n",
];

/// Returns the rows and codes of the findings in a file.
fn found(project: &Project) -> Vec<(usize, String)> {
    let run = project.run(&["check", "--no-cache", "--select", "BLT101,BLT903", "--output-format", "concise"]);
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.err);
    let found = run.out.lines().filter_map(|line| {
        let (place, rest) = line.split_once(": BLT")?;
        Some((place.split(':').nth(1)?.parse().ok()?, rest[..3].to_owned()))
    });
    found.collect()
}

/// Writes a comment at each place, and returns the cells that the page must have.
fn answers(language: &str, comment: &str) -> Vec<String> {
    let (file, begin) = match language {
        "Python" => ("main.py", "import time\n\n\n"),
        "Rust" => ("lib.rs", ""),
        _ => ("Main.java", "import io.netty.channel.*;\n"),
    };
    let parts = if comment.starts_with('@') { ANNOTATED } else { program(language) };
    let mut text = begin.to_owned();
    let mut ranges = Vec::new();
    for part in parts {
        let from = text.matches('\n').count() + 1;
        text.push_str(&part.replace("COMMENT", comment));
        ranges.push(from..text.matches('\n').count() + 1);
        text.push('\n');
    }
    let project = Project::new(&[(file, &text)]);
    let found = found(&project);
    let is_found = |rows: &std::ops::Range<usize>| found.iter().any(|(row, code)| code == "101" && rows.contains(row));
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let cells = ranges.iter().map(|rows| if rows.is_empty() { "–".to_owned() } else { yes(!is_found(rows)) });
    cells.chain([yes(found.iter().any(|(_, code)| code == "903"))]).collect()
}

#[test]
fn each_comment_does_at_each_place_what_the_page_says() {
    let page = read_page("suppression.md");
    let mut wrong = Vec::new();
    for language in ["Python", "Rust", "Java"] {
        let rows = rows(&page, language);
        assert!(rows.len() > 10, "{language} has {} rows", rows.len());
        for row in rows {
            assert_eq!(row.cells.len(), PLACES.len() + 1, "{}", row.comment);
            let answers = answers(language, &row.comment);
            if answers != row.cells {
                wrong.push(format!("{language}: {}: page {:?}, binary {answers:?}", row.comment, row.cells));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn comments_for_a_file_do_what_the_page_says() {
    let page = read_page("suppression.md");
    let rows = rows(&page, "A whole file");
    assert!(rows.len() > 5);
    for row in rows {
        let text = "import time\n\n\nasync def here():\n    time.sleep(1)\n\n\ndef helper():\n    time.sleep(1)\n";
        let project = Project::new(&[
            ("lib.py", &format!("{text}{}\n", row.comment)),
            ("main.py", "from lib import helper\n\n\nasync def traced():\n    helper()\n"),
        ]);
        let run = project.run(&["check", "--no-cache", "--select", "BLT101", "--output-format", "concise"]);
        let yes = |file: &str| if run.out.lines().any(|line| line.starts_with(file)) { "no" } else { "yes" };
        assert_eq!([yes("lib.py"), yes("main.py")].as_slice(), row.cells, "{}\n{}", row.comment, run.out);
    }
}

#[test]
fn the_form_that_the_suggestion_names_is_one_that_counts() {
    let page = read_page("suppression.md");
    for row in rows(&page, "Python").into_iter().filter(|row| row.cells.last().is_some_and(|cell| cell == "yes")) {
        let text = |comment: &str| format!("import time\n\n\nasync def first():\n    time.sleep(1)  {comment}\n");
        let project = Project::new(&[("main.py", &text(&row.comment))]);
        let run = project.run(&["check", "--no-cache", "--select", "BLT903", "--output-format", "concise"]);
        let Some((_, suggested)) = run.out.split_once("; write `") else { continue };
        let suggested = suggested.split('`').next().expect("it ends");
        project.write("main.py", &text(&format!("# {suggested}")));
        let run = project.run(&["check", "--no-cache", "--select", "BLT101,BLT903", "--output-format", "concise"]);
        assert_eq!(run.code, Some(0), "{} → {suggested}: {}", row.comment, run.out);
    }
}
