//! Documents read and added up by hand: the same reader and the same arithmetic as the tools'.

use super::workspace_at;
use crate::output::Output;
use crate::{Exit, is_refusal};
use pilot_documents::{AnalyzeOptions, Document, DocumentKind, DocumentStatus};
use pilot_service::{Service, ServiceError};
use pilot_types::ErrorCode;
use rust_decimal::Decimal;
use std::path::Path;

pub(crate) async fn extract(
    service: &Service,
    files: &[String],
    folder: &Path,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let workspace = workspace_at(service, folder).await?;
    let mut exit = Exit::Done;
    for path in files {
        let document = match service.extract(&workspace, path).await {
            Ok(document) => document,
            Err(error) => {
                output.say(&format!(
                    "{}: {}",
                    pilot_review::shown_text(path),
                    crate::words::of(error.code(), output.chinese)
                ));
                exit = if is_refusal(error.code()) { Exit::Refused } else { later(exit, Exit::Failed) };
                refused(error.code())
            }
        };
        print_document(path, &document, output);
    }
    Ok(exit)
}

fn later(exit: Exit, new: Exit) -> Exit {
    if exit == Exit::Done { new } else { exit }
}

fn refused(code: ErrorCode) -> Document {
    Document {
        kind: DocumentKind::Unknown,
        status: DocumentStatus::Refused,
        code: Some(code),
        notes: Vec::new(),
        text: String::new(),
        parts: Vec::new(),
        invoice: None,
    }
}

fn print_document(path: &str, document: &Document, output: &Output) {
    if !output.json {
        output.line(&format!("== {} ==", pilot_review::shown_text(path)));
        for note in &document.notes {
            output.line(&format!("  ! {note}"));
        }
        output.line(&pilot_review::shown_text(&document.text));
        return;
    }
    let Ok(mut value) = serde_json::to_value(document) else { return };
    if let Some(object) = value.as_object_mut() {
        object.insert("type".to_owned(), "document".into());
        object.insert("path".to_owned(), path.into());
    }
    output.object(&value);
}

pub(crate) async fn analyze(
    service: &Service,
    paths: &[String],
    folder: &Path,
    multiplier: Option<Decimal>,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let workspace = workspace_at(service, folder).await?;
    let mut options = AnalyzeOptions::default();
    if let Some(multiplier) = multiplier {
        if multiplier <= Decimal::ZERO {
            return Err(ServiceError::new(ErrorCode::Usage, "--outlier-multiplier is greater than 0"));
        }
        options.outlier_multiplier = multiplier;
    }
    let analysis = service.analyze(&workspace, paths, options).await?;
    if output.json {
        if let Ok(mut value) = serde_json::to_value(&analysis) {
            if let Some(object) = value.as_object_mut() {
                object.insert("type".to_owned(), "analysis".into());
            }
            output.object(&value);
        }
        return Ok(Exit::Done);
    }
    output.line(&format!("{} {}", analysis.rows, output.pick("rows", "行")));
    for (currency, total) in &analysis.totals {
        output.line(&format!("{currency:>4} {total}"));
    }
    for group in &analysis.by_supplier {
        let totals: Vec<String> =
            group.totals.iter().map(|(currency, total)| format!("{total} {currency}")).collect();
        output.line(&format!(
            "  {}  {} × {}",
            totals.join(" + "),
            group.count,
            pilot_review::shown_text(&group.key)
        ));
    }
    for outlier in &analysis.outliers {
        output.line(&format!(
            "  ▲ {} {}  {} × median  {}",
            outlier.amount, outlier.currency, outlier.times_median, outlier.source.file
        ));
    }
    for unread in &analysis.unread_rows {
        output.line(&format!(
            "  ! {} {}: {}",
            pilot_review::shown_text(&unread.source.file),
            unread.source.row,
            unread.reason
        ));
    }
    Ok(Exit::Done)
}
