//! Where the names and values of one file are used: the part of the index that is built when first asked for.

use blocklint_facts::{
    AssignId, BodyFlags, BodyId, FileFacts, Form, FormId, ParamKind, SiteId, SiteKind, Sym, VarKind,
};
use rustc_hash::FxHashMap;

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

/// What is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Leaf {
    /// A variable or attribute with this last name.
    Named(Sym),
    /// The result of a site.
    Result(SiteId),
    /// A function literal.
    Callable(BodyId),
}

/// Mentions and sites of one file by what they name.
#[derive(Debug)]
pub struct FileIndex {
    site_starts: Vec<u32>,
    sites: Vec<SiteId>,
    /// Sorted by what is mentioned, then in the order of the tables.
    leaves: Vec<Leaf>,
    mentions: Vec<(Mention, Wrap)>,
    attr_assigns: FxHashMap<Sym, Vec<(AssignId, bool)>>,
}

impl FileIndex {
    /// Reads the facts once: O(sites + forms).
    pub fn new(facts: &FileFacts) -> Self {
        let names = facts.symbols.len();
        let mut site_starts = vec![0u32; names + 1];
        for site in facts.sites.iter().filter(|site| site.name.index() < names) {
            site_starts[site.name.index() + 1] += 1;
        }
        for at in 0..names {
            site_starts[at + 1] += site_starts[at];
        }
        let mut next = site_starts.clone();
        let mut sites = vec![SiteId(0); site_starts[names] as usize];
        for (at, site) in facts.sites.iter().enumerate().filter(|(_, site)| site.name.index() < names) {
            let slot = &mut next[site.name.index()];
            sites[*slot as usize] = SiteId(at as u32);
            *slot += 1;
        }
        let mut index = FileIndex {
            site_starts,
            sites,
            leaves: Vec::new(),
            mentions: Vec::new(),
            attr_assigns: FxHashMap::default(),
        };
        for (at, site) in facts.sites.iter().enumerate() {
            let id = SiteId(at as u32);
            for (arg, row) in facts.args_of(id).iter().enumerate() {
                index.mention(facts, row.value, Mention::Arg(id, arg as u32), Wrap::Direct, 8);
            }
            match site.kind {
                SiteKind::Call | SiteKind::New | SiteKind::Decorate
                    if matches!(
                        facts.form(site.callee),
                        Form::Attr(..) | Form::Path(..) | Form::Var(_) | Form::Name(_)
                    ) => {}
                _ => index.mention(facts, site.callee, Mention::Operand(id), Wrap::Direct, 8),
            }
        }
        for (at, assign) in facts.assigns.iter().enumerate() {
            let id = AssignId(at as u32);
            index.mention(facts, assign.value, Mention::Assign(id), Wrap::Direct, 8);
            if let Form::Attr(base, sym) = facts.form(assign.target) {
                index.attr_assigns.entry(sym).or_default().push((id, is_own_receiver(facts, base)));
            }
        }
        for (at, exit) in facts.exits.iter().enumerate() {
            index.mention(facts, exit.value, Mention::Exit(at as u32), Wrap::Direct, 8);
        }
        for (at, param) in facts.params.iter().enumerate() {
            index.mention(facts, param.default, Mention::Default(at as u32), Wrap::Direct, 8);
            // Values inside annotations: `Annotated[Store, Depends(make)]` is an argument of a site anyway.
        }
        index.sort();
        index
    }

    fn sort(&mut self) {
        let mut order: Vec<u32> = (0..self.leaves.len() as u32).collect();
        order.sort_by_key(|&at| self.leaves[at as usize]);
        self.leaves = order.iter().map(|&at| self.leaves[at as usize]).collect();
        self.mentions = order.iter().map(|&at| self.mentions[at as usize]).collect();
    }

    /// Where something is mentioned.
    fn of(&self, leaf: Leaf) -> &[(Mention, Wrap)] {
        let start = self.leaves.partition_point(|other| *other < leaf);
        let len = self.leaves[start..].partition_point(|other| *other == leaf);
        &self.mentions[start..start + len]
    }

    fn mention(&mut self, facts: &FileFacts, form: FormId, place: Mention, wrap: Wrap, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let leaf = match facts.form(form) {
            Form::Var(var) => Leaf::Named(facts.var(var).name),
            Form::Name(name) | Form::Attr(_, name) | Form::Path(_, name) => Leaf::Named(name),
            Form::Result(site) => Leaf::Result(site),
            Form::Callable(body) | Form::Run(body) => Leaf::Callable(body),
            Form::Await(inner) | Form::Try(inner) => {
                let wrap = if wrap == Wrap::Direct { Wrap::Awaited } else { wrap };
                return self.mention(facts, inner, place, wrap, depth);
            }
            Form::Cast(inner, _) | Form::Star(inner) => return self.mention(facts, inner, place, wrap, depth),
            Form::Alt(_, list) => {
                return facts.list(list).iter().for_each(|&inner| self.mention(facts, inner, place, wrap, depth));
            }
            Form::Display(_, list) | Form::Pairs(list) => {
                return facts
                    .list(list)
                    .iter()
                    .for_each(|&inner| self.mention(facts, inner, place, Wrap::Element, depth));
            }
            _ => return,
        };
        self.leaves.push(leaf);
        self.mentions.push((place, wrap));
    }

    /// Assignments to attributes of this name; true where the target's object is the receiver of a method around.
    pub fn attr_assigns(&self, sym: Sym) -> &[(AssignId, bool)] {
        self.attr_assigns.get(&sym).map_or(&[], Vec::as_slice)
    }

    /// The sites whose last name is this symbol, in order.
    pub fn sites_named(&self, sym: Sym) -> &[SiteId] {
        let at = sym.index();
        &self.sites[self.site_starts[at] as usize..self.site_starts[at + 1] as usize]
    }

    /// Where variables and attributes of this name are mentioned.
    pub fn mentions_named(&self, sym: Sym) -> &[(Mention, Wrap)] {
        self.of(Leaf::Named(sym))
    }

    /// Where the result of a site goes.
    pub fn uses_of_result(&self, site: SiteId) -> &[(Mention, Wrap)] {
        self.of(Leaf::Result(site))
    }

    /// Where a function literal goes.
    pub fn uses_of_callable(&self, body: BodyId) -> &[(Mention, Wrap)] {
        self.of(Leaf::Callable(body))
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
