# -*- coding: utf-8 -*-
from __future__ import annotations
import a.b, c as d
from .e import *
@deco(1)
async def f(p, /, q: "int | None" = 1, *r, s=2, **t) -> "List['X']":
    global g
    async with h() as i, j: yield await k
    async for l in m: pass
    else: return
    try: del n, o[0], u.v
    except (E, F) as e: raise G from e
    finally: assert w, x
    while y := z(): continue
    if aa and bb or not cc: break
    elif dd: lambda ee, *ff: ee
    match gg:
        case H(1, x=ii) | [jj, *_] if kk: nonlocal ll
        case {"m": None, **nn}: ...
class C[T: (int, str) = int](B, metaclass=M):
    o: int
    p: str = f"{q!r:>{r}} {s=}" 'é' b'' t"{u}"
    type V = w[...]
x = [y for y in z if 1], {a: b for c, *d in e}, {g async for g in h}, (i for i in j)
k[1:2:3, ::] = l = m if n else ~o ** -p @ q // 2 % "r"
s <<= t < u <= v is not w not in x
with (y as z): yield (yield from 1j)  # noqa: X1 # blocklint: ignore[a] b
