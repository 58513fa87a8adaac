//! Comments that end a label: where it would be one of the rules they name.

use std::cell::RefCell;

use blocklint_core::{Context, RuleCode, Span, WhereSet, rule_of};
use blocklint_facts::{BodyKind, SuppressionKind};
use blocklint_link::effect::label::Label;
use blocklint_link::program::Program;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::syntax::regions::touches;
use rustc_hash::{FxHashMap, FxHashSet};

/// A rule that a comment silenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsedComment {
    /// The file.
    pub file: FileId,
    /// Index in the suppressions of its facts.
    pub comment: u32,
    /// The rule.
    pub rule: RuleCode,
}

/// One comment that names rules.
#[derive(Debug)]
struct Comment {
    line: Span,
    rules: Vec<RuleCode>,
    /// Rules that it hides only at a call that blocks itself.
    aliases: Vec<RuleCode>,
    /// A bare comment: it hides a finding, and ends no label.
    bare: bool,
    /// `noqa`, for a finding of any rule that begins on its lines.
    is_noqa: bool,
    /// True if it stands behind code: a comment of another linter counts nowhere else.
    is_behind_code: bool,
    reason: Option<String>,
    index: u32,
}

/// The comments of all files.
pub struct Suppressions {
    comments: FxHashMap<FileId, Vec<Comment>>,
    used: RefCell<FxHashSet<UsedComment>>,
    /// Where comments ended labels of a rule.
    ended: RefCell<FxHashSet<(RuleCode, BodyRef)>>,
}

impl Suppressions {
    /// Takes the comments of all files.
    pub fn new(program: &Program<'_>) -> Self {
        let mut comments: FxHashMap<FileId, Vec<Comment>> = FxHashMap::default();
        for (slot, source) in program.files.iter().enumerate().filter(|(_, source)| !source.silencing.is_empty()) {
            let facts = &source.facts;
            let of_file = source.silencing.iter().map(|silencing| {
                let row = &facts.suppressions[silencing.index as usize];
                Comment {
                    line: row.line,
                    bare: row.rules.is_empty(),
                    is_noqa: row.kind == SuppressionKind::Noqa,
                    is_behind_code: row.line.contains_offset(row.comment.start),
                    rules: silencing.rules.clone(),
                    aliases: silencing.aliases.clone(),
                    reason: row.reason.get().map(|sym| facts.text(sym).to_owned()).filter(|text| !text.is_empty()),
                    index: silencing.index,
                }
            });
            comments.insert(FileId(slot as u32), of_file.collect());
        }
        Suppressions { comments, used: RefCell::default(), ended: RefCell::default() }
    }

    /// Returns the rules that comments silenced.
    pub fn used(self) -> Vec<UsedComment> {
        self.used.into_inner().into_iter().collect()
    }

    fn uses(&self, file: FileId, comment: &Comment, rule: RuleCode) {
        self.used.borrow_mut().insert(UsedComment { file, comment: comment.index, rule });
    }

    /// True if a file has comments that could cut.
    pub(crate) fn speak_in(&self, file: FileId) -> bool {
        self.comments.contains_key(&file)
    }

    /// Returns the rest of a label behind a site: nothing where a comment at it names its rules in every context.
    pub fn apply(&self, program: &Program<'_>, site: SiteRef, label: Label) -> Option<Label> {
        let Some(comments) = self.comments.get(&site.file) else { return Some(label) };
        let span = program.site(site).span;
        let at = comments.iter().filter(|comment| !comment.bare && touches(comment.line, span));
        self.cut(program.body_of_site(site), at, label)
    }

    /// Returns the rest of a label behind the definition of a function, or of one around it. The label of a lambda goes on to the
    /// function that it stands in, so that a finding there is made and marked.
    pub fn apply_body(&self, program: &Program<'_>, body: BodyRef, label: Label) -> Option<Label> {
        let Some(comments) = self.comments.get(&body.file) else { return Some(label) };
        if program.body(body).kind != BodyKind::Function {
            return Some(label);
        }
        let at = comments.iter().filter(|comment| !comment.bare && is_header_of_body(program, comment.line, body));
        self.cut(body, at, label)
    }

    fn cut<'c>(&self, body: BodyRef, comments: impl Iterator<Item = &'c Comment>, mut label: Label) -> Option<Label> {
        for comment in comments {
            let mut gone = WhereSet::EMPTY;
            for context in [Context::EventLoop, Context::Greenlet] {
                if let Some(rule) = rule_of(label.effect, label.native, context)
                    && comment.rules.contains(&rule)
                {
                    let place = WhereSet::of_context(context);
                    gone = gone.union(place);
                    if !label.place.intersect(place).is_empty() {
                        self.uses(body.file, comment, rule);
                        self.ended.borrow_mut().insert((rule, body));
                    }
                }
            }
            label.place = label.place.without(gone);
        }
        // A label ends here if no context is left for it, or only contexts without a rule of their own.
        let reported = [Context::EventLoop, Context::Greenlet].into_iter().any(|context| {
            !label.place.intersect(WhereSet::of_context(context)).is_empty()
                && rule_of(label.effect, label.native, context).is_some()
        });
        let was_cut = label.place != label.place.union(WhereSet::EVENT_LOOP) && !reported;
        if label.place.is_empty() || was_cut { None } else { Some(label) }
    }

    /// Returns the bodies in which a comment ended a label of a rule.
    pub fn silenced(&self, rule: RuleCode) -> Vec<BodyRef> {
        self.ended.borrow().iter().filter(|(of, _)| *of == rule).map(|(_, body)| *body).collect()
    }

    /// Returns the reason for which a finding of a rule is hidden at its own place, if it is: the comment's words, or
    /// nothing. `place` is where the finding begins.
    pub fn hides(
        &self,
        program: &Program<'_>,
        site: SiteRef,
        place: u32,
        body: BodyRef,
        rule: RuleCode,
    ) -> Option<Option<String>> {
        let comments = self.comments.get(&site.file)?;
        let span = program.site(site).span;
        let hit = comments.iter().find(|comment| {
            if comment.bare && comment.is_noqa {
                return comment.line.contains_offset(place);
            }
            let names = comment.bare || comment.rules.contains(&rule);
            let is_of_body = || body.file == site.file && is_header_of_body(program, comment.line, body);
            names && (touches(comment.line, span) || is_of_body())
        })?;
        self.uses(site.file, hit, rule);
        Some(hit.reason.clone())
    }

    /// Returns the reason for which a finding at a call that blocks itself is hidden by a code by which other linters
    /// know it. They read the line on which the call begins.
    pub fn hides_direct(&self, file: FileId, place: u32, rule: RuleCode) -> Option<Option<String>> {
        let hit = self.comments.get(&file)?.iter().find(|comment| {
            comment.aliases.contains(&rule) && comment.is_behind_code && comment.line.contains_offset(place)
        })?;
        Some(hit.reason.clone())
    }
}

/// True if lines are those of the header of a function or class, or of one around it, from its first decorator or annotation
/// to its name.
fn is_header_of_body(program: &Program<'_>, lines: Span, body: BodyRef) -> bool {
    let (facts, body_id) = program.facts_and_id(body);
    let mut at = Some(body_id);
    while let Some(id) = at {
        let row = facts.body(id);
        let is_definition = matches!(row.kind, BodyKind::Function | BodyKind::Class);
        if is_definition && (lines.contains_offset(row.name_span.start) || lines.contains_offset(row.span.start)) {
            return true;
        }
        at = row.parent.get();
    }
    false
}
