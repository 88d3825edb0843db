//! The demo folder: its bytes are those of the generator, and what the product finds in it is the truth.

use pilot_documents::{AnalyzeOptions, GroupTotal, RowSource};
use pilot_service::{Approve, Decider, EnvironmentProvider, Keys, OpenOptions, Service};
use pilot_types::{ApprovalId, Channel, ProviderChoice, TaskId, TaskIntake, TaskStatus, WorkspaceId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn truth() -> Value {
    serde_json::from_slice(&std::fs::read(checkout().join("evals/demo-truth.json")).unwrap()).unwrap()
}

#[test]
fn committed_files_are_what_the_generator_writes() {
    let out = tempfile::tempdir().unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_make-demo")).arg(out.path()).output().unwrap();
    assert!(done.status.success(), "the generator runs: {}", String::from_utf8_lossy(&done.stderr));
    let (made, committed) =
        (files(&out.path().join("demo-workspace")), files(&checkout().join("demo-workspace")));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&made), names(&committed), "the same files; run `make demo` after a change");
    for (name, bytes) in &made {
        assert!(
            committed.get(name) == Some(bytes),
            "{name} is not what the generator writes; run `make demo`"
        );
    }
    let made = std::fs::read(out.path().join("evals/demo-truth.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&made).unwrap(), truth(), "the truth belongs to these files");
}

/// A copy of the demo folder as a workspace of a service of its own.
struct Desk {
    service: Service,
    workspace: WorkspaceId,
    folder: tempfile::TempDir,
}

async fn desk(chinese: bool) -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("demo-workspace");
    for (name, bytes) in files(&checkout().join("demo-workspace")) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let mut options = OpenOptions::new(folder.path().join("data")).unwrap();
    options.worker.program = PathBuf::from(env!("CARGO_BIN_EXE_evals"));
    options.home = None;
    options.skills_dir = None;
    options.keys = Keys::memory_only();
    options.environment = EnvironmentProvider::default();
    options.in_memory = true;
    options.chinese = chinese;
    let service = Service::open(options).await.unwrap();
    let workspace = WorkspaceId::from_text(service.add_workspace(&root, None).await.unwrap().id);
    Desk { service, workspace, folder }
}

type Sums = BTreeMap<String, BTreeMap<String, String>>;

fn sums(groups: &[GroupTotal]) -> Sums {
    let texts = |group: &GroupTotal| {
        group.totals.iter().map(|(currency, sum)| (currency.clone(), sum.to_string())).collect()
    };
    groups.iter().map(|group| (group.key.clone(), texts(group))).collect()
}

fn told<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

/// File and row, as the truth names them.
fn place(source: &Value) -> (String, u64) {
    (source["file"].as_str().unwrap_or_default().to_owned(), source["row"].as_u64().unwrap_or_default())
}

fn place_of(source: &RowSource) -> (String, u64) {
    (source.file.clone(), u64::from(source.row))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_analysis_of_the_folder_is_the_truth() {
    let (desk, truth) = (desk(true).await, truth());
    let options = AnalyzeOptions { chinese: true, ..AnalyzeOptions::default() };
    let found = desk.service.analyze(&desk.workspace, &[".".to_owned()], options).await.unwrap();

    let totals: BTreeMap<String, String> =
        found.totals.iter().map(|(key, sum)| (key.clone(), sum.to_string())).collect();
    assert_eq!(totals, told(&truth["totals"]), "totals by currency; notes: {:#?}", found.notes);
    let medians: BTreeMap<String, String> =
        found.median.iter().map(|(key, half)| (key.clone(), half.to_string())).collect();
    assert_eq!(medians, told(&truth["median"]), "medians by currency");
    assert_eq!(sums(&found.by_supplier), told::<Sums>(&truth["by_supplier"]), "totals by supplier");
    assert_eq!(sums(&found.by_month), told::<Sums>(&truth["by_month"]), "totals by month");
    assert_eq!(u64::from(found.rows), truth["rows"].as_u64().unwrap(), "rows counted");

    let seen: BTreeSet<_> =
        found.outliers.iter().map(|one| (place_of(&one.source), one.amount.to_string())).collect();
    let entries = |key: &str| truth[key].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let wanted: BTreeSet<_> =
        entries("outliers").iter().map(|one| (place(&one["source"]), text(&one["amount"]))).collect();
    assert_eq!(seen, wanted, "outliers; medians {:?}", found.median);

    let seen: BTreeSet<BTreeSet<_>> =
        found.duplicates.iter().map(|group| group.sources.iter().map(place_of).collect()).collect();
    let wanted: BTreeSet<BTreeSet<_>> = entries("duplicates")
        .iter()
        .map(|group| group["sources"].as_array().unwrap().iter().map(place).collect())
        .collect();
    assert_eq!(seen, wanted, "each duplicate with all its places");

    let seen: BTreeSet<_> = found.unread_rows.iter().map(|row| place_of(&row.source)).collect();
    let wanted: BTreeSet<_> = entries("unread").iter().map(place).collect();
    assert_eq!(seen, wanted, "what could not be read: {:#?}", found.unread_rows);

    let seen: BTreeSet<_> = found.conflicts.iter().flat_map(|one| one.sources.iter().map(place_of)).collect();
    let wanted: BTreeSet<_> = entries("conflicts").iter().map(|one| place(&one["source"])).collect();
    assert_eq!(seen, wanted, "sums that do not add up: {:#?}", found.conflicts);

    for credit in entries("credit_notes") {
        let item =
            found.items.iter().find(|item| place_of(&item.source) == place(&credit["source"])).unwrap();
        assert_eq!(
            item.amount.to_string(),
            text(&credit["amount"]),
            "a credit note printed positive subtracts"
        );
    }
    for paper in entries("not_counted") {
        let file = text(&paper["file"]);
        assert!(!found.items.iter().any(|item| item.source.file == file), "{file} is not an invoice");
        assert!(
            found.notes.iter().any(|note| note.contains(&file)),
            "{file} is said to be left out: {:#?}",
            found.notes
        );
    }
}

/// What a person sees who clicks on the demo: one card, a report with the right totals, and nothing else changed.
async fn the_built_in_helper_reports(chinese: bool) {
    let (desk, truth) = (desk(chinese).await, truth());
    let root = desk.folder.path().join("demo-workspace");
    let before = files(&root);
    let goal = truth["goal"][if chinese { "zh" } else { "en" }].as_str().unwrap().to_owned();
    let intake = TaskIntake {
        goal,
        workspace: desk.workspace.clone(),
        channel: Channel::Chat,
        session: None,
        follow_up_of: None,
        provider: Some(ProviderChoice::Offline),
        limits: None,
    };
    let task = TaskId::from_text(desk.service.create_task(intake).await.unwrap().id);
    let stop = desk.service.run_to_stop(&task).await.unwrap();
    assert_eq!(stop.status, TaskStatus::WaitingApproval, "the helper proposes something: {stop:?}");
    assert_eq!(files(&root), before, "and has written nothing");

    let card = ApprovalId::from_text(desk.service.task(&task).await.unwrap().waiting_approval.unwrap());
    let shown = desk.service.approval(&card).await.unwrap();
    assert!(
        shown.card.flags.is_empty(),
        "every figure of the report comes from a tool: {:#?}",
        shown.card.flags
    );
    let approve = Approve { id: card, shown: None, arguments: None, by: Decider::Eval };
    desk.service.approve(approve).await.unwrap();
    let stop = desk.service.run_to_stop(&task).await.unwrap();
    assert_eq!(stop.status, TaskStatus::Completed, "one card is all: {stop:?}");

    let mut after = files(&root);
    after.retain(|name, bytes| before.get(name) != Some(bytes));
    assert_eq!(after.len(), 1, "exactly one file: {:?}", after.keys());
    let (name, bytes) = after.pop_first().unwrap();
    let report = String::from_utf8(bytes).unwrap().replace(',', "");
    for (currency, total) in told::<BTreeMap<String, String>>(&truth["totals"]) {
        assert!(report.contains(&total), "{name} holds the total of {currency}, {total}:\n{report}");
    }
    for name in told::<Sums>(&truth["by_supplier"]).keys() {
        assert!(report.contains(&name.replace(',', "")), "the report names {name}:\n{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_helper_reports_in_chinese() {
    the_built_in_helper_reports(true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_helper_reports_in_english() {
    the_built_in_helper_reports(false).await;
}
