//! Models set up, tried, capped and counted, in both wire formats against a server on loopback.

use crate::support::Bench;
use pilot_service::view::{ProviderKind, ProviderRequest, SettingsView};
use pilot_service::{LocalPlace, ProviderDraft};
use pilot_testkit::{FixedClock, ModelServer, Piece, Reply};
use pilot_types::{
    ApprovalId, Channel, ErrorCode, Event, ProviderChoice, TaskId, TaskIntake, TaskStatus, TokenUsage,
};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const KINDS: [ProviderKind; 2] = [ProviderKind::OpenAiCompatible, ProviderKind::Anthropic];
const KEY: &str = "sk-canary-77aa10";

/// An answer with words, or with one call, that used 100 tokens in and 20 out.
fn answer(kind: ProviderKind, words: &str, call: Option<(&str, Value)>) -> Reply {
    match kind {
        ProviderKind::OpenAiCompatible => {
            let calls = call.map(|(name, arguments)| {
                json!([{ "id": "c", "type": "function", "function": { "name": name, "arguments": arguments.to_string() } }])
            });
            let message = json!({ "role": "assistant", "content": words, "tool_calls": calls });
            Reply::json(
                200,
                &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 100, "completion_tokens": 20 } }),
            )
        }
        ProviderKind::Anthropic => {
            let mut content = vec![json!({ "type": "text", "text": words })];
            content.extend(
                call.map(
                    |(name, input)| json!({ "type": "tool_use", "id": "c", "name": name, "input": input }),
                ),
            );
            // Most of what went in came out of a cache; it counts all the same.
            Reply::json(
                200,
                &json!({ "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn",
                "usage": { "input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 20 } }),
            )
        }
    }
}

fn models(names: &[&str]) -> Reply {
    let data: Vec<Value> = names.iter().map(|name| json!({ "id": name })).collect();
    Reply::json(200, &json!({ "data": data }))
}

fn refused(status: u16, words: &str) -> Reply {
    Reply::json(status, &json!({ "error": { "message": words } }))
}

fn draft(kind: ProviderKind, base_url: &str) -> ProviderDraft {
    ProviderDraft { name: None, kind, base_url: base_url.to_owned(), model: "m".to_owned(), key: None }
}

async fn set_up(bench: &Bench, name: &str, kind: ProviderKind, base_url: &str) {
    let request =
        ProviderRequest { name: name.to_owned(), kind, base_url: base_url.to_owned(), model: "m".to_owned() };
    bench.service.save_provider(request).await.unwrap();
}

async fn start(bench: &Bench, provider: &str) -> TaskId {
    let intake = TaskIntake {
        goal: "look at the files".to_owned(),
        workspace: bench.workspace.clone(),
        channel: Channel::Chat,
        session: None,
        follow_up_of: None,
        provider: Some(ProviderChoice::Named { name: provider.to_owned() }),
        limits: None,
    };
    TaskId::from_text(bench.service.create_task(intake).await.unwrap().id)
}

#[tokio::test]
async fn a_good_provider_is_told_from_one_without_tools() {
    let bench = Bench::new().await;
    for kind in KINDS {
        let server = ModelServer::start(vec![
            models(&["m", "other"]),
            answer(kind, "", Some(("ready", json!({})))),
            models(&[]),
            answer(kind, "I am ready.", None),
        ])
        .await;
        let good = bench.service.test_provider(draft(kind, &server.base_url())).await;
        assert!(good.ok && good.called_tool && good.code.is_none(), "{kind:?}: it called the tool: {good:?}");
        assert_eq!(good.models, ["m", "other"], "{kind:?}: its models are told on the way");
        assert_eq!(good.subject, "m", "{kind:?}: about the model");
        let plain = bench.service.test_provider(draft(kind, &server.base_url())).await;
        assert!(plain.ok && !plain.called_tool, "{kind:?}: words instead of the call are told: {plain:?}");
        let sent = server.requests();
        let asked = String::from_utf8_lossy(&sent[1].body).into_owned();
        assert!(asked.contains("test of the connection"), "{kind:?}: one sentence is sent: {asked}");
        assert!(!asked.contains(&bench.root.display().to_string()), "{kind:?}: nothing of the workspace");
        assert_eq!(server.requests().len(), 4, "{kind:?}: a list and a question each time, no more");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_provider_is_said_by_code() {
    let quick = |options: &mut pilot_service::OpenOptions| {
        options.probing.list = Duration::from_millis(300);
        options.probing.test = Duration::from_millis(300);
    };
    let bench = Bench::with(quick).await;
    let silent = |kind| answer(kind, "late", None).after(Duration::from_secs(60));
    for kind in KINDS {
        let table: Vec<(&str, Vec<Reply>, ErrorCode, bool)> = vec![
            ("the key", vec![refused(401, "bad key")], ErrorCode::ProviderUnauthorized, false),
            (
                "the address",
                vec![refused(404, "no"), refused(404, "Not Found")],
                ErrorCode::ProviderNotFound,
                false,
            ),
            (
                "the model, said",
                vec![models(&["x"]), refused(404, "model 'm' not found")],
                ErrorCode::ProviderModelMissing,
                true,
            ),
            (
                "the model, by the list",
                vec![models(&["x"]), refused(400, "bad request")],
                ErrorCode::ProviderModelMissing,
                true,
            ),
            (
                "a request",
                vec![models(&["m"]), refused(400, "bad request")],
                ErrorCode::ProviderRejected,
                false,
            ),
            (
                "tools",
                vec![models(&["m"]), refused(400, "m does not support tools")],
                ErrorCode::ProviderNoTools,
                true,
            ),
            ("loading", vec![refused(503, "Loading model")], ErrorCode::ProviderLoading, true),
            (
                "loading, with a list",
                vec![models(&["m"]), refused(503, "Loading model")],
                ErrorCode::ProviderLoading,
                true,
            ),
            ("time", vec![models(&["m"]), silent(kind)], ErrorCode::ProviderTimeout, false),
            ("time of the list", vec![silent(kind)], ErrorCode::ProviderTimeout, false),
            ("rush", vec![models(&["m"]), refused(429, "slow down")], ErrorCode::ProviderRateLimited, false),
            (
                "a redirect",
                vec![Reply::new(302, "text/plain", "").header("Location", "https://elsewhere.example/")],
                ErrorCode::ProviderRedirect,
                false,
            ),
            (
                "half an answer",
                vec![models(&["m"]), Reply::new(200, "text/event-stream", "data: {").then(Piece::Vanish)],
                ErrorCode::ProviderStreamBroken,
                false,
            ),
        ];
        for (what, replies, code, about_model) in table {
            let count = replies.len();
            let server = ModelServer::start(replies).await;
            let view = bench.service.test_provider(draft(kind, &server.base_url())).await;
            assert_eq!(view.code, Some(code), "{kind:?}, {what}: {}", view.message);
            assert!(!view.ok, "{kind:?}, {what}: it is not good");
            let subject = if about_model { "m".to_owned() } else { server.address().to_string() };
            assert_eq!(view.subject, subject, "{kind:?}, {what}: said about the right thing");
            assert_eq!(server.requests().len(), count, "{kind:?}, {what}: asked once");
        }
        let gone = ModelServer::start(Vec::new()).await;
        let address = gone.base_url();
        drop(gone);
        let view = bench.service.test_provider(draft(kind, &address)).await;
        assert_eq!(view.code, Some(ErrorCode::ProviderUnavailable), "{kind:?}: nobody there");
        for (address, model) in [("http://models.example.com/v1", "m"), ("nonsense", "m"), (&*address, " ")] {
            let wrong = ProviderDraft { model: model.to_owned(), ..draft(kind, address) };
            let view = bench.service.test_provider(wrong).await;
            assert_eq!(view.code, Some(ErrorCode::SettingsInvalid), "{kind:?}: {address:?} {model:?}");
        }
    }
}

#[tokio::test]
async fn a_key_is_tried_at_its_own_address_only() {
    let bench = Bench::new().await;
    for kind in KINDS {
        let (own, other) = (
            ModelServer::start(vec![models(&["m"])]).await,
            ModelServer::start(vec![models(&["m"]); 3]).await,
        );
        set_up(&bench, "mine", kind, &own.base_url()).await;
        bench.service.save_key("mine", SecretString::from(KEY)).await;
        let named = |base_url: &str, key: Option<&str>| ProviderDraft {
            name: Some("mine".to_owned()),
            key: key.map(SecretString::from),
            ..draft(kind, base_url)
        };
        let holds = |server: &ModelServer| format!("{:?}", server.requests()).contains("canary");
        bench.service.provider_models(named(&own.base_url(), None)).await.unwrap();
        assert!(holds(&own), "{kind:?}: the saved key goes to the address that it was given for");
        bench.service.provider_models(named(&other.base_url(), None)).await.unwrap();
        assert!(!holds(&other), "{kind:?}: and not to another one that stands in the form");
        bench.service.provider_models(named(&other.base_url(), Some("sk-canary-typed"))).await.unwrap();
        assert!(holds(&other), "{kind:?}: a key that was typed in goes where the form says");
        set_up(&bench, "mine", kind, &own.base_url()).await;
        let kept = bench.service.app_view(Default::default(), false).await.unwrap();
        assert!(
            kept.providers.iter().any(|view| view.name == "mine" && view.has_key),
            "{kind:?}: the same address keeps its key"
        );
        set_up(&bench, "mine", kind, &other.base_url()).await;
        let moved = bench.service.app_view(Default::default(), false).await.unwrap();
        assert!(
            moved.providers.iter().any(|view| view.name == "mine" && !view.has_key),
            "{kind:?}: another address has none"
        );
    }
}

#[tokio::test]
async fn servers_on_this_computer_are_offered() {
    let ready = ModelServer::start(vec![models(&["qwen", "llama"]); 2]).await;
    let loading = ModelServer::start(vec![refused(503, "Loading model"); 2]).await;
    let nobody = ModelServer::start(Vec::new()).await;
    let place = |preset, server: &ModelServer| LocalPlace { preset, base_url: server.base_url() };
    let places = vec![place("ollama", &ready), place("llama-cpp", &loading), place("lm-studio", &nobody)];
    drop(nobody);
    let bench = Bench::with(|options| options.probing.places = places).await;
    let found = bench.service.local_servers().await.unwrap();
    let shown: Vec<(&str, usize, bool, Option<&str>)> = found
        .iter()
        .map(|server| (server.name.as_str(), server.models.len(), server.loading, server.provider.as_deref()))
        .collect();
    assert_eq!(shown, [("Ollama", 2, false, None), ("llama.cpp", 0, true, None)], "who is there, by name");
    set_up(&bench, "my models", ProviderKind::OpenAiCompatible, &ready.base_url()).await;
    let again = bench.service.local_servers().await.unwrap();
    assert_eq!(again[0].provider.as_deref(), Some("my models"), "one that is set up is not offered twice");
}

#[tokio::test]
async fn a_cap_on_tokens_stops_the_task_with_words() {
    for kind in KINDS {
        let listing = || answer(kind, "", Some(("list_files", json!({ "path": "." }))));
        let server =
            ModelServer::start(vec![listing(), listing(), listing(), answer(kind, "done", None)]).await;
        let bench = Bench::new().await;
        set_up(&bench, "here", kind, &server.base_url()).await;
        let capped = SettingsView { tokens_per_task: Some(200), ..SettingsView::default() };
        bench.service.save_settings(&capped).await.unwrap();
        let task = start(&bench, "here").await;
        let stop = bench.service.run_to_stop(&task).await.unwrap();
        assert_eq!(
            (stop.status, stop.code),
            (TaskStatus::Failed, Some(ErrorCode::TokenLimit)),
            "{kind:?}: the task's own cap"
        );
        assert_eq!(server.requests().len(), 2, "{kind:?}: 120 tokens a call, so two calls and no third");
        let usage = bench.service.task(&task).await.unwrap().usage;
        let used = TokenUsage { input: 200, output: 40, estimated: false };
        assert_eq!(usage, used, "{kind:?}: kept with the task, cached tokens included");
        let words = bench.events(&task).await.into_iter().find_map(|event| match event {
            Event::StatusChanged { status: TaskStatus::Failed, detail, .. } => detail,
            _ => None,
        });
        assert!(words.unwrap().contains("240 tokens"), "{kind:?}: and it is said how many");

        let daily = SettingsView { tokens_per_day: Some(240), ..SettingsView::default() };
        bench.service.save_settings(&daily).await.unwrap();
        let task = start(&bench, "here").await;
        let stop = bench.service.run_to_stop(&task).await.unwrap();
        assert_eq!(stop.code, Some(ErrorCode::TokenLimit), "{kind:?}: the day's cap is used up: {stop:?}");
        assert_eq!(server.requests().len(), 2, "{kind:?}: nothing more was asked");
        let free = SettingsView::default();
        bench.service.save_settings(&free).await.unwrap();
        let task = start(&bench, "here").await;
        bench.service.run_to_stop(&task).await.unwrap();
        assert_eq!(server.requests().len(), 4, "{kind:?}: without a cap it goes on");
    }
}

#[tokio::test]
async fn tokens_are_counted_by_day_and_provider() {
    let clock = Arc::new(FixedClock::at_text("2026-02-28T23:00:00Z"));
    let of_bench = clock.clone();
    let bench = Bench::with(move |options| options.clock = of_bench).await;
    let kinds = [("open", ProviderKind::OpenAiCompatible), ("claude", ProviderKind::Anthropic)];
    let mut servers = Vec::new();
    for (name, kind) in kinds {
        let silent = Reply::json(
            200,
            &json!({ "choices": [{ "message": { "content": "yes" }, "finish_reason": "stop" }],
            "type": "message", "content": [{ "type": "text", "text": "yes" }], "stop_reason": "end_turn" }),
        );
        let server =
            ModelServer::start(vec![answer(kind, "yes", None), answer(kind, "yes", None), silent]).await;
        set_up(&bench, name, kind, &server.base_url()).await;
        servers.push(server);
    }
    for day in 0..3 {
        for (name, _) in kinds {
            let task = start(&bench, name).await;
            let stop = bench.service.run_to_stop(&task).await.unwrap();
            assert_eq!(stop.status, TaskStatus::Completed, "{name}, day {day}: {stop:?}");
        }
        clock.advance(Duration::from_secs(86_400));
    }
    let rows = bench.service.usage(30).await.unwrap();
    let exact = TokenUsage { input: 100, output: 20, estimated: false };
    let shown: Vec<(&str, &str, bool)> =
        rows.iter().map(|row| (row.day.as_str(), row.provider.as_str(), row.usage.estimated)).collect();
    let expected = [
        ("2026-03-02", "claude", true),
        ("2026-03-02", "open", true),
        ("2026-03-01", "claude", false),
        ("2026-03-01", "open", false),
        ("2026-02-28", "claude", false),
        ("2026-02-28", "open", false),
    ];
    assert_eq!(shown, expected, "the newest day first; a day without figures of the server is an estimate");
    assert!(rows[2..].iter().all(|row| row.usage == exact), "the servers' own figures: {rows:?}");
    assert!(rows[0].usage.total() > 0, "an estimate is not nothing");
    assert_eq!(bench.service.usage(2).await.unwrap().len(), 2, "today (nothing) and the day before");
    for days in [0, 100_000] {
        let code = bench.service.usage(days).await.unwrap_err().code();
        assert_eq!(code, ErrorCode::Usage, "{days} days cannot be shown");
    }
}

#[tokio::test]
async fn an_address_that_was_changed_asks_again_before_anything_goes_there() {
    for kind in KINDS {
        let server = ModelServer::start(vec![answer(
            kind,
            "",
            Some(("write_file", json!({ "path": "a.md", "content": "x\n" }))),
        )])
        .await;
        let bench = Bench::new().await;
        set_up(&bench, "mine", kind, &server.base_url()).await;
        let task = start(&bench, "mine").await;
        let stop = bench.service.run_to_stop(&task).await.unwrap();
        assert_eq!(stop.status, TaskStatus::WaitingApproval, "{kind:?}: it stops at a card");
        set_up(&bench, "mine", kind, "https://models.invalid/v1").await;
        let card = bench.service.task(&task).await.unwrap().waiting_approval.unwrap();
        bench.service.approve(crate::support::yes(&ApprovalId::from_text(card))).await.unwrap();
        let stop = bench.service.run_to_stop(&task).await.unwrap();
        assert_eq!(
            (stop.status, stop.code),
            (TaskStatus::Interrupted, Some(ErrorCode::ConsentRequired)),
            "{kind:?}: what was agreed to was another address"
        );
        let error = bench.service.resume_task(&task).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ConsentRequired, "{kind:?}: going on asks first");
        assert_eq!(error.subject(), Some("models.invalid"), "{kind:?}: about the host");
        bench.service.give_consent(&bench.workspace, "mine").await.unwrap();
        bench.service.resume_task(&task).await.unwrap();
        let stop = bench.service.run_to_stop(&task).await.unwrap();
        assert_eq!(stop.code, Some(ErrorCode::KeyringMissing), "{kind:?}: agreed; now it lacks a key");
        set_up(&bench, "mine", kind, "https://elsewhere.invalid/v1").await;
        let code = bench.service.resume_task(&task).await.unwrap_err().code();
        assert_eq!(code, ErrorCode::ConsentRequired, "{kind:?}: a third host is a third question");
        assert_eq!(server.requests().len(), 1, "{kind:?}: nothing more was sent anywhere");
    }
}

#[tokio::test]
async fn a_key_is_in_no_file_of_the_data_folder() {
    for kind in KINDS {
        let echo = refused(401, &format!("the key {KEY} is not known"));
        let server = ModelServer::start(vec![
            answer(kind, "", Some(("list_files", json!({ "path": "." })))),
            echo.clone(),
            echo.clone(),
            echo,
        ])
        .await;
        let bench = Bench::new().await;
        set_up(&bench, "mine", kind, &server.base_url()).await;
        bench.service.save_key("mine", SecretString::from(KEY)).await;
        let task = start(&bench, "mine").await;
        let stop = bench.service.run_to_stop(&task).await.unwrap();
        assert_eq!(stop.code, Some(ErrorCode::ProviderUnauthorized), "{kind:?}: the server repeats the key");
        let view = bench.service.test_provider(bench.service.saved_draft("mine").await.unwrap()).await;
        assert!(!format!("{view:?}").contains("canary"), "{kind:?}: no view holds it: {view:?}");
        assert!(
            format!("{:?}", server.requests()).contains(KEY),
            "{kind:?}: it was sent, so the search is not over nothing"
        );
        let events = serde_json::to_string(&bench.service.task_events(&task, 0).await.unwrap()).unwrap();
        assert!(events.contains("unauthorized") && !events.contains("canary"), "{kind:?}: no event holds it");
        for entry in std::fs::read_dir(bench.data()).unwrap().flatten().filter(|entry| entry.path().is_file())
        {
            let bytes = std::fs::read(entry.path()).unwrap();
            let holds = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!holds, "{kind:?}: {:?} holds the key", entry.file_name());
        }
    }
}
