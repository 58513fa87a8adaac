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

/// Where the run of each key begins in a list that is sorted by key; one entry more than keys.
#[derive(Debug)]
enum Starts {
    Narrow(Box<[u16]>),
    Wide(Box<[u32]>),
}

impl Starts {
    /// Makes places of counts: of each key its run's first place, which `next` holds afterwards.
    fn new(next: &mut [u32]) -> Self {
        let mut total = 0;
        for count in next.iter_mut() {
            let of_key = *count;
            *count = total;
            total += of_key;
        }
        let starts = next.iter().copied().chain([total]);
        if total <= u32::from(u16::MAX) {
            Starts::Narrow(starts.map(|start| start as u16).collect())
        } else {
            Starts::Wide(starts.collect())
        }
    }

    /// The run of a key; none of a key that there is not.
    fn run(&self, key: usize) -> std::ops::Range<usize> {
        match self {
            Starts::Narrow(starts) => match starts.get(key..key + 2) {
                Some(&[start, end]) => usize::from(start)..usize::from(end),
                _ => 0..0,
            },
            Starts::Wide(starts) => match starts.get(key..key + 2) {
                Some(&[start, end]) => start as usize..end as usize,
                _ => 0..0,
            },
        }
    }
}

/// Mentions and sites of one file by what they name. What is mentioned has a key: first come the symbols (a
/// variable or attribute with this last name), then the sites (their result), then the bodies (function literals).
#[derive(Debug)]
pub struct FileIndex {
    symbols: u32,
    sites_end: u32,
    site_starts: Starts,
    sites: Box<[SiteId]>,
    mention_starts: Starts,
    /// By key, then in the order of the tables.
    mentions: Box<[(Mention, Wrap)]>,
    /// The symbols of `attr_assigns`, sorted.
    attr_syms: Box<[Sym]>,
    /// By symbol, then in the order of the table.
    attr_assigns: Box<[(AssignId, bool)]>,
}

/// Room to make an index in, used for one file after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    next: Vec<u32>,
    found: Vec<(u32, Mention, Wrap)>,
}

impl FileIndex {
    /// Reads the facts once: O(sites + forms).
    pub fn new(facts: &FileFacts, scratch: &mut Scratch) -> Self {
        let symbols = facts.symbols.len() as u32;
        let sites_end = symbols + facts.sites.len() as u32;
        let next = &mut scratch.next;
        next.clear();
        next.resize(symbols as usize, 0);
        for site in facts.sites.iter() {
            if let Some(count) = next.get_mut(site.name.index()) {
                *count += 1;
            }
        }
        let named: u32 = next.iter().sum();
        let site_starts = Starts::new(next);
        let mut sites = vec![SiteId(0); named as usize].into_boxed_slice();

        let mut reader = Reader { facts, symbols, sites_end, found: &mut scratch.found };
        reader.found.clear();
        for (at, site) in facts.sites.iter().enumerate() {
            let id = SiteId(at as u32);
            if let Some(slot) = next.get_mut(site.name.index()) {
                sites[*slot as usize] = id;
                *slot += 1;
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
        }
        let mut attr_assigns = Vec::new();
        for (at, assign) in facts.assigns.iter().enumerate() {
            let id = AssignId(at as u32);
            reader.mention(assign.value, Mention::Assign(id), Wrap::Direct, 8);
            if let Form::Attr(base, sym) = facts.form(assign.target) {
                attr_assigns.push((sym, id, is_own_receiver(facts, base)));
            }
        }
        for (at, exit) in facts.exits.iter().enumerate() {
            reader.mention(exit.value, Mention::Exit(at as u32), Wrap::Direct, 8);
        }
        for (at, param) in facts.params.iter().enumerate() {
            // Values inside annotations: `Annotated[Store, Depends(make)]` is an argument of a site anyway.
            reader.mention(param.default, Mention::Default(at as u32), Wrap::Direct, 8);
        }

        next.clear();
        next.resize(sites_end as usize + facts.bodies.len(), 0);
        let found = &scratch.found;
        for (key, ..) in found {
            next[*key as usize] += 1;
        }
        let mention_starts = Starts::new(next);
        let mut mentions = vec![(Mention::Exit(0), Wrap::Direct); found.len()].into_boxed_slice();
        for &(key, mention, wrap) in found {
            let slot = &mut next[key as usize];
            mentions[*slot as usize] = (mention, wrap);
            *slot += 1;
        }
        // Each assignment is there once, in order, so this keeps the order of the table.
        attr_assigns.sort_unstable();
        FileIndex {
            symbols,
            sites_end,
            site_starts,
            sites,
            mention_starts,
            mentions,
            attr_syms: attr_assigns.iter().map(|row| row.0).collect(),
            attr_assigns: attr_assigns.iter().map(|row| (row.1, row.2)).collect(),
        }
    }

    /// Where something is mentioned.
    fn of(&self, key: u32) -> &[(Mention, Wrap)] {
        &self.mentions[self.mention_starts.run(key as usize)]
    }

    /// Assignments to attributes of this name; true where the target's object is the receiver of a method around.
    pub fn attr_assigns(&self, sym: Sym) -> &[(AssignId, bool)] {
        let start = self.attr_syms.partition_point(|of| *of < sym);
        let len = self.attr_syms[start..].iter().take_while(|of| **of == sym).count();
        &self.attr_assigns[start..start + len]
    }

    /// The sites whose last name is this symbol, in order.
    pub fn sites_named(&self, sym: Sym) -> &[SiteId] {
        &self.sites[self.site_starts.run(sym.index())]
    }

    /// Where variables and attributes of this name are mentioned.
    pub fn mentions_named(&self, sym: Sym) -> &[(Mention, Wrap)] {
        if sym.0 < self.symbols { self.of(sym.0) } else { &[] }
    }

    /// Where the result of a site goes.
    pub fn uses_of_result(&self, site: SiteId) -> &[(Mention, Wrap)] {
        self.of(self.symbols.saturating_add(site.0))
    }

    /// Where a function literal goes.
    pub fn uses_of_callable(&self, body: BodyId) -> &[(Mention, Wrap)] {
        self.of(self.sites_end.saturating_add(body.0))
    }
}

/// Finds what is mentioned in one file.
struct Reader<'a> {
    facts: &'a FileFacts,
    symbols: u32,
    sites_end: u32,
    found: &'a mut Vec<(u32, Mention, Wrap)>,
}

impl Reader<'_> {
    fn mention(&mut self, form: FormId, place: Mention, wrap: Wrap, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let facts = self.facts;
        let key = match facts.form(form) {
            Form::Var(var) => facts.var(var).name.0,
            Form::Name(name) | Form::Attr(_, name) | Form::Path(_, name) => name.0,
            Form::Result(site) => self.symbols.saturating_add(site.0),
            Form::Callable(body) | Form::Run(body) => self.sites_end.saturating_add(body.0),
            Form::Await(inner) | Form::Try(inner) => {
                let wrap = if wrap == Wrap::Direct { Wrap::Awaited } else { wrap };
                return self.mention(inner, place, wrap, depth);
            }
            Form::Cast(inner, _) | Form::Star(inner) => return self.mention(inner, place, wrap, depth),
            Form::Alt(_, list) => {
                return facts.list(list).iter().for_each(|&inner| self.mention(inner, place, wrap, depth));
            }
            Form::Display(_, list) | Form::Pairs(list) => {
                return facts.list(list).iter().for_each(|&inner| self.mention(inner, place, Wrap::Element, depth));
            }
            _ => return,
        };
        // A nameless variable (`Sym::NONE`) is mentioned nowhere.
        if key < self.sites_end + facts.bodies.len() as u32 {
            self.found.push((key, place, wrap));
        }
    }
}

/// Whether a form is the receiver of the method whose parameter it is: `self`, `cls`, `this`.
pub(crate) fn is_own_receiver(facts: &FileFacts, form: FormId) -> bool {
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
