//! Generated Rust source that calls a path from an async function.

use std::collections::BTreeSet;

use blocklint_core::Language;
use blocklint_models::{CallRow, File, LanguageModels};

use super::draft::Reason;
use super::rows_of;
use super::uses::{RowPath, Use, nothing};

/// The kind of a method call: on the type, or on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `a::b::Type::m(&x)`.
    Path,
    /// `x.m()`.
    Method,
}

/// Returns a use that calls the path of a row, with the requirements of the caller.
pub(crate) fn call(
    lang: &LanguageModels,
    files: &[File],
    row_path: &RowPath,
    row: &CallRow,
    way: Way,
    number: usize,
) -> Result<Use, Reason> {
    let (receiver, member) = match row_path.path.strip_prefix('<').and_then(|rest| rest.split_once(">::")) {
        Some((types, "drop")) => {
            return Ok(use_of_dropped_value(row_path, types.split(" as ").next().unwrap_or(types), way, number));
        }
        Some((types, member)) => (types.split(" as ").next().unwrap_or(types).to_owned(), member.to_owned()),
        None => {
            let (owner, member) = row_path.path.rsplit_once("::").ok_or("a path of one segment")?;
            (owner.to_owned(), member.to_owned())
        }
    };
    let path = row_path.path.replace('*', "sample");
    let is_type = receiver.rsplit("::").next().is_some_and(|name| name.starts_with(char::is_uppercase));
    let mut imports = BTreeSet::new();
    let (params, text) = if member.ends_with('!') {
        (String::new(), format!("{path}(\"x\")"))
    } else if !is_type {
        (String::new(), format!("{path}()"))
    } else {
        // The row of a trait has a condition on the receiver's type.
        let asked = rows_of::asked_receiver(files, Language::Rust, row, &receiver);
        let ty = asked.clone().unwrap_or_else(|| receiver.clone());
        let ty = match lang.ty(&ty).map_or(0, |rows| rows.params().len()) {
            0 if asked.is_some() && receiver.ends_with("::BufRead") && !ty.ends_with("Lock") => {
                format!("std::io::BufReader<{ty}>")
            }
            0 => match lang.ty(&receiver).filter(|rows| asked.is_some() && rows.through().is_some()) {
                // The condition is on the inner type, which has the method.
                Some(_) => format!("{receiver}<{ty}>"),
                None => ty,
            },
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
    Ok(Use { row_path: row_path.clone(), imports, lines, at: 1, expected: nothing() })
}

/// Returns a use in which a value from a function or a method is dropped at the end of its block.
fn use_of_dropped_value(row_path: &RowPath, ty: &str, way: Way, number: usize) -> Use {
    let (owner, end, made) = match way {
        Way::Path => (String::new(), "", format!("made_{number}()")),
        Way::Method => (
            format!("struct Maker{number};\nimpl Maker{number} {{\n    fn new() -> Self {{ Maker{number} }}\n"),
            "}",
            format!("Maker{number}::new().made_{number}()"),
        ),
    };
    let receiver = if way == Way::Method { "&self" } else { "" };
    let text = format!(
        "{owner}fn made_{number}({receiver}) -> {ty} {{\n    unimplemented!()\n}}\n{end}\n\
         async fn use_{number}() {{\n    let value = {made};\n}}"
    );
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    Use { row_path: row_path.clone(), imports: BTreeSet::new(), at: lines.len() - 2, lines, expected: nothing() }
}
