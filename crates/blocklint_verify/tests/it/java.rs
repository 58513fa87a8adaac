//! Tests of the check of Java models, against small class files that the tests write.

use std::fs;

use blocklint_models::{File, Origin, read_file};
use blocklint_verify::{ExtractedLibrary, LibrarySources, VerifyReport, verify};
use camino::Utf8PathBuf;

const PUBLIC: u16 = 0x0001;
const PROTECTED: u16 = 0x0004;
const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const VARARGS: u16 = 0x0080;
const INTERFACE: u16 = 0x0200;
const ABSTRACT: u16 = 0x0400;
const SYNTHETIC: u16 = 0x1000;
const ANNOTATION: u16 = 0x2000;

/// A class as a compiler writes it: internal names, and methods as flags, name and descriptor.
struct Class<'c> {
    name: &'c str,
    flags: u16,
    parent: &'c str,
    interfaces: &'c [&'c str],
    fields: &'c [&'c str],
    methods: &'c [(u16, &'c str, &'c str)],
}

const CLASS: Class<'_> =
    Class { name: "", flags: PUBLIC, parent: "java/lang/Object", interfaces: &[], fields: &[], methods: &[] };

/// Returns the bytes of a class file (chapter 4 of the JVM's specification).
fn class_bytes(class: &Class<'_>) -> Vec<u8> {
    // The first constant is a `long`, which takes two entries of the pool.
    let mut pool: Vec<u8> = [&[5][..], &[0; 8]].concat();
    let mut count = 3u16;
    let mut text = |pool: &mut Vec<u8>, text: &str| {
        pool.push(1);
        pool.extend(u16::try_from(text.len()).expect("short").to_be_bytes());
        pool.extend(text.as_bytes());
        count += 1;
        count - 1
    };
    let names: Vec<u16> =
        [class.name, class.parent].iter().chain(class.interfaces).map(|name| text(&mut pool, name)).collect();
    let fields: Vec<u16> = class.fields.iter().map(|name| text(&mut pool, name)).collect();
    let descriptor = text(&mut pool, "I");
    let methods: Vec<[u16; 3]> = class
        .methods
        .iter()
        .map(|(flags, name, descriptor)| [*flags, text(&mut pool, name), text(&mut pool, descriptor)])
        .collect();
    let code = text(&mut pool, "Code");
    let nested = text(&mut pool, "InnerClasses");
    let classes: Vec<u16> = names
        .iter()
        .map(|name| {
            pool.push(7);
            pool.extend(name.to_be_bytes());
            count += 1;
            count - 1
        })
        .collect();
    let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 65];
    out.extend(count.to_be_bytes());
    out.extend(pool);
    let put = |out: &mut Vec<u8>, numbers: &[u16]| numbers.iter().for_each(|number| out.extend(number.to_be_bytes()));
    // The flags of a class file have no `protected`; the attribute `InnerClasses` has it.
    put(&mut out, &[class.flags & !PROTECTED, classes[0], classes[1], u16::try_from(classes.len() - 2).expect("few")]);
    put(&mut out, &classes[2..]);
    put(&mut out, &[u16::try_from(fields.len()).expect("few")]);
    fields.iter().for_each(|name| put(&mut out, &[PUBLIC, *name, descriptor, 0]));
    put(&mut out, &[u16::try_from(methods.len()).expect("few")]);
    for method in &methods {
        put(&mut out, &[method[0], method[1], method[2], 1, code, 0, 3]);
        out.extend([1, 2, 3]);
    }
    put(&mut out, &[1, nested, 0, 10, 1, classes[0], 0, names[0], class.flags]);
    out
}

fn library() -> Vec<Class<'static>> {
    vec![
        Class {
            name: "acme/Client",
            parent: "acme/Base",
            fields: &["limit"],
            methods: &[
                (PUBLIC, "<init>", "(Ljava/lang/String;)V"),
                (PUBLIC, "get", "(Ljava/lang/String;J)Ljava/lang/String;"),
                (PUBLIC, "get", "(Ljava/net/URI;)[B"),
                (PUBLIC, "send", "(Ljava/net/URI;)V"),
                (PUBLIC, "send", "([B)V"),
                (PUBLIC, "getAsync", "(Ljava/lang/String;)Ljava/util/concurrent/CompletableFuture;"),
                (PUBLIC | VARARGS, "del", "([Ljava/lang/String;)I"),
                (PUBLIC, "each", "(Ljava/lang/String;Lacme/Listener;)V"),
                (PUBLIC | STATIC, "open", "()Lacme/Client;"),
                (PUBLIC | SYNTHETIC, "bridge", "()V"),
                (0, "hidden", "()V"),
            ],
            ..CLASS
        },
        Class {
            name: "acme/Base",
            flags: PUBLIC | ABSTRACT,
            interfaces: &["java/lang/AutoCloseable"],
            methods: &[
                (PUBLIC, "close", "()V"),
                (PROTECTED, "onMessage", "(Ljava/lang/String;)V"),
                (PUBLIC, "toString", "()Ljava/lang/String;"),
            ],
            ..CLASS
        },
        Class {
            name: "acme/Listener",
            flags: PUBLIC | INTERFACE | ABSTRACT,
            methods: &[
                (PUBLIC | ABSTRACT, "on", "(Ljava/lang/String;)V"),
                (PUBLIC, "andThen", "(Lacme/Listener;)Lacme/Listener;"),
            ],
            ..CLASS
        },
        Class { name: "acme/Client$Options", flags: PUBLIC | FINAL | STATIC, ..CLASS },
        Class { name: "acme/Polled", flags: PUBLIC | INTERFACE | ABSTRACT | ANNOTATION, ..CLASS },
        Class {
            name: "acme/api/AClient",
            methods: &[(PUBLIC, "load", "()V"), (PUBLIC, "loadAsync", "()Lacme/api/Job;")],
            ..CLASS
        },
        Class { name: "acme/api/Job", interfaces: &["java/util/concurrent/Future"], ..CLASS },
        Class { name: "acme/api/Inner", flags: 0, ..CLASS },
    ]
}

fn platform() -> Vec<Class<'static>> {
    let object = [(PUBLIC, "toString", "()Ljava/lang/String;"), (PROTECTED, "clone", "()Ljava/lang/Object;")];
    vec![
        Class { name: "java/lang/Object", parent: "", methods: Box::leak(Box::new(object)), ..CLASS },
        Class { name: "java/lang/String", flags: PUBLIC | FINAL, ..CLASS },
        Class { name: "java/lang/AutoCloseable", flags: PUBLIC | INTERFACE | ABSTRACT, ..CLASS },
        Class { name: "java/util/concurrent/CompletableFuture", interfaces: &["java/util/concurrent/Future"], ..CLASS },
        Class { name: "java/util/concurrent/Future", flags: PUBLIC | INTERFACE | ABSTRACT, ..CLASS },
    ]
}

fn model(rows: &str) -> File {
    let text = format!("schema = 1\nlanguage = \"java\"\nlibrary = \"com.acme:acme\"\nroots = [\"acme\"]\n{rows}");
    let (file, errors) = read_file("acme.toml", &text, Origin::User);
    assert_eq!(errors, []);
    file.expect("a model")
}

fn write(folder: &Utf8PathBuf, classes: &[Class<'_>]) {
    for class in classes {
        let file = folder.join(format!("{}.class", class.name));
        fs::create_dir_all(file.parent().expect("a package")).expect("made");
        fs::write(file, class_bytes(class)).expect("written");
    }
}

fn report(rows: &str) -> VerifyReport {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
    let [new, old, jdk] = ["new", "old", "jdk"].map(|name| root.join(name));
    write(&new, &library());
    fs::write(new.join("acme/Broken.class"), b"\xCA\xFE\xBA\xBE").expect("written");
    write(&old, &[Class { name: "acme/Gone", methods: &[(PUBLIC, "run", "()V")], ..CLASS }]);
    // The classes of the platform are in a folder for each module.
    write(&jdk.join("java.base"), &platform());
    fs::write(jdk.join("java.base/module-info.class"), []).expect("written");
    let library_of = |version: &str, folder| ExtractedLibrary { version: version.to_owned(), folders: vec![folder] };
    let sources = LibrarySources {
        versions: vec![library_of("2.0", new)],
        older: vec![library_of("1.0", old)],
        with: Vec::new(),
        standard: Some(jdk),
    };
    verify(&model(rows), &sources)
}

/// Returns the mistakes of these rows, without their lines.
fn problems(rows: &str) -> Vec<String> {
    report(rows).problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

fn call(path: &str, more: &str) -> Vec<String> {
    problems(&format!("[[call]]\npath = \"{path}\"\n{more}\n"))
}

#[test]
fn names_are_members_of_classes_and_their_bases() {
    let file = "effect = \"file\"";
    for path in
        ["acme.Client", "acme.Client.{get,close,open,del}", "acme.Client(java.lang.String)", "acme.Client(String)"]
    {
        assert_eq!(call(path, file), [] as [&str; 0], "{path}");
    }
    assert_eq!(call("acme.Client.put", file), ["acme.Client.put: `acme.Client` has no `put`"]);
    assert_eq!(call("acme.Client.{bridge,hidden}", file).len(), 2);
    assert_eq!(call("acme.Cleint.get", file), ["acme.Cleint.get: package `acme` has no `Cleint`"]);
    assert_eq!(call("acme.web.Client.get", file), ["acme.web.Client.get: package `acme` has no `web`"]);
    assert_eq!(call("acme.api.Inner", file), ["acme.api.Inner: has no constructor that others can call"]);
    assert_eq!(call("acme.Broken.x", file), ["acme.Broken.x: package `acme` has no `Broken`"]);
}

#[test]
fn parameter_lists_select_overloads() {
    let file = "effect = \"file\"";
    assert_eq!(call("acme.Client.get(_,long)", file), [] as [&str; 0]);
    // If the type of an argument is unknown, the analysis would use this row for the other overload too.
    let single_overload = call("acme.Client.send(URI)", file);
    assert_eq!(single_overload, ["acme.Client.send(URI): is taken for (byte[]), of which no row speaks"]);
    let both = "[[call]]\npath = \"acme.Client.send(URI)\"\neffect = \"file\"\n[[call]]\npath = \"acme.Client.send(_)\"\neffect = \"none\"\n";
    assert_eq!(problems(both), [] as [&str; 0]);
    assert_eq!(
        call("acme.Client.send", "effect = \"file\"\nwhen = { argument = 0, type = \"java.net.URI\" }"),
        [] as [&str; 0]
    );
    assert_eq!(call("acme.Client.get(URI)", file), [] as [&str; 0]);
    assert_eq!(call("acme.Client.del(String...)", file), [] as [&str; 0]);
    assert_eq!(
        call("acme.Client.get(int)", file),
        ["acme.Client.get(int): no overload has these parameters; there are (java.lang.String,long) (java.net.URI)"]
    );
    assert_eq!(call("acme.Client.get", "effect = \"file\"\ntimeout = 1"), [] as [&str; 0]);
    assert_eq!(call("acme.Client.get", "effect = \"file\"\ntimeout = 2"), ["acme.Client.get: has no argument 2"]);
    assert_eq!(call("acme.Client.get(URI)", "effect = \"file\"\ntimeout = 1").len(), 1);
    assert_eq!(call("acme.Client.del", "effect = \"file\"\nwhen = { argument = 5, literal = true }"), [] as [&str; 0]);
}

#[test]
fn results_of_calls_agree_with_their_descriptors() {
    assert_eq!(call("acme.Client.getAsync", "async = true"), [] as [&str; 0]);
    assert_eq!(
        call("acme.Client.get", "async = true"),
        ["acme.Client.get: gives `java.lang.String`, which is nothing to wait for"]
    );
    assert_eq!(
        call("acme.Client.getAsync", "effect = \"network\""),
        ["acme.Client.getAsync: gives `java.util.concurrent.CompletableFuture`, work to wait for: say `async = true`"]
    );
    assert_eq!(call("acme.Client.open", "returns = \"Self\""), [] as [&str; 0]);
    assert_eq!(call("acme.Client.open", "returns = \"acme.Base\""), [] as [&str; 0]);
    assert_eq!(
        call("acme.Client.open", "returns = \"acme.api.Job\""),
        ["acme.Client.open: gives `acme.Client`, not `acme.api.Job`"]
    );
    assert_eq!(
        call("acme.Client.open", "returns = \"acme.api.Jobs\""),
        ["acme.Client.open: `acme.api.Jobs` in `returns` does not exist"]
    );
    let twin = |name: &str| call("acme.Client.get", &format!("effect = \"network\"\ninstead = \"acme.Client.{name}\""));
    assert_eq!(twin("*Async"), [] as [&str; 0]);
    assert_eq!(twin("*Later"), ["acme.Client.get: twin `acme.Client.getLater` does not exist"]);
}

#[test]
fn globs_cover_visible_methods_without_those_of_object() {
    let whole = report(
        "[[call]]\npath = \"acme.Client.*\"\neffect = \"network\"\n[[call]]\npath = \"acme.Client.*Async\"\nasync = true\n",
    );
    assert_eq!(whole.problems, []);
    let names = ["close", "del", "each", "get", "getAsync", "onMessage", "open", "send"]
        .map(|name| format!("acme.Client.{name}"));
    assert_eq!(whole.expansions[0].1, names);
    assert_eq!(
        call("acme.Client.*", "effect = \"network\""),
        ["acme.Client.*: covers `acme.Client.getAsync`, which gives work to wait for"]
    );
    let services = report("[[call]]\npath = \"acme.*.*Client.load\"\neffect = \"network\"\n");
    assert_eq!((services.problems, &*services.expansions[0].1), (vec![], &["acme.api.AClient.load".to_owned()][..]));
    assert_eq!(call("acme.Client.put*", "effect = \"file\""), ["acme.Client.put*: matches nothing"]);
}

#[test]
fn types_derive_from_their_bases_and_have_their_members() {
    let ty = |path: &str, more: &str| problems(&format!("[[type]]\npath = \"{path}\"\n{more}\n"));
    assert_eq!(
        ty("acme.Client", "bases = [\"acme.Base\", \"java.lang.AutoCloseable\"]\nfields = { limit = \"acme.Base\" }"),
        [] as [&str; 0]
    );
    assert_eq!(ty("acme.Client", "bases = [\"acme.Listener\"]"), ["acme.Client: does not derive from `acme.Listener`"]);
    assert_eq!(ty("acme.Client", "fields = { size = \"acme.Base\" }"), ["acme.Client: has no field `size`"]);
    assert_eq!(ty("acme.Listener", "functional = \"on\""), [] as [&str; 0]);
    assert_eq!(
        ty("acme.Listener", "functional = \"andThen\""),
        ["acme.Listener: its method `andThen` is not abstract"]
    );
    assert_eq!(ty("acme.Client.Options", "role = \"guard\""), [] as [&str; 0]);
    assert_eq!(ty("acme.Client.Option", "role = \"guard\""), ["acme.Client.Option: `acme.Client` has no `Option`"]);
}

#[test]
fn the_type_of_a_callback_can_be_implemented() {
    let row =
        |path: &str, more: &str| problems(&format!("[[handover]]\npath = \"{path}\"\ncontext = \"worker\"\n{more}\n"));
    assert_eq!(row("acme.Client.each", "argument = 1"), [] as [&str; 0]);
    assert_eq!(row("acme.Client.each", "argument = -1"), [] as [&str; 0]);
    assert_eq!(
        row("acme.Client.each", "argument = 0"),
        ["acme.Client.each: argument 0 is `java.lang.String`, which no class implements"]
    );
    assert_eq!(row("acme.Base.onMessage", "via = \"override\""), [] as [&str; 0]);
    assert_eq!(row("acme.Client.open", "via = \"override\""), ["acme.Client.open: cannot be overridden"]);
    assert_eq!(row("acme.Polled", "via = \"decorator\""), [] as [&str; 0]);
    assert_eq!(row("acme.Base", "via = \"decorator\""), ["acme.Base: is no annotation"]);
}

#[test]
fn removed_names_are_found_in_older_versions() {
    let rows = "[[call]]\npath = \"acme.Gone.{run,stop}\"\neffect = \"wait\"\n";
    let unversioned = report(rows);
    assert_eq!(unversioned.gone, [("acme.Gone.run".to_owned(), "1.0".to_owned())]);
    assert_eq!(unversioned.problems.len(), 1);
    // A row with a version range is only checked against a version in that range.
    let versioned = report(&format!("{rows}version = \">=3\"\n"));
    assert_eq!((versioned.gone.len(), versioned.needs), (0, vec![">=3".to_owned()]));
}

#[test]
fn one_side_of_an_alias_exists() {
    let alias = |left: &str, right: &str| problems(&format!("[alias]\n\"{left}\" = \"{right}\"\n"));
    assert_eq!(alias("acme.Client", "acme.Base"), [] as [&str; 0]);
    assert_eq!(alias("acme.Older", "acme.Base"), [] as [&str; 0]);
    assert_eq!(alias("javax.acme", "acme.api"), [] as [&str; 0]);
    assert_eq!(alias("acme.Older", "acme.Bass"), ["acme.Older: neither it nor `acme.Bass` exists"]);
}
