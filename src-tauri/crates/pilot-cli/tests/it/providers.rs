//! Models from the command line: set up, tried, used, counted; and a key that goes to its server only.

use crate::support::{Desk, manifest};
use pilot_testkit::{ModelServer, Reply};
use serde_json::{Value, json};

const CANARY: &str = "sk-canary-3e77c2";

/// A server that plays while the command runs in another process.
fn serve(replies: Vec<Reply>) -> (tokio::runtime::Runtime, ModelServer) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(ModelServer::start(replies));
    (runtime, server)
}

/// A message in Anthropic's format, as one piece.
fn message(content: &[Value]) -> Reply {
    Reply::json(
        200,
        &json!({ "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn",
        "usage": { "input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 20 } }),
    )
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn add(desk: &Desk, name: &str, kind: &str, base_url: &str) -> Option<i32> {
    desk.run(&["providers", "add", name, "--kind", kind, "--base-url", base_url, "--model", "m"]).code
}

#[test]
fn an_anthropic_server_is_set_up_tried_used_and_counted() {
    let list = Reply::json(200, &json!({ "data": [{ "id": "m" }, { "id": "other" }] }));
    let call = json!({ "type": "tool_use", "id": "c", "name": "ready", "input": {} });
    let (_runtime, server) =
        serve(vec![list.clone(), message(&[call]), list, message(&[words("nothing to do")])]);
    let desk = Desk::new();
    assert_eq!(add(&desk, "claude", "anthropic", &server.base_url()), Some(0), "it is set up");
    let rows = desk.json(&["providers", "list"]).rows();
    let row = rows.iter().find(|row| row["id"] == "claude").expect("it is listed");
    assert_eq!(row["kind"], "anthropic", "with what it speaks");

    let said = desk.json(&["providers", "test", "claude"]);
    let result = said.last();
    assert_eq!(said.code, Some(0), "it is good: {}", said.out);
    assert_eq!(
        (&result["type"], &result["ok"], &result["called_tool"], &result["models"]),
        (&json!("provider_test"), &json!(true), &json!(true), &json!(["m", "other"])),
        "one object with all of it"
    );
    let models: Vec<Value> =
        desk.json(&["providers", "models", "claude"]).rows().iter().map(|row| row["name"].clone()).collect();
    assert_eq!(models, [json!("m"), json!("other")], "its models, one a line");

    let said = desk.json(&["run", "look around", "--workspace", desk.root(), "--provider", "claude"]);
    assert_eq!(said.code, Some(0), "a task works with it: {}", said.err);
    let used = json!({ "input": 100, "output": 20, "estimated": false });
    assert_eq!(said.last()["usage"], used, "with the tokens of the task");
    let days = desk.json(&["usage", "--days", "1"]).rows();
    assert_eq!(days.len(), 1, "one day, one provider: {days:?}");
    assert_eq!(days[0]["provider"], "claude", "by name");
    let both = json!({ "input": 200, "output": 40, "estimated": false });
    assert_eq!(days[0]["usage"], both, "the try cost tokens too");
    assert_eq!(desk.json(&["usage", "--days", "0"]).code, Some(2), "no days are no call of this command");
    let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    let expected = ["/v1/models?limit=1000", "/v1/messages", "/v1/models?limit=1000", "/v1/messages"];
    assert_eq!(paths, expected, "in its own format");
}

#[test]
fn what_is_wrong_with_a_provider_ends_with_its_code() {
    let desk = Desk::new();
    for (kind, path) in [("openai", "/v1/models"), ("anthropic", "/v1/models?limit=1000")] {
        let loading = Reply::json(503, &json!({ "error": { "message": "Loading model" } }));
        let (_runtime, server) = serve(vec![loading]);
        assert_eq!(add(&desk, "here", kind, &server.base_url()), Some(0), "{kind}: it is set up");
        let said = desk.json(&["providers", "test", "here"]);
        assert_eq!(said.code, Some(1), "{kind}: it is not good now");
        assert_eq!(said.last()["code"], "provider_loading", "{kind}: and why");
        assert_eq!(server.requests()[0].path, path, "{kind}: it was asked");
        let plain = desk.run(&["providers", "test", "here"]);
        assert!(!plain.out.is_empty() && plain.code == Some(1), "{kind}: in words too: {}", plain.out);
    }
    let said = desk.json(&["providers", "test", "nobody"]);
    assert_eq!(
        (said.code, &said.last()["code"]),
        (Some(1), &json!("provider_missing")),
        "one that is not set up"
    );
    let said = desk.json(&[
        "providers",
        "add",
        "x",
        "--kind",
        "other",
        "--base-url",
        "http://127.0.0.1:1",
        "--model",
        "m",
    ]);
    assert_eq!(said.code, Some(2), "a kind that there is not");
    let presets = desk.json(&["providers", "presets"]).rows();
    assert!(
        presets.iter().any(|row| row["id"] == "anthropic" && row["kind"] == "anthropic"),
        "known services"
    );
}

#[test]
fn a_key_reaches_its_server_and_no_log_event_or_file() {
    let refused = Reply::json(401, &json!({ "error": { "message": format!("unknown key {CANARY}") } }));
    let (_runtime, server) = serve(vec![refused]);
    let desk = Desk::new();
    let base_url = server.base_url();
    let env = [
        ("POCKETPILOT_BASE_URL", base_url.as_str()),
        ("POCKETPILOT_MODEL", "m"),
        ("POCKETPILOT_API_KEY", CANARY),
        ("POCKETPILOT_LOG", "trace"),
    ];
    let said = desk.run_with(&["--json", "run", "x", "--workspace", desk.root(), "--provider", "env"], &env);
    assert_eq!(said.last()["code"], "provider_unauthorized", "refused, and said: {}", said.out);
    assert!(
        format!("{:?}", server.requests()).contains(CANARY),
        "it was sent, so the search is not over nothing"
    );
    assert!(said.err.contains("TRACE"), "and the log was written at its finest");
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    assert!(!holds(said.out.as_bytes()), "no event holds the key");
    assert!(!holds(said.err.as_bytes()), "no log holds it");
    for (name, bytes) in manifest(desk.data.path()) {
        assert!(!holds(&bytes), "{name} in the data folder holds the key");
    }
}
