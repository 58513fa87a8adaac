"""The meaning of names, as `blocklint ask` tells it: one process for each project, which is asked place by place."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from .refusal import Refusal

if TYPE_CHECKING:
    from .index import Class, File, Function, Index

# The version of questions and answers.
VERSION = 1

# The keywords before the name of a definition.
KEYWORD = re.compile(r"(?:async\s+)?(?:def|class)\s+")

Placed = Tuple["File", ast.AST]
Answer = Dict[str, Any]


@dataclass
class Module:
    """A module of the project."""

    path: str
    name: str


class Unparsed:
    """A function or class in a file that this Python cannot parse."""


@dataclass
class Variable:
    """The targets that bind a variable or attribute, and the places that read it."""

    targets: List[Placed] = field(default_factory=list)
    uses: List[Placed] = field(default_factory=list)
    # Attributes of that name whose object is not known.
    unknown: List[Placed] = field(default_factory=list)
    is_parameter: bool = False


@dataclass
class Use:
    """A place that names a function: `family`, `either` or `unknown` says how sure it is that it means this one."""

    file: "File"
    node: ast.AST
    means: str
    is_target: bool


@dataclass
class Uses:
    """The functions that change together, and all that names them."""

    family: List["Function"]
    # Classes with bases outside of the project, and the path of the base if it is known.
    bases: List[Tuple["Class", Optional[str]]]
    uses: List[Use]
    # Where the function, or its class, is shown to other projects: path and line.
    shown: List[Tuple[str, int]]
    class_shown: List[Tuple[str, int]]


class Names:
    def __init__(self, index: "Index", binary: str) -> None:
        self.index = index
        self._process = subprocess.Popen([binary, "ask", "--quiet", index.root], cwd=index.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self._known: Dict[str, Answer] = {}
        # The files of the project, how each is imported, and those of which blocklint could not read all.
        self.modules: Dict[str, str] = {}
        self.unread: List[str] = []

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def begin(self) -> None:
        """Waits until the project is read. Raises RuntimeError where it cannot be."""
        told = self._read()
        if told["version"] != VERSION:
            raise RuntimeError(f"blocklint {told['blocklint']} answers questions of version {told['version']}, and the codemods ask those of {VERSION}")
        self.modules = {one["filename"]: one["module"] for one in told["files"]}
        self.unread = [one["filename"] for one in told["files"] if one["unread"]]

    # --- questions ------------------------------------------------------------------------------------

    def target(self, file: "File", node: ast.AST) -> Union["Function", "Class", Module, Unparsed, str, None]:
        """Returns the target of an expression: something of the project, or the path of something outside of it."""
        return self._named(self._only(self._meaning(file, node)))

    def type_of(self, file: "File", node: ast.AST) -> Union["Class", str, None]:
        """Returns the class of a value, or the path of its type outside of the project."""
        found = self._only(self._meaning(file, node.value if isinstance(node, ast.Await) else node))
        if found is None or found["kind"] != "object":
            return None
        return found["type"] if "type" in found else self._defined(found["class"])

    def symbol(self, path: str) -> Union["Function", "Class", Module, Unparsed, str, None]:
        """Returns what the project has under a dotted name."""
        return self._named(self._only(self._asked({"ask": "path", "path": path})))

    def uses(self, function: "Function") -> Uses:
        """Returns the functions that change together with one, and all that names them."""
        told = self._asked(self._definition("function", function))
        uses = [Use(*self._placed(one), one["means"], one["target"]) for one in told["uses"]]
        bases = [(self._defined(one["class"]), one["path"]) for one in told["bases"]]
        shown = [[(one["filename"], one["location"]["row"]) for one in told[key]] for key in ("shown", "class_shown")]
        return Uses([self._defined(one) for one in told["family"]], bases, uses, *shown)

    def class_uses(self, of: "Class") -> List[Placed]:
        return self._all(self._asked(self._definition("class", of))["uses"])

    def library_uses(self, path: str) -> List[Placed]:
        """Where a name of a library is mentioned."""
        return self._all(self._asked({"ask": "library", "path": path})["uses"])

    def variable(self, file: "File", node: ast.AST) -> Optional[Variable]:
        """Returns the variable or attribute that an expression is; none if that is not known."""
        told = self._asked(self._text("variable", file, node))
        if not told.get("known"):
            return None
        return Variable(self._all(told["targets"]), self._all(told["uses"]), self._all(told["unknown"]), told["parameter"])

    def bound(self, file: "File", call: ast.Call) -> Optional[Answer]:
        """Why a call belongs to its thread: the reason, and where it shows."""
        return self._asked(self._text("thread", file, call)).get("bound")

    def spelling(self, file: "File", node: ast.AST, path: str) -> Answer:
        """How a file writes a path at a place: the text and the import that it needs, or why it cannot."""
        row, column = file.start(node)
        return self._asked({"ask": "spelling", "filename": file.path, "location": {"row": row, "column": column + 1}, "path": path})

    def with_imports(self, text: str, imports: List[Tuple[str, str]]) -> str:
        """Returns a text with imports added: modules, and the names that are imported from them."""
        added = [{"module": module, "name": name or None} for module, name in imports]
        return self._asked({"ask": "imports", "text": text, "imports": added})["text"]

    # --- answers --------------------------------------------------------------------------------------

    def _meaning(self, file: "File", node: ast.AST) -> Answer:
        return self._asked(self._text("meaning", file, node))

    @staticmethod
    def _only(told: Answer) -> Optional[Answer]:
        """Returns the one thing that is meant besides `None`, if no guess led to it."""
        found = [one for one in told.get("meanings", []) if one["kind"] != "none"]
        return found[0] if len(found) == 1 and told["sure"] else None

    def _named(self, found: Optional[Answer]) -> Union["Function", "Class", Module, Unparsed, str, None]:
        kind = found["kind"] if found else None
        if kind in ("function", "class"):
            try:
                return self._defined(found[kind])
            except Refusal:
                return Unparsed()
        if kind == "module":
            return Module(found["filename"], found["name"])
        return found["path"] if kind == "library" else None

    def _text(self, ask: str, file: "File", node: ast.AST) -> Answer:
        (row, column), (end_row, end_column) = file.start(node), file.end(node)
        return {"ask": ask, "filename": file.path, "location": {"row": row, "column": column + 1}, "end_location": {"row": end_row, "column": end_column + 1}}

    @staticmethod
    def _definition(ask: str, of: Union["Function", "Class"]) -> Answer:
        row, column = of.file.start(of.node)
        keyword = KEYWORD.match(of.file.lines[row - 1], column)
        return {"ask": ask, "filename": of.file.path, "location": {"row": row, "column": (keyword.end() if keyword else column) + 1}}

    def _defined(self, place: Answer) -> Union["Function", "Class", None]:
        line = place["location"]["row"]
        return self.index.file(place["filename"], line).defined.get(line)

    def _placed(self, place: Answer) -> Placed:
        start, end = ((place[key]["row"], place[key]["column"] - 1) for key in ("location", "end_location"))
        file = self.index.file(place["filename"], start[0])
        if (start, end) not in file.nodes:
            # In an f-string: Python before 3.12 says another place.
            raise Refusal("unreadable", "this Python does not say what stands here", file.path, start[0])
        return file, file.nodes[start, end]

    def _all(self, places: List[Answer]) -> List[Placed]:
        return [self._placed(one) for one in places]

    def _asked(self, question: Answer) -> Answer:
        """Returns the answer to a question; one that cannot be answered has only its error."""
        text = json.dumps(question)
        if text not in self._known:
            try:
                self._process.stdin.write(text + "\n")
                self._process.stdin.flush()
            except OSError:
                pass
            self._known[text] = self._read()
        return self._known[text]

    def _read(self) -> Answer:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"blocklint ask failed: {self._process.stderr.read().strip()}")
        return json.loads(line)
