//! One request and its streamed answer, from bytes to events.
//!
//! Both formats share everything here: sending, limits, the classes of failures, and the rule for when an answer is
//! complete. What differs is in their [`Decoder`].

use crate::draft::Draft;
use crate::failure::{self, Report};
use crate::http::{Endpoint, client};
use crate::sse::{BoxError, Events};
use capstan_ports::{
    AssistantMessage, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream, StopReason,
    ThinkingLevel,
};
use futures::{StreamExt, stream};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More is to come.
    More,
    /// The model stopped; only usage and the end mark may follow.
    Stopped,
    /// The end mark.
    Ended,
}

/// Why an event cannot be used.
#[derive(Debug)]
pub(crate) enum Flaw {
    /// The server reported a failure.
    Reported(Report),
    /// The model or a filter withheld the answer; the text says which.
    Withheld(String),
}

/// Turns the events of one format into a draft.
pub(crate) trait Decoder: Send {
    /// Takes the JSON of one event.
    fn event(&mut self, event: &Value) -> Result<Progress, Flaw>;
    /// The answer so far.
    fn draft(&mut self) -> &mut Draft;
    /// Why the model stopped.
    fn stop_reason(&self) -> StopReason;
}

/// After the model stopped, the rest is worth only a short wait: some servers keep the connection open.
const TRAILER_PATIENCE: Duration = Duration::from_secs(5);

/// No error message needs more.
const MAX_ERROR_BODY: usize = 64 << 10;

/// The header that carries the session's id (000-169). Gateways that do not know it ignore it.
const SESSION_HEADER: HeaderName = HeaderName::from_static("x-session-id");

struct Exchange {
    endpoint: Arc<Endpoint>,
    session: Option<HeaderValue>,
    patience: u32,
    decoder: Box<dyn Decoder>,
    queue: VecDeque<ModelEvent>,
    phase: Phase,
}

enum Phase {
    Unsent(Vec<u8>),
    Reading { events: Events, saw_events: bool, progress: Progress },
    Over,
}

/// Sends `body` when the stream is first polled. Dropping the stream drops the connection.
pub(crate) fn run(
    endpoint: Arc<Endpoint>,
    request: &ModelRequest,
    body: &Value,
    decoder: Box<dyn Decoder>,
) -> ModelStream {
    let exchange = Exchange {
        endpoint,
        session: request.session_id.as_ref().and_then(|id| HeaderValue::from_str(id.as_str()).ok()),
        patience: match request.thinking {
            ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => 1,
            ThinkingLevel::Medium | ThinkingLevel::High | ThinkingLevel::XHigh => 3,
        },
        decoder,
        queue: VecDeque::new(),
        phase: Phase::Unsent(body.to_string().into_bytes()),
    };
    stream::unfold(exchange, Exchange::next).boxed()
}

impl Exchange {
    async fn next(mut self) -> Option<(ModelEvent, Self)> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some((event, self));
            }
            self.phase = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Unsent(body) => {
                    match open(&self.endpoint, self.session.as_ref(), self.patience, body).await {
                        Ok(events) => Phase::Reading { events, saw_events: false, progress: Progress::More },
                        Err(error) => self.fail(error),
                    }
                }
                Phase::Reading { mut events, saw_events, progress } => {
                    match self.read(&mut events, saw_events, progress).await {
                        Ok(Progress::Ended) => self.complete(),
                        Ok(progress) => Phase::Reading { events, saw_events: true, progress },
                        Err(error) => self.fail(error),
                    }
                }
            };
        }
    }

    async fn read(
        &mut self,
        events: &mut Events,
        saw_events: bool,
        progress: Progress,
    ) -> Result<Progress, ModelError> {
        let stopped = progress == Progress::Stopped;
        let event = if stopped {
            match timeout(TRAILER_PATIENCE, events.next()).await {
                Ok(event) => event,
                Err(_elapsed) => return Ok(Progress::Ended),
            }
        } else {
            events.next().await
        };
        let event = match event {
            Some(Ok(event)) => event,
            // The answer is whole; how the connection ends does not matter any more.
            Some(Err(_)) | None if stopped => return Ok(Progress::Ended),
            Some(Err(error)) => return Err(failure::of_reading(&self.endpoint, error)),
            None => return Err(failure::of_early_end(&self.endpoint, saw_events, &events.head())),
        };
        let data = event.data.as_deref().unwrap_or_default().trim();
        if data.is_empty() {
            return Ok(progress);
        }
        if data == "[DONE]" {
            return Ok(Progress::Ended);
        }
        let value: Value =
            serde_json::from_str(data).map_err(|error| failure::of_malformed(&self.endpoint, data, error))?;
        if !value.is_object() {
            return Err(failure::of_malformed(&self.endpoint, data, "an event must be a JSON object"));
        }
        let outcome = self.decoder.event(&value);
        self.hand_out();
        match outcome {
            Ok(Progress::More) => Ok(progress),
            Ok(progress) => Ok(progress),
            Err(Flaw::Reported(report)) => Err(failure::of_report(&self.endpoint, &report)),
            Err(Flaw::Withheld(why)) => Err(self.endpoint.error(
                ModelErrorKind::InvalidRequest,
                &self.endpoint.excerpt(&why),
                "Change the request, or choose another model",
            )),
        }
    }

    fn hand_out(&mut self) {
        self.queue.extend(self.decoder.draft().drain().map(ModelEvent::Update));
    }

    fn complete(&mut self) -> Phase {
        let stop_reason = self.decoder.stop_reason();
        let message: AssistantMessage = self.decoder.draft().finish(stop_reason);
        self.hand_out();
        self.queue.push_back(ModelEvent::Done(Box::new(message)));
        Phase::Over
    }

    fn fail(&mut self, error: ModelError) -> Phase {
        self.hand_out();
        self.queue.push_back(ModelEvent::Failed(error));
        Phase::Over
    }
}

/// Sends the request and looks at the head of the answer.
async fn open(
    endpoint: &Endpoint,
    session: Option<&HeaderValue>,
    patience: u32,
    body: Vec<u8>,
) -> Result<Events, ModelError> {
    let client = client(&endpoint.url).map_err(|error| failure::of_transport(endpoint, error))?;
    let mut request = client.post(endpoint.url.clone()).headers(endpoint.headers.clone()).body(body);
    if let Some(session) = session {
        request = request.header(SESSION_HEADER, session.clone());
    }
    let mut limits = endpoint.limits;
    limits.idle = limits.idle.saturating_mul(patience).min(limits.total);
    let Ok(response) = timeout(limits.idle, request.send()).await else {
        return Err(endpoint.error(
            ModelErrorKind::TimedOut,
            &format!("no answer within {} s", limits.idle.as_secs_f32()),
            "Try again, or raise the provider's idle timeout for a slow server",
        ));
    };
    let response = response.map_err(|error| failure::of_transport(endpoint, error))?;
    let status = response.status().as_u16();
    if status != 200 {
        let headers = response.headers().clone();
        let body = read_some(response).await;
        return Err(failure::of_status(endpoint, status, &headers, &body));
    }
    let content_type = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    // A missing or vague type is no reason to refuse a stream; a definite other one is.
    let may_stream = ["text/event-stream", "text/plain", "application/octet-stream"];
    if !content_type.is_empty() && !may_stream.iter().any(|start| content_type.starts_with(start)) {
        let body = read_some(response).await;
        let report = serde_json::from_str::<Value>(&body).ok().as_ref().and_then(Report::from_json);
        return Err(match report {
            Some(report) => failure::of_report(endpoint, &report),
            None => failure::of_foreign_answer(endpoint, &content_type, &body),
        });
    }
    let bytes =
        response.bytes_stream().map(|chunk| chunk.map_err(|error| BoxError::from(error.without_url())));
    Ok(Events::new(bytes.boxed(), limits))
}

/// The beginning of a body that will be shown at most. A body that breaks off is shown as far as it came.
async fn read_some(mut response: Response) -> String {
    let mut body = Vec::new();
    let read = async {
        while body.len() < MAX_ERROR_BODY {
            match response.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
    };
    if timeout(Duration::from_secs(10), read).await.is_err() {
        tracing::debug!("the body of an error answer did not end; its beginning is used");
    }
    body.truncate(MAX_ERROR_BODY);
    String::from_utf8_lossy(&body).into_owned()
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
