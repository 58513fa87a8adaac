//! Everything that is known of single lines: the analysis that `check` makes, then what it found at each line, what of that is
//! hidden and why, and what each call there leads to.

mod conditions;
mod doubts;
mod fate;
mod functions;
mod lines;
mod no_finding_text;
mod sites;
mod values;

use blocklint_analysis::{Explainer, FileId, Linker, Names, PlaceRole, Program, SourceFile};
use blocklint_core::{Finding, Language, Span};
use blocklint_models::Models;
use blocklint_output::{ExplainedFinding, ExplainedLine, ExplainedSite, Outcome, Remark, Sources};
use blocklint_project::Project;
use camino::Utf8Path;
use rustc_hash::FxHashMap;

use crate::analyse::{Options, loaded, on_large_stacks, options_of, unread};
use crate::choose::{Chosen, Levels};
use crate::comments::{comments, unread_languages};
use crate::contain::{LeftOut, contain, unseen_languages};
use crate::extraction::extract_all;
use crate::progress::Progress;
use crate::sources::{line_span, locate_one, places, text_of};
use crate::{Failure, Rules, words};
use fate::Fates;
use functions::ToldFunction;

/// Findings elsewhere that are shown for one line or site.
const SHOWN: usize = 5;

/// Callers, reasons and findings that are listed.
const MOST_LISTED: usize = 10;

/// The lines to explain, and the run that finds their findings.
pub struct ExplainRequest<'a> {
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
    /// The lines.
    pub lines: &'a [AskedLine],
    /// Removes the findings of a baseline from those shown, and returns them.
    pub hold: &'a dyn Fn(&mut Chosen) -> Vec<Finding>,
    /// Receives the progress of the run.
    pub progress: &'a dyn Progress,
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedLine {
    /// The file, as an index into the project's.
    pub file: usize,
    /// In a notebook the number of the cell within which the line counts.
    pub cell: Option<u32>,
    /// The line, from 1.
    pub line: u32,
}

/// Returns the explanation of each line, `None` if the file has no such line; and the parts that the analysis left out.
///
/// # Errors
/// If the system starts no threads.
pub fn explain(request: &ExplainRequest<'_>) -> Result<(Vec<Option<ExplainedLine>>, Vec<LeftOut>), Failure> {
    let ExplainRequest { project, models, options, progress, .. } = *request;
    let spans: Vec<Option<AskedSpan>> = request.lines.iter().map(|line| span_of(project, *line)).collect();
    let told = on_large_stacks(|| tell(project, models, options, &spans, progress))?;
    let fates = Fates::new(request, &told.findings);
    let mut sources = Sources::default();
    let mut lines: Vec<Option<ExplainedLine>> = told
        .lines
        .into_iter()
        .map(|line| line.map(|line| finish(line, &told.findings, &told.doubts, &fates)))
        .collect();
    for line in lines.iter_mut().flatten() {
        locate(project, line, &mut sources);
    }
    Ok((lines, told.left_out))
}

/// A line as its file's facts count it.
struct AskedSpan {
    path: std::sync::Arc<Utf8Path>,
    line: Span,
    /// The line without the blanks around it.
    code: Span,
    text: std::sync::Arc<str>,
}

fn span_of(project: &Project, asked: AskedLine) -> Option<AskedSpan> {
    let source = project.files.get(asked.file)?;
    let (text, cells) = text_of(project, &source.path)?;
    let line = match asked.cell {
        None => line_span(&text, asked.line)?,
        Some(number) => {
            let at = cells.iter().position(|cell| cell.number == number)?;
            let start = cells[at].offset;
            let end = cells.get(at + 1).map_or(text.len(), |next| next.offset as usize);
            let inside = line_span(text.get(start as usize..end)?, asked.line)?;
            Span::new(start + inside.start, start + inside.end)
        }
    };
    let written = text.get(line.start as usize..line.end as usize)?;
    let blanks = (written.len() - written.trim_start().len()) as u32;
    let start = if blanks as usize == written.len() { line.start } else { line.start + blanks };
    let code = Span::new(start, start + written.trim().len() as u32);
    Some(AskedSpan { path: std::sync::Arc::clone(&source.path), line, code, text })
}

/// The answers of an analysis about some lines; findings are numbers.
struct LineAnswers {
    /// All findings of the project, at every level.
    findings: Vec<Finding>,
    /// For each what makes it less sure besides signals.
    doubts: Vec<Vec<Remark>>,
    lines: Vec<Option<ToldLine>>,
    /// The parts that the analysis left out because it failed there.
    left_out: Vec<LeftOut>,
}

struct ToldLine {
    told: ExplainedLine,
    findings: Vec<(usize, PlaceRole)>,
    function: Option<ToldFunction>,
    /// For each site the findings that it belongs to.
    of_sites: Vec<Vec<usize>>,
}

/// Analyses the project, and explains some lines. Must run in a pool of threads with large stacks.
fn tell(
    project: &Project,
    models: &Models,
    options: Options,
    spans: &[Option<AskedSpan>],
    progress: &dyn Progress,
) -> LineAnswers {
    let (extracted, _, _) = extract_all(project, progress);
    let unread = unread(project, &extracted);
    let unread_languages = unread_languages(project, &extracted);
    let (files, layout) = loaded(project, models, extracted);
    let names = Names::new(&files);
    let program = Program::new(&files, &layout, &names);
    let new_linker = || blocklint_analysis::new_linker(&program, models);
    let contained = contain(&program, options, new_linker, |linker, left_out| {
        let unseen = unseen_languages(&unread_languages, left_out);
        tell_lines(linker, &files, options, spans, &unread, &unseen)
    });
    LineAnswers { left_out: contained.left_out, ..contained.done }
}

/// Returns the explanation of some lines, by a linker over these files.
fn tell_lines(
    linker: &Linker<'_>,
    files: &[SourceFile],
    options: Options,
    spans: &[Option<AskedSpan>],
    unread: &[Finding],
    unseen: &[Language],
) -> LineAnswers {
    let program = linker.program;
    let explainer = Explainer::new(linker, options_of(options));
    let solved = explainer.solved();
    // Findings keep their numbers from the analysis; those about comments and files come after.
    let mut findings: Vec<Finding> = Vec::new();
    let mut doubts: Vec<Vec<Remark>> = Vec::new();
    let mut numbers: Vec<Option<usize>> = Vec::new();
    for raw in &solved.findings {
        let told = words::finding(linker, solved, raw);
        numbers.push(told.is_some().then_some(findings.len()));
        if let Some(finding) = told {
            findings.push(finding);
            doubts.push(doubts::doubts(&explainer, raw));
        }
    }
    let about_comments = comments(files, solved, options.comments, unseen, |_| true);
    findings.extend(about_comments.into_iter().map(|(finding, _)| finding));
    findings.extend(unread.iter().cloned());
    doubts.resize(findings.len(), Vec::new());
    let mut of_source: FxHashMap<&Utf8Path, Vec<usize>> = FxHashMap::default();
    for (at, finding) in findings.iter().enumerate().skip(numbers.iter().flatten().count()) {
        of_source.entry(&finding.place.path).or_default().push(at);
    }
    let slots: FxHashMap<&Utf8Path, usize> =
        program.files.iter().enumerate().map(|(slot, file)| (&*file.path, slot)).collect();
    let number = |at: &usize| numbers.get(*at).copied().flatten();
    let lines = spans.iter().map(|span| {
        let span = span.as_ref()?;
        let about_source = of_source.get(&*span.path).into_iter().flatten().copied().filter(|at| {
            let start = findings[*at].place.span.start;
            span.line.start <= start && start <= span.line.end
        });
        let about_source: Vec<(usize, PlaceRole)> = about_source.map(|at| (at, PlaceRole::Finding)).collect();
        Some(match slots.get(&*span.path) {
            Some(&slot) => tell_line(&explainer, FileId(slot as u32), span, &number, about_source),
            None => tell_unread(span, about_source),
        })
    });
    let lines = lines.collect();
    drop((of_source, slots));
    // Freeing a large program takes time, and the process ends soon.
    std::mem::forget(explainer);
    LineAnswers { findings, doubts, lines, left_out: Vec::new() }
}

/// Returns the explanation of a line of a file that could not be read.
fn tell_unread(span: &AskedSpan, findings: Vec<(usize, PlaceRole)>) -> ToldLine {
    ToldLine {
        told: ExplainedLine {
            place: blocklint_core::Place::unlocated(std::sync::Arc::clone(&span.path), span.code),
            stands: "in a file that could not be read".to_owned(),
            remarks: Vec::new(),
            findings: Vec::new(),
            more_findings: 0,
            function: None,
            sites: Vec::new(),
        },
        findings,
        function: None,
        of_sites: Vec::new(),
    }
}

/// Returns the explanation of a line, with the findings about comments and files that stand there.
fn tell_line(
    explainer: &Explainer<'_, '_>,
    file: FileId,
    span: &AskedSpan,
    number: &dyn Fn(&usize) -> Option<usize>,
    about_source: Vec<(usize, PlaceRole)>,
) -> ToldLine {
    let linker = explainer.linker();
    let standing = explainer.line_context(file, span.line, span.code);
    let text = span.text.get(span.line.start as usize..span.line.end as usize).unwrap_or_default();
    let kind = lines::kind_of(text, linker.program.language(file));
    let mut sites = explainer.sites_on_line(file, span.line);
    let imports_alone = standing.is_import && sites.iter().all(|&site| explainer.is_import(site));
    let is_called = !sites.is_empty() && !imports_alone;
    if !is_called {
        sites = standing.enclosing_call.into_iter().collect();
    }
    let mut found = about_source;
    found.extend(explainer.findings_on(file, span.line).iter().filter_map(|(at, part)| Some((number(at)?, *part))));
    let mut told_sites: Vec<ExplainedSite> = Vec::new();
    let mut of_sites: Vec<Vec<usize>> = Vec::new();
    for &site in &sites {
        let explanation = explainer.explain(site);
        let of_site: Vec<usize> = explanation.findings.iter().filter_map(number).collect();
        found.extend(of_site.iter().map(|at| (*at, PlaceRole::OtherPath)));
        told_sites.push(sites::explained(explainer, &explanation));
        of_sites.push(of_site);
    }
    found.sort_unstable();
    found.dedup_by_key(|(at, _)| *at);
    // A function is explained at its definition, and where nothing else is explained.
    let is_quiet = told_sites.is_empty() && found.is_empty();
    let function = standing.function.filter(|_| !standing.defines.is_empty() || is_quiet);
    let mut remarks = lines::of_file(explainer, file, &span.text);
    remarks.extend(lines::of_comments(explainer, file, span.line));
    remarks.extend(lines::remarks(explainer, &standing, is_called, !found.is_empty()));
    ToldLine {
        told: ExplainedLine {
            place: sites::place(linker, file, span.code),
            stands: lines::stands(explainer, &standing, kind),
            remarks,
            findings: Vec::new(),
            more_findings: 0,
            function: None,
            sites: told_sites,
        },
        findings: found,
        function: function.map(|of| functions::explained_function(explainer, of)),
        of_sites,
    }
}

/// Puts the findings into a line, those that stand there first.
fn finish(line: ToldLine, findings: &[Finding], doubts: &[Vec<Remark>], fates: &Fates) -> ExplainedLine {
    let ToldLine { mut told, findings: mut found, function, of_sites } = line;
    let rank = |at: usize| {
        let finding = &findings[at];
        (fates.hidden(at).is_some(), std::cmp::Reverse((finding.severity, finding.confidence)))
    };
    found.sort_by_key(|&(at, part)| match part {
        PlaceRole::Finding => (false, (false, std::cmp::Reverse(Default::default())), part, at),
        _ => (true, (rank(at).0, std::cmp::Reverse(Some(rank(at).1.0))), part, at),
    });
    let standing = found.iter().filter(|(_, part)| *part == PlaceRole::Finding).count();
    let shown = found.len().min(standing + SHOWN);
    told.more_findings = found.len() - shown;
    told.findings = found[..shown]
        .iter()
        .map(|&(at, part)| ExplainedFinding {
            finding: findings[at].clone(),
            part: part_in_words(part),
            hidden: fates.hidden(at),
            doubts: doubts[at].clone(),
        })
        .collect();
    for (site, of_site) in told.sites.iter_mut().zip(of_sites) {
        let belongs = of_site.iter().take(SHOWN).map(|&at| {
            let finding = &findings[at];
            Outcome::Finding(finding.rule, finding.place.clone())
        });
        let more = of_site.len().saturating_sub(SHOWN);
        let more = (more > 0).then_some(Outcome::Others(more));
        site.outcomes.splice(0..0, belongs.chain(more));
    }
    told.function = function.map(|function| {
        let ToldFunction { mut told, inside, passing } = function;
        let say = |at: &usize, through: &str| {
            let finding = &findings[*at];
            let hidden = if fates.hidden(*at).is_some() { ", hidden" } else { "" };
            let (rule, severity, confidence) = (finding.rule, finding.severity, finding.confidence);
            let says = format!("{rule} {severity}, confidence {confidence}{through}{hidden}");
            Remark::at(says, finding.place.clone())
        };
        let all = inside.iter().map(|at| say(at, "")).chain(passing.iter().map(|at| say(at, ", through it")));
        told.findings = all.take(MOST_LISTED).collect();
        let more = (inside.len() + passing.len()).saturating_sub(MOST_LISTED);
        if more > 0 {
            told.findings.push(Remark::new(format!("and {more} more")));
        }
        told
    });
    told
}

/// Returns what a line has to do with a finding that stands elsewhere.
fn part_in_words(part: PlaceRole) -> Option<&'static str> {
    match part {
        PlaceRole::Finding => None,
        PlaceRole::BlockingCall => Some("the call that blocks is here"),
        PlaceRole::OnPath => Some("its path passes here"),
        PlaceRole::LockHolder => Some("the lock that it waits for is held here"),
        PlaceRole::OtherCause => Some("one of its causes is here"),
        PlaceRole::OtherPath => Some("a further path of it passes here"),
    }
}

fn locate(project: &Project, line: &mut ExplainedLine, sources: &mut Sources) {
    locate_one(project, &mut line.place, sources);
    let ExplainedLine { remarks, findings, function, sites, .. } = line;
    let mut all_remarks: Vec<&mut Remark> = remarks.iter_mut().collect();
    for explained in findings {
        places(&mut explained.finding).for_each(|place| locate_one(project, place, sources));
        all_remarks.extend(&mut explained.doubts);
    }
    if let Some(function) = function {
        locate_one(project, &mut function.place, sources);
        let lists = [&mut function.duty, &mut function.uses, &mut function.reaches, &mut function.findings];
        all_remarks.extend(lists.into_iter().flatten());
    }
    for site in sites {
        locate_one(project, &mut site.place, sources);
        site.targets.iter_mut().filter_map(|target| target.place.as_mut()).for_each(|place| {
            locate_one(project, place, sources);
        });
        for outcome in &mut site.outcomes {
            match outcome {
                Outcome::Finding(_, place) => locate_one(project, place, sources),
                Outcome::Ends(remark) => all_remarks.push(remark),
                Outcome::Others(_) => {}
            }
        }
    }
    for place in all_remarks.into_iter().filter_map(|remark| remark.place.as_mut()) {
        locate_one(project, place, sources);
    }
}
