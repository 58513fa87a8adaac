//! The transport over standard input and output: frames, JSON, and the threads that read and write. A message that
//! cannot be parsed is answered with an error of the protocol and skipped, so that it does not end the server.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};
use lsp_server::{Connection, Message};
use serde_json::{Value, json};

use crate::protocol::code;

/// The maximum length of a message in bytes; a longer message is skipped.
const MAX_MESSAGE_BYTES: u64 = 256 << 20;
/// The maximum length of a header line in bytes.
const MAX_HEADER_BYTES: u64 = 8 << 10;

/// The threads that read and write.
pub(crate) struct Threads {
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits until all sent messages are written. The connection must be dropped before.
    pub(crate) fn join(self) -> io::Result<()> {
        // The reader thread is not joined: it may wait for input until the process ends.
        self.writer.join().unwrap_or(Ok(()))
    }
}

/// Connects to a reader and a writer.
pub(crate) fn connect(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
) -> io::Result<(Connection, Threads)> {
    let (to_client, outgoing) = unbounded::<Message>();
    let (incoming, from_client) = bounded::<Message>(0);
    let (errors, error_answers) = unbounded::<Value>();
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    thread("blocklint-read").spawn(move || read_all(BufReader::new(reader), &incoming, &errors))?;
    let writer = thread("blocklint-write").spawn(move || write_all(writer, &outgoing, &error_answers))?;
    Ok((Connection { sender: to_client, receiver: from_client }, Threads { writer }))
}

fn read_all(reader: impl BufRead, incoming: &Sender<Message>, errors: &Sender<Value>) {
    let error = |id: Value, code: i32, message: String| {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        // Fails once no thread writes any more.
        let _ = errors.send(error);
    };
    let mut frames = Frames { reader, next: None };
    loop {
        let body = match frames.next() {
            Ok(Some(body)) => body,
            Ok(None) => return,
            Err(FrameError::Io) => return,
            Err(FrameError::Garbage(message)) => {
                error(Value::Null, code::PARSE_ERROR, message);
                continue;
            }
        };
        let value: Value = match serde_json::from_slice(&body) {
            Ok(value) => value,
            Err(problem) => {
                error(Value::Null, code::PARSE_ERROR, format!("not JSON: {problem}"));
                continue;
            }
        };
        let id = value.get("id").cloned().unwrap_or(Value::Null);
        let is_answer = value.get("method").is_none();
        match serde_json::from_value::<Message>(value) {
            Ok(message) => {
                let is_exit = matches!(&message, Message::Notification(notification) if notification.method == "exit");
                if incoming.send(message).is_err() || is_exit {
                    return;
                }
            }
            // A response that cannot be parsed gets no error, because the protocol has no answer to a response.
            Err(_) if is_answer && !id.is_null() => {}
            Err(_) => error(id, code::INVALID_REQUEST, "neither request, response nor notification".to_owned()),
        }
    }
}

#[derive(Debug)]
enum FrameError {
    /// The stream ended or failed.
    Io,
    /// The bytes are no message; the text says why.
    Garbage(String),
}

impl From<io::Error> for FrameError {
    fn from(_: io::Error) -> Self {
        FrameError::Io
    }
}

/// The messages of a stream, as bytes.
struct Frames<R> {
    reader: R,
    /// The message after the garbage that the last call of `next` reported.
    next: Option<Vec<u8>>,
}

impl<R: BufRead> Frames<R> {
    /// Returns the bytes of the next message; `None` at the end of the stream. Lines that are no header are skipped and
    /// reported as one [`FrameError::Garbage`].
    fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        if let Some(body) = self.next.take() {
            return Ok(Some(body));
        }
        const LENGTH: &str = "content-length:";
        let (mut length, mut garbage) = (None, None);
        loop {
            let mut line = Vec::new();
            self.reader.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                return garbage.map_or(Ok(None), |line| Err(FrameError::Garbage(line)));
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\r', '\n']);
            // A header may follow garbage in the middle of a line.
            if let Some(at) = text.to_ascii_lowercase().find(LENGTH) {
                match text.get(at + LENGTH.len()..).unwrap_or_default().trim().parse::<u64>() {
                    Ok(number) => length = Some(number),
                    Err(_) => garbage = garbage.or_else(|| Some(describe_garbage(text))),
                }
                if at > 0 {
                    garbage = garbage.or_else(|| Some(describe_garbage(text)));
                }
            } else if !text.is_empty() {
                let is_known = text.to_ascii_lowercase().starts_with("content-type:");
                garbage = garbage.or_else(|| (!is_known).then(|| describe_garbage(text)));
            } else {
                let Some(length) = length else {
                    match garbage {
                        Some(line) => return Err(FrameError::Garbage(line)),
                        None => continue,
                    }
                };
                let body = read_body(&mut self.reader, length)?;
                let Some(line) = garbage else { return Ok(Some(body)) };
                self.next = Some(body);
                return Err(FrameError::Garbage(line));
            }
        }
    }
}

fn describe_garbage(line: &str) -> String {
    let start: String = line.chars().take(60).collect();
    format!("expected `Content-Length: …`, found `{start}`")
}

fn read_body(reader: &mut impl BufRead, length: u64) -> Result<Vec<u8>, FrameError> {
    if length > MAX_MESSAGE_BYTES {
        skip(reader, length)?;
        return Err(FrameError::Garbage(format!("a message of {length} bytes is longer than {MAX_MESSAGE_BYTES}")));
    }
    let mut body = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length { Err(FrameError::Io) } else { Ok(body) }
}

fn skip(reader: &mut impl BufRead, length: u64) -> Result<(), FrameError> {
    io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
    Ok(())
}

fn write_all(mut writer: impl Write, outgoing: &Receiver<Message>, error_answers: &Receiver<Value>) -> io::Result<()> {
    let mut open_errors = error_answers.clone();
    loop {
        select! {
            recv(outgoing) -> message => match message {
                Ok(message) => message.write(&mut writer)?,
                Err(_) => return Ok(()),
            },
            recv(open_errors) -> answer => match answer {
                Ok(answer) => {
                    let text = answer.to_string();
                    write!(writer, "Content-Length: {}\r\n\r\n{text}", text.len())?;
                    writer.flush()?;
                }
                // The reader has ended; messages that are still queued are written.
                Err(_) => open_errors = crossbeam_channel::never(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(input: &[u8]) -> Vec<Result<String, String>> {
        let mut frames = Frames { reader: BufReader::new(input), next: None };
        let mut all = Vec::new();
        loop {
            match frames.next() {
                Ok(Some(body)) => all.push(Ok(String::from_utf8_lossy(&body).into_owned())),
                Ok(None) | Err(FrameError::Io) => return all,
                Err(FrameError::Garbage(message)) => all.push(Err(message)),
            }
        }
    }

    #[test]
    fn messages_are_read_in_any_spelling_of_their_header() {
        let input = b"Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:3\r\n\r\n[1]";
        assert_eq!(frames(input), [Ok("{}".to_owned()), Ok("[1]".to_owned())]);
    }

    #[test]
    fn garbage_is_reported_once_and_the_next_message_is_read() {
        let input = b"hello\r\nworld\r\n\r\nContent-Length: 2\r\n\r\n{}";
        let all = frames(input);
        assert!(all[0].as_ref().is_err_and(|message| message.contains("found `hello`")), "{all:?}");
        assert_eq!(all[1..], [Ok("{}".to_owned())]);
        let all = frames(b"hello Content-Length: 2\r\n\r\n{}");
        assert_eq!((all.len(), all[0].is_err(), all[1].is_ok()), (2, true, true));
        let all = frames(b"Content-Length: many\r\n\r\nContent-Length: 2\r\n\r\n{}");
        assert_eq!((all.len(), all[0].is_err(), all[1].is_ok()), (2, true, true));
        assert!(frames(b"\xff\xfe nothing").first().is_some_and(Result::is_err));
    }

    #[test]
    fn messages_that_are_too_long_or_cut_off_are_not_returned() {
        assert!(frames(b"Content-Length: 99999999999\r\n\r\n{}").first().is_some_and(Result::is_err));
        assert_eq!(frames(b"Content-Length: 10\r\n\r\n{}"), []);
    }
}
