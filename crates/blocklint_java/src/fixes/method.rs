//! Edits of methods that build a reactive chain: the body is deferred to a worker until the result is subscribed to.

use blocklint_core::{Publishers, Refusal, Span};
use tree_sitter::Node;

use super::{Edits, File, Shape};
use crate::kinds::{K, all, has, kind, named};

impl<'t> File<'_, 't> {
    /// Moves the body of a method into a callable that a worker runs.
    pub(super) fn defer_method(&self, method: Node<'t>, publishers: Publishers) -> Result<(Shape, Edits), Refusal> {
        let refuse = |reason: &str| Err(Refusal::new(reason));
        let Some(body) = method.child_by_field_name("body") else { return refuse("the call is in no method") };
        let Some((many, element)) = self.returned_publisher(method, publishers) else {
            return refuse("the method returns no publisher whose element type can be written");
        };
        let modifiers = named(method).find(|part| kind(*part) == K::Modifiers);
        if modifiers.is_some_and(|modifiers| has(modifiers, K::SynchronizedWord)) {
            return refuse("the method is `synchronized`, and a worker would not hold its lock");
        }
        let changed = self.reassigned_variables(body);
        let parameters = method.child_by_field_name("parameters");
        let parameters = parameters.into_iter().flat_map(named).filter_map(|part| part.child_by_field_name("name"));
        if let Some(name) = parameters.map(|name| self.text(name)).find(|name| changed.contains(name)) {
            return Err(Refusal::new(format!("`{name}` is assigned more than once, so a lambda cannot use it")));
        }
        if !self.begins_on_its_own_line(body) {
            return refuse("the body is on one line");
        }
        let throws = all(method).any(|part| part.kind() == "throws");
        let workers = self.worker_scheduler(publishers);
        let [one, all_of] = [publishers.one, publishers.many].map(|path| self.imports.name_of(path));
        let given = if many { all_of } else { one };
        let name = self.unused_name("chain", method);
        let (shape, head, tail) = match (throws, many) {
            (false, false) => (Shape::MethodDeferred, format!("{one}.<{element}>defer(() -> {{"), String::new()),
            (false, true) => {
                (Shape::MethodOfManyDeferred, format!("{all_of}.<{element}>defer(() -> {{"), String::new())
            }
            (true, false) => {
                let head = format!("{one}.<{given}<{element}>>fromCallable(() -> {{");
                (Shape::MethodCalled, head, format!(".flatMap({name} -> {name})"))
            }
            (true, true) => {
                let head = format!("{one}.<{given}<{element}>>fromCallable(() -> {{");
                (Shape::MethodOfManyCalled, head, format!(".flatMapMany({name} -> {name})"))
            }
        };
        let mut edits = if throws || !many {
            self.imports.edits(&[publishers.one, publishers.schedulers])
        } else {
            self.imports.edits(&[publishers.schedulers])
        };
        let indent = self.indent_of(body);
        let step = self.step_of(body, indent);
        // The whole body is one edit. Other blocking calls in it also run on the worker then.
        let (start, end) = (body.start_byte() + 1, body.end_byte() - 1);
        let last = self.source.get(..end).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
        let mut text = format!("\n{indent}{step}return {head}");
        let mut from = start;
        for line in self.lines_of(body).into_iter().filter(|line| *line < last) {
            text.push_str(self.source.get(from..line).unwrap_or_default());
            text.push_str(&step);
            from = line;
        }
        text.push_str(self.source.get(from..last).unwrap_or_default());
        text.push_str(&format!("{indent}{step}}}).subscribeOn({workers}){tail};\n"));
        edits.push((Span::new(start as u32, last as u32), text));
        Ok((shape, edits))
    }

    /// Returns the element type of the publisher that a method is declared to return, and true if it is a publisher of
    /// many.
    fn returned_publisher(&self, method: Node<'t>, publishers: Publishers) -> Option<(bool, String)> {
        self.publisher_element(method.child_by_field_name("type")?, publishers)
    }

    /// Returns the element type of a publisher type, and true if it is a publisher of many.
    pub(super) fn publisher_element(&self, ty: Node<'t>, publishers: Publishers) -> Option<(bool, String)> {
        if kind(ty) != K::GenericType {
            return None;
        }
        let mut parts = named(ty);
        let name = self.text(parts.next()?);
        let arguments = parts.next().filter(|part| kind(*part) == K::TypeArguments)?;
        let element = named(arguments).next().filter(|part| kind(*part) != K::Wildcard)?;
        let many = if self.imports.means(name, publishers.one) {
            false
        } else if self.imports.means(name, publishers.many) {
            true
        } else {
            return None;
        };
        Some((many, self.text(element).to_owned()))
    }

    /// True if there is no code on the lines of a block's braces.
    fn begins_on_its_own_line(&self, body: Node<'t>) -> bool {
        let inside = self.source.get(body.start_byte() + 1..body.end_byte() - 1).unwrap_or_default();
        let first = inside.lines().next().unwrap_or_default();
        let last = inside.rsplit('\n').next().unwrap_or_default();
        first.trim().is_empty() && last.trim().is_empty() && inside.contains('\n')
    }

    /// Returns the indentation of the line on which a block ends.
    fn indent_of(&self, body: Node<'t>) -> &str {
        let before = self.source.get(..body.end_byte() - 1).unwrap_or_default();
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        &line[..line.len() - line.trim_start().len()]
    }

    /// Returns one step of indentation: that of a block's statements relative to its end.
    fn step_of(&self, body: Node<'t>, indent: &str) -> String {
        let first = named(body).next().map_or(0, |statement| statement.start_byte());
        let before = self.source.get(..first).unwrap_or_default();
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        match line.strip_prefix(indent).filter(|step| !step.is_empty() && step.trim().is_empty()) {
            Some(step) => step.to_owned(),
            None => "    ".to_owned(),
        }
    }

    /// Returns the starts of the lines inside a block, without empty lines and lines inside of text blocks.
    fn lines_of(&self, body: Node<'t>) -> Vec<usize> {
        let (start, end) = (body.start_byte() + 1, body.end_byte() - 1);
        let inside = self.source.get(start..end).unwrap_or_default();
        let mut texts = Vec::new();
        let mut open = vec![body];
        while let Some(node) = open.pop() {
            if kind(node) == K::String {
                texts.push(node.byte_range());
            }
            open.extend(named(node));
        }
        let begins = inside.match_indices('\n').map(|(at, _)| start + at + 1);
        begins
            .filter(|&at| {
                let line = self.source.get(at..end).unwrap_or_default().lines().next().unwrap_or_default();
                !line.trim().is_empty() && !texts.iter().any(|text| text.contains(&at) && text.start < at)
            })
            .collect()
    }
}
