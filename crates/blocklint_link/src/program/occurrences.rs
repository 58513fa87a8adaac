//! Where the names and values of one file are used: the part of the index that is built when first asked for.

use blocklint_facts::{
    AssignId, BodyFlags, BodyId, FileFacts, Form, FormId, ParamKind, SiteId, SiteKind, Sym, VarKind,
};
/// Where a value goes that is mentioned outside callee position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mention {
    /// The n-th argument of a site as written.
    Arg(SiteId, u32),
    /// Assigned.
    Assign(AssignId),
    /// The n-th way out of a body (index in the file's exits).
    Exit(u32),
    /// The operand of an implicit call, or the callee of a call whose callee has no name.
    Operand(SiteId),
    /// The default of a parameter (index in the file's parameters).
    Default(u32),
}

/// How deep a mention lies inside the form that goes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// It is the value, or one of its alternatives.
    Direct,
    /// Its awaited value is.
    Awaited,
    /// It is an element of a display.
    Element,
}

/// A mention in eight bytes; a program has about as many as names.
#[derive(Clone, Copy, Debug, Default)]
struct Packed {
    /// The site, assignment, exit or parameter.
    of: u32,
    /// From the top: three bits of kind, two of wrap, the argument.
    how: u32,
}

/// The number of arguments of one call beyond which mentions are not distinguished.
const MOST_ARGUMENTS: u32 = (1 << 27) - 1;

impl Packed {
    fn new(mention: Mention, wrap: Wrap) -> Self {
        let (kind, of, arg) = match mention {
            Mention::Arg(site, arg) => (0, site.0, arg.min(MOST_ARGUMENTS)),
            Mention::Assign(assign) => (1, assign.0, 0),
            Mention::Exit(exit) => (2, exit, 0),
            Mention::Operand(site) => (3, site.0, 0),
            Mention::Default(param) => (4, param, 0),
        };
        let wrap = match wrap {
            Wrap::Direct => 0,
            Wrap::Awaited => 1,
            Wrap::Element => 2,
        };
        Packed { of, how: kind << 29 | wrap << 27 | arg }
    }

    #[inline]
    fn unpacked(self) -> (Mention, Wrap) {
        let mention = match self.how >> 29 {
            0 => Mention::Arg(SiteId(self.of), self.how & MOST_ARGUMENTS),
            1 => Mention::Assign(AssignId(self.of)),
            2 => Mention::Exit(self.of),
            3 => Mention::Operand(SiteId(self.of)),
            _ => Mention::Default(self.of),
        };
        let wrap = match self.how >> 27 & 3 {
            0 => Wrap::Direct,
            1 => Wrap::Awaited,
            _ => Wrap::Element,
        };
        (mention, wrap)
    }
}

/// Some mentions of one name or value, in the order of the tables.
#[derive(Clone, Copy, Debug)]
pub struct Mentions<'i>(&'i [Packed]);

impl<'i> Mentions<'i> {
    /// True if there are no mentions.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = (Mention, Wrap)> + 'i {
        self.0.iter().map(|packed| packed.unpacked())
    }
}

/// Where the runs of each key begin in lists that are sorted by key; one row more than keys. The numbers of one key
/// stand together, because a query for one run is mostly followed by queries for the others.
#[derive(Debug)]
enum Starts<const LISTS: usize> {
    Narrow(Box<[[u16; LISTS]]>),
    Wide(Box<[[u32; LISTS]]>),
}

impl<const LISTS: usize> Starts<LISTS> {
    /// Makes places of counts: of each key the first place of its runs, which `next` holds afterwards.
    fn new(next: &mut [[u32; LISTS]]) -> Self {
        let mut totals = [0; LISTS];
        for counts in next.iter_mut() {
            for (count, total) in counts.iter_mut().zip(&mut totals) {
                let of_key = *count;
                *count = *total;
                *total += of_key;
            }
        }
        let starts = next.iter().copied().chain([totals]);
        if totals.iter().all(|total| *total <= u32::from(u16::MAX)) {
            Starts::Narrow(starts.map(|row| row.map(|start| start as u16)).collect())
        } else {
            Starts::Wide(starts.collect())
        }
    }

    /// Returns the run of a key in a list; none of a key that there is not.
    #[inline]
    fn run(&self, list: usize, key: usize) -> std::ops::Range<usize> {
        match self {
            Starts::Narrow(starts) => match starts.get(key..).and_then(<[_]>::first_chunk) {
                Some([start, end]) => usize::from(start[list])..usize::from(end[list]),
                _ => 0..0,
            },
            Starts::Wide(starts) => match starts.get(key..).and_then(<[_]>::first_chunk) {
                Some([start, end]) => start[list] as usize..end[list] as usize,
                _ => 0..0,
            },
        }
    }
}

/// The lists in which a symbol has a run: the sites and mentions of this name, the assignments to attributes.
const SITES: usize = 0;
const MENTIONS: usize = 1;
const ATTRS: usize = 2;

/// Mentions and sites of one file by the name that they mention.
#[derive(Debug)]
pub struct FileIndex {
    /// By symbol.
    named: Starts<3>,
    sites: Box<[SiteId]>,
    /// By symbol, then in the order of the tables; behind them those of `others`.
    mentions: Box<[Packed]>,
    /// By symbol, then in the order of the table.
    attr_assigns: Box<[(AssignId, bool)]>,
    /// Where mentions of results and function literals begin: by site, then by body.
    others: Starts<1>,
    others_at: u32,
    site_count: u32,
}

/// Room to make an index in, used for one file after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    named: Vec<[u32; 3]>,
    others: Vec<[u32; 1]>,
    found: Vec<(MentionSubject, Mention, Wrap)>,
    attrs: Vec<(Sym, AssignId, bool)>,
}

/// The variable, attribute, result or function literal that a mention is about.
#[derive(Clone, Copy, Debug)]
enum MentionSubject {
    /// A variable or attribute whose last name is this symbol.
    Named(u32),
    /// The result of a site, or behind all sites a function literal.
    Other(u32),
}

impl FileIndex {
    /// Reads the facts once: O(sites + forms).
    pub fn new(facts: &FileFacts, scratch: &mut Scratch) -> Self {
        let Scratch { named, others, found, attrs } = scratch;
        let site_count = facts.sites.len() as u32;
        named.clear();
        named.resize(facts.symbols.len(), [0; 3]);
        others.clear();
        others.resize(facts.sites.len() + facts.bodies.len(), [0]);
        found.clear();
        attrs.clear();

        let mut reader = Reader { facts, site_count, named, others, found };
        for (at, site) in facts.sites.iter().enumerate() {
            let id = SiteId(at as u32);
            if let Some(counts) = reader.named.get_mut(site.name.index()) {
                counts[SITES] += 1;
            }
            if site.kind.keeps_no_operand() {
                continue;
            }
            for (arg, row) in site.args.range().enumerate() {
                reader.mention(facts.args.at(row).value, Mention::Arg(id, arg as u32), Wrap::Direct, 8);
            }
            match site.kind {
                SiteKind::Call | SiteKind::New | SiteKind::Decorate
                    if matches!(
                        facts.form(site.callee),
                        Form::Attr(..) | Form::Path(..) | Form::Var(_) | Form::Name(_)
                    ) => {}
                _ => reader.mention(site.callee, Mention::Operand(id), Wrap::Direct, 8),
            }
            // `work.run()`: a call of the lambda that `work` holds.
            if facts.language == blocklint_core::Language::Java
                && site.kind == SiteKind::Call
                && let Form::Attr(base, name) = facts.form(site.callee)
                && crate::lang::words_of(facts.language).is_functional_method(facts.text(name))
                && matches!(
                    facts.form(base),
                    Form::Var(_) | Form::Name(_) | Form::Attr(..) | Form::Result(_) | Form::Cast(..)
                )
            {
                reader.mention(base, Mention::Operand(id), Wrap::Direct, 8);
            }
        }
        for (at, assign) in facts.assigns.iter().enumerate() {
            let id = AssignId(at as u32);
            reader.mention(assign.value, Mention::Assign(id), Wrap::Direct, 8);
            if let Form::Attr(base, sym) = facts.form(assign.target)
                && let Some(counts) = reader.named.get_mut(sym.index())
            {
                counts[ATTRS] += 1;
                attrs.push((sym, id, is_own_receiver(facts, base)));
            }
        }
        for (at, exit) in facts.exits.iter().enumerate() {
            reader.mention(exit.value, Mention::Exit(at as u32), Wrap::Direct, 8);
        }
        for (at, param) in facts.params.iter().enumerate() {
            // Values inside annotations: `Annotated[Store, Depends(make)]` is an argument of a site anyway.
            reader.mention(param.default, Mention::Default(at as u32), Wrap::Direct, 8);
        }

        let named_starts = Starts::new(named);
        let other_starts = Starts::new(others);
        let take = |next: &mut u32| {
            *next += 1;
            *next as usize - 1
        };
        let mut sites = vec![SiteId(0); facts.sites.len()].into_boxed_slice();
        for (at, site) in facts.sites.iter().enumerate() {
            if let Some(next) = named.get_mut(site.name.index()) {
                sites[take(&mut next[SITES])] = SiteId(at as u32);
            }
        }
        let named_mentions = found.iter().filter(|(leaf, ..)| matches!(leaf, MentionSubject::Named(_))).count();
        let mut mentions = vec![Packed::default(); found.len()].into_boxed_slice();
        for &(leaf, mention, wrap) in &*found {
            let at = match leaf {
                MentionSubject::Named(sym) => take(&mut named[sym as usize][MENTIONS]),
                MentionSubject::Other(key) => named_mentions + take(&mut others[key as usize][0]),
            };
            mentions[at] = Packed::new(mention, wrap);
        }
        let mut attr_assigns = vec![(AssignId(0), false); attrs.len()].into_boxed_slice();
        for &(sym, assign, own) in &*attrs {
            attr_assigns[take(&mut named[sym.index()][ATTRS])] = (assign, own);
        }
        FileIndex {
            named: named_starts,
            sites,
            mentions,
            attr_assigns,
            others: other_starts,
            others_at: named_mentions as u32,
            site_count,
        }
    }

    /// Returns assignments to attributes of this name; true where the target's object is the receiver of a method
    /// around.
    #[inline]
    pub fn attr_assigns(&self, sym: Sym) -> &[(AssignId, bool)] {
        &self.attr_assigns[self.named.run(ATTRS, sym.index())]
    }

    /// Returns the sites whose last name is this symbol, in order.
    #[inline]
    pub fn sites_named(&self, sym: Sym) -> &[SiteId] {
        &self.sites[self.named.run(SITES, sym.index())]
    }

    /// Returns the mentions of variables and attributes of this name.
    #[inline]
    pub fn mentions_named(&self, sym: Sym) -> Mentions<'_> {
        Mentions(&self.mentions[self.named.run(MENTIONS, sym.index())])
    }

    /// Returns all mentions of variables and attributes.
    pub(crate) fn named(&self) -> impl Iterator<Item = (Mention, Wrap)> + '_ {
        Mentions(&self.mentions[..self.others_at as usize]).iter()
    }

    /// Returns the mentions of the result of a site.
    pub fn uses_of_result(&self, site: SiteId) -> Mentions<'_> {
        if site.0 < self.site_count { self.other(site.0) } else { Mentions(&[]) }
    }

    /// Returns the mentions of a function literal.
    pub fn uses_of_callable(&self, body: BodyId) -> Mentions<'_> {
        self.other(self.site_count.saturating_add(body.0))
    }

    fn other(&self, key: u32) -> Mentions<'_> {
        let run = self.others.run(0, key as usize);
        Mentions(&self.mentions[self.others_at as usize..][run])
    }
}

/// Finds what is mentioned in one file, and counts it.
struct Reader<'a> {
    facts: &'a FileFacts,
    site_count: u32,
    named: &'a mut [[u32; 3]],
    others: &'a mut [[u32; 1]],
    found: &'a mut Vec<(MentionSubject, Mention, Wrap)>,
}

impl Reader<'_> {
    fn mention(&mut self, form: FormId, place: Mention, wrap: Wrap, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.facts;
        match facts.form(form) {
            Form::Var(var) => self.name(facts.var(var).name, place, wrap),
            Form::Name(name) | Form::Attr(_, name) | Form::Path(_, name) => self.name(name, place, wrap),
            Form::Result(site) => self.other(site.0, place, wrap),
            Form::Callable(body) | Form::Run(body) => self.other(self.site_count + body.0, place, wrap),
            Form::Await(inner) | Form::Try(inner) => {
                let wrap = if wrap == Wrap::Direct { Wrap::Awaited } else { wrap };
                self.mention(inner, place, wrap, depth);
            }
            Form::Cast(inner, _) | Form::Star(inner) => self.mention(inner, place, wrap, depth),
            Form::Alt(_, list) => {
                facts.list(list).iter().for_each(|&inner| self.mention(inner, place, wrap, depth));
            }
            Form::Display(_, list) | Form::Pairs(list) => {
                facts.list(list).iter().for_each(|&inner| self.mention(inner, place, Wrap::Element, depth));
            }
            _ => {}
        }
    }

    /// A nameless variable is mentioned nowhere.
    fn name(&mut self, name: Sym, place: Mention, wrap: Wrap) {
        if let Some(counts) = self.named.get_mut(name.index()) {
            counts[MENTIONS] += 1;
            self.found.push((MentionSubject::Named(name.0), place, wrap));
        }
    }

    fn other(&mut self, key: u32, place: Mention, wrap: Wrap) {
        if let Some(counts) = self.others.get_mut(key as usize) {
            counts[0] += 1;
            self.found.push((MentionSubject::Other(key), place, wrap));
        }
    }
}

/// True if a form is a field of the receiver: `self.store`.
pub fn is_field_of_receiver(facts: &FileFacts, form: FormId) -> bool {
    matches!(facts.form(form), Form::Attr(base, _) if is_own_receiver(facts, base))
}

/// True if a form is the receiver of the method whose parameter it is: `self`, `cls`, `this`.
pub fn is_own_receiver(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::This => true,
        Form::Var(var) => {
            let var = facts.var(var);
            let body = facts.body(var.body);
            match var.kind {
                VarKind::Param(0) if body.class.is_some() && !body.flags.has(BodyFlags::STATIC) => {
                    facts.language == blocklint_core::Language::Python
                        || facts.params_of(var.body).first().is_some_and(|param| param.kind == ParamKind::Receiver)
                }
                _ => false,
            }
        }
        _ => false,
    }
}
