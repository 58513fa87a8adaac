//! Attributes that the grammar does not know: those at the fields of a struct pattern (`Config { #[cfg(unix)] path, ..
//! }`).

use tree_sitter::Node;

use crate::kinds::{K, kind};

/// Returns the text with the attributes inside of parts that did not parse blanked; `None` if there are none.
pub(crate) fn without_attributes(text: &[u8], root: Node<'_>) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let descend = if node.is_error() {
            // The part that did not parse may end where the attribute begins.
            let behind = node.next_sibling().filter(|next| kind(*next) == K::AttributeItem);
            blank(text, node.start_byte(), behind.unwrap_or(node).end_byte(), &mut out);
            false
        } else {
            node.has_error()
        };
        if descend && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

/// Blanks the attributes that begin between two offsets.
fn blank(text: &[u8], start: usize, end: usize, out: &mut Option<Vec<u8>>) {
    let mut at = start;
    while at + 1 < end.min(text.len()) {
        if !text[at..].starts_with(b"#[") {
            at += 1;
            continue;
        }
        let mut depth = 0_u32;
        let close = text[at..].iter().position(|&byte| {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            byte == b']' && depth == 0
        });
        let Some(close) = close.map(|close| at + close) else { return };
        let copy = out.get_or_insert_with(|| text.to_vec());
        copy[at..=close].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        at = close + 1;
    }
}
