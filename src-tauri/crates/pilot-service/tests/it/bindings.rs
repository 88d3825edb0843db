//! The TypeScript of the wire types, committed under `ui/src/lib/api/generated` and never edited.

use pilot_service::view;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use ts_rs::{Config, TS};

fn export(folder: &Path) {
    let config = Config::new().with_out_dir(folder).with_large_int("number");
    macro_rules! export {
        ($($name:ty),* $(,)?) => { $( <$name>::export_all(&config).unwrap(); )* };
    }
    export!(
        view::AppView,
        view::ErrorView,
        view::TaskRequest,
        view::TaskDetailView,
        view::ApprovalRowView,
        view::ApprovalView,
        view::ApproveRequest,
        view::FolderView,
        view::PreviewView,
        view::ArtifactView,
        view::UndoPreview,
        view::MemoryView,
        view::MemoryRequest,
        view::VersionView,
        view::VersionTextView,
        view::SkillView,
        view::SkillTextView,
        view::SkillRequest,
        view::UploadPlanView,
        view::UploadRequest,
        view::UploadResultView,
        view::EditView,
        view::ProviderRequest,
        view::PresetView,
        view::LocalServerView,
        view::ProviderTestView,
        view::UsageDayView,
        view::AutomationsView,
        view::ScheduleRequest,
        view::SchedulePreviewRequest,
        view::SchedulePreviewView,
        view::ChannelRequest,
        view::NewChannelView,
        view::McpView,
        view::McpServerRequest,
        view::McpCheckView,
        view::AuditView,
        view::SessionDetailView,
        view::SessionListRequest,
        view::DeletionView,
        view::DataUsageView,
        view::BackupView,
        view::SafetyCaseView,
        view::WindowEvent,
        pilot_documents::Analysis,
        pilot_types::Event,
    );
}

fn read(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if path.is_dir() {
            files.extend(read(&path).into_iter().map(|(inner, text)| (format!("{name}/{inner}"), text)));
        } else {
            files.insert(name, std::fs::read_to_string(path).unwrap());
        }
    }
    files
}

#[test]
fn the_committed_typescript_is_what_the_rust_types_give() {
    let committed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/lib/api/generated");
    if std::env::var_os("POCKETPILOT_UPDATE").is_some() {
        let _ = std::fs::remove_dir_all(&committed);
        std::fs::create_dir_all(&committed).unwrap();
        export(&committed);
    }
    let fresh = tempfile::tempdir().unwrap();
    export(fresh.path());
    let (fresh, committed) = (read(fresh.path()), read(&committed));
    let stale: Vec<&String> = fresh
        .iter()
        .filter(|(name, text)| committed.get(*name) != Some(text))
        .map(|(name, _)| name)
        .collect();
    assert!(
        stale.is_empty(),
        "stale: {stale:?}; run POCKETPILOT_UPDATE=1 cargo nextest run -p pilot-service bindings"
    );
    let left: Vec<&String> = committed.keys().filter(|name| !fresh.contains_key(*name)).collect();
    assert!(left.is_empty(), "no longer made from Rust: {left:?}");
}

/// The recorded core of the page shows the presets that the real one has.
#[test]
fn the_committed_typescript_has_the_presets_of_rust() {
    let place =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/lib/api/memory-data/presets.json");
    let fresh = format!("{}\n", serde_json::to_string_pretty(&pilot_service::presets()).unwrap());
    if std::env::var_os("POCKETPILOT_UPDATE").is_some() {
        std::fs::write(&place, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&place).unwrap_or_default();
    assert_eq!(
        committed, fresh,
        "stale; run POCKETPILOT_UPDATE=1 cargo nextest run -p pilot-service bindings"
    );
}
