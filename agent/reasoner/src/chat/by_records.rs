//! Builds an answer without a model: states the bearings as their gateways do, plans the question,
//! and joins the results of the plan's look-ups.

use super::desk::{CoreFields, GatewayLine};
use super::entities::Meant;
use super::extract::{self, Sources};
use super::planning::{self, Part};
use super::plant_documents::{self, Answers, OwnWords};
use super::reader::Reader;
use super::{
    Chat, Making, Question, answer, cut, intent, language, people, plant_records, sites, slips,
    stopping, unknown_names, watching,
};
use pdm_shared::text::Text;

impl Chat<'_> {
    /// Returns every judged bearing, marked with the findings on its name and its gateway, and the
    /// gateways; no bearings while the records are away.
    pub(super) async fn marked_fleet(&self) -> (Option<Vec<CoreFields>>, Vec<GatewayLine>) {
        let gateways = self.desk.gateways().await.unwrap_or_default();
        let Ok(mut fleet) = self.desk.fleet().await else { return (None, gateways) };
        let is_of_many_sites = sites::all(&fleet).len() > 1;
        sites::mark(fleet.iter_mut(), is_of_many_sites);
        watching::mark_silent(fleet.iter_mut(), &gateways);
        (Some(fleet), gateways)
    }

    /// A question as it is read, with sites by their ids where it calls them by the names that the
    /// plant has given them, and what was read so beside the slips. A model reads the question as
    /// it is.
    pub(super) fn read_question(
        &self,
        question: &Question,
        fleet: &[CoreFields],
        has_model: bool,
    ) -> (Question, Vec<(String, String)>) {
        let (mut question, mut read) = slips::read_question(question, fleet, has_model);
        let mut names: Vec<(&str, Text)> = Vec::new();
        for core in fleet.iter().filter(|_| !has_model) {
            let site = core.key.site.as_str();
            if names.iter().all(|(known, _)| *known != site) {
                names.extend(self.desk.site_name(&core.key).map(|name| (site, name)));
            }
        }
        if let Some((message, sites)) = sites::with_ids(&question.message, &names, fleet) {
            question.message = message;
            read.extend(sites);
        }
        (question, read)
    }

    /// The look-ups of a question, those about the people whom it names among them.
    pub(super) async fn planned(
        &self,
        question: &Question,
        scope: &[CoreFields],
        meant: &Meant,
        is_away: bool,
    ) -> Vec<Part> {
        let mut plan = planning::plan(question, scope, meant, is_away);
        let known = self.desk.people().await.unwrap_or_default();
        let named = people::named_in(&question.message, &known);
        people::put_into(&mut plan, &question.message, (&named, meant), scope);
        plan
    }

    /// The answer out of records and documents: the look-ups of a plan made side by side, their
    /// results put together by bearing, each with where it comes from. Names that nobody knows are
    /// told first.
    pub(super) async fn by_extraction(
        &self,
        (plan, meant): (&[Part], &Meant),
        fleet: &[CoreFields],
        reader: Reader,
        sources: &Sources<'_>,
        making: &mut Making<'_>,
    ) -> Option<String> {
        if let Some(told) = language::in_other_words(plan, sources.fleet, reader.language) {
            return Some(told);
        }
        let found = plan.iter().map(|part| extract::look_up(part, reader, sources));
        let found: Vec<Option<String>> = futures_util::future::join_all(found).await;
        let mut told: Vec<(&Part, String)> = Vec::new();
        for (part, text) in plan.iter().zip(found) {
            let text = text.filter(|_| !extract::is_answered(part, &told));
            let call = extract::call(part, sources.focus(part));
            making.tell(vec![call], text.as_deref().map(cut), None);
            told.extend(text.map(|text| (part, text)));
        }
        let language = reader.language;
        let strange = meant.unknown_sites.iter();
        let mut parts: Vec<String> =
            strange.map(|name| sites::unknown_site(name, fleet, language)).collect();
        for name in &meant.unknown {
            parts.push(unknown_names::told_of(self.tools, name, reader).await);
        }
        let own = plant_documents::own_words((plan, meant), fleet, reader, sources).await;
        let is_nearest = |own: &OwnWords| own.answers == Answers::Nearest;
        let own = own.filter(|own| !is_nearest(own) || plant_documents::is_worth(&told));
        let is_said = own.is_some();
        if people::leave_to_documents(&mut told, self.desk, is_said, language).await {
            told.retain(|(_, text)| !text.is_empty());
        }
        if let Some(own) = own {
            making.tell(vec![own.call], Some(cut(&own.told)), None);
            told.retain(|(part, text)| !plant_documents::stand_for(&own.answers, (*part, text)));
            parts.push(own.told);
        } else if plant_documents::lack(plan, &told) {
            parts.push(plant_records::not_in_documents(reader.language).to_owned());
        }
        plant_documents::mark_general_values(&mut told, meant, reader.language);
        parts.extend(extract::read_as(&told, reader.language));
        if !told.is_empty() {
            parts.push(answer::fused(&told, sources.foci, reader));
        }
        let is_beyond = |part: &Part| intent::asks_beyond_vibration(&part.clause);
        if parts.is_empty() && plan.iter().any(is_beyond) {
            // no document of the plant says it, and no level stands in its place
            parts.push(stopping::not_covered(language).to_owned());
            parts.push(plant_records::not_recorded(language));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}
