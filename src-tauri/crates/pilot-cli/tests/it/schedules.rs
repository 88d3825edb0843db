//! The words of `pilot schedules` and `pilot channels`.

use crate::support::Desk;
use serde_json::json;

fn writes() -> serde_json::Value {
    json!({ "version": 1, "steps": [
        { "tool_calls": [{ "name": "write_file", "arguments": { "path": "report.md", "content": "# report\n" } }] },
        { "text": "done" }
    ] })
}

#[test]
fn preview_prints_times_and_makes_nothing() {
    let desk = Desk::new();
    let said =
        desk.json(&["schedules", "preview", "0 9 * * 1-5", "--from", "2026-11-27T12:00:00Z", "--count", "3"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.last(),
        json!({ "next": ["2026-11-30T09:00:00Z", "2026-12-01T09:00:00Z", "2026-12-02T09:00:00Z"] }),
        "Friday afternoon is followed by Monday"
    );
    let zoned = desk.json(&[
        "schedules",
        "preview",
        "30 2 * * *",
        "--from",
        "2027-03-27T12:00:00Z",
        "--count",
        "2",
        "--zone",
        "Europe/Berlin",
    ]);
    assert_eq!(
        zoned.last(),
        json!({ "next": ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"] }),
        "the night of the clock comes at the first moment after the gap"
    );
    assert_eq!(
        desk.json(&["schedules", "preview", "@hourly"]).last()["next"].as_array().unwrap().len(),
        5,
        "five by default"
    );
    assert_eq!(std::fs::read_dir(desk.data.path()).unwrap().count(), 0, "no data folder was made");
    for (args, code) in [
        (vec!["0 0 31 2 *"], "schedule_never"),
        (vec!["0 0 9 * * 1"], "schedule_fields"),
        (vec!["0 25 * * *"], "schedule_value"),
        (vec!["@daily", "--zone", "Mars/Base"], "schedule_zone"),
        (vec!["@daily", "--from", "yesterday"], "usage"),
    ] {
        let said = desk.json(&[vec!["schedules", "preview"], args.clone()].concat());
        assert_eq!((said.code, said.last()["code"].as_str()), (Some(2), Some(code)), "{args:?}: {said:?}");
    }
    let said = desk.run(&["schedules", "preview", "0 25 * * *"]);
    assert!(said.err.contains("field 2: 25 is not an hour"), "the field is named in words: {}", said.err);
}

#[test]
fn a_schedule_is_made_changed_run_and_removed() {
    let desk = Desk::new();
    let provider = desk.script(&writes());
    let added = desk.json(&[
        "schedules",
        "add",
        "0 9 * * 1-5",
        "write the report",
        "--workspace",
        desk.root(),
        "--zone",
        "Asia/Shanghai",
        "--provider",
        &provider,
    ]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let id = added.last()["id"].as_str().unwrap().to_owned();
    let row = desk.json(&["schedules", "list"]).last();
    assert_eq!(
        (row["id"].as_str(), row["zone"].as_str()),
        (Some(id.as_str()), Some("Asia/Shanghai")),
        "listed: {row}"
    );
    let next = row["next"][0].clone();
    assert!(next["utc"].as_str().unwrap().ends_with("T01:00:00Z"), "nine there is one in UTC: {next}");
    assert!(next["local"].as_str().unwrap().ends_with("T09:00:00+08:00"), "and both are shown: {next}");

    assert_eq!(desk.json(&["schedules", "pause", &id]).last()["paused"], true, "paused");
    assert_eq!(desk.json(&["schedules", "list"]).last()["next"], json!([]), "no next time while it is");
    assert_eq!(desk.json(&["schedules", "resume", &id]).last()["paused"], false, "resumed");
    let edited = desk.json(&["schedules", "edit", &id, "--rule", "@weekly"]).last();
    assert_eq!(
        (edited["rule"].as_str(), edited["goal"].as_str()),
        (Some("@weekly"), Some("write the report")),
        "the rest stays"
    );

    let run = desk.json(&["schedules", "run", &id]);
    assert_eq!(run.code, Some(3), "by hand it stops at its card as well: {run:?}");
    assert_eq!(desk.manifest(), vec![], "the disk is unchanged");
    let card = run.last()["approval"].as_str().unwrap().to_owned();
    assert_eq!(desk.json(&["approvals", "approve", &card]).code, Some(0), "a person's yes completes it");
    assert_eq!(desk.read("report.md").as_deref(), Some("# report\n"), "with the shown bytes");
    let runs = desk.json(&["schedules", "list"]).last()["runs"].clone();
    assert_eq!(
        (runs[0]["state"].as_str(), runs[0]["status"].as_str()),
        (Some("by_hand"), Some("completed")),
        "{runs}"
    );

    assert_eq!(desk.json(&["schedules", "remove", &id]).code, Some(0), "removed");
    assert!(desk.json(&["schedules", "list"]).rows().is_empty(), "gone from the list");
    let again = desk.json(&["schedules", "remove", &id]);
    assert_eq!(
        (again.code, again.last()["code"].as_str()),
        (Some(1), Some("schedule_not_found")),
        "once is enough"
    );
}

#[test]
fn a_bad_rule_registers_no_folder() {
    let desk = Desk::new();
    let said = desk.json(&["schedules", "add", "0 0 31 2 *", "x", "--workspace", desk.root()]);
    assert_eq!((said.code, said.last()["code"].as_str()), (Some(2), Some("schedule_never")), "{said:?}");
    assert!(desk.json(&["workspaces", "list"]).rows().is_empty(), "nothing was left behind");
}

#[test]
fn a_channels_token_is_printed_once() {
    let desk = Desk::new();
    let added = desk.json(&["channels", "add", "--workspace", desk.root(), "--name", "scans"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let row = added.last();
    let (id, token) = (row["id"].as_str().unwrap(), row["token"].as_str().unwrap());
    assert_eq!(row.as_object().unwrap().len(), 2, "id and token, and nothing else: {row}");
    let list = desk.json(&["channels", "list"]);
    assert_eq!(list.last()["id"], id, "listed");
    assert!(!list.out.contains(token), "without its token");
    let export = desk.run(&["audit", "export"]);
    assert!(
        export.out.contains("channel_added") && !export.out.contains(token),
        "the record has the act, not the token"
    );
    assert_eq!(desk.json(&["channels", "remove", id]).code, Some(0), "revoked");
    let again = desk.json(&["channels", "remove", id]);
    assert_eq!(
        (again.code, again.last()["code"].as_str()),
        (Some(1), Some("channel_not_found")),
        "once is enough"
    );
}
