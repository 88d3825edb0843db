//! The built-in helper through the real loop, with tools that give prepared results.

use async_trait::async_trait;
use pilot_agent::{
    AuthorizedCall, Checkpoint, Clock, DeltaSink, EventSink, Gate, RunOutcome, RunPorts, RunStart, SinkError,
    Tool, ToolContext, ToolError, ToolRegistry, rebuild, run_task,
};
use pilot_providers::OfflineProvider;
use pilot_testkit::FixedClock;
use pilot_types::{
    Capability, ErrorCode, Event, PreparedEffect, Risk, TaskId, TaskLimits, ToolCall, ToolResult, ToolSpec,
    Verdict,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

const ANALYSIS: &str = include_str!("fixtures/analysis.json");
const LISTING: &str = r#"{"path":".","entries":[{"path":"进项发票","kind":"folder"},{"path":"进项发票/a.pdf","kind":"file"},{"path":"invoices","kind":"folder"}],"total":3,"cut":false}"#;
const DEMO_ZH: &str = "汇总这个文件夹里的发票：按供应商和月份合计，标出需要再看一眼的地方，写一份报告。";
const DEMO_EN: &str = "Summarise the invoices in this folder by supplier and month, mark what needs a second look, and write a report.";

/// A tool with one prepared answer.
struct Canned {
    spec: ToolSpec,
    answer: Result<String, ToolError>,
    asked: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl Tool for Canned {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, call: &ToolCall, _context: &ToolContext) -> Result<PreparedEffect, ToolError> {
        let text = |name: &str| call.arguments[name].as_str().unwrap_or_default().to_owned();
        Ok(PreparedEffect::WriteFile { path: text("path"), bytes: text("content").into_bytes(), base: None })
    }

    async fn run(&self, call: AuthorizedCall, _context: &ToolContext) -> Result<String, ToolError> {
        self.asked.lock().unwrap().push(call.call().arguments.clone());
        self.answer.clone()
    }
}

struct Suffix;

#[async_trait]
impl Gate for Suffix {
    async fn decide(&self, spec: &ToolSpec, _call: &ToolCall) -> Verdict {
        let reason = String::new();
        if spec.capability.as_str().ends_with("read") {
            Verdict::Allow { reason }
        } else {
            Verdict::RequireApproval { reason }
        }
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<Event>>);

impl DeltaSink for Kept {
    fn text(&self, _piece: &str) {}
}

#[async_trait]
impl EventSink for Kept {
    async fn append(&self, events: Vec<Event>) -> Result<(), SinkError> {
        self.0.lock().unwrap().extend(events);
        Ok(())
    }

    async fn cancel_requested(&self) -> Result<bool, SinkError> {
        Ok(false)
    }
}

/// A folder as the tools show it.
struct Folder {
    goal: &'static str,
    listing: Result<String, ToolError>,
    skill: Result<String, ToolError>,
    analysis: Result<String, ToolError>,
    asked: Arc<Mutex<Vec<Value>>>,
    kept: Kept,
}

impl Folder {
    fn new(goal: &'static str) -> Self {
        Self {
            goal,
            listing: Ok(LISTING.to_owned()),
            skill: Ok("{\"text\":\"manual\"}".to_owned()),
            analysis: Ok(ANALYSIS.to_owned()),
            asked: Arc::default(),
            kept: Kept::default(),
        }
    }

    async fn go(&self) -> RunOutcome {
        let start = rebuild(&self.kept.0.lock().unwrap().clone(), self.goal);
        self.run(start).await
    }

    async fn run(&self, start: RunStart) -> RunOutcome {
        let mut tools = ToolRegistry::new();
        let answers = [
            ("list_files", "file:read", self.listing.clone()),
            ("expand_skill", "skill:read", self.skill.clone()),
            ("analyze_table", "file:read", self.analysis.clone()),
            ("write_file", "file:write", Ok(String::new())),
        ];
        for (name, capability, answer) in answers {
            let spec = ToolSpec {
                name: name.to_owned(),
                description: String::new(),
                capability: Capability::declared(capability),
                risk: Risk::Low,
                parameters: json!({ "type": "object" }),
                path_fields: Vec::new(),
            };
            tools.register(Arc::new(Canned { spec, answer, asked: Arc::clone(&self.asked) })).unwrap();
        }
        let clock = FixedClock::at_text("2026-09-30T08:00:00Z");
        let clock: &dyn Clock = &clock;
        let ports = RunPorts {
            task: &TaskId::from_text("task"),
            provider: &OfflineProvider::new(),
            tools: &tools,
            gate: &Suffix,
            sink: &self.kept,
            clock,
            limits: TaskLimits::default(),
            cancel: CancellationToken::new(),
        };
        run_task(start, &ports).await
    }

    async fn card(&self) -> Checkpoint {
        match self.go().await {
            RunOutcome::Paused(checkpoint) => *checkpoint,
            other => panic!("a card should be shown, the run ended as {other:?}"),
        }
    }

    /// Decides the card as the service does, and goes on.
    async fn decide(&self, checkpoint: &Checkpoint, result: ToolResult) -> String {
        let ToolResult { ok, code, content } = result;
        let (call_id, tool) = (checkpoint.call.id.clone(), checkpoint.call.tool.clone());
        self.kept.0.lock().unwrap().push(Event::ToolResult { call_id, tool, ok, code, content, millis: 0 });
        self.words().await
    }

    async fn words(&self) -> String {
        match self.go().await {
            RunOutcome::Completed { text } => text,
            other => panic!("the task should end with words, it ended as {other:?}"),
        }
    }
}

fn proposal(checkpoint: &Checkpoint) -> (String, String) {
    match &checkpoint.effect {
        PreparedEffect::WriteFile { path, bytes, .. } => {
            (path.clone(), String::from_utf8(bytes.clone()).unwrap())
        }
        PreparedEffect::Outside { .. } => panic!("the helper writes a file"),
    }
}

/// Every run of digits in a text, without thousands separators.
fn figures(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    let mut now = String::new();
    for (place, character) in characters.iter().enumerate() {
        let next_is_digit = characters.get(place + 1).is_some_and(char::is_ascii_digit);
        match character {
            digit if digit.is_ascii_digit() => now.push(*digit),
            '.' if !now.is_empty() && next_is_digit => now.push('.'),
            ',' if !now.is_empty() && next_is_digit => {}
            _ if !now.is_empty() => found.push(std::mem::take(&mut now)),
            _ => {}
        }
    }
    found.extend((!now.is_empty()).then_some(now));
    found
}

#[tokio::test]
async fn the_playbook_looks_reads_analyses_and_proposes_one_file() {
    for (goal, path, expected) in [
        (DEMO_ZH, "汇总/发票汇总.md", include_str!("fixtures/report-zh.md")),
        (DEMO_EN, "reports/invoice-summary.md", include_str!("fixtures/report-en.md")),
    ] {
        let folder = Folder::new(goal);
        let card = folder.card().await;
        assert_eq!(
            *folder.asked.lock().unwrap(),
            [json!({}), json!({ "name": "invoice-summary" }), json!({ "path": "." })],
            "{goal}: list, manual, whole folder"
        );
        let (proposed, report) = proposal(&card);
        assert_eq!(proposed, path, "{goal}: one file in the language of the goal");
        assert_eq!(report, expected, "{goal}: the report, byte for byte");
        assert!(card.rest.is_empty(), "{goal}: nothing else is proposed");
    }
}

#[tokio::test]
async fn every_figure_of_the_report_stands_in_the_analysis() {
    // 4392 and 4392.00 are one figure.
    let bare = |figure: &str| match figure.contains('.') {
        true => figure.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => figure.to_owned(),
    };
    let known: Vec<String> = figures(ANALYSIS).iter().map(|figure| bare(figure)).collect();
    for goal in [DEMO_ZH, DEMO_EN] {
        let (_, report) = proposal(&Folder::new(goal).card().await);
        for figure in figures(&report) {
            assert!(
                known.contains(&bare(&figure)),
                "{goal}: {figure} stands in the report and not in the analysis"
            );
        }
        for total in ["38262.20", "4392.00"] {
            assert!(report.contains(total), "{goal}: the total {total} stands there in plain digits");
        }
    }
}

#[tokio::test]
async fn the_same_folder_gives_the_same_report() {
    let first = proposal(&Folder::new(DEMO_ZH).card().await);
    assert_eq!(proposal(&Folder::new(DEMO_ZH).card().await), first, "no clock and no chance");
}

#[tokio::test]
async fn closing_words_say_what_was_written_and_what_to_look_at() {
    let folder = Folder::new(DEMO_EN);
    let card = folder.card().await;
    let written = ToolResult::ok(r#"{"path":"elsewhere/edited.md","size":1,"digest":"x","created":true}"#);
    let words = folder.decide(&card, written).await;
    for part in [
        "elsewhere/edited.md",
        "38,262.20",
        "4,392.00",
        "17 files",
        "26 records",
        "3 not read",
        "2 left aside",
    ] {
        assert!(words.contains(part), "{part:?} in {words}");
    }
    let folder = Folder::new(DEMO_ZH);
    let card = folder.card().await;
    let words = folder.decide(&card, ToolResult::ok("{\"path\":\"汇总/发票汇总.md\"}")).await;
    for part in ["汇总/发票汇总.md", "CNY 38,262.20", "1 组重复"] {
        assert!(words.contains(part), "{part:?} in {words}");
    }
}

#[tokio::test]
async fn after_a_no_nothing_more_is_tried() {
    for (goal, part) in [(DEMO_ZH, "没有写入任何文件"), (DEMO_EN, "nothing was written")] {
        let folder = Folder::new(goal);
        let card = folder.card().await;
        let words =
            folder.decide(&card, ToolResult::failed(ErrorCode::ApprovalRejected, "rejected: too long")).await;
        assert!(words.contains(part), "{goal}: {words}");
    }
    let folder = Folder::new(DEMO_EN);
    let card = folder.card().await;
    let words = folder.decide(&card, ToolResult::failed(ErrorCode::DiskFull, "no space left")).await;
    assert!(
        words.contains("Nothing was written") && words.contains("no space left"),
        "the reason is named: {words}"
    );
    let folder = Folder::new(DEMO_EN);
    let card = folder.card().await;
    let words = folder.decide(&card, ToolResult::failed(ErrorCode::OutcomeUnknown, "cut off")).await;
    assert!(
        words.contains("cannot be known") && !words.contains("othing was written"),
        "no false comfort: {words}"
    );
}

#[tokio::test]
async fn a_named_folder_is_the_only_one_that_is_read() {
    let folder = Folder::new("汇总「进项发票」文件夹里的发票");
    let card = folder.card().await;
    assert_eq!(folder.asked.lock().unwrap()[2], json!({ "path": "进项发票" }), "as the listing shows it");
    assert!(proposal(&card).1.contains("范围：「进项发票」"), "and the report says so");
    let folder = Folder::new("Summarise the invoices in the \"receipts\" folder");
    let words = folder.words().await;
    assert!(
        words.contains("receipts") && words.contains("nothing was written"),
        "never silently another folder: {words}"
    );
    assert_eq!(folder.asked.lock().unwrap().len(), 1, "only the listing was read");
}

#[tokio::test]
async fn a_folder_with_nothing_to_sum_up_gets_words_and_no_card() {
    let mut folder = Folder::new(DEMO_ZH);
    folder.analysis = Ok(r#"{"rows":0,"files":1,"unread_rows":[{"source":{"file":"scan.pdf","row":0},"code":"document_scanned","reason":""}]}"#.to_owned());
    let words = folder.words().await;
    assert!(words.contains("没有写任何文件") && words.contains("scan.pdf"), "{words}");
    let mut folder = Folder::new(DEMO_EN);
    folder.analysis = Err(ToolError::new(ErrorCode::NotFound, "there is no table or invoice document"));
    let words = folder.words().await;
    assert!(words.contains("nothing was written"), "{words}");
}

#[tokio::test]
async fn steps_that_fail_end_in_words() {
    let mut folder = Folder::new(DEMO_EN);
    folder.listing = Err(ToolError::new(ErrorCode::PermissionDenied, "no access"));
    assert!(folder.words().await.contains("no access"), "the listing is needed");
    let mut folder = Folder::new(DEMO_EN);
    folder.analysis = Err(ToolError::new(ErrorCode::DocumentTimeout, "took too long"));
    assert!(folder.words().await.contains("took too long"), "so is the analysis");
    let mut folder = Folder::new(DEMO_EN);
    folder.analysis = Ok("{\"rows\":1,\"totals\":".to_owned());
    assert!(folder.words().await.contains("could not be read"), "an answer cut in half is not guessed at");
    let mut folder = Folder::new(DEMO_EN);
    folder.skill = Err(ToolError::new(ErrorCode::SkillNotFound, "no skill of that name"));
    assert_eq!(proposal(&folder.card().await).0, "reports/invoice-summary.md", "the manual is not");
}

#[tokio::test]
async fn other_goals_get_plain_words() {
    for (goal, part) in
        [("写一首诗", "内置助手"), ("What is an invoice?", "built-in helper"), ("", "built-in helper")]
    {
        let folder = Folder::new(goal);
        let words = folder.words().await;
        assert!(words.contains(part) && words.contains("POCKETPILOT_BASE_URL"), "{goal}: {words}");
        assert!(folder.asked.lock().unwrap().is_empty(), "{goal}: nothing is read");
    }
}
