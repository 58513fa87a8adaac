//! Java source that calls a path, from a handler that a Netty event loop calls.

use blocklint_core::Language;
use blocklint_models::{CallRow, File, LanguageModels};

use crate::draft::Reason;
use crate::rows_of;
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
pub(crate) fn call(
    lang: &LanguageModels,
    files: &[File],
    of: &Of,
    row: &CallRow,
    way: Way,
    number: usize,
) -> Result<Use, Reason> {
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
    // A method of a stream asks what the stream stands on.
    let asked = rows_of::asked_receiver(files, Language::Java, row, owner);
    if asked.as_ref().is_some_and(|asked| asked.contains('<')) {
        return Err("a synthetic type has no name");
    }
    let text = if is_class(&path) {
        format!("new {path}({arguments})")
    } else if way == Way::Static && asked.is_some() {
        return Err("a type's own method asks for no receiver");
    } else if way == Way::Static {
        format!("{owner}.{member}({arguments})")
    } else {
        let wrapper = lang.ty(owner).is_some_and(|rows| rows.through().is_some());
        if let (Some(asked), true) = (&asked, wrapper) {
            lines.push(format!("    {owner} receiver = new {owner}(new {asked}(\"x\"));"));
        }
        let owner = asked.as_deref().unwrap_or(owner);
        let ty = match lang.ty(owner).map_or(0, |rows| rows.params().len()) {
            0 => owner.to_owned(),
            count => format!("{owner}<{}>", vec!["String"; count].join(", ")),
        };
        if !wrapper {
            lines.push(format!("    {ty} receiver;"));
        }
        format!("receiver.{member}({arguments})")
    };
    lines.push("    public void channelRead(io.netty.channel.ChannelHandlerContext c, Object m) {".to_owned());
    lines.push(format!("        {text};"));
    let at = lines.len() - 1;
    lines.extend(["    }".to_owned(), "}".to_owned()]);
    Ok(Use { of: of.clone(), imports: Default::default(), lines, at, expected: nothing() })
}
