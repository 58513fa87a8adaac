"""Resolves names with `blocklint ask`, one process for each project: targets, types, uses, spellings and imports."""

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

# The version of the protocol of `blocklint ask`.
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
    # Attributes of that name whose object is unknown.
    unknown: List[Placed] = field(default_factory=list)
    is_parameter: bool = False


@dataclass
class Use:
    """A reference to a function. `means` is `family` if it certainly refers to it, else `either` or `unknown`."""

    file: "File"
    node: ast.AST
    means: str
    is_target: bool


@dataclass
class Uses:
    """The functions that must change together (a method and its overrides), and all references to them."""

    family: List["Function"]
    # Classes with bases outside of the project, and the path of the base if it is known.
    bases: List[Tuple["Class", Optional[str]]]
    uses: List[Use]
    # The places (path and line) at which the function, or its class, is made public: `__all__`, a re-export.
    shown: List[Tuple[str, int]]
    class_shown: List[Tuple[str, int]]


class Names:
    def __init__(self, index: "Index", binary: str) -> None:
        self.index = index
        self._process = subprocess.Popen([binary, "ask", "--quiet", index.root], cwd=index.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self._known: Dict[str, Answer] = {}
        # The files of the project with their module names, and the files that blocklint could read only in part.
        self.modules: Dict[str, str] = {}
        self.unread: List[str] = []

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def begin(self) -> None:
        """Waits until blocklint has read the project. Raises RuntimeError if it fails."""
        answer = self._read()
        if answer["version"] != VERSION:
            raise RuntimeError(f"blocklint {answer['blocklint']} answers questions of version {answer['version']}, and the codemods ask those of {VERSION}")
        self.modules = {one["filename"]: one["module"] for one in answer["files"]}
        self.unread = [one["filename"] for one in answer["files"] if one["unread"]]

    # --- questions ------------------------------------------------------------------------------------

    def target(self, file: "File", node: ast.AST) -> Union["Function", "Class", Module, Unparsed, str, None]:
        """Returns the definition to which an expression refers, or the path of a library name; None if it is unknown."""
        return self._definition_of_meaning(self._single_meaning(self._meaning(file, node)))

    def type_of(self, file: "File", node: ast.AST) -> Union["Class", str, None]:
        """Returns the class of a value, or the path of its type outside of the project."""
        found = self._single_meaning(self._meaning(file, node.value if isinstance(node, ast.Await) else node))
        if found is None or found["kind"] != "object":
            return None
        return found["type"] if "type" in found else self._definition_at(found["class"])

    def symbol(self, path: str) -> Union["Function", "Class", Module, Unparsed, str, None]:
        """Returns the definition of a dotted name."""
        return self._definition_of_meaning(self._single_meaning(self._ask({"ask": "path", "path": path})))

    def uses(self, function: "Function") -> Uses:
        """Returns the functions that must change together with a function, and all references to them."""
        answer = self._ask(self._definition_question("function", function))
        uses = [Use(*self._node_at(one), one["means"], one["target"]) for one in answer["uses"]]
        bases = [(self._definition_at(one["class"]), one["path"]) for one in answer["bases"]]
        shown = [[(one["filename"], one["location"]["row"]) for one in answer[key]] for key in ("shown", "class_shown")]
        return Uses([self._definition_at(one) for one in answer["family"]], bases, uses, *shown)

    def class_uses(self, of: "Class") -> List[Placed]:
        return self._nodes_at(self._ask(self._definition_question("class", of))["uses"])

    def library_uses(self, path: str) -> List[Placed]:
        """Returns the references to a library name."""
        return self._nodes_at(self._ask({"ask": "library", "path": path})["uses"])

    def variable(self, file: "File", node: ast.AST) -> Optional[Variable]:
        """Returns the variable or attribute to which an expression refers; None if it is unknown."""
        answer = self._ask(self._range_question("variable", file, node))
        if not answer.get("known"):
            return None
        return Variable(self._nodes_at(answer["targets"]), self._nodes_at(answer["uses"]), self._nodes_at(answer["unknown"]), answer["parameter"])

    def bound(self, file: "File", call: ast.Call) -> Optional[Answer]:
        """Returns the reason and the place why a call must stay in its thread, if there is one."""
        return self._ask(self._range_question("thread", file, call)).get("bound")

    def spelling(self, file: "File", node: ast.AST, path: str) -> Answer:
        """Returns the spelling of a path at a node, with the import that it needs, or the reason why it has none."""
        row, column = file.start(node)
        return self._ask({"ask": "spelling", "filename": file.path, "location": {"row": row, "column": column + 1}, "path": path})

    def with_imports(self, text: str, imports: List[Tuple[str, str]]) -> str:
        """Returns a text with imports added, each a module and a name of it or an empty text."""
        added = [{"module": module, "name": name or None} for module, name in imports]
        return self._ask({"ask": "imports", "text": text, "imports": added})["text"]

    # --- answers --------------------------------------------------------------------------------------

    def _meaning(self, file: "File", node: ast.AST) -> Answer:
        return self._ask(self._range_question("meaning", file, node))

    @staticmethod
    def _single_meaning(answer: Answer) -> Optional[Answer]:
        """Returns the only meaning besides `None`; None if there are several, or if it is a guess."""
        found = [one for one in answer.get("meanings", []) if one["kind"] != "none"]
        return found[0] if len(found) == 1 and answer["sure"] else None

    def _definition_of_meaning(self, found: Optional[Answer]) -> Union["Function", "Class", Module, Unparsed, str, None]:
        kind = found["kind"] if found else None
        if kind in ("function", "class"):
            try:
                return self._definition_at(found[kind])
            except Refusal:
                return Unparsed()
        if kind == "module":
            return Module(found["filename"], found["name"])
        return found["path"] if kind == "library" else None

    def _range_question(self, ask: str, file: "File", node: ast.AST) -> Answer:
        (row, column), (end_row, end_column) = file.start(node), file.end(node)
        return {"ask": ask, "filename": file.path, "location": {"row": row, "column": column + 1}, "end_location": {"row": end_row, "column": end_column + 1}}

    @staticmethod
    def _definition_question(ask: str, of: Union["Function", "Class"]) -> Answer:
        row, column = of.file.start(of.node)
        keyword = KEYWORD.match(of.file.lines[row - 1], column)
        return {"ask": ask, "filename": of.file.path, "location": {"row": row, "column": (keyword.end() if keyword else column) + 1}}

    def _definition_at(self, place: Answer) -> Union["Function", "Class", None]:
        line = place["location"]["row"]
        return self.index.file(place["filename"], line).defined.get(line)

    def _node_at(self, place: Answer) -> Placed:
        start, end = ((place[key]["row"], place[key]["column"] - 1) for key in ("location", "end_location"))
        file = self.index.file(place["filename"], start[0])
        if (start, end) not in file.nodes:
            # Before Python 3.12 `ast` has wrong positions inside of f-strings.
            raise Refusal("unreadable", "this Python does not say what stands here", file.path, start[0])
        return file, file.nodes[start, end]

    def _nodes_at(self, places: List[Answer]) -> List[Placed]:
        return [self._node_at(one) for one in places]

    def _ask(self, question: Answer) -> Answer:
        """Returns the answer to a question; only with the key `error` if there is none."""
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
