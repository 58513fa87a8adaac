//! Files that must not be parsed, because their tree would be too deep.

use blocklint_core::Span;
use blocklint_facts::Problem;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer::lex};

/// Levels a tree may have. The parser takes about 2 KiB of stack per level, which it allocates.
const DEPTH: u32 = 20_000;
/// Shorter files cannot be deep enough to matter.
const HARMLESS_BYTES: usize = 64 << 10;

/// Returns a problem if the file nests so deeply that parsing it costs hundreds of megabytes.
pub(crate) fn refuse(source: &str) -> Option<Problem> {
    if source.len() < HARMLESS_BYTES || !may_nest(source.as_bytes()) {
        return None;
    }
    is_deep(source)
        .then(|| Problem { span: Span::default(), message: format!("skipped: nested more than {DEPTH} levels deep") })
}

/// True if brackets nest, or one logical line is long enough for operators to, beyond the depth. Brackets in strings
/// count too: this decides only whether to look closely.
fn may_nest(bytes: &[u8]) -> bool {
    let (mut depth, mut deepest, mut line, mut longest) = (0u32, 0u32, 0u32, 0u32);
    for &byte in bytes {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 => {
                longest = longest.max(line);
                line = 0;
                continue;
            }
            _ => {}
        }
        line += 1;
    }
    deepest > DEPTH || longest.max(line) > 2 * DEPTH
}

/// True if the depth is exceeded, counting brackets and operators that lean to the right.
fn is_deep(source: &str) -> bool {
    let mut lexer = lex(source, Mode::Module);
    // Depth at each open bracket.
    let mut brackets: Vec<u32> = Vec::new();
    let mut depth = 0u32;
    let mut after_operand = false;
    loop {
        let kind = lexer.next_token();
        let mut operand = false;
        match kind {
            TokenKind::EndOfFile => return false,
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                brackets.push(depth);
                depth += 1;
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd => {
                depth = brackets.pop().unwrap_or(0);
                operand = true;
            }
            TokenKind::Newline | TokenKind::Semi => {
                brackets.clear();
                depth = 0;
            }
            TokenKind::Comma => depth = brackets.last().map_or(0, |depth| depth + 1),
            TokenKind::Not
            | TokenKind::Lambda
            | TokenKind::Tilde
            | TokenKind::DoubleStar
            | TokenKind::Else
            | TokenKind::Await
            | TokenKind::Yield
            | TokenKind::ColonEqual => depth += 1,
            TokenKind::Minus | TokenKind::Plus if !after_operand => depth += 1,
            TokenKind::Name | TokenKind::Int | TokenKind::Float | TokenKind::String => operand = true,
            TokenKind::Comment | TokenKind::NonLogicalNewline => operand = after_operand,
            _ => {}
        }
        after_operand = operand;
        if depth > DEPTH {
            return true;
        }
    }
}
