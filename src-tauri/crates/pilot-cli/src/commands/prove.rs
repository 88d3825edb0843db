//! The record, the machine and the safety check.

use crate::Exit;
use crate::arguments::{Audit, ExportFormat};
use crate::output::Output;
use pilot_service::{AuditFormat, CheckState, Service, ServiceError};
use pilot_types::ErrorCode;

pub(crate) async fn audit(service: &Service, action: &Audit, output: &Output) -> Result<Exit, ServiceError> {
    match action {
        Audit::Verify => {
            let view = service.verify_audit().await?;
            let words = match view.broken_at {
                None => format!(
                    "{} {}",
                    output.pick("The log chain is intact. Entries:", "记录链完整。条数："),
                    view.entries
                ),
                Some(at) => format!("{} {at}", output.pick("The log chain breaks at entry", "记录链断在第")),
            };
            output.row(&serde_json::json!({ "type": "audit", "entries": view.entries, "intact": view.intact, "broken_at": view.broken_at }), &words);
            Ok(if view.intact { Exit::Done } else { Exit::Failed })
        }
        Audit::Export { format } => {
            let format = match format {
                ExportFormat::Jsonl => AuditFormat::Jsonl,
                ExportFormat::Md => AuditFormat::Markdown,
            };
            service
                .export_audit(format, |line| {
                    output.line(line.trim_end_matches('\n'));
                    Ok(())
                })
                .await?;
            Ok(Exit::Done)
        }
    }
}

pub(crate) async fn doctor(service: &Service, output: &Output) -> Result<Exit, ServiceError> {
    let mut exit = Exit::Done;
    for check in service.doctor().await? {
        let mark = match check.state {
            CheckState::Ok => "✓",
            CheckState::Limited => "!",
            CheckState::Broken => {
                exit = Exit::Failed;
                "✗"
            }
        };
        output.row(&check, &format!("{mark} {}: {}", check.id, check.words));
    }
    Ok(exit)
}

pub(crate) async fn evals(case: Option<&str>, output: &Output) -> Result<Exit, ServiceError> {
    let mut exit = Exit::Done;
    let results = pilot_evals::safety_check(case).await;
    if results.is_empty() {
        return Err(ServiceError::new(ErrorCode::Usage, "no case of that name"));
    }
    for result in results {
        if !result.held {
            exit = Exit::Failed;
        }
        let mark = if result.held { "✓" } else { "✗" };
        output.row(&result, &format!("{mark} {}  {}", result.name, result.problems.join("; ")));
    }
    Ok(exit)
}
