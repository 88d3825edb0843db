//! Backup, restore, and the file for support.

use crate::Exit;
use crate::output::Output;
use pilot_service::{Service, ServiceError};
use std::path::{Path, PathBuf};

pub(crate) async fn back_up(
    service: &Service,
    to: &Path,
    undo: bool,
    output: &Output,
) -> Result<Exit, ServiceError> {
    let view = service.back_up(to, undo, false).await?;
    output.row(
        &serde_json::json!({ "type": "backup", "path": to.display().to_string(), "backup": view }),
        &format!("✓ {}", to.display()),
    );
    Ok(Exit::Done)
}

/// Nothing may be open, so this opens nothing itself.
pub(crate) async fn restore(data_dir: PathBuf, from: &Path, output: &Output) -> Result<Exit, ServiceError> {
    let (view, kept) = pilot_service::restore(data_dir, from).await?;
    let kept = kept.map(|path| path.display().to_string());
    let words = match &kept {
        Some(kept) => format!(
            "{} {kept}",
            output.pick(
                "The backup is in place. What was there before is kept at",
                "备份已恢复。原来的数据保存在"
            )
        ),
        None => output.pick("The backup is in place.", "备份已恢复。").to_owned(),
    };
    output.row(&serde_json::json!({ "type": "restore", "backup": view, "kept": kept }), &words);
    Ok(Exit::Done)
}

pub(crate) async fn support_file(
    service: &Service,
    to: &Path,
    output: &Output,
) -> Result<Exit, ServiceError> {
    service.write_support_file(to.to_path_buf(), false).await?;
    output.row(
        &serde_json::json!({ "type": "support", "path": to.display().to_string() }),
        &format!(
            "✓ {}  {}",
            to.display(),
            output.pick(
                "It holds no goals, names, paths or documents.",
                "里面没有目标、名字、路径和文档内容。"
            )
        ),
    );
    Ok(Exit::Done)
}
