"""Reads class files out of jars and of the JDK's modules: their members, bases and generic signatures; runs nothing."""

from __future__ import annotations

import os
import re
import shutil
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

PUBLIC, PRIVATE, PROTECTED, STATIC, FINAL = 0x1, 0x2, 0x4, 0x8, 0x10
BRIDGE, VARARGS, INTERFACE, ABSTRACT, SYNTHETIC, ANNOTATION = 0x40, 0x80, 0x200, 0x400, 0x1000, 0x2000
PRIMITIVES = {
    "B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short", "Z": "boolean", "V": "void",
}  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A method or constructor (`<init>`), with erased types written as in the source."""

    name: str
    parameters: tuple[str, ...]
    returns: str
    flags: int
    signature: str = ""
    throws: tuple[str, ...] = ()

    @property
    def visible(self) -> bool:
        return bool(self.flags & (PUBLIC | PROTECTED)) and not self.flags & (SYNTHETIC | BRIDGE)


@dataclass
class Class:
    """A class, interface or annotation type; `name` and `bases` are dotted, nested types too."""

    name: str
    flags: int
    bases: list[str]
    methods: list[Method]
    fields: dict[str, int]
    signature: str = ""

    @property
    def is_interface(self) -> bool:
        return bool(self.flags & INTERFACE)

    @property
    def is_annotation(self) -> bool:
        return bool(self.flags & ANNOTATION)


class Classes:
    """The classes of some jars, in order, and of the JDK at hand."""

    def __init__(self, jars: list[Path], jdk: bool = True) -> None:
        self.places: dict[str, tuple[zipfile.ZipFile, str]] = {}
        self.kept: dict[str, Class | None] = {}
        self.packages: set[str] = set()
        self.own: set[str] = set()
        for jar in jars:
            self.add(zipfile.ZipFile(jar), "")
        self.own = set(self.places)
        for module in jdk_modules() if jdk else []:
            self.add(zipfile.ZipFile(module), "classes/")

    def add(self, archive: zipfile.ZipFile, prefix: str) -> None:
        for entry in archive.namelist():
            if entry.startswith(prefix) and entry.endswith(".class") and "META-INF" not in entry:
                internal = entry[len(prefix) : -len(".class")]
                name = dotted(internal)
                self.places.setdefault(name, (archive, entry))
                self.packages.add(internal.rpartition("/")[0].replace("/", "."))

    def get(self, name: str) -> Class | None:
        """A class by its dotted name."""
        if name not in self.kept:
            place = self.places.get(name)
            self.kept[name] = read_class(place[0].read(place[1])) if place else None
        return self.kept[name]

    def order(self, name: str) -> tuple[list[Class], list[str]]:
        """A class and what it derives from, nearest first; and the names of bases that are not at hand."""
        found: list[Class] = []
        missing: list[str] = []
        waiting, seen = [name], set()
        while waiting:
            current = waiting.pop(0)
            if current in seen:
                continue
            seen.add(current)
            known = self.get(current)
            if known is None:
                missing.append(current)
                continue
            found.append(known)
            waiting += known.bases
        if not any(known.name == "java.lang.Object" for known in found) and (root := self.get("java.lang.Object")):
            found.append(root)
        return found, missing

    def derives(self, name: str, base: str) -> bool:
        return any(known.name == base for known in self.order(name)[0])

    def methods(self, owner: str, name: str) -> list[Method]:
        """Every overload of a method in a class and its bases; of constructors only its own."""
        known = self.get(owner)
        if known is None:
            return []
        if name == "<init>":
            return [m for m in known.methods if m.name == name and m.visible]
        found = [m for each in self.order(owner)[0] for m in each.methods if m.name == name and m.visible]
        return list(dict.fromkeys(found))

    def members(self, owner: str) -> dict[str, list[Method]]:
        """Every method that can be called on a class, without those of `java.lang.Object`."""
        found: dict[str, list[Method]] = {}
        for known in self.order(owner)[0]:
            if known.name == "java.lang.Object":
                continue
            for method in known.methods:
                if method.visible and not method.name.startswith("<"):
                    found.setdefault(method.name, []).append(method)
        return found


def jdk_modules() -> list[Path]:
    """The module files of the JDK that `JAVA_HOME` or the path leads to."""
    homes = [Path(os.environ["JAVA_HOME"])] if "JAVA_HOME" in os.environ else []
    if program := shutil.which("javac") or shutil.which("java"):
        homes.append(Path(program).resolve().parent.parent)
    return next((files for home in homes if (files := sorted((home / "jmods").glob("java*.jmod")))), [])


def dotted(internal: str) -> str:
    """`a/B$C` as `a.B.C`; a `$` that begins or ends a name stays."""
    package, slash, simple = internal.rpartition("/")
    return (package + slash).replace("/", ".") + re.sub(r"(?<=[^$])\$(?=[^$])", ".", simple)


def read_class(data: bytes) -> Class:
    """A class file."""
    return Reader(data).read()


class Reader:
    """One class file (JVMS chapter 4)."""

    SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 8
        self.pool: list[tuple[int, int]] = [(0, 0)]
        count = self.u2()
        while len(self.pool) < count:
            tag = data[self.at]
            self.pool.append((tag, self.at + 1))
            if tag == 1:
                self.at += 3 + struct.unpack_from(">H", data, self.at + 1)[0]
            else:
                self.at += 1 + self.SIZES[tag]
            if tag in (5, 6):
                self.pool.append((0, 0))

    def u2(self) -> int:
        self.at += 2
        return int(struct.unpack_from(">H", self.data, self.at - 2)[0])

    def u4(self) -> int:
        self.at += 4
        return int(struct.unpack_from(">I", self.data, self.at - 4)[0])

    def text(self, index: int) -> str:
        at = self.pool[index][1]
        length = struct.unpack_from(">H", self.data, at)[0]
        return self.data[at + 2 : at + 2 + length].decode("utf-8", "replace")

    def class_name(self, index: int) -> str:
        return self.text(struct.unpack_from(">H", self.data, self.pool[index][1])[0])

    def read(self) -> Class:
        flags, this, parent = self.u2(), self.u2(), self.u2()
        internal = self.class_name(this)
        bases = [self.class_name(parent)] if parent else []
        bases += [self.class_name(self.u2()) for _ in range(self.u2())]
        fields: dict[str, int] = {}
        methods: list[Method] = []
        for _ in range(self.u2()):
            access, name, _descriptor, _found = self.member()
            fields[name] = access
        for _ in range(self.u2()):
            access, name, descriptor, found = self.member()
            parameters, returns = types_of(descriptor)
            throws = tuple(found.get("Exceptions", "").split())
            methods.append(Method(name, tuple(parameters), returns, access, found.get("Signature", ""), throws))
        signature, inner = "", {}
        for name, start, _end in self.attributes():
            if name == "Signature":
                signature = self.text(struct.unpack_from(">H", self.data, start)[0])
            elif name == "InnerClasses":
                for entry in range(struct.unpack_from(">H", self.data, start)[0]):
                    of, _outer, _simple, access = struct.unpack_from(">4H", self.data, start + 2 + 8 * entry)
                    inner[self.class_name(of)] = access
        return Class(
            dotted(internal), inner.get(internal, flags) | flags & (INTERFACE | ANNOTATION), [dotted(b) for b in bases],
            methods, fields, signature,
        )  # fmt: skip

    def member(self) -> tuple[int, str, str, dict[str, str]]:
        access, name, descriptor = self.u2(), self.text(self.u2()), self.text(self.u2())
        found = {}
        for attribute, start, _end in self.attributes():
            if attribute == "Signature":
                found[attribute] = self.text(struct.unpack_from(">H", self.data, start)[0])
            elif attribute == "Exceptions":
                count = struct.unpack_from(">H", self.data, start)[0]
                indexes = struct.unpack_from(f">{count}H", self.data, start + 2)
                found[attribute] = " ".join(dotted(self.class_name(index)) for index in indexes)
        return access, name, descriptor, found

    def attributes(self) -> list[tuple[str, int, int]]:
        found = []
        for _ in range(self.u2()):
            name, length = self.text(self.u2()), self.u4()
            found.append((name, self.at, self.at + length))
            self.at += length
        return found


def types_of(descriptor: str) -> tuple[list[str], str]:
    """The parameters and the result of a method descriptor."""
    found = []
    for dimensions, name, primitive in re.findall(r"(\[*)(?:L([^;]+);|([BCDFIJSZV]))", descriptor):
        found.append((dotted(name) if name else PRIMITIVES[primitive]) + "[]" * len(dimensions))
    return found[:-1], found[-1]
