//! Encodings, invalid bytes, NUL bytes and line ends of source files.

use blocklint_core::Span;
use blocklint_facts::{FileFacts, Form, dump};
use blocklint_python::{decode, extract};

/// Returns the text of the first argument of the last call of `f`, a string literal.
fn last_argument_of_f(facts: &FileFacts) -> &str {
    let site = facts.sites.iter().rposition(|site| facts.text(site.name) == "f").expect("a call of f");
    match facts.form(facts.args.at(facts.sites.at(site).args.start as usize).value) {
        Form::Str(sym) => facts.text(sym),
        other => panic!("{other:?}"),
    }
}

fn messages(facts: &FileFacts) -> Vec<&str> {
    facts.problems.iter().map(|problem| problem.message.as_str()).collect()
}

#[test]
fn a_byte_order_mark_counts_in_offsets() {
    let facts = extract("\u{feff}f('é')\n".as_bytes());
    assert_eq!(messages(&facts), Vec::<&str>::new());
    assert_eq!(last_argument_of_f(&facts), "é");
    assert_eq!(facts.sites.at(0).span, Span::new(3, 10));
}

#[test]
fn encoding_declarations_choose_the_encoding() {
    for (cookie, bytes, text) in [
        ("# -*- coding: latin-1 -*-", &b"\xe9"[..], "é"),
        ("# vim: set fileencoding=iso-8859-15 :", &b"\xa4"[..], "€"),
        ("#!/usr/bin/python\n# coding=cp1252", &b"\x80"[..], "€"),
        ("# coding: gbk", &b"\xd6\xd0"[..], "中"),
        ("# coding: euc_jp", &b"\xc6\xfc"[..], "日"),
        ("# coding: shift_jis", &b"\x93\xfa"[..], "日"),
        ("# coding: koi8-r", &b"\xe9"[..], "И"),
        ("# coding: cp1251", &b"\xe9"[..], "й"),
        ("# coding: utf-8", "é".as_bytes(), "é"),
        ("# coding: UTF8", "é".as_bytes(), "é"),
        ("# coding: nonsense", "é".as_bytes(), "é"),
    ] {
        let source = [cookie.as_bytes(), b"\nf('", bytes, b"')\n"].concat();
        let facts = extract(&source);
        assert_eq!(messages(&facts), Vec::<&str>::new(), "{cookie}");
        assert_eq!(last_argument_of_f(&facts), text, "{cookie}");
        let decoded = decode(&source);
        let span = facts.sites.at(0).span;
        assert_eq!(&decoded.text[span.start as usize..span.end as usize], format!("f('{text}')"), "{cookie}");
    }
}

#[test]
fn an_encoding_declaration_below_code_is_ignored() {
    let facts = extract(b"x = 1\n# coding: latin-1\nf('\xc3\xa9')\n");
    assert_eq!(last_argument_of_f(&facts), "é");
}

#[test]
fn invalid_utf_8_keeps_offsets() {
    let source = b"# caf\xe9 \xff\xfe\ntime.sleep(1)\nf('\xe2\x82')\n";
    let facts = extract(source);
    assert_eq!(messages(&facts), ["a byte here is not valid UTF-8"]);
    assert_eq!(facts.problems[0].span, Span::new(5, 6));
    assert_eq!(last_argument_of_f(&facts), "??");
    let span = facts.sites.at(0).span;
    assert_eq!(&source[span.start as usize..span.end as usize], b"time.sleep(1)");
}

#[test]
fn nul_bytes_do_not_end_the_file() {
    let facts = extract(b"a()\n\0\nf('b\0c')\n");
    assert_eq!(messages(&facts), ["the file contains NUL bytes"]);
    assert_eq!(last_argument_of_f(&facts), "b c");
}

#[test]
fn line_ends_change_nothing_but_offsets() {
    let source = "if a:\n    b()  # noqa: BLT101\n# blocklint: ignore[BLT102]\nc(\n    1)\n";
    let shape = |source: &str| {
        let text = dump(&extract(source.as_bytes()));
        text.split_inclusive('\n')
            .map(|line| {
                let end = if line.starts_with("problem") { 0 } else { line.rfind(" [").unwrap_or(line.len()) };
                line[..end].to_owned()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(shape(source), shape(&source.replace('\n', "\r\n")));
    assert_eq!(shape(source), shape(&source.replace('\n', "\r")));
    let windows = source.replace('\n', "\r\n");
    let facts = extract(windows.as_bytes());
    let line = facts.suppressions[1].covered_span;
    assert_eq!(&windows[line.start as usize..line.end as usize], "c(");
}

#[test]
fn empty_and_blank_files_have_a_top_level() {
    for source in ["", "\n", "\u{feff}", "# noqa", "   ", "\\", "\x0c\n"] {
        let facts = extract(source.as_bytes());
        assert_eq!(facts.bodies.len(), 1, "{source:?}");
        assert_eq!(blocklint_facts::validate(&facts), Ok(()));
    }
}

#[test]
fn any_bytes_have_valid_facts() {
    // Every prefix of a file with all kinds of syntax, and the file with each byte damaged.
    let source = include_bytes!("every_syntax.py");
    let check = |bytes: &[u8]| {
        let facts = extract(bytes);
        assert_eq!(blocklint_facts::validate(&facts), Ok(()), "{}", String::from_utf8_lossy(bytes));
        assert!(facts.problems.len() <= 3);
    };
    for end in 0..source.len() {
        check(&source[..end]);
    }
    for index in 0..source.len() {
        for byte in [b'(', b'\n', b'"', b' ', 0, 0xff] {
            let mut damaged = source.to_vec();
            damaged[index] = byte;
            check(&damaged);
        }
    }
}

#[test]
fn equal_bytes_have_equal_facts() {
    let source = include_bytes!("every_syntax.py");
    let first = extract(source);
    extract(b"other = names(in_the_tables, that_are_reused)\n");
    assert_eq!(extract(source), first);
    let elsewhere = std::thread::spawn(|| extract(include_bytes!("every_syntax.py"))).join();
    assert_eq!(elsewhere.ok(), Some(first));
}
