//! Suppression comments: `ignore[…]` and `noqa` hide the findings of their rules, and end labels that would become such
//! findings.

use std::cell::RefCell;

use blocklint_core::{Context, RuleCode, Span, WhereSet, rule_of};
use blocklint_facts::{BodyKind, SuppressionKind};
use blocklint_link::effect::label::Label;
use blocklint_link::program::Program;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::syntax::regions::touches;
use rustc_hash::{FxHashMap, FxHashSet};

/// A comment together with a rule that it suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsedComment {
    /// The file.
    pub file: FileId,
    /// The index of the comment in the suppressions of the file's facts.
    pub comment: u32,
    /// The rule.
    pub rule: RuleCode,
}

/// One suppression comment.
#[derive(Debug)]
struct Comment {
    line: Span,
    rules: Vec<RuleCode>,
    /// Rules that it hides only at the blocking call itself, because it names a rule of another linter.
    aliases: Vec<RuleCode>,
    /// True if it names no rules. Such a comment hides a finding and ends no label.
    bare: bool,
    /// True for a `noqa`. A bare one hides findings of every rule that begin on its line.
    is_noqa: bool,
    /// True if it follows code on its line. Comments for other linters count only there.
    is_behind_code: bool,
    reason: Option<String>,
    index: u32,
}

/// The comments of all files.
pub struct Suppressions {
    comments: FxHashMap<FileId, Vec<Comment>>,
    used: RefCell<FxHashSet<UsedComment>>,
    /// The bodies in which comments ended labels of a rule.
    ended: RefCell<FxHashSet<(RuleCode, BodyRef)>>,
}

impl Suppressions {
    /// Collects the comments of all files.
    pub fn new(program: &Program<'_>) -> Self {
        let mut comments: FxHashMap<FileId, Vec<Comment>> = FxHashMap::default();
        for (slot, source) in
            program.files.iter().enumerate().filter(|(_, source)| !source.resolved_suppressions.is_empty())
        {
            let facts = &source.facts;
            let of_file = source.resolved_suppressions.iter().map(|suppression| {
                let row = &facts.suppressions[suppression.index as usize];
                Comment {
                    line: row.covered_span,
                    bare: row.rules.is_empty(),
                    is_noqa: row.kind == SuppressionKind::Noqa,
                    is_behind_code: row.covered_span.contains_offset(row.comment.start),
                    rules: suppression.rules.clone(),
                    aliases: suppression.aliases.clone(),
                    reason: row.reason.get().map(|sym| facts.text(sym).to_owned()).filter(|text| !text.is_empty()),
                    index: suppression.index,
                }
            });
            comments.insert(FileId(slot as u32), of_file.collect());
        }
        Suppressions { comments, used: RefCell::default(), ended: RefCell::default() }
    }

    /// Returns the comments that suppressed findings, with the rules that they suppressed.
    pub fn used(self) -> Vec<UsedComment> {
        self.used.into_inner().into_iter().collect()
    }

    /// Records that a comment suppressed a rule.
    fn mark_used(&self, file: FileId, comment: &Comment, rule: RuleCode) {
        self.used.borrow_mut().insert(UsedComment { file, comment: comment.index, rule });
    }

    /// True if a file has suppression comments.
    pub(crate) fn has_comments(&self, file: FileId) -> bool {
        self.comments.contains_key(&file)
    }

    /// Returns the label without the contexts that comments at a site suppress. `None` if no reported context is left.
    pub fn suppress_at_site(&self, program: &Program<'_>, site: SiteRef, label: Label) -> Option<Label> {
        let Some(comments) = self.comments.get(&site.file) else { return Some(label) };
        let span = program.site(site).span;
        let at_site = comments.iter().filter(|comment| !comment.bare && touches(comment.line, span));
        self.suppress(program.body_of_site(site), at_site, label)
    }

    /// Returns the label without the contexts that comments at the header of a function, or of a definition around it,
    /// suppress. `None` if no reported context is left. The label of a lambda is returned as it is, so that a
    /// suppressed finding is created in the function around the lambda.
    pub fn suppress_at_body(&self, program: &Program<'_>, body: BodyRef, label: Label) -> Option<Label> {
        let Some(comments) = self.comments.get(&body.file) else { return Some(label) };
        if program.body(body).kind != BodyKind::Function {
            return Some(label);
        }
        let at_header =
            comments.iter().filter(|comment| !comment.bare && is_header_of_body(program, comment.line, body));
        self.suppress(body, at_header, label)
    }

    /// Returns the label without the contexts that some comments suppress. Records the comments that have an effect.
    fn suppress<'c>(
        &self,
        body: BodyRef,
        comments: impl Iterator<Item = &'c Comment>,
        mut label: Label,
    ) -> Option<Label> {
        for comment in comments {
            let mut suppressed = WhereSet::EMPTY;
            for context in [Context::EventLoop, Context::Greenlet] {
                if let Some(rule) = rule_of(label.effect, label.native, context)
                    && comment.rules.contains(&rule)
                {
                    let place = WhereSet::of_context(context);
                    suppressed = suppressed.union(place);
                    if !label.place.intersect(place).is_empty() {
                        self.mark_used(body.file, comment, rule);
                        self.ended.borrow_mut().insert((rule, body));
                    }
                }
            }
            label.place = label.place.without(suppressed);
        }
        // A label ends here if no context is left, or only contexts without a rule of their own.
        let reported = [Context::EventLoop, Context::Greenlet].into_iter().any(|context| {
            !label.place.intersect(WhereSet::of_context(context)).is_empty()
                && rule_of(label.effect, label.native, context).is_some()
        });
        let was_cut = label.place != label.place.union(WhereSet::EVENT_LOOP) && !reported;
        if label.place.is_empty() || was_cut { None } else { Some(label) }
    }

    /// Returns the bodies in which a comment ended a label of a rule.
    pub fn bodies_with_ended_labels(&self, rule: RuleCode) -> Vec<BodyRef> {
        self.ended.borrow().iter().filter(|(ended, _)| *ended == rule).map(|(_, body)| *body).collect()
    }

    /// Returns `Some` if a comment hides a finding of a rule, with the reason that the comment states, if it states
    /// one. `place` is the offset at which the finding begins.
    pub fn find_suppression(
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
        self.mark_used(site.file, hit, rule);
        Some(hit.reason.clone())
    }

    /// Returns `Some` if a comment with another linter's code hides a finding at the blocking call itself, as
    /// `find_suppression` does. Such comments count on the line on which the call begins.
    pub fn find_alias_suppression(&self, file: FileId, place: u32, rule: RuleCode) -> Option<Option<String>> {
        let hit = self.comments.get(&file)?.iter().find(|comment| {
            comment.aliases.contains(&rule) && comment.is_behind_code && comment.line.contains_offset(place)
        })?;
        Some(hit.reason.clone())
    }
}

/// True if a comment is at the header of a function or class, or of a definition around it: on the line of its first
/// decorator or annotation, or of its name.
fn is_header_of_body(program: &Program<'_>, lines: Span, body: BodyRef) -> bool {
    let (facts, body_id) = program.facts_and_id(body);
    let mut ancestor = Some(body_id);
    while let Some(id) = ancestor {
        let body_facts = facts.body(id);
        let is_definition = matches!(body_facts.kind, BodyKind::Function | BodyKind::Class);
        if is_definition
            && (lines.contains_offset(body_facts.name_span.start) || lines.contains_offset(body_facts.span.start))
        {
            return true;
        }
        ancestor = body_facts.parent.get();
    }
    false
}
