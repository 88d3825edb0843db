//! What a person writes by hand: memory and skills.

use super::{optional_workspace, read_stdin, workspace_at};
use crate::Exit;
use crate::arguments::{Memory, Skills};
use crate::output::Output;
use pilot_service::view::{Author, MemoryView, SkillOrigin, SkillRequest, SkillView};
use pilot_service::{Service, ServiceError};
use pilot_types::ErrorCode;

pub(crate) async fn memory(
    service: &Service,
    action: &Memory,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Memory::Show { workspace, page } => {
            let view = service.memory(&workspace_at(service, workspace).await?, page.as_deref()).await?;
            print_memory(&view, output);
        }
        Memory::Edit { workspace, page } => {
            let workspace = workspace_at(service, workspace).await?;
            let view = service.edit_memory(&workspace, page.as_deref(), read_stdin()?).await?;
            say_size(&view, output);
        }
        Memory::History { workspace, page } => {
            let workspace = workspace_at(service, workspace).await?;
            let path = page.as_deref().unwrap_or("memory/MEMORY.md");
            for version in service.memory_history(&workspace, path).await? {
                let who = match version.author {
                    Author::Task => output.pick("a task, by a card", "任务，经卡片批准"),
                    Author::Person => output.pick("you", "你"),
                    Author::Outside => output.pick("another program", "其他程序"),
                };
                let id = version.digest.as_ref().map_or("-", pilot_types::Digest::as_str);
                let at = version.at.as_deref().unwrap_or("-");
                let words = format!("{at}  {who}  {}  {id}", pilot_review::shown_text(&version.goal));
                let Ok(mut row) = serde_json::to_value(&version) else { continue };
                if let Some(object) = row.as_object_mut() {
                    object.insert("type".to_owned(), "memory_version".into());
                    object.insert("id".to_owned(), id.into());
                }
                output.row(&row, &words);
            }
        }
    }
    Ok(Exit::Done)
}

fn print_memory(view: &MemoryView, output: &Output) {
    let injected = view.injection.as_ref();
    let row = serde_json::json!({
        "type": "memory", "path": view.path, "text": view.text,
        "injected_bytes": injected.map_or(0, |injection| injection.block.len()),
        "memory_bytes": injected.map_or(0, |injection| injection.bytes),
        "limit": injected.map_or(0, |injection| injection.limit),
        "cut_bytes": injected.map_or(0, |injection| injection.cut.len()),
        "pages": view.pages, "problem": view.problem,
    });
    output.row(&row, &pilot_review::shown_text(&view.text));
    say_size(view, output);
}

/// How much of memory a task is given, and what of it is cut.
fn say_size(view: &MemoryView, output: &Output) {
    if let Some(code) = view.problem {
        return output.say(crate::words::of(code, output.chinese));
    }
    let Some(injection) = &view.injection else { return };
    let words = if output.chinese {
        format!(
            "记忆共 {} 字节，任务最多带 {} 字节，开头截去 {} 字节。",
            injection.bytes,
            injection.limit,
            injection.cut.len()
        )
    } else {
        format!(
            "{} bytes of memory; a task is given {} at most, {} bytes are cut at the front.",
            injection.bytes,
            injection.limit,
            injection.cut.len()
        )
    };
    output.say(&words);
}

pub(crate) async fn skills(
    service: &Service,
    action: &Skills,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Skills::List { workspace } => {
            let workspace = optional_workspace(service, workspace.as_deref()).await?;
            for skill in service.skills(workspace.as_ref()).await? {
                output.row(&skill, &line(&skill, output));
            }
        }
        Skills::Show { name, workspace } => {
            let workspace = optional_workspace(service, workspace.as_deref()).await?;
            let body = service.skill(workspace.as_ref(), name).await?;
            output.row(
                &serde_json::json!({ "type": "skill", "name": name, "text": body }),
                &pilot_review::shown_text(&body),
            );
        }
        Skills::New { workspace } => {
            let workspace = workspace_at(service, workspace).await?.to_string();
            let request = SkillRequest { workspace, folder: None, text: read_stdin()?, base: None };
            let made = service.save_skill(request).await?;
            output.row(&made.skill, &line(&made.skill, output));
        }
        Skills::Edit { name, workspace } => {
            let workspace = workspace_at(service, workspace).await?;
            let before = service.skill_text(Some(&workspace), SkillOrigin::Workspace, name).await?;
            let request = SkillRequest {
                workspace: workspace.to_string(),
                folder: Some(name.clone()),
                text: read_stdin()?,
                base: Some(before.digest),
            };
            let made = service.save_skill(request).await?;
            output.row(&made.skill, &line(&made.skill, output));
        }
        Skills::Remove { name, workspace } => {
            let workspace = workspace_at(service, workspace).await?;
            let edit = service.remove_skill(&workspace, name, None).await?;
            output.object(&serde_json::json!({ "type": "skill_removed", "id": edit, "name": name }));
            output.say(output.pick("Removed. Its text is kept for undo.", "已删除。原文保留，可以撤销。"));
        }
    }
    Ok(Exit::Done)
}

fn line(skill: &SkillView, output: &Output) -> String {
    let source = |source: SkillOrigin| match source {
        SkillOrigin::BuiltIn => output.pick("built in", "内置"),
        SkillOrigin::Environment => "POCKETPILOT_SKILLS_DIR",
        SkillOrigin::Workspace => output.pick("this folder", "本文件夹"),
    };
    let mut text = format!("{}  [{}]", pilot_review::shown_text(&skill.name), source(skill.source));
    if let Some(by) = skill.shadowed_by {
        text.push_str(&format!("  {} {}", output.pick("hidden by:", "被遮盖，来自："), source(by)));
    }
    for hidden in &skill.hides {
        text.push_str(&format!("  {} {}", output.pick("hides:", "遮盖："), source(*hidden)));
    }
    match skill.code {
        Some(code) => text.push_str(&format!("  ! {}", problem(skill, code, output))),
        None => text.push_str(&format!("  {}", pilot_review::shown_text(&skill.description))),
    }
    text
}

fn problem(skill: &SkillView, code: ErrorCode, output: &Output) -> String {
    let detail = skill.problem.as_deref().map(pilot_review::shown_text).unwrap_or_default();
    format!("{} ({detail})", crate::words::of(code, output.chinese))
}
