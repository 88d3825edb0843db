//! The few words that the shell itself says: tray, notifications, native dialogs.

use pilot_service::view::{LanguageSetting, SettingsView};

/// A language that the product speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// English.
    En,
    /// 简体中文.
    Zh,
}

/// The system's language: Chinese for any `zh` locale, else English.
pub(crate) fn system() -> LanguageSetting {
    let chinese = ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|value| value.starts_with("zh"));
    if chinese { LanguageSetting::ZhCn } else { LanguageSetting::En }
}

/// The language that the settings ask for.
pub(crate) fn chosen(settings: &SettingsView) -> Language {
    let setting = match settings.language {
        LanguageSetting::System => system(),
        other => other,
    };
    match setting {
        LanguageSetting::ZhCn => Language::Zh,
        LanguageSetting::En | LanguageSetting::System => Language::En,
    }
}

/// Something that the shell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    Open,
    Quit,
    PauseAutomations,
    ResumeAutomations,
    NothingWaits,
    View,
    TaskDone,
    TaskFailed,
    TaskInterrupted,
    ChooseFolder,
    AddFiles,
    SaveAs,
    SaveBackup,
    ChooseBackup,
    SaveSupport,
    NoTrayTitle,
    NoTrayText,
    KeepOpen,
}

impl Language {
    pub(crate) fn say(self, words: Words) -> &'static str {
        let (en, zh) = match words {
            Words::Open => ("Open PocketPilot", "打开 PocketPilot"),
            Words::Quit => ("Quit", "退出"),
            Words::PauseAutomations => ("Pause all automations", "暂停所有自动化"),
            Words::ResumeAutomations => ("Let automations go on", "让自动化继续"),
            Words::NothingWaits => ("Nothing waits for you", "没有等你审批的内容"),
            Words::View => ("View", "查看"),
            Words::TaskDone => ("Task finished", "任务已完成"),
            Words::TaskFailed => ("Task ended with an error", "任务出错结束"),
            Words::TaskInterrupted => ("Task interrupted", "任务已中断"),
            Words::ChooseFolder => ("Choose a folder", "选择文件夹"),
            Words::AddFiles => ("Add files", "添加文件"),
            Words::SaveBackup => ("Save a backup", "保存备份"),
            Words::ChooseBackup => ("Choose a backup", "选择备份"),
            Words::SaveSupport => ("Save the support file", "保存支持文件"),
            Words::SaveAs => ("Save as…", "另存为…"),
            Words::NoTrayTitle => ("Quit PocketPilot?", "退出 PocketPilot？"),
            Words::NoTrayText => (
                "This system shows no tray icon. If you quit, tasks stop at their last step and can be resumed.",
                "这个系统不显示托盘图标。退出后任务停在最后一步，之后可以继续。",
            ),
            Words::KeepOpen => ("Keep open", "保持打开"),
        };
        match self {
            Language::En => en,
            Language::Zh => zh,
        }
    }

    /// "3 waiting for you".
    pub(crate) fn waiting(self, count: usize) -> String {
        match self {
            Language::En => format!("{count} waiting for you"),
            Language::Zh => format!("{count} 个等待审批"),
        }
    }

    /// "2 running".
    pub(crate) fn running(self, count: usize) -> String {
        match self {
            Language::En => format!("{count} running"),
            Language::Zh => format!("{count} 个进行中"),
        }
    }

    /// Title of the notification of a card: it carries everything by itself.
    pub(crate) fn card_title(self) -> &'static str {
        match self {
            Language::En => "Waiting for your approval: 1 file",
            Language::Zh => "等你审批：写入 1 个文件",
        }
    }
}
