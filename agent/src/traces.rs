//! Traces of judgements for an OpenTelemetry collector: OTLP over HTTP with protobuf
//! (R-AGENT-12). Off unless `[telemetry] otlp_endpoint` names one.
//!
//! [`crate::workflow::spans`] makes the spans. They wait in a bounded queue and leave in batches on
//! a thread of their own; spans that the collector does not take are dropped and logged, and
//! judging never waits for it. Headers, such as a token, come from the environment
//! (`OTEL_EXPORTER_OTLP_HEADERS`).

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use pdm_service::telemetry::{self, LogFormat, MoreTelemetry};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;

use crate::settings::AgentSettings;
use crate::workflow::spans::TARGET;

/// How long a collector may take for a batch; this is also what the last batch may add to a stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// The log, and the export of traces if it is configured.
#[derive(Debug)]
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Starts both, for a program that has read its settings.
    ///
    /// # Errors
    /// [`ExporterBuildError`] if the HTTP client cannot be made.
    pub fn start(
        settings: &AgentSettings,
        format: LogFormat,
        default_filter: &str,
    ) -> Result<Self, ExporterBuildError> {
        let traces = settings.telemetry.traces_url().map(|url| provider(settings, url));
        let traces = traces.transpose()?;
        telemetry::start_with(format, default_filter, traces.as_ref().map(layer));
        Ok(Self { traces })
    }

    /// Sends the spans that are left. This blocks for up to 5 s, so it must not be called from
    /// within the asynchronous runtime.
    pub fn end(self) {
        let ended = self.traces.map(|traces| traces.shutdown_with_timeout(PATIENCE));
        if let Some(Err(error)) = ended {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

fn provider(
    settings: &AgentSettings,
    url: String,
) -> Result<SdkTracerProvider, ExporterBuildError> {
    crate::service::install_cryptography();
    let exporter =
        SpanExporter::builder().with_http().with_endpoint(url).with_timeout(PATIENCE).build()?;
    let resource = Resource::builder()
        .with_service_name("pdm-agent")
        .with_attributes([
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", settings.broker.client_id.clone()),
        ])
        .build();
    let share = Sampler::TraceIdRatioBased(settings.telemetry.sample_ratio);
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(share)))
        .with_resource(resource)
        .build();
    Ok(provider)
}

fn layer(provider: &SdkTracerProvider) -> MoreTelemetry {
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("pdm-agent"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(false)
        .with_level(false)
        .with_filter(Targets::new().with_target(TARGET, LevelFilter::DEBUG));
    Box::new(layer)
}
