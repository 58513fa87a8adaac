//! The model files of this repository, and changed copies in which every call or handover gives a finding.

use std::fs;

use blocklint_core::{Context, Effect, Language};
use blocklint_models::{
    Argument, CallRow, Entry, File, HandoverContext, Models, RowEffect, Runs, Subject, Test, TypeRow, TypeTest,
    VersionRange, check_builtin_files,
};
use camino::{Utf8Path, Utf8PathBuf};

/// Reads all files below `rules/models`, and the files in `more` (label and text).
pub(crate) fn read(more: &[(String, String)]) -> Vec<File> {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules/models");
    let mut paths = Vec::new();
    list(&folder, &mut paths);
    paths.sort();
    let mut sources: Vec<(String, String)> = paths
        .iter()
        .map(|path| {
            let label = path.strip_prefix(&folder).expect("below the folder").as_str().to_owned();
            (label, fs::read_to_string(path).expect("a model file can be read"))
        })
        .collect();
    sources.extend(more.iter().cloned());
    let mut files = check_builtin_files(sources.iter().map(|(label, text)| (label.as_str(), text.as_str())))
        .unwrap_or_else(|errors| panic!("{}", errors.iter().map(|e| format!("{e}\n")).collect::<String>()));
    // Rows for older versions are left out, because they do not match in projects without pinned versions.
    let newest = |version: &Option<VersionRange>| version.as_ref().is_none_or(|range| range.contains(None));
    for file in &mut files {
        let file_holds = newest(&file.info.version);
        file.calls.retain(|entry| file_holds && newest(&entry.row.version));
        file.types.retain(|entry| file_holds && newest(&entry.row.version));
        file.handovers.retain(|entry| file_holds && newest(&entry.row.version));
    }
    files
}

fn list(folder: &Utf8Path, paths: &mut Vec<Utf8PathBuf>) {
    for entry in folder.read_dir_utf8().expect("a folder of models") {
        let entry = entry.expect("an entry");
        match entry.file_type().expect("a kind").is_dir() {
            true => list(entry.path(), paths),
            // VERIFIED.toml is no model.
            false if entry.file_name() == "VERIFIED.toml" => {}
            false if entry.path().extension() == Some("toml") => paths.push(entry.path().to_owned()),
            false => {}
        }
    }
}

/// Returns the files of a language.
pub(crate) fn files_of_language(files: &[File], language: Language) -> impl Iterator<Item = &File> {
    files.iter().filter(move |file| file.info.language == language)
}

/// Returns the models of these files only.
pub(crate) fn models(files: &[File]) -> Models {
    Models::only(files).expect("checked files compile")
}

/// Returns the model files with all `[[call]]` rows changed to sleep without conditions, so that each call of a row has
/// a finding with its path.
pub(crate) fn all_calls_sleep(files: &[File]) -> Vec<File> {
    let mut files = files.to_vec();
    for entry in files.iter_mut().flat_map(|file| &mut file.calls) {
        let row = &mut entry.row;
        row.effect = Some(RowEffect::Holds(Effect::Sleep));
        row.severity = None;
        row.timeout = None;
        row.lazy = false;
        row.when.clear();
        row.unless.clear();
    }
    files
}

/// Returns the model files with all handovers changed to run their callable on the event loop, or, if the row wraps it,
/// when the result is called.
pub(crate) fn all_handovers_run(files: &[File]) -> Vec<File> {
    let mut files = files.to_vec();
    for entry in files.iter_mut().flat_map(|file| &mut file.handovers) {
        let row = &mut entry.row;
        row.context = HandoverContext::Is(if row.wraps { Runs::Caller } else { Runs::In(Context::EventLoop) });
        row.phase = None;
    }
    files
}

/// Returns the receiver type that the conditions of a row require; for a tag the first type that has it, preferably one
/// that derives from or implements the type whose method is called.
pub(crate) fn asked_receiver(files: &[File], language: Language, row: &CallRow, owner: &str) -> Option<String> {
    let of_tag = |tag: &String| {
        let tagged = || {
            files_of_language(files, language).flat_map(|file| &file.types).filter(|entry| entry.row.tags.contains(tag))
        };
        let derives = |entry: &&Entry<TypeRow>| entry.row.bases.iter().any(|base| base.path() == Some(owner));
        let entry = tagged().find(derives).or_else(|| tagged().next())?;
        Some(entry.paths.first()?.text.clone())
    };
    row.when.iter().find_map(|condition| {
        let Subject::Argument(Argument::Receiver) = &condition.subject else { return None };
        condition.tests.iter().find_map(|test| match test {
            Test::Type(of) => of.iter().find_map(|test| match test {
                TypeTest::Tag(tag) => of_tag(tag),
                TypeTest::Type(ty) => ty.path().map(str::to_owned),
            }),
            _ => None,
        })
    })
}
