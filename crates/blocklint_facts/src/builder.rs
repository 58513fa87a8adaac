//! The builder of [`FileFacts`], which front ends fill: its methods add rows and return their ids.

use std::cell::Cell;

use blocklint_core::{Language, Span};

use crate::draft::Draft;
use crate::names::Names;
use crate::tables::*;
use crate::{AssignId, BodyId, ClassId, FileFacts, Form, FormId, ImportId, List, RegionId, SiteId, Sym, VarId, hash};

/// Collects the facts of one file. Each method named after a row (`site`, `assign`, `region`) adds one and returns its
/// id; ids are in ascending order. Rows can be changed until [`FactsBuilder::finish`].
#[derive(Debug)]
pub struct FactsBuilder {
    facts: Draft,
    language: Language,
    content_hash: u64,
    names: Names,
    var_forms: Vec<FormId>,
    /// The last form for each slot of a small hash table, to share repeated attributes and literals.
    recent: Vec<FormId>,
    position: u32,
    groups: u32,
    /// A buffer for the numbers of the table that is being packed.
    scratch: Vec<u32>,
}

/// The number of recent forms that are remembered.
const RECENT: usize = 256;

/// The id of `Form::None` in every file.
const NONE_FORM: FormId = FormId(1);
/// The id of `Form::Other` in every file.
const OTHER_FORM: FormId = FormId(0);

impl FactsBuilder {
    /// Returns a builder for a file with these bytes.
    pub fn new(language: Language, bytes: &[u8]) -> Self {
        // The tables of an earlier file of this thread are used again, because they have grown already.
        let mut builder = SPARE.take().unwrap_or_else(|| FactsBuilder {
            facts: Draft::default(),
            language,
            content_hash: 0,
            names: Names::default(),
            var_forms: Vec::new(),
            recent: vec![FormId::NONE; RECENT],
            position: 0,
            groups: 0,
            scratch: Vec::new(),
        });
        builder.language = language;
        builder.content_hash = hash::of_bytes(bytes);
        builder.facts.forms.extend([Form::Other, Form::None]);
        builder
    }

    /// Returns the facts so far.
    pub fn facts(&self) -> &Draft {
        &self.facts
    }

    /// Returns the symbol of a string.
    pub fn intern(&mut self, text: &str) -> Sym {
        self.names.intern(text, &mut self.facts.strings)
    }

    /// Returns the symbol of a literal, cut to 64 bytes at a character boundary.
    pub fn intern_literal(&mut self, text: &str) -> Sym {
        let mut end = text.len().min(64);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.intern(&text[..end])
    }

    /// Adds a form. Equal variables, `None` and `Other` are always shared, equal attributes and literals often.
    pub fn form(&mut self, form: Form) -> FormId {
        match form {
            Form::Other => OTHER_FORM,
            Form::None => NONE_FORM,
            Form::Var(var) => {
                let slot = &mut self.var_forms[var.index()];
                if slot.is_none() {
                    *slot = FormId(self.facts.forms.len() as u32);
                    self.facts.forms.push(form);
                }
                *slot
            }
            Form::Attr(base, sym) => self.add_shared(form, base.0.wrapping_mul(31).wrapping_add(sym.0)),
            Form::Str(sym) | Form::Text(sym) => self.add_shared(form, sym.0.wrapping_mul(7)),
            Form::Int(value) => self.add_shared(form, value as u32),
            Form::Bool(value) => self.add_shared(form, u32::from(value)),
            _ => {
                self.facts.forms.push(form);
                FormId(self.facts.forms.len() as u32 - 1)
            }
        }
    }

    /// Adds a form, unless the last form with this hash is equal.
    fn add_shared(&mut self, form: Form, hash: u32) -> FormId {
        let slot = &mut self.recent[hash as usize % RECENT];
        if slot.is_none() || self.facts.forms[slot.index()] != form {
            *slot = FormId(self.facts.forms.len() as u32);
            self.facts.forms.push(form);
        }
        *slot
    }

    /// Replaces a form that was unknown before (a name whose binding is later in the file). The form must not be
    /// shared.
    pub fn set_form(&mut self, id: FormId, form: Form) {
        self.facts.forms[id.index()] = form;
    }

    /// Adds a list of forms.
    pub fn list(&mut self, forms: &[FormId]) -> List {
        if forms.is_empty() {
            return List::EMPTY;
        }
        let start = self.facts.lists.len() as u32;
        self.facts.lists.extend_from_slice(forms);
        List { start, len: forms.len() as u32 }
    }

    /// Adds a body and its region. The caller sets fields that are known later through [`Self::body_mut`].
    pub fn body(&mut self, mut body: Body) -> BodyId {
        let id = BodyId(self.facts.bodies.len() as u32);
        body.region = self.region(RegionId::NONE, id, RegionKind::Body, FormId::NONE, body.span);
        self.facts.bodies.push(body);
        id
    }

    /// Returns a body whose fields can be set.
    pub fn body_mut(&mut self, id: BodyId) -> &mut Body {
        &mut self.facts.bodies[id.index()]
    }

    /// Adds all parameters of a body.
    pub fn params(&mut self, params: &[Param]) -> List {
        let start = self.facts.params.len() as u32;
        self.facts.params.extend_from_slice(params);
        List { start, len: params.len() as u32 }
    }

    /// Adds a class.
    pub fn class(&mut self, class: Class) -> ClassId {
        self.facts.classes.push(class);
        ClassId(self.facts.classes.len() as u32 - 1)
    }

    /// Returns a class whose fields can be set.
    pub fn class_mut(&mut self, id: ClassId) -> &mut Class {
        &mut self.facts.classes[id.index()]
    }

    /// Adds a variable.
    pub fn var(&mut self, name: Sym, body: BodyId, kind: VarKind) -> VarId {
        self.facts.vars.push(Var { name, body, kind });
        self.var_forms.push(FormId::NONE);
        VarId(self.facts.vars.len() as u32 - 1)
    }

    /// Adds a region with a group of its own.
    pub fn region(&mut self, parent: RegionId, body: BodyId, kind: RegionKind, test: FormId, span: Span) -> RegionId {
        let group = self.group();
        self.arm(parent, body, kind, group, test, span)
    }

    /// Returns a region whose fields can be set (the test of a loop is extracted inside of the region).
    pub fn region_mut(&mut self, id: RegionId) -> &mut Region {
        &mut self.facts.regions[id.index()]
    }

    /// Returns a new group number for the arms of one branch.
    pub fn group(&mut self) -> u32 {
        self.groups += 1;
        self.groups
    }

    /// Adds a region as an arm of the branch with this group number.
    pub fn arm(
        &mut self,
        parent: RegionId,
        body: BodyId,
        kind: RegionKind,
        group: u32,
        test: FormId,
        span: Span,
    ) -> RegionId {
        self.facts.regions.push(Region { parent, body, kind, group, test, span });
        RegionId(self.facts.regions.len() as u32 - 1)
    }

    /// Returns the next place in the order of evaluation.
    pub fn at(&mut self, region: RegionId) -> At {
        self.position += 1;
        At { region, position: self.position }
    }

    /// Adds a site with its arguments, and sets `site.args`.
    pub fn site(&mut self, mut site: Site, args: &[Arg]) -> SiteId {
        site.args = self.args(args);
        self.facts.sites.push(site);
        SiteId(self.facts.sites.len() as u32 - 1)
    }

    /// Returns a site whose fields can be set (the use of its result is known later).
    pub fn site_mut(&mut self, id: SiteId) -> &mut Site {
        &mut self.facts.sites[id.index()]
    }

    /// Adds arguments without a site (keywords of a class statement).
    pub fn args(&mut self, args: &[Arg]) -> List {
        let start = self.facts.args.len() as u32;
        self.facts.args.extend_from_slice(args);
        List { start, len: args.len() as u32 }
    }

    /// Adds an assignment.
    pub fn assign(&mut self, assign: Assign) -> AssignId {
        self.facts.assigns.push(assign);
        AssignId(self.facts.assigns.len() as u32 - 1)
    }

    /// Adds an exit.
    pub fn exit(&mut self, exit: Exit) {
        self.facts.exits.push(exit);
    }

    /// Adds an import.
    pub fn import(&mut self, import: Import) -> ImportId {
        self.facts.imports.push(import);
        ImportId(self.facts.imports.len() as u32 - 1)
    }

    /// Adds a suppression comment.
    pub fn suppression(&mut self, suppression: Suppression) {
        self.facts.suppressions.push(suppression);
    }

    /// Adds a problem: a part of the file that could not be read.
    pub fn problem(&mut self, span: Span, message: String) {
        self.facts.problems.push(Problem { span, message });
    }

    /// Returns the facts: packs the tables, and builds the indices by variable and by body.
    pub fn finish(mut self) -> FileFacts {
        let facts = self.facts.pack(self.language, self.content_hash, &mut self.scratch);
        if self.facts.capacity_bytes() < SPARE_BYTES {
            self.facts.clear();
            self.names.clear();
            self.var_forms.clear();
            self.recent.fill(FormId::NONE);
            self.position = 0;
            self.groups = 0;
            SPARE.set(Some(self));
        }
        facts
    }
}

thread_local! {
    /// A builder with empty tables that keep their capacity.
    static SPARE: Cell<Option<FactsBuilder>> = const { Cell::new(None) };
}

/// The capacity in bytes above which a builder is not kept.
const SPARE_BYTES: usize = 16 << 20;
