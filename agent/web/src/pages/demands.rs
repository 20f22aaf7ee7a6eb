//! The wish for a waveform of now: the button on the pages of a bearing and of its captures, and
//! the line that says where the newest demand stands.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::capture::CaptureRefusal;
use pdm_shared::id::BearingKey;
use pdm_shared::text::{Language, Text};
use serde::Deserialize;

use super::forms::BearingForm;
use super::{Reader, show};
use crate::access::Viewer;
use crate::api::{Names, key_of};
use crate::asking::Path;
use crate::plant::DemandState;
use crate::problem::Problem;
use crate::{Shared, acts};

/// The form by which a person asks for a waveform.
#[derive(Debug, Deserialize)]
pub(super) struct DemandForm {
    form_key: String,
    #[serde(default)]
    by: String,
}

impl BearingForm for DemandForm {
    const PART: &'static str = "#captures";

    async fn act(self, shared: &Shared, viewer: &Viewer, key: &BearingKey) -> Result<(), Problem> {
        viewer.check_form(&self.form_key)?;
        acts::demand_capture(shared, viewer, "page", key, &self.by).await.map(drop)
    }
}

/// The newest demand for a waveform of a bearing, and whether one can be made.
pub(super) async fn demand_shown(
    shared: &Shared,
    key: &BearingKey,
    reader: &Reader,
) -> Result<Value, Problem> {
    let plant = &shared.site.plant;
    let row = plant.capture_demand(key).await?;
    let address = show::address(key);
    let mut capture = None;
    if let Some(id) = row.as_ref().and_then(|row| row.capture_id) {
        // the oldest captures leave
        capture = plant.capture(id).await?.map(|_| format!("{address}/captures/{id}"));
    }
    let newest = row.map(|row| {
        context! {
            state => word(row.state),
            waits => matches!(row.state, DemandState::Waiting | DemandState::Taken)
                && row.holds_off(shared.site.clock.now()),
            is_bad => matches!(row.state, DemandState::Refused | DemandState::Lapsed),
            by => row.by,
            asked_at => show::value(row.asked_at),
            why => row.refusal.as_ref().map(|refusal| refusal_in_words(refusal, reader.language)),
        }
    });
    Ok(context! { newest, capture, address, is_possible => plant.takes_captures() })
}

const fn word(state: DemandState) -> &'static str {
    match state {
        DemandState::Waiting => "waiting",
        DemandState::Taken => "taken",
        DemandState::Arrived => "arrived",
        DemandState::Refused => "refused",
        DemandState::Lapsed => "lapsed",
    }
}

/// Says why the gateway refuses, in the reader's language; the gateway's own words for a cause of a
/// later version.
fn refusal_in_words(refusal: &CaptureRefusal, language: Language) -> String {
    let minutes = refusal.wait_s.map_or(1, |seconds| seconds.div_ceil(60).max(1));
    let told = match refusal.cause.as_str() {
        "used" => Text::new(
            format!(
                "이 베어링은 한 시간 동안 저장할 수 있는 파형을 다 썼습니다(마지막 하나는 경보용). {minutes}분 뒤에 다시 요청하십시오."
            ),
            format!(
                "the captures of the hour are used up (the last is for an alarm); ask again in \
                 {minutes} min"
            ),
        ),
        "disk" => Text::new(
            "게이트웨이가 파형을 디스크에 쓰지 못합니다. 게이트웨이의 로그를 보십시오.",
            "the gateway cannot write waveforms; its log tells why",
        ),
        "busy" => Text::new(
            "게이트웨이가 지금은 저장하지 못합니다. 잠시 뒤 다시 요청하십시오. 측정이 끝난 소스라면 더 저장할 것이 없습니다.",
            "the gateway cannot follow at the moment, ask again; a source that has ended has \
             nothing to capture",
        ),
        "late" => Text::new(
            "게이트웨이의 파형 저장이 제때 응답하지 않았습니다. 그래도 저장될 수 있습니다.",
            "the gateway's captures gave no answer in time; it may be captured still",
        ),
        _ => return refusal.told.clone(),
    };
    told.in_language(language).to_owned()
}

/// Answers with the state of the newest demand, for the script of the page that waits.
pub(super) async fn json(
    State(shared): State<Arc<Shared>>,
    Path(names): Path<Names>,
) -> Result<Response, Problem> {
    let row = shared.site.plant.capture_demand(&key_of(&names)?).await?;
    let state = row.as_ref().map(|row| word(row.state));
    Ok(axum::Json(serde_json::json!({ "state": state })).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: a refusal is told in the reader's language; one of a later version in the gateway's
    /// words.
    #[test]
    fn a_refusal_is_told_in_the_readers_language() {
        let refusal = |cause: &str, wait_s| CaptureRefusal {
            cause: cause.to_owned(),
            told: "own words".to_owned(),
            wait_s,
        };
        let used = refusal("used", Some(61));
        assert!(refusal_in_words(&used, Language::En).ends_with("again in 2 min"));
        assert!(refusal_in_words(&used, Language::Ko).contains("2분 뒤"));
        for cause in ["disk", "busy", "late"] {
            let told = refusal_in_words(&refusal(cause, None), Language::Ko);
            assert!(!told.contains("own words"), "{told}");
        }
        assert_eq!(refusal_in_words(&refusal("new", None), Language::Ko), "own words");
    }
}
