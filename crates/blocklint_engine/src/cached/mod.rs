//! A run that begins where earlier ones ended: facts of unchanged files, or all that was found where nothing changed.

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

use crate::analyse::{Unsolved, analyse_files, layout_of, on_large_stacks, opened, source_files, unread};
use crate::choose::{Chosen, Hidden, Levels, choose_keeping};
use crate::comments::unread_languages;
use crate::contain::{Gave, LeftOut};
use crate::extraction::{Extracted, extract_all};
use crate::fixing::attach;
use crate::plan::FindingPaths;
use crate::timings::Timings;
use crate::{Failure, Options, Progress, Rules, analyse_watched};

use facts::extract_known;
use inputs::{FileStates, contents, look, settings};
use stored::StoredChosen;

/// The request for a run.
#[derive(Clone, Copy)]
pub struct RunRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The models.
    pub models: &'a Models,
    /// Which rules are reported where.
    pub rules: &'a Rules,
    /// The least that is shown.
    pub levels: Levels,
    /// The options of the analysis.
    pub options: Options,
    /// True if findings get their fixes, which costs another look at each file with findings.
    pub fixes: bool,
    /// The cache with results of earlier runs, if it may be used.
    pub cache: Option<&'a Cache>,
    /// Receives the progress of the run.
    pub progress: &'a dyn Progress,
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// The findings to show; places are not located yet.
    pub chosen: Chosen,
    /// The number of files that could be opened.
    pub read: usize,
    /// How long each part took.
    pub timings: Timings,
    /// The texts of files that are not what the work tree holds.
    pub texts: Sources,
    /// Why nothing was kept for the next run, where something should have been.
    pub unkept: Option<String>,
    /// All paths of the findings, if the run was asked for them.
    pub all_paths: Option<FindingPaths>,
    /// The parts that the analysis left out because it failed there.
    pub left_out: Vec<LeftOut>,
}

impl Ran {
    fn of(chosen: Chosen, read: usize, timings: Timings) -> Self {
        Ran { chosen, read, timings, texts: Sources::default(), unkept: None, all_paths: None, left_out: Vec::new() }
    }
}

/// Returns the name under which this build of the program keeps things.
pub fn cache_version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), "-", env!("BLOCKLINT_BUILD"))
}

/// The stored result of one run for the next.
#[derive(Serialize, Deserialize)]
struct StoredRun {
    /// Of what the file system said of all files; none where a later change might not show.
    stats: Option<Digest>,
    /// Of the bytes of all files.
    contents: Digest,
    /// The number of files that could be opened.
    read: u64,
    chosen: StoredChosen,
}

/// Analyses the project, or takes what a run over the same files found. With and without a cache the result is the same.
///
/// # Errors
/// If the system starts no threads.
pub fn run(request: RunRequest<'_>) -> Result<Ran, Failure> {
    let anew = || {
        let report = analyse_watched(request.project, request.models, request.options, request.progress)?;
        finish(&request, report)
    };
    let Some(cache) = request.cache else { return anew() };
    // Made-up facts may pass every check and still differ from those of a front end. If a run with them panics, a run
    // without them shows the reason.
    let ran = catch_unwind(AssertUnwindSafe(|| run_with(&request, cache)));
    // Stored facts may be the reason of the panic.
    let is_doubtful = |ran: &Ran| {
        let panicked = ran.left_out.iter().any(|of| matches!(of.why, Gave::Panic(_)));
        panicked && ran.timings.extracted < request.project.files.len()
    };
    match ran {
        Ok(Ok(ran)) if !is_doubtful(&ran) => Ok(ran),
        Ok(Err(failure)) => Err(failure),
        Ok(Ok(_)) | Err(_) => {
            // Where nothing can be removed, the next run does as this one.
            let _ = cache.forget_files();
            anew()
        }
    }
}

fn run_with(request: &RunRequest<'_>, cache: &Cache) -> Result<Ran, Failure> {
    let started = Instant::now();
    let now = SystemTime::now();
    let project = request.project;
    let layout = layout_of(project, request.models);
    let key = settings(request, &layout);
    let mut looked = on_large_stacks(|| look(project, now))?;
    // Paths are not kept in the cache: the facts are, and the paths are found again.
    let kept: Option<StoredRun> = if request.options.all_paths { None } else { cache.load_run(key) };
    if let Some(kept) = &kept
        && kept.stats.is_some()
        && kept.stats == looked.stats
        && let Some(chosen) = kept.chosen.restored()
    {
        let timings = Timings { facts: started.elapsed(), ..Timings::default() };
        return Ok(Ran::of(chosen, kept.read as usize, timings));
    }
    let files = cache.files();
    // Where nothing is kept of such a run, all are read at once for their facts.
    if let Some(kept) = kept {
        on_large_stacks(|| contents(project, &files, &mut looked))?;
        if looked.digest(project) == Some(kept.contents)
            && let Some(chosen) = kept.chosen.restored()
        {
            let timings = Timings { facts: started.elapsed(), ..Timings::default() };
            let read = kept.read as usize;
            let unkept =
                keep(cache, key, &StoredRun { stats: looked.stats, ..kept }).and(renew(project, files, &looked));
            return Ok(Ran { unkept: unkept.err().map(|error| error.to_string()), ..Ran::of(chosen, read, timings) });
        }
    }
    let (extracted, parse, facts) = on_large_stacks(|| extract_known(project, &files, &looked, request.progress))?;
    let timings = Timings { parse, facts, extracted: count_new(&extracted), ..Timings::default() };
    let report_and_unkept = on_large_stacks(|| {
        let (extracted, seen): (Vec<_>, Vec<_>) = extracted.into_iter().unzip();
        let unread = unread(project, &extracted);
        let unread_languages = unread_languages(project, &extracted);
        let read = opened(&extracted);
        let unsolved = Unsolved { project, unread, unread_languages, read, timings, progress: request.progress };
        let sources = source_files(project, extracted);
        // Facts are written while the analysis, whose parts wait for each other, has no work for all threads.
        let (report, saved) = rayon::join(
            || analyse_files(&sources, &layout, request.models, request.options, unsolved),
            || cache.create_folder().and_then(|()| facts::save_sources(project, files, &seen, &sources)),
        );
        request.options.free(sources);
        (report, saved, seen)
    })?;
    let (report, saved, seen) = report_and_unkept;
    let ran = finish(request, report)?;
    let contents = facts::digest(project, &seen);
    let stats = looked.stats;
    let kept = StoredRun { stats, contents, read: ran.read as u64, chosen: StoredChosen::of(&ran.chosen) };
    // The next run tries again what this one left out.
    let is_kept = ran.all_paths.is_none() && ran.left_out.is_empty();
    let keep = |()| if is_kept { keep(cache, key, &kept) } else { Ok(()) };
    let unkept = saved.and_then(keep).err().map(|error| error.to_string());
    Ok(Ran { unkept, ..ran })
}

/// The facts of all files, those of unchanged ones as they were kept.
pub(crate) struct KnownFacts {
    pub(crate) extracted: Vec<Extracted>,
    pub(crate) timings: Timings,
    /// Why nothing was kept, where something should have been.
    pub(crate) unkept: Option<String>,
}

/// Returns the facts of all files alone; those that are new are kept.
pub(crate) fn known_facts(request: &RunRequest<'_>) -> Result<KnownFacts, Failure> {
    let project = request.project;
    let Some(cache) = request.cache else {
        let (extracted, parse, facts) = on_large_stacks(|| extract_all(project, request.progress))?;
        return Ok(KnownFacts {
            extracted,
            timings: Timings { parse, facts, extracted: project.files.len(), ..Timings::default() },
            unkept: None,
        });
    };
    let looked = on_large_stacks(|| look(project, SystemTime::now()))?;
    let files = cache.files();
    let (extracted, parse, facts) = on_large_stacks(|| extract_known(project, &files, &looked, request.progress))?;
    let new = count_new(&extracted);
    let (extracted, seen): (Vec<_>, Vec<_>) = extracted.into_iter().unzip();
    let saved = cache.create_folder().and_then(|()| facts::save(project, files, &seen, &extracted));
    let timings = Timings { parse, facts, extracted: new, ..Timings::default() };
    Ok(KnownFacts { extracted, timings, unkept: saved.err().map(|error| error.to_string()) })
}

/// Returns the number of files that were read for their facts.
fn count_new<T>(extracted: &[(Extracted, T)]) -> usize {
    extracted.iter().filter(|(file, _)| !file.is_kept).count()
}

/// Keeps a whole run, and removes entries that no later run will read.
fn keep(cache: &Cache, key: Digest, kept: &StoredRun) -> std::io::Result<()> {
    cache.store_run(key, kept)?;
    cache.prune();
    Ok(())
}

/// Stores the present metadata of files whose bytes are unchanged.
fn renew(project: &Project, files: Files, looked: &FileStates) -> std::io::Result<()> {
    let known: Vec<_> = project.files.iter().map(|file| files.get(file.relative.as_str()).copied()).collect();
    let listed = project.files.iter().zip(known).zip(&looked.files).filter_map(|((file, known), seen)| {
        let known = known?.with_stat(seen.stat.filter(|_| !seen.recent));
        Some((file.relative.as_str(), blocklint_cache::FileUpdate::Kept(known)))
    });
    files.save(listed, |path| facts::stays(project, path))
}

/// Returns the findings that are shown, with their fixes.
pub(crate) fn finish(request: &RunRequest<'_>, report: crate::Report) -> Result<Ran, Failure> {
    Ok(finish_keeping(request, report)?.0)
}

/// Finishes a run as [`finish`] does and also returns the findings that are only counted.
pub(crate) fn finish_keeping(request: &RunRequest<'_>, mut report: crate::Report) -> Result<(Ran, Hidden), Failure> {
    let started = Instant::now();
    request.rules.hide(&mut report.findings);
    let (mut chosen, hidden) = choose_keeping(report.findings, report.groups, &request.rules.selection, request.levels);
    chosen.must_not_block = report.must_not_block;
    if request.fixes {
        on_large_stacks(|| attach(request.project, &report.remedies, &mut chosen.findings))?;
    }
    let mut timings = report.timings;
    timings.output += started.elapsed();
    Ok((
        Ran { all_paths: report.all_paths, left_out: report.left_out, ..Ran::of(chosen, report.read, timings) },
        hidden,
    ))
}

/// Returns the digest of files by their paths and what is said of each.
fn digest_of<'f>(project: &'f Project, of: impl Iterator<Item = Option<Digest>> + 'f) -> Option<Digest> {
    let mut all = Hasher::new();
    for (file, digest) in project.files.iter().zip(of) {
        all.add_part(file.relative.as_str().as_bytes()).add_number(digest?.0);
    }
    Some(all.digest())
}
