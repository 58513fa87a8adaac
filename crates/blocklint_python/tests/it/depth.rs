//! No input is too deep or too long for extraction on a thread of the documented stack.

use std::fmt::Write as _;

use blocklint_facts::{FileFacts, SiteKind, validate};
use blocklint_python::{STACK_SIZE, extract};

/// Extracts and checks on a thread as the program has them.
fn on_large_stack(source: String) -> FileFacts {
    let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn(move || extract(source.as_bytes()));
    let facts = thread.expect("a thread starts").join().expect("extraction does not panic");
    assert_eq!(validate(&facts), Ok(()));
    facts
}

/// Extracts and expects one problem with these words.
fn expect_problem(source: String, words: &str) -> FileFacts {
    let facts = on_large_stack(source);
    let messages: Vec<&str> = facts.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains(words), "{messages:?}");
    facts
}

fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("before()\nx = {}1{}\nafter()\n", open.repeat(levels), close.repeat(levels))
}

/// The calls before and after a deep part are found.
fn expect_neighbours(facts: &FileFacts) {
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
        expect_neighbours(&facts);
    }
}

#[test]
fn ten_thousand_parentheses_leave_no_trace() {
    let facts = on_large_stack(nested("(", ")", 10_000));
    assert!(facts.problems.is_empty());
    expect_neighbours(&facts);
}

#[test]
fn ten_thousand_ternaries_and_f_strings() {
    let facts = expect_problem(nested("a if b else ", "", 10_000), "nested too deep");
    expect_neighbours(&facts);
    let facts = expect_problem(nested("f'{[", "]}'", 5_000), "nested too deep");
    expect_neighbours(&facts);
}

#[test]
fn three_thousand_nested_ifs_are_left_out() {
    let mut source = "before()\n".to_owned();
    for level in 0..3_000 {
        let _ = writeln!(source, "{}if a:", " ".repeat(level));
    }
    let _ = writeln!(source, "{}f()\nafter()", " ".repeat(3_000));
    let facts = expect_problem(source, "nested too deep");
    expect_neighbours(&facts);
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
    expect_neighbours(&facts);
}

#[test]
fn a_hundred_thousand_operators_and_links_are_read() {
    let facts = on_large_stack(format!("before()\nx = a{}\nafter()\n", " + a".repeat(100_000)));
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
    assert_eq!(facts.sites.iter().filter(|site| site.kind == SiteKind::Operator).count(), 100_000);
    expect_neighbours(&facts);

    let facts = on_large_stack(format!("before()\nx = a{}\nafter()\n", ".b()".repeat(100_000)));
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
    assert_eq!(facts.sites.iter().filter(|site| site.kind == SiteKind::Call).count(), 100_002);
    expect_neighbours(&facts);
}

#[test]
fn long_flat_code_stays_linear() {
    // Each would be quadratic if conditions nested without end or unions were copied into each other.
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
        let facts = on_large_stack(format!("before()\n{line}\nafter()\n"));
        assert!(facts.problems.is_empty(), "{:?}", facts.problems);
        expect_neighbours(&facts);
        let mut deepest = 0;
        for site in &facts.sites {
            let (mut at, mut depth) = (site.at.region, 0);
            while let Some(region) = at.get() {
                at = facts.region(region).parent;
                depth += 1;
            }
            deepest = deepest.max(depth);
        }
        assert!(deepest < 200, "regions nest {deepest} deep");
    }
}

#[test]
fn what_would_cost_gigabytes_to_parse_is_refused() {
    for (open, close) in [("[", "]"), ("(", ")"), ("not ", ""), ("lambda: ", ""), ("a ** ", ""), ("f'{", "}'")] {
        let facts = expect_problem(nested(open, close, 500_000), "skipped");
        assert!(facts.sites.is_empty());
    }
    expect_problem(nested("[", "", 500_000), "skipped");
}

#[test]
fn a_file_beyond_the_limit_is_refused() {
    let facts = expect_problem("f()\n".repeat(2_000_001), "skipped: 8000004 bytes");
    assert_eq!(facts.bodies.len(), 1);
}

#[test]
fn a_large_flat_table_is_read() {
    let source = format!("before()\nx = [\n{}]\nafter()\n", "    (-1, 'text', [2, 3]),\n".repeat(100_000));
    let facts = on_large_stack(source);
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
    expect_neighbours(&facts);
}
