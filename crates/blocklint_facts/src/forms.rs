//! The packed table of forms (`Forms`): a tag and two numbers for each, and a separate list of large literal numbers.

use serde::{Deserialize, Serialize};

use crate::table::{Row, Table};
use crate::{AltKind, BodyId, ClassId, Comparison, DisplayKind, Form, FormId, ImportId, List, SiteId, Sym, VarId};

/// The forms of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forms {
    /// The form in the lower six bits of each tag; the kind of display or alternative in the others.
    #[serde(with = "crate::stored::bytes")]
    tags: Box<[u8]>,
    rows: Table<Packed>,
    /// The literal numbers that do not fit into a narrow row, as the bits of an `i64` or `f64`.
    numbers: Box<[u64]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    a: u32,
    b: u32,
}

impl Row for Packed {
    const WORDS: usize = 2;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[self.a, self.b]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        Packed { a: word(0), b: word(1) }
    }
}

const DISPLAYS: [DisplayKind; 3] = [DisplayKind::List, DisplayKind::Tuple, DisplayKind::Set];
const ALTERNATIVES: [AltKind; 4] = [AltKind::Or, AltKind::And, AltKind::Ternary, AltKind::Ends];
const COMPARISONS: [Comparison; 10] = [
    Comparison::Eq,
    Comparison::NotEq,
    Comparison::Less,
    Comparison::LessEq,
    Comparison::Greater,
    Comparison::GreaterEq,
    Comparison::Is,
    Comparison::IsNot,
    Comparison::In,
    Comparison::NotIn,
];

/// The tag of the first comparison; those of the others follow it.
const COMPARE: u8 = 35;

/// The largest integer that is stored in its row; larger and negative ones are in `Forms::numbers`.
const MAX_INLINE: i64 = 0xFFFE;

impl Forms {
    /// Returns the packed forms; `scratch` is overwritten.
    pub(crate) fn pack(forms: &[Form], scratch: &mut Vec<u32>) -> Self {
        let mut numbers = Vec::new();
        let mut tags = Vec::with_capacity(forms.len());
        let rows = forms.iter().map(|&form| {
            let (tag, row) = pack_form(form, &mut numbers);
            tags.push(tag);
            row
        });
        let rows = Table::pack(rows, scratch);
        Forms { tags: tags.into(), rows, numbers: numbers.into() }
    }

    /// Returns the number of forms.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// True if the table is empty.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// Returns the form with an id; [`Form::Other`] for [`FormId::NONE`].
    #[inline]
    pub fn get(&self, id: FormId) -> Form {
        self.tags.get(id.index()).map_or(Form::Other, |&tag| self.unpack(tag, self.rows.at(id.index())))
    }

    /// Returns all forms, in order.
    pub fn iter(&self) -> impl Iterator<Item = Form> {
        self.tags.iter().zip(&self.rows).map(|(&tag, row)| self.unpack(tag, row))
    }

    pub(crate) fn heap_size(&self) -> usize {
        self.tags.len() + self.rows.heap_size() + size_of_val(&*self.numbers)
    }

    fn number(&self, index: u32) -> u64 {
        self.numbers.get(index as usize).copied().unwrap_or_default()
    }

    #[inline]
    fn unpack(&self, tag: u8, Packed { a, b }: Packed) -> Form {
        let kind = usize::from(tag >> 6);
        let list = List { start: a, len: b };
        match tag & 0x3F {
            1 => Form::None,
            2 => Form::Ellipsis,
            3 => Form::Bool(a != 0),
            4 => Form::Int(i64::from(a)),
            5 => Form::Int(self.number(a) as i64),
            6 => Form::Float(f64::from_bits(self.number(a))),
            7 => Form::Str(Sym(a)),
            8 => Form::Bytes(Sym(a)),
            9 => Form::Var(VarId(a)),
            10 => Form::Name(Sym(a)),
            11 => Form::This,
            12 => Form::Attr(FormId(a), Sym(b)),
            13 => Form::Path(FormId(a), Sym(b)),
            14 => Form::Result(SiteId(a)),
            15 => Form::Await(FormId(a)),
            16 => Form::Try(FormId(a)),
            17 => Form::Callable(BodyId(a)),
            18 => Form::Run(BodyId(a)),
            19 => Form::Class(ClassId(a)),
            20 => Form::Import(ImportId(a)),
            21 => Form::Element(FormId(a)),
            22 => Form::Part(FormId(a), b),
            23 => Form::Field(FormId(a), Sym(b)),
            24 => Form::Display(DISPLAYS.get(kind).copied().unwrap_or(DisplayKind::List), list),
            25 => Form::Pairs(list),
            26 => Form::Alt(ALTERNATIVES.get(kind).copied().unwrap_or(AltKind::Ends), list),
            27 => Form::Join(list),
            28 => Form::Star(FormId(a)),
            29 => Form::StarStar(FormId(a)),
            30 => Form::Subscript(FormId(a), FormId(b)),
            31 => Form::Not(FormId(a)),
            32 => Form::Cast(FormId(a), FormId(b)),
            33 => Form::Bound(FormId(a)),
            34 => Form::Text(Sym(a)),
            tag => match COMPARISONS.get(usize::from(tag).wrapping_sub(usize::from(COMPARE))) {
                Some(&operator) => Form::Compare(operator, FormId(a), FormId(b)),
                None => Form::Other,
            },
        }
    }
}

fn pack_form(form: Form, numbers: &mut Vec<u64>) -> (u8, Packed) {
    let mut number = |bits: u64| {
        numbers.push(bits);
        numbers.len() as u32 - 1
    };
    let (tag, a, b) = match form {
        Form::Other => (0, 0, 0),
        Form::None => (1, 0, 0),
        Form::Ellipsis => (2, 0, 0),
        Form::Bool(value) => (3, u32::from(value), 0),
        Form::Int(value) if (0..=MAX_INLINE).contains(&value) => (4, value as u32, 0),
        Form::Int(value) => (5, number(value as u64), 0),
        Form::Float(value) => (6, number(value.to_bits()), 0),
        Form::Str(sym) => (7, sym.0, 0),
        Form::Bytes(sym) => (8, sym.0, 0),
        Form::Var(var) => (9, var.0, 0),
        Form::Name(sym) => (10, sym.0, 0),
        Form::This => (11, 0, 0),
        Form::Attr(base, sym) => (12, base.0, sym.0),
        Form::Path(base, sym) => (13, base.0, sym.0),
        Form::Result(site) => (14, site.0, 0),
        Form::Await(base) => (15, base.0, 0),
        Form::Try(base) => (16, base.0, 0),
        Form::Callable(body) => (17, body.0, 0),
        Form::Run(body) => (18, body.0, 0),
        Form::Class(class) => (19, class.0, 0),
        Form::Import(import) => (20, import.0, 0),
        Form::Element(base) => (21, base.0, 0),
        Form::Part(base, index) => (22, base.0, index),
        Form::Field(base, sym) => (23, base.0, sym.0),
        Form::Display(kind, list) => (24 | (kind as u8) << 6, list.start, list.len),
        Form::Pairs(list) => (25, list.start, list.len),
        Form::Alt(kind, list) => (26 | (kind as u8) << 6, list.start, list.len),
        Form::Join(list) => (27, list.start, list.len),
        Form::Star(base) => (28, base.0, 0),
        Form::StarStar(base) => (29, base.0, 0),
        Form::Subscript(base, index) => (30, base.0, index.0),
        Form::Not(base) => (31, base.0, 0),
        Form::Compare(operator, left, right) => (COMPARE + operator as u8, left.0, right.0),
        Form::Cast(value, ty) => (32, value.0, ty.0),
        Form::Bound(base) => (33, base.0, 0),
        Form::Text(sym) => (34, sym.0, 0),
    };
    (tag, Packed { a, b })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_unpacked_unchanged() {
        for high in [3, 0x1_0000] {
            let (form, sym, list) = (FormId(high), Sym(high + 1), List { start: high, len: 2 });
            let mut forms = vec![
                Form::Other,
                Form::None,
                Form::Ellipsis,
                Form::Bool(false),
                Form::Bool(true),
                Form::Float(-0.25),
                Form::Float(1e300),
                Form::Str(sym),
                Form::Text(sym),
                Form::Bytes(sym),
                Form::Var(VarId(high)),
                Form::Name(sym),
                Form::This,
                Form::Attr(form, sym),
                Form::Path(form, sym),
                Form::Result(SiteId(high)),
                Form::Await(form),
                Form::Try(form),
                Form::Callable(BodyId(high)),
                Form::Run(BodyId(high)),
                Form::Class(ClassId(high)),
                Form::Import(ImportId(high)),
                Form::Element(form),
                Form::Part(form, high),
                Form::Field(form, sym),
                Form::Pairs(list),
                Form::Join(list),
                Form::Star(form),
                Form::StarStar(form),
                Form::Subscript(form, FormId(0)),
                Form::Not(form),
                Form::Cast(form, FormId::NONE),
                Form::Bound(form),
            ];
            let ints = [0, 1, MAX_INLINE, MAX_INLINE + 1, i64::from(u32::MAX), -1, i64::MIN, i64::MAX];
            forms.extend(ints.map(Form::Int));
            forms.extend(DISPLAYS.map(|kind| Form::Display(kind, list)));
            forms.extend(ALTERNATIVES.map(|kind| Form::Alt(kind, list)));
            forms.extend(COMPARISONS.map(|operator| Form::Compare(operator, form, FormId(1))));
            let packed = Forms::pack(&forms, &mut Vec::new());
            assert_eq!(packed.iter().collect::<Vec<_>>(), forms);
            assert_eq!(packed.get(FormId::NONE), Form::Other);
            let width = if high == 3 { 5 } else { 9 };
            assert_eq!(packed.heap_size(), forms.len() * width + 7 * 8, "large literals widen no row");
        }
    }
}
