//! The parser of a class file (chapter 4 of the JVM's specification): the name, bases and members of its class. Byte
//! code is skipped.

// The access flags of classes and members.
const PUBLIC: u16 = 0x0001;
const PROTECTED: u16 = 0x0004;
const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const BRIDGE: u16 = 0x0040;
const VARARGS: u16 = 0x0080;
const INTERFACE: u16 = 0x0200;
const ABSTRACT: u16 = 0x0400;
const SYNTHETIC: u16 = 0x1000;
const ANNOTATION: u16 = 0x2000;

/// A method or constructor (`<init>`). Its erased types are written as in source code (`java.util.Map.Entry[]`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Method {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) returns: String,
    flags: u16,
}

impl Method {
    /// True if users of the library can call or override the method, and the compiler has not generated it.
    pub(super) fn is_visible(&self) -> bool {
        self.flags & (PUBLIC | PROTECTED) != 0 && self.flags & (SYNTHETIC | BRIDGE) == 0
    }

    /// True if the method is public.
    pub(super) fn is_public(&self) -> bool {
        self.flags & PUBLIC != 0
    }

    /// True if no class can override the method.
    pub(super) fn is_fixed(&self) -> bool {
        self.flags & (FINAL | STATIC) != 0
    }

    /// True if the method has no body.
    pub(super) fn is_abstract(&self) -> bool {
        self.flags & ABSTRACT != 0
    }

    /// True if the last parameter takes any number of arguments.
    pub(super) fn is_variadic(&self) -> bool {
        self.flags & VARARGS != 0
    }
}

/// A class, interface or annotation type. All names are dotted, including those of nested types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) name: String,
    /// The class that it extends and the interfaces that it implements, in this order.
    pub(super) bases: Vec<String>,
    pub(super) methods: Vec<Method>,
    pub(super) fields: Vec<String>,
    flags: u16,
}

impl Class {
    pub(super) fn is_public(&self) -> bool {
        self.flags & PUBLIC != 0
    }

    pub(super) fn is_interface(&self) -> bool {
        self.flags & INTERFACE != 0
    }

    pub(super) fn is_annotation(&self) -> bool {
        self.flags & ANNOTATION != 0
    }

    pub(super) fn is_final(&self) -> bool {
        self.flags & FINAL != 0
    }
}

/// Parses a class file; `None` if the bytes are no class file.
pub(super) fn read(data: &[u8]) -> Option<Class> {
    let mut reader = Reader { data, offset: 8 };
    if data.get(..4)? != [0xCA, 0xFE, 0xBA, 0xBE] {
        return None;
    }
    let pool = Pool::read(&mut reader)?;
    let (flags, this, parent) = (reader.u2()?, reader.u2()?, reader.u2()?);
    let internal = pool.class_name(this)?;
    let mut bases = Vec::new();
    if parent != 0 {
        bases.push(dotted(pool.class_name(parent)?));
    }
    for _ in 0..reader.u2()? {
        bases.push(dotted(pool.class_name(reader.u2()?)?));
    }
    let mut fields = Vec::new();
    for _ in 0..reader.u2()? {
        let (_, name, _) = read_member(&mut reader, &pool)?;
        fields.push(name.to_owned());
    }
    let mut methods = Vec::new();
    for _ in 0..reader.u2()? {
        let (flags, name, descriptor) = read_member(&mut reader, &pool)?;
        let (parameters, returns) = parse_descriptor(descriptor)?;
        methods.push(Method { name: name.to_owned(), parameters, returns, flags });
    }
    // The access flags of a nested class (`static`, `private`) are in the attribute `InnerClasses`. The flags of the
    // class file itself lack them.
    let mut flags = flags;
    for _ in 0..reader.u2()? {
        let name = pool.text(reader.u2()?)?;
        let length = reader.u4()? as usize;
        let end = reader.offset.checked_add(length)?;
        if name == "InnerClasses" {
            for _ in 0..reader.u2()? {
                let (nested, _outer, _simple, access) = (reader.u2()?, reader.u2()?, reader.u2()?, reader.u2()?);
                if pool.class_name(nested)? == internal {
                    flags = access | flags & (INTERFACE | ANNOTATION);
                }
            }
        }
        reader.offset = end;
    }
    Some(Class { name: dotted(internal), bases, methods, fields, flags })
}

/// Returns the flags, the name and the descriptor of a field or method, and skips its attributes.
fn read_member<'d>(reader: &mut Reader<'d>, pool: &Pool<'d>) -> Option<(u16, &'d str, &'d str)> {
    let (flags, name, descriptor) = (reader.u2()?, reader.u2()?, reader.u2()?);
    for _ in 0..reader.u2()? {
        reader.u2()?;
        let length = reader.u4()? as usize;
        reader.offset = reader.offset.checked_add(length)?;
    }
    Some((flags, pool.text(name)?, pool.text(descriptor)?))
}

struct Reader<'d> {
    data: &'d [u8],
    offset: usize,
}

impl<'d> Reader<'d> {
    fn take(&mut self, length: usize) -> Option<&'d [u8]> {
        let end = self.offset.checked_add(length)?;
        let bytes = self.data.get(self.offset..end)?;
        self.offset = end;
        Some(bytes)
    }

    fn u1(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u2(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u4(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// An entry of the constant pool, reduced to the kinds that contain names.
#[derive(Clone, Copy)]
enum Constant<'d> {
    Text(&'d str),
    Class(u16),
    Other,
}

struct Pool<'d>(Vec<Constant<'d>>);

impl<'d> Pool<'d> {
    fn read(reader: &mut Reader<'d>) -> Option<Self> {
        let count = usize::from(reader.u2()?);
        let mut constants = vec![Constant::Other];
        while constants.len() < count {
            let tag = reader.u1()?;
            let rest = match tag {
                1 => {
                    let length = reader.u2()?;
                    // Java encodes characters outside of the basic plane in its own format. Such names are not looked
                    // up.
                    let text = std::str::from_utf8(reader.take(usize::from(length))?).unwrap_or("");
                    constants.push(Constant::Text(text));
                    continue;
                }
                7 => {
                    constants.push(Constant::Class(reader.u2()?));
                    continue;
                }
                8 | 16 | 19 | 20 => 2,
                15 => 3,
                3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 4,
                5 | 6 => 8,
                _ => return None,
            };
            reader.take(rest)?;
            constants.push(Constant::Other);
            if matches!(tag, 5 | 6) {
                // A `long` or `double` takes two entries of the pool.
                constants.push(Constant::Other);
            }
        }
        Some(Pool(constants))
    }

    fn text(&self, index: u16) -> Option<&'d str> {
        match self.0.get(usize::from(index))? {
            Constant::Text(text) => Some(text),
            _ => None,
        }
    }

    fn class_name(&self, index: u16) -> Option<&'d str> {
        match self.0.get(usize::from(index))? {
            Constant::Class(name) => self.text(*name),
            _ => None,
        }
    }
}

/// Returns the dotted form of an internal name: `a.b.C` for `a/b$C`. A `$` that begins or ends a name is a part of it.
pub(super) fn dotted(internal: &str) -> String {
    let (package, simple) = match internal.rsplit_once('/') {
        Some((package, simple)) => (format!("{}.", package.replace('/', ".")), simple),
        None => (String::new(), internal),
    };
    let bytes = simple.as_bytes();
    let is_separator = |index: usize| {
        bytes[index] == b'$'
            && index.checked_sub(1).is_some_and(|before| bytes[before] != b'$')
            && bytes.get(index + 1).is_some_and(|&after| after != b'$')
    };
    let simple: String =
        simple.char_indices().map(|(index, char)| if is_separator(index) { '.' } else { char }).collect();
    package + &simple
}

/// Returns the types of the parameters and of the result in a method's descriptor (`(I[Ljava/lang/String;)V`); `None`
/// if the text is no descriptor.
fn parse_descriptor(descriptor: &str) -> Option<(Vec<String>, String)> {
    let (parameters, returns) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut rest = parameters;
    let mut types = Vec::new();
    while !rest.is_empty() {
        types.push(take_type(&mut rest)?);
    }
    let mut rest = returns;
    Some((types, take_type(&mut rest)?))
}

/// Removes one type from the beginning of a descriptor, and returns it as source code writes it.
fn take_type(rest: &mut &str) -> Option<String> {
    let dimensions = rest.len() - rest.trim_start_matches('[').len();
    *rest = &rest[dimensions..];
    let name = if let Some(class) = rest.strip_prefix('L') {
        let (class, behind) = class.split_once(';')?;
        *rest = behind;
        dotted(class)
    } else {
        let name = match rest.bytes().next()? {
            b'B' => "byte",
            b'C' => "char",
            b'D' => "double",
            b'F' => "float",
            b'I' => "int",
            b'J' => "long",
            b'S' => "short",
            b'Z' => "boolean",
            b'V' => "void",
            _ => return None,
        };
        *rest = &rest[1..];
        name.to_owned()
    };
    Some(name + &"[]".repeat(dimensions))
}

#[cfg(test)]
mod tests {
    use super::{dotted, parse_descriptor, read};

    #[test]
    fn names_are_dotted_as_in_source_code() {
        assert_eq!(dotted("java/util/Map$Entry"), "java.util.Map.Entry");
        assert_eq!(dotted("a/$Gson$Types"), "a.$Gson.Types");
        assert_eq!(dotted("a/Name$$Lambda$"), "a.Name$$Lambda$");
        assert_eq!(dotted("Plain"), "Plain");
    }

    #[test]
    fn descriptors_are_parsed_completely_or_not_at_all() {
        let (parameters, returns) =
            parse_descriptor("(I[[Ljava/util/Map$Entry;[B)Ljava/lang/String;").expect("a descriptor");
        assert_eq!(parameters, ["int", "java.util.Map.Entry[][]", "byte[]"]);
        assert_eq!(returns, "java.lang.String");
        assert_eq!(parse_descriptor("()V"), Some((Vec::new(), "void".to_owned())));
        for broken in ["", "(", "(I", "(Ljava/lang/String)V", "(Q)V", "()", "()["] {
            assert_eq!(parse_descriptor(broken), None, "{broken}");
        }
    }

    #[test]
    fn junk_is_no_class_file() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"\xCA\xFE\xBA\xBE\x00\x00\x00\x34\xFF\xFF"), None);
        assert_eq!(read(&[0xCA; 64]), None);
    }
}
