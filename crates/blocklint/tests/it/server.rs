//! `blocklint server` as a real process, over standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.arg("server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Server { input: process.stdin.take(), process, output }
    }

    fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("open");
        input.write_all(bytes).expect("written");
        input.flush().expect("written");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("read") > 0, "the server has ended");
            match line.trim().strip_prefix("Content-Length:") {
                Some(number) => length = number.trim().parse().expect("a number"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("read");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Waits for the next message for which the check is true.
    fn await_message(&mut self, check: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.receive();
            if check(&message) {
                return message;
            }
        }
    }

    fn initialize(&mut self, folder: &str) {
        let params = json!({ "processId": null, "rootUri": folder, "capabilities": {} });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        let answer = self.await_message(|message| message["id"] == 1);
        assert_eq!(answer["result"]["serverInfo"]["name"], "blocklint");
        self.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    }

    /// Shuts the server down, and returns the exit code and stderr.
    fn end(mut self) -> (Option<i32>, String) {
        self.send(&json!({ "jsonrpc": "2.0", "id": "end", "method": "shutdown" }));
        self.await_message(|message| message["id"] == "end");
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.wait()
    }

    fn wait(mut self) -> (Option<i32>, String) {
        self.input = None;
        let mut told = String::new();
        self.process.stderr.take().expect("piped").read_to_string(&mut told).expect("read");
        (self.process.wait().expect("it ends").code(), told)
    }
}

const BLOCKS: &str = "import time\n\n\nasync def handler():\n    time.sleep(1)\n";

fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join(".git")).expect("created");
    let uri = format!("file://{}", folder.path().canonicalize().expect("it exists").display());
    (folder, uri)
}

#[test]
fn an_editor_is_served_over_standard_input_and_output() {
    let (kept, uri) = folder();
    std::fs::write(kept.path().join("app.py"), "").expect("written");
    let mut server = Server::start();
    server.initialize(&uri);
    let document = json!({ "uri": format!("{uri}/app.py"), "languageId": "python", "version": 7, "text": BLOCKS });
    let params = json!({ "textDocument": document });
    server.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
    let told = server.await_message(|message| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == 7
    });
    assert_eq!(told["params"]["diagnostics"][0]["code"], "BLT101", "{told:#}");
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn garbage_is_answered_with_an_error_and_the_server_goes_on() {
    let (_kept, uri) = folder();
    let mut server = Server::start();
    server.write(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
    let error = server.receive();
    assert_eq!((&error["id"], &error["error"]["code"]), (&Value::Null, &json!(-32700)), "{error}");
    server.initialize(&uri);
    server.write(b"Content-Length: 9\r\n\r\n{\"id\": 4,");
    assert_eq!(server.receive()["error"]["code"], -32700, "not JSON");
    server.send(&json!({ "jsonrpc": "2.0", "id": 5 }));
    server.send(&json!([1, 2]));
    assert_eq!(server.receive()["error"]["code"], -32600, "no message");
    server.write(b"\xff\xfe\x00garbage\nContent-Length: 40000000000\r\n");
    server.write(b"Content-Length: 0\r\n\r\n");
    assert_eq!(server.receive()["error"]["code"], -32700);
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn a_server_whose_input_ends_ends_too() {
    assert_eq!(Server::start().wait().0, Some(2));
    let (_kept, uri) = folder();
    let mut server = Server::start();
    server.initialize(&uri);
    assert_eq!(server.wait().0, Some(2));
}
