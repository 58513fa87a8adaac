//! Runs with a cache: a run uses the stored facts of unchanged files, and the stored findings if no input has changed.

pub(crate) mod begun;
mod facts;
mod inputs;
mod stored;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Instant, SystemTime};

use blocklint_cache::{Cache, Digest, Files, Hasher};
use blocklint_models::Models;
use blocklint_output::Sources;
use blocklint_project::Project;
use serde::{Deserialize, Serialize};

use crate::analyse::{
    Unsolved, analyse_files, count_opened, on_large_stacks, project_layout, source_files, unread_findings,
};
use crate::choose::{Chosen, Hidden, Levels, choose_with_hidden};
use crate::comments::unread_languages;
use crate::contain::{LeftOut, LeftOutReason};
use crate::extraction::{Extracted, extract_all};
use crate::fixing::attach_fixes;
use crate::plan::FindingPaths;
use crate::timings::Timings;
use crate::{Failure, Options, Progress, Rules, analyse_with_progress};

use facts::extract_known;
use inputs::{FileStates, add_content_digests, read_file_states, settings_digest};
use stored::StoredChosen;

/// The request for a run.
#[derive(Clone, Copy)]
pub struct RunRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The models.
    pub models: &'a Models,
    /// The rules that are reported, and in which files.
    pub rules: &'a Rules,
    /// The least severity and confidence of shown findings.
    pub levels: Levels,
    /// The options of the analysis.
    pub options: Options,
    /// True if findings get their fixes. This parses each file with findings once more.
    pub fixes: bool,
    /// The cache, if it may be used.
    pub cache: Option<&'a Cache>,
    /// Receives the progress of the run.
    pub progress: &'a dyn Progress,
}

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// The findings to show. Their places have no rows and columns yet.
    pub chosen: Chosen,
    /// The number of files that could be opened.
    pub read: usize,
    /// How long each part took.
    pub timings: Timings,
    /// The texts of files that differ from the work tree, because the analysed state is the staged one.
    pub texts: Sources,
    /// The error of writing the cache, if there was one.
    pub cache_error: Option<String>,
    /// All paths of the findings, if [`Options::all_paths`] is set.
    pub all_paths: Option<FindingPaths>,
    /// The parts that the analysis left out because it failed there.
    pub left_out: Vec<LeftOut>,
}

impl RunResult {
    fn of(chosen: Chosen, read: usize, timings: Timings) -> Self {
        RunResult {
            chosen,
            read,
            timings,
            texts: Sources::default(),
            cache_error: None,
            all_paths: None,
            left_out: Vec::new(),
        }
    }
}

/// Returns the version of cache entries: that of the program and the hash of its sources. Entries of another version
/// are not read.
pub fn cache_version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), "-", env!("BLOCKLINT_BUILD"))
}

/// The stored result of a run.
#[derive(Serialize, Deserialize)]
struct StoredRun {
    /// The digest of the metadata of all files; `None` if one more change of a file may not show in it.
    stats: Option<Digest>,
    /// The digest of the bytes of all files.
    contents: Digest,
    /// The number of files that could be opened.
    read: u64,
    chosen: StoredChosen,
}

/// Analyses the project, or returns the stored result of a run with equal inputs. The cache does not change the result.
///
/// # Errors
/// If the system starts no threads.
pub fn run(request: RunRequest<'_>) -> Result<RunResult, Failure> {
    let run_without_cache = || {
        let report = analyse_with_progress(request.project, request.models, request.options, request.progress)?;
        finish(&request, report)
    };
    let Some(cache) = request.cache else { return run_without_cache() };
    // Manipulated facts may pass every check and still differ from those of a front end. If a run with stored facts
    // panics, it is repeated without the cache.
    let result = catch_unwind(AssertUnwindSafe(|| run_with_cache(&request, cache)));
    // True if a unit panicked and some facts came out of the cache.
    let is_doubtful = |ran: &RunResult| {
        let panicked = ran.left_out.iter().any(|left_out| matches!(left_out.why, LeftOutReason::Panic(_)));
        panicked && ran.timings.extracted < request.project.files.len()
    };
    match result {
        Ok(Ok(ran)) if !is_doubtful(&ran) => Ok(ran),
        Ok(Err(failure)) => Err(failure),
        Ok(Ok(_)) | Err(_) => {
            // If the facts cannot be removed, the next run meets them again and does the same.
            let _ = cache.forget_files();
            run_without_cache()
        }
    }
}

fn run_with_cache(request: &RunRequest<'_>, cache: &Cache) -> Result<RunResult, Failure> {
    let started = Instant::now();
    let now = SystemTime::now();
    let project = request.project;
    let layout = project_layout(project, request.models);
    let key = settings_digest(request, &layout);
    let mut states = on_large_stacks(|| read_file_states(project, now))?;
    // Paths are not stored. A run that needs them uses the stored facts and searches again.
    let stored: Option<StoredRun> = if request.options.all_paths { None } else { cache.load_run(key) };
    if let Some(stored) = &stored
        && stored.stats.is_some()
        && stored.stats == states.stats
        && let Some(chosen) = stored.chosen.to_chosen()
    {
        let timings = Timings { facts: started.elapsed(), ..Timings::default() };
        return Ok(RunResult::of(chosen, stored.read as usize, timings));
    }
    let files = cache.files();
    // Content digests are needed only to compare with a stored run. Without one, each file is read once, for its facts.
    if let Some(stored) = stored {
        on_large_stacks(|| add_content_digests(project, &files, &mut states))?;
        if states.content_digest(project) == Some(stored.contents)
            && let Some(chosen) = stored.chosen.to_chosen()
        {
            let timings = Timings { facts: started.elapsed(), ..Timings::default() };
            let read = stored.read as usize;
            let cache_error = store_run(cache, key, &StoredRun { stats: states.stats, ..stored })
                .and(store_new_metadata(project, files, &states));
            return Ok(RunResult {
                cache_error: cache_error.err().map(|error| error.to_string()),
                ..RunResult::of(chosen, read, timings)
            });
        }
    }
    let (extracted, parse, facts) = on_large_stacks(|| extract_known(project, &files, &states, request.progress))?;
    let timings = Timings { parse, facts, extracted: count_new(&extracted), ..Timings::default() };
    let analysed = on_large_stacks(|| {
        let (extracted, outcomes): (Vec<_>, Vec<_>) = extracted.into_iter().unzip();
        let unread = unread_findings(project, &extracted);
        let unread_languages = unread_languages(project, &extracted);
        let read = count_opened(&extracted);
        let unsolved = Unsolved { project, unread, unread_languages, read, timings, progress: request.progress };
        let sources = source_files(project, extracted);
        // The facts are written during the analysis, because its parts wait for each other and leave threads idle.
        let (report, saved) = rayon::join(
            || analyse_files(&sources, &layout, request.models, request.options, unsolved),
            || cache.create_folder().and_then(|()| facts::store_linked_facts(project, files, &outcomes, &sources)),
        );
        request.options.free_or_leak(sources);
        (report, saved, outcomes)
    })?;
    let (report, saved, outcomes) = analysed;
    let ran = finish(request, report)?;
    let contents = facts::content_digest(project, &outcomes);
    let stats = states.stats;
    let stored = StoredRun { stats, contents, read: ran.read as u64, chosen: StoredChosen::of(&ran.chosen) };
    // A result that lacks a unit is not stored, so that the next run tries the unit again.
    let is_storable = ran.all_paths.is_none() && ran.left_out.is_empty();
    let store = |()| if is_storable { store_run(cache, key, &stored) } else { Ok(()) };
    let cache_error = saved.and_then(store).err().map(|error| error.to_string());
    Ok(RunResult { cache_error, ..ran })
}

/// The facts of all files, out of the cache for unchanged files.
pub(crate) struct CachedFacts {
    pub(crate) extracted: Vec<Extracted>,
    pub(crate) timings: Timings,
    /// The error of writing the cache, if there was one.
    pub(crate) cache_error: Option<String>,
}

/// Returns the facts of all files and stores new ones in the cache, if there is a cache.
pub(crate) fn extract_with_cache(request: &RunRequest<'_>) -> Result<CachedFacts, Failure> {
    let project = request.project;
    let Some(cache) = request.cache else {
        let (extracted, parse, facts) = on_large_stacks(|| extract_all(project, request.progress))?;
        return Ok(CachedFacts {
            extracted,
            timings: Timings { parse, facts, extracted: project.files.len(), ..Timings::default() },
            cache_error: None,
        });
    };
    let states = on_large_stacks(|| read_file_states(project, SystemTime::now()))?;
    let files = cache.files();
    let (extracted, parse, facts) = on_large_stacks(|| extract_known(project, &files, &states, request.progress))?;
    let new_count = count_new(&extracted);
    let (extracted, outcomes): (Vec<_>, Vec<_>) = extracted.into_iter().unzip();
    let saved =
        cache.create_folder().and_then(|()| facts::store_extracted_facts(project, files, &outcomes, &extracted));
    let timings = Timings { parse, facts, extracted: new_count, ..Timings::default() };
    Ok(CachedFacts { extracted, timings, cache_error: saved.err().map(|error| error.to_string()) })
}

/// Returns the number of files whose facts are not from the cache.
fn count_new<T>(extracted: &[(Extracted, T)]) -> usize {
    extracted.iter().filter(|(file, _)| !file.is_kept).count()
}

/// Stores the result of a run, and removes old entries.
fn store_run(cache: &Cache, key: Digest, stored: &StoredRun) -> std::io::Result<()> {
    cache.store_run(key, stored)?;
    cache.prune();
    Ok(())
}

/// Stores the new metadata of files whose bytes are unchanged.
fn store_new_metadata(project: &Project, files: Files, states: &FileStates) -> std::io::Result<()> {
    let known: Vec<_> = project.files.iter().map(|file| files.get(file.relative.as_str()).copied()).collect();
    let listed = project.files.iter().zip(known).zip(&states.files).filter_map(|((file, known), state)| {
        let known = known?.with_stat(state.stat.filter(|_| !state.is_recent));
        Some((file.relative.as_str(), blocklint_cache::FileUpdate::Kept(known)))
    });
    files.save(listed, |path| facts::has_source_file(project, path))
}

/// Returns the result of a run: the findings to show, with their fixes.
pub(crate) fn finish(request: &RunRequest<'_>, report: crate::Report) -> Result<RunResult, Failure> {
    Ok(finish_with_hidden(request, report)?.0)
}

/// Returns the result as [`finish`] does, and the findings that are only counted.
pub(crate) fn finish_with_hidden(
    request: &RunRequest<'_>,
    mut report: crate::Report,
) -> Result<(RunResult, Hidden), Failure> {
    let started = Instant::now();
    request.rules.suppress_per_file(&mut report.findings);
    let (mut chosen, hidden) =
        choose_with_hidden(report.findings, report.groups, &request.rules.selection, request.levels);
    chosen.must_not_block = report.must_not_block;
    if request.fixes {
        on_large_stacks(|| attach_fixes(request.project, &report.remedies, &mut chosen.findings))?;
    }
    let mut timings = report.timings;
    timings.output += started.elapsed();
    Ok((
        RunResult {
            all_paths: report.all_paths,
            left_out: report.left_out,
            ..RunResult::of(chosen, report.read, timings)
        },
        hidden,
    ))
}

/// Returns the digest of all files by their paths and contents; `None` if a content is unknown.
fn digest_of_files<'f>(project: &'f Project, contents: impl Iterator<Item = Option<Digest>> + 'f) -> Option<Digest> {
    let mut hasher = Hasher::new();
    for (file, digest) in project.files.iter().zip(contents) {
        hasher.add_part(file.relative.as_str().as_bytes()).add_number(digest?.0);
    }
    Some(hasher.digest())
}
