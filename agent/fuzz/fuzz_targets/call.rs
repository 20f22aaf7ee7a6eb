//! Any JSON as the arguments of each shipped tool: answered or refused, never a panic. The same
//! text as a statement of the executor `sql`, which changes nothing, and as an address of `http`,
//! whose host stays.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pdm_tools::spec::statement::Statement;
use pdm_tools::spec::template::Address;
use pdm_tools::{Call, Catalogue, ExecutorResources, Runtime};
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let _ = Statement::read(text);
    let told = json!({ "id": text });
    if let Ok(address) = Address::read(text) {
        let _ = address.fill(told.as_object().expect("a mapping"));
    }
    let fixed = Address::read("https://plant.local/api/{id}?q={id}").expect("an address");
    if let Ok(url) = fixed.fill(told.as_object().expect("a mapping")) {
        assert_eq!(url.host_str(), Some("plant.local"));
        assert!(url.path().starts_with("/api/"));
    }
    if let Ok(arguments) = serde_json::from_str::<Value>(text) {
        call(&arguments);
    }
});

static TOOLS: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new(Catalogue::shipped().0, ExecutorResources::default()));

fn call(arguments: &Value) {
    // waits between attempts take no time
    let mut paused = tokio::runtime::Builder::new_current_thread();
    let paused = paused.enable_time().start_paused(true).build().expect("a runtime");
    paused.block_on(async {
        for tool in TOOLS.catalogue().current().names() {
            let (id, tool, arguments) = ("1".to_owned(), tool.clone(), arguments.clone());
            let _ = TOOLS.call(&Call { id, tool, arguments }).await;
        }
    });
}
