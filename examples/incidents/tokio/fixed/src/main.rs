//! The blog, mended: as many pieces of work at once as there are permits, one connection for each request, one client for all.

use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::{Router, routing::get};
use sqlx::{SqliteConnection, SqlitePool};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};

static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(4)));
static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(reqwest::Client::new);

fn render(text: &str) -> String {
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(text));
    html
}

async fn text_of(connection: &mut SqliteConnection, id: i64) -> String {
    sqlx::query_scalar("select text from posts where id = ?").bind(id).fetch_one(connection).await.unwrap()
}

async fn post(State(pool): State<SqlitePool>, Path(id): Path<i64>) -> String {
    let mut connection = pool.acquire().await.unwrap();
    let text = text_of(&mut connection, id).await;
    drop(connection);
    let _permit = PERMITS.acquire().await.unwrap();
    spawn_blocking(move || render(&text)).await.unwrap()
}

async fn posts(State(pool): State<SqlitePool>) -> String {
    let texts: Vec<String> = sqlx::query_scalar("select text from posts").fetch_all(&pool).await.unwrap();
    let mut tasks = JoinSet::new();
    for text in texts {
        let permit = PERMITS.clone().acquire_owned().await.unwrap();
        tasks.spawn_blocking(move || {
            let _permit = permit;
            render(&text)
        });
    }
    tasks.join_all().await.concat()
}

async fn copied(State(pool): State<SqlitePool>, Path(id): Path<i64>) -> String {
    let mut transaction = pool.begin().await.unwrap();
    let text = text_of(&mut transaction, id).await;
    sqlx::query("insert into posts (text) values (?)").bind(&text).execute(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    text
}

async fn quoted() -> String {
    CLIENT.get("https://example.org/quote").send().await.unwrap().text().await.unwrap()
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
