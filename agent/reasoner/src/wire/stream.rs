//! An answer in pieces: server-sent events, each with a change of the answer, `[DONE]` at the end.
//!
//! Bytes come in any portions; a line is read when it is whole. Comments and other fields are left
//! out.

use serde::Deserialize;
use serde_json::Value;

use super::{AnswerError, Completion, MAX_CALLS, Usage, WireCall, WireFunction, reported, whole};

/// Longest line: a piece of an answer has some hundred bytes; a server that sends the whole answer
/// as one piece may send this much.
const MAX_LINE: usize = 256 * 1024;

/// Puts a streamed answer together.
#[derive(Debug, Default)]
pub struct Assembly {
    line: Vec<u8>,
    content: String,
    calls: Vec<WireCall>,
    finish: Option<String>,
    usage: Option<Usage>,
    is_done: bool,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    choices: Vec<PieceChoice>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct PieceChoice {
    #[serde(default)]
    index: u32,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<DeltaCall>>,
}

#[derive(Deserialize)]
struct DeltaCall {
    #[serde(default)]
    index: usize,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<DeltaFunction>,
}

#[derive(Deserialize)]
struct DeltaFunction {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

impl Assembly {
    /// Takes a portion of the stream.
    ///
    /// # Errors
    /// [`AnswerError`] if a line is no piece of an answer.
    pub fn take(&mut self, portion: &[u8]) -> Result<(), AnswerError> {
        for &byte in portion {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.line(&line)?;
            } else if self.line.len() < MAX_LINE {
                self.line.push(byte);
            } else {
                return Err(AnswerError::Form(format!("a line of more than {MAX_LINE} bytes")));
            }
        }
        Ok(())
    }

    /// Whether the server has said that nothing follows.
    pub const fn is_done(&self) -> bool {
        self.is_done
    }

    fn line(&mut self, line: &[u8]) -> Result<(), AnswerError> {
        let line = String::from_utf8_lossy(line);
        let Some(data) = line.trim_end_matches('\r').strip_prefix("data:") else { return Ok(()) };
        let data = data.trim();
        if data.is_empty() || self.is_done {
            return Ok(());
        }
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        let piece: Piece =
            serde_json::from_str(data).map_err(|error| AnswerError::Garbled(error.to_string()))?;
        if let Some(error) = &piece.error {
            return Err(AnswerError::Reported(reported(error)));
        }
        self.usage = piece.usage.or(self.usage);
        for choice in piece.choices.into_iter().filter(|choice| choice.index == 0) {
            self.finish = choice.finish_reason.or(self.finish.take());
            if let Some(delta) = choice.delta {
                self.delta(delta)?;
            }
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta) -> Result<(), AnswerError> {
        self.content.push_str(&delta.content.unwrap_or_default());
        for piece in delta.tool_calls.unwrap_or_default() {
            if piece.index >= MAX_CALLS {
                return Err(AnswerError::TooManyCalls);
            }
            while self.calls.len() <= piece.index {
                let kind = "function".to_owned();
                let function = WireFunction::default();
                self.calls.push(WireCall { id: String::new(), kind, function });
            }
            let Some(call) = self.calls.get_mut(piece.index) else { continue };
            if let Some(id) = piece.id.filter(|id| !id.is_empty()) {
                call.id = id;
            }
            if let Some(function) = piece.function {
                call.function.name.push_str(&function.name.unwrap_or_default());
                call.function.arguments.push_str(&function.arguments.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// The whole answer, after the end of the stream.
    ///
    /// # Errors
    /// [`AnswerError::Unfinished`] if nothing said why the answer ends.
    pub fn end(mut self) -> Result<Completion, AnswerError> {
        let line = std::mem::take(&mut self.line);
        self.line(&line)?;
        let finish = self.finish.ok_or(AnswerError::Unfinished)?;
        whole(self.content, self.calls, &finish, self.usage)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::FinishReason;
    use super::*;

    const STREAM: &str = "\
: a comment\n\
event: message\n\
data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"외\"}}]}\r\n\
\n\
data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"륜\"}}]}\n\
data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"q\\\":\"}}]}}]}\n\
data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}\n\
data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\
data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\
data: [DONE]\n\
data: not read any more\n";

    fn assembled(portions: &[&[u8]]) -> Result<Completion, AnswerError> {
        let mut assembly = Assembly::default();
        for portion in portions {
            assembly.take(portion)?;
        }
        assembly.end()
    }

    #[test]
    fn pieces_are_put_together_with_their_calls_and_usage() {
        let answer = assembled(&[STREAM.as_bytes()]).expect("whole");
        assert_eq!((answer.content.as_str(), answer.finish), ("외륜", FinishReason::ToolCalls));
        assert_eq!(answer.calls[0].function.arguments, "{\"q\":1}");
        assert_eq!(answer.usage, Some(Usage { prompt_tokens: 5, completion_tokens: 2 }));
    }

    #[test]
    fn a_stream_that_breaks_off_is_no_answer() {
        for end in [2, 4, 5] {
            let head: String = STREAM.split_inclusive('\n').take(end).collect();
            assert_eq!(assembled(&[head.as_bytes()]), Err(AnswerError::Unfinished), "{head}");
        }
        let done = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\ndata: [DONE]\n";
        assert_eq!(
            assembled(&[done.as_bytes()]),
            Err(AnswerError::Unfinished),
            "DONE is no reason"
        );
    }

    #[test]
    fn an_error_in_the_midst_and_endless_lines_are_told() {
        let error = assembled(&[b"data: {\"error\":{\"message\":\"overloaded\"}}\n"]);
        assert_eq!(error, Err(AnswerError::Reported("overloaded".to_owned())));
        let line = vec![b'a'; MAX_LINE + 1];
        assert!(matches!(assembled(&[&line]), Err(AnswerError::Form(_))));
        let calls = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":4000000000}]}}]}"#;
        let calls = format!("{calls}\n");
        assert_eq!(assembled(&[calls.as_bytes()]), Err(AnswerError::TooManyCalls));
    }

    proptest! {
        #[test]
        fn portions_of_any_size_give_the_same_answer(cuts in proptest::collection::vec(1_usize..60,
            1..40)) {
            let mut rest = STREAM.as_bytes();
            let mut portions = Vec::new();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                portions.push(head);
                rest = tail;
            }
            portions.push(rest);
            prop_assert_eq!(assembled(&portions), assembled(&[STREAM.as_bytes()]));
        }
    }
}
