//! The built-in names of Python and the members of the built-in types. They are listed here, because the interpreter
//! declares them in C and not in Python source.

/// A built-in type.
#[derive(Debug)]
pub(super) struct Builtin {
    /// The name of the type.
    pub(super) name: &'static str,
    /// The name of its base; empty for `object`.
    pub(super) base: &'static str,
    /// The members that its base lacks, separated by spaces.
    members: &'static str,
}

/// Returns the built-in type with this name.
pub(super) fn builtin_type(name: &str) -> Option<&'static Builtin> {
    TYPES.binary_search_by(|known| known.name.cmp(name)).ok().map(|index| &TYPES[index])
}

/// True if a built-in type or one of its bases has the member.
pub(super) fn has_member(ty: &Builtin, member: &str) -> bool {
    let mut current = Some(ty);
    while let Some(ty) = current {
        if ty.members.split(' ').any(|name| name == member) {
            return true;
        }
        current = builtin_type(ty.base);
    }
    false
}

/// True if this is the name of a built-in type, function or constant.
pub(super) fn is_builtin(name: &str) -> bool {
    builtin_type(name).is_some() || OTHERS.split(' ').any(|known| known == name)
}

/// The names of built-in functions and constants.
const OTHERS: &str = "Ellipsis EnvironmentError False IOError None NotImplemented True __import__ __name__ abs aiter all anext \
    any ascii bin breakpoint callable chr compile delattr dir divmod eval exec format getattr globals hasattr \
    hash help hex id input isinstance issubclass iter len locals max min next oct open ord pow print repr \
    round setattr sorted sum vars";

/// The built-in types, sorted by name.
const TYPES: &[Builtin] = &[
    Builtin { name: "ArithmeticError", base: "Exception", members: "" },
    Builtin { name: "AssertionError", base: "Exception", members: "" },
    Builtin { name: "AttributeError", base: "Exception", members: "name obj" },
    Builtin {
        name: "BaseException",
        base: "object",
        members: "__cause__ __context__ __dict__ __setstate__ __suppress_context__ __traceback__ add_note args \
        with_traceback",
    },
    Builtin {
        name: "BaseExceptionGroup",
        base: "BaseException",
        members: "__class_getitem__ derive exceptions message split subgroup",
    },
    Builtin { name: "BlockingIOError", base: "OSError", members: "" },
    Builtin { name: "BrokenPipeError", base: "ConnectionError", members: "" },
    Builtin { name: "BufferError", base: "Exception", members: "" },
    Builtin { name: "BytesWarning", base: "Warning", members: "" },
    Builtin { name: "ChildProcessError", base: "OSError", members: "" },
    Builtin { name: "ConnectionAbortedError", base: "ConnectionError", members: "" },
    Builtin { name: "ConnectionError", base: "OSError", members: "" },
    Builtin { name: "ConnectionRefusedError", base: "ConnectionError", members: "" },
    Builtin { name: "ConnectionResetError", base: "ConnectionError", members: "" },
    Builtin { name: "DeprecationWarning", base: "Warning", members: "" },
    Builtin { name: "EOFError", base: "Exception", members: "" },
    Builtin { name: "EncodingWarning", base: "Warning", members: "" },
    Builtin { name: "Exception", base: "BaseException", members: "" },
    Builtin { name: "ExceptionGroup", base: "BaseExceptionGroup", members: "__module__ __weakref__" },
    Builtin { name: "FileExistsError", base: "OSError", members: "" },
    Builtin { name: "FileNotFoundError", base: "OSError", members: "" },
    Builtin { name: "FloatingPointError", base: "ArithmeticError", members: "" },
    Builtin { name: "FutureWarning", base: "Warning", members: "" },
    Builtin { name: "GeneratorExit", base: "BaseException", members: "" },
    Builtin { name: "ImportError", base: "Exception", members: "msg name path" },
    Builtin { name: "ImportWarning", base: "Warning", members: "" },
    Builtin { name: "IndentationError", base: "SyntaxError", members: "" },
    Builtin { name: "IndexError", base: "LookupError", members: "" },
    Builtin { name: "InterruptedError", base: "OSError", members: "" },
    Builtin { name: "IsADirectoryError", base: "OSError", members: "" },
    Builtin { name: "KeyError", base: "LookupError", members: "" },
    Builtin { name: "KeyboardInterrupt", base: "BaseException", members: "" },
    Builtin { name: "LookupError", base: "Exception", members: "" },
    Builtin { name: "MemoryError", base: "Exception", members: "" },
    Builtin { name: "ModuleNotFoundError", base: "ImportError", members: "" },
    Builtin { name: "NameError", base: "Exception", members: "name" },
    Builtin { name: "NotADirectoryError", base: "OSError", members: "" },
    Builtin { name: "NotImplementedError", base: "RuntimeError", members: "" },
    Builtin { name: "OSError", base: "Exception", members: "characters_written errno filename filename2 strerror" },
    Builtin { name: "OverflowError", base: "ArithmeticError", members: "" },
    Builtin { name: "PendingDeprecationWarning", base: "Warning", members: "" },
    Builtin { name: "PermissionError", base: "OSError", members: "" },
    Builtin { name: "ProcessLookupError", base: "OSError", members: "" },
    Builtin { name: "RecursionError", base: "RuntimeError", members: "" },
    Builtin { name: "ReferenceError", base: "Exception", members: "" },
    Builtin { name: "ResourceWarning", base: "Warning", members: "" },
    Builtin { name: "RuntimeError", base: "Exception", members: "" },
    Builtin { name: "RuntimeWarning", base: "Warning", members: "" },
    Builtin { name: "StopAsyncIteration", base: "Exception", members: "" },
    Builtin { name: "StopIteration", base: "Exception", members: "value" },
    Builtin {
        name: "SyntaxError",
        base: "Exception",
        members: "end_lineno end_offset filename lineno msg offset print_file_and_line text",
    },
    Builtin { name: "SyntaxWarning", base: "Warning", members: "" },
    Builtin { name: "SystemError", base: "Exception", members: "" },
    Builtin { name: "SystemExit", base: "BaseException", members: "code" },
    Builtin { name: "TabError", base: "IndentationError", members: "" },
    Builtin { name: "TimeoutError", base: "OSError", members: "" },
    Builtin { name: "TypeError", base: "Exception", members: "" },
    Builtin { name: "UnboundLocalError", base: "NameError", members: "" },
    Builtin { name: "UnicodeDecodeError", base: "UnicodeError", members: "encoding end object reason start" },
    Builtin { name: "UnicodeEncodeError", base: "UnicodeError", members: "encoding end object reason start" },
    Builtin { name: "UnicodeError", base: "ValueError", members: "" },
    Builtin { name: "UnicodeTranslateError", base: "UnicodeError", members: "encoding end object reason start" },
    Builtin { name: "UnicodeWarning", base: "Warning", members: "" },
    Builtin { name: "UserWarning", base: "Warning", members: "" },
    Builtin { name: "ValueError", base: "Exception", members: "" },
    Builtin { name: "Warning", base: "Exception", members: "" },
    Builtin { name: "ZeroDivisionError", base: "ArithmeticError", members: "" },
    Builtin { name: "bool", base: "int", members: "" },
    Builtin {
        name: "bytearray",
        base: "object",
        members: "__add__ __alloc__ __contains__ __delitem__ __getitem__ __iadd__ __imul__ __iter__ __len__ __mod__ \
        __mul__ __rmod__ __rmul__ __setitem__ append capitalize center clear copy count decode endswith \
        expandtabs extend find fromhex hex index insert isalnum isalpha isascii isdigit islower isspace \
        istitle isupper join ljust lower lstrip maketrans partition pop remove removeprefix removesuffix \
        replace reverse rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase \
        title translate upper zfill",
    },
    Builtin {
        name: "bytes",
        base: "object",
        members: "__add__ __bytes__ __contains__ __getitem__ __getnewargs__ __iter__ __len__ __mod__ __mul__ __rmod__ \
        __rmul__ capitalize center count decode endswith expandtabs find fromhex hex index isalnum isalpha \
        isascii isdigit islower isspace istitle isupper join ljust lower lstrip maketrans partition \
        removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines \
        startswith strip swapcase title translate upper zfill",
    },
    Builtin {
        name: "classmethod",
        base: "object",
        members: "__dict__ __func__ __get__ __isabstractmethod__ __wrapped__",
    },
    Builtin {
        name: "complex",
        base: "object",
        members: "__abs__ __add__ __bool__ __complex__ __getnewargs__ __mul__ __neg__ __pos__ __pow__ __radd__ __rmul__ \
        __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ conjugate imag real",
    },
    Builtin {
        name: "dict",
        base: "object",
        members: "__class_getitem__ __contains__ __delitem__ __getitem__ __ior__ __iter__ __len__ __or__ __reversed__ \
        __ror__ __setitem__ clear copy fromkeys get items keys pop popitem setdefault update values",
    },
    Builtin { name: "enumerate", base: "object", members: "__class_getitem__ __iter__ __next__" },
    Builtin { name: "filter", base: "object", members: "__iter__ __next__" },
    Builtin {
        name: "float",
        base: "object",
        members: "__abs__ __add__ __bool__ __ceil__ __divmod__ __float__ __floor__ __floordiv__ __getformat__ \
        __getnewargs__ __int__ __mod__ __mul__ __neg__ __pos__ __pow__ __radd__ __rdivmod__ __rfloordiv__ \
        __rmod__ __rmul__ __round__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ __trunc__ \
        as_integer_ratio conjugate fromhex hex imag is_integer real",
    },
    Builtin {
        name: "frozenset",
        base: "object",
        members: "__and__ __class_getitem__ __contains__ __iter__ __len__ __or__ __rand__ __ror__ __rsub__ __rxor__ \
        __sub__ __xor__ copy difference intersection isdisjoint issubset issuperset symmetric_difference union",
    },
    Builtin {
        name: "int",
        base: "object",
        members: "__abs__ __add__ __and__ __bool__ __ceil__ __divmod__ __float__ __floor__ __floordiv__ __getnewargs__ \
        __index__ __int__ __invert__ __lshift__ __mod__ __mul__ __neg__ __or__ __pos__ __pow__ __radd__ \
        __rand__ __rdivmod__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__ __round__ __rpow__ \
        __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __trunc__ __xor__ \
        as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag numerator real to_bytes",
    },
    Builtin {
        name: "list",
        base: "object",
        members: "__add__ __class_getitem__ __contains__ __delitem__ __getitem__ __iadd__ __imul__ __iter__ __len__ \
        __mul__ __reversed__ __rmul__ __setitem__ append clear copy count extend index insert pop remove \
        reverse sort",
    },
    Builtin { name: "map", base: "object", members: "__iter__ __next__" },
    Builtin {
        name: "memoryview",
        base: "object",
        members: "__delitem__ __enter__ __exit__ __getitem__ __iter__ __len__ __setitem__ c_contiguous cast contiguous \
        f_contiguous format hex itemsize nbytes ndim obj readonly release shape strides suboffsets tobytes \
        tolist toreadonly",
    },
    Builtin {
        name: "object",
        base: "",
        members: "__class__ __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__ __gt__ \
        __hash__ __init__ __init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ \
        __setattr__ __sizeof__ __str__ __subclasshook__",
    },
    Builtin {
        name: "property",
        base: "object",
        members: "__delete__ __get__ __isabstractmethod__ __set__ __set_name__ deleter fdel fget fset getter setter",
    },
    Builtin {
        name: "range",
        base: "object",
        members: "__bool__ __contains__ __getitem__ __iter__ __len__ __reversed__ count index start step stop",
    },
    Builtin { name: "reversed", base: "object", members: "__iter__ __length_hint__ __next__ __setstate__" },
    Builtin {
        name: "set",
        base: "object",
        members: "__and__ __class_getitem__ __contains__ __iand__ __ior__ __isub__ __iter__ __ixor__ __len__ __or__ \
        __rand__ __ror__ __rsub__ __rxor__ __sub__ __xor__ add clear copy difference difference_update discard \
        intersection intersection_update isdisjoint issubset issuperset pop remove symmetric_difference \
        symmetric_difference_update union update",
    },
    Builtin { name: "slice", base: "object", members: "indices start step stop" },
    Builtin {
        name: "staticmethod",
        base: "object",
        members: "__call__ __dict__ __func__ __get__ __isabstractmethod__ __wrapped__",
    },
    Builtin {
        name: "str",
        base: "object",
        members: "__add__ __contains__ __getitem__ __getnewargs__ __iter__ __len__ __mod__ __mul__ __rmod__ __rmul__ \
        capitalize casefold center count encode endswith expandtabs find format format_map index isalnum \
        isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper \
        join ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust \
        rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill",
    },
    Builtin { name: "super", base: "object", members: "__get__ __self__ __self_class__ __thisclass__" },
    Builtin {
        name: "tuple",
        base: "object",
        members: "__add__ __class_getitem__ __contains__ __getitem__ __getnewargs__ __iter__ __len__ __mul__ __rmul__ \
        count index",
    },
    Builtin {
        name: "type",
        base: "object",
        members: "__abstractmethods__ __annotations__ __base__ __bases__ __basicsize__ __call__ __dict__ __dictoffset__ \
        __flags__ __instancecheck__ __itemsize__ __module__ __mro__ __name__ __or__ __prepare__ __qualname__ \
        __ror__ __subclasscheck__ __subclasses__ __text_signature__ __weakrefoffset__ mro",
    },
    Builtin { name: "zip", base: "object", members: "__iter__ __next__ __setstate__" },
];
