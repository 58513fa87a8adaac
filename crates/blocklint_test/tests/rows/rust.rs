//! Rust source that calls a path, from an async function.

use std::collections::BTreeSet;

use blocklint_core::Language;
use blocklint_models::{Argument, CallRow, Condition, File, LanguageModels, Subject, Test, TypeTest};

use crate::draft::Reason;
use crate::uses::{Of, Use, nothing};

/// The two ways in which a method is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `a::b::Type::m(&x)`.
    Path,
    /// `x.m()`.
    Method,
}

/// A call of the path of a row, of which the caller says what it must have.
pub(crate) fn call(
    lang: &LanguageModels,
    files: &[File],
    of: &Of,
    row: &CallRow,
    way: Way,
    number: usize,
) -> Result<Use, Reason> {
    let (receiver, member) = match of.path.strip_prefix('<').and_then(|rest| rest.split_once(">::")) {
        Some((_, "drop")) => return Err("the end of a scope"),
        Some((types, member)) => (types.split(" as ").next().unwrap_or(types).to_owned(), member.to_owned()),
        None => {
            let (owner, member) = of.path.rsplit_once("::").ok_or("a path of one segment")?;
            (owner.to_owned(), member.to_owned())
        }
    };
    let path = of.path.replace('*', "sample");
    let is_type = receiver.rsplit("::").next().is_some_and(|name| name.starts_with(char::is_uppercase));
    let mut imports = BTreeSet::new();
    let (params, text) = if member.ends_with('!') {
        (String::new(), format!("{path}(\"x\")"))
    } else if !is_type {
        (String::new(), format!("{path}()"))
    } else {
        // A trait's row asks for the type of what it is called on.
        let asked = row.when.iter().find_map(|condition| asked_type(files, condition));
        let ty = asked.clone().unwrap_or_else(|| receiver.clone());
        let ty = match lang.ty(&ty).map_or(0, |rows| rows.params().len()) {
            0 => ty,
            count => format!("{ty}<{}>", vec!["u8"; count].join(", ")),
        };
        if asked.is_some() {
            imports.insert(format!("use {receiver};"));
        }
        match way {
            Way::Path => (format!("x: {ty}"), format!("{path}(&x)")),
            Way::Method => (format!("x: {ty}"), format!("x.{member}()")),
        }
    };
    let awaited = if row.is_async == Some(true) { ".await" } else { "" };
    let lines = vec![format!("async fn use_{number}({params}) {{"), format!("    {text}{awaited};"), "}".to_owned()];
    Ok(Use { of: of.clone(), imports, lines, at: 1, expected: nothing() })
}

/// The type that a condition asks of the receiver: of a tag, the first that has it.
fn asked_type(files: &[File], condition: &Condition) -> Option<String> {
    let Subject::Argument(Argument::Receiver) = &condition.subject else { return None };
    condition.tests.iter().find_map(|test| match test {
        Test::Type(of) => of.iter().find_map(|test| match test {
            TypeTest::Tag(tag) => {
                let mut rows = crate::rows_of::of(files, Language::Rust).flat_map(|file| &file.types);
                rows.find(|entry| entry.row.tags.contains(tag)).map(|entry| entry.paths[0].text.clone())
            }
            TypeTest::Type(ty) => ty.path().map(str::to_owned),
        }),
        _ => None,
    })
}
