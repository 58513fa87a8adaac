//! Tests of lookups: the rows that describe a path, and their precedence.

use blocklint_core::{Effect, Language, Runtime};
use blocklint_models::{
    Argument, CallRows, Layer, LayerKind, Models, RowEffect, Runs, TypeExpr, Uses, Version, Versions, Via,
    check_builtin_files, check_user_files, compile, expand_twin, read_file,
};

const PYTHON: &str = "schema = 1\nlanguage = \"python\"\nlibrary = \"acme\"\ndocs = \"d\"\n";
const RUST: &str = "schema = 1\nlanguage = \"rust\"\nlibrary = \"std\"\nroots = [\"std\", \"core\"]\ndocs = \"d\"\n";
const JAVA: &str = "schema = 1\nlanguage = \"java\"\nlibrary = \"org:acme\"\nroots = [\"acme\"]\ndocs = \"d\"\n";

/// Returns the models of one built-in file, without others.
fn models(header: &str, rows: &str) -> Models {
    let text = format!("{header}{rows}");
    let files = check_builtin_files([("acme.toml", text.as_str())]).expect("no errors");
    Models::only(&files).expect("compiles")
}

fn paths(rows: &CallRows<'_>) -> Vec<String> {
    rows.iter().map(|found| found.path.to_owned()).collect()
}

#[test]
fn the_more_specific_path_hides_the_rest_for_its_key() {
    let models = models(
        PYTHON,
        r#"[[call]]
path = "acme.**"
effect = "none"
[[call]]
path = "acme.Client.*"
effect = "network"
returns = "acme.Response"
[[call]]
path = "acme.Client.get_*"
effect = "database"
[[call]]
path = "acme.Client.get_file"
unless = { argument = 0, absent = true }
effect = "file"
note = "first"
[[call]]
path = "acme.Client.get_file"
effect = "cpu"
thread = "frees"
"#,
    );
    let lang = models.lang(Language::Python);
    let effects = |path: &str| -> Vec<Option<RowEffect>> { lang.calls(path).effect().map(|row| row.effect).collect() };
    let holds = |effect| Some(RowEffect::Holds(effect));
    assert_eq!(effects("acme.Client.get_file"), [holds(Effect::File), holds(Effect::Cpu)], "in file order");
    assert_eq!(effects("acme.Client.get_all"), [holds(Effect::Database)], "more literal characters");
    assert_eq!(effects("acme.Client.put"), [holds(Effect::Network)]);
    assert_eq!(effects("acme.other.thing"), [Some(RowEffect::Harmless)]);
    assert_eq!(effects("other.thing"), []);
    // The most specific row with another key decides that key.
    let rows = lang.calls("acme.Client.get_file");
    assert_eq!(rows.with(|row| row.returns.is_some()).map(|row| row.path).collect::<Vec<_>>(), ["acme.Client.*"]);
    assert_eq!(
        paths(&rows),
        ["acme.Client.get_file", "acme.Client.get_file", "acme.Client.get_*", "acme.Client.*", "acme.**"]
    );
    assert_eq!(rows.iter().next().map(|row| row.origin()), Some(("acme.toml", 16)));
}

#[test]
fn globs_match_no_private_names_types_and_properties() {
    let models = models(
        PYTHON,
        r#"[[call]]
path = "acme.*"
effect = "network"
[[call]]
path = "acme.Client.status"
property = true
effect = "network"
[[call]]
path = "acme.deep.**"
effect = "file"
[[call]]
path = "acme.deep.Type.method"
effect = "none"
"#,
    );
    let lang = models.lang(Language::Python);
    assert!(!lang.calls("acme.get").is_empty());
    assert!(lang.calls("acme._get").is_empty(), "no name with a leading underscore");
    assert!(lang.calls("acme.Client").is_empty(), "a row describes a member of it, so it is a type");
    assert!(!lang.calls("acme.deep.Type").is_empty(), "unless by `**`");
    assert!(lang.calls("acme.Client.status").is_empty(), "a property is no call");
    assert_eq!(paths(&lang.properties("acme.Client.status")), ["acme.Client.status"]);
    assert!(lang.properties("acme.get").is_empty(), "globs match calls only");
}

#[test]
fn type_distance_comes_before_the_path_and_the_layer_before_both() {
    let builtin = format!(
        "{PYTHON}[[call]]\npath = \"acme.Own.*\"\neffect = \"network\"\n[[call]]\npath = \"acme.Base.get\"\neffect = \"file\"\nreturns = \"acme.Own\"\n"
    );
    let files = check_builtin_files([("acme.toml", builtin.as_str())]).expect("no errors");
    let lang_of = Models::only(&files).expect("compiles");
    let lang = lang_of.lang(Language::Python);
    let rows = lang.calls_in_types(&["acme.Own.get", "acme.Base.get"], &blocklint_models::Unversioned);
    assert_eq!(rows.effect().map(|row| (row.path, row.distance)).collect::<Vec<_>>(), [("acme.Own.*", 0)]);
    assert_eq!(rows.with(|row| row.returns.is_some()).map(|row| row.distance).collect::<Vec<_>>(), [1]);
}

#[test]
fn user_rows_take_precedence_and_describe_project_names() {
    let user = "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"app.db.Store.*\"\neffect = \"database\"\ninstead = \"app.db.AsyncStore.*\"\n";
    let files = check_user_files([("blocking.toml", user)]).expect("no errors");
    let models = Models::with_user(&files).expect("compiles");
    let lang = models.lang(Language::Python);
    let rows = lang.calls("app.db.Store.load").user_only();
    let found: Vec<_> = rows.effect().collect();
    assert_eq!(found.len(), 1);
    let row = found[0];
    assert_eq!((row.layer, row.origin(), row.library()), (LayerKind::User, ("blocking.toml", 4), ""));
    let twins = row.instead.as_ref().map(|instead| instead.for_runtime(Some(Runtime::Asyncio)).to_vec());
    let twins: Vec<_> =
        twins.iter().flatten().map(|twin| expand_twin(twin, row.path, "app.db.Store.load", Language::Python)).collect();
    assert_eq!(twins, ["app.db.AsyncStore.load"]);
    assert_eq!(lang.call(row.id).map(|found| found.path), Some("app.db.Store.*"));
    assert!(lang.is_root("app") && lang.is_type("app.db.Store") && lang.knows_prefix("app.db"));
}

#[test]
fn aliases_are_replaced_by_the_spelling_of_rows() {
    let models = models(
        PYTHON,
        r#"[alias]
"acme.Client" = "acme.client.Client"
"acme.client" = "acme._client"
"acme.types" = "acme._types"
"acme.types.Special" = "acme.special.Special"
[[call]]
path = "acme._client.Client.get"
effect = "network"
"#,
    );
    let lang = models.lang(Language::Python);
    assert_eq!(lang.canonical("acme.Client.get"), "acme._client.Client.get", "again until none does");
    assert_eq!(lang.canonical("acme.types.Special.x"), "acme.special.Special.x", "the longest");
    assert_eq!(lang.canonical("acme.types.Other"), "acme._types.Other");
    assert_eq!(lang.canonical("acme.Clients"), "acme.Clients", "whole segments");
    assert_eq!(lang.canonical("other.Client"), "other.Client");
    let mut names: Vec<_> = lang.aliases_in("acme").collect();
    names.sort();
    assert_eq!(names, [("Client", "acme.client.Client"), ("client", "acme._client"), ("types", "acme._types")]);
    assert!(lang.knows_prefix("acme.types") && lang.knows_prefix("acme") && !lang.knows_prefix("acme.ty"));
}

#[test]
fn rust_traits_and_macros_have_rows() {
    let models = models(
        RUST,
        r#"[alias]
"core::ops::Drop" = "std::ops::Drop"
[[call]]
path = "<std::fs::File as std::io::Read>::read"
effect = "file"
[[call]]
path = "std::io::Read::read"
effect = "none"
[[call]]
path = "std::println!"
effect = "file"
severity = "note"
[[call]]
path = "<std::Runtime as std::ops::Drop>::drop"
effect = "wait"
"#,
    );
    let lang = models.lang(Language::Rust);
    let rows = lang.calls_in_types(&["std::fs::File::read", "std::io::Read::read"], &blocklint_models::Unversioned);
    assert_eq!(
        rows.effect().map(|row| row.path).collect::<Vec<_>>(),
        ["<std::fs::File as std::io::Read>::read"],
        "the implementor's own row is nearer than the trait's"
    );
    assert_eq!(lang.canonical("<std::Runtime as core::ops::Drop>::drop"), "<std::Runtime as std::ops::Drop>::drop");
    assert!(!lang.calls("<std::Runtime as std::ops::Drop>::drop").is_empty());
    assert!(lang.is_type("std::fs::File") && lang.is_type("std::Runtime"));
    let names: Vec<_> = lang.effect_names().map(|name| name.name).collect();
    assert_eq!(names, ["drop", "println!", "read"]);
    let read = lang.effect_names().find(|name| name.name == "read").expect("a name");
    let paths: Vec<_> = read.paths(Uses::EFFECT).map(|path| path.path).collect();
    assert_eq!(paths, ["<std::fs::File as std::io::Read>::read"], "once, and not the harmless one");
}

#[test]
fn java_overloads_fit_their_parameters() {
    let models = models(
        JAVA,
        r#"[[call]]
path = "acme.Reader.read()"
effect = "file"
[[call]]
path = "acme.Reader.read(java.io.File)"
effect = "database"
[[call]]
path = "acme.Reader.read(String)"
effect = "none"
[[call]]
path = "acme.Reader.read"
effect = "network"
[[call]]
path = "acme.Reader.skip(_)"
effect = "file"
"#,
    );
    let lang = models.lang(Language::Java);
    let is_a = |argument: &str, parameter: &str| argument == parameter || argument.ends_with(&format!(".{parameter}"));
    let fitting = |method: &str, arguments: &[Option<&str>]| -> Vec<String> {
        let mut rows = lang.calls(&format!("acme.Reader.{method}"));
        rows.fit_parameters(arguments, is_a);
        rows.effect().map(|row| row.path.to_owned()).collect()
    };
    assert_eq!(fitting("read", &[]), ["acme.Reader.read()"]);
    assert_eq!(fitting("read", &[Some("java.io.File")]), ["acme.Reader.read(java.io.File)"]);
    assert_eq!(fitting("read", &[Some("java.lang.String")]), ["acme.Reader.read(String)"], "simple names too");
    assert_eq!(fitting("read", &[None]), ["acme.Reader.read"], "unknown, and another overload has a row");
    assert_eq!(fitting("read", &[None, None]), ["acme.Reader.read"]);
    assert_eq!(fitting("skip", &[None]), ["acme.Reader.skip(_)"]);
    assert_eq!(fitting("skip", &[]), [""; 0]);
}

#[test]
fn handovers_are_decided_per_argument_and_via() {
    let models = models(
        PYTHON,
        r#"[[handover]]
path = "acme.Pool.*"
argument = "*"
context = "caller"
[[handover]]
path = "acme.Pool.submit"
argument = "fn@0"
when = { argument = "receiver", type = "acme.Processes" }
context = "worker"
process = true
[[handover]]
path = "acme.Pool.submit"
argument = "fn@0"
context = "worker"
[[handover]]
path = "acme.Handler.get"
via = "override"
context = "caller"
during = ["acme.Reader.{parse,feed}"]
"#,
    );
    let lang = models.lang(Language::Python);
    let rows = lang.handovers("acme.Pool.submit");
    let groups: Vec<Vec<_>> = rows.groups().iter().map(|group| group.iter().map(|row| row.path).collect()).collect();
    assert_eq!(groups, [vec!["acme.Pool.submit", "acme.Pool.submit"], vec!["acme.Pool.*"]]);
    let first = Argument::Either("fn".to_owned(), 0);
    assert_eq!(rows.rows_of_argument(&first).map(|row| row.process).collect::<Vec<_>>(), [true, false]);
    assert_eq!(lang.handovers("acme.Handler.get").rows_of_via(Via::Override).count(), 1);
    assert_eq!(lang.override_names().map(|name| name.name).collect::<Vec<_>>(), ["get"]);
    assert_eq!(lang.names(Uses::DURING).map(|name| name.name).collect::<Vec<_>>(), ["feed", "parse"]);
    assert_eq!(lang.handover_names().map(|name| name.name).collect::<Vec<_>>(), ["submit"]);
    assert_eq!(
        lang.glob_names(Uses::HANDOVER).map(|glob| (glob.prefix, glob.pattern)).collect::<Vec<_>>(),
        [("acme.Pool", "*")]
    );
}

#[test]
fn type_rows_describe_their_values() {
    let models = models(
        PYTHON,
        r#"[[type]]
path = "acme.{Box,Cell}"
params = ["K", "T"]
through = "T"
bases = ["acme.Base[T]"]
fields = { inner = "T", meta = "acme.Meta" }
tags = ["wrapper"]
[[type]]
path = "acme.Box"
element = "T"
scheduler = "caller"
[[call]]
path = "acme.Client.<stream>.__enter__"
returns = "Self"
"#,
    );
    let lang = models.lang(Language::Python);
    let rows = lang.ty("acme.Box").expect("a type");
    assert_eq!(rows.params(), ["K", "T"]);
    assert_eq!(rows.through(), Some(1));
    assert_eq!(rows.field("meta").and_then(TypeExpr::path), Some("acme.Meta"));
    assert_eq!(rows.element(), Some(&TypeExpr::Parameter("T".to_owned())), "from the second row");
    assert_eq!(rows.scheduler(), Some(Runs::Caller));
    assert!(rows.has_tag("wrapper") && !rows.has_tag("other"));
    assert_eq!(lang.bases("acme.Cell").iter().filter_map(TypeExpr::path).collect::<Vec<_>>(), ["acme.Base"]);
    assert!(lang.ty("acme.Client").is_none() && lang.is_type("acme.Client"), "home of a synthetic type");
    assert!(lang.is_type("acme.Client.<stream>") && !lang.is_type("acme.Meta"));
}

struct Pinned(&'static str, &'static str);

impl Versions for Pinned {
    fn version(&self, library: &str) -> Option<Version> {
        if library == self.0 { Version::parse(self.1) } else { None }
    }
}

#[test]
fn rows_hold_only_for_their_versions() {
    let models = models(
        PYTHON,
        r#"version = ">=1"
[[call]]
path = "acme.get"
version = "<2"
effect = "network"
[[call]]
path = "acme.get"
effect = "file"
"#,
    );
    let lang = models.lang(Language::Python);
    let effects = |version| -> Vec<_> {
        lang.calls_in_types(&["acme.get"], &Pinned("acme", version)).effect().map(|row| row.held_effect()).collect()
    };
    assert_eq!(effects("1.5"), [Some(Effect::Network), Some(Effect::File)]);
    assert_eq!(effects("2.0"), [Some(Effect::File)]);
    assert_eq!(effects("0.9"), []);
    assert_eq!(lang.calls("acme.get").effect().map(|row| row.held_effect()).collect::<Vec<_>>(), [Some(Effect::File)]);
}

#[test]
fn names_are_found_by_the_uses_of_their_rows() {
    let models = models(
        PYTHON,
        r#"[[switch]]
name = "patched"
call = ["acme.patch_all"]
context = "greenlet"
[[call]]
path = "acme.{run,run_all}"
effect = "nested-loop"
[[call]]
path = "acme.Client"
effect = "network"
[[call]]
path = "acme.scan"
lazy = true
[[call]]
path = "acme.Mapper"
via = "decorator"
effect = "database"
[[call]]
path = "acme.Client.get_*"
effect = "network"
[[call]]
path = "acme.Client.harmless"
effect = "none"
[[handover]]
path = "acme.route"
via = "decorator"
context = "event-loop"
"#,
    );
    let lang = models.lang(Language::Python);
    let names = |uses| lang.names(uses).map(|name| name.name).collect::<Vec<_>>();
    assert_eq!(names(Uses::EFFECT), ["Client", "Mapper", "run", "run_all"]);
    assert_eq!(names(Uses::NESTED_LOOP), ["run", "run_all"]);
    assert_eq!(names(Uses::LAZY), ["scan"]);
    assert_eq!(names(Uses::MARKS), ["Mapper"]);
    assert_eq!(names(Uses::DECORATOR), ["route"]);
    assert_eq!(names(Uses::SWITCH), ["patch_all"]);
    assert!(lang.name_uses("run").intersects(Uses::NESTED_LOOP) && !lang.name_uses("nope").intersects(Uses::EFFECT));
    let globs: Vec<_> = lang.glob_name_patterns().map(|glob| (glob.prefix, glob.pattern, glob.path.path)).collect();
    assert_eq!(globs, [("acme.Client", "get_*", "acme.Client.get_*")]);
    assert_eq!(
        lang.switches().map(|(switch, file)| (&*switch.name, &*file.label)).collect::<Vec<_>>(),
        [("patched", "acme.toml")]
    );
    assert_eq!(lang.marks("acme.Mapper").effect().count(), 1);
    assert!(lang.calls("acme.Mapper").is_empty(), "a row with `via` describes no call of the annotation");
}

#[test]
fn a_table_is_read_unchanged_from_its_bytes() {
    let text = format!(
        "{PYTHON}{}",
        r##"[alias]
"acme.C" = "acme.Client"
[[call]]
path = "acme.Client.{get,put}"
when = [{ argument = "mode@1", contains = "b" }, { argument = -1, greater = 0.5 }, { argument = 0, type = ["#t", "acme.T[$0]"] }]
unless = [{ library = "acme", version = ">=2", feature = "x" }, { runtime = "trio" }, { context = ["worker", "greenlet"] }]
effect = "network"
native = true
timeout = "timeout"
unit = "ms"
fails = "deadlocks"
severity = "warning"
instead = { asyncio = ["acme.aget", "acme.bget"], trio = "acme.tget" }
rewrite = { asyncio = "await {acme.aget}({args})" }
note = "n"
[[type]]
path = "acme.T"
tags = ["t"]
role = "pool"
[[handover]]
path = "acme.run"
argument = "receiver"
context = { of = 1 }
gives = ["acme.T", "(acme.T, None)"]
"##
    );
    let (file, errors) = read_file("acme.toml", &text, blocklint_models::Origin::BuiltIn);
    assert_eq!(errors, []);
    let files = [file.expect("a file")];
    let layer = compile(&files, Language::Python).expect("compiles");
    let bytes: &'static [u8] = Vec::leak(layer.to_bytes().expect("encodes"));
    let back = Layer::from_bytes(bytes).expect("decodes");
    assert_eq!(back.row_count(), 3);
    assert_eq!(back.call(0), Some(&files[0].calls[0].row));
    assert_eq!(back.ty(0), Some(&files[0].types[0].row));
    assert_eq!(back.handover(0), Some(&files[0].handovers[0].row));
    assert_eq!(back.files(), [files[0].info.clone()]);
    assert_eq!(back.alias("acme.C"), Some("acme.Client"));
    assert_eq!(back.tags(), ["t"]);
    assert_eq!(back.call(1), None);
    assert!(Layer::from_bytes(&bytes[..bytes.len() / 2]).is_err(), "half of a table is no table");
}

#[test]
fn built_in_tables_can_be_decoded() {
    let models = Models::builtin();
    for language in Language::ALL {
        for (kind, layer) in models.lang(*language).layers() {
            assert_eq!(kind, LayerKind::BuiltIn);
            assert_eq!(layer.language(), *language);
            let all = layer.files().iter().map(|file| file.label.as_str()).collect::<Vec<_>>();
            assert!(all.iter().all(|label| label.starts_with("rules/models/")), "{all:?}");
            let patterns: Vec<_> = (0..).map_while(|index| layer.pattern(index)).collect();
            for pattern in &patterns {
                let decodes = match pattern.kind {
                    blocklint_models::Kind::Call => layer.call(pattern.row).is_some(),
                    blocklint_models::Kind::Type => layer.ty(pattern.row).is_some(),
                    blocklint_models::Kind::Handover => layer.handover(pattern.row).is_some(),
                    blocklint_models::Kind::Mention => true,
                };
                assert!(decodes, "{}", pattern.path);
            }
        }
    }
}
