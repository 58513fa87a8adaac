//! A blog whose work was moved to `spawn_blocking`: under load there are hundreds of threads, and it answers nothing.

use axum::extract::{Path, State};
use axum::{Router, routing::get};
use sqlx::SqlitePool;
use tokio::task::{JoinSet, spawn_blocking};

fn render(text: &str) -> String {
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(text));
    html
}

async fn text_of(pool: &SqlitePool, id: i64) -> String {
    let mut connection = pool.acquire().await.unwrap();
    sqlx::query_scalar("select text from posts where id = ?").bind(id).fetch_one(&mut *connection).await.unwrap()
}

/// One offload for each request.
async fn post(State(pool): State<SqlitePool>, Path(id): Path<i64>) -> String {
    let text = text_of(&pool, id).await;
    spawn_blocking(move || render(&text)).await.unwrap()
}

/// One offload for each post of a request.
async fn posts(State(pool): State<SqlitePool>) -> String {
    let texts: Vec<String> = sqlx::query_scalar("select text from posts").fetch_all(&pool).await.unwrap();
    let mut tasks = JoinSet::new();
    for text in texts {
        tasks.spawn_blocking(move || render(&text));
    }
    tasks.join_all().await.concat()
}

/// Holds one connection and waits for another one.
async fn copied(State(pool): State<SqlitePool>, Path(id): Path<i64>) -> String {
    let mut transaction = pool.begin().await.unwrap();
    let text = text_of(&pool, id).await;
    sqlx::query("insert into posts (text) values (?)").bind(&text).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    text
}

/// A client for each request.
async fn quoted() -> String {
    let client = reqwest::Client::new();
    client.get("https://example.org/quote").send().await.unwrap().text().await.unwrap()
}

#[tokio::main]
async fn main() {
    let pool = SqlitePool::connect("sqlite:blog.db").await.unwrap();
    let app = Router::new()
        .route("/posts/{id}", get(post))
        .route("/posts", get(posts))
        .route("/posts/{id}/copy", get(copied))
        .route("/quote", get(quoted))
        .with_state(pool);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
