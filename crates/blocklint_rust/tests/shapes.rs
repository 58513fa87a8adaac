//! One snapshot per shape of the language: the source stands in the test, its facts in `snapshots/`.

#![allow(missing_docs)]

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
