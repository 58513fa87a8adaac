//! Recursive programs are analysed fast: a query is not repeated for each path that leads to it. Each program has eight
//! cycles, so that a walk over all paths would exceed any time limit.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::support::Project;

/// Far more than a run takes on a busy machine, and less than the time after which a function is left out.
const LIMIT: Duration = Duration::from_secs(9);

const CIRCLES: usize = 8;

/// Checks a program at all levels: the finding is reported in time, and no function is left out.
fn answers_at_once(shape: &str, files: &[(&str, &str)], found: &str) {
    let project = Project::new(files);
    let begun = Instant::now();
    let levels = ["--min-severity", "note", "--min-confidence", "low", "--include-aside"];
    let run = project.run(&[&["check", "--no-cache", "--output-format", "concise"][..], &levels].concat());
    let took = begun.elapsed();
    assert!(took < LIMIT, "{shape} took {took:?}");
    assert_eq!(run.err, "", "{shape}");
    assert!(run.out.contains(found), "{shape}: no `{found}` in\n{}", run.out);
}

/// Joins the texts that a function returns for the number of each cycle.
fn each(make: impl Fn(usize) -> String) -> String {
    (0..CIRCLES).map(make).collect()
}

/// Returns a Python program in which the result of `make` is called, iterated over, stored and read.
fn python(makers: &str) -> String {
    let before = "\
import os
import threading
import time

import requests


class Limit:
    def __init__(self, size):
        self._size = size
        self._until = None
        self.lock = threading.Lock()

    def __call__(self, text, file):
        if self._until is None:
            self._until = after(os.path.realpath(file.name))
        return self._until

    def load(self):
        with self.lock:
            return requests.get(\"http://x\", timeout=self._size)

    def __iter__(self):
        return iter(self.load())


";
    let after = "

async def write(text, file):
    time.sleep(1)
    made = make(\"1 day\")
    made(text, file)
    made.load()
    for one in made:
        one.load()
";
    format!("{before}{makers}{after}")
}

#[test]
fn functions_of_python_that_return_what_they_give() {
    let calls = |name: &dyn Fn(usize) -> String| {
        each(|at| format!("    if size{at}:\n        return {}(size{at})\n", name(at)))
    };
    let of_itself = calls(&|_| "make".to_owned());
    let of_itself = format!("def make(given):\n{of_itself}    return Limit(given)\n");
    let nested = each(|at| format!("    if size{at}:\n        return make(make(make(size{at})))\n"));
    let nested = format!("def make(given):\n{nested}    return Limit(given)\n");
    let to_all = calls(&|at| format!("make{at}"));
    let of_each_other = each(|at| format!("def make{at}(given):\n{to_all}    return Limit(given)\n\n\n"));
    let of_each_other = format!("{of_each_other}def make(given):\n    return make0(given)\n");
    let inner = each(|at| {
        let calls = each(|to| format!("        if x:\n            return inner{to}(lambda: inner{to}(x))\n"));
        format!("    def inner{at}(x):\n{calls}        return Limit(x())\n")
    });
    let closures = format!("def make(given):\n{inner}    return inner0(lambda: given)\n");
    let literals = each(|at| {
        let next = (at + 1) % CIRCLES;
        format!("    if given == \"x{at}\":\n        return make(\"x{next}\") or make(given)\n")
    });
    let literals = format!("def make(given=None):\n{literals}    return Limit(given)\n");
    let shapes = [
        ("of itself", of_itself),
        ("nested", nested),
        ("of each other", of_each_other),
        ("closures", closures),
        ("chosen by literals", literals),
    ];
    for (shape, makers) in shapes {
        answers_at_once(shape, &[("app.py", &python(&makers))], "BLT101");
    }
}

#[test]
fn methods_decorators_generators_and_containers_of_python() {
    let fields =
        each(|at| format!("            self.b{at} = self.make{at}(self.b{at})\n            return self.b{at}\n"));
    let methods = each(|at| {
        format!("    def make{at}(self, given):\n        if self.a{at}:\n{fields}        return Limit(given)\n\n")
    });
    let methods = format!("class Maker:\n{methods}\ndef make(given):\n    return Maker().make0(given)\n");
    let overrides = each(|at| {
        let base = if at == 0 { "Base".to_owned() } else { format!("Derived{}", at - 1) };
        let calls =
            each(|to| format!("        if self.a{to}:\n            return Derived{to}().make(super().make(given))\n"));
        format!(
            "class Derived{at}({base}):\n    def make(self, given):\n{calls}        return super().make(given)\n\n\n"
        )
    });
    let base = "class Base:\n    def make(self, given):\n        return Limit(given)\n\n\n";
    let overrides = format!("{base}{overrides}def make(given):\n    return Base().make(given)\n");
    let decorators = each(|at| {
        let calls = each(|to| format!("        if kw:\n            return deco{to}(f)(*args, **kw)\n"));
        format!(
            "def deco{at}(f):\n    def inner(*args, **kw):\n{calls}        return f(*args, **kw)\n    return inner\n\n\n"
        )
    });
    let decorated = each(|at| format!("@deco{at}\n"));
    let decorators = format!("{decorators}{decorated}def make(given):\n    return Limit(given)\n");
    let generators = each(|at| {
        let calls =
            each(|to| format!("    yield from walk{to}(given)\n    for x in walk{to}(given):\n        yield x\n"));
        format!("def walk{at}(given):\n{calls}    yield Limit(given)\n\n\n")
    });
    let generators = format!("{generators}def make(given):\n    for one in walk0(given):\n        return one\n");
    let kept = each(|at| {
        format!(
            "    found.append(make(found[{at}]))\n    TABLE[{at}] = make\n    if x:\n        return TABLE[{at}](found)[{at}]\n"
        )
    });
    let containers =
        format!("TABLE = {{}}\n\n\ndef make(given):\n    found = [Limit(given)]\n{kept}    return found[0]\n");
    let coroutines = each(|at| {
        let calls = each(|to| format!("    if given:\n        return await work{to}(given)\n"));
        format!("async def work{at}(given):\n    time.sleep(1)\n{calls}    return Limit(given)\n\n\n")
    });
    let coroutines = format!("{coroutines}def make(given):\n    return work0(given)\n");
    let shapes = [
        ("methods", methods),
        ("overrides", overrides),
        ("decorators", decorators),
        ("generators", generators),
        ("containers", containers),
        ("coroutines", coroutines),
    ];
    for (shape, makers) in shapes {
        answers_at_once(shape, &[("app.py", &python(&makers))], "BLT101");
    }
}

const CARGO: &str =
    "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\ntokio = \"1\"\n";

#[test]
fn functions_of_rust_that_call_each_other() {
    const SLEEPS: &str = "std::thread::sleep(std::time::Duration::from_secs(1));";
    let mutual = each(|at| {
        let calls = each(|to| format!("    if n == {to} {{ return f{to}(n, g); }}\n"));
        format!("fn f{at}(n: u32, g: &dyn Fn()) -> Option<u32> {{\n{calls}    g();\n    {SLEEPS}\n    None\n}}\n")
    });
    let mutual = format!("{mutual}async fn h() {{ f0(1, &|| {{ {SLEEPS} }}); }}\n");
    let tasks = each(|at| {
        let calls = each(|to| format!("    Box::pin(a{to}(n)).await; tokio::spawn(a{to}(n));\n"));
        format!("async fn a{at}(n: u32) {{\n{calls}    {SLEEPS}\n}}\n")
    });
    let tasks = format!("{tasks}#[tokio::main]\nasync fn main() {{ a0(1).await; }}\n");
    let mut methods = String::from("struct S { m: std::sync::Mutex<u32>, n: Option<Box<S>> }\nimpl S {\n");
    for at in 0..CIRCLES {
        let calls = each(|to| format!("        if x {{ return self.n.as_ref().unwrap().g{to}(); }}\n"));
        let guard = "std::sync::MutexGuard<'_, u32>";
        let _ = write!(methods, "    fn g{at}(&self) -> {guard} {{\n{calls}        self.m.lock().unwrap()\n    }}\n");
    }
    let methods = format!("{methods}}}\nasync fn h(s: &S) {{ let g = s.g0(); {SLEEPS} drop(g); }}\n");
    for (shape, text) in [("functions", mutual), ("tasks", tasks), ("methods", methods)] {
        answers_at_once(shape, &[("Cargo.toml", CARGO), ("src/main.rs", &text)], "BLT101");
    }
}

#[test]
fn methods_of_java_that_call_each_other() {
    let before = "\
import io.netty.channel.*;
import java.util.function.*;
import reactor.core.publisher.*;
class H extends ChannelInboundHandlerAdapter {
  public void channelRead(ChannelHandlerContext c, Object m) throws Exception { new M().f0(1, x -> { slow(); return x; }); }
  static void slow() { try { Thread.sleep(1000); } catch (Exception e) {} }
}
";
    let methods = each(|at| {
        let calls = each(|to| {
            format!(
                "    if (n == 1) return f{to}(n, g);\n    if (n == 2) return f{to}(n, y -> g.apply(f{to}(n, g)));\n"
            )
        });
        format!(
            "  Object f{at}(int n, Function<Object,Object> g) {{\n{calls}    H.slow();\n    return g.apply(n);\n  }}\n"
        )
    });
    let chains = each(|at| {
        let calls = each(|to| {
            format!(
                "    if (n == 1) return m{to}(n).flatMap(x -> m{to}(n)).map(x -> {{ H.slow(); return x; }}).switchIfEmpty(m{to}(2));\n"
            )
        });
        format!(
            "  Mono<Object> m{at}(int n) {{\n{calls}    return Mono.fromCallable(() -> {{ H.slow(); return 1; }});\n  }}\n"
        )
    });
    let subscribes = "  Object f0(int n, Function<Object,Object> g) { return m0(n).block(); }\n";
    for (shape, members) in [("methods", methods), ("chains", format!("{subscribes}{chains}"))] {
        let text = format!("{before}class M {{\n{members}}}\n");
        answers_at_once(shape, &[("H.java", &text)], "BLT101");
    }
}

/// A long chain is followed from its start, and no question about its middle is needed for that.
#[test]
fn a_chain_of_400_functions_that_return_the_next_one() {
    const LENGTH: usize = 400;
    let chain: String = (0..LENGTH).map(|at| format!("def f{at}():\n    return f{}()\n\n\n", at + 1)).collect();
    let store = "import time\n\n\nclass Store:\n    def load(self):\n        time.sleep(1)\n\n\n";
    let other = "class Other:\n    def load(self):\n        return 1\n\n\n";
    let chain = format!("{store}{other}{chain}def f{LENGTH}():\n    return Store()\n");
    let handler = "from chain import f0\n\n\nasync def handler():\n    f0().load()\n";
    let middle = "from chain import f200\n\n\ndef other():\n    f200().load()\n";
    let check = |files: &[(&str, &str)]| {
        let levels = ["--min-severity", "note", "--min-confidence", "low", "--include-aside"];
        let arguments = [&["check", "--no-cache", "--output-format", "concise"][..], &levels].concat();
        Project::new(files).run(&arguments).out.contains("handler.py:5:5: BLT101")
    };
    assert!(check(&[("chain.py", &chain), ("handler.py", handler)]));
    assert!(check(&[("chain.py", &chain), ("handler.py", handler), ("another.py", middle)]));
}
