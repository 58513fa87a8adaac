//! Repair of syntax errors by attributes that the grammar does not know: those of fields in a struct pattern, as in
//! `Config { #[cfg(unix)] path, .. }`.

use tree_sitter::Node;

use crate::kinds::{K, kind};

/// Returns the text with blanks in place of the attributes in parts that did not parse; `None` if there are none.
pub(crate) fn without_attributes(text: &[u8], root: Node<'_>) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let enters = if node.is_error() {
            // The part that did not parse can end right before the attribute.
            let next = node.next_sibling().filter(|next| kind(*next) == K::AttributeItem);
            blank_attributes(text, node.start_byte(), next.unwrap_or(node).end_byte(), &mut out);
            false
        } else {
            node.has_error()
        };
        if enters && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

/// Overwrites the attributes that begin between two offsets with blanks.
fn blank_attributes(text: &[u8], start: usize, end: usize, out: &mut Option<Vec<u8>>) {
    let mut offset = start;
    while offset + 1 < end.min(text.len()) {
        if !text[offset..].starts_with(b"#[") {
            offset += 1;
            continue;
        }
        let mut depth = 0_u32;
        let close = text[offset..].iter().position(|&byte| {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            byte == b']' && depth == 0
        });
        let Some(close) = close.map(|close| offset + close) else { return };
        let copy = out.get_or_insert_with(|| text.to_vec());
        copy[offset..=close].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        offset = close + 1;
    }
}
