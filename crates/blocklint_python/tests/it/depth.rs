//! Deep and long inputs: extraction ends without an overflow on a stack of [`STACK_SIZE`], and in linear time.

use std::fmt::Write as _;

use blocklint_facts::{FileFacts, SiteKind, validate};
use blocklint_python::{STACK_SIZE, extract};

/// Extracts and validates facts on a thread with [`STACK_SIZE`] of stack.
fn extract_on_large_stack(source: String) -> FileFacts {
    let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn(move || extract(source.as_bytes()));
    let facts = thread.expect("a thread starts").join().expect("extraction does not panic");
    assert_eq!(validate(&facts), Ok(()));
    facts
}

/// Extracts facts and expects one problem that contains these words.
fn expect_problem(source: String, words: &str) -> FileFacts {
    let facts = extract_on_large_stack(source);
    let messages: Vec<&str> = facts.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains(words), "{messages:?}");
    facts
}

fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("before()\nx = {}1{}\nafter()\n", open.repeat(levels), close.repeat(levels))
}

/// Expects the calls before and after a deep part.
fn expect_calls_around(facts: &FileFacts) {
    let names: Vec<&str> = facts.sites.iter().map(|site| facts.text(site.name)).collect();
    assert!(names.first() == Some(&"before") && names.last() == Some(&"after"), "{} sites", names.len());
}

#[test]
fn ten_thousand_levels_of_expressions_are_left_out() {
    for (open, close) in
        [("[", "]"), ("lambda: ", ""), ("not ", ""), ("f(", ")"), ("{1: ", "}"), ("-", ""), ("a ** ", ""), ("~", "")]
    {
        let source = nested(open, close, 10_000).replace('1', "a");
        let facts = expect_problem(source, "nested too deep");
        expect_calls_around(&facts);
    }
}

#[test]
fn ten_thousand_parentheses_are_no_problem() {
    let facts = extract_on_large_stack(nested("(", ")", 10_000));
    assert!(facts.problems.is_empty());
    expect_calls_around(&facts);
}

#[test]
fn ten_thousand_ternaries_and_f_strings_are_left_out() {
    let facts = expect_problem(nested("a if b else ", "", 10_000), "nested too deep");
    expect_calls_around(&facts);
    let facts = expect_problem(nested("f'{[", "]}'", 5_000), "nested too deep");
    expect_calls_around(&facts);
}

#[test]
fn three_thousand_nested_ifs_are_left_out() {
    let mut source = "before()\n".to_owned();
    for level in 0..3_000 {
        let _ = writeln!(source, "{}if a:", " ".repeat(level));
    }
    let _ = writeln!(source, "{}f()\nafter()", " ".repeat(3_000));
    let facts = expect_problem(source, "nested too deep");
    expect_calls_around(&facts);
}

#[test]
fn nested_definitions_are_left_out() {
    let mut source = "before()\n".to_owned();
    for level in 0..1_000 {
        let _ =
            writeln!(source, "{}{} f{level}{}:", " ".repeat(level), ["def", "class"][level % 2], ["()", ""][level % 2]);
    }
    let _ = writeln!(source, "{}pass\nafter()", " ".repeat(1_000));
    let facts = expect_problem(source, "nested too deep");
    expect_calls_around(&facts);
}

#[test]
fn a_hundred_thousand_operators_and_links_are_read() {
    let facts = extract_on_large_stack(format!("before()\nx = a{}\nafter()\n", " + a".repeat(100_000)));
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
    assert_eq!(facts.sites.iter().filter(|site| site.kind == SiteKind::Operator).count(), 100_000);
    expect_calls_around(&facts);

    let facts = extract_on_large_stack(format!("before()\nx = a{}\nafter()\n", ".b()".repeat(100_000)));
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
    assert_eq!(facts.sites.iter().filter(|site| site.kind == SiteKind::Call).count(), 100_002);
    expect_calls_around(&facts);
}

#[test]
fn long_flat_code_takes_linear_time() {
    // Each line would take quadratic time if conditions nested without a limit or unions were copied into each other.
    for line in [
        format!("x = a{}", " | a".repeat(100_000)),
        format!("x: a{} = 1", " | a".repeat(100_000)),
        format!("x = a{}", " or b()".repeat(100_000)),
        format!("x = a{}", " < b()".repeat(100_000)),
        format!("x = [{}]", "-a, ".repeat(100_000)),
        format!("def f():\n{}", "    if a(): return\n".repeat(50_000)),
        format!("if a():\n    b()\n{}", "elif c():\n    d()\n".repeat(50_000)),
        format!("x = a{}", "[b]".repeat(100_000)),
        format!("x = {}", "'a' ".repeat(100_000)),
    ] {
        let facts = extract_on_large_stack(format!("before()\n{line}\nafter()\n"));
        assert!(facts.problems.is_empty(), "{:?}", facts.problems);
        expect_calls_around(&facts);
        let mut deepest = 0;
        for site in &facts.sites {
            let (mut next, mut depth) = (site.at.region, 0);
            while let Some(region) = next.get() {
                next = facts.region(region).parent;
                depth += 1;
            }
            deepest = deepest.max(depth);
        }
        assert!(deepest < 200, "regions nest {deepest} deep");
    }
}

#[test]
fn files_that_would_take_gigabytes_to_parse_are_skipped() {
    for (open, close) in [("[", "]"), ("(", ")"), ("not ", ""), ("lambda: ", ""), ("a ** ", ""), ("f'{", "}'")] {
        let facts = expect_problem(nested(open, close, 500_000), "skipped");
        assert!(facts.sites.is_empty());
    }
    expect_problem(nested("[", "", 500_000), "skipped");
}

#[test]
fn a_file_beyond_the_limit_is_skipped() {
    let facts = expect_problem("f()\n".repeat(2_000_001), "skipped: 8000004 bytes");
    assert_eq!(facts.bodies.len(), 1);
}

#[test]
fn a_large_flat_table_is_read() {
    let source = format!("before()\nx = [\n{}]\nafter()\n", "    (-1, 'text', [2, 3]),\n".repeat(100_000));
    let facts = extract_on_large_stack(source);
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
    expect_calls_around(&facts);
}
