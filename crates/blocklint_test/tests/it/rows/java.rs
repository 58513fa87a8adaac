//! Generated Java source that calls a path from a handler of a Netty event loop.

use blocklint_core::Language;
use blocklint_models::{CallRow, File, LanguageModels, Selector, TypeExpr};

use super::draft::Reason;
use super::rows_of;
use super::uses::{RowPath, Use, nothing};

/// The kind of a method call: on the type, or on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `Type.m()`.
    Static,
    /// `x.m()`.
    Instance,
}

/// Returns a use that calls the path of a row, with the requirements of the caller.
pub(crate) fn call(
    lang: &LanguageModels,
    files: &[File],
    row_path: &RowPath,
    row: &CallRow,
    way: Way,
    number: usize,
) -> Result<Use, Reason> {
    if row.via.is_some() {
        return Ok(call_of_declaration(row_path, way, number));
    }
    let (path, list) = row_path.path.split_once('(').map_or((&*row_path.path, None), |(path, list)| (path, Some(list)));
    let list = list.map_or("", |list| list.trim_end_matches(')')).trim();
    let path = sample_path(path);
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
    // The effect of a method of a stream depends on the source of the stream.
    let asked = rows_of::asked_receiver(files, Language::Java, row, owner);
    let wrapper = lang.ty(owner).is_some_and(|rows| rows.through().is_some());
    if asked.as_ref().is_some_and(|asked| !wrapper && !derives(lang, asked, owner)) {
        return Err("no type that the row asks for has its method");
    }
    let synthetic = asked.as_ref().filter(|asked| asked.contains('<'));
    let text = if let Some(asked) = synthetic {
        // The stream of the library, as one of its methods returns it.
        let (maker, method) =
            returning_method(files, asked).ok_or("nothing returns what a synthetic type describes")?;
        lines.push(format!("    {maker} maker;"));
        let made = format!("maker.{method}()");
        let receiver = if wrapper { format!("new {owner}({made})") } else { made };
        format!("{receiver}.{member}({arguments})")
    } else if owner.contains('<')
        && let Some((maker, method)) = returning_method(files, owner)
    {
        lines.push(format!("    {maker} maker;"));
        format!("maker.{method}().{member}({arguments})")
    } else if owner.contains('<') {
        // Only values that a library passes to a listener have such a type.
        let (giver, method) = passing_method(files, owner).ok_or("nothing gives what a synthetic type describes")?;
        lines.push(format!("    {giver} receiver;"));
        format!("receiver.{method}(given -> given.{member}({arguments}))")
    } else if is_class(&path) {
        format!("new {path}({arguments})")
    } else if way == Way::Static && asked.is_some() {
        return Err("a type's own method asks for no receiver");
    } else if way == Way::Static {
        format!("{owner}.{member}({arguments})")
    } else {
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
    Ok(Use { row_path: row_path.clone(), imports: Default::default(), lines, at, expected: nothing() })
}

/// Returns a call of a method without a body that has the annotation, or whose interface has it.
fn call_of_declaration(row_path: &RowPath, way: Way, number: usize) -> Use {
    let (class, method) = if way == Way::Static { (&*row_path.path, "") } else { ("", &*row_path.path) };
    let at = |annotation: &str| if annotation.is_empty() { String::new() } else { format!("@{annotation} ") };
    let lines = vec![
        format!("{}interface Api{number} {{ {}String load(String id); }}", at(class), at(method)),
        format!("class Use{number} extends io.netty.channel.ChannelInboundHandlerAdapter {{"),
        format!("    Api{number} receiver;"),
        "    public void channelRead(io.netty.channel.ChannelHandlerContext c, Object m) {".to_owned(),
        "        receiver.load(\"x\");".to_owned(),
        "    }".to_owned(),
        "}".to_owned(),
    ];
    Use { row_path: row_path.clone(), imports: Default::default(), lines, at: 4, expected: nothing() }
}

/// Returns a path that matches the globs of a row; types begin with a capital letter, methods do not.
pub(crate) fn sample_path(path: &str) -> String {
    let segments: Vec<&str> = path.split('.').collect();
    let sample = |(at, segment): (usize, &&str)| {
        let segment = segment.replace("[A-Z]*", "Sample").replace("[a-z]*", "sample");
        let rest = segment.strip_prefix('*');
        let is_type = at + 1 < segments.len() && rest.is_some_and(|rest| rest.starts_with(char::is_uppercase));
        segment.replacen('*', if is_type { "Sample" } else { "sample" }, 1).replace('*', "sample")
    };
    segments.iter().enumerate().map(sample).collect::<Vec<_>>().join(".")
}

/// True if a type is another or derives from it.
fn derives(lang: &LanguageModels, ty: &str, base: &str) -> bool {
    ty == base || lang.bases(ty).iter().filter_map(TypeExpr::path).any(|next| derives(lang, next, base))
}

/// Returns the type and the method that return a value of a synthetic type.
fn returning_method(files: &[File], ty: &str) -> Option<(String, String)> {
    let mut rows = rows_of::files_of_language(files, Language::Java).flat_map(|file| &file.calls);
    let entry = rows.find(|entry| entry.row.returns.as_ref().and_then(TypeExpr::path) == Some(ty))?;
    let path = sample_path(&entry.paths.first()?.text);
    let (owner, method) = path.rsplit_once('.')?;
    Some((owner.to_owned(), method.to_owned()))
}

/// Returns the type and the method that pass a value of a synthetic type to a callable.
fn passing_method(files: &[File], ty: &str) -> Option<(String, String)> {
    let rows = rows_of::files_of_language(files, Language::Java).flat_map(|file| &file.handovers);
    let entry = rows
        .filter(|entry| matches!(entry.row.selector, Selector::Argument(_)))
        .find(|entry| entry.row.gives.iter().any(|given| given.path() == Some(ty)))?;
    let (owner, method) = entry.paths.first()?.text.rsplit_once('.')?;
    Some((owner.to_owned(), method.to_owned()))
}
