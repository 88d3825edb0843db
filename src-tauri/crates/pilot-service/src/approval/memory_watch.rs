//! Memory around an approved outside program. Only `memory_write` may change it; a program that may write the workspace
//! could do so all the same. It is looked at before and after: what changed is said, and can be taken back.

use crate::artifacts::gone;
use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::run::Bench;
use pilot_guard::{MEMORY, UndoStore, WorkspaceGuard};
use pilot_store::{ApprovalRow, ArtifactRow, EffectKind, artifacts};
use pilot_types::{ArtifactId, Digest, ErrorCode, Event, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Pages that are looked at, levels of folders, and the largest page that is kept for undo, in bytes.
const PAGES: (usize, u32, u64) = (500, 8, 4 << 20);

/// Pages by path, with size and digest; `None` for one that may not be opened.
pub(super) type Pages = BTreeMap<String, Option<(u64, Digest)>>;

impl Service {
    /// What stands in memory before an outside program runs. Its bytes are kept. `None` for any other effect.
    pub(super) async fn memory_before(
        &self,
        row: &ApprovalRow,
        bench: &Bench,
    ) -> Result<Option<Pages>, ServiceError> {
        match row.effect_kind {
            EffectKind::WriteFile => Ok(None),
            EffectKind::Outside => {
                let (guard, undo) = (bench.guard.clone(), self.inner.undo.clone());
                blocking(move || look(&guard, Some(&undo)).map(Some)).await
            }
        }
    }

    /// Records what an outside program changed in memory, as artifacts that can be taken back, and names the pages.
    pub(super) async fn memory_after(
        &self,
        row: &ApprovalRow,
        before: Option<Pages>,
        bench: &Bench,
    ) -> Result<Vec<String>, ServiceError> {
        let Some(before) = before else { return Ok(Vec::new()) };
        let guard = bench.guard.clone();
        let after = blocking(move || look(&guard, None)).await?;
        let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let changed: Vec<String> =
            all.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect();
        if changed.is_empty() {
            return Ok(changed);
        }
        let mut tx = self.begin().await?;
        let mut events = Vec::new();
        for path in &changed {
            let previous = before.get(path).cloned().flatten().map(|(_, digest)| digest);
            let (size, digest) = match after.get(path) {
                Some(Some(now)) => now.clone(),
                None if previous.is_some() => (0, gone()),
                // It may not be opened any more: it is named, and there is nothing to compare an undo with.
                Some(None) | None => continue,
            };
            let artifact = ArtifactRow {
                id: ArtifactId::new(),
                task: row.task.clone(),
                workspace: row.workspace.clone(),
                approval: row.id.clone(),
                path: path.clone(),
                size,
                digest: digest.clone(),
                created: previous.is_none(),
                previous,
                at: self.now(),
                undone_at: None,
            };
            artifacts::insert(&mut tx, &artifact).await?;
            events.push(Event::ArtifactWritten { artifact: artifact.id, path: path.clone(), size, digest });
        }
        let records = self.append(&mut tx, Some(&row.task), Source::System, &events).await?;
        self.commit(tx, records).await?;
        Ok(changed)
    }
}

fn look(guard: &WorkspaceGuard, keep: Option<&UndoStore>) -> Result<Pages, ServiceError> {
    let (limit, depth, bytes) = PAGES;
    let paths = match guard.walk(MEMORY, depth, limit) {
        Ok((paths, _)) => paths,
        Err(error) if error.code() == ErrorCode::NotFound => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let mut pages = Pages::new();
    for path in paths {
        let page = match guard.open_file(&path).and_then(|mut file| file.read_all(bytes)) {
            Ok(content) => {
                if let Some(undo) = keep {
                    undo.keep(&content)?;
                }
                Some((content.len() as u64, Digest::of(&content)))
            }
            Err(_) => None,
        };
        pages.insert(path, page);
    }
    Ok(pages)
}

/// The result as the model gets it, with the pages that changed.
pub(super) fn with_changes(content: String, changed: &[String]) -> String {
    if changed.is_empty() {
        return content;
    }
    let words =
        "this call changed memory/, which only memory_write may do; the person is told and can undo it";
    let note = serde_json::json!({ "pages": changed, "note": words });
    match serde_json::from_str::<serde_json::Value>(&content) {
        Ok(serde_json::Value::Object(mut object)) => {
            object.insert("memory_changed".to_owned(), note);
            serde_json::Value::Object(object).to_string()
        }
        Ok(_) | Err(_) => format!("{content}\n{words}: {}", changed.join(", ")),
    }
}
