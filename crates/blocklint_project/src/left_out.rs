//! The reason why a run does not read a file below the project root, for `blocklint why`.

use std::fs;

use camino::Utf8Path;
use ignore::gitignore::Gitignore;

use crate::configuration::{Configuration, repository};
use crate::discover::{PathOptions, Request};
use crate::pattern::Patterns;
use crate::walk::{IGNORE_FILES, SKIPPED_FOLDERS, is_environment, unusual_ignore_file};

/// Returns the reason why a run does not read a file below the project root, as a clause (``"`a.py` of `exclude` means
/// it"``).
pub fn why_left_out(
    root: &Utf8Path,
    configuration: &Configuration,
    request: Request<'_>,
    options: PathOptions<'_>,
    path: &Utf8Path,
) -> String {
    if let Some(reason) = excluding_pattern(root, configuration, request.current, options, path) {
        return reason;
    }
    let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    for folder in folders.clone() {
        let name = folder.file_name().unwrap_or_default();
        if SKIPPED_FOLDERS.contains(&name) {
            return format!("it is in `{name}`, a folder for third-party code");
        }
        if is_environment(folder.as_std_path()) {
            return format!("it is in the virtual environment `{name}`");
        }
    }
    let hidden =
        std::iter::once(path).chain(folders).filter_map(Utf8Path::file_name).find(|name| name.starts_with('.'));
    if let Some(name) = hidden {
        return format!("`{name}` is hidden");
    }
    if let Some(reason) = ignoring_line(root, path) {
        return reason;
    }
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => "it is a link, and is read where it leads to".to_owned(),
        _ => "an ignore file, or a link in its path, leaves it out".to_owned(),
    }
}

/// Returns a clause about the pattern of the configuration or the command line that matches a file.
fn excluding_pattern(
    root: &Utf8Path,
    configuration: &Configuration,
    current: &Utf8Path,
    options: PathOptions<'_>,
    path: &Utf8Path,
) -> Option<String> {
    let (patterns, from, key) = match options.exclude {
        Some(patterns) => (patterns, current, "--exclude"),
        None => (&*configuration.exclude, root, "exclude"),
    };
    let lists = [
        (patterns, from, key),
        (&*configuration.extend_exclude, root, "extend-exclude"),
        (options.extend_exclude, current, "--extend-exclude"),
    ];
    lists.into_iter().find_map(|(patterns, from, key)| {
        let matches =
            |pattern: &&String| Patterns::new(std::iter::once((from, pattern.as_str())), false).covers(path, root);
        patterns.iter().find(matches).map(|pattern| format!("`{pattern}` of `{key}` matches it"))
    })
}

/// Returns a clause about the line of an ignore file that matches a file. The nearest ignore file decides.
fn ignoring_line(root: &Utf8Path, path: &Utf8Path) -> Option<String> {
    let top = repository(root);
    let real = fs::canonicalize(top).ok()?;
    for folder in path.ancestors().skip(1).take_while(|folder| folder.starts_with(top)) {
        if unusual_ignore_file(folder.as_std_path(), &real).is_some() {
            continue;
        }
        for name in IGNORE_FILES {
            let file = folder.join(name);
            if !file.is_file() {
                continue;
            }
            let mut builder = ignore::gitignore::GitignoreBuilder::new(folder);
            builder.add(&file);
            let Ok(matcher): Result<Gitignore, _> = builder.build() else { continue };
            let result = matcher.matched_path_or_any_parents(path, false);
            if let Some(glob) = result.inner().filter(|_| result.is_ignore()) {
                let file = file.strip_prefix(top).unwrap_or(&file);
                return Some(format!("`{}` of {file} ignores it", glob.original()));
            }
            if result.is_whitelist() {
                return None;
            }
        }
    }
    None
}
