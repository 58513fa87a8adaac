//! Mentions: the index of one file's names, call results and function literals by the places where they are used.

use blocklint_facts::{
    AssignId, BodyFlags, BodyId, FileFacts, Form, FormId, ParamKind, SiteId, SiteKind, Sym, VarKind,
};

/// How deep an expression is searched for names.
const MAX_FORM_DEPTH: u32 = 8;
/// The place to which a value goes that is mentioned outside of callee position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mention {
    /// The n-th argument of a site as written.
    Arg(SiteId, u32),
    /// The value of an assignment.
    Assign(AssignId),
    /// The value of an exit such as `return` (index in the file's exits).
    Exit(u32),
    /// The operand of an implicit call, or the callee of a call whose callee has no name.
    Operand(SiteId),
    /// The default of a parameter (index in the file's parameters).
    Default(u32),
}

/// The relation of the mentioned value to the value that goes to the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The mention is the value, or one of its alternatives: `a if c else b`.
    Direct,
    /// The awaited mention is the value: `await a`.
    Awaited,
    /// The mention is an element of a display: `[a, b]`.
    Element,
}

/// A mention in eight bytes, because a program has about as many mentions as names.
#[derive(Clone, Copy, Debug, Default)]
struct Packed {
    /// The number of the site, assignment, exit or parameter.
    id: u32,
    /// From the highest bit: three bits of the mention's kind, two bits of the wrap, the number of the argument.
    tag: u32,
}

/// The greatest number of an argument. Mentions in later arguments of the same call are not distinguished.
const MAX_ARGUMENT: u32 = (1 << 27) - 1;

impl Packed {
    fn new(mention: Mention, wrap: Wrap) -> Self {
        let (kind, id, arg) = match mention {
            Mention::Arg(site, arg) => (0, site.0, arg.min(MAX_ARGUMENT)),
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
        Packed { id, tag: kind << 29 | wrap << 27 | arg }
    }

    #[inline]
    fn unpacked(self) -> (Mention, Wrap) {
        let mention = match self.tag >> 29 {
            0 => Mention::Arg(SiteId(self.id), self.tag & MAX_ARGUMENT),
            1 => Mention::Assign(AssignId(self.id)),
            2 => Mention::Exit(self.id),
            3 => Mention::Operand(SiteId(self.id)),
            _ => Mention::Default(self.id),
        };
        let wrap = match self.tag >> 27 & 3 {
            0 => Wrap::Direct,
            1 => Wrap::Awaited,
            _ => Wrap::Element,
        };
        (mention, wrap)
    }
}

/// The mentions of one name or value, in the order of the tables.
#[derive(Clone, Copy, Debug)]
pub struct Mentions<'i>(&'i [Packed]);

impl<'i> Mentions<'i> {
    /// True if there are no mentions.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the mentions.
    pub fn iter(self) -> impl Iterator<Item = (Mention, Wrap)> + 'i {
        self.0.iter().map(|packed| packed.unpacked())
    }
}

/// The start of the run of each key in `LISTS` lists that are sorted by key; one row more than keys. The starts of one
/// key are adjacent, because most lookups read the runs of a key in all lists.
#[derive(Debug)]
enum Starts<const LISTS: usize> {
    Narrow(Box<[[u16; LISTS]]>),
    Wide(Box<[[u32; LISTS]]>),
}

impl<const LISTS: usize> Starts<LISTS> {
    /// Turns the counts of each key into the starts of its runs. Writes the starts to `next` as well.
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

    /// Returns the run of a key in a list; an unknown key has an empty run.
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

/// The lists in which a symbol has a run: sites with this name, mentions of it, assignments to attributes.
const SITES: usize = 0;
const MENTIONS: usize = 1;
const ATTRS: usize = 2;

/// The mentions and call sites of one file, by name.
#[derive(Debug)]
pub struct FileIndex {
    /// The runs of each symbol in `sites`, `mentions` and `attr_assigns`.
    named: Starts<3>,
    sites: Box<[SiteId]>,
    /// By symbol, then in the order of the tables; from `others_start` the mentions of results and function literals.
    mentions: Box<[Packed]>,
    /// Assignments to attributes, by symbol, then in the order of the table; true if the object is the method's
    /// receiver.
    attr_assigns: Box<[(AssignId, bool)]>,
    /// The runs of mentions of results and function literals: by site, then by body.
    others: Starts<1>,
    others_start: u32,
    site_count: u32,
}

/// Buffers for building an index, reused for one file after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    named: Vec<[u32; 3]>,
    others: Vec<[u32; 1]>,
    found: Vec<(MentionSubject, Mention, Wrap)>,
    attrs: Vec<(Sym, AssignId, bool)>,
}

/// The variable, attribute, result or function literal that is mentioned.
#[derive(Clone, Copy, Debug)]
enum MentionSubject {
    /// A variable or attribute whose last name is this symbol.
    Named(u32),
    /// The result of a site; numbers from the count of sites on are function literals.
    Other(u32),
}

impl FileIndex {
    /// Builds the index of one file: O(sites + forms).
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
        for (index, site) in facts.sites.iter().enumerate() {
            let id = SiteId(index as u32);
            if let Some(counts) = reader.named.get_mut(site.name.index()) {
                counts[SITES] += 1;
            }
            if site.kind.keeps_no_operand() {
                continue;
            }
            for (arg, row) in site.args.range().enumerate() {
                reader.add_mentions(
                    facts.args.at(row).value,
                    Mention::Arg(id, arg as u32),
                    Wrap::Direct,
                    MAX_FORM_DEPTH,
                );
            }
            match site.kind {
                SiteKind::Call | SiteKind::New | SiteKind::Decorate
                    if matches!(
                        facts.form(site.callee),
                        Form::Attr(..) | Form::Path(..) | Form::Var(_) | Form::Name(_)
                    ) => {}
                _ => reader.add_mentions(site.callee, Mention::Operand(id), Wrap::Direct, MAX_FORM_DEPTH),
            }
            // `work.run()` calls the lambda that is the value of `work`.
            if facts.language == blocklint_core::Language::Java
                && site.kind == SiteKind::Call
                && let Form::Attr(base, name) = facts.form(site.callee)
                && crate::lang::words_of(facts.language).is_functional_method(facts.text(name))
                && matches!(
                    facts.form(base),
                    Form::Var(_) | Form::Name(_) | Form::Attr(..) | Form::Result(_) | Form::Cast(..)
                )
            {
                reader.add_mentions(base, Mention::Operand(id), Wrap::Direct, MAX_FORM_DEPTH);
            }
        }
        for (index, assign) in facts.assigns.iter().enumerate() {
            let id = AssignId(index as u32);
            reader.add_mentions(assign.value, Mention::Assign(id), Wrap::Direct, MAX_FORM_DEPTH);
            if let Form::Attr(base, sym) = facts.form(assign.target)
                && let Some(counts) = reader.named.get_mut(sym.index())
            {
                counts[ATTRS] += 1;
                attrs.push((sym, id, is_own_receiver(facts, base)));
            }
        }
        for (index, exit) in facts.exits.iter().enumerate() {
            reader.add_mentions(exit.value, Mention::Exit(index as u32), Wrap::Direct, MAX_FORM_DEPTH);
        }
        for (index, param) in facts.params.iter().enumerate() {
            // A value inside an annotation, `Annotated[Store, Depends(make)]`, is an argument of a site already.
            reader.add_mentions(param.default, Mention::Default(index as u32), Wrap::Direct, MAX_FORM_DEPTH);
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
        let named_mentions = found.iter().filter(|(subject, ..)| matches!(subject, MentionSubject::Named(_))).count();
        let mut mentions = vec![Packed::default(); found.len()].into_boxed_slice();
        for &(subject, mention, wrap) in &*found {
            let position = match subject {
                MentionSubject::Named(sym) => take(&mut named[sym as usize][MENTIONS]),
                MentionSubject::Other(key) => named_mentions + take(&mut others[key as usize][0]),
            };
            mentions[position] = Packed::new(mention, wrap);
        }
        let mut attr_assigns = vec![(AssignId(0), false); attrs.len()].into_boxed_slice();
        for &(sym, assign, is_own) in &*attrs {
            attr_assigns[take(&mut named[sym.index()][ATTRS])] = (assign, is_own);
        }
        FileIndex {
            named: named_starts,
            sites,
            mentions,
            attr_assigns,
            others: other_starts,
            others_start: named_mentions as u32,
            site_count,
        }
    }

    /// Returns the assignments to attributes of this name; true if the target's object is the receiver of the method
    /// around the assignment.
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
        Mentions(&self.mentions[..self.others_start as usize]).iter()
    }

    /// Returns the mentions of the result of a site.
    pub fn uses_of_result(&self, site: SiteId) -> Mentions<'_> {
        if site.0 < self.site_count { self.other_mentions(site.0) } else { Mentions(&[]) }
    }

    /// Returns the mentions of a function literal.
    pub fn uses_of_callable(&self, body: BodyId) -> Mentions<'_> {
        self.other_mentions(self.site_count.saturating_add(body.0))
    }

    fn other_mentions(&self, key: u32) -> Mentions<'_> {
        let run = self.others.run(0, key as usize);
        Mentions(&self.mentions[self.others_start as usize..][run])
    }
}

/// Collects the mentions of one file and counts them by subject.
struct Reader<'a> {
    facts: &'a FileFacts,
    site_count: u32,
    named: &'a mut [[u32; 3]],
    others: &'a mut [[u32; 1]],
    found: &'a mut Vec<(MentionSubject, Mention, Wrap)>,
}

impl Reader<'_> {
    /// Adds the mentions in a form whose value goes to a place. `depth` bounds the nesting of forms.
    fn add_mentions(&mut self, form: FormId, place: Mention, wrap: Wrap, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.facts;
        match facts.form(form) {
            Form::Var(var) => self.add_named(facts.var(var).name, place, wrap),
            Form::Name(name) | Form::Attr(_, name) | Form::Path(_, name) => self.add_named(name, place, wrap),
            Form::Result(site) => self.add_other(site.0, place, wrap),
            Form::Callable(body) | Form::Run(body) => self.add_other(self.site_count + body.0, place, wrap),
            Form::Await(inner) | Form::Try(inner) => {
                let wrap = if wrap == Wrap::Direct { Wrap::Awaited } else { wrap };
                self.add_mentions(inner, place, wrap, depth);
            }
            Form::Cast(inner, _) | Form::Star(inner) => self.add_mentions(inner, place, wrap, depth),
            Form::Alt(_, list) => {
                facts.list(list).iter().for_each(|&inner| self.add_mentions(inner, place, wrap, depth));
            }
            Form::Display(_, list) | Form::Pairs(list) => {
                facts.list(list).iter().for_each(|&inner| self.add_mentions(inner, place, Wrap::Element, depth));
            }
            // `get(show::<Store>)` passes the function `show`.
            Form::Subscript(item, _) if self.is_rust_item(item) => self.add_mentions(item, place, wrap, depth),
            _ => {}
        }
    }

    /// True if a form names an item of a module (Rust): a path, an imported name, a function of the file.
    fn is_rust_item(&self, form: FormId) -> bool {
        let facts = self.facts;
        facts.language == blocklint_core::Language::Rust
            && match facts.form(form) {
                Form::Path(..) | Form::Name(_) => true,
                Form::Var(var) => facts.var(var).kind == VarKind::Named,
                _ => false,
            }
    }

    /// Adds a mention of a name. A nameless variable is mentioned nowhere.
    fn add_named(&mut self, name: Sym, place: Mention, wrap: Wrap) {
        if let Some(counts) = self.named.get_mut(name.index()) {
            counts[MENTIONS] += 1;
            self.found.push((MentionSubject::Named(name.0), place, wrap));
        }
    }

    fn add_other(&mut self, key: u32, place: Mention, wrap: Wrap) {
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

/// True if a form is the receiver of the method around it: `self`, `cls`, `this`.
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
