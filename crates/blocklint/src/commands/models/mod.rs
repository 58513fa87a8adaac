//! `blocklint models …`: lists, checks, explains and verifies the models of libraries.

mod check;
mod explain;
mod list;
mod twins;
mod verify;

use std::io::Write;

use blocklint_models::{LayerKind, Models};
use blocklint_project::{PathOptions, Request, absolute, discover_with};
use camino::Utf8PathBuf;

use super::{current_folder, ignore_closed_pipe};
use crate::arguments::ModelsCommand;
use crate::messages::{Failure, warning};

pub(crate) fn models(command: &ModelsCommand) -> Result<u8, Failure> {
    match command {
        ModelsCommand::List(list) => list::list(list),
        ModelsCommand::Check { paths, shipped } => check::check(paths, *shipped),
        ModelsCommand::Explain(explain) => explain::explain(explain),
        ModelsCommand::Twins(twins) => twins::twins(twins),
        ModelsCommand::Verify(verify) => verify::verify(verify),
    }
}

/// Loads the models that a run in the current folder would use.
fn load_models_here(isolated: bool, environments: &[Utf8PathBuf]) -> Result<Models, Failure> {
    let current = current_folder()?;
    let environments: Vec<Utf8PathBuf> = environments.iter().map(|path| absolute(&current, path)).collect();
    let options = PathOptions { environments: &environments, ..PathOptions::default() };
    let project = discover_with(Request { current: &current, paths: &[], isolated }, options)
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    project.problems.iter().for_each(|problem| warning(problem.relative_to(&current)));
    blocklint_engine::load_models(&project, &current)
}

/// Returns the name of a layer of models, as in output.
fn layer_name(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::User => "user",
        LayerKind::Shipped => "shipped",
        LayerKind::BuiltIn => "built in",
    }
}

fn print(text: &str) -> Result<(), Failure> {
    ignore_closed_pipe(std::io::stdout().write_all(text.as_bytes()))
}

/// Returns a text table: columns as wide as their widest cell, and columns of numbers aligned to the right.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).chain([heads[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let numeric: Vec<bool> =
        (0..heads.len()).map(|column| rows.iter().all(|row| row[column].parse::<f64>().is_ok())).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (column, cell) in cells.enumerate() {
            let width = widths[column];
            if column > 0 {
                text.push_str("  ");
            }
            if numeric[column] && !rows.is_empty() {
                text.push_str(&format!("{cell:>width$}"))
            } else {
                text.push_str(&format!("{cell:<width$}"))
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    };
    let mut text = line(&mut heads.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let rows = vec![vec!["a".to_owned(), "7".to_owned()], vec!["long".to_owned(), "12".to_owned()]];
        assert_eq!(table(&["name", "rows"], &rows), "name  rows\na        7\nlong    12\n");
    }
}
