//! The data folder belongs to this user alone.

use crate::support::place;
use pilot_store::{DataDir, Store};
use pilot_types::ErrorCode;

#[cfg(unix)]
fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[tokio::test]
async fn only_this_user_can_look_inside() {
    let place = place();
    let store = Store::open(&place.data).await.unwrap();
    crate::support::seed(&store).await;
    let data = &place.data;
    for folder in
        [data.root().to_owned(), data.locks(), data.undo(), data.logs(), data.backups(), data.scratch()]
    {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    for file in ["pocketpilot.sqlite", "pocketpilot.sqlite-wal", "pocketpilot.sqlite-shm"] {
        assert_eq!(mode(&data.root().join(file)), 0o600, "{file}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_of_the_person_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    assert_eq!(mode(data.root()), 0o755, "--data-dir may name a folder that others use");
    assert_eq!(mode(&data.undo()), 0o700, "what is inside is private all the same");
}

#[test]
fn a_file_is_no_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    let refused = DataDir::open(&file).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::IoFailed, "said, not swallowed: {refused}");
}

#[tokio::test]
async fn a_database_in_memory_is_gone_with_its_last_clone() {
    let store = Store::open_in_memory().await.unwrap();
    let shown = format!("{store:?}");
    let path = std::path::PathBuf::from(shown.split('"').nth(1).unwrap());
    assert!(path.exists(), "it lives in a folder of its own: {shown}");
    let clone = store.clone();
    drop(store);
    assert!(path.exists(), "a clone still uses it");
    drop(clone);
    assert!(!path.parent().unwrap().exists(), "the folder is gone");
}
