//! A call handed to the blocking pool: `load(&path)?` → `tokio::task::spawn_blocking(move || load(&path)).await.unwrap()?`.

use blocklint_core::{Applicability, Mended, Offload, Refusal};
use tree_sitter::Node;

use super::captures::Owning;
use super::{File, Site, TextEdit, at, below};
use crate::kinds::{K, fields, kind};

impl<'a> File<'a> {
    /// Puts the call into a closure that owns what it takes, and awaits what the pool gives. It is never safe: whether
    /// the closure may leave the task (`Send`, `'static`) only the compiler knows.
    pub(super) fn offload(&self, site: &Site<'a>, to: &[Offload]) -> Result<Mended, Refusal> {
        let Some(offload) = to.last() else { return Err(Refusal::new("this runtime has no blocking pool")) };
        if site.around.is_awaited {
            return Err(Refusal::new("what it returns is awaited, and belongs to the running task"));
        }
        self.can_move(site.call)?;
        let captures = self.captures(site);
        let mut applicability = Applicability::Unsafe;
        if captures.iter().any(|capture| capture.owning == Owning::Unknown) {
            applicability = Applicability::Display;
        }
        let written = self.written(site.call, &offload.path)?;
        let mut edits: Vec<TextEdit> = Vec::new();
        let mut lets = Vec::new();
        for capture in &captures {
            let name = capture.name;
            match capture.owning {
                Owning::Moves | Owning::Unknown => {}
                Owning::Clones => lets.push(format!("let {name} = {name}.clone();")),
                Owning::Owned => {
                    lets.push(format!("let {name} = {name}.to_owned();"));
                    for argument in self.arguments(site.call) {
                        if kind(argument) == K::Identifier && self.text(argument) == name {
                            edits.push((at(argument.start_byte()), "&".to_owned()));
                        }
                    }
                }
            }
        }
        let (open, close) = match lets.is_empty() {
            true => (format!("{written}(move || "), ")".to_owned()),
            false => {
                let indent = self.indent(site.call);
                let lines: String = lets.iter().map(|line| format!("\n{indent}    {line}")).collect();
                (format!("{written}({{{lines}\n{indent}    move || "), format!("\n{indent}}})"))
            }
        };
        // As rustfmt breaks a chain behind brackets over several lines.
        let gap = if lets.is_empty() { String::new() } else { format!("\n{}", self.indent(site.call)) };
        let unwrap = if offload.fallible { format!("{gap}.unwrap()") } else { String::new() };
        edits.push((at(site.call.start_byte()), open));
        edits.push((at(site.call.end_byte()), format!("{close}{gap}.await{unwrap}")));
        Ok(Mended { title: format!("Hand to the blocking pool with `{written}`"), applicability, edits })
    }

    /// Refuses what cannot stand in a closure.
    fn can_move(&self, call: Node<'a>) -> Result<(), Refusal> {
        let enters = |node: Node<'a>| !matches!(kind(node), K::Closure | K::AsyncBlock | K::FunctionItem);
        for node in below(call, enters) {
            let reason = match kind(node) {
                K::Try => "an argument leaves the function with `?`: take it out of the call first",
                K::Await => "an argument is awaited: take it out of the call first",
                K::Return | K::Break | K::Continue | K::Yield => "an argument leaves the code around it",
                K::Reference if is_mutable(node) => "it changes a variable, which would stay in the closure",
                _ => continue,
            };
            return Err(Refusal::new(reason));
        }
        Ok(())
    }

    /// The blanks that the line of a node begins with.
    fn indent(&self, node: Node<'_>) -> &'a str {
        let before = self.source.get(..node.start_byte()).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.source.get(start..).unwrap_or_default();
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

/// `&mut x`, unless what is changed is made in place.
fn is_mutable(reference: Node<'_>) -> bool {
    let changes = crate::kinds::all(reference).any(|part| kind(part) == K::MutableSpecifier);
    let value = reference.child_by_field_id(fields().value);
    changes && value.is_some_and(|value| !matches!(kind(value), K::Call | K::MacroInvocation | K::ArrayExpr))
}
