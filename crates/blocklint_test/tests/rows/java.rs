//! Java source that calls a path, from a handler that a Netty event loop calls.

use blocklint_models::{CallRow, LanguageModels};

use crate::draft::Reason;
use crate::uses::{Of, Use, nothing};

/// The two ways in which a method is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `Type.m()`.
    Static,
    /// `x.m()`.
    Instance,
}

/// A call of the path of a row, of which the caller says what it must have.
pub(crate) fn call(lang: &LanguageModels, of: &Of, row: &CallRow, way: Way, number: usize) -> Result<Use, Reason> {
    if row.via.is_some() {
        return Err("calls of methods that carry an annotation");
    }
    let (path, list) = of.path.split_once('(').map_or((&*of.path, None), |(path, list)| (path, Some(list)));
    let list = list.map_or("", |list| list.trim_end_matches(')')).trim();
    if path.contains('<') {
        return Err("a synthetic type has no name");
    }
    let path = path.replace('*', "sample");
    let (owner, member) = path.rsplit_once('.').ok_or("a path of one segment")?;
    let mut lines = vec![format!("class Use{number} extends io.netty.channel.ChannelInboundHandlerAdapter {{")];
    let mut arguments = Vec::new();
    for (index, parameter) in list.split(',').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
        let ty = if parameter == "_" { "unknown.Type" } else { parameter };
        lines.push(format!("    {ty} p{index};"));
        arguments.push(format!("p{index}"));
    }
    let arguments = arguments.join(", ");
    let is_class = |name: &str| name.rsplit('.').next().is_some_and(|last| last.starts_with(char::is_uppercase));
    let text = if is_class(&path) {
        format!("new {path}({arguments})")
    } else if way == Way::Static {
        format!("{owner}.{member}({arguments})")
    } else {
        let ty = match lang.ty(owner).map_or(0, |rows| rows.params().len()) {
            0 => owner.to_owned(),
            count => format!("{owner}<{}>", vec!["String"; count].join(", ")),
        };
        lines.push(format!("    {ty} receiver;"));
        format!("receiver.{member}({arguments})")
    };
    lines.push("    public void channelRead(io.netty.channel.ChannelHandlerContext c, Object m) {".to_owned());
    lines.push(format!("        {text};"));
    let at = lines.len() - 1;
    lines.extend(["    }".to_owned(), "}".to_owned()]);
    Ok(Use { of: of.clone(), imports: Default::default(), lines, at, expected: nothing() })
}
