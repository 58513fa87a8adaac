//! Tests of the text of each format.

use std::sync::Arc;

use crate::support::{APP, CLIENTS, Example, example, place, step};
use blocklint_core::{CallDuration, Confidence, EntryKind, Group, ReachedBy, RuleCode, Severity, Span};
use blocklint_output::{
    ExplainedFinding, ExplainedLine, ExplainedRow, ExplainedSite, ExplainedTarget, HtmlReport, Outcome, Overview, Page,
    PageBlock, ReachedFrom, Remark, RenderInput, SarifRun, Sources, Summary, TerminalStyle, write_concise,
    write_explanation, write_explanation_json, write_full, write_github, write_gitlab, write_html, write_json,
    write_jsonl, write_junit, write_rdjson, write_sarif, write_statistics, write_statistics_json, write_summary,
};
use camino::Utf8Path;
use insta::assert_snapshot;

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory takes everything");
    String::from_utf8(out).expect("utf-8")
}

fn shown(example: &Example) -> RenderInput<'_> {
    RenderInput {
        page: Page::PLAIN,
        findings: &example.findings,
        groups: &example.groups,
        sources: &example.sources,
        folder: Utf8Path::new("/p"),
        pages: None,
    }
}

#[test]
fn full_shows_the_path_under_its_cause() {
    assert_snapshot!(text(|out| write_full(out, &shown(&example()), TerminalStyle::default())));
}

/// The two findings of a cause have paths that join or differ, and equal or different advice.
#[test]
fn texts_and_steps_are_not_repeated_under_a_cause() {
    let mut example = example();
    example.groups.truncate(1);
    example.findings.truncate(2);
    let of_second = |example: &Example| {
        let out = text(|out| write_full(out, &shown(example), TerminalStyle::default()));
        out.split("error[").nth(2).expect("two findings").to_owned()
    };
    assert!(of_second(&example).contains("= note, help: as above"), "{}", of_second(&example));
    assert!(
        !of_second(&example).contains("note: ") && !of_second(&example).contains("= help:"),
        "{}",
        of_second(&example)
    );

    example.findings[1].help = Some("run it in a thread: `await asyncio.to_thread(other, …)`".to_owned());
    let out = of_second(&example);
    assert!(out.contains("= help: run it in a thread: `await asyncio.to_thread(other, …)`"), "{out}");
    assert!(out.contains("= note: as above"), "{out}");

    // Its path joins the first one a step later.
    let retry = place("/p/app.py", APP, "retry", 0);
    example.findings[1].trace.insert(1, step(retry, "app.fetch", "app.again", "again"));
    let out = of_second(&example);
    assert!(
        out.contains("`both` calls `fetch`\n") && out.contains("`fetch` calls `again`, and then as above\n"),
        "{out}"
    );
    assert!(!out.contains("= path"), "{out}");

    // Its path ends at another call, so it is shown in full.
    let end = example.findings[1].trace.len() - 1;
    example.findings[1].trace[end].call = "requests.Session.post".to_owned();
    let out = of_second(&example);
    assert!(!out.contains("then as above") && out.contains("`requests.Session.post`, which blocks"), "{out}");
    assert!(out.contains("= path: both → fetch → fetch → load → self.http.get"), "{out}");
}

#[test]
fn findings_that_join_a_shown_path_are_listed() {
    let mut example = example();
    example.groups.truncate(1);
    example.findings.truncate(2);
    let mut third = example.findings[1].clone();
    third.fix = None;
    example.findings.push(third);
    let group = &mut example.groups[0];
    group.findings = vec![0, 1, 2];
    let out = text(|out| write_full(out, &shown(&example), TerminalStyle::default()));
    assert_eq!(out.matches("-->").count(), 1, "{out}");
    let list = out.split_once("2 more calls lead there as above").expect("a list").1;
    let lines: Vec<&str> = list.lines().filter(|line| line.starts_with("   app.py:")).collect();
    assert!(
        lines.len() == 2 && lines.iter().all(|line| line.ends_with(": error[BLT102] `both` calls `fetch`")),
        "{list}"
    );

    let of_terminal = TerminalStyle { max_full_findings: Some(20), ..TerminalStyle::default() };
    example.groups[0].findings.extend([2; 12]);
    let out = text(|out| write_full(out, &shown(&example), of_terminal));
    let lines = out.lines().filter(|line| line.starts_with("   app.py:")).count();
    assert!(lines == 10 && out.contains("   … and 4 more (all of them: `blocklint check | less`)\n"), "{out}");

    // A single finding is shown in full. So is a finding whose path joins later than at its second step.
    example.groups[0].findings = vec![0, 1];
    assert!(!text(|out| write_full(out, &shown(&example), TerminalStyle::default())).contains("as above:"), "one");
    example.groups[0].findings = vec![0, 1, 2];
    let retry = place("/p/app.py", APP, "retry", 0);
    example.findings[2].trace.insert(1, step(retry, "app.fetch", "app.again", "again"));
    let out = text(|out| write_full(out, &shown(&example), TerminalStyle::default()));
    assert_eq!(out.matches("-->").count(), 3, "{out}");
}

/// Returns the example with two more causes in `both`, beside `time.sleep`, and the page on which they are one block.
fn example_with_three_causes_in_one_function() -> (Example, Page) {
    let mut example = example();
    let mut groups = vec![1];
    for nth in [0, 1] {
        let place = place("/p/app.py", APP, ["fetch(\"a\")", "async def both"][nth], 0);
        let mut finding = example.findings[2].clone();
        finding.place = place.clone();
        finding.trace[0].place = place.clone();
        finding.causes[0].place = place;
        let cause = finding.causes.first().cloned();
        example.findings.push(finding);
        groups.push(example.groups.len() as u32);
        example.groups.push(Group { cause, findings: vec![example.findings.len() as u32 - 1] });
    }
    let of_function = |groups: Vec<u32>, function: &str| PageBlock {
        groups,
        function: function.to_owned(),
        is_entry: true,
        reach: 1,
    };
    let blocks =
        vec![of_function(vec![0], "clients.Store.load"), of_function(groups, "app.both"), of_function(vec![2], "")];
    (example, Page { blocks, ..Page::default() })
}

#[test]
fn causes_of_one_function_are_one_block() {
    let (mut example, mut page) = example_with_three_causes_in_one_function();
    let text_of = |example: &Example, page: &Page| {
        text(|out| write_full(out, &RenderInput { page, ..shown(example) }, TerminalStyle::default()))
    };
    let out = text_of(&example, &page);
    let block = out.split_once("causes 2 to 4 of 4: 3 calls in `both`, which must not block\n").expect("a heading").1;
    assert_eq!(block.matches("-->").count(), 2, "one call in full, and the file that was not read: {block}");
    let list = block.split_once("2 more calls in this function block, too:\n").expect("a list").1;
    assert!(
        list.starts_with("   app.py:14:5: error[BLT101] `time.sleep`\n   app.py:13:1: error[BLT101] `time.sleep`\n"),
        "{list}"
    );

    // Other advice is shown, and a list of one finding is not worth a heading.
    example.findings[4].help = Some("use another call".to_owned());
    let out = text_of(&example, &page);
    assert!(out.contains("= help: use another call") && !out.contains("in this function"), "{out}");

    page.blocks[1].is_entry = false;
    page.blocks[1].reach = 3;
    let out = text_of(&example, &page);
    assert!(out.contains("3 calls in `both`, reached by 3 functions that must not block\n"), "{out}");
}

/// Two causes of one function lie behind the same two calls. The second path shows only its place and its end.
#[test]
fn a_path_to_a_function_is_shown_once() {
    let mut example = example();
    example.findings.truncate(1);
    let mut second = example.findings[0].clone();
    second.rule = RuleCode(104);
    second.help = Some("open it in a thread".to_owned());
    let end = place("/p/clients.py", CLIENTS, "requests.Session()", 0);
    second.trace[2] = step(end.clone(), "clients.Store.load", "open", "open");
    second.causes[0].place = end;
    let cause = second.causes.first().cloned();
    example.findings.push(second);
    example.groups.truncate(1);
    example.groups[0].findings = vec![0];
    example.groups.push(Group { cause, findings: vec![1] });
    let function = "clients.Store.load".to_owned();
    let blocks = vec![PageBlock { groups: vec![0, 1], function, is_entry: false, reach: 2 }];
    let page = Page { blocks, ..Page::default() };
    let out = text(|out| write_full(out, &RenderInput { page: &page, ..shown(&example) }, TerminalStyle::default()));
    let second = out.split("error[").nth(2).expect("two findings");
    assert!(second.contains("`handler` calls `fetch`, as above") && !second.contains("store.load(key)"), "{second}");
    assert!(second.contains("`Store.load` calls `open`, which blocks"), "{second}");
}

#[test]
fn the_page_names_the_entry_point_that_reaches_a_finding() {
    let mut example = example();
    let entry = |kind, route: Option<&str>| ReachedBy {
        kind,
        entry: "app.Users.get".to_owned(),
        route: route.map(str::to_owned),
        place: place("/p/app.py", APP, "handler", 0),
    };
    example.findings[0].reached_by =
        vec![entry(EntryKind::Request, Some("GET /users/{id}")), entry(EntryKind::Message, None)];
    for (index, takes, text_of_note) in [
        (0, None, "reached from GET /users/{id}\n"),
        (0, CallDuration::parse("35 ms"), "reached from GET /users/{id}, about 35 ms for each request\n"),
        (
            1,
            CallDuration::parse("0.1 ms"),
            "reached from the message handler `Users.get`, about 0.1 ms for each message\n",
        ),
    ] {
        let page = Page { reached_from: vec![Some(ReachedFrom { entry: index, takes })], ..Page::default() };
        let out =
            text(|out| write_full(out, &RenderInput { page: &page, ..shown(&example) }, TerminalStyle::default()));
        assert_eq!(out.matches(&format!("= note: {text_of_note}")).count(), 1, "{out}");
    }
}

#[test]
fn a_terminal_shows_the_first_findings_in_full_and_lists_the_others() {
    let example = example();
    let all = text(|out| write_full(out, &shown(&example), TerminalStyle::default()));
    let text_with_limit = |most| {
        text(|out| {
            write_full(
                out,
                &shown(&example),
                TerminalStyle { max_full_findings: Some(most), ..TerminalStyle::default() },
            )
        })
    };
    assert_eq!(text_with_limit(100), all, "as many as there are");
    let findings = example.groups.iter().map(|group| group.findings.len()).sum::<usize>();
    let first = example.groups[0].findings.len();
    assert!(findings > first, "several causes");
    let out = text_with_limit(1);
    let (shown_first, rest) = out.split_once(" in one line each").expect("a list");
    assert!(all.starts_with(shown_first.rsplit_once('\n').expect("a line").0), "{out}");
    let lines = rest.lines().filter(|line| line.starts_with("   ") && line.contains("[BLT")).count();
    assert_eq!(lines, findings - first, "{out}");
}

#[test]
fn colour_changes_no_character() {
    let example = example();
    let plain = text(|out| write_full(out, &shown(&example), TerminalStyle::default()));
    let styled =
        text(|out| write_full(out, &shown(&example), TerminalStyle { styled: true, ..TerminalStyle::default() }));
    assert!(styled.contains('\u{1b}') && !plain.contains('\u{1b}'));
    let mut stripped = String::new();
    let mut rest = styled.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').expect("an escape sequence ends").1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

/// The place at the head of each frame or line is a link to its file, and the visible text is the same as without
/// links.
#[test]
fn places_are_links_where_the_terminal_can() {
    let example = example();
    // Counted in the output without colours, where no escape sequence is before the head of a line.
    let bare = text(|out| write_full(out, &shown(&example), TerminalStyle::default()));
    let heads = bare.lines().filter(|line| line.contains("-->") || line.contains(":::")).count();
    let headings = bare.lines().filter(|line| line.starts_with("cause ")).count();
    for styled in [false, true] {
        let [plain, linked] = [false, true].map(|links| {
            text(|out| write_full(out, &shown(&example), TerminalStyle { styled, links, ..TerminalStyle::default() }))
        });
        let ends = linked.matches("\u{1b}]8;;\u{1b}\\").count();
        assert_eq!(linked.matches("\u{1b}]8;;file:///p/").count(), ends);
        assert_eq!((heads > 3, headings, ends), (true, 2, heads + headings), "{linked:?}");
        let mut stripped = linked.replace("\u{1b}]8;;\u{1b}\\", "");
        for file in ["app.py", "clients.py", "old.py"] {
            stripped = stripped.replace(&format!("\u{1b}]8;;file:///p/{file}\u{1b}\\"), "");
        }
        assert_eq!(stripped, plain);
    }
}

#[test]
fn concise_is_one_line_each() {
    assert_snapshot!(text(|out| write_concise(out, &shown(&example()), TerminalStyle::default())));
}

#[test]
fn json_has_every_field() {
    let example = example();
    let one = Example { findings: example.findings[1..].to_vec(), ..example };
    assert_snapshot!(text(|out| write_json(out, &shown(&one))));
    let none = Example { findings: Vec::new(), groups: Vec::new(), sources: Sources::default() };
    assert_eq!(text(|out| write_json(out, &shown(&none))), "[]\n");
}

#[test]
fn statistics_count_as_ruff_does() {
    assert_snapshot!(text(|out| write_statistics(out, &shown(&example()))), @r"
    2	BLT102	blocking-network
    1	BLT101	blocking-sleep
    1	BLT902	unreadable-source
    ");
    let example = example();
    let one = Example { findings: example.findings[..2].to_vec(), ..example };
    assert_snapshot!(text(|out| write_statistics_json(out, &shown(&one))), @r#"
    [
      {
        "code": "BLT102",
        "name": "blocking-network",
        "count": 2,
        "fixable": false,
        "fixable_count": 0
      }
    ]
    "#);
}

#[test]
fn the_last_line_counts_findings_shown_and_below_the_level() {
    let line = |findings, causes, below| {
        let counts = Summary {
            incomplete: false,
            findings,
            causes,
            capped: 0,
            below,
            aside: 0,
            shown_aside: 0,
            must_not_block: None,
            min_severity: Severity::Warning,
            min_confidence: Confidence::Medium,
        };
        text(|out| write_summary(out, &counts))
    };
    let how = "--min-severity note --min-confidence low";
    assert_eq!(
        line(12, 5, 30),
        format!("Found 12 findings with 5 causes; 30 more below `warning`/`medium` (show them with {how}).\n")
    );
    assert_eq!(line(1, 1, 0), "Found 1 finding with 1 cause.\n");
    assert_eq!(line(1, 0, 0), "Found 1 finding.\n");
    assert_eq!(line(0, 0, 0), "No findings.\n");
    assert_eq!(line(0, 0, 1), format!("No findings; 1 finding below `warning`/`medium` (show it with {how}).\n"));
}

#[test]
fn a_file_that_changed_or_vanished_is_shown_as_far_as_it_can_be() {
    let example = example();
    let mut sources = Sources::default();
    // The text is shorter than every span, and offset 1 is inside of a character.
    sources.insert(Arc::from(Utf8Path::new("/p/app.py")), Arc::from("é"));
    let changed = Example { sources, ..example };
    let out = text(|out| write_full(out, &shown(&changed), TerminalStyle::default()));
    assert!(out.contains("--> app.py:11:2"), "{out}");
    assert!(out.contains("clients.py:9:16"), "a file without text is shown by its place: {out}");
}

#[test]
fn a_long_trace_is_shown_by_its_ends() {
    let mut example = example();
    let at = place("/p/app.py", APP, "store.load(key)", 0);
    let long = (0..100).map(|hop| step(at.clone(), &format!("app.f{hop}"), &format!("app.f{}", hop + 1), "f"));
    example.findings[0].trace = long.collect();
    example.findings.truncate(1);
    example.groups.truncate(1);
    example.groups[0].findings.truncate(1);
    let out = text(|out| write_full(out, &shown(&example), TerminalStyle::default()));
    assert!(out.contains("`f3` calls `f4`") && !out.contains("`f4` calls `f5`"), "{out}");
    assert!(out.contains("92 more steps") && out.contains("`f99` calls `app.f100`, which blocks"), "{out}");
}

#[test]
fn control_characters_of_sources_do_not_reach_the_terminal() {
    let mut example = example();
    example.findings.truncate(1);
    example.groups.truncate(1);
    example.groups[0].findings.truncate(1);
    example.findings[0].message = "evil \u{1b}[31m name\nnext".to_owned();
    example.findings[0].trace[0].written = "\u{1b}]8;;x".to_owned();
    example.sources.insert(Arc::from(Utf8Path::new("/p/app.py")), Arc::from(APP.replace("handler", "ha\u{1b}[2Jer")));
    for out in [
        text(|out| write_full(out, &shown(&example), TerminalStyle::default())),
        text(|out| write_concise(out, &shown(&example), TerminalStyle::default())),
    ] {
        assert!(!out.contains('\u{1b}'), "{out:?}");
    }
    assert_eq!(text(|out| write_concise(out, &shown(&example), TerminalStyle::default())).lines().count(), 1);
}

#[test]
fn odd_line_ends_and_marks_do_not_shift_the_frame() {
    let source = "\u{feff}x = 1\r\ny = zeit()\rz = 2\n";
    let mut example = example();
    example.findings.truncate(1);
    example.groups.truncate(1);
    example.groups[0].findings.truncate(1);
    example.sources.insert(Arc::from(Utf8Path::new("/p/odd.py")), Arc::from(source));
    for (needle, frame) in [("x = 1", "1 | x = 1\n  | ^^^^^"), ("zeit()", "2 | y = zeit()\n  |     ^^^^^^")] {
        let at = place("/p/odd.py", source, needle, 0);
        example.findings[0].trace = vec![step(at.clone(), "odd", "zeit", "zeit")];
        example.findings[0].place = at;
        let out = text(|out| write_full(out, &shown(&example), TerminalStyle::default()));
        assert!(out.contains(frame), "{out}");
    }
    let mut beyond = place("/p/odd.py", source, "z = 2", 0);
    beyond.span = Span::new(4_000_000, 4_000_001);
    example.findings[0].place = beyond;
    assert!(text(|out| write_full(out, &shown(&example), TerminalStyle::default())).contains("odd.py:3"));
}

#[test]
fn why_shows_targets_rows_and_outcomes_of_each_site() {
    let example = example();
    let site = |needle: &str, written: &str| ExplainedSite {
        place: place("/p/app.py", APP, needle, 0),
        written: written.to_owned(),
        kind: "call".to_owned(),
        owner: "function `fetch`".to_owned(),
        receiver: None,
        arguments: Vec::new(),
        targets: Vec::new(),
        rows: Vec::new(),
        outcomes: Vec::new(),
    };
    let target = ExplainedTarget {
        name: "clients.Store.load".to_owned(),
        edge: "call".to_owned(),
        confidence: Confidence::High,
        place: Some(example.findings[0].trace[2].place.clone()),
    };
    let row = ExplainedRow {
        path: "requests.Session.get".to_owned(),
        says: "network, holds up to 5 s".to_owned(),
        file: "requests.toml".to_owned(),
        line: 12,
        conditions: vec![("unless stream is true".to_owned(), false)],
        decides: true,
    };
    let sites = [
        ExplainedSite {
            receiver: Some("clients.Store".to_owned()),
            targets: vec![target],
            outcomes: vec![Outcome::Finding(example.findings[0].rule, example.findings[0].place.clone())],
            ..site("store.load", "store.load")
        },
        ExplainedSite {
            arguments: vec![("timeout".to_owned(), "5".to_owned())],
            rows: vec![row],
            outcomes: vec![Outcome::Ends(Remark::new("no caller is known"))],
            ..site("Store()", "Store")
        },
    ];
    let finding = ExplainedFinding {
        finding: example.findings[0].clone(),
        part: Some("its path passes here"),
        hidden: Some("below the shown levels; `--min-severity note` shows it".to_owned()),
        doubts: vec![Remark::new("what `store` is, is inferred")],
    };
    let line = ExplainedLine {
        place: sites[0].place.clone(),
        stands: "in function `fetch`".to_owned(),
        remarks: vec![Remark::new("the file has tests: findings that only tests reach are left aside")],
        findings: vec![finding],
        more_findings: 3,
        function: None,
        sites: sites.to_vec(),
    };
    let lines = [line];
    assert_snapshot!(text(|out| write_explanation(out, &lines, Utf8Path::new("/p"), false)), @r"
    app.py:8 in function `fetch`
      note      the file has tests: findings that only tests reach are left aside
      finding   app.py:11:12: BLT102 blocking network call `requests.Session.get` through `fetch` in async function `handler` can block the event loop for up to 5 s
                error, confidence high; its path passes here
                handler → fetch → load → self.http.get
      unsure    what `store` is, is inferred
      hidden    below the shown levels; `--min-severity note` shows it
                and 3 more findings

    app.py:8:12: call `store.load` in function `fetch`
      receiver  clients.Store
      target    clients.Store.load (call, high) at clients.py:9:16
      belongs   to BLT102 at app.py:11:12

    app.py:4:9: call `Store` in function `fetch`
      argument  timeout = 5
      model     requests.Session.get: network, holds up to 5 s (requests.toml:12)
                unless stream is true: not shown
      silent    no caller is known
    ");
    let json = text(|out| write_explanation_json(out, &lines));
    for fact in ["\"its path passes here\"", "\"no caller is known\"", "\"more_findings\": 3", "\"clients.Store.load\""]
    {
        assert!(json.contains(fact), "{fact}: {json}");
    }
}

#[test]
fn a_released_build_links_the_page_of_a_rule() {
    let example = example();
    let with = RenderInput { pages: Some("https://example.org/blocklint"), ..shown(&example) };
    let url =
        format!("https://example.org/blocklint/blob/v{}/rules/BLT102-blocking-network.md", env!("CARGO_PKG_VERSION"));
    let links = TerminalStyle { styled: true, links: true, ..TerminalStyle::default() };
    let root = Utf8Path::new("/p");
    let run = SarifRun { root, suppressed: &[], complete: true, compares: false };
    let overview = Overview::default();
    let counts = Summary {
        findings: 1,
        causes: 1,
        incomplete: false,
        capped: 0,
        below: 0,
        aside: 0,
        shown_aside: 0,
        must_not_block: None,
        min_severity: Severity::Warning,
        min_confidence: Confidence::Medium,
    };
    let report = HtmlReport { root, overview: &overview, plan: None, summary: &counts };
    let all = |shown: &RenderInput<'_>| {
        [
            ("full", text(|out| write_full(out, shown, links))),
            ("concise", text(|out| write_concise(out, shown, links))),
            ("json", text(|out| write_json(out, shown))),
            ("jsonl", text(|out| write_jsonl(out, shown))),
            ("sarif", text(|out| write_sarif(out, shown, &run).map(|_| ()))),
            ("github", text(|out| write_github(out, shown))),
            ("gitlab", text(|out| write_gitlab(out, shown, root))),
            ("junit", text(|out| write_junit(out, shown))),
            ("rdjson", text(|out| write_rdjson(out, shown))),
            ("html", text(|out| write_html(out, shown, &report))),
        ]
    };
    for (format, out) in all(&with) {
        assert!(out.contains(&url), "{format}: {out}");
    }
    for (format, out) in all(&shown(&example)) {
        assert!(!out.contains("/blob/"), "{format}: {out}");
    }
    // No link is written without `links`.
    assert!(!text(|out| write_full(out, &with, TerminalStyle::default())).contains("example.org"));
    assert!(!text(|out| write_concise(out, &with, TerminalStyle::default())).contains("example.org"));
}
