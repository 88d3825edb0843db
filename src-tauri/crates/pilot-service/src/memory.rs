//! Memory as the person sees and edits it: the operator path, recorded as such, without a card.

use crate::edits::{NewContent, PersonWrite};
use crate::error::{ServiceError, blocking};
use crate::open::Service;
use crate::view::{InjectionView, MemoryPageView, MemoryRequest, MemoryView};
use pilot_guard::{Access, EntryKind, GuardError, ListOptions, WorkspaceGuard};
use pilot_store::approvals;
use pilot_tools::{MAX_MEMORY_BYTES, MemoryInjection, is_diary_path, memory_injection};
use pilot_types::{Digest, ErrorCode, WorkspaceId};

/// The page that is there in every folder that has memory.
pub(crate) const MAIN_PAGE: &str = "memory/MEMORY.md";
/// Largest page, in bytes; what `memory_write` is held to as well.
pub(crate) const MAX_PAGE_BYTES: usize = 1 << 20;
/// Pages in the list.
const MAX_PAGES: usize = 2_000;

/// A page as it was read.
pub(crate) struct ReadPage {
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) digest: Option<Digest>,
}

/// A page and the pages beside it, read in one go.
struct Read {
    page: ReadPage,
    pages: Vec<MemoryPageView>,
    injection: Result<MemoryInjection, GuardError>,
}

impl Service {
    /// A page of memory; `memory/MEMORY.md` unless another is named. Empty when there is none.
    ///
    /// # Errors
    /// The guard's refusal.
    pub async fn memory(
        &self,
        workspace: &WorkspaceId,
        page: Option<&str>,
    ) -> Result<MemoryView, ServiceError> {
        let guard = self.guard(workspace).await?;
        let (chinese, wanted) = (self.chinese(), page.unwrap_or(MAIN_PAGE).to_owned());
        let (path, read) = blocking(move || {
            let path = guard.check(&wanted, Access::Memory)?.as_str().to_owned();
            let page = read_page(&guard, &path)?;
            let injection = memory_injection(&guard, chinese, None);
            Ok((path, Read { page, pages: pages(&guard)?, injection }))
        })
        .await?;
        let origins = self.origins(workspace, &path, &read.page).await?;
        let waiting = approvals::list(&mut *self.inner.store.read().await?, true, 10_000)
            .await?
            .into_iter()
            .filter(|row| row.workspace == *workspace && row.path.as_deref() == Some(path.as_str()))
            .map(|row| row.id.to_string())
            .collect();
        let bytes = read.page.bytes.unwrap_or_default();
        let (injection, problem) = match read.injection {
            Ok(injection) => (Some(shown(injection)), None),
            Err(error) => (None, Some(error.code())),
        };
        let injected = |path: &str| injection.as_ref().is_some_and(|i| i.pages.iter().any(|one| one == path));
        Ok(MemoryView {
            text: pilot_documents::text::decode(&bytes, chinese).text,
            utf8: std::str::from_utf8(&bytes).is_ok(),
            digest: read.page.digest,
            pages: read
                .pages
                .into_iter()
                .map(|page| MemoryPageView { injected: injected(&page.path), ..page })
                .collect(),
            injection,
            problem,
            origins,
            waiting,
            path,
        })
    }

    /// What the next task would be given of memory if the page were this text. Writes nothing.
    ///
    /// # Errors
    /// The guard's refusal.
    pub async fn preview_memory(
        &self,
        workspace: &WorkspaceId,
        path: &str,
        text: String,
    ) -> Result<InjectionView, ServiceError> {
        let guard = self.guard(workspace).await?;
        let (chinese, path) = (self.chinese(), path.to_owned());
        blocking(move || {
            let path = guard.check(&path, Access::Memory)?;
            Ok(shown(memory_injection(&guard, chinese, Some((path.as_str(), &text)))?))
        })
        .await
    }

    /// Replaces a page with what the person wrote. The page before is kept for undo.
    ///
    /// # Errors
    /// The guard's refusal; too large; `EditConflict` when the page changed since the person began.
    pub async fn save_memory(&self, request: MemoryRequest) -> Result<MemoryView, ServiceError> {
        if request.text.len() > MAX_PAGE_BYTES {
            return Err(ServiceError::new(ErrorCode::TooLarge, "a page of memory has 1 MiB at most"));
        }
        let workspace = WorkspaceId::from_text(request.workspace);
        self.write_memory(
            &workspace,
            request.path.clone(),
            request.text.into_bytes(),
            request.base,
            "memory_edited",
        )
        .await?;
        self.memory(&workspace, Some(&request.path)).await
    }

    /// The same from a terminal, where reading and writing are one act.
    ///
    /// # Errors
    /// As [`Service::save_memory`].
    pub async fn edit_memory(
        &self,
        workspace: &WorkspaceId,
        page: Option<&str>,
        text: String,
    ) -> Result<MemoryView, ServiceError> {
        let path = page.unwrap_or(MAIN_PAGE).to_owned();
        let guard = self.guard(workspace).await?;
        let base = {
            let path = path.clone();
            blocking(move || {
                let path = guard.check(&path, Access::Memory)?;
                Ok(guard.digest(path.as_str())?)
            })
            .await?
        };
        self.save_memory(MemoryRequest { workspace: workspace.to_string(), path, text, base }).await
    }

    pub(crate) async fn write_memory(
        &self,
        workspace: &WorkspaceId,
        path: String,
        bytes: Vec<u8>,
        base: Option<Digest>,
        action: &'static str,
    ) -> Result<(), ServiceError> {
        let guard = self.guard(workspace).await?;
        // By its one spelling, so that no other one could be taken for an ordinary file of the person.
        let path = blocking(move || Ok(guard.check(&path, Access::Memory)?.as_str().to_owned())).await?;
        let content = NewContent::Bytes(bytes);
        let write = PersonWrite { workspace: workspace.clone(), path, action, base, content, undoes: None };
        self.write_as_person(write).await.map(|_| ())
    }
}

pub(crate) fn read_page(guard: &WorkspaceGuard, path: &str) -> Result<ReadPage, GuardError> {
    match guard.open_file(path) {
        Ok(mut file) => {
            let bytes = file.read_all(MAX_PAGE_BYTES as u64)?;
            Ok(ReadPage { digest: Some(Digest::of(&bytes)), bytes: Some(bytes) })
        }
        Err(error) if error.code() == ErrorCode::NotFound => Ok(ReadPage { bytes: None, digest: None }),
        Err(error) => Err(error),
    }
}

fn pages(guard: &WorkspaceGuard) -> Result<Vec<MemoryPageView>, GuardError> {
    let options = ListOptions { depth: 1, limit: MAX_PAGES, offset: 0 };
    let listing = match guard.list("memory", &options) {
        Ok(listing) => listing,
        Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::NotAFolder) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut pages: Vec<MemoryPageView> = listing
        .entries
        .into_iter()
        .filter(|entry| entry.kind != EntryKind::Folder && entry.name.ends_with(".md"))
        .map(|entry| MemoryPageView {
            diary: is_diary_path(&entry.path),
            size: entry.size.unwrap_or(0),
            modified: entry.modified.map(crate::view::time),
            injected: false,
            refused: match entry.kind {
                EntryKind::Refused(code) => Some(code),
                EntryKind::File | EntryKind::Folder => None,
            },
            path: entry.path,
        })
        .collect();
    // MEMORY.md, then the days with the newest first, then the rest.
    pages.sort_by(|a, b| {
        let rank = |page: &MemoryPageView| match (page.path == MAIN_PAGE, page.diary) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        rank(a).cmp(&rank(b)).then_with(|| b.path.cmp(&a.path))
    });
    Ok(pages)
}

fn shown(injection: MemoryInjection) -> InjectionView {
    InjectionView {
        block: injection.block.unwrap_or_default(),
        cut: injection.cut,
        bytes: injection.whole_bytes as u64,
        limit: MAX_MEMORY_BYTES as u64,
        pages: injection.pages,
    }
}
