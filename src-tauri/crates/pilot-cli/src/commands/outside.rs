//! Outside tools.

use crate::Exit;
use crate::arguments::Mcp;
use crate::output::Output;
use pilot_service::view::{
    CapabilityFound, ConfinementState, ConfinementView, McpRule, McpServerView, McpSource,
};
use pilot_service::{Service, ServiceError};
use std::fmt::Write as _;

pub(crate) async fn mcp(service: &Service, action: &Mcp, output: &Output) -> Result<Exit, ServiceError> {
    match action {
        Mcp::List => {
            let view = service.mcp().await?;
            for server in &view.servers {
                output.row(server, &words_of(server, output));
            }
            for problem in &view.problems {
                output.say(&format!("! {}", pilot_review::shown_text(problem)));
            }
            output.say(&held(view.confinement, output));
        }
        Mcp::Check { name } => {
            let view = service.check_mcp_server(name).await?;
            let words = format!(
                "✓ {}  {} {}  MCP {}  {} ms\n  {}",
                view.id,
                pilot_review::shown_text(&view.server),
                pilot_review::shown_text(&view.version),
                view.protocol,
                view.millis,
                held(view.confinement, output)
            );
            output.row(&view, &words);
        }
    }
    Ok(Exit::Done)
}

fn words_of(server: &McpServerView, output: &Output) -> String {
    let source = match server.source {
        McpSource::BuiltIn => output.pick("built in", "内置"),
        McpSource::Settings => output.pick("settings", "设置"),
        McpSource::Environment => output.pick("environment", "环境变量"),
    };
    let mut words = format!("{}  [{source}]  {} {}", server.id, server.command, server.args.join(" "));
    if server.workspaces.is_empty() {
        words.push_str(output.pick("  (no workspace allows it)", "（没有工作区允许它）"));
    }
    for tool in &server.tools {
        let rule = match tool.rule {
            McpRule::RunsFreely => output.pick("runs freely", "直接执行"),
            McpRule::Asks => output.pick("asks each time", "每次询问"),
            McpRule::Refused => output.pick("refused: no known rule", "已拦下：没有适用的规则"),
            McpRule::Hidden => output.pick("hidden: nothing says what it does", "不可见：没有说明它做什么"),
        };
        let found = match tool.found {
            CapabilityFound::Declared => "P0",
            CapabilityFound::Annotation => "P1",
            CapabilityFound::Name => "P2",
            CapabilityFound::Nothing => "P3",
        };
        let capability = tool.capability.as_deref().unwrap_or("-");
        let _ = write!(words, "\n  {}  {capability} ({found})  {rule}", tool.name);
    }
    pilot_review::shown_text(&words)
}

fn held(confinement: ConfinementView, output: &Output) -> String {
    let words = match confinement.state {
        ConfinementState::Whole => {
            output.pick("Outside tools are confined: files and TCP.", "外部工具受限：文件和 TCP。")
        }
        ConfinementState::FilesOnly => output.pick(
            "Outside tools are confined to files, not from the network.",
            "外部工具的文件访问受限，网络不受限。",
        ),
        ConfinementState::None => output.pick(
            "Outside tools cannot be confined here: they have your own rights.",
            "这里无法限制外部工具：它们拥有你本人的权限。",
        ),
    };
    if confinement.abi == 0 {
        words.to_owned()
    } else {
        format!("{words} (Landlock ABI {})", confinement.abi)
    }
}
