//! Tests of each format of evidence, with texts as the programs write them.

use super::{Evidence, Frame, Stall, split_place};

fn parse_single(text: &str) -> Stall {
    let mut evidence = Evidence::parse(text).expect("evidence");
    assert_eq!(evidence.stalls.len(), 1, "{evidence:?}");
    evidence.stalls.remove(0)
}

fn frame(path: &str, line: Option<u32>, function: &str) -> Frame {
    Frame { path: path.to_owned(), line, function: function.to_owned() }
}

#[test]
fn split_place_ends_at_the_line_number() {
    assert_eq!(split_place("/a b/x.py:12 cb=[…]"), Some(("/a b/x.py", 12, " cb=[…]")));
    assert_eq!(split_place("C:\\a\\x.py:7>"), Some(("C:\\a\\x.py", 7, ">")));
    assert_eq!(split_place("C:7/a.py:3"), Some(("C:7/a.py", 3, "")));
    for nowhere in ["x.py", ":3", "x.py:", "x.py:0", "x.py:99999999999"] {
        assert_eq!(split_place(nowhere), None, "{nowhere}");
    }
}

#[test]
fn slow_callbacks_name_their_function() {
    let tasks = [
        "Executing <Task finished name='Task-1' coro=<Shop.load() done, defined at /srv/app/shop.py:5> result=None \
         created at /usr/lib/python3.11/asyncio/runners.py:100> took 0.301 seconds",
        "2026-01-01 WARNING:asyncio:Executing <Task pending name='Task-2' coro=<load() running at /srv/app/shop.py:9> \
         wait_for=<Future pending cb=[Task.task_wakeup()] created at /usr/lib/x.py:3> cb=[_x() at /usr/lib/y.py:1]> took 0.301 seconds",
        "Executing <Handle load(1, (2)) at /srv/app/shop.py:5> took 0.301 seconds",
        "Executing <TimerHandle when=17.5 Shop.load() at /srv/app/shop.py:5 created at /srv/app/main.py:3> took 0.301 seconds",
    ];
    for text in tasks {
        let stall = parse_single(text);
        assert_eq!((stall.seconds, stall.times), (Some(0.301), 1), "{text}");
        let [function] = &stall.frames[..] else { panic!("{stall:?}") };
        assert_eq!((&*function.path, function.line), ("/srv/app/shop.py", None), "{text}");
        assert_eq!(blocklint_core::last_name(&function.function), "load", "{text}");
    }
    let nameless =
        parse_single("Executing <Handle <TaskWakeupMethWrapper object at 0x7f>(<Future finis…>)> took 0.2 seconds");
    assert!(nameless.frames.is_empty());
}

#[test]
fn raw_stacks_have_places_and_counts() {
    let text = "process 7:\"python app.py\";thread (0x7F);main (app/main.py:3);load (app/store.py:14) 37\n";
    let expected = vec![frame("app/main.py", Some(3), "main"), frame("app/store.py", Some(14), "load")];
    assert_eq!(parse_single(text), Stall { frames: expected, seconds: None, times: 37, test: None });
}

#[test]
fn errors_of_blockhound_are_reversed_stacks() {
    let plain = "reactor.blockhound.BlockingOperationError: Blocking call! java.lang.Thread.sleep\n\
                 \tat java.base/java.lang.Thread.sleep(Thread.java)\n\tat org.acme.Store.load(Store.java:14)\n\
                 \tat org.acme.Web$Routes.get(Web.java:7)\n2026 INFO next\n\tat not.of.It.at(It.java:1)\n";
    let assembled = plain.replacen(
        "\tat java",
        "\tSuppressed: x.FluxOnAssembly$OnAssemblyException:\nError has been observed at the following \
         site(s):\n\t*__checkpoint ⇢ x\nOriginal Stack Trace:\n\t\tat java",
        1,
    );
    for text in [plain, &assembled] {
        let frames = parse_single(text).frames;
        let expected = [
            frame("org/acme/Web.java", Some(7), "get"),
            frame("org/acme/Store.java", Some(14), "load"),
            frame("java/lang/Thread.java", None, "sleep"),
        ];
        assert_eq!(frames, expected, "{text}");
    }
}

#[test]
fn recorded_stalls_share_their_time() {
    let stall = |seconds: &str| {
        format!(
            r#"{{"blocklint_evidence": 1, "more": 2, "stalls": [{{"seconds": {seconds}, "test": "t::a", "samples": [
            {{"seconds": 0.5, "stack": [{{"file": "a.py", "line": 3, "function": "f\u001b[2J"}}]}}]}}]}}"#
        )
    };
    let read = parse_single(&stall("1.5"));
    assert_eq!((read.seconds, read.test.as_deref()), (Some(0.5), Some("t::a")));
    assert_eq!(read.frames, [frame("a.py", Some(3), "f[2J")], "a name moves no cursor");
    assert!(Evidence::parse(&stall("-1")).is_err_and(|why| why.contains("`stalls[0]`")));
}

#[test]
fn errors_begin_with_their_place() {
    for (text, why) in [
        ("{\"blocklint_evidence\": 1,\n \"stalls\": 3}", "2:12: invalid type: integer `3`, expected a sequence"),
        ("{\"blocklint_evidence\": 9, \"stalls\": []}", " evidence of form 9"),
        ("{\"stalls\": [", "1:12: EOF"),
        ("hello\nworld", "1:1: this is no evidence"),
    ] {
        let error = Evidence::parse(text).expect_err(text);
        assert!(error.starts_with(why), "{error}");
    }
    assert!(Evidence::parse("\n").is_ok_and(|evidence| evidence.stalls.is_empty()));
    let deep = format!("{{\"blocklint_evidence\": 1, \"stalls\": {}", "[".repeat(200_000));
    assert!(Evidence::parse(&deep).is_err(), "depth is bounded");
}
