//! Every row of the path inputs through every tool that takes a path.

use crate::support::{Tools, document_worker};
use pilot_agent::ToolError;
use pilot_testkit::escapes::{self, Answer, Door, DoorKind, Mounts, Report};
use pilot_tools::{Extraction, WorkerLimits};
use serde_json::{Value, json};

/// A tool as a door: prepared and carried out when it writes, run otherwise.
fn door<'a>(
    tool: &'a str,
    kind: DoorKind,
    writes: bool,
    arguments: impl Fn(&str) -> Value + Copy + 'static,
) -> Door<'a> {
    let name = tool.to_owned();
    Door::new(tool, kind, move |stage| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let extraction = Extraction::new(document_worker(), WorkerLimits::default());
        let tools = Tools::on(&stage.workspace(), &stage.data().join("undo"), extraction);
        let name = name.clone();
        Box::new(move |path| {
            let arguments = arguments(path);
            let result: Result<Value, ToolError> = runtime.block_on(async {
                if writes { tools.write(&name, arguments).await } else { tools.run(&name, arguments).await }
            });
            match result {
                Ok(value) => Answer::allowed(value.to_string()),
                Err(error) => Answer::refused(format!("{} [{}]", error.message, error.code)),
            }
        })
    })
}

#[test]
fn every_row_holds_on_every_tool() {
    let Some(rows) = escapes::rows() else {
        return println!("skipped: the path inputs are not beside the checkout");
    };
    let doors = [
        door("read_file", DoorKind::Read, false, |path| json!({ "path": path })),
        door("write_file", DoorKind::Write, true, |path| json!({"path": path, "content": "written"})),
        door("list_files", DoorKind::Other, false, |path| json!({ "path": path })),
        door("extract_document", DoorKind::Other, false, |path| json!({ "path": path })),
        door("analyze_table", DoorKind::Other, false, |path| json!({"paths": [path]})),
        door(
            "memory_write",
            DoorKind::Person,
            true,
            |path| json!({"path": path, "mode": "append", "content": "remembered"}),
        ),
    ];
    let Report { tried, skipped, wrong } = escapes::run(&rows, &doors, Mounts::Skip);
    println!("{} rows, {tried} tried, {} skipped, {} wrong", rows.len(), skipped.len(), wrong.len());
    assert_eq!(wrong, Vec::<String>::new(), "every verdict and invariant holds");
    assert!(tried > 0, "the rows must have been tried");
}
