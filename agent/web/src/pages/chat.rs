//! The chat: a form that works without script, with the conversation in a hidden field; the script
//! sends the same question to the stream and shows steps as they come.

use std::sync::Arc;

use axum::extract::{Extension, Form, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::id::BearingKey;
use serde::Deserialize;

use super::{Reader, refusal, show};
use crate::Shared;
use crate::access::Viewer;
use crate::problem::Problem;
use crate::talk::{self, TalkMessage, TalkQuestion, TalkRole, TalkStep};

/// Messages of the conversation that the page sends back: the newest, within what is taken.
const KEPT: usize = 80;

/// The bearing of a link to the chat.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct About {
    site: String,
    equipment: String,
    bearing: String,
}

impl About {
    fn key(&self) -> Option<BearingKey> {
        BearingKey::parse(&self.site, &self.equipment, &self.bearing).ok()
    }
}

/// The form of the page.
#[derive(Debug, Deserialize)]
pub(super) struct ChatForm {
    form_key: String,
    message: String,
    #[serde(default)]
    history: String,
    #[serde(default)]
    site: String,
    #[serde(default)]
    equipment: String,
    #[serde(default)]
    bearing: String,
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(about): Query<About>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    shown(&shared, &reader, about.key().as_ref(), &[], None)
}

pub(super) async fn ask(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
    Form(form): Form<ChatForm>,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    match answered(&shared, &viewer, &reader, form).await {
        Ok((about, history, steps)) => {
            shown(&shared, &reader, about.as_ref(), &history, Some(&steps))
        }
        Err(problem) => refusal(&reader, &problem),
    }
}

type Conversation = (Option<BearingKey>, Vec<TalkMessage>, Vec<TalkStep>);

async fn answered(
    shared: &Shared,
    viewer: &Viewer,
    reader: &Reader,
    form: ChatForm,
) -> Result<Conversation, Problem> {
    if !viewer.may_send(&form.form_key) {
        let told = "the form is of an earlier login: open the page again";
        return Err(Problem::new(StatusCode::FORBIDDEN, told));
    }
    let mut history: Vec<TalkMessage> = if form.history.is_empty() {
        Vec::new()
    } else {
        serde_json::from_str(&form.history)
            .map_err(|_odd| Problem::parameter("history", &form.history, "a conversation"))?
    };
    let about = About { site: form.site, equipment: form.equipment, bearing: form.bearing }.key();
    let question = talk::checked(TalkQuestion {
        message: form.message.clone(),
        history: history.clone(),
        about: about.clone(),
        language: reader.language,
        asker: viewer.asker(),
    })?;
    let (answer, steps) = talk::answer_question(shared, question).await?;
    history.push(TalkMessage { role: TalkRole::User, content: form.message });
    history.push(TalkMessage { role: TalkRole::Assistant, content: answer.answer });
    history.drain(..history.len().saturating_sub(KEPT));
    Ok((about, history, steps))
}

fn shown(
    shared: &Shared,
    reader: &Reader,
    about: Option<&BearingKey>,
    history: &[TalkMessage],
    steps: Option<&[TalkStep]>,
) -> Response {
    let has_model = shared.site.talk.as_ref().is_some_and(|talk| talk.has_model());
    let trouble = shared.site.talk.as_ref().and_then(|talk| talk.trouble());
    let said: Vec<Value> = history
        .iter()
        .map(|said| context! { is_user => said.role == TalkRole::User, text => said.content.clone() })
        .collect();
    let of = context! {
        has_model,
        trouble => trouble.map(|word| format!("chat_trouble_{word}")),
        said,
        steps => steps.unwrap_or_default().iter().map(show::value).collect::<Vec<_>>(),
        history => serde_json::to_string(history).unwrap_or_default(),
        about => about.map(|key| context! {
            site => key.site.as_str(), equipment => key.equipment.as_str(),
            bearing => key.bearing.as_str(), address => show::address(key),
        }),
        most => talk::MAX_QUESTION,
    };
    super::page("chat.html", reader, StatusCode::OK, of)
}
