//! Repair of syntax errors by parts of Java that the grammar does not know: record patterns of qualified types
//! (`case Shape.Circle(var radius)`), several patterns in one label (`case Circle _, Square _`), imports of modules, and
//! statements before `super(…)`.

use tree_sitter::Node;

use crate::kinds::{K, kind};

/// Returns the text with blanks in place of the parts that the grammar does not know; `None` if there are none.
pub(crate) fn without_unknown_syntax(text: &[u8], root: Node<'_>) -> Option<Vec<u8>> {
    let mut copy = text.to_vec();
    let mut offset = 0;
    while let Some((start, end)) = next_word(text, offset) {
        offset = end;
        let is_known = |word: &[u8]| matches!(word, b"case" | b"instanceof" | b"import" | b"super");
        if !is_known(&text[start..end]) || !is_code(root, start) {
            continue;
        }
        match &text[start..end] {
            b"case" => {
                let after = blank_qualifiers(text, end, &mut copy);
                blank_further_patterns(text, after, &mut copy);
            }
            b"instanceof" => _ = blank_qualifiers(text, end, &mut copy),
            b"import" => blank_module_word(text, end, &mut copy),
            _ => rename_late_super(text, root, start, &mut copy),
        }
    }
    (copy != text).then_some(copy)
}

/// True if an offset is in code, not in a comment or a string.
fn is_code(root: Node<'_>, offset: usize) -> bool {
    let node = root.descendant_for_byte_range(offset, offset + 1);
    let is_text = |node: Node<'_>| {
        matches!(kind(node), K::LineComment | K::BlockComment)
            || node.kind().contains("string")
            || node.kind() == "char"
    };
    !std::iter::successors(node, |node| node.parent()).any(is_text)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// Returns the next word at or behind an offset.
fn next_word(text: &[u8], offset: usize) -> Option<(usize, usize)> {
    let start = offset + text.get(offset..)?.iter().position(|&byte| is_word_byte(byte))?;
    let length = text[start..].iter().position(|&byte| !is_word_byte(byte)).unwrap_or(text.len() - start);
    Some((start, start + length))
}

/// Returns the word that begins at an offset.
fn word_at(text: &[u8], offset: usize) -> Option<(usize, usize)> {
    next_word(text, offset).filter(|&(start, _)| start == offset)
}

fn skip_blanks(text: &[u8], offset: usize) -> usize {
    let blanks = text[offset.min(text.len())..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    offset.min(text.len()) + blanks
}

/// Overwrites a part of the text with blanks; the ends of lines stay.
fn blank(copy: &mut [u8], start: usize, end: usize) {
    copy[start..end].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
}

/// Returns the offset behind a part in brackets that begins at an offset; the offset itself if none begins there.
fn skip_brackets(text: &[u8], offset: usize, open: u8, close: u8) -> usize {
    let mut depth = 0_usize;
    for (index, &byte) in text.iter().enumerate().skip(offset) {
        match byte {
            _ if byte == open => depth += 1,
            _ if byte == close => depth = depth.saturating_sub(1),
            b';' | b'{' => return offset,
            _ => {}
        }
        if depth == 0 {
            return if byte == close { index + 1 } else { offset };
        }
    }
    offset
}

/// Blanks the qualifiers of the record patterns in a pattern: `Shape.` of `Shape.Circle(Shape.Point(var x), int r)`.
/// Returns the offset behind the type and, for a record pattern, its components.
fn blank_qualifiers(text: &[u8], offset: usize, copy: &mut [u8]) -> usize {
    let mut position = skip_blanks(text, offset);
    if let Some((start, end)) = word_at(text, position).filter(|&(start, end)| &text[start..end] == b"final") {
        // The grammar knows no modifier in a component of a record pattern.
        blank(copy, start, end);
        position = skip_blanks(text, end);
    }
    let Some((first, mut end)) = word_at(text, position) else { return position };
    let mut last = first;
    while text.get(skip_blanks(text, end)) == Some(&b'.') {
        let Some((start, next)) = word_at(text, skip_blanks(text, skip_blanks(text, end) + 1)) else { break };
        (last, end) = (start, next);
    }
    let behind_type = skip_brackets(text, skip_blanks(text, end), b'<', b'>');
    let open = skip_blanks(text, behind_type);
    if text.get(open) != Some(&b'(') {
        return end;
    }
    blank(copy, first, last);
    let close = skip_brackets(text, open, b'(', b')');
    let mut component = open + 1;
    while component < close {
        let mut behind = blank_qualifiers(text, component, copy);
        // The name of a component is behind its type, which may have type arguments.
        while behind < close && !matches!(text[behind], b',' | b')') {
            behind = match text[behind] {
                b'<' => skip_brackets(text, behind, b'<', b'>').max(behind + 1),
                b'(' => skip_brackets(text, behind, b'(', b')').max(behind + 1),
                _ => behind + 1,
            };
        }
        component = behind + 1;
    }
    close.max(end)
}

/// Blanks the patterns behind the first one of a label: `, Square _` of `case Circle _, Square _ ->`. A list of
/// constants (`case RED, BLUE ->`) stays.
fn blank_further_patterns(text: &[u8], behind_first: usize, copy: &mut [u8]) {
    let name = skip_blanks(text, behind_first);
    let is_record = behind_first > 0 && text.get(behind_first - 1) == Some(&b')');
    let end = match word_at(text, name).filter(|&(start, end)| &text[start..end] != b"when") {
        Some((_, end)) => end,
        None if is_record => behind_first,
        None => return,
    };
    let comma = skip_blanks(text, end);
    if text.get(comma) != Some(&b',') {
        return;
    }
    let rest = &text[comma..];
    let label_end = rest.iter().position(|&byte| matches!(byte, b':' | b'-' | b';' | b'{'));
    let guard = rest.windows(6).position(|part| part == b" when ");
    if let Some(length) = label_end.into_iter().chain(guard).min() {
        blank(copy, comma, comma + length);
    }
}

/// Blanks the word `module` of an import: `import module java.base;`.
fn blank_module_word(text: &[u8], offset: usize, copy: &mut [u8]) {
    let Some((start, end)) = word_at(text, skip_blanks(text, offset)) else { return };
    if &text[start..end] == b"module" && word_at(text, skip_blanks(text, end)).is_some() {
        blank(copy, start, end);
    }
}

/// Makes a plain call of a `super(…)` or `this(…)` that is not the first statement of its constructor.
fn rename_late_super(text: &[u8], root: Node<'_>, start: usize, copy: &mut [u8]) {
    let is_call = text.get(skip_blanks(text, start + b"super".len())) == Some(&b'(');
    let before = text[..start].iter().rposition(|byte| !byte.is_ascii_whitespace()).map(|index| text[index]);
    let is_in_error = std::iter::successors(root.descendant_for_byte_range(start, start + 1), |node| node.parent())
        .any(|node| node.has_error() && !matches!(kind(node), K::Unknown) || node.is_error());
    if is_call && is_in_error && matches!(before, Some(b';' | b'}')) {
        copy[start] = b'_';
    }
}
