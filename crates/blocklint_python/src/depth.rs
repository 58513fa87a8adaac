//! Limit of nesting: files whose syntax tree would be too deep are not parsed.

use blocklint_core::Span;
use blocklint_facts::Problem;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer::lex};

/// Levels that a tree may have. For each level the parser allocates about 2 KiB of stack.
const DEPTH: u32 = 20_000;
/// Shorter files cannot reach [`DEPTH`].
const HARMLESS_BYTES: usize = 64 << 10;

/// Returns a problem if the file nests so deeply that parsing it costs hundreds of megabytes.
pub(crate) fn check_nesting(source: &str) -> Option<Problem> {
    if source.len() < HARMLESS_BYTES || !may_nest_too_deeply(source.as_bytes()) {
        return None;
    }
    nests_too_deeply(source)
        .then(|| Problem { span: Span::default(), message: format!("skipped: nested more than {DEPTH} levels deep") })
}

/// True if brackets nest more than [`DEPTH`] levels, or a logical line is long enough for that many operators. Brackets
/// in strings count too, because this is only a quick check before [`nests_too_deeply`].
fn may_nest_too_deeply(bytes: &[u8]) -> bool {
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

/// True if brackets and right-associative operators nest more than [`DEPTH`] levels.
fn nests_too_deeply(source: &str) -> bool {
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
