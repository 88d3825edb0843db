//! Which folders can be workspaces.

use pilot_guard::register_root;
use pilot_testkit::escapes::Stage;
use pilot_types::ErrorCode;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn a_folder_is_registered_by_its_real_path() {
    let stage = Stage::new();
    let (home, data) = (stage.base().join("home"), stage.data().join("pocketpilot"));
    fs::create_dir_all(home.join("Invoices")).expect("a home");
    symlink(home.join("Invoices"), stage.base().join("shortcut")).expect("a link");
    let register = |path: &Path| register_root(path, Some(&home), &data).map_err(|error| error.code());
    let real = Ok(home.join("Invoices"));
    assert_eq!(register(&home.join("Invoices")), real, "an ordinary folder");
    assert_eq!(register(Path::new("~/Invoices")), real, "below the home folder");
    assert_eq!(register(&stage.base().join("shortcut")), real, "a link is resolved once");
    assert_eq!(register(&home.join("Invoices/../Invoices/.")), real, "a roundabout way");
    assert_eq!(register(&stage.workspace()), Ok(stage.workspace()), "beside the data folder");
}

#[test]
fn folders_that_are_too_wide_or_hold_our_data_are_refused_with_the_reason() {
    let stage = Stage::new();
    let (home, data) = (stage.base().join("home"), stage.data().join("app/pocketpilot"));
    fs::create_dir(&home).expect("a home");
    fs::write(stage.base().join("file"), "x").expect("a file");
    fs::create_dir_all(data.join("undo")).expect("the data folder");
    symlink("/", stage.base().join("slash")).expect("a link");
    let register = |path: &Path| register_root(path, Some(&home), &data).expect_err("refused").code();
    assert_eq!(register(Path::new("/")), ErrorCode::WorkspaceTooWide, "the whole disk");
    assert_eq!(
        register(&stage.base().join("slash")),
        ErrorCode::WorkspaceTooWide,
        "the whole disk by a link"
    );
    assert_eq!(register(&home), ErrorCode::WorkspaceTooWide, "the home folder itself");
    assert_eq!(register(Path::new("~")), ErrorCode::WorkspaceTooWide, "the home folder itself");
    assert_eq!(register(&stage.base().join("file")), ErrorCode::WorkspaceNotFolder, "a file");
    assert_eq!(register(&stage.base().join("nothing")), ErrorCode::WorkspaceNotFolder, "nothing");
    assert_eq!(register(Path::new("~someone")), ErrorCode::WorkspaceNotFolder, "only ~ itself is understood");
    for path in
        [data.clone(), data.join("undo"), stage.data(), stage.data().join("app"), stage.base().to_owned()]
    {
        assert_eq!(
            register(&path),
            ErrorCode::WorkspaceHoldsData,
            "{path:?} and our data lie in one another"
        );
    }
    let missing = stage.data().join("not/yet");
    let refused = register_root(&stage.data(), None, &missing).expect_err("refused").code();
    assert_eq!(refused, ErrorCode::WorkspaceHoldsData, "also before the data folder is made");
}
