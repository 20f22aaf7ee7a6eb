//! Bodies with an end in time: a request's that must be complete by then, and an answer's that says
//! when it is sent.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::Sleep;

use crate::places::ConnectionPlace;

/// A request's body that fails when it is not complete in time.
#[derive(Debug)]
pub(super) struct InTime {
    body: Incoming,
    end: Pin<Box<Sleep>>,
    place: ConnectionPlace,
    /// The place waits for the rest of the body.
    waits: bool,
}

/// The caller holds as many requests open as it may by the time its body is there. The handler that
/// reads it answers with an error.
#[derive(Debug, thiserror::Error)]
#[error("too many requests are open")]
struct TooMany;

/// The body did not come in time. The handler that reads it answers with an error.
#[derive(Debug, thiserror::Error)]
#[error("the request's body was not complete in time")]
struct TooSlow;

type BodyError = Box<dyn std::error::Error + Send + Sync>;

impl InTime {
    /// The body, to be read within `time`.
    pub(super) fn new(body: Incoming, time: Duration, place: ConnectionPlace) -> Self {
        Self { body, end: Box::pin(tokio::time::sleep(time)), place, waits: false }
    }

    /// A frame, or the end. With the last one the request holds its place again.
    fn come(
        &mut self,
        frame: Option<Result<Frame<Bytes>, hyper::Error>>,
    ) -> Option<Result<Frame<Bytes>, BodyError>> {
        let is_whole = frame.is_none() || self.body.is_end_stream();
        if is_whole && std::mem::take(&mut self.waits) && self.place.goes_on().is_err() {
            return Some(Err(TooMany.into()));
        }
        frame.map(|frame| frame.map_err(BodyError::from))
    }
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(self.come(frame));
        }
        self.waits |= self.place.awaits();
        match self.end.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(TooSlow.into()))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body; its connection may lose its place when the body is sent or given up.
#[derive(Debug)]
pub(super) struct Answering {
    body: Body,
    place: ConnectionPlace,
}

impl Answering {
    /// The answer on the connection of `place`.
    pub(super) fn new(body: Body, place: ConnectionPlace) -> Self {
        Self { body, place }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.place.answered();
    }
}

impl HttpBody for Answering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
