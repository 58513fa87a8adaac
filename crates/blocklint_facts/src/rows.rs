//! The encoding of the rows of each table as words (`impl Row`).

use blocklint_core::Span;

use crate::table::Row;
use crate::{
    Arg, Assign, AssignKind, At, Body, BodyFlags, BodyId, BodyKind, ClassId, Exit, ExitKind, Flow, FormId, Import,
    ImportKind, List, Region, RegionId, RegionKind, Site, SiteFlags, SiteKind, Sym, Var, VarId, VarKind,
};

/// Returns the variant with this number; the first one for an invalid number, which is never written.
fn variant<T: Copy>(all: &[T], number: u32) -> T {
    all.get(number as usize).copied().unwrap_or(all[0])
}

const SITE_KINDS: [SiteKind; 17] = [
    SiteKind::Call,
    SiteKind::New,
    SiteKind::Macro,
    SiteKind::Decorate,
    SiteKind::Read,
    SiteKind::Write,
    SiteKind::Enter,
    SiteKind::Leave,
    SiteKind::Iterate,
    SiteKind::Subscript,
    SiteKind::Operator,
    SiteKind::Await,
    SiteKind::Import,
    SiteKind::Drop,
    SiteKind::Test,
    SiteKind::Compare,
    SiteKind::Format,
];

/// The number of bits for a site's kind, in the first word.
const KIND_BITS: u32 = 5;

/// The position of the bits for the number of arguments in the first word, behind the kind and eight flags.
const ARGS_SHIFT: u32 = KIND_BITS + 8;

const _: () = assert!(SITE_KINDS.len() <= 1 << KIND_BITS, "a kind fits into its bits");

/// The maximal number of arguments of a site that are stored. A call with more arguments is longer than 1 MB.
const MAX_ARGS: u32 = (1 << (32 - ARGS_SHIFT)) - 1;

impl Row for Site {
    const WORDS: usize = 10;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[
            self.kind as u32 | u32::from(self.flags.0) << KIND_BITS | self.args.len.min(MAX_ARGS) << ARGS_SHIFT,
            self.callee.0,
            self.name.0,
            self.args.start,
            self.at.region.0,
            self.at.position,
            self.span.start,
            self.span.end,
            self.name_span.start,
            self.name_span.end,
        ]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        let first = word(0);
        Site {
            kind: variant(&SITE_KINDS, first & ((1 << KIND_BITS) - 1)),
            flags: SiteFlags((first >> KIND_BITS) as u8),
            callee: FormId(word(1)),
            name: Sym(word(2)),
            args: List { start: word(3), len: first >> ARGS_SHIFT },
            at: At { region: RegionId(word(4)), position: word(5) },
            span: Span { start: word(6), end: word(7) },
            name_span: Span { start: word(8), end: word(9) },
        }
    }
}

impl Row for Arg {
    const WORDS: usize = 4;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[self.name.0, self.value.0, self.span.start, self.span.end]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        Arg { name: Sym(word(0)), value: FormId(word(1)), span: Span { start: word(2), end: word(3) } }
    }
}

const ASSIGN_KINDS: [AssignKind; 5] =
    [AssignKind::Plain, AssignKind::Augmented, AssignKind::Definition, AssignKind::Import, AssignKind::Declaration];

impl Row for Assign {
    const WORDS: usize = 8;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[
            self.kind as u32,
            self.target.0,
            self.value.0,
            self.annotation.0,
            self.at.region.0,
            self.at.position,
            self.span.start,
            self.span.end,
        ]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        Assign {
            kind: variant(&ASSIGN_KINDS, word(0)),
            target: FormId(word(1)),
            value: FormId(word(2)),
            annotation: FormId(word(3)),
            at: At { region: RegionId(word(4)), position: word(5) },
            span: Span { start: word(6), end: word(7) },
        }
    }
}

const EXIT_KINDS: [ExitKind; 3] = [ExitKind::Return, ExitKind::Yield, ExitKind::YieldFrom];

impl Row for Exit {
    const WORDS: usize = 6;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[
            self.kind as u32,
            self.value.0,
            self.at.region.0,
            self.at.position,
            self.span.start,
            self.span.end,
        ]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        Exit {
            kind: variant(&EXIT_KINDS, word(0)),
            value: FormId(word(1)),
            at: At { region: RegionId(word(2)), position: word(3) },
            span: Span { start: word(4), end: word(5) },
        }
    }
}

const IMPORT_KINDS: [ImportKind; 7] = [
    ImportKind::Module,
    ImportKind::Head,
    ImportKind::Name,
    ImportKind::Star,
    ImportKind::Static,
    ImportKind::Package,
    ImportKind::File,
];

impl Row for Import {
    const WORDS: usize = 8;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[
            self.kind as u32,
            self.module.0,
            self.level,
            self.name.0,
            self.at.region.0,
            self.at.position,
            self.span.start,
            self.span.end,
        ]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        Import {
            kind: variant(&IMPORT_KINDS, word(0)),
            module: Sym(word(1)),
            level: word(2),
            name: Sym(word(3)),
            at: At { region: RegionId(word(4)), position: word(5) },
            span: Span { start: word(6), end: word(7) },
        }
    }
}

const REGION_KINDS: [RegionKind; 10] = [
    RegionKind::Body,
    RegionKind::Loop,
    RegionKind::Then,
    RegionKind::Else,
    RegionKind::Case,
    RegionKind::Try,
    RegionKind::Handler,
    RegionKind::Finally,
    RegionKind::With,
    RegionKind::Block,
];

impl Row for Region {
    const WORDS: usize = 7;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[
            self.kind as u32,
            self.parent.0,
            self.body.0,
            self.group,
            self.test.0,
            self.span.start,
            self.span.end,
        ]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        Region {
            kind: variant(&REGION_KINDS, word(0)),
            parent: RegionId(word(1)),
            body: BodyId(word(2)),
            group: word(3),
            test: FormId(word(4)),
            span: Span { start: word(5), end: word(6) },
        }
    }
}

impl Row for Var {
    const WORDS: usize = 3;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        let kind = match self.kind {
            VarKind::Named => 0,
            VarKind::Inner => 1,
            VarKind::Param(index) => index + 2,
        };
        words.extend_from_slice(&[self.name.0, self.body.0, kind]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        let kind = match word(2) {
            0 => VarKind::Named,
            1 => VarKind::Inner,
            number => VarKind::Param(number - 2),
        };
        Var { name: Sym(word(0)), body: BodyId(word(1)), kind }
    }
}

const BODY_KINDS: [BodyKind; 7] = [
    BodyKind::Module,
    BodyKind::Class,
    BodyKind::Function,
    BodyKind::Lambda,
    BodyKind::AsyncBlock,
    BodyKind::GeneratorExpression,
    BodyKind::Initialiser,
];

const FLOWS: [Flow; 4] = [Flow::Sync, Flow::Coroutine, Flow::Generator, Flow::AsyncGenerator];

impl Row for Body {
    const WORDS: usize = 15;

    #[inline]
    fn write(self, words: &mut Vec<u32>) {
        words.extend_from_slice(&[
            self.kind as u32 | (self.flow as u32) << 4 | u32::from(self.flags.0) << 8,
            self.name.0,
            self.parent.0,
            self.class.0,
            self.params.start,
            self.params.len,
            self.decorators.start,
            self.decorators.len,
            self.returns.0,
            self.span.start,
            self.span.end,
            self.name_span.start,
            self.name_span.end,
            self.region.0,
            self.var.0,
        ]);
    }

    #[inline]
    fn read(word: impl Fn(usize) -> u32) -> Self {
        let first = word(0);
        Body {
            kind: variant(&BODY_KINDS, first & 0xF),
            flow: variant(&FLOWS, first >> 4 & 0xF),
            flags: BodyFlags((first >> 8) as u8),
            name: Sym(word(1)),
            parent: BodyId(word(2)),
            class: ClassId(word(3)),
            params: List { start: word(4), len: word(5) },
            decorators: List { start: word(6), len: word(7) },
            returns: FormId(word(8)),
            span: Span { start: word(9), end: word(10) },
            name_span: Span { start: word(11), end: word(12) },
            region: RegionId(word(13)),
            var: VarId(word(14)),
        }
    }
}
