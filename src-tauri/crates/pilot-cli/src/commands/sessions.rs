//! Conversations.

use crate::Exit;
use crate::arguments::Sessions;
use crate::output::Output;
use pilot_service::view::{SessionListRequest, SessionView};
use pilot_service::{Service, ServiceError};
use pilot_types::SessionId;

pub(crate) async fn sessions(
    service: &Service,
    action: &Sessions,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Sessions::List { archived, search } => {
            let wanted = SessionListRequest { workspace: None, archived: *archived, search: search.clone() };
            for view in service.sessions(wanted).await? {
                output.row(&view, &line(&view));
            }
        }
        Sessions::Show { id } => {
            let detail = service.session(&SessionId::from_text(id)).await?;
            let mut words = line(&detail.session);
            for turn in &detail.turns {
                let goal = pilot_review::shown_text(&turn.goal);
                let answer = pilot_review::shown_text(&turn.answer);
                words.push_str(&format!("\n\n{}  {}\n> {goal}\n{answer}", turn.id, turn.status.as_str()));
            }
            let row = serde_json::json!({ "type": "session", "id": detail.session.id, "session": detail.session, "turns": detail.turns });
            output.row(&row, &words);
        }
        Sessions::Rename { id, title } => {
            let view = service.rename_session(&SessionId::from_text(id), title).await?;
            output.row(&view, &line(&view));
        }
        Sessions::Archive { id, undo } => {
            let view = service.archive_session(&SessionId::from_text(id), !undo).await?;
            output.row(&view, &line(&view));
        }
    }
    Ok(Exit::Done)
}

fn line(view: &SessionView) -> String {
    format!(
        "{}  {:17} {}  {}  ({})",
        view.id,
        view.status.as_str(),
        view.used_at,
        pilot_review::shown_text(&view.title),
        view.turns
    )
}
