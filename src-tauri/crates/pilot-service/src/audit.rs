//! The record as proof: looked through for breaks, and written out.

use crate::error::ServiceError;
use crate::open::Service;
use crate::view::{AuditView, time};
use pilot_store::events;
use pilot_types::EventRecord;

/// How the record is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditFormat {
    /// One JSON object a line, as stored.
    Jsonl,
    /// A Markdown table for people.
    Markdown,
}

impl Service {
    /// Looks through the whole chain.
    ///
    /// # Errors
    /// The database cannot be read. A break is no error but an answer.
    pub async fn verify_audit(&self) -> Result<AuditView, ServiceError> {
        let check = events::verify(&mut *self.inner.store.read().await?).await?;
        Ok(AuditView {
            entries: check.entries,
            intact: check.broken_at.is_none(),
            broken_at: check.broken_at,
        })
    }

    /// Writes the record out in pieces, so that it never has to fit into memory.
    ///
    /// # Errors
    /// The database cannot be read, or `write` fails.
    pub async fn export_audit(
        &self,
        format: AuditFormat,
        mut write: impl FnMut(&str) -> Result<(), ServiceError>,
    ) -> Result<(), ServiceError> {
        if format == AuditFormat::Markdown {
            write("| position | time | task | by | what |\n|---|---|---|---|---|\n")?;
        }
        let mut after = 0;
        loop {
            let page = events::after(&mut *self.inner.store.read().await?, after, 500).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.position;
            for record in &page {
                write(&line(format, record)?)?;
            }
        }
    }
}

fn line(format: AuditFormat, record: &EventRecord) -> Result<String, ServiceError> {
    let internal =
        |error: serde_json::Error| ServiceError::new(pilot_types::ErrorCode::Internal, error.to_string());
    match format {
        AuditFormat::Jsonl => Ok(format!("{}\n", serde_json::to_string(record).map_err(internal)?)),
        AuditFormat::Markdown => {
            let event = serde_json::to_value(&record.event).map_err(internal)?;
            let kind = event.get("type").and_then(|kind| kind.as_str()).unwrap_or_default();
            let task = record.task.as_ref().map_or("", |task| task.as_str());
            let source = serde_json::to_value(record.source).map_err(internal)?;
            let subject = ["path", "tool", "goal", "action", "status"]
                .iter()
                .find_map(|key| event.get(*key).and_then(|value| value.as_str()))
                .map(|text| pilot_review::shown_text(text).replace('|', "\\|").replace('\n', " "))
                .unwrap_or_default();
            Ok(format!(
                "| {} | {} | {task} | {} | {kind} {subject} |\n",
                record.position,
                time(record.at),
                source.as_str().unwrap_or_default()
            ))
        }
    }
}
