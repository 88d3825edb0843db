//! A card whose target changed: void, with a new card in its place.

use super::edit::with_edit;
use crate::error::ServiceError;
use crate::open::Service;
use crate::run::{Bench, requested_event};
use crate::view::ApprovalView;
use pilot_store::{ApprovalRow, approvals};
use pilot_types::{ApprovalId, ApprovalStatus, ErrorCode, Event, Source};

impl Service {
    /// Replaces a card that nobody has decided. Always an error: what was asked for did not happen.
    pub(crate) async fn replace(
        &self,
        row: ApprovalRow,
        bench: &Bench,
        why: &str,
        code: ErrorCode,
    ) -> Result<ApprovalView, ServiceError> {
        let new = self.put_new_card(row, bench, ApprovalStatus::Pending, code).await?;
        let (told, words) = if code == ErrorCode::McpServerChanged {
            (code, "nothing was started, a new card shows it as it is now")
        } else {
            (ErrorCode::ApprovalStale, "nothing was written, a new card shows the new difference")
        };
        Err(ServiceError::new(told, format!("{why}; {words}")).about(new.to_string()))
    }

    /// Voids `old` (which stands at `from`) and puts a new card for the same call in its place, in one transaction.
    /// When the call can no longer be prepared at all, the old card stays as it is and the reason is the error.
    pub(crate) async fn put_new_card(
        &self,
        old: ApprovalRow,
        bench: &Bench,
        from: ApprovalStatus,
        code: ErrorCode,
    ) -> Result<ApprovalId, ServiceError> {
        let prepared = self.check_call(bench, old.call.clone()).await?;
        let identity = bench.guard.identity();
        let (mut row, bytes) = with_edit(old.clone(), &prepared);
        row.id = ApprovalId::new();
        row.rev = 1;
        row.status = ApprovalStatus::Pending;
        row.asked_at = self.now();
        row.decided_at = None;
        row.decided_by = None;
        row.replaces = Some(old.id.clone());
        row.root_dev = identity.dev;
        row.root_ino = identity.ino;
        row.policy_version = pilot_policy::POLICY_VERSION;
        row.flags = self.count_flags(&row, &bytes, &bench.guard).await?;
        let mut tx = self.begin().await?;
        let (to, code) = (ApprovalStatus::Replaced, Some(code));
        if !approvals::transition(&mut tx, &old.id, from, to, self.now(), None, None, code).await? {
            return Err(ServiceError::new(ErrorCode::ApprovalDecided, "somebody else decided first")
                .about(old.id.to_string()));
        }
        approvals::insert(&mut tx, &row, &bytes).await?;
        approvals::link_replacement(&mut tx, &old.id, &row.id).await?;
        let events =
            [Event::ApprovalReplaced { old: old.id.clone(), new: row.id.clone() }, requested_event(&row)];
        let records = self.append(&mut tx, Some(&row.task), Source::System, &events).await?;
        self.commit(tx, records).await?;
        self.inner.bus.waiting(&row.id);
        Ok(row.id)
    }
}
