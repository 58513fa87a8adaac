//! The dump of facts as text, for `blocklint debug facts` and tests.

use std::fmt::Write as _;

use crate::{BodyId, BodyKind, FileFacts, Form, FormId, List, RegionId, RegionKind};

/// Returns the facts as text, in the order of the source, so that people can compare them.
pub fn dump(facts: &FileFacts) -> String {
    let mut out = String::new();
    // Writing to a string never fails.
    let _ = write_all(facts, &mut out);
    out
}

fn write_all(facts: &FileFacts, out: &mut String) -> std::fmt::Result {
    for (index, body) in facts.bodies.iter().enumerate() {
        let id = BodyId(index as u32);
        let name = facts.qualified_name(id);
        write!(
            out,
            "body {index} {:?} {:?} {}",
            body.kind,
            body.flow,
            if name.is_empty() { "<top level>" } else { &name }
        )?;
        if body.flags.0 != 0 {
            write!(out, " flags={}", body.flags.0)?;
        }
        writeln!(out, " [{}..{}]", body.span.start, body.span.end)?;
        for &decorator in facts.list(body.decorators) {
            writeln!(out, "  decorator {}", show(facts, decorator))?;
        }
        for param in facts.params_of(id) {
            write!(out, "  param {:?} {}", param.kind, facts.text(param.name))?;
            if param.annotation.is_some() {
                write!(out, ": {}", show(facts, param.annotation))?;
            }
            if param.default.is_some() {
                write!(out, " = {}", show(facts, param.default))?;
            }
            writeln!(out)?;
        }
        if body.returns.is_some() {
            writeln!(out, "  returns {}", show(facts, body.returns))?;
        }
        if body.kind == BodyKind::Class {
            for class in facts.classes.iter().filter(|class| class.body == id) {
                write!(out, "  class {:?} {}", class.kind, facts.text(class.name))?;
                for &base in facts.list(class.bases) {
                    write!(out, " base {}", show(facts, base))?;
                }
                if class.subject.is_some() {
                    write!(out, " subject {}", show(facts, class.subject))?;
                }
                for keyword in facts.args.slice::<4>(class.keywords.range()) {
                    let name = if keyword.name.is_some() { facts.text(keyword.name) } else { "" };
                    write!(out, " keyword {name}={}", show(facts, keyword.value))?;
                }
                writeln!(out)?;
            }
        }
        write_operations(facts, id, out)?;
    }
    for (index, import) in facts.imports.iter().enumerate() {
        let binds = |form: &Form| matches!(form, Form::Import(id) if id.index() == index);
        if !facts.assigns.iter().any(|assign| binds(&facts.form(assign.value))) {
            let dots = ".".repeat(import.level as usize);
            let (module, name) = (facts.text(import.module), facts.text(import.name));
            writeln!(out, "import {:?}({dots}{module} {name})", import.kind)?;
        }
    }
    for comment in &facts.suppressions {
        write!(out, "comment {:?}", comment.kind)?;
        for &rule in facts.list(comment.rules) {
            write!(out, " {}", show(facts, rule))?;
        }
        writeln!(out, " for [{}..{}]", comment.covered_span.start, comment.covered_span.end)?;
    }
    for problem in &facts.problems {
        writeln!(out, "problem [{}..{}] {}", problem.span.start, problem.span.end, problem.message)?;
    }
    Ok(())
}

/// Writes the operations of a body, in the order of evaluation.
fn write_operations(facts: &FileFacts, body: BodyId, out: &mut String) -> std::fmt::Result {
    let mut lines: Vec<(u32, String)> = Vec::new();
    for (index, site) in facts.sites.iter().enumerate().filter(|(_, site)| facts.body_of(site.at) == body) {
        let mut line = format!("site {index} {:?} {}", site.kind, show(facts, site.callee));
        let _ = write!(line, " name={}", facts.text(site.name));
        for arg in &facts.args.slice::<4>(site.args.range()) {
            let _ = write!(line, " ({}{})", prefix(facts.text(arg.name)), show(facts, arg.value));
        }
        if site.flags.0 != 0 {
            let _ = write!(line, " flags={}", site.flags.0);
        }
        let _ = write!(line, "{} [{}..{}]", regions(facts, site.at.region), site.span.start, site.span.end);
        lines.push((site.at.position, line));
    }
    for assign in facts.assigns.iter().filter(|assign| facts.body_of(assign.at) == body) {
        let mut line = format!("{:?} {}", assign.kind, show(facts, assign.target));
        if assign.annotation.is_some() {
            let _ = write!(line, ": {}", show(facts, assign.annotation));
        }
        if assign.value.is_some() {
            let _ = write!(line, " = {}", show(facts, assign.value));
        }
        line.push_str(&regions(facts, assign.at.region));
        lines.push((assign.at.position, line));
    }
    for exit in facts.exits.iter().filter(|exit| facts.body_of(exit.at) == body) {
        lines.push((
            exit.at.position,
            format!("{:?} {}{}", exit.kind, show(facts, exit.value), regions(facts, exit.at.region)),
        ));
    }
    lines.sort();
    for (_, line) in lines {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn prefix(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}=") }
}

/// Returns the regions around a place, innermost first, without that of the whole body.
fn regions(facts: &FileFacts, region: RegionId) -> String {
    let mut text = String::new();
    let mut current = region;
    while let Some(id) = current.get() {
        let region = facts.region(id);
        if region.kind == RegionKind::Body {
            break;
        }
        let _ = write!(text, " in {:?}", region.kind);
        if region.test.is_some() {
            let _ = write!(text, "({})", show(facts, region.test));
        }
        current = region.parent;
    }
    text
}

/// Returns a form as text; deeply nested forms are cut.
fn show(facts: &FileFacts, id: FormId) -> String {
    let mut text = String::new();
    write_form(facts, id, 12, &mut text);
    text
}

fn write_list(facts: &FileFacts, list: List, depth: u32, out: &mut String) {
    for (index, &form) in facts.list(list).iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_form(facts, form, depth, out);
    }
}

fn write_form(facts: &FileFacts, id: FormId, depth: u32, out: &mut String) {
    let Some(depth) = depth.checked_sub(1) else {
        out.push('…');
        return;
    };
    let mut wrap = |word: &str, form: FormId| {
        out.push_str(word);
        out.push('(');
        write_form(facts, form, depth, out);
        out.push(')');
    };
    match facts.form(id) {
        Form::Other => out.push('?'),
        Form::None => out.push_str("None"),
        Form::Ellipsis => out.push_str("..."),
        Form::This => out.push_str("this"),
        Form::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Form::Int(value) => out.push_str(&value.to_string()),
        Form::Float(value) => out.push_str(&format!("{value:?}")),
        Form::Str(sym) => out.push_str(&format!("{:?}", facts.text(sym))),
        Form::Text(sym) => out.push_str(&format!("{:?}…", facts.text(sym))),
        Form::Bytes(sym) => out.push_str(&format!("b{:?}", facts.text(sym))),
        Form::Var(var) => out.push_str(&format!("{}·{}", facts.text(facts.var(var).name), var.0)),
        Form::Name(sym) => out.push_str(facts.text(sym)),
        Form::Attr(base, sym) => {
            write_form(facts, base, depth, out);
            out.push_str(&format!(".{}", facts.text(sym)));
        }
        Form::Path(base, sym) => {
            write_form(facts, base, depth, out);
            out.push_str(&format!("::{}", facts.text(sym)));
        }
        Form::Result(site) => out.push_str(&format!("site#{}", site.0)),
        Form::Await(form) => wrap("await ", form),
        Form::Try(form) => wrap("try ", form),
        Form::Callable(body) => out.push_str(&format!("body#{}", body.0)),
        Form::Run(body) => out.push_str(&format!("run body#{}", body.0)),
        Form::Class(class) => out.push_str(&format!("class#{}", class.0)),
        Form::Import(import) => {
            let import = facts.import(import);
            out.push_str(&format!(
                "{:?}({}{} {})",
                import.kind,
                ".".repeat(import.level as usize),
                facts.text(import.module),
                facts.text(import.name)
            ));
        }
        Form::Element(form) => wrap("element", form),
        Form::Part(form, index) => wrap(&format!("part{index}"), form),
        Form::Field(form, sym) => wrap(&format!("field {}", facts.text(sym)), form),
        Form::Display(kind, list) => {
            out.push_str(&format!("{kind:?}["));
            write_list(facts, list, depth, out);
            out.push(']');
        }
        Form::Pairs(list) => {
            out.push_str("Pairs[");
            write_list(facts, list, depth, out);
            out.push(']');
        }
        Form::Alt(kind, list) => {
            out.push_str(&format!("{kind:?}("));
            write_list(facts, list, depth, out);
            out.push(')');
        }
        Form::Join(list) => {
            out.push_str("Join(");
            write_list(facts, list, depth, out);
            out.push(')');
        }
        Form::Star(form) => wrap("*", form),
        Form::StarStar(form) => wrap("**", form),
        Form::Subscript(base, index) => {
            write_form(facts, base, depth, out);
            out.push('[');
            write_form(facts, index, depth, out);
            out.push(']');
        }
        Form::Not(form) => wrap("not", form),
        Form::Compare(operator, a, b) => {
            write_form(facts, a, depth, out);
            out.push_str(&format!(" {operator:?} "));
            write_form(facts, b, depth, out);
        }
        Form::Cast(value, ty) => {
            write_form(facts, value, depth, out);
            out.push_str(" as ");
            write_form(facts, ty, depth, out);
        }
        Form::Bound(form) => wrap("bound", form),
    }
}
