//! Edits that move a call to the blocking pool: `load(&path)?` →
//! `tokio::task::spawn_blocking(move || load(&path)).await.unwrap()?`.

use blocklint_core::{Applicability, Offload, Refusal, Span, WrittenEdit};
use tree_sitter::Node;

use super::captures::Ownership;
use super::{File, Site, TextEdit, descendants, span_at};
use crate::kinds::{K, fields, kind};

impl<'a> File<'a> {
    /// Moves a call into a closure that owns its captures, and awaits the result of the pool. The edit is never safe,
    /// because only the compiler knows if the closure is `Send` and `'static`.
    pub(super) fn offload(&self, site: &Site<'a>, to: &[Offload]) -> Result<WrittenEdit, Refusal> {
        let Some(offload) = to.last() else { return Err(Refusal::new("this runtime has no blocking pool")) };
        if site.around.is_awaited {
            return Err(Refusal::new("its result is awaited, so it belongs to the running task"));
        }
        self.check_can_be_in_closure(site.call)?;
        let captures = self.find_captures(site);
        for capture in &captures {
            let name = capture.name;
            match capture.ownership {
                Ownership::Unknown => {
                    return Err(Refusal::new(format!(
                        "`{name}` would move into a closure, and nothing here shows that it is owned and `Send`"
                    )));
                }
                Ownership::Wasteful => {
                    return Err(Refusal::new(format!(
                        "the edit would clone all of `{name}` for one value of it: assign that value to a variable \
                         first"
                    )));
                }
                Ownership::Moves | Ownership::Clones | Ownership::Owned => {}
            }
        }
        let applicability = Applicability::Unsafe;
        let is_long = self.text(site.call).contains('\n');
        if is_long && captures.iter().any(|capture| capture.ownership != Ownership::Moves) {
            return Err(Refusal::new("its arguments are on several lines: assign them to variables first"));
        }
        let written = self.spell_path(site.call, &offload.path)?;
        let mut edits: Vec<TextEdit> = Vec::new();
        let mut lets = Vec::new();
        for capture in &captures {
            let name = capture.name;
            match capture.ownership {
                Ownership::Moves | Ownership::Unknown | Ownership::Wasteful => {}
                Ownership::Clones => lets.push(format!("let {name} = {name}.clone();")),
                Ownership::Owned => {
                    lets.push(format!("let {name} = {name}.to_owned();"));
                    for argument in self.arguments(site.call) {
                        if kind(argument) == K::Identifier && self.text(argument) == name {
                            edits.push((span_at(argument.start_byte()), "&".to_owned()));
                        }
                    }
                }
            }
        }
        let (open, close) = match lets.is_empty() {
            // A function without arguments is passed as it is: `spawn_blocking(load)`.
            true if self.arguments(site.call).is_empty() && kind(site.callee) != K::Field && captures.is_empty() => {
                let list = Span::new(site.callee.end_byte() as u32, site.call.end_byte() as u32);
                edits.push((list, String::new()));
                (format!("{written}("), ")".to_owned())
            }
            true => (format!("{written}(move || "), ")".to_owned()),
            false => {
                let indent = self.indentation_of(site.call);
                let lines: String = lets.iter().map(|line| format!("\n{indent}    {line}")).collect();
                (format!("{written}({{{lines}\n{indent}    move || "), format!("\n{indent}}})"))
            }
        };
        // rustfmt puts each link of a chain on a line of its own if the call has several lines.
        let gap = match lets.is_empty() {
            false => format!("\n{}", self.indentation_of(site.call)),
            true if self.fits_on_line(site.call, &written, offload.fallible) => String::new(),
            true => format!("\n{}    ", self.indentation_of(site.call)),
        };
        if !gap.is_empty() {
            edits.extend(self.dots_after(site.call).into_iter().map(|dot| (span_at(dot), gap.clone())));
        }
        let unwrap = if offload.fallible { format!("{gap}.unwrap()") } else { String::new() };
        edits.push((span_at(site.call.start_byte()), open));
        let tail = if self.is_followed_by_dot(site.call) { gap.as_str() } else { "" };
        edits.push((span_at(site.call.end_byte()), format!("{close}{gap}.await{unwrap}{tail}")));
        Ok(WrittenEdit { title: format!("Run on the blocking pool with `{written}`"), applicability, edits })
    }

    /// True if rustfmt would keep the edited chain on one line.
    fn fits_on_line(&self, call: Node<'a>, written: &str, fallible: bool) -> bool {
        /// The longest chain on one line, and the longest line.
        const CHAIN: usize = 60;
        const LINE: usize = 100;
        let mut chain = call;
        while let Some(next) = next_in_chain(chain) {
            chain = next;
        }
        let text = self.source.get(call.start_byte()..chain.end_byte()).unwrap_or_default();
        let more = written.len() + "(move || )".len() + ".await".len() + if fallible { ".unwrap()".len() } else { 0 };
        let start = self.source.get(..call.start_byte()).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
        let line = self.source.get(start..).and_then(|text| text.lines().next()).unwrap_or_default();
        !text.contains('\n') && text.chars().count() + more <= CHAIN && line.chars().count() + more <= LINE
    }

    /// True if a dot follows right after a call.
    fn is_followed_by_dot(&self, call: Node<'a>) -> bool {
        self.source.get(call.end_byte()..).is_some_and(|behind| behind.starts_with('.'))
    }

    /// Returns the offsets of the later dots of the chain that are on the same line as the link before.
    fn dots_after(&self, call: Node<'a>) -> Vec<usize> {
        let mut dots = Vec::new();
        let mut chain = call;
        while let Some(next) = next_in_chain(chain) {
            if kind(next) == K::Field {
                let between = self.source.get(chain.end_byte()..next.end_byte()).unwrap_or_default();
                let before = between.split('.').next().unwrap_or_default();
                if !before.contains('\n') {
                    dots.push(chain.end_byte() + before.len());
                }
            }
            chain = next;
        }
        // The edit at the end of the call handles a dot right after it.
        dots.retain(|dot| *dot > call.end_byte());
        dots
    }

    /// Refuses a call with `?`, `.await`, `return` or `&mut` in its arguments, which cannot be in a closure.
    fn check_can_be_in_closure(&self, call: Node<'a>) -> Result<(), Refusal> {
        let enters = |node: Node<'a>| !matches!(kind(node), K::Closure | K::AsyncBlock | K::FunctionItem);
        for node in descendants(call, enters) {
            let reason = match kind(node) {
                K::Try => "an argument uses `?`: assign it to a variable first",
                K::Await => "an argument is awaited: assign it to a variable first",
                K::Return | K::Break | K::Continue | K::Yield => "an argument contains `return`, `break` or `continue`",
                K::Reference if is_mutable(node) => {
                    "the call changes a variable, and the change would be lost in the closure"
                }
                _ => continue,
            };
            return Err(Refusal::new(reason));
        }
        Ok(())
    }

    /// Returns the indentation of the line of a node.
    fn indentation_of(&self, node: Node<'_>) -> &'a str {
        let before = self.source.get(..node.start_byte()).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.source.get(start..).unwrap_or_default();
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

/// Returns the next link of a chain: the field access, call, `?` or `.await` of an expression.
fn next_in_chain(node: Node<'_>) -> Option<Node<'_>> {
    let parent = node.parent()?;
    let continues = match kind(parent) {
        K::Field => parent.child_by_field_id(fields().value) == Some(node),
        K::Call => parent.child_by_field_id(fields().function) == Some(node),
        K::Try | K::Await => true,
        _ => false,
    };
    continues.then_some(parent)
}

/// True for `&mut x`, unless `x` is a temporary value.
fn is_mutable(reference: Node<'_>) -> bool {
    let changes = crate::kinds::all(reference).any(|part| kind(part) == K::MutableSpecifier);
    let value = reference.child_by_field_id(fields().value);
    changes && value.is_some_and(|value| !matches!(kind(value), K::Call | K::MacroInvocation | K::ArrayExpr))
}
