//! `blocklint models verify FOLDER… --model FILE`: checks each row of a model against the sources of its library.

use std::fs;

use blocklint_models::{Origin, read_file};
use blocklint_verify::{ExtractedLibrary, LibrarySources, VerifyReport};
use camino::Utf8PathBuf;
use serde::Serialize;

use super::print;
use crate::arguments::{TextFormat, VerifyModels};
use crate::messages::{Failure, error};
use crate::{CLEAN, FOUND};

/// The result for one model file.
#[derive(Serialize)]
struct Verified {
    model: String,
    #[serde(flatten)]
    report: VerifyReport,
}

pub(super) fn verify(verify: &VerifyModels) -> Result<u8, Failure> {
    let library_sources = library_sources(verify)?;
    let mut models = Vec::new();
    for path in &verify.model {
        let text = fs::read_to_string(path).map_err(|error| Failure::new(format!("{path}: {error}")))?;
        let (file, errors) = read_file(path.as_str(), &text, Origin::User);
        if !errors.is_empty() {
            return Err(Failure::all(errors.iter().map(ToString::to_string)));
        }
        let Some(file) = file else { return Err(Failure::new(format!("{path}: no model"))) };
        models.push((path.to_string(), file));
    }
    let verified: Vec<Verified> = blocklint_engine::on_large_stacks(|| {
        let report =
            |(model, file): (String, _)| Verified { model, report: blocklint_verify::verify(&file, &library_sources) };
        models.into_iter().map(report).collect()
    })?;
    let holds = verified.iter().all(|result| result.report.problems.is_empty() && result.report.needs.is_empty());
    match verify.output_format {
        TextFormat::Json => {
            let text = serde_json::to_string_pretty(&verified).map_err(Failure::new)?;
            print(&format!("{text}\n"))?;
        }
        TextFormat::Text => {
            for result in &verified {
                print(&report_text(result))?;
                for range in &result.report.needs {
                    error(format!(
                        "{}: rows for `{range}` were not checked; give such a version with --other",
                        result.model
                    ));
                }
            }
        }
    }
    Ok(if holds { CLEAN } else { FOUND })
}

fn report_text(result: &Verified) -> String {
    let VerifyReport { library, version, rows, checked, exempt, unchecked, problems, .. } = &result.report;
    let mut report_text = String::new();
    for problem in problems {
        report_text.push_str(&format!("{}:{}: {}: {}\n", result.model, problem.line, problem.path, problem.message));
    }
    let version = if version.is_empty() { String::new() } else { format!(" {version}") };
    report_text.push_str(&format!(
        "{library}{version}: {rows} rows, {checked} names checked, {exempt} exempt ({unchecked} unchecked), {} problems\n",
        problems.len()
    ));
    report_text
}

fn library_sources(verify: &VerifyModels) -> Result<LibrarySources, Failure> {
    let main = ExtractedLibrary {
        version: verify.library_version.clone().unwrap_or_default(),
        folders: verify.folders.clone(),
    };
    let mut versions = vec![main];
    add_versions(&mut versions, 1, &verify.other)?;
    let mut older = Vec::new();
    add_versions(&mut older, 0, &verify.older)?;
    let library_sources =
        LibrarySources { versions, older, with: verify.with.clone(), standard: verify.standard_library.clone() };
    let versions = library_sources.versions.iter().chain(&library_sources.older);
    let all =
        versions.flat_map(|version| &version.folders).chain(&library_sources.with).chain(&library_sources.standard);
    let missing: Vec<String> =
        all.filter(|folder| !folder.is_dir()).map(|folder| format!("{folder}: no such folder")).collect();
    if missing.is_empty() { Ok(library_sources) } else { Err(Failure::all(missing)) }
}

/// Adds the versions of `--other` or `--older`, written as `VERSION=FOLDER`. A version that is in the list already, at
/// index `first` or later, gets one more folder.
fn add_versions(versions: &mut Vec<ExtractedLibrary>, first: usize, options: &[String]) -> Result<(), Failure> {
    for option in options {
        let Some((version, folder)) = option.split_once('=') else {
            return Err(Failure::new(format!("`{option}` is not VERSION=FOLDER")));
        };
        let folder = Utf8PathBuf::from(folder);
        match versions[first..].iter_mut().find(|known| known.version == version) {
            Some(known) => known.folders.push(folder),
            None => versions.push(ExtractedLibrary { version: version.to_owned(), folders: vec![folder] }),
        }
    }
    Ok(())
}
