//! `blocklint why PATH:LINE…`: explains for each line why it is reported or not.

use blocklint_core::Finding;
use blocklint_engine::{AskedLine, Chosen, ExplainRequest, Options, explain};
use blocklint_output::{ExplainedLine, Remark, write_explanation, write_explanation_json};
use blocklint_project::{Request, absolute, project_root, project_within, why_left_out};
use camino::{Utf8Path, Utf8PathBuf};

use super::check::{Prepared, analysis_options, path_options, prepare_paths};
use super::{baseline, current_folder, ignore_closed_pipe, left_out, path_from};
use crate::arguments::{Check, OutputFormat, Why};
use crate::messages::{Failure, error};
use crate::output_file::Output;
use crate::progress::Bar;
use crate::{CLEAN, FAILED, console};

pub(crate) fn why(why: &Why) -> Result<u8, Failure> {
    let check = &*why.check;
    let is_json = match check.output_format {
        OutputFormat::Full => false,
        OutputFormat::Json => true,
        _ => return Err(Failure::new("an explanation is written in the formats `full` and `json`")),
    };
    let current = current_folder()?;
    let places = check.paths.iter().map(|text| parse_line(text.as_str())).collect::<Result<Vec<_>, _>>()?;
    let mut explained: Vec<Option<ExplainedLine>> = vec![None; places.len()];
    let mut is_complete = true;
    for group in group_by_project(&places, &current) {
        let asked: Vec<(usize, &Line<'_>)> = group.indices.iter().map(|&index| (index, &places[index])).collect();
        for (index, line) in explain_in(check, &current, &group.paths, &asked)? {
            match line {
                Ok(mut line) => {
                    if group.is_nested {
                        let root = path_from(&group.root, &current);
                        let remark =
                            format!("{root} is a project of its own: this is what `blocklint check {root}` finds");
                        line.remarks.insert(0, Remark::new(remark));
                    }
                    explained[index] = Some(line);
                }
                Err(why) => {
                    error(why);
                    is_complete = false;
                }
            }
        }
    }
    let lines: Vec<ExplainedLine> = explained.into_iter().flatten().collect();
    let mut out = Output::new(check.output_file.as_deref()).map_err(|error| Failure::new(error.to_string()))?;
    let styled = check.output_file.is_none() && console::stdout_is_styled();
    let written = if is_json {
        write_explanation_json(&mut out, &lines)
    } else {
        write_explanation(&mut out, &lines, &current, styled)
    };
    ignore_closed_pipe(written.and_then(|()| out.finish()))?;
    Ok(if is_complete { CLEAN } else { FAILED })
}

/// The lines of one project among those of the command line.
struct ProjectLines {
    root: Utf8PathBuf,
    /// The paths that `blocklint check` would get to report on these lines.
    paths: Vec<Utf8PathBuf>,
    /// The indices of the lines.
    indices: Vec<usize>,
    /// True if the project is nested in the project of the current folder.
    is_nested: bool,
}

/// Groups the lines by the project of their file.
fn group_by_project(places: &[Line<'_>], current: &Utf8Path) -> Vec<ProjectLines> {
    let (here, is_marked) = project_root(current);
    let mut groups: Vec<ProjectLines> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let path = absolute(current, place.path);
        let folder = path.parent().unwrap_or(&path);
        let nested_root = project_within(folder, &here, is_marked);
        let is_nested = nested_root.is_some() && path.starts_with(&here);
        let is_here = path.starts_with(&here) && !is_nested;
        let root = match nested_root {
            Some(root) => root,
            None if is_here => here.clone(),
            None => project_root(folder).0,
        };
        let position = groups.iter().position(|group| group.root == root).unwrap_or_else(|| {
            let paths = vec![if is_here { current.to_owned() } else { root.clone() }];
            groups.push(ProjectLines { root, paths, indices: Vec::new(), is_nested });
            groups.len() - 1
        });
        let group = &mut groups[position];
        // A line outside the current folder, in the same project, needs its file among the paths.
        if !path.starts_with(&group.paths[0]) {
            group.paths.push(path);
        }
        group.indices.push(index);
    }
    groups
}

/// The index of a line, with its explanation or an error message.
type IndexedAnswer = (usize, Result<ExplainedLine, String>);

/// Explains the lines of one project; the result has an explanation or an error message for each.
fn explain_in(
    check: &Check,
    current: &Utf8Path,
    paths: &[Utf8PathBuf],
    places: &[(usize, &Line<'_>)],
) -> Result<Vec<IndexedAnswer>, Failure> {
    let mut prepared = prepare_paths(check, paths)?;
    // A file that `blocklint check` excludes is read if the command line names a line of it.
    let mut left_out: Vec<(Utf8PathBuf, String)> = Vec::new();
    for (_, place) in places {
        let path = absolute(current, place.path);
        if prepared.project.file_index(&path).is_none()
            && path.is_file()
            && !left_out.iter().any(|(known, _)| *known == path)
        {
            let request = Request { current, paths, isolated: check.isolated };
            let Prepared { project, .. } = &prepared;
            let reason = why_left_out(&project.root, &project.configuration, request, path_options(check), &path);
            left_out.push((path, reason));
        }
    }
    if !left_out.is_empty() {
        let named = left_out.iter().map(|(path, _)| path.clone());
        prepared = prepare_paths(check, &paths.iter().cloned().chain(named).collect::<Vec<_>>())?;
    }
    let project = &prepared.project;
    let mut asked_lines: Vec<AskedLine> = Vec::new();
    let mut positions: Vec<(usize, Result<usize, String>)> = Vec::new();
    for (index, place) in places {
        let file = project.file_index(&absolute(current, place.path));
        positions.push((
            *index,
            file.map(|_| asked_lines.len()).ok_or_else(|| describe_missing_source(place.path, current)),
        ));
        asked_lines.extend(file.map(|file| AskedLine { file, cell: place.cell, line: place.line }));
    }
    let baseline = baseline::read(check, project, current)?;
    let hide_baselined = |chosen: &mut Chosen| -> Vec<Finding> {
        baseline
            .as_ref()
            .map_or_else(Vec::new, |baseline| baseline::hide_baselined(check, baseline, chosen, &prepared).findings)
    };
    let bar = Bar::new();
    let request = ExplainRequest {
        project,
        models: &prepared.models,
        rules: &prepared.rules,
        levels: prepared.levels,
        options: Options { records_reasons: true, ..analysis_options(check, &prepared)? },
        lines: &asked_lines,
        remove_known: &hide_baselined,
        progress: &bar,
    };
    let (mut explained, parts_left_out) = if asked_lines.is_empty() { Default::default() } else { explain(&request)? };
    drop(bar);
    left_out::report(project, &parts_left_out, current);
    let finished = positions.into_iter().zip(places).map(|((index, line), (_, place))| {
        let line =
            line.and_then(|number| explained[number].take().ok_or_else(|| format!("{}: no such line", place.text)));
        let line = line.map(|mut line| {
            if let Some((_, reason)) = left_out.iter().find(|(path, _)| *path == *line.place.path) {
                let remark = format!("`check` does not read this file unless it is named: {reason}");
                line.remarks.insert(0, Remark::new(remark));
            }
            line
        });
        (index, line)
    });
    Ok(finished.collect())
}

/// Returns the error message for a path that is no source file.
fn describe_missing_source(path: &Utf8Path, current: &Utf8Path) -> String {
    let full = absolute(current, path);
    let shown = path_from(&full, current);
    if full.is_dir() {
        format!("{shown}: a folder, not a file")
    } else if !full.exists() {
        format!("{shown}: no such file")
    } else if path.extension() == Some("pyi") {
        format!("{shown}: a stub has no code")
    } else {
        format!("{shown}: not a Python, Rust or Java file")
    }
}

/// A line of the command line's arguments: of a file, or of a cell of a notebook.
#[derive(Debug)]
struct Line<'a> {
    /// The argument as it was typed.
    text: &'a str,
    path: &'a Utf8Path,
    cell: Option<u32>,
    line: u32,
}

/// Parses `PATH:LINE` or `PATH:cell CELL:LINE`, optionally with a column after it, as in printed findings.
fn parse_line(text: &str) -> Result<Line<'_>, Failure> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let invalid = || Failure::new(format!("`{text}` is not a line; expected PATH:LINE, as in `app/views.py:42`"));
    let (head, last) = text.rsplit_once(':').ok_or_else(invalid)?;
    let last = number(last).ok_or_else(invalid)?;
    let (path, line) = match head.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
        Some((path, line)) => (path, line),
        None => (head, last),
    };
    let (path, cell) = match path.rsplit_once(":cell ").and_then(|(path, cell)| Some((path, number(cell)?))) {
        Some((path, cell)) => (path, Some(cell)),
        None => (path, None),
    };
    if path.is_empty() { Err(invalid()) } else { Ok(Line { text, path: Utf8Path::new(path), cell, line }) }
}

#[cfg(test)]
mod tests {
    use super::parse_line;

    #[test]
    fn lines_parse_as_findings_print_them() {
        let read = |text| parse_line(text).ok().map(|line| (line.path.to_string(), line.line));
        assert_eq!(read("a/b.py:12"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("a/b.py:12:5"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("odd:name.py:3"), Some(("odd:name.py".to_owned(), 3)));
        let cell = parse_line("a/b.ipynb:cell 3:2:5").expect("a line");
        assert_eq!((cell.path.as_str(), cell.cell, cell.line), ("a/b.ipynb", Some(3), 2));
        for wrong in ["a.py", "a.py:", "a.py:0", "a.py:x", ":4", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
