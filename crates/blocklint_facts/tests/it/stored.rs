//! Tests of stored facts: facts that are written for the cache are read unchanged, and facts that are cut are refused
//! without a panic.

use blocklint_facts::{FileFacts, validate};

fn example_facts() -> Vec<FileFacts> {
    let python = "import a as b\n@deco(1, x=2.5)\nclass C(Base, metaclass=M):\n    y: int = 1 << 70\n    async def f(self, *a, k=None, **kw):\n        \
                  # blocklint: ignore[BLT101] why\n        return [await g(i, 'é', -1.5e300) for i in a if k is not None]\n";
    let rust = "use std::fs;\n#[tokio::main]\nasync fn main() { let c = move |x: u8| fs::read(\"x\"); match c(1) { Ok(v) if v.len() > 70_000 => {} _ => {} } }\n";
    let java = "package a.b;\n@X(1)\nclass C<T extends D> implements E { int f(int... xs) throws Exception { return new H() {{ g(); }}.go(xs[0]); } }\n";
    // The file is so long that its numbers do not fit into 16 bits.
    let long = (0..9_000).map(|index| format!("v{index} = f{index}({index}, x=w{index})\n")).collect::<String>();
    vec![
        blocklint_python::extract(python.as_bytes()),
        blocklint_python::extract(long.as_bytes()),
        blocklint_python::extract(b"def broken(:\n"),
        blocklint_rust::extract(rust.as_bytes()),
        blocklint_java::extract(java.as_bytes()),
        blocklint_python::extract(b""),
    ]
}

#[test]
fn stored_facts_are_read_unchanged() {
    for facts in example_facts() {
        let bytes = facts.to_bytes().expect("written");
        let again = FileFacts::from_bytes(&bytes).expect("read");
        assert_eq!(again, facts);
        assert_eq!(validate(&again), Ok(()));
        assert!(bytes.len() < 2 * facts.heap_size() + 200, "{} bytes of {}", bytes.len(), facts.heap_size());
    }
}

#[test]
fn facts_that_are_cut_are_refused() {
    for facts in example_facts() {
        let bytes = facts.to_bytes().expect("written");
        let step = (bytes.len() / 500).max(1);
        for length in (0..bytes.len()).step_by(step) {
            assert!(FileFacts::from_bytes(&bytes[..length]).is_none(), "{length} of {}", bytes.len());
        }
    }
}
