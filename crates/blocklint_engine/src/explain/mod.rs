//! `blocklint why`: explains single lines. It runs the analysis of `check`, then lists for each line its findings, the
//! reasons why some are hidden, and the result of each call.

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

use crate::analyse::{Options, analysis_options, on_large_stacks, source_files_and_layout, unread_findings};
use crate::choose::{Chosen, Levels};
use crate::comments::{comment_findings, unread_languages};
use crate::contain::{LeftOut, contain, unseen_languages};
use crate::extraction::extract_all;
use crate::progress::Progress;
use crate::sources::{line_span, locate_one, places_of_finding, text_of};
use crate::{Failure, Rules, words};
use fate::Fates;
use functions::FunctionAnswer;

/// The greatest number of findings at other places that are shown for a line or a site.
const MAX_FINDINGS: usize = 5;

/// The greatest number of callers, reasons and findings in a list.
const MAX_LISTED: usize = 10;

/// The lines to explain, and the run that finds their findings.
pub struct ExplainRequest<'a> {
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
    /// The lines to explain.
    pub lines: &'a [AskedLine],
    /// Removes the findings of a baseline from those shown, and returns them.
    pub remove_known: &'a dyn Fn(&mut Chosen) -> Vec<Finding>,
    /// Receives the progress of the run.
    pub progress: &'a dyn Progress,
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedLine {
    /// The index of the file in the project's files.
    pub file: usize,
    /// The number of the cell, in a notebook. The line counts from the start of this cell.
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
    let spans: Vec<Option<LineSpan>> = request.lines.iter().map(|line| line_span_of(project, *line)).collect();
    let answers = on_large_stacks(|| explain_spans(project, models, options, &spans, progress))?;
    let fates = Fates::new(request, &answers.findings);
    let mut sources = Sources::default();
    let mut lines: Vec<Option<ExplainedLine>> = answers
        .lines
        .into_iter()
        .map(|line| line.map(|line| add_findings(line, &answers.findings, &answers.doubts, &fates)))
        .collect();
    for line in lines.iter_mut().flatten() {
        locate(project, line, &mut sources);
    }
    Ok((lines, answers.left_out))
}

/// The span of a line in the text to which the facts of its file refer.
struct LineSpan {
    path: std::sync::Arc<Utf8Path>,
    line: Span,
    /// The line without the white space around it.
    code: Span,
    text: std::sync::Arc<str>,
}

fn line_span_of(project: &Project, asked: AskedLine) -> Option<LineSpan> {
    let source = project.files.get(asked.file)?;
    let (text, cells) = text_of(project, &source.path)?;
    let line = match asked.cell {
        None => line_span(&text, asked.line)?,
        Some(number) => {
            let index = cells.iter().position(|cell| cell.number == number)?;
            let start = cells[index].offset;
            let end = cells.get(index + 1).map_or(text.len(), |next| next.offset as usize);
            let inside = line_span(text.get(start as usize..end)?, asked.line)?;
            Span::new(start + inside.start, start + inside.end)
        }
    };
    let written = text.get(line.start as usize..line.end as usize)?;
    let blanks = (written.len() - written.trim_start().len()) as u32;
    let start = if blanks as usize == written.len() { line.start } else { line.start + blanks };
    let code = Span::new(start, start + written.trim().len() as u32);
    Some(LineSpan { path: std::sync::Arc::clone(&source.path), line, code, text })
}

/// The answers about all requested lines. Lines refer to findings by their index in `findings`.
struct LineAnswers {
    /// All findings of the project, of every severity and confidence.
    findings: Vec<Finding>,
    /// The doubts of each finding.
    doubts: Vec<Vec<Remark>>,
    lines: Vec<Option<LineAnswer>>,
    /// The parts that the analysis left out because it failed there.
    left_out: Vec<LeftOut>,
}

/// The answer about one line.
struct LineAnswer {
    explained: ExplainedLine,
    /// The findings of the line, with the role of the line in each.
    findings: Vec<(usize, PlaceRole)>,
    function: Option<FunctionAnswer>,
    /// The findings of each site in `explained.sites`.
    of_sites: Vec<Vec<usize>>,
}

/// Analyses the project and explains lines. Must run in a pool of threads with large stacks.
fn explain_spans(
    project: &Project,
    models: &Models,
    options: Options,
    spans: &[Option<LineSpan>],
    progress: &dyn Progress,
) -> LineAnswers {
    let (extracted, _, _) = extract_all(project, progress);
    let unread = unread_findings(project, &extracted);
    let unread_languages = unread_languages(project, &extracted);
    let (files, layout) = source_files_and_layout(project, models, extracted);
    let names = Names::new(&files);
    let program = Program::new(&files, &layout, &names);
    let new_linker = || blocklint_analysis::new_linker(&program, models);
    let contained = contain(&program, options, new_linker, |linker, left_out| {
        let unseen = unseen_languages(&unread_languages, left_out);
        explain_with_linker(linker, &files, options, spans, &unread, &unseen)
    });
    LineAnswers { left_out: contained.left_out, ..contained.done }
}

/// Explains lines with a linker over these files.
fn explain_with_linker(
    linker: &Linker<'_>,
    files: &[SourceFile],
    options: Options,
    spans: &[Option<LineSpan>],
    unread: &[Finding],
    unseen: &[Language],
) -> LineAnswers {
    let program = linker.program;
    let explainer = Explainer::new(linker, analysis_options(options));
    let solved = explainer.solved();
    // The findings of the analysis come first. `numbers` has the index of each, because some have no message. Findings
    // about comments and files come after them.
    let mut findings: Vec<Finding> = Vec::new();
    let mut doubts: Vec<Vec<Remark>> = Vec::new();
    let mut numbers: Vec<Option<usize>> = Vec::new();
    for raw in &solved.findings {
        let finding = words::raw_to_finding(linker, solved, raw);
        numbers.push(finding.is_some().then_some(findings.len()));
        if let Some(finding) = finding {
            findings.push(finding);
            doubts.push(doubts::doubts(&explainer, raw));
        }
    }
    let comment_findings = comment_findings(files, solved, options.comments, unseen, |_| true);
    findings.extend(comment_findings.into_iter().map(|(finding, _)| finding));
    findings.extend(unread.iter().cloned());
    doubts.resize(findings.len(), Vec::new());
    let mut source_findings: FxHashMap<&Utf8Path, Vec<usize>> = FxHashMap::default();
    for (index, finding) in findings.iter().enumerate().skip(numbers.iter().flatten().count()) {
        source_findings.entry(&finding.place.path).or_default().push(index);
    }
    let slots: FxHashMap<&Utf8Path, usize> =
        program.files.iter().enumerate().map(|(slot, file)| (&*file.path, slot)).collect();
    let number = |raw: &usize| numbers.get(*raw).copied().flatten();
    let lines = spans.iter().map(|span| {
        let span = span.as_ref()?;
        let about_source = source_findings.get(&*span.path).into_iter().flatten().copied().filter(|index| {
            let start = findings[*index].place.span.start;
            span.line.start <= start && start <= span.line.end
        });
        let about_source: Vec<(usize, PlaceRole)> = about_source.map(|index| (index, PlaceRole::Finding)).collect();
        Some(match slots.get(&*span.path) {
            Some(&slot) => explain_line(&explainer, FileId(slot as u32), span, &number, about_source),
            None => explain_unread_line(span, about_source),
        })
    });
    let lines = lines.collect();
    drop((source_findings, slots));
    // Freeing a large program takes time, and the process ends soon.
    std::mem::forget(explainer);
    LineAnswers { findings, doubts, lines, left_out: Vec::new() }
}

/// Explains a line of a file that could not be read.
fn explain_unread_line(span: &LineSpan, findings: Vec<(usize, PlaceRole)>) -> LineAnswer {
    LineAnswer {
        explained: ExplainedLine {
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

/// Explains a line. `number` returns the index of a finding of the analysis; `about_source` are the findings about
/// comments and files on the line.
fn explain_line(
    explainer: &Explainer<'_, '_>,
    file: FileId,
    span: &LineSpan,
    number: &dyn Fn(&usize) -> Option<usize>,
    about_source: Vec<(usize, PlaceRole)>,
) -> LineAnswer {
    let linker = explainer.linker();
    let context = explainer.line_context(file, span.line, span.code);
    let text = span.text.get(span.line.start as usize..span.line.end as usize).unwrap_or_default();
    let kind = lines::line_kind(text, linker.program.language(file));
    let mut sites = explainer.sites_on_line(file, span.line);
    let has_only_imports = context.is_import && sites.iter().all(|&site| explainer.is_import(site));
    let is_called = !sites.is_empty() && !has_only_imports;
    if !is_called {
        sites = context.enclosing_call.into_iter().collect();
    }
    let mut findings = about_source;
    findings
        .extend(explainer.findings_on(file, span.line).iter().filter_map(|(raw, role)| Some((number(raw)?, *role))));
    let mut explained_sites: Vec<ExplainedSite> = Vec::new();
    let mut of_sites: Vec<Vec<usize>> = Vec::new();
    for &site in &sites {
        let explanation = explainer.explain(site);
        let of_site: Vec<usize> = explanation.findings.iter().filter_map(number).collect();
        findings.extend(of_site.iter().map(|index| (*index, PlaceRole::OtherPath)));
        explained_sites.push(sites::explained_site(explainer, &explanation));
        of_sites.push(of_site);
    }
    findings.sort_unstable();
    findings.dedup_by_key(|(index, _)| *index);
    // A function is explained at its definition, and on lines without other explanations.
    let is_quiet = explained_sites.is_empty() && findings.is_empty();
    let function = context.function.filter(|_| !context.defines.is_empty() || is_quiet);
    let mut remarks = lines::file_remarks(explainer, file, &span.text);
    remarks.extend(lines::comment_remarks(explainer, file, span.line));
    remarks.extend(lines::remarks(explainer, &context, is_called, !findings.is_empty()));
    LineAnswer {
        explained: ExplainedLine {
            place: sites::place(linker, file, span.code),
            stands: lines::location_text(explainer, &context, kind),
            remarks,
            findings: Vec::new(),
            more_findings: 0,
            function: None,
            sites: explained_sites,
        },
        findings,
        function: function.map(|of| functions::explained_function(explainer, of)),
        of_sites,
    }
}

/// Returns the explanation of a line with its findings: first those whose place is on the line.
fn add_findings(line: LineAnswer, findings: &[Finding], doubts: &[Vec<Remark>], fates: &Fates) -> ExplainedLine {
    let LineAnswer { mut explained, findings: mut on_line, function, of_sites } = line;
    let rank = |index: usize| {
        let finding = &findings[index];
        (fates.reason_hidden(index).is_some(), std::cmp::Reverse((finding.severity, finding.confidence)))
    };
    on_line.sort_by_key(|&(index, role)| match role {
        PlaceRole::Finding => (false, (false, std::cmp::Reverse(Default::default())), role, index),
        _ => (true, (rank(index).0, std::cmp::Reverse(Some(rank(index).1.0))), role, index),
    });
    let findings_on_line = on_line.iter().filter(|(_, role)| *role == PlaceRole::Finding).count();
    let shown = on_line.len().min(findings_on_line + MAX_FINDINGS);
    explained.more_findings = on_line.len() - shown;
    explained.findings = on_line[..shown]
        .iter()
        .map(|&(index, role)| ExplainedFinding {
            finding: findings[index].clone(),
            part: role_text(role),
            hidden: fates.reason_hidden(index),
            doubts: doubts[index].clone(),
        })
        .collect();
    for (site, of_site) in explained.sites.iter_mut().zip(of_sites) {
        let belongs = of_site.iter().take(MAX_FINDINGS).map(|&index| {
            let finding = &findings[index];
            Outcome::Finding(finding.rule, finding.place.clone())
        });
        let more = of_site.len().saturating_sub(MAX_FINDINGS);
        let more = (more > 0).then_some(Outcome::Others(more));
        site.outcomes.splice(0..0, belongs.chain(more));
    }
    explained.function = function.map(|function| {
        let FunctionAnswer { mut explained, inside, passing } = function;
        let remark = |index: &usize, through: &str| {
            let finding = &findings[*index];
            let hidden = if fates.reason_hidden(*index).is_some() { ", hidden" } else { "" };
            let (rule, severity, confidence) = (finding.rule, finding.severity, finding.confidence);
            let text = format!("{rule} {severity}, confidence {confidence}{through}{hidden}");
            Remark::at(text, finding.place.clone())
        };
        let all = inside
            .iter()
            .map(|index| remark(index, ""))
            .chain(passing.iter().map(|index| remark(index, ", through it")));
        explained.findings = all.take(MAX_LISTED).collect();
        let more = (inside.len() + passing.len()).saturating_sub(MAX_LISTED);
        if more > 0 {
            explained.findings.push(Remark::new(format!("and {more} more")));
        }
        explained
    });
    explained
}

/// Returns the role of a line in a finding at another place.
fn role_text(role: PlaceRole) -> Option<&'static str> {
    match role {
        PlaceRole::Finding => None,
        PlaceRole::BlockingCall => Some("the call that blocks is here"),
        PlaceRole::OnPath => Some("its path passes here"),
        PlaceRole::LockHolder => Some("the lock that it waits for is held here"),
        PlaceRole::OtherCause => Some("one of its causes is here"),
        PlaceRole::OtherPath => Some("a further path of it passes here"),
    }
}

/// Computes rows and columns of all places of an explanation.
fn locate(project: &Project, line: &mut ExplainedLine, sources: &mut Sources) {
    locate_one(project, &mut line.place, sources);
    let ExplainedLine { remarks, findings, function, sites, .. } = line;
    let mut all_remarks: Vec<&mut Remark> = remarks.iter_mut().collect();
    for explained in findings {
        places_of_finding(&mut explained.finding).for_each(|place| locate_one(project, place, sources));
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
