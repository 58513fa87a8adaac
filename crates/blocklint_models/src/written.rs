//! The written form of rows, conditions and types, as model files have it (`blocklint models explain`).

use blocklint_core::{Language, Piece};

use crate::{
    Argument, CallRow, Concurrency, Condition, HandoverContext, HandoverRow, Instead, Literal, MoveTo, Moves, Rewrite,
    RowEffect, Selector, Subject, Template, Test, TypeExpr, TypeRow, TypeTest,
};

/// Returns an argument as conditions and messages write it: `name@0`.
pub fn argument(argument: &Argument) -> String {
    match argument {
        Argument::Position(index) => index.to_string(),
        Argument::Keyword(name) => name.clone(),
        Argument::Either(name, index) => format!("{name}@{index}"),
        Argument::AllPositional => "*".to_owned(),
        Argument::Receiver => "receiver".to_owned(),
    }
}

/// Returns an argument as a TOML value: `2` or `"name@0"`.
fn argument_value(value: &Argument) -> String {
    match value {
        Argument::Position(index) => index.to_string(),
        _ => format!("{:?}", argument(value)),
    }
}

/// Returns a condition: `argument = "mode@1", contains = "b"`.
pub fn condition(condition: &Condition, language: Language) -> String {
    let subject = match &condition.subject {
        Subject::Argument(argument) => format!("argument = {}", argument_value(argument)),
        Subject::Context(words) => format!("context = {}", list(words.iter().map(|word| word.as_str().to_owned()))),
        Subject::Runtime(words) => format!("runtime = {}", list(words.iter().map(|word| word.as_str().to_owned()))),
        Subject::Switch(names) => format!("switch = {}", list(names.iter().cloned())),
        Subject::Library(name) => format!("library = {name:?}"),
    };
    let tests = condition.tests.iter().map(|test| test_text(test, language));
    std::iter::once(subject).chain(tests).collect::<Vec<_>>().join(", ")
}

fn test_text(test: &Test, language: Language) -> String {
    match test {
        Test::Equals(literals) => {
            let parts: Vec<String> = literals.iter().map(literal).collect();
            match parts.as_slice() {
                [literal] => format!("equals = {literal}"),
                _ => format!("equals = [{}]", parts.join(", ")),
            }
        }
        Test::Contains(text) => format!("contains = {text:?}"),
        Test::Symbol(paths) => format!("symbol = {}", list(paths.iter().cloned())),
        Test::Null(expected) => format!("null = {expected}"),
        Test::Absent(expected) => format!("absent = {expected}"),
        Test::Literal(expected) => format!("literal = {expected}"),
        Test::Less(bound) => format!("less = {bound}"),
        Test::Greater(bound) => format!("greater = {bound}"),
        Test::Type(types) => format!("type = {}", list(types.iter().map(|test| type_test(test, language)))),
        Test::State(state) => format!("state = {state:?}"),
        Test::From(sources) => format!("from = {}", list(sources.iter().map(|source| source.as_str().to_owned()))),
        Test::Unbounded => "size = \"unbounded\"".to_owned(),
        Test::ShortSql => "sql = \"short\"".to_owned(),
        Test::Unseen => "unseen = true".to_owned(),
        Test::Version(range) => format!("version = \"{range}\""),
        Test::Feature(name) => format!("feature = {name:?}"),
    }
}

fn type_test(test: &TypeTest, language: Language) -> String {
    match test {
        TypeTest::Tag(tag) => format!("#{tag}"),
        TypeTest::Type(ty) => type_expr(ty, language),
    }
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => value.to_string(),
        Literal::Str(text) => format!("{text:?}"),
    }
}

/// Returns one string, or a list of strings.
fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.map(|word| format!("{word:?}")).collect();
    match words.as_slice() {
        [word] => word.clone(),
        _ => format!("[{}]", words.join(", ")),
    }
}

/// Returns a type expression in its language's syntax.
pub fn type_expr(ty: &TypeExpr, language: Language) -> String {
    let (open, close) = if language == Language::Python { ('[', ']') } else { ('<', '>') };
    let join = |parts: &[TypeExpr], separator: &str| {
        parts.iter().map(|part| type_expr(part, language)).collect::<Vec<_>>().join(separator)
    };
    let generic = |name: &str, arguments: &[TypeExpr]| match arguments {
        [] => name.to_owned(),
        _ => format!("{name}{open}{}{close}", join(arguments, ", ")),
    };
    match ty {
        TypeExpr::Path { path, arguments } => generic(path, arguments),
        TypeExpr::SelfType(arguments) => generic("Self", arguments),
        TypeExpr::Parameter(name) => name.clone(),
        TypeExpr::Literal(text) => format!("\"{text}\""),
        TypeExpr::Argument(value) => format!("${}", argument(value)),
        TypeExpr::Result(inner) => format!("result({})", type_expr(inner, language)),
        TypeExpr::Yield(inner) => format!("yield({})", type_expr(inner, language)),
        TypeExpr::Element(inner) => format!("element({})", type_expr(inner, language)),
        TypeExpr::Instance(inner) => format!("instance({})", type_expr(inner, language)),
        TypeExpr::Union(members) => join(members, " | "),
        TypeExpr::Tuple(members) => match members.as_slice() {
            [member] => format!("({},)", type_expr(member, language)),
            _ => format!("({})", join(members, ", ")),
        },
        TypeExpr::Array(inner) => format!("{}[]", type_expr(inner, language)),
        TypeExpr::None => "None".to_owned(),
    }
}

/// Returns a template as a row writes it.
pub fn template(template: &Template) -> String {
    let part = |part: &Piece| match part {
        Piece::Text(text) => text.replace('{', "{{").replace('}', "}}"),
        Piece::Receiver => "{receiver}".to_owned(),
        Piece::Args => "{args}".to_owned(),
        Piece::Position(position) => format!("{{{position}}}"),
        Piece::Named(name) | Piece::Import(name) => format!("{{{name}}}"),
        Piece::Call => "{call}".to_owned(),
        Piece::Callable => "{callable}".to_owned(),
        Piece::Handed => "{handed}".to_owned(),
        Piece::Applied => "{applied}".to_owned(),
    };
    template.0.iter().map(part).collect()
}

/// Collects `key = value` lines.
#[derive(Default)]
struct Keys(Vec<String>);

impl Keys {
    /// Adds a string, if it is set.
    fn word(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.0.push(format!("{key} = {value:?}"));
        }
    }

    /// Adds a value that is written as TOML already, if it is set.
    fn raw(&mut self, key: &str, value: Option<String>) {
        if let Some(value) = value {
            self.0.push(format!("{key} = {value}"));
        }
    }

    /// Adds `key = true`, if it is set.
    fn flag(&mut self, key: &str, is_set: bool) {
        if is_set {
            self.0.push(format!("{key} = true"));
        }
    }

    fn conditions(&mut self, key: &str, conditions: &[Condition], language: Language) {
        let written: Vec<String> =
            conditions.iter().map(|row_condition| format!("{{ {} }}", condition(row_condition, language))).collect();
        match written.as_slice() {
            [] => {}
            [condition] => self.0.push(format!("{key} = {condition}")),
            _ => self.0.push(format!("{key} = [{}]", written.join(", "))),
        }
    }

    fn types<'t>(&mut self, key: &str, types: impl Iterator<Item = &'t TypeExpr>, language: Language) {
        let written: Vec<String> = types.map(|ty| format!("{:?}", type_expr(ty, language))).collect();
        if !written.is_empty() {
            self.0.push(format!("{key} = [{}]", written.join(", ")));
        }
    }
}

/// Returns the keys of a `[[call]]` row, one line each, without its paths.
pub fn call_row(row: &CallRow, language: Language) -> Vec<String> {
    let mut keys = Keys::default();
    keys.conditions("when", &row.when, language);
    keys.conditions("unless", &row.unless, language);
    keys.raw("version", row.version.as_ref().map(|range| format!("\"{range}\"")));
    keys.word("via", row.via.map(|via| via.as_str()));
    keys.flag("property", row.property);
    let effect = row.effect.map(|effect| match effect {
        RowEffect::Harmless => "none",
        RowEffect::Holds(effect) => effect.as_str(),
    });
    keys.word("effect", effect);
    keys.flag("native", row.native);
    keys.word("thread", row.thread.map(|thread| thread.as_str()));
    keys.word("bound", row.bound.map(|bound| bound.as_str()));
    keys.word("severity", row.severity.map(|severity| severity.as_str()));
    keys.word("fails", row.fails.map(|fails| fails.as_str()));
    keys.raw("timeout", row.timeout.as_ref().map(argument_value));
    keys.word("unit", row.unit.map(|unit| unit.as_str()));
    keys.raw("default", row.default.map(|seconds| seconds.to_string()));
    keys.word("ended-by", row.ended_by.as_deref());
    keys.flag("lazy", row.lazy);
    keys.raw("consumes", row.consumes.as_ref().map(argument_value));
    keys.raw("async", row.is_async.map(|is_async| is_async.to_string()));
    keys.raw("returns", row.returns.as_ref().map(|ty| format!("{:?}", type_expr(ty, language))));
    keys.word("state", row.state.as_deref());
    keys.word("source", row.source.map(|source| source.as_str()));
    keys.raw("same", row.same.as_ref().map(argument_value));
    keys.raw("adds", row.adds.as_ref().map(argument_value));
    keys.word("asks", row.asks.map(|asks| asks.as_str()));
    keys.flag("serves", row.serves);
    keys.word("creates", row.creates.map(|creates| creates.as_str()));
    let concurrency = row.concurrency.as_ref().map(|concurrency| match concurrency {
        Concurrency::Unbounded => "\"unbounded\"".to_owned(),
        Concurrency::Bounded => "\"bounded\"".to_owned(),
        Concurrency::Argument(argument) => argument_value(argument),
    });
    keys.raw("concurrency", concurrency);
    keys.word("scheduler", row.scheduler.map(|runs| runs.as_str()));
    keys.raw("moves", row.moves.as_ref().map(moves));
    keys.word("feature", row.feature.as_deref());
    keys.raw("instead", row.instead.as_ref().map(instead));
    let rewrite = row.rewrite.as_ref().map(|rewrite| match rewrite {
        Rewrite::Any(template_for_all) => format!("{:?}", template(template_for_all)),
        Rewrite::ByRuntime(table) => {
            let parts: Vec<String> = table
                .iter()
                .map(|(runtime, runtime_template)| format!("{runtime} = {:?}", template(runtime_template)))
                .collect();
            format!("{{ {} }}", parts.join(", "))
        }
    });
    keys.raw("rewrite", rewrite);
    keys.word("fix", row.fix.map(|fix| fix.as_str()));
    keys.word("note", row.note.as_deref());
    keys.word("unchecked", row.unchecked.as_deref());
    keys.0
}

fn moves(moves: &Moves) -> String {
    let destination = |to: &MoveTo| match to {
        MoveTo::Runs(runs) => format!("{:?}", runs.as_str()),
        MoveTo::Scheduler(argument) => argument_value(argument),
    };
    match moves {
        Moves::Source(to) => format!("{{ source = {} }}", destination(to)),
        Moves::Rest(to) => format!("{{ rest = {} }}", destination(to)),
    }
}

fn instead(instead: &Instead) -> String {
    match instead {
        Instead::Any(twins) => list(twins.iter().cloned()),
        Instead::ByRuntime(table) => {
            let part = |(runtime, twins): &(_, Vec<String>)| format!("{runtime} = {}", list(twins.iter().cloned()));
            format!("{{ {} }}", table.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns the keys of a `[[type]]` row, one line each, without its paths.
pub fn type_row(row: &TypeRow, language: Language) -> Vec<String> {
    let mut keys = Keys::default();
    keys.raw("version", row.version.as_ref().map(|range| format!("\"{range}\"")));
    keys.raw("params", (!row.params.is_empty()).then(|| format!("{:?}", row.params)));
    keys.types("bases", row.bases.iter(), language);
    let fields: Vec<String> =
        row.fields.iter().map(|(name, ty)| format!("{name} = {:?}", type_expr(ty, language))).collect();
    keys.raw("fields", (!fields.is_empty()).then(|| format!("{{ {} }}", fields.join(", "))));
    let typed = |ty: &Option<TypeExpr>| ty.as_ref().map(|ty| format!("{:?}", type_expr(ty, language)));
    keys.raw("element", typed(&row.element));
    keys.raw("awaits", typed(&row.awaits));
    keys.raw("enters", typed(&row.enters));
    keys.word("through", row.through.as_deref());
    keys.word("functional", row.functional.as_deref());
    keys.word("role", row.role.map(|role| role.as_str()));
    keys.word("source", row.source.map(|source| source.as_str()));
    keys.raw("tags", (!row.tags.is_empty()).then(|| format!("{:?}", row.tags)));
    keys.word("scheduler", row.scheduler.map(|runs| runs.as_str()));
    keys.word("bound", row.bound.map(|bound| bound.as_str()));
    keys.word("unchecked", row.unchecked.as_deref());
    keys.0
}

/// Returns the keys of a `[[handover]]` row, one line each, without its paths.
pub fn handover_row(row: &HandoverRow, language: Language) -> Vec<String> {
    let mut keys = Keys::default();
    keys.conditions("when", &row.when, language);
    keys.conditions("unless", &row.unless, language);
    keys.raw("version", row.version.as_ref().map(|range| format!("\"{range}\"")));
    match &row.selector {
        Selector::Argument(argument) => keys.raw("argument", Some(argument_value(argument))),
        Selector::Via(via) => keys.word("via", Some(via.as_str())),
    }
    let context = match &row.context {
        HandoverContext::Is(runs) => format!("{:?}", runs.as_str()),
        HandoverContext::BySync { sync, async_ } => {
            format!("{{ sync = {:?}, async = {:?} }}", sync.as_str(), async_.as_str())
        }
        HandoverContext::Of(argument) => format!("{{ of = {} }}", argument_value(argument)),
    };
    keys.raw("context", Some(context));
    keys.word("runtime", row.runtime.map(|runtime| runtime.as_str()));
    keys.word("phase", row.phase.map(|phase| phase.as_str()));
    keys.flag("wraps", row.wraps);
    keys.word("effect", row.called.as_ref().and_then(|called| called.held_effect()).map(|effect| effect.as_str()));
    keys.word("passes", row.passes.map(|passes| passes.as_str()));
    keys.types("gives", row.gives.iter(), language);
    keys.flag("native", row.native);
    keys.flag("process", row.process);
    keys.flag("bounded", row.bounded);
    let offer: Vec<&str> = row.offer.iter().map(|runtime| runtime.as_str()).collect();
    keys.raw("offer", (!offer.is_empty()).then(|| format!("{offer:?}")));
    keys.raw("during", (!row.during.is_empty()).then(|| format!("{:?}", row.during)));
    keys.flag("parses", row.parses);
    keys.raw("rewrite", row.rewrite.as_ref().map(|rewrite| format!("{:?}", template(rewrite))));
    keys.word("note", row.note.as_deref());
    keys.word("unchecked", row.unchecked.as_deref());
    keys.0
}
