//! Deep, long, broken and binary input: extraction neither panics nor overflows the stack, and its facts are valid.

use blocklint_facts::{FileFacts, validate};

/// Extracts and validates facts on a thread with the stack size of the command line's threads.
fn extract(source: impl Into<Vec<u8>>) -> FileFacts {
    let source = source.into();
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let facts = thread.spawn(move || blocklint_java::extract(&source)).map(std::thread::JoinHandle::join);
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

fn in_method(body: &str) -> String {
    format!("class A {{ void f() {{ {body} }}\nvoid after() {{ last(); }} }}")
}

#[test]
fn deep_nesting_is_left_out_with_one_problem() {
    let cases = [
        format!("x = {};", nested("h(", "g()", ")", 10_000)),
        format!("x = {};", nested("a.h(", "g()", ")", 10_000)),
        format!("x = {};", nested("() -> ", "g()", "", 10_000)),
        nested("if (a) { ", "g();", " }", 3_000),
        nested("{", "g();", "}", 10_000),
        format!("x = {};", nested("a ? b : ", "g()", "", 10_000)),
        format!("x = {};", nested("y = ", "g()", "", 10_000)),
        format!("{} x;", nested("List<", "A", ">", 10_000)),
        format!("int[] x = {};", nested("{", "1", "}", 10_000)),
    ];
    for body in cases {
        let facts = extract(in_method(&body));
        assert_eq!(facts.problems.len(), 1, "{} {:?}", &body[..20], facts.problems);
        assert!(facts.problems[0].message.starts_with("nested more than"), "{}", facts.problems[0].message);
        assert!(site_names(&facts).contains(&"last"), "the rest of the file is read: {}", &body[..20]);
    }
    let classes = extract(nested("class A { ", "", " }", 5_000));
    assert_eq!(classes.problems.len(), 1);
}

#[test]
fn long_chains_are_read_whole() {
    let facts = extract(in_method(&format!("a{};", ".b()".repeat(100_000))));
    assert_eq!((facts.sites.len(), facts.problems.len()), (100_001, 0));
    for operator in [" + ", " && ", " == "] {
        let facts = extract(in_method(&format!("x = g(){};", format!("{operator}g()").repeat(50_000))));
        assert_eq!((facts.sites.len(), facts.problems.len()), (50_002, 0));
    }
    let facts = extract(in_method(&format!("x = {};", nested("(", "g()", ")", 10_000))));
    assert_eq!((facts.sites.len(), facts.problems.len()), (2, 0));
    let facts = extract(in_method(&format!("if (a) {{ g(); }}{}", " else if (b()) { g(); }".repeat(10_000))));
    assert_eq!((facts.sites.len(), facts.problems.len()), (20_002, 0));
    let facts = extract(in_method(&"if (a) { return; } ".repeat(10_000)));
    assert_eq!(facts.problems, []);
}

#[test]
fn code_around_a_syntax_error_is_read() {
    for source in [
        "class A { void a() { one(); } void b( { two(); } void c() { three(); } }",
        "class A { void a() { one(); int = ; } void c() { three(); } }",
        "class A { int ; void a() { one(); } void c() { three(); } }",
        "class A { void c() { three(); } void a() { one(); if (x) {",
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
        b"\xef\xbb\xbfclass A { void f() { g(); } }",
        b"class A { String s = \"\xff\xfe\"; }",
        b"class \xc3\x28 {}\0\0",
        b"\0\0\0",
        b"class A {\r\n    void f() { g(); }\r\n}\r\n",
        b"// blocklint: ignore",
        b"void main() { g(); }",
        b"import",
        b"import static x;",
        b"package",
        b"new",
        b"class",
        b"@",
        b"a ->",
        b"switch (x) {",
    ] {
        extract(source);
    }
}

#[test]
fn a_large_file_is_read() {
    let body = "void f(A a) { a.b(1).c(\"x\"); var y = g(a); }\n".repeat(40_000);
    let facts = extract(format!("class A {{ {body} }}"));
    assert_eq!(facts.sites.len(), 120_000);
}

#[test]
fn equal_bytes_have_equal_facts() {
    let source = "package p; class A { S s; void f() { s.a(1); } }";
    assert_eq!(extract(source), extract(source));
    assert_eq!(extract(source), blocklint_java::extract(source.as_bytes()));
}

#[test]
fn syntax_that_the_grammar_does_not_know_is_read() {
    for source in [
        // Record patterns of qualified types.
        "class A { int a(Object o) { return switch (o) { case W.X(String a) -> one(); default -> two(); }; } }",
        "class A { int a(Object o) { return switch (o) { case W.X(var a): yield one(); default: yield two(); }; } }",
        "class A { int a(Object o) { return o instanceof B.C.X(String s) ? one() : two(); } }",
        "class A { int a(Object o) { return switch (o) { case W.Y<?>(var t, W.X(var q)) when one() -> 1; \
         default -> two(); }; } }",
        "class A { int a(Object o) { switch (o) { case W.F(W.S(var m), int n): return one(); default: two(); } \
         return 1; } }",
        // Several patterns in one label.
        "class A { int a(Object o) { return switch (o) { case W.S _, W.F _ -> one(); default -> two(); }; } }",
        "import module java.base;\nclass A { void a() { one(); two(); } }",
        "class A { A() { one(); super(); two(); } }",
    ] {
        let facts = extract(source);
        assert_eq!(facts.problems, [], "{source}");
        let names = site_names(&facts);
        assert!(names.contains(&"one") && names.contains(&"two"), "{source}: {names:?}");
    }
}

#[test]
fn a_mistake_in_a_label_is_a_syntax_error() {
    for source in [
        "class A { int a(Object o) { return switch (o) { case W.X(String a -> one(); default -> two(); }; } }",
        "class A { int a(Object o) { return switch (o) { case -> one(); default -> two(); }; } }",
        "class A { void a() { System.out.println(\"case W.X(String a)\"; } }",
    ] {
        assert_eq!(extract(source).problems.len(), 1, "{source}");
    }
}
