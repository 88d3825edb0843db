//! Every table keeps what it was given.

use crate::support::{approval, at, execution, noted, seed, task, workspace};
use chrono::NaiveDate;
use pilot_store::{
    ApprovalEdit, ArtifactRow, EditRow, ExecutionRow, Store, StoreError, WorkspaceRow, approvals, artifacts,
    consents, edits, events, executions, retention, settings, tasks, usage, workspaces,
};
use pilot_types::{
    ApprovalId, ApprovalStatus, ArtifactId, CallId, CallProblem, Digest, ErrorCode, ExecutionOutcome,
    OperationId, ProcessId, ProviderChoice, Script, ScriptStep, SessionId, Source, Task, TaskLimits,
    TaskStatus, TokenUsage, ToolCall, WorkspaceId,
};
use serde_json::json;

#[tokio::test]
async fn workspaces_keep_what_they_were_given() {
    let store = Store::open_in_memory().await.unwrap();
    let mut tx = store.begin().await.unwrap();
    let (one, two) = (workspace("one"), WorkspaceRow { used_at: at(5), ..workspace("two") });
    workspaces::insert(&mut tx, &one).await.unwrap();
    workspaces::insert(&mut tx, &two).await.unwrap();
    assert_eq!(workspaces::get(&mut tx, &one.id).await.unwrap(), Some(one.clone()), "a row reads back whole");
    assert_eq!(
        workspaces::by_root(&mut tx, &one.root).await.unwrap(),
        Some(one.clone()),
        "found by its folder"
    );
    assert_eq!(
        workspaces::list(&mut tx).await.unwrap(),
        [two.clone(), one.clone()],
        "the one used last stands first"
    );
    workspaces::touch(&mut tx, &one.id, at(9)).await.unwrap();
    workspaces::touch(&mut tx, &one.id, at(3)).await.unwrap();
    let moved = WorkspaceRow { root: "/mnt/disk/one".to_owned(), used_at: at(9), ino: 5, ..one.clone() };
    assert!(workspaces::update(&mut tx, &moved).await.unwrap(), "a folder that moved can be pointed to");
    assert_eq!(
        workspaces::list(&mut tx).await.unwrap(),
        [moved.clone(), two.clone()],
        "an older use changes nothing"
    );

    let twice = WorkspaceRow { id: WorkspaceId::from_text("three"), ..two.clone() };
    let refused = workspaces::insert(&mut tx, &twice).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::AlreadyExists, "one folder is one workspace: {refused}");
    assert!(workspaces::remove(&mut tx, &two.id, at(20)).await.unwrap(), "it was on the list");
    assert!(!workspaces::remove(&mut tx, &two.id, at(21)).await.unwrap(), "it was removed already");
    assert_eq!(workspaces::by_root(&mut tx, &two.root).await.unwrap(), None, "a removed one does not count");
    workspaces::insert(&mut tx, &twice).await.unwrap();
    let removed = workspaces::get(&mut tx, &two.id).await.unwrap().unwrap();
    assert_eq!(removed.removed_at, Some(at(20)), "the removed row stays for its record");
}

#[tokio::test]
async fn consent_is_for_exactly_one_host() {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    consents::give(&mut tx, &task.workspace, "deepseek", "api.example.com", at(1)).await.unwrap();
    consents::give(&mut tx, &task.workspace, "deepseek", "api.example.com", at(2)).await.unwrap();
    assert!(
        consents::has(&mut tx, &task.workspace, "deepseek", "api.example.com").await.unwrap(),
        "it was given"
    );
    for (provider, host) in [("deepseek", "other.example.com"), ("qwen", "api.example.com")] {
        let has = consents::has(&mut tx, &task.workspace, provider, host).await.unwrap();
        assert!(!has, "{provider} at {host} was never agreed to");
    }
}

#[tokio::test]
async fn tasks_keep_what_they_were_given() {
    let store = Store::open_in_memory().await.unwrap();
    seed(&store).await;
    let script =
        Script { version: 1, steps: vec![ScriptStep { text: "hello".to_owned(), ..ScriptStep::default() }] };
    let full = Task {
        session: Some(SessionId::from_text("s")),
        code: Some(ErrorCode::StepLimit),
        status: TaskStatus::Failed,
        provider: ProviderChoice::Scripted { label: "demo".to_owned(), script },
        limits: TaskLimits { max_steps: 5, max_millis: u64::MAX, max_tokens: Some(1_000) },
        steps: 5,
        elapsed_millis: 77,
        usage: TokenUsage { input: 10, output: 20, estimated: true },
        cancel_requested: true,
        ..task("full", "w", 2)
    };
    let mut tx = store.begin().await.unwrap();
    tasks::insert(&mut tx, &full).await.unwrap();
    let capped =
        Task { limits: TaskLimits { max_millis: i64::MAX.cast_unsigned(), ..full.limits }, ..full.clone() };
    assert_eq!(tasks::get(&mut tx, &full.id).await.unwrap(), Some(capped.clone()), "a row reads back whole");
    let all = tasks::list(&mut tx, None, 10).await.unwrap();
    assert_eq!(all, [capped.clone(), task("t", "w", 1)], "the newest stands first");
    assert_eq!(
        tasks::list(&mut tx, Some(&full.workspace), 1).await.unwrap(),
        std::slice::from_ref(&capped),
        "the limit holds"
    );
    assert_eq!(
        tasks::list(&mut tx, Some(&WorkspaceId::from_text("x")), 9).await.unwrap(),
        [],
        "another workspace"
    );
    assert_eq!(
        tasks::of_session(&mut tx, &SessionId::from_text("s")).await.unwrap(),
        [capped],
        "by conversation"
    );
    assert!(
        matches!(tasks::insert(&mut tx, &full).await, Err(StoreError::Duplicate { .. })),
        "an id is taken once"
    );
}

#[tokio::test]
async fn a_status_changes_only_from_where_it_stands() {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    let wrong = [TaskStatus::Running, TaskStatus::WaitingApproval];
    let moved = tasks::set_status(&mut tx, &task.id, &wrong, TaskStatus::Completed, None).await.unwrap();
    assert!(!moved, "a queued task cannot complete");
    let from = [TaskStatus::Queued, TaskStatus::Running];
    let moved = tasks::set_status(&mut tx, &task.id, &from, TaskStatus::Failed, Some(ErrorCode::TimeLimit))
        .await
        .unwrap();
    assert!(moved, "it stood at one of these");
    let usage = TokenUsage { input: 3, output: 4, estimated: false };
    tasks::progress(&mut tx, &task.id, 2, 900, usage).await.unwrap();
    let found = tasks::get(&mut tx, &task.id).await.unwrap().unwrap();
    let expected = Task {
        status: TaskStatus::Failed,
        code: Some(ErrorCode::TimeLimit),
        steps: 2,
        elapsed_millis: 900,
        usage,
        updated_at: found.updated_at,
        ..task.clone()
    };
    assert_eq!(found, expected, "status, code and totals are kept");
    assert!(found.updated_at > task.updated_at, "a change is dated");
    assert!(!tasks::request_cancel(&mut tx, &task.id).await.unwrap(), "what has ended cannot be stopped");
    assert!(!tasks::cancel_requested(&mut tx, &task.id).await.unwrap(), "and nothing was noted");
    assert_eq!(tasks::by_status(&mut tx, &[TaskStatus::Failed]).await.unwrap(), [found], "found by status");
    assert_eq!(tasks::count_by_status(&mut tx, TaskStatus::Queued).await.unwrap(), 0, "none is queued");
}

#[tokio::test]
async fn cancel_is_a_column_that_another_process_reads() {
    let place = crate::support::place();
    let (asker, runner) = (Store::open(&place.data).await.unwrap(), Store::open(&place.data).await.unwrap());
    let task = seed(&asker).await;
    let before = runner.data_version().await.unwrap();
    assert_eq!(runner.data_version().await.unwrap(), before, "nothing was committed in between");
    let mut reader = runner.read().await.unwrap();
    assert!(!tasks::cancel_requested(&mut reader, &task.id).await.unwrap(), "nobody asked yet");
    let mut tx = asker.begin().await.unwrap();
    assert!(tasks::request_cancel(&mut tx, &task.id).await.unwrap(), "a queued task can be stopped");
    assert!(!tasks::cancel_requested(&mut reader, &task.id).await.unwrap(), "not before it is committed");
    tx.commit().await.unwrap();
    assert!(
        tasks::cancel_requested(&mut reader, &task.id).await.unwrap(),
        "the other process sees it at once"
    );
    assert_ne!(runner.data_version().await.unwrap(), before, "and is woken by the version");
    let gone = pilot_types::TaskId::from_text("gone");
    assert!(
        tasks::cancel_requested(&mut reader, &gone).await.unwrap(),
        "a deleted task has nothing to go on with"
    );
}

#[tokio::test]
async fn a_card_keeps_its_call_its_bytes_and_its_history() {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let mut tx = store.begin().await.unwrap();
    let mut card = approval("a", &task);
    card.rest = vec![ToolCall {
        id: CallId::from_text("call-2"),
        tool: "list_files".to_owned(),
        arguments: json!({}),
        problem: Some(CallProblem::Truncated),
    }];
    approvals::insert(&mut tx, &card, b"\x00\xffbytes").await.unwrap();
    assert_eq!(
        approvals::get(&mut tx, &card.id).await.unwrap(),
        Some(card.clone()),
        "a card reads back whole"
    );
    assert_eq!(approvals::bytes(&mut tx, &card.id).await.unwrap(), b"\x00\xffbytes", "with the exact bytes");
    assert_eq!(
        approvals::pending_of_task(&mut tx, &task.id).await.unwrap(),
        Some(card.clone()),
        "its task waits"
    );
    assert_eq!(approvals::count_pending(&mut tx).await.unwrap(), 1, "one waits");

    let call = ToolCall { arguments: json!({"path": "other.md", "content": "x"}), ..card.call.clone() };
    let edit = ApprovalEdit {
        rev: 2,
        digest: call.digest(),
        call,
        path: Some("other.md".to_owned()),
        base: Some(Digest::of(b"old")),
        content_digest: Some(Digest::of(b"x")),
        flags: 0,
    };
    let stale = ApprovalEdit { rev: 3, ..edit.clone() };
    assert!(
        !approvals::set_edit(&mut tx, &card.id, &stale, b"y").await.unwrap(),
        "not on top of the revision shown"
    );
    assert!(
        approvals::set_edit(&mut tx, &card.id, &edit, b"x").await.unwrap(),
        "on top of the revision shown"
    );
    assert!(
        !approvals::set_edit(&mut tx, &card.id, &edit, b"z").await.unwrap(),
        "the same edit is not made twice"
    );
    let edited = approvals::get(&mut tx, &card.id).await.unwrap().unwrap();
    let expected = pilot_store::ApprovalRow {
        rev: 2,
        call: edit.call.clone(),
        digest: edit.digest.clone(),
        path: edit.path.clone(),
        base: edit.base.clone(),
        content_digest: edit.content_digest.clone(),
        flags: 0,
        edited: true,
        ..card.clone()
    };
    assert_eq!(edited, expected, "the edit replaces the call; the original stays");
    assert_eq!(
        approvals::bytes(&mut tx, &card.id).await.unwrap(),
        b"x",
        "and the bytes are those of the edit"
    );

    let (pending, executing) = (ApprovalStatus::Pending, ApprovalStatus::Executing);
    let by = Some("window");
    assert!(
        approvals::transition(&mut tx, &card.id, pending, executing, at(30), by, Some("ok"), None)
            .await
            .unwrap()
    );
    assert!(
        !approvals::transition(&mut tx, &card.id, pending, executing, at(31), by, None, None).await.unwrap()
    );
    assert!(
        !approvals::set_edit(&mut tx, &card.id, &ApprovalEdit { rev: 3, ..edit }, b"late").await.unwrap()
    );
    let code = Some(ErrorCode::TargetChanged);
    let to = ApprovalStatus::Replaced;
    assert!(
        approvals::transition(&mut tx, &card.id, executing, to, at(32), Some("system"), None, code)
            .await
            .unwrap()
    );
    let next = approval("b", &task);
    approvals::insert(&mut tx, &next, b"").await.unwrap();
    approvals::link_replacement(&mut tx, &card.id, &next.id).await.unwrap();
    let old = approvals::get(&mut tx, &card.id).await.unwrap().unwrap();
    assert_eq!(
        (
            old.decided_at,
            old.decided_by.as_deref(),
            old.note.as_deref(),
            old.code,
            old.replaced_by,
            old.replaces
        ),
        (Some(at(30)), by, Some("ok"), code, Some(next.id.clone()), None),
        "the person's decision is not overwritten by what came of it"
    );
    let new = approvals::get(&mut tx, &next.id).await.unwrap().unwrap();
    assert_eq!((new.replaces, new.replaced_by), (Some(card.id), None), "both cards know each other");
    let waiting: Vec<ApprovalId> =
        approvals::list(&mut tx, true, 10).await.unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(waiting, [next.id], "only the new card waits");
    assert_eq!(approvals::list(&mut tx, false, 10).await.unwrap().len(), 2, "all are kept");
}

#[tokio::test]
async fn an_approval_is_spent_once() {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let card = approval("a", &task);
    let mut tx = store.begin().await.unwrap();
    approvals::insert(&mut tx, &card, b"").await.unwrap();
    let row = execution("op-1", &card);
    executions::start(&mut tx, &row).await.unwrap();
    let refused = executions::start(&mut tx, &execution("op-2", &card)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::AlreadyExists, "one approval is at most one execution: {refused}");
    assert_eq!(executions::open_ones(&mut tx).await.unwrap(), std::slice::from_ref(&row), "it is under way");
    let code = Some(ErrorCode::OutcomeUnknown);
    let unknown = ExecutionOutcome::Unknown;
    assert!(executions::finish(&mut tx, &row.operation, unknown, code, at(40)).await.unwrap(), "closed once");
    assert!(
        !executions::finish(&mut tx, &row.operation, ExecutionOutcome::Done, None, at(41)).await.unwrap()
    );
    let closed = ExecutionRow { outcome: Some(unknown), code, finished_at: Some(at(40)), ..row };
    assert_eq!(
        executions::get_by_approval(&mut tx, &card.id).await.unwrap(),
        Some(closed),
        "the first end stays"
    );
    assert_eq!(executions::open_ones(&mut tx).await.unwrap(), [], "none is under way");
}

#[tokio::test]
async fn artifacts_settings_and_usage_keep_what_they_were_given() {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let card = approval("a", &task);
    let mut tx = store.begin().await.unwrap();
    approvals::insert(&mut tx, &card, b"").await.unwrap();
    let row = ArtifactRow {
        id: ArtifactId::from_text("f"),
        task: task.id.clone(),
        workspace: task.workspace.clone(),
        approval: card.id,
        path: "报告.md".to_owned(),
        size: 12,
        digest: Digest::of(b"new"),
        previous: Some(Digest::of(b"old")),
        created: false,
        at: at(50),
        undone_at: None,
    };
    artifacts::insert(&mut tx, &row).await.unwrap();
    assert_eq!(artifacts::get(&mut tx, &row.id).await.unwrap(), Some(row.clone()), "a row reads back whole");
    assert_eq!(
        artifacts::of_task(&mut tx, &task.id).await.unwrap(),
        std::slice::from_ref(&row),
        "found by its task"
    );
    assert_eq!(
        artifacts::list(&mut tx, None, 5).await.unwrap(),
        std::slice::from_ref(&row),
        "found in the list of all"
    );
    assert_eq!(
        artifacts::list(&mut tx, Some(&task.workspace), 5).await.unwrap(),
        std::slice::from_ref(&row),
        "and of its workspace"
    );
    assert!(artifacts::mark_undone(&mut tx, &row.id, at(60)).await.unwrap(), "taken back once");
    assert!(!artifacts::mark_undone(&mut tx, &row.id, at(61)).await.unwrap(), "not twice");

    assert_eq!(settings::get::<Vec<u32>>(&mut tx, "list").await.unwrap(), None, "never set");
    settings::set(&mut tx, "list", &vec![1, 2]).await.unwrap();
    settings::set(&mut tx, "list", &vec![3]).await.unwrap();
    assert_eq!(
        settings::get::<Vec<u32>>(&mut tx, "list").await.unwrap(),
        Some(vec![3]),
        "the last one counts"
    );
    let wrong = settings::get::<String>(&mut tx, "list").await.unwrap_err();
    assert_eq!(wrong.code(), ErrorCode::DatabaseCorrupt, "not what is asked for: {wrong}");
    assert!(settings::remove(&mut tx, "list").await.unwrap(), "it was set");

    let day = NaiveDate::from_ymd_opt(2026, 2, 28).unwrap();
    let (sure, guess) = (
        TokenUsage { input: 10, output: 1, estimated: false },
        TokenUsage { input: 5, output: 2, estimated: true },
    );
    usage::add(&mut tx, day, "offline", sure).await.unwrap();
    assert_eq!(usage::of_day(&mut tx, day).await.unwrap(), sure, "one account");
    usage::add(&mut tx, day, "qwen", guess).await.unwrap();
    usage::add(&mut tx, day, "qwen", guess).await.unwrap();
    let sum = TokenUsage { input: 20, output: 5, estimated: true };
    assert_eq!(
        usage::of_day(&mut tx, day).await.unwrap(),
        sum,
        "over all providers; an estimate makes the sum one"
    );
    assert_eq!(
        usage::of_day(&mut tx, day.succ_opt().unwrap()).await.unwrap(),
        TokenUsage::default(),
        "another day"
    );
    let next = day.succ_opt().unwrap();
    usage::add(&mut tx, next, "qwen", sure).await.unwrap();
    let account = |day, provider: &str, usage| usage::DayUsage { day, provider: provider.to_owned(), usage };
    let twice = TokenUsage { input: 10, output: 4, estimated: true };
    assert_eq!(
        usage::since(&mut tx, day).await.unwrap(),
        [account(next, "qwen", sure), account(day, "offline", sure), account(day, "qwen", twice)],
        "by day, the newest first, and by provider"
    );
    assert_eq!(usage::since(&mut tx, next).await.unwrap(), [account(next, "qwen", sure)], "from that day on");
}

#[tokio::test]
async fn a_deleted_task_leaves_its_place_in_the_chain_and_nothing_else() {
    let store = Store::open_in_memory().await.unwrap();
    let task = seed(&store).await;
    let card = approval("a", &task);
    let mut tx = store.begin().await.unwrap();
    approvals::insert(&mut tx, &card, b"secret bytes").await.unwrap();
    executions::start(&mut tx, &execution("op", &card)).await.unwrap();
    events::append(&mut tx, Some(&task.id), Source::Agent, at(1), &[noted("secret"), noted("secret")])
        .await
        .unwrap();
    events::append(&mut tx, None, Source::Operator, at(2), &[noted("kept")]).await.unwrap();
    assert_eq!(
        retention::erase_task(&mut tx, &task.id).await.unwrap(),
        None,
        "a task at work is not deleted"
    );
    let from = [TaskStatus::Queued];
    tasks::set_status(&mut tx, &task.id, &from, TaskStatus::Completed, None).await.unwrap();
    assert_eq!(
        retention::erase_task(&mut tx, &task.id).await.unwrap(),
        Some(2),
        "two entries lose their content"
    );
    tx.commit().await.unwrap();

    let mut reader = store.read().await.unwrap();
    assert_eq!(tasks::get(&mut reader, &task.id).await.unwrap(), None, "the task is gone");
    assert_eq!(events::of_task(&mut reader, &task.id, 0).await.unwrap(), [], "and what it said");
    let check = events::verify(&mut reader).await.unwrap();
    assert_eq!(
        (check.entries, check.erased, check.broken_at),
        (3, 2, None),
        "the chain still holds: {check:?}"
    );
    let operation = OperationId::from_text("op");
    assert_eq!(
        executions::get_by_approval(&mut reader, &card.id).await.unwrap(),
        None,
        "{operation} is gone"
    );
    assert!(approvals::bytes(&mut reader, &card.id).await.is_err(), "the bytes are gone with the card");
    drop(reader);
    let mut tx = store.begin().await.unwrap();
    let forbidden = sqlx::query("DELETE FROM events").execute(&mut *tx).await;
    assert!(forbidden.is_err(), "deleting is allowed for the deletion only, not from then on");
}

#[tokio::test]
async fn edits_of_the_person_keep_what_they_were_given() {
    let store = Store::open_in_memory().await.unwrap();
    let mut tx = store.begin().await.unwrap();
    let place = workspace("one");
    workspaces::insert(&mut tx, &place).await.unwrap();
    let edit = |id: &str, path: &str, undoes: Option<&str>| EditRow {
        id: OperationId::from_text(id),
        workspace: place.id.clone(),
        path: path.to_owned(),
        action: "memory_edited".to_owned(),
        before: None,
        after: Some(Digest::of(b"new")),
        size: 3,
        process: ProcessId::from_text("p"),
        temp_name: "t".to_owned(),
        undoes: undoes.map(OperationId::from_text),
        begun_at: at(1),
        done_at: None,
        undone_at: None,
    };
    let first = edit("a", "memory/MEMORY.md", None);
    edits::begin(&mut tx, &first).await.unwrap();
    assert_eq!(edits::get(&mut tx, &first.id).await.unwrap(), Some(first.clone()), "a row reads back whole");
    assert_eq!(edits::open_ones(&mut tx).await.unwrap(), std::slice::from_ref(&first), "it is under way");
    let of_path = edits::of_path(&mut tx, &place.id, "memory/MEMORY.md", 10).await.unwrap();
    assert_eq!(of_path, [], "what is under way is no history yet");
    assert!(edits::finish(&mut tx, &first, at(2)).await.unwrap(), "done");
    assert!(!edits::finish(&mut tx, &first, at(3)).await.unwrap(), "once");
    edits::drop_open(&mut tx, &first.id).await.unwrap();
    assert!(edits::get(&mut tx, &first.id).await.unwrap().is_some(), "what is done is not forgotten");

    let gone = edit("b", "memory/MEMORY.md", None);
    edits::begin(&mut tx, &gone).await.unwrap();
    edits::drop_open(&mut tx, &gone.id).await.unwrap();
    assert_eq!(edits::get(&mut tx, &gone.id).await.unwrap(), None, "what did not happen is");

    let back = edit("c", "memory/MEMORY.md", Some("a"));
    edits::begin(&mut tx, &back).await.unwrap();
    edits::finish(&mut tx, &back, at(4)).await.unwrap();
    let undone = edits::get(&mut tx, &first.id).await.unwrap().unwrap();
    assert_eq!(undone.undone_at, Some(at(4)), "taking back marks what it takes back");
    let history = edits::of_path(&mut tx, &place.id, "memory/MEMORY.md", 10).await.unwrap();
    let ids: Vec<&str> = history.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["c", "a"], "the newest first");
    assert_eq!(edits::of_path(&mut tx, &place.id, "other.md", 10).await.unwrap(), [], "of one path only");
}
