//! Deep, long, broken and binary input: extraction neither panics nor overflows the stack, and its facts are valid.

use blocklint_facts::{FileFacts, validate};

/// Extracts and validates facts on a thread with the stack size of the command line's threads.
fn extract(source: impl Into<Vec<u8>>) -> FileFacts {
    let source = source.into();
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let facts = thread.spawn(move || blocklint_rust::extract(&source)).map(std::thread::JoinHandle::join);
    let facts = match facts {
        Ok(Ok(facts)) => facts,
        _ => panic!("extraction did not return"),
    };
    assert_eq!(validate(&facts), Ok(()));
    facts
}

fn nested(open: &str, inner: &str, close: &str, times: usize) -> String {
    format!("{}{inner}{}", open.repeat(times), close.repeat(times))
}

fn site_names(facts: &FileFacts) -> Vec<&str> {
    facts.sites.iter().map(|site| facts.text(site.name)).collect()
}

fn in_function(body: &str) -> String {
    format!("fn f() {{ {body} }}\nfn after() {{ last() }}")
}

#[test]
fn deep_nesting_is_left_out_with_one_problem() {
    let cases = [
        nested("[", "g()", "]", 10_000),
        nested("(1, ", "g()", ")", 10_000),
        nested("|| ", "g()", "", 10_000),
        nested("if a { ", "g();", " }", 3_000),
        nested("h(", "g()", ")", 10_000),
        nested("a.h(", "g()", ")", 10_000),
        nested("{", "g();", "}", 10_000),
        nested("async { ", "g()", " }", 5_000),
        nested("match a { x => ", "g()", ", }", 5_000),
        format!("let x: {};", nested("Vec<", "u8", ">", 10_000)),
        format!("let {} = x;", nested("(a, ", "b", ")", 10_000)),
    ];
    for body in cases {
        let facts = extract(in_function(&body));
        assert_eq!(facts.problems.len(), 1, "{} {:?}", &body[..20], facts.problems);
        assert!(facts.problems[0].message.starts_with("nested more than"), "{}", facts.problems[0].message);
        assert!(site_names(&facts).contains(&"last"), "the rest of the file is read: {}", &body[..20]);
    }
}

#[test]
fn long_chains_are_read_whole() {
    let facts = extract(in_function(&format!("a{}", ".b()".repeat(100_000))));
    assert_eq!((facts.sites.len(), facts.problems.len()), (100_001, 0));
    let facts = extract(in_function(&format!("a{}", ".await?.c".repeat(50_000))));
    assert_eq!(facts.problems, []);
    for operator in [" + ", " && ", " == "] {
        let facts = extract(in_function(&format!("g(){}", format!("{operator}g()").repeat(50_000))));
        assert_eq!((facts.sites.len(), facts.problems.len()), (50_002, 0));
    }
    let facts = extract(in_function(&format!("{}{}", nested("(", "g()", ")", 10_000), nested("!", ";g()", "", 0))));
    assert_eq!(facts.problems, []);
    let facts = extract(in_function(&nested("!", "g()", "", 10_000)));
    assert_eq!((facts.sites.len(), facts.problems.len()), (2, 0));
    let facts = extract(in_function(&format!("if a {{ g() }}{}", " else if b() { g() }".repeat(10_000))));
    assert_eq!((facts.sites.len(), facts.problems.len()), (20_002, 0));
    let facts = extract(in_function(&"if a { return; } ".repeat(10_000)));
    assert_eq!(facts.problems, []);
}

#[test]
fn nested_macros_are_walked_up_to_a_limit() {
    let facts = extract(in_function(&nested("m!(", "g()", ")", 500)));
    assert!(site_names(&facts).contains(&"last"));
    let facts = extract(in_function(&format!("m!({})", "g(), ".repeat(20_000))));
    assert_eq!(facts.sites.len(), 20_002);
}

#[test]
fn code_around_a_syntax_error_is_read() {
    for source in [
        "fn a() { one() }\nfn b( { two() }\nfn c() { three() }",
        "fn a() { one(); let = ; }\nfn c() { three() }",
        "struct S { a: }\nfn a() { one() }\nfn c() { three() }",
        "fn a() { one() }\n}}}\nfn c() { three() }",
        "fn c() { three() }\nfn a() { one(); if x {",
    ] {
        let facts = extract(source);
        assert_eq!(facts.problems.len(), 1, "{source}");
        assert!(
            site_names(&facts).contains(&"one") && site_names(&facts).contains(&"three"),
            "{source}: {:?}",
            site_names(&facts)
        );
    }
}

#[test]
fn any_bytes_have_valid_facts() {
    for source in [
        &b""[..],
        b"\xef\xbb\xbffn main() { f() }",
        b"fn main() { f(\"\xff\xfe\") }",
        b"fn \xc3\x28() {}\0\0",
        b"\0\0\0",
        b"fn main() {\r\n    f()\r\n}\r\n",
        b"// blocklint: ignore",
        b"#!/usr/bin/env run\nfn main() { f() }",
        b"m!",
        b"m!(",
        b"fn f() { m!(a, ",
        b"select! { a = b() => c(), }",
        b"fn f() { m!{}; m![]; m!(,); m!(=>); m!(= => =>) }",
    ] {
        extract(source);
    }
}

#[test]
fn a_large_file_is_read() {
    let source = "fn f(a: &A) { a.b(1).c(\"x\"); let y = g(a)?; }\n".repeat(40_000);
    let facts = extract(source);
    // Three calls and the drop of `y` on each line.
    assert_eq!(facts.sites.len(), 160_000);
}

#[test]
fn equal_bytes_have_equal_facts() {
    let source = "mod m; fn f(s: &S) { s.a(1); m!(x); }";
    assert_eq!(extract(source), extract(source));
    assert_eq!(extract(source), blocklint_rust::extract(source.as_bytes()));
}
