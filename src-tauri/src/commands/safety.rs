//! The safety check: scripted attacks on temporary folders, played by this very program.

use super::settings::Named;
use super::{Answer, told};
use pilot_service::ServiceError;
use pilot_service::view::SafetyCaseView;
use pilot_types::ErrorCode;

/// Names of the cases, in the order in which they are played.
#[tauri::command]
pub(crate) fn safety_cases() -> Vec<String> {
    pilot_evals::safety_cases().into_iter().map(|case| case.name).collect()
}

/// Plays one case, so that the window can show how far it is and stop between two.
#[tauri::command]
pub(crate) async fn safety_run(request: Named) -> Answer<SafetyCaseView> {
    let Named { name } = request;
    let runtime = tokio::runtime::Handle::current();
    // A case opens a service of its own, which blocks for moments.
    let played =
        tokio::task::spawn_blocking(move || runtime.block_on(pilot_evals::safety_check(Some(&name))).pop())
            .await
            .map_err(|error| told(ServiceError::new(ErrorCode::Internal, error.to_string())))?;
    let case = played.ok_or_else(|| told(ServiceError::new(ErrorCode::Usage, "no case of that name")))?;
    Ok(SafetyCaseView {
        name: case.name,
        held: case.held,
        problems: case.problems,
        millis: case.micros.div_ceil(1_000),
    })
}
