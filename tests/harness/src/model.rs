//! A stand-in for an OpenAI-compatible server: it answers as scripted, and holds every request to
//! the published form of `POST /chat/completions` ([`shape`]). It is no model: it understands
//! nothing.

mod shape;

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// The stand-in's reply to a request.
#[derive(Debug, Clone)]
pub enum ModelReply {
    /// Words, as the whole answer.
    Says(String),
    /// A call of a function, with its arguments as JSON.
    Calls(Vec<(String, Value)>),
    /// A status, more headers, and a body.
    Raw(u16, Vec<(&'static str, String)>, String),
    /// The head of a stream, which breaks off without a reason to end.
    BreaksOff,
    /// An answer of this many bytes.
    Endless(usize),
    /// No answer for as long as the client waits.
    Hangs,
}

type Script = Box<dyn FnMut(&Value) -> ModelReply + Send>;

#[derive(Default)]
struct Seen {
    requests: Vec<Value>,
    raw: Vec<String>,
    violations: Vec<String>,
}

struct Shared {
    script: Mutex<Script>,
    seen: Mutex<Seen>,
    is_over: AtomicBool,
}

/// A running stand-in; it ends with the value.
pub struct ModelStandIn {
    port: u16,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for ModelStandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ModelStandIn({})", self.port)
    }
}

impl ModelStandIn {
    /// Answers by a function of the request.
    ///
    /// # Panics
    /// If no port is free.
    pub fn answering(script: impl FnMut(&Value) -> ModelReply + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            script: Mutex::new(Box::new(script)),
            seen: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if serving.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || {
                    // a client that goes away ends its connection
                    let _gone = serve(&connection, &shared);
                });
            }
        });
        Self { port, shared }
    }

    /// Gives these answers one after the other, the last one again and again.
    pub fn scripted(replies: Vec<ModelReply>) -> Self {
        let mut replies: VecDeque<ModelReply> = replies.into();
        Self::answering(move |_| {
            let next = replies.front().cloned().unwrap_or(ModelReply::Hangs);
            if replies.len() > 1 {
                replies.pop_front();
            }
            next
        })
    }

    /// The address of the API.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.seen().requests.clone()
    }

    /// The requests so far as they came, heads included.
    pub fn raw(&self) -> Vec<String> {
        self.seen().raw.clone()
    }

    /// Returns the faults of the requests so far; empty if all have the published form.
    pub fn violations(&self) -> Vec<String> {
        self.seen().violations.clone()
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the faults in the conversation of a request that another server has seen: its form, and
/// calls of tools that have not exactly one result.
pub fn request_violations(request: &Value) -> Vec<String> {
    shape::violations("POST /v1/chat/completions ", request)
}

impl Drop for ModelStandIn {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // wakes the thread that accepts
        let _woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn serve(connection: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    connection.set_read_timeout(Some(Duration::from_mins(2)))?;
    let mut reader = BufReader::new(connection);
    loop {
        let (mut head, mut length) = (String::new(), 0_u64);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        let mut body = Vec::new();
        reader.by_ref().take(length).read_to_end(&mut body)?;
        let request: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        {
            let mut seen = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.violations.extend(shape::violations(&head, &request));
            seen.raw.push(format!("{head}\n{}", String::from_utf8_lossy(&body)));
            seen.requests.push(request.clone());
        }
        let reply = (shared.script.lock().unwrap_or_else(PoisonError::into_inner))(&request);
        if !answer(connection, &request, reply, shared)? {
            return Ok(());
        }
    }
}

/// Sends an answer; false if the connection is over.
fn answer(
    mut out: &TcpStream,
    request: &Value,
    reply: ModelReply,
    shared: &Shared,
) -> std::io::Result<bool> {
    let streamed = request.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 });
    let (message, finish) = match reply {
        ModelReply::Says(words) => (json!({ "role": "assistant", "content": words }), "stop"),
        ModelReply::Calls(calls) => {
            let call = |(at, (name, arguments)): (usize, (String, Value))| {
                json!({ "index": at, "id": format!("call_{at}"), "type": "function",
                        "function": { "name": name, "arguments": arguments.to_string() } })
            };
            let calls: Vec<Value> = calls.into_iter().enumerate().map(call).collect();
            (json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
        }
        ModelReply::Raw(status, headers, body) => {
            write!(out, "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len())?;
            for (name, value) in headers {
                write!(out, "{name}: {value}\r\n")?;
            }
            write!(out, "\r\n{body}")?;
            return Ok(true);
        }
        ModelReply::BreaksOff => {
            write!(
                out,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
                 data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"Normal\"}}}}]}}\n\n"
            )?;
            return Ok(false);
        }
        ModelReply::Endless(bytes) => return endless(out, bytes),
        ModelReply::Hangs => {
            while !shared.is_over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(20));
            }
            return Ok(false);
        }
    };
    let (kind, body) = if streamed {
        let piece = json!({ "choices": [{ "index": 0, "delta": message, "finish_reason": null }] });
        let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] });
        let usage = json!({ "choices": [], "usage": usage });
        let body = format!("data: {piece}\n\ndata: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
        ("text/event-stream", body)
    } else {
        let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
        ("application/json", json!({ "choices": [choice], "usage": usage }).to_string())
    };
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    Ok(true)
}

fn endless(mut out: &TcpStream, bytes: usize) -> std::io::Result<bool> {
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {bytes}\r\n\r\n"
    )?;
    let portion = vec![b' '; 64 * 1024];
    let mut left = bytes;
    while left > 0 {
        let size = left.min(portion.len());
        out.write_all(&portion[..size])?;
        left -= size;
    }
    Ok(true)
}
