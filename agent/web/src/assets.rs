//! Styles and scripts that come with the program, under addresses that hold a hash of their
//! content: a browser keeps them for a year and gets the new ones with a new program.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest as _, Sha256};

use crate::Shared;

/// A file that a browser loads.
struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static [u8],
}

/// The icon of the pages.
pub(crate) const ICON: &str = include_str!("../assets/icon.svg");
/// The script that answers without a network; it stands at the root, whose pages it answers for.
pub(crate) const WORKER: &str = include_str!("../assets/worker.js");

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

const ASSETS: [Asset; 15] = [
    Asset { name: "icon.svg", kind: "image/svg+xml", content: ICON.as_bytes() },
    Asset { name: "pdm.css", kind: CSS, content: include_bytes!("../assets/pdm.css") },
    Asset { name: "pdm.js", kind: SCRIPT, content: include_bytes!("../assets/pdm.js") },
    Asset { name: "kept.js", kind: SCRIPT, content: include_bytes!("../assets/kept.js") },
    Asset { name: "chat.js", kind: SCRIPT, content: include_bytes!("../assets/chat.js") },
    Asset { name: "address.js", kind: SCRIPT, content: include_bytes!("../assets/address.js") },
    Asset { name: "times.js", kind: SCRIPT, content: include_bytes!("../assets/times.js") },
    Asset { name: "trend.js", kind: SCRIPT, content: include_bytes!("../assets/trend.js") },
    Asset { name: "capture.js", kind: SCRIPT, content: include_bytes!("../assets/capture.js") },
    Asset { name: "cursors.js", kind: SCRIPT, content: include_bytes!("../assets/cursors.js") },
    Asset { name: "spectrum.js", kind: SCRIPT, content: include_bytes!("../assets/spectrum.js") },
    // made by agent/report/fonts/woff2
    Asset {
        name: "PdmSans.woff2",
        kind: "font/woff2",
        content: include_bytes!("../assets/PdmSans.woff2"),
    },
    Asset { name: "waterfall.js", kind: SCRIPT, content: include_bytes!("../assets/waterfall.js") },
    Asset {
        name: "uplot.js",
        kind: SCRIPT,
        content: include_bytes!("../assets/vendor/uPlot.iife.min.js"),
    },
    Asset {
        name: "uplot.css",
        kind: CSS,
        content: include_bytes!("../assets/vendor/uPlot.min.css"),
    },
];

/// First 12 hexadecimal digits of the SHA-256 over all files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for asset in &ASSETS {
        hash.update(asset.content);
    }
    hash.finalize().iter().take(6).fold(String::new(), |mut text, byte| {
        let _written = write!(text, "{byte:02x}");
        text
    })
});

/// The folder of the addresses, for templates.
pub(crate) fn folder() -> String {
    format!("/assets/{}", *VERSION)
}

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/assets/{version}/{name}", get(serve))
}

async fn serve(Path((_version, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, asset.content).into_response()
}
