//! Every secret that the configuration names, for the redaction of what is sent to a language
//! model.

use pdm_knowledge::settings::{EmbeddingChoice, StoreChoice};
use pdm_service::error_chain::error_chain;
use pdm_service::secret::{SecretError, SecretSource};
use pdm_tools::exec::sql::DatabasePlace;

use super::{AgentSettings, StorePlace};

impl AgentSettings {
    /// The values of all configured secrets. One that cannot be read is left out: whoever needs it
    /// reports it.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let values = self.sources().into_iter().filter_map(|source| source.fetch().ok());
        values.map(|secret| secret.expose().to_owned()).collect()
    }

    /// The first secret whose file is not there or empty, as while a volume is still being mounted.
    /// A file that has content and cannot be used is a wrong configuration.
    pub(crate) fn missing_secret(&self) -> Option<String> {
        let errors = self.sources().into_iter().filter_map(|source| source.fetch().err());
        errors.filter(SecretError::may_pass).map(|error| error_chain(&error)).next()
    }

    fn sources(&self) -> Vec<&SecretSource> {
        let mut sources: Vec<&SecretSource> = Vec::new();
        sources.extend(self.broker.login.as_ref().map(|login| &login.password));
        if let StorePlace::Postgres(server) = &self.store.place {
            sources.extend(&server.password);
        }
        sources.extend(self.notify.email.as_ref().and_then(|email| email.password.as_ref()));
        sources.extend(self.notify.webhook.iter().filter_map(|hook| hook.url_secret.as_ref()));
        sources.extend(self.notify.webhook.iter().flat_map(|hook| hook.secrets.values()));
        sources.extend(self.tools.servers.values().filter_map(|server| server.token.as_ref()));
        for place in self.tools.databases.values() {
            if let DatabasePlace::Postgres(server) = place {
                sources.extend(&server.password);
            }
        }
        if let StoreChoice::Qdrant(choice) = &self.knowledge.store {
            sources.extend(&choice.key);
        }
        if let EmbeddingChoice::Openai(choice) = &self.knowledge.embedding {
            sources.extend(&choice.key);
        }
        sources.extend(&self.http.token);
        sources.extend(self.reasoner.as_ref().and_then(|reasoner| reasoner.key.as_ref()));
        sources.extend(self.http.oidc.as_ref().and_then(|oidc| oidc.client_secret.as_ref()));
        sources
    }
}

#[cfg(test)]
mod tests {
    /// Issue 34, L5: what the login at the plant's provider uses was not withheld from a language
    /// model.
    #[test]
    fn the_secret_of_the_login_is_among_those_that_are_withheld() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("client"), "the secret of the login").expect("written");
        let text = r#"
            [store]
            sqlite = "agent.db"
            [broker]
            addresses = ["127.0.0.1:1883"]
            [http]
            listen = "127.0.0.1:8080"
            public_url = "https://pdm.example"
            [http.oidc]
            issuer = "https://login.example"
            client_id = "pdm"
            client_secret = { file = "client" }
            roles = { admin = ["admins"] }
        "#;
        let path = folder.path().join("agent.toml");
        std::fs::write(&path, text).expect("written");
        let settings = super::AgentSettings::read(&path).expect("a configuration");
        assert_eq!(settings.secrets(), ["the secret of the login"]);
    }
}
