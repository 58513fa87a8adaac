//! The facts for each shape of Python: small sources and their dumps, in `snapshots/`.

use blocklint_facts::{dump, validate};
use blocklint_python::extract;

/// Compares the dump of a source with its snapshot.
fn check(name: &str, source: &str) {
    let facts = extract(source.as_bytes());
    assert_eq!(validate(&facts), Ok(()));
    insta::with_settings!({ description => source, omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, dump(&facts));
    });
}

/// One test per shape.
macro_rules! shapes {
    ($($name:ident: $source:literal,)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), $source);
        }
    )*};
}

shapes! {
    names: r#"
import time
def later(): return defined_below, time, len
defined_below = 1
def shadowed(time):
    return time
def local():
    use(x)
    x = 1
    del y
    y
class C:
    time = time
    def method(self): return time, C
    after = time
def assigns():
    global made, time
    made = time
    def inner():
        nonlocal counter
        counter += 1
        return made
    counter = 0
"#,
    comprehension_scopes: r#"
x = 1
def f(rows):
    a = [x for x in rows if x]
    b = {(last := y): z for y, z in rows}
    return last, x
class C:
    names = ["a"]
    table = [names for n in names]
g = (i async for i in stream() if await ok(i))
async def h(rows):
    return [await v async for v in rows], {w.id for w in rows}, sum(v.n for v in rows)
def found(rows):
    if any((hit := row).ok for row in rows): return hit
"#,
    annotations: r#"
from typing import Annotated, Literal, Optional
def f(a: Optional["Store"], b: "list[Store | None]", c: int | None | "Store", d: Literal["x", 1], *e: str) -> "Store": ...
def g(a: Annotated["Store", Depends(dep)], b: Annotated[int, Query(le=10)] = 3): ...
x: Store
y: "Store" = make()
z: TypeAlias = "Store"
w = Optional["Store"]
v = cast("Store", y)
self.u: Store = y
t: "not a type" = 1
s: "a.B" "[int]"
class Store: pass
"#,
    type_parameters: r#"
class Box[T: Base, *Ts, **P](Parent[T]):
    def get[U](self, key: U) -> T: ...
type Pair[K] = tuple[K, "Box"]
def first[T](items: list[T]) -> T: return items[0]
"#,
    calls: r#"
f(1, "two", *rest, key=3.5, **more)
a.b.c(d.e)
make()()
make().client.get(url)[0](x)
x = await_me = obj.method
sum(v for v in rows)
print("%s" % x, 60 * 5, -1, 2 ** 10, x @ y, -x, ~x, "a" + "b")
"#,
    awaits: r#"
async def f():
    await g()
    x = await (h())
    await task
    return await self.client.get(await url())
"#,
    attributes: r#"
a.b = c.d
a.b.c = 1
del a.b, c[0]
a.n += b.n
a[i] = b[j]
a[i] += 1
x[1:2, ...]
"#,
    assignments: r#"
a, b = 1, 2
c, (d, *e, f) = g()
[h] = [i for i in j]
k = l = m
n: int = 1
n += 1
p.q, r[0] = s
if (t := u()): v(t)
first, second = [w for w in x]
"#,
    definitions: r#"
@outer(1)
@mid.inner
async def f(a, /, b=1, *, c: int = limit(), **kw) -> str:
    """Docstring."""
    yield a
class A(Base, metaclass=Meta):
    x = 1
    @property
    def p(self): return self._p
    @p.setter
    def p(self, value): self._p = value
    def stub(self): raise NotImplementedError("later")
    def other(self):
        """Docstring."""
        ...
    cb = lambda self: self.x
@dataclass(frozen=True)
class B: field: int = 0
def gen(): yield from f()
def outer_():
    v = 1
    def inner(): return v
    return inner
handler = lambda x, y=default(): x.run(y)
"#,
    conditions: r#"
def f(a, b):
    if a:
        one()
    elif b:
        two()
    else:
        three()
    four()
def g(wipe):
    if not wipe: return
    delete()
def h(mode):
    if mode == "r":
        return read()
    elif mode == "w":
        raise ValueError
    write()
def i(x):
    if x: ready = make()
    else: sys.exit(1)
    use(ready)
def j(x, y):
    x and run() or y.other() or fallback
    return load(x) if x is not None else x or default()
    assert x, message()
"#,
    loops: r#"
for i, (j, k) in items():
    if i: continue
    use(j)
else:
    done()
while poll(x):
    if stop(): break
    step()
while True:
    forever()
async def f():
    async for row in rows: use(row)
[a(b) for b in c() if d(b) for e in b if e]
x in container()
x in (1, 2)
"#,
    with_items: r#"
with open(p) as f, lock:
    f.read()
async def g():
    async with session() as (a, b), sem:
        return a
with suppress(E): h()
"#,
    tries: r#"
def f():
    try:
        a()
    except (OSError, mod.E) as e:
        b(e)
    except:
        raise
    else:
        c()
    finally:
        d()
def no_loop():
    try:
        loop = get_running_loop()
    except RuntimeError:
        return run(x)
    e(loop)
def only_without_loop():
    try:
        get_running_loop()
    except RuntimeError:
        pass
    else:
        raise E
    run(x)
try: g()
except* E: h()
"#,
    matches: r#"
def f(x):
    match x.kind:
        case Point(0, y=py) | Other(py): a(py)
        case [first, *rest, last] if check(first): b(rest, last)
        case {"k": v, **others}: c(v, others)
        case str() as s: d(s)
        case None: e()
        case mod.CONST: g()
        case whole: return whole
"#,
    exits: r#"
def f():
    return
def g():
    x = yield
    y = yield x
    return y
f = lambda: 1
def s(): return {"a": h, **more}, [*rest], {1}, f"{call(x)!r:>{width()}}", b"raw", 1j, 99999999999999999999
"#,
    imports: r#"
import a
import a.b
import a.b as c
from . import d
from .e import f as g, h
from ...pkg.mod import *
if TYPE_CHECKING:
    from i import j
def k():
    import l
"#,
    comments: r##"
a()  # noqa
b()  # NoQA: BLT101,ASYNC251 and why
c()  # noqa:BLT102 # blocklint: ignore[blocking-sleep, BLT101] we know
# blocklint: ignore[BLT103]: the whole statement
# another comment
d(
    1,  # noqa: blocking-file
)
# blocklint: nonblocking
def e(): pass
def f(): # blocklint: ignore
    pass
g("# noqa")  # flake8: noqa
h()  # noqa: because
i()  # type: ignore  # noqa : E501
j()  # blocklint: ignored[BLT101]
"##,
    python_2: "print 'hello'\ntry:\n    f(x)\nexcept E, e:\n    print >>out, `e`\nexec 'code' in d\nraise E, 'text'\ndef g(a, (b, c)): return a <> b\nh()\n",
    tabs_and_spaces: "def f():\n\tif a:\n        b()\n\t\tc()\n\td()\ne()\n",
    unfinished: "import time\nasync def f():\n    time.sleep(\n\nasync def g():\n    time.sleep(1)\n    self.\n    x = \nclass\n",
}
