//! What every error code means to a person at a terminal, in both languages.

use pilot_types::ErrorCode;

/// True when the terminal's language is Chinese.
pub(crate) fn chinese() -> bool {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|value| value.starts_with("zh"))
}

/// The words of a code.
pub(crate) fn of(code: ErrorCode, chinese: bool) -> &'static str {
    let (en, zh) = both(code);
    if chinese { zh } else { en }
}

fn both(code: ErrorCode) -> (&'static str, &'static str) {
    use ErrorCode as E;
    match code {
        E::PathAbsolute => {
            ("Refused: only paths inside the folder can be used.", "已拦下：只能用文件夹内的相对路径。")
        }
        E::PathParent => ("Refused: a path may not contain '..'.", "已拦下：路径里不能有「..」。"),
        E::PathInvalid => ("Refused: this is not a usable path.", "已拦下：这不是可用的路径。"),
        E::PathTooLong => ("Refused: the path is too long or too deep.", "已拦下：路径太长或太深。"),
        E::PathName => ("Refused: a file may not have this name.", "已拦下：文件不能叫这个名字。"),
        E::PathExtension => {
            ("Refused: only md, csv and xlsx files are written.", "已拦下：只写 md、csv 和 xlsx 文件。")
        }
        E::PathProtected => ("Refused: this place is protected.", "已拦下：这个位置受保护。"),
        E::PathEscape => ("Refused: the path leads out of the folder.", "已拦下：路径通到文件夹外面。"),
        E::PathSymlink => ("Refused: the path goes through a link.", "已拦下：路径经过一个链接。"),
        E::PathHardlink => {
            ("Refused: the file has a second name elsewhere.", "已拦下：这个文件在别处还有一个名字。")
        }
        E::PathSpecial => ("Refused: this is no ordinary file.", "已拦下：这不是普通文件。"),
        E::PathMount => ("Refused: another disk is mounted there.", "已拦下：那里挂着另一个磁盘。"),
        E::NotFound => ("There is nothing at this path.", "这个路径下什么都没有。"),
        E::NotAFile => ("This is a folder, not a file.", "这是文件夹，不是文件。"),
        E::NotAFolder => ("This is a file, not a folder.", "这是文件，不是文件夹。"),
        E::TooLarge => ("Too large. Nothing was changed.", "太大了。什么都没有改变。"),
        E::PermissionDenied => {
            ("The system did not allow it. Nothing was changed.", "系统不允许。什么都没有改变。")
        }
        E::DiskFull => (
            "The disk is full. Nothing was changed. Make room and resume the task.",
            "磁盘满了。什么都没有改变。腾出空间后再继续任务。",
        ),
        E::ReadOnly => (
            "The disk or folder is read-only. Nothing was changed.",
            "磁盘或文件夹是只读的。什么都没有改变。",
        ),
        E::TargetChanged => {
            ("The file changed in between. Nothing was written.", "文件在此期间变了。什么都没有写。")
        }
        E::IoFailed => ("The disk reported an error. Nothing was changed.", "磁盘报错。什么都没有改变。"),
        E::WorkspaceNotFound => ("There is no such workspace.", "没有这个工作区。"),
        E::WorkspaceTooWide => (
            "Refused: this folder is too wide. Choose one folder for the work.",
            "已拦下：这个文件夹范围太大。请选一个专门的文件夹。",
        ),
        E::WorkspaceHoldsData => (
            "Refused: this folder holds the application's own data.",
            "已拦下：这个文件夹里有应用自己的数据。",
        ),
        E::WorkspaceNotFolder => ("This is not a folder that exists.", "这不是一个存在的文件夹。"),
        E::WorkspaceGone => {
            ("The folder is not there now. Nothing was changed.", "文件夹现在不在。什么都没有改变。")
        }
        E::WorkspaceReplaced => (
            "Another folder stands in its place. Nothing was changed.",
            "原来的位置换成了另一个文件夹。什么都没有改变。",
        ),
        E::PolicyDenied => ("Refused by a rule.", "已按规则拦下。"),
        E::UnknownTool => ("There is no such tool.", "没有这个工具。"),
        E::InvalidArguments => ("Refused: the arguments do not fit the tool.", "已拦下：参数不合要求。"),
        E::ToolFailed => ("The tool failed. Nothing was changed.", "工具出错。什么都没有改变。"),
        E::ToolTimeout => ("The tool took too long and was stopped.", "工具用时太长，已停止。"),
        E::McpNotStarted => (
            "The outside program could not be started. Look at its command in the settings.",
            "外部程序没有启动。请在设置里检查它的命令。",
        ),
        E::McpHandshake => (
            "The outside program did not answer as an MCP server does.",
            "外部程序没有按 MCP 服务器的方式应答。",
        ),
        E::McpBadAnswer => (
            "The outside program gave no usable answer and was stopped.",
            "外部程序没有给出可用的回答，已停止。",
        ),
        E::McpUnconfined => (
            "Refused: this computer cannot confine outside programs, and the settings demand that. Nothing was started.",
            "已拦下：这台电脑无法限制外部程序，而设置要求必须限制。什么都没有启动。",
        ),
        E::McpServerChanged => (
            "The outside tool is not what it was when the card was shown. Nothing was started; a new card shows it as it is now.",
            "外部工具与卡片显示时不同了。什么都没有启动；新卡片显示它现在的样子。",
        ),
        E::McpServerNotFound => (
            "There is no outside server of this name. `pilot mcp list` shows them.",
            "没有叫这个名字的外部服务器。用 `pilot mcp list` 查看。",
        ),
        E::McpDeclaration => (
            "This declaration of an outside server cannot be used. Nothing was saved.",
            "这份外部服务器的声明不能用。什么都没有保存。",
        ),
        E::TruncatedCall => {
            ("The model's answer was cut off; the call was not run.", "模型的回答被截断，没有执行这次调用。")
        }
        E::StepLimit => ("The task used up its steps.", "任务的步数用完了。"),
        E::TimeLimit => ("The task used up its time.", "任务的时间用完了。"),
        E::TokenLimit => ("The token cap is used up.", "token 上限用完了。"),
        E::RepeatedCall => (
            "The model repeated the same call three times; the task was ended.",
            "模型把同一调用重复了三次，任务已结束。",
        ),
        E::Cancelled => ("Stopped. What was written before stays.", "已停止。之前写的内容保留。"),
        E::ProviderMissing => ("This provider is not set up here.", "这里没有设置这个模型服务。"),
        E::ProviderKeyMissing => (
            "This provider needs a key: pilot providers key NAME",
            "这个模型服务需要密钥：pilot providers key 名称",
        ),
        E::ProviderUnauthorized => ("The provider refused the key.", "模型服务不接受这个密钥。"),
        E::ProviderForbidden => ("The provider does not allow this.", "模型服务不允许这个请求。"),
        E::ProviderNotFound => ("There is no model service at this address.", "这个地址没有模型服务。"),
        E::ProviderModelMissing => (
            "The server has no model of this name: pilot providers models NAME",
            "服务器上没有这个名字的模型：pilot providers models 名称",
        ),
        E::ProviderNoTools => (
            "This model cannot call tools, which every task needs. Choose another.",
            "这个模型不会调用工具，而任务离不开工具。请换一个模型。",
        ),
        E::ProviderLoading => (
            "The server is still loading its model. Wait a little, then try again.",
            "服务器还在加载模型。稍等一下再试。",
        ),
        E::ProviderRateLimited => {
            ("The provider gets too many requests. Try again later.", "模型服务请求太多，稍后再试。")
        }
        E::ProviderUnavailable => (
            "The provider cannot be reached. Nothing is lost; resume the task later.",
            "连不上模型服务。什么都没有丢，稍后可以继续任务。",
        ),
        E::ProviderTimeout => (
            "The provider did not answer in time. Resume the task later.",
            "模型服务没有及时回答。稍后可以继续任务。",
        ),
        E::ProviderStreamBroken => (
            "The provider's answer broke off. Resume the task to ask again.",
            "模型的回答中断了。继续任务会重新提问。",
        ),
        E::ProviderBadResponse => {
            ("The provider's answer could not be understood.", "看不懂模型服务的回答。")
        }
        E::ProviderRejected => ("The provider refused the request.", "模型服务拒绝了请求。"),
        E::ProviderRedirect => (
            "The provider sent the request elsewhere; the key did not follow.",
            "模型服务把请求转到别处，密钥没有跟过去。",
        ),
        E::ConsentRequired => (
            "Content would leave this computer and you were not asked yet: pilot providers allow NAME --workspace DIR",
            "内容会离开本机，还没有问过你：pilot providers allow 名称 --workspace 文件夹",
        ),
        E::ScriptExhausted => ("The script has no further step.", "脚本没有下一步了。"),
        E::ScriptMismatch => {
            ("The last result is not what the script expected.", "上一个结果和脚本预期的不同。")
        }
        E::ScriptInvalid => ("The script cannot be read.", "读不懂脚本。"),
        E::DocumentUnsupported => ("This kind of document cannot be read.", "这种文档读不了。"),
        E::DocumentBroken => ("The document is damaged.", "文档损坏。"),
        E::DocumentEncrypted => ("The document needs a password.", "文档需要密码。"),
        E::DocumentScanned => ("Only pictures of pages, no text.", "只有页面图片，没有文字。"),
        E::DocumentGarbled => ("The text layer is not readable.", "文字层读不出来。"),
        E::DocumentLimit => ("The document is beyond the limits.", "文档超出限制。"),
        E::DocumentTimeout => ("Reading the document took too long.", "读文档用时太长。"),
        E::DocumentCrashed => (
            "The reader stopped at this document; nothing else was affected.",
            "读这个文档时读取程序停了，其他不受影响。",
        ),
        E::TaskNotFound => ("There is no such task.", "没有这个任务。"),
        E::TaskState => ("This cannot be done with the task as it stands.", "任务现在的状态不能这样做。"),
        E::SessionNotFound => ("There is no such conversation.", "没有这个对话。"),
        E::ApprovalNotFound => ("There is no such approval.", "没有这张卡片。"),
        E::ApprovalDecided => ("Already decided. Nothing was done again.", "已经决定过了，没有再做一次。"),
        E::ApprovalStale => (
            "The file changed. Nothing was written; a new card shows the new difference.",
            "文件变了。什么都没有写，新卡片里有新的差异。",
        ),
        E::ApprovalRevised => ("The card was revised. Look at it again.", "卡片更新过，请再看一遍。"),
        E::ApprovalUnseen => (
            "Not approved: parts of the card that must be seen were not on screen. Nothing was written.",
            "没有批准：卡片上必须看过的部分还没有显示过。什么都没有写。",
        ),
        E::ApprovalRejected => ("Rejected. Nothing was written.", "已拒绝，什么都没有写。"),
        E::OutcomeUnknown => (
            "It cannot be known whether this happened. It is not run again by itself.",
            "无法知道是否已经发生，不会自动再做。",
        ),
        E::ArtifactNotFound => ("There is no such artifact.", "没有这个产物。"),
        E::UndoChanged => ("The file changed since. Nothing was undone.", "文件之后又变了，没有撤销。"),
        E::UndoMissing => ("There is nothing to go back to.", "没有可以恢复的内容。"),
        E::SkillNotFound => ("There is no such skill.", "没有这个技能。"),
        E::SkillNoHeader => (
            "A skill begins with a header between two lines of ---. Nothing was changed.",
            "技能开头要有写在两行 --- 之间的信息。什么都没有改变。",
        ),
        E::SkillHeaderBroken => (
            "The skill's header needs a usable name and description. Nothing was changed.",
            "技能开头的信息里要有可用的 name 和 description。什么都没有改变。",
        ),
        E::SkillDuplicate => (
            "Another skill of this folder has this name. Nothing was changed.",
            "这个文件夹里另一个技能已经用了这个名字。什么都没有改变。",
        ),
        E::EditConflict => {
            ("The file changed since it was read. Nothing was written.", "读取之后文件变了。什么都没有写。")
        }
        E::EditNotFound => ("This edit or version is not there any more.", "这次修改或这个版本已经不在了。"),
        E::AlreadyExists => {
            ("A file of that name is there already. Nothing was changed.", "已经有同名文件。什么都没有改变。")
        }
        E::ScheduleFields => (
            "A rule has five fields: minute, hour, day of the month, month, day of the week. Or @hourly, @daily, @weekly.",
            "规则要有五个字段：分、时、日、月、星期。也可以写 @hourly、@daily、@weekly。",
        ),
        E::ScheduleValue => ("One field of the rule cannot be.", "规则里有一个字段不对。"),
        E::ScheduleNever => {
            ("This rule never comes round: no such day exists.", "这条规则永远不会到：没有这样的日子。")
        }
        E::ScheduleZone => (
            "There is no such time zone. Write it like Asia/Shanghai.",
            "没有这个时区。写法如 Asia/Shanghai。",
        ),
        E::ScheduleNotFound => ("There is no such schedule.", "没有这个定时。"),
        E::SlotSkipped => ("Skipped: the previous run was not finished.", "已跳过：上一次还没有结束。"),
        E::SlotMissed => (
            "Missed: nobody was there to start it. It is not caught up.",
            "已错过：到点时没有运行。不会补做。",
        ),
        E::QueueFull => (
            "As many tasks wait here as may. Decide some of them first.",
            "这里等待的任务已经到上限。先处理其中几个。",
        ),
        E::ChannelNotFound => ("There is no such channel.", "没有这个通道。"),
        E::TokenRefused => (
            "The token is missing, wrong or revoked. No task was made.",
            "令牌缺失、不对或已吊销。没有建任务。",
        ),
        E::CallerRefused => (
            "Refused: only programs on this computer may call, no web page.",
            "已拦下：只有本机程序可以调用，网页不行。",
        ),
        E::RequestInvalid => {
            ("The request cannot be understood. No task was made.", "看不懂这个请求。没有建任务。")
        }
        E::TextLength => ("The text is empty or too long.", "文字是空的，或者太长。"),
        E::RateLimited => ("Too many requests. Try again in a moment.", "请求太多，稍等再试。"),
        E::PortTaken => (
            "Another program uses this port. Choose another one or end that program.",
            "端口被别的程序占用。换一个端口，或者关掉那个程序。",
        ),
        E::AutomationsPaused => ("All automations are paused.", "所有自动化都已暂停。"),
        E::WebhookOff => (
            "The webhook is not running. Open PocketPilot or start: pilot serve",
            "Webhook 没有运行。打开 PocketPilot，或者运行：pilot serve",
        ),
        E::DatabaseLocked => (
            "The data is in use by another program. Nothing was changed.",
            "数据正被别的程序使用。什么都没有改变。",
        ),
        E::DatabaseCorrupt => (
            "The data file is damaged; it was kept aside. Your own files are untouched.",
            "数据文件损坏，已另存保留。你的文件没有动。",
        ),
        E::DatabaseNewer => {
            ("The data is from a newer version. Install that one.", "数据来自更新的版本，请安装新版本。")
        }
        E::BackupInvalid => (
            "This is no whole backup of this program. Nothing was changed.",
            "这不是本程序的完整备份。什么都没有改变。",
        ),
        E::AuditBroken => ("The log chain is broken.", "记录链断了。"),
        E::KeyringMissing => ("There is no keyring on this computer.", "这台电脑没有密钥环。"),
        E::KeyringLocked => ("The keyring is locked.", "密钥环已锁定。"),
        E::KeyringTimeout => ("The keyring does not answer.", "密钥环没有回应。"),
        E::SettingsInvalid => ("This setting cannot be.", "不能这样设置。"),
        E::Usage => ("The call does not fit. Try: pilot --help", "用法不对。看看：pilot --help"),
        E::Internal => ("A fault of this program. Nothing is lost.", "程序出错。什么都没有丢。"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_words_in_both_languages() {
        for code in ErrorCode::ALL {
            let (en, zh) = both(*code);
            assert!(en.is_ascii() && en.len() > 8, "{code} needs English words");
            assert!(zh.chars().any(|c| c > '\u{2e80}'), "{code} needs Chinese words");
        }
    }
}
