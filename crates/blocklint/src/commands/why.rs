//! `blocklint why PATH:LINE…`.

use blocklint_core::Finding;
use blocklint_engine::{AskedLine, Chosen, ExplainRequest, Options, explain};
use blocklint_output::{ExplainedLine, Remark, write_explanation, write_explanation_json};
use blocklint_project::{Request, absolute, project_root, project_within, why_left_out};
use camino::{Utf8Path, Utf8PathBuf};

use super::check::{Prepared, options, path_options, prepare_paths};
use super::{baseline, current_folder, from_here, left_out, unless_closed};
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
    let places = check.paths.iter().map(|text| place(text.as_str())).collect::<Result<Vec<_>, _>>()?;
    let mut explained: Vec<Option<ExplainedLine>> = vec![None; places.len()];
    let mut is_whole = true;
    for of in by_project(&places, &current) {
        let asked: Vec<(usize, &Line<'_>)> = of.places.iter().map(|&at| (at, &places[at])).collect();
        for (at, line) in explain_in(check, &current, &of.paths, &asked)? {
            match line {
                Ok(mut line) => {
                    if of.is_within {
                        let root = from_here(&of.root, &current);
                        let says =
                            format!("{root} is a project of its own: this is what `blocklint check {root}` finds");
                        line.remarks.insert(0, Remark::new(says));
                    }
                    explained[at] = Some(line);
                }
                Err(why) => {
                    error(why);
                    is_whole = false;
                }
            }
        }
    }
    let lines: Vec<ExplainedLine> = explained.into_iter().flatten().collect();
    let mut out = Output::new(check.output_file.as_deref()).map_err(|error| Failure::new(error.to_string()))?;
    let styled = check.output_file.is_none() && console::stdout_is_styled();
    let written = match is_json {
        true => write_explanation_json(&mut out, &lines),
        false => write_explanation(&mut out, &lines, &current, styled),
    };
    unless_closed(written.and_then(|()| out.finish()))?;
    Ok(if is_whole { CLEAN } else { FAILED })
}

/// Places of one project.
struct OfProject {
    root: Utf8PathBuf,
    /// The paths by which `check` would be asked for it.
    paths: Vec<Utf8PathBuf>,
    /// The places by number.
    places: Vec<usize>,
    /// True if it is a project within that of the current folder.
    is_within: bool,
}

/// Returns the places by project.
fn by_project(places: &[Line<'_>], current: &Utf8Path) -> Vec<OfProject> {
    let (here, is_marked) = project_root(current);
    let mut found: Vec<OfProject> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let path = absolute(current, place.path);
        let folder = path.parent().unwrap_or(&path);
        let within = project_within(folder, &here, is_marked);
        let is_within = within.is_some() && path.starts_with(&here);
        let is_here = path.starts_with(&here) && !is_within;
        let root = match within {
            Some(root) => root,
            None if is_here => here.clone(),
            None => project_root(folder).0,
        };
        let number = found.iter().position(|of| of.root == root).unwrap_or_else(|| {
            let paths = vec![if is_here { current.to_owned() } else { root.clone() }];
            found.push(OfProject { root, paths, places: Vec::new(), is_within });
            found.len() - 1
        });
        let of = &mut found[number];
        // In a folder of a project what lies beside the folder is asked for as well.
        if !path.starts_with(&of.paths[0]) {
            of.paths.push(path);
        }
        of.places.push(at);
    }
    found
}

/// A place by its number among those that were asked for, with the explanation of it or the reason why there is none.
type Told = (usize, Result<ExplainedLine, String>);

/// Explains places of one project; for each what is known of it, or why nothing is.
fn explain_in(
    check: &Check,
    current: &Utf8Path,
    paths: &[Utf8PathBuf],
    places: &[(usize, &Line<'_>)],
) -> Result<Vec<Told>, Failure> {
    let mut prepared = prepare_paths(check, paths)?;
    // A file that a run over the folder leaves out is read where it is named.
    let mut left_out: Vec<(Utf8PathBuf, String)> = Vec::new();
    for (_, place) in places {
        let path = absolute(current, place.path);
        if prepared.project.file_index(&path).is_none() && path.is_file() && !left_out.iter().any(|(of, _)| *of == path)
        {
            let request = Request { current, paths, isolated: check.isolated };
            let Prepared { project, .. } = &prepared;
            let why = why_left_out(&project.root, &project.configuration, request, path_options(check), &path);
            left_out.push((path, why));
        }
    }
    if !left_out.is_empty() {
        let named = left_out.iter().map(|(path, _)| path.clone());
        prepared = prepare_paths(check, &paths.iter().cloned().chain(named).collect::<Vec<_>>())?;
    }
    let project = &prepared.project;
    let mut asked: Vec<AskedLine> = Vec::new();
    let mut told: Vec<(usize, Result<usize, String>)> = Vec::new();
    for (at, place) in places {
        let file = project.file_index(&absolute(current, place.path));
        told.push((*at, file.map(|_| asked.len()).ok_or_else(|| no_source(place.path, current))));
        asked.extend(file.map(|file| AskedLine { file, cell: place.cell, line: place.line }));
    }
    let baseline = baseline::read(check, project, current)?;
    let hold = |chosen: &mut Chosen| -> Vec<Finding> {
        baseline.as_ref().map_or_else(Vec::new, |of| baseline::hold(check, of, chosen, &prepared).findings)
    };
    let bar = Bar::new();
    let request = ExplainRequest {
        project,
        models: &prepared.models,
        rules: &prepared.rules,
        levels: prepared.levels,
        options: Options { account: true, ..options(check, &prepared)? },
        lines: &asked,
        remove_known: &hold,
        progress: &bar,
    };
    let (mut explained, failed) = match asked.is_empty() {
        true => Default::default(),
        false => explain(&request)?,
    };
    drop(bar);
    left_out::tell(project, &failed, current);
    let finished = told.into_iter().zip(places).map(|((at, line), (_, place))| {
        let line =
            line.and_then(|number| explained[number].take().ok_or_else(|| format!("{}: no such line", place.text)));
        let line = line.map(|mut line| {
            if let Some((_, why)) = left_out.iter().find(|(path, _)| *path == *line.place.path) {
                let says = format!("`check` does not read this file unless it is named: {why}");
                line.remarks.insert(0, Remark::new(says));
            }
            line
        });
        (at, line)
    });
    Ok(finished.collect())
}

/// Returns why a path is no file with code.
fn no_source(path: &Utf8Path, current: &Utf8Path) -> String {
    let full = absolute(current, path);
    let shown = from_here(&full, current);
    if full.is_dir() {
        format!("{shown}: a folder, and no file")
    } else if !full.exists() {
        format!("{shown}: no such file")
    } else if path.extension() == Some("pyi") {
        format!("{shown}: a stub holds no code")
    } else {
        format!("{shown}: not a Python, Rust or Java file")
    }
}

/// A line of a file; in a notebook of one of its cells.
#[derive(Debug)]
struct Line<'a> {
    /// As it was given.
    text: &'a str,
    path: &'a Utf8Path,
    cell: Option<u32>,
    line: u32,
}

/// Reads `PATH:LINE` or `PATH:cell CELL:LINE`, also with a column behind, as findings print it.
fn place(text: &str) -> Result<Line<'_>, Failure> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let wrong = || Failure::new(format!("`{text}` names no line; expected PATH:LINE, as in `app/views.py:42`"));
    let (head, last) = text.rsplit_once(':').ok_or_else(wrong)?;
    let last = number(last).ok_or_else(wrong)?;
    let found = match head.rsplit_once(':').and_then(|(path, line)| Some((path, number(line)?))) {
        Some((path, line)) => (path, line),
        None => (head, last),
    };
    let (path, line) = found;
    let (path, cell) = match path.rsplit_once(":cell ").and_then(|(path, cell)| Some((path, number(cell)?))) {
        Some((path, cell)) => (path, Some(cell)),
        None => (path, None),
    };
    if path.is_empty() { Err(wrong()) } else { Ok(Line { text, path: Utf8Path::new(path), cell, line }) }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_line_is_named_as_findings_print_it() {
        let read = |text| place(text).ok().map(|line| (line.path.to_string(), line.line));
        assert_eq!(read("a/b.py:12"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("a/b.py:12:5"), Some(("a/b.py".to_owned(), 12)));
        assert_eq!(read("odd:name.py:3"), Some(("odd:name.py".to_owned(), 3)));
        let cell = place("a/b.ipynb:cell 3:2:5").expect("a line");
        assert_eq!((cell.path.as_str(), cell.cell, cell.line), ("a/b.ipynb", Some(3), 2));
        for wrong in ["a.py", "a.py:", "a.py:0", "a.py:x", ":4", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
