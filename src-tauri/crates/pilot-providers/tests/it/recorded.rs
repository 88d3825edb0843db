//! Traffic as real servers send it: our own fixtures in their shapes always, the recordings where they lie beside the
//! checkout. Every answer must come out the same wherever its bytes are cut.

use crate::stage::{Heard, config, goal, tools};
use pilot_agent::{ModelAnswer, ModelError, ModelProvider, ModelRequest};
use pilot_providers::{HttpProvider, WireFormat};
use pilot_testkit::{ModelServer, Recording, exchanges, recordings, shared_folder};
use pilot_types::{CallProblem, ErrorCode, TokenUsage};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Plays the exchanges as they are and cut in three other ways; all must give the same answers.
async fn play(
    format: WireFormat,
    name: &str,
    exchanges: &[Recording],
) -> Vec<Result<ModelAnswer, ModelError>> {
    let whole = play_once(format, exchanges, None).await;
    for seed in [1, 7, 2026] {
        assert_eq!(play_once(format, exchanges, Some(seed)).await, whole, "{name}: cut by seed {seed}");
    }
    whole
}

async fn play_once(
    format: WireFormat,
    exchanges: &[Recording],
    seed: Option<u64>,
) -> Vec<Result<ModelAnswer, ModelError>> {
    let reply = |exchange: &Recording| match seed {
        Some(seed) => exchange.reply.clone().split(seed),
        None => exchange.reply.clone(),
    };
    let server = ModelServer::start(exchanges.iter().map(reply).collect()).await;
    let mut config = config(format, &server);
    if let Some(patience) = config.patience.as_mut() {
        patience.attempts = 1;
        patience.loading = std::time::Duration::ZERO;
    }
    let provider = HttpProvider::new(config).unwrap();
    let (messages, tools) = (goal(), tools());
    let mut answers = Vec::new();
    for _ in exchanges {
        let heard = Heard::default();
        let request = ModelRequest { messages: &messages, tools: &tools };
        let answer = provider.answer(request, &heard, &CancellationToken::new()).await;
        if let Ok(answer) = &answer {
            let heard = heard.0.into_inner().unwrap();
            assert!(answer.text.is_empty() || answer.text == heard, "what was streamed is what was answered");
        }
        answers.push(answer);
    }
    answers
}

fn shown(answer: &ModelAnswer) -> Vec<(String, Value, Option<CallProblem>)> {
    answer.calls.iter().map(|call| (call.tool.clone(), call.arguments.clone(), call.problem)).collect()
}

fn one(answers: Vec<Result<ModelAnswer, ModelError>>) -> ModelAnswer {
    answers.into_iter().next().unwrap().unwrap()
}

macro_rules! fixture {
    ($name:literal) => {
        fixture!(WireFormat::OpenAi, $name)
    };
    ($format:expr, $name:literal) => {
        play($format, $name, &exchanges(include_str!(concat!("fixtures/", $name)))).await
    };
}

#[tokio::test]
async fn a_task_of_three_calls_is_read_step_by_step() {
    let answers: Vec<ModelAnswer> =
        fixture!("three-step-task.jsonl").into_iter().map(Result::unwrap).collect();
    assert_eq!(shown(&answers[0]), [("list_files".to_owned(), json!({ "path": "." }), None)], "step 1");
    let analysed = json!({ "path": "ledger.csv", "outlier_multiplier": 3 });
    assert_eq!(shown(&answers[1]), [("analyze_table".to_owned(), analysed, None)], "step 2");
    let written = &answers[2].calls[0];
    assert_eq!(
        (written.tool.as_str(), written.id.as_str()),
        ("write_file", "qK83"),
        "step 3 keeps the server's id"
    );
    assert!(
        written.arguments["content"].as_str().unwrap().contains("| 青禾样例办公 | 2,450.00 |"),
        "a Chinese table out of three-character pieces: {}",
        written.arguments
    );
    assert_eq!(answers[3].text, "The report is in 汇总.md.", "step 4 are words");
    assert_eq!(
        answers[3].usage,
        TokenUsage { input: 790, output: 9, estimated: false },
        "usage of an event without choices"
    );
}

#[tokio::test]
async fn parallel_calls_come_in_order() {
    let answer = one(fixture!("parallel-calls.jsonl"));
    let tools: Vec<&str> = answer.calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["list_files", "read_file", "write_file"], "as the model asked for them");
    assert!(answer.calls.iter().all(|call| call.problem.is_none()), "all are whole");
}

#[tokio::test]
async fn a_call_written_as_text_is_a_call() {
    let answer = one(fixture!("call-as-text.jsonl"));
    assert_eq!(
        shown(&answer),
        [("list_files".to_owned(), json!({ "path": "." }), None)],
        "a lone fence names a known tool"
    );
    assert_eq!(answer.text, "", "and is no text besides");
}

#[tokio::test]
async fn a_call_cut_at_the_models_limit_is_marked() {
    for answers in [fixture!("truncated-call.jsonl"), fixture!("truncated-call-whole.jsonl")] {
        let answer = one(answers);
        assert_eq!(
            shown(&answer),
            [("write_file".to_owned(), json!({}), Some(CallProblem::Truncated))],
            "never run"
        );
    }
}

#[tokio::test]
async fn answers_that_are_not_streamed_are_read_too() {
    let answers: Vec<ModelAnswer> =
        fixture!("whole-completions.jsonl").into_iter().map(Result::unwrap).collect();
    assert_eq!(shown(&answers[0]), [("list_files".to_owned(), json!({ "path": "." }), None)], "a call");
    assert_eq!(answers[1].text, "完成。", "words");
    assert_eq!(answers[0].usage, TokenUsage { input: 475, output: 20, estimated: false }, "usage");
}

#[tokio::test]
async fn chinese_words_survive_every_cut() {
    let answer = one(fixture!("words-zh.jsonl"));
    assert_eq!(answer.text, "发票是商家开给买家的凭证。✓", "no character is broken");
}

#[tokio::test]
async fn errors_keep_their_code_and_words() {
    let error = fixture!("error-400.jsonl").remove(0).unwrap_err();
    assert_eq!(error.code, ErrorCode::ProviderRejected, "a request that the server refuses");
    assert!(error.detail.contains("'messages' is required"), "with its words: {}", error.detail);
    let error = fixture!("error-503-loading.jsonl").remove(0).unwrap_err();
    assert_eq!(error.code, ErrorCode::ProviderLoading, "a model that is still being loaded");
}

/// Written by hand after the documentation of the format, line by line as a server sends it: event names, pings, thinking,
/// kinds that nobody knows yet.
#[tokio::test]
async fn a_task_in_anthropics_format_is_read_step_by_step() {
    let answers = fixture!(WireFormat::Anthropic, "anthropic-task.jsonl");
    let whole = |at: usize| answers[at].as_ref().unwrap();
    assert_eq!(whole(0).text, "我先看看有哪些文件。", "words before a call");
    assert_eq!(shown(whole(0)), [("list_files".to_owned(), json!({ "path": "." }), None)], "step 1");
    assert_eq!(whole(0).calls[0].id.as_str(), "toolu_01A", "the server's id is kept");
    assert_eq!(
        whole(0).usage,
        TokenUsage { input: 2_130, output: 61, estimated: false },
        "what came out of the cache and went into it was sent too"
    );
    let both = [
        ("read_file".to_owned(), json!({ "path": "进项发票/一月.csv" }), None),
        ("analyze_table".to_owned(), json!({ "path": "ledger.csv", "outlier_multiplier": 3 }), None),
    ];
    assert_eq!(shown(whole(1)), both, "step 2: two calls, thinking between them left out");
    let cut = &whole(2).calls[0];
    assert_eq!(
        (cut.tool.as_str(), cut.problem, &cut.arguments),
        ("write_file", Some(CallProblem::Truncated), &json!({})),
        "step 3: a call at the end of the model's tokens is never run"
    );
    assert_eq!(whole(3).text, "报告写好了：合计 ¥2,450.00 ✓", "step 4: words in pieces of bytes");
    assert_eq!(whole(4).text, "In one piece.", "step 5: a server that does not stream");
    let codes: Vec<ErrorCode> = answers[5..].iter().map(|answer| answer.as_ref().unwrap_err().code).collect();
    let expected = [
        ErrorCode::ProviderUnauthorized,
        ErrorCode::ProviderModelMissing,
        ErrorCode::ProviderUnavailable,
        ErrorCode::ProviderStreamBroken,
    ];
    assert_eq!(codes, expected, "a refused key, a missing model, an overload, and a stream that stops");
}

/// What every recording must give, whatever the model said.
#[tokio::test]
async fn the_recordings_of_a_real_server_are_read() {
    if shared_folder().is_none() {
        println!("skipped: no recordings beside the checkout");
        return;
    }
    // Name, tools called in each answer, calls with a problem.
    let table: [(&str, &[&[&str]], usize); 11] = [
        ("qwen15-stop-stream-task0.jsonl", &[&["list_files"], &["analyze_table"], &["write_file"], &[]], 0),
        ("qwen15-stop-stream-task1.jsonl", &[&["list_files"], &["analyze_table"], &["write_file"], &[]], 0),
        ("qwen15-stop-plain-task0.jsonl", &[&["list_files"], &["analyze_table"], &["write_file"], &[]], 0),
        ("qwen15-stop-reject.jsonl", &[&["list_files"], &["analyze_table"], &["write_file"], &[]], 0),
        (
            "qwen15-fence-stream-en.jsonl",
            &[&["list_files"], &["analyze_table"], &["write_file"], &["write_file"], &["write_file"]],
            0,
        ),
        ("qwen15-fence-vague2.jsonl", &[&["analyze_table"], &["write_file"], &["write_file"]], 0),
        ("qwen15-stop-sys2-task3.jsonl", &[&["write_file"], &[]], 0),
        ("qwen05-bare-stream.jsonl", &[&["list_files", "analyze_table", "write_file"], &[]], 0),
        ("qwen15-ORIGINAL-template-call-as-text.jsonl", &[&["list_files"]], 0),
        ("qwen15-truncated-tool-call.jsonl", &[&["write_file"]], 1),
        ("qwen15-truncated-tool-call-plain.jsonl", &[&["write_file"]], 1),
    ];
    for (name, expected, problems) in table {
        let exchanges = recordings(name);
        assert!(!exchanges.is_empty(), "{name} is read");
        let answers: Vec<ModelAnswer> =
            play(WireFormat::OpenAi, name, &exchanges).await.into_iter().map(Result::unwrap).collect();
        let tools: Vec<Vec<&str>> = answers
            .iter()
            .map(|answer| answer.calls.iter().map(|call| call.tool.as_str()).collect())
            .collect();
        assert_eq!(tools, expected, "{name}: calls in each answer");
        let marked =
            answers.iter().flat_map(|answer| &answer.calls).filter(|call| call.problem.is_some()).count();
        assert_eq!(marked, problems, "{name}: calls that must not run");
        assert!(
            answers.iter().all(|answer| !answer.usage.estimated),
            "{name}: the server's own usage is read"
        );
    }
}
