//! Facts of each shape of the language: small sources, and snapshots of their facts in `snapshots/`.

use blocklint_facts::{FileFacts, dump, validate};

fn facts(source: &str) -> FileFacts {
    let facts = blocklint_rust::extract(source.as_bytes());
    assert_eq!(validate(&facts), Ok(()));
    facts
}

macro_rules! shape {
    ($name:ident, $source:literal) => {
        #[test]
        fn $name() {
            let facts = facts($source);
            assert_eq!(facts.problems, []);
            insta::with_settings!({ omit_expression => true, description => $source }, {
                insta::assert_snapshot!(stringify!($name), dump(&facts));
            });
        }
    };
}

shape!(
    helper_called_and_handed_over,
    r#"
use std::{thread, time::Duration};
use tokio::task::spawn_blocking;

fn helper() {
    thread::sleep(Duration::from_secs(5));
}
async fn handler() {
    helper();
}
async fn fine() {
    tokio::task::spawn_blocking(helper).await.unwrap();
    let _ = spawn_blocking(|| helper()).await;
}
"#
);

shape!(
    field_types_and_impls,
    r#"
pub struct Store { client: reqwest::blocking::Client, names: Vec<String> }
struct App { store: std::sync::Arc<Store>, other: Option<Box<dyn Load + Send>> }
pub trait Load: Send + Base { type Out; fn load(&self, key: &str) -> String; fn again(&self) { self.load("x"); } }
impl Load for Store {
    type Out = String;
    fn load(&self, key: &str) -> String {
        let response = self.client.get(key).send().unwrap();
        response.text().unwrap()
    }
}
impl App {
    pub fn new(store: Store) -> Self { Self { store: std::sync::Arc::new(store), other: None } }
    pub async fn handle(&mut self) -> String { self.store.load("k") }
}
"#
);

shape!(
    wrapper_hands_a_closure_over,
    r#"
fn in_thread<F>(f: F) where F: FnOnce() -> u8 + Send + 'static {
    tokio::task::spawn_blocking(move || f());
}
fn boxed(f: Box<dyn Fn(u8) -> u8>, g: impl Fn(), h: fn(u8)) { f(1); g(); h(2) }
async fn handler(path: String) {
    in_thread(move || { std::fs::read(&path).ok(); 1 });
}
"#
);
shape!(
    modules_and_uses,
    r##"
#![allow(dead_code)]
mod db;
#[path = "other/place.rs"]
pub(crate) mod place;
extern crate serde as ser;
use std::{io::{self, Read as _, Write as W}, fs::*, collections::HashMap as Map};
use super::super::outer::{self, Thing};
use self::db::pool;
use ::tokio::spawn;
pub use crate::a::b::C;
use db::*;

static POOL: OnceLock<Pool> = OnceLock::new();
const LIMIT: usize = 0x1_0;
type Shared<T> = std::sync::Arc<std::sync::Mutex<T>>;
thread_local! { static SEEN: RefCell<u8> = RefCell::new(start()); }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn works() { pool(); db::open(); helper() }
    fn helper() { self::works(); super::main() }
}

#[tokio::main(flavor = "current_thread", worker_threads = 2)]
#[tracing::instrument]
async fn main() {
    fn inner() { let pool = pool(); pool.get(); }
    let db = 1;
    db::open(db);
    SEEN.with(|seen| seen.borrow());
    inner();
}
"##
);

shape!(
    branches_loops_and_values,
    r##"
fn choose(flag: bool, name: Option<&str>, level: u8) -> Result<Store, Error> {
    if !flag { return Err(Error::Off); }
    let Some(name) = name else { panic!("no name") };
    let store = if level == 1 { open(name)? } else if level > 2 { open2() } else { return other(); };
    let kind = match level {
        0 => "zero",
        1 | 2 if flag => { log(); "few" }
        _ => unreachable!(),
    };
    let found = loop {
        let Ok(x) = store.next() else { continue };
        if x.done() { break x; }
    };
    'outer: while let Some(item) = store.pop() {
        for (at, part) in item.parts().enumerate() {
            if part.is_empty() && at > 0 || part.last() { break 'outer; }
        }
    }
    let labelled = 'a: { if flag { break 'a first(); } second() };
    unsafe { raw() };
    match found { Some(v) => Ok(v), None => Err(Error::Empty) }
}
"##
);

shape!(
    patterns,
    r##"
enum Msg { Load(Store, u8), Stop, Set { key: String, to: u8 }, One(Store) }
struct Pair(Store, Store);
fn take(State(app): State<App>, (a, _, b): (A, B, C), &Pair(ref x, mut y): &Pair, _: u8, msg: Msg) {
    match msg {
        Msg::Load(store, 3) | Msg::One(store) => store.load(),
        Msg::Set { key, to: n @ 1..=5 } => set(key, n),
        Stop => {}
    }
    let Config { path, inner: Inner { url, .. }, .. } = load();
    let [first, .., last] = &items[..] else { return };
    let f = |_, (k, v): (K, V), Wrapper(w)| w.put(k, v);
    if let Ok(Some(deep)) = next() && let Some(z) = deep.z() { z.go(); }
    let x: Option<Store>;
    x = None;
    (a.left, b[0]) = pair();
    let x = x;
    for Some(e) in list {}
}
"##
);

shape!(
    asynchronous,
    r##"
async fn both(client: &Client, pool: Pool) -> Result<(), Error> {
    let (a, b) = tokio::join!(client.get("a").send(), fetch(client));
    let c = tokio::try_join!(one(), async { two().await })?;
    let task = tokio::spawn(async move { pool.get()?.run() });
    task.await??;
    let guard = pool.lock().await;
    let text = tokio::select! {
        biased;
        Some(item) = guard.recv(), if ready => item.text(),
        _ = tokio::time::sleep(Duration::from_millis(1_500)) => { return Ok(()); }
        else => String::new(),
    };
    let f = async |x: u8| x + 1;
    let stream = futures::stream::iter(vec![1, 2]).map(|n| async move { work(n).await }).buffered(4);
    let all = vec![first(), second()];
    info!(target: "app", cause = %err, ?state, "got {} {}", text.len(), name = name());
    assert!(ready(), "not {}", why());
    json!({ "a": value(), "b": [1, 2] });
    drop(guard);
    Ok(())
}
fn boxed() -> Pin<Box<dyn Future<Output = Result<u8, E>> + Send + 'static>> { Box::pin(async { read() }) }
"##
);

shape!(
    generics_and_traits,
    r##"
struct Service<S: Store + Send, T = u8> where T: Clone { store: S, list: Vec<T>, cb: Box<dyn Fn(&str) -> u8> }
impl<S: Store, T> Service<S, T> {
    const MAX: u32 = 3;
    fn go<'a, F, R>(&'a self, f: F, other: impl Into<String> + 'a, s: S) -> R where F: Fn(R) -> R, R: Default + Clone {
        let v = Vec::<u8>::with_capacity(1);
        let n = "1".parse::<u32>().unwrap();
        let d = <R as Default>::default();
        let p = <Vec<u8>>::new();
        (self.cb)("x");
        self.list[0].clone();
        (f)(d) as R
    }
}
impl<T: ?Sized> Trait for &mut T where T: Trait { async fn run(self: Arc<Self>) -> [u8; 4] { todo!() } }
async_trait! { fn not_items here }
union U { a: u8 }
extern "C" { fn sleep(seconds: u32) -> u32; static ENV: u8; }
"##
);

shape!(
    comments,
    r##"
// blocklint: nonblocking
fn promise() {
    std::thread::sleep(d); // blocklint: ignore[BLT101, blocking-file] only at start-up
    /* blocklint: ignore */
    //
    other();
    println!("// blocklint: ignore[BLT101]");
    call(a, // blocklint: ignore[BLT104]
        b);
}
/// blocklint: ignore[BLT105]
fn documented() {}
"##
);
