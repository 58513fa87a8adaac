//! Conditions and arguments as model files write them.

use blocklint_analysis::{Shown, Tried};
use blocklint_models::{Argument, Condition, Literal, Subject, Test, TypeExpr, TypeTest};

/// `name@0`.
pub(super) fn argument(argument: &Argument) -> String {
    match argument {
        Argument::Position(index) => index.to_string(),
        Argument::Keyword(name) => name.clone(),
        Argument::Either(name, index) => format!("{name}@{index}"),
        Argument::AllPositional => "*".to_owned(),
        Argument::Receiver => "receiver".to_owned(),
    }
}

/// `unless argument = "block@0", equals = false`, and what else than the code there decides.
pub(super) fn written(tried: &Tried) -> String {
    let key = if tried.excuses { "unless" } else { "when" };
    let text = format!("{key} {}", condition(&tried.condition));
    match (tried.shown, &tried.parameter) {
        (Shown::Param(_), Some(name)) => format!("{text}, left to parameter `{name}`"),
        (Shown::Hidden, _) => format!("{text}, not visible there"),
        _ => text,
    }
}

fn condition(condition: &Condition) -> String {
    let subject = match &condition.subject {
        Subject::Argument(Argument::Position(index)) => format!("argument = {index}"),
        Subject::Argument(of) => format!("argument = {:?}", argument(of)),
        Subject::Context(words) => format!("context = {}", list(words.iter().map(|word| word.as_str().to_owned()))),
        Subject::Runtime(words) => format!("runtime = {}", list(words.iter().map(|word| word.as_str().to_owned()))),
        Subject::Switch(names) => format!("switch = {}", list(names.iter().cloned())),
        Subject::Library(name) => format!("library = {name:?}"),
    };
    let tests = condition.tests.iter().map(test);
    std::iter::once(subject).chain(tests).collect::<Vec<_>>().join(", ")
}

fn test(test: &Test) -> String {
    match test {
        Test::Equals(literals) => {
            let parts: Vec<String> = literals.iter().map(literal).collect();
            match parts.as_slice() {
                [one] => format!("equals = {one}"),
                _ => format!("equals = [{}]", parts.join(", ")),
            }
        }
        Test::Contains(text) => format!("contains = {text:?}"),
        Test::Symbol(paths) => format!("symbol = {}", list(paths.iter().cloned())),
        Test::Null(wanted) => format!("null = {wanted}"),
        Test::Absent(wanted) => format!("absent = {wanted}"),
        Test::Literal(wanted) => format!("literal = {wanted}"),
        Test::Less(bound) => format!("less = {bound}"),
        Test::Greater(bound) => format!("greater = {bound}"),
        Test::Type(types) => format!("type = {}", list(types.iter().map(type_test))),
        Test::State(state) => format!("state = {state:?}"),
        Test::From(sources) => format!("from = {}", list(sources.iter().map(|source| source.as_str().to_owned()))),
        Test::Unbounded => "size = \"unbounded\"".to_owned(),
        Test::Version(_) => "version of the library".to_owned(),
        Test::Feature(name) => format!("feature = {name:?}"),
    }
}

fn type_test(test: &TypeTest) -> String {
    match test {
        TypeTest::Tag(tag) => format!("#{tag}"),
        TypeTest::Type(TypeExpr::Path { path, .. }) => path.clone(),
        TypeTest::Type(_) => "…".to_owned(),
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

/// One string, or a list of them.
fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.map(|word| format!("{word:?}")).collect();
    match words.as_slice() {
        [one] => one.clone(),
        _ => format!("[{}]", words.join(", ")),
    }
}
