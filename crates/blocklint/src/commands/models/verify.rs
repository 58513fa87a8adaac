//! `blocklint models verify FOLDER… --model FILE`.

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
    let places = places(verify)?;
    let mut models = Vec::new();
    for path in &verify.model {
        let text = fs::read_to_string(path).map_err(|why| Failure::new(format!("{path}: {why}")))?;
        let (file, errors) = read_file(path.as_str(), &text, Origin::User);
        if !errors.is_empty() {
            return Err(Failure::all(errors.iter().map(ToString::to_string)));
        }
        let Some(file) = file else { return Err(Failure::new(format!("{path}: no model"))) };
        models.push((path.to_string(), file));
    }
    let verified: Vec<Verified> = blocklint_engine::on_large_stacks(|| {
        let report = |(model, file): (String, _)| Verified { model, report: blocklint_verify::verify(&file, &places) };
        models.into_iter().map(report).collect()
    })?;
    let holds = verified.iter().all(|of| of.report.problems.is_empty() && of.report.needs.is_empty());
    match verify.output_format {
        TextFormat::Json => {
            let text = serde_json::to_string_pretty(&verified).map_err(Failure::new)?;
            print(&format!("{text}\n"))?;
        }
        TextFormat::Text => {
            for of in &verified {
                print(&text(of))?;
                for range in &of.report.needs {
                    error(format!(
                        "{}: rows for `{range}` were not checked; give such a version with --other",
                        of.model
                    ));
                }
            }
        }
    }
    Ok(if holds { CLEAN } else { FOUND })
}

fn text(of: &Verified) -> String {
    let VerifyReport { library, version, rows, checked, exempt, unchecked, problems, .. } = &of.report;
    let mut text = String::new();
    for problem in problems {
        text.push_str(&format!("{}:{}: {}: {}\n", of.model, problem.line, problem.path, problem.message));
    }
    let version = if version.is_empty() { String::new() } else { format!(" {version}") };
    text.push_str(&format!(
        "{library}{version}: {rows} rows, {checked} names checked, {exempt} exempt ({unchecked} unchecked), {} problems\n",
        problems.len()
    ));
    text
}

fn places(verify: &VerifyModels) -> Result<LibrarySources, Failure> {
    let main = ExtractedLibrary {
        version: verify.library_version.clone().unwrap_or_default(),
        folders: verify.folders.clone(),
    };
    let mut versions = vec![main];
    add(&mut versions, 1, &verify.other)?;
    let mut older = Vec::new();
    add(&mut older, 0, &verify.older)?;
    let places =
        LibrarySources { versions, older, with: verify.with.clone(), standard: verify.standard_library.clone() };
    let versions = places.versions.iter().chain(&places.older);
    let all = versions.flat_map(|of| &of.folders).chain(&places.with).chain(&places.standard);
    let missing: Vec<String> =
        all.filter(|folder| !folder.is_dir()).map(|folder| format!("{folder}: no such folder")).collect();
    if missing.is_empty() { Ok(places) } else { Err(Failure::all(missing)) }
}

/// Adds the versions that `--other` or `--older` gives as `VERSION=FOLDER`. A version that stands in the list from index
/// `first` on gets one more folder.
fn add(versions: &mut Vec<ExtractedLibrary>, first: usize, given: &[String]) -> Result<(), Failure> {
    for other in given {
        let Some((version, folder)) = other.split_once('=') else {
            return Err(Failure::new(format!("`{other}` is not VERSION=FOLDER")));
        };
        let folder = Utf8PathBuf::from(folder);
        match versions[first..].iter_mut().find(|known| known.version == version) {
            Some(known) => known.folders.push(folder),
            None => versions.push(ExtractedLibrary { version: version.to_owned(), folders: vec![folder] }),
        }
    }
    Ok(())
}
