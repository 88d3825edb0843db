//! Models: set up, tried, counted.

use super::{read_stdin, workspace_at};
use crate::Exit;
use crate::arguments::{Providers, WireKind};
use crate::output::Output;
use crate::words;
use pilot_service::view::{
    LanguageSetting, LocalServerView, ProviderKind, ProviderRequest, ProviderTestView, ProviderView,
};
use pilot_service::{KeyPlace, Service, ServiceError, shown_text};
use pilot_types::{ErrorCode, TokenUsage};
use std::collections::BTreeMap;

pub(crate) async fn providers(
    service: &Service,
    action: &Providers,
    output: &Output,
) -> Result<Exit, ServiceError> {
    match action {
        Providers::List => {
            for view in service.app_view(LanguageSetting::System, false).await?.providers {
                list_one(view, output);
            }
        }
        Providers::Presets => {
            for preset in pilot_service::presets() {
                let words = format!("{}  {}  {}  {}", preset.id, preset.name, preset.base_url, preset.model);
                output.row(&preset, &words);
            }
        }
        Providers::Detect => {
            let found = service.local_servers().await?;
            if found.is_empty() {
                output.say(output.pick("No server of models answers here.", "本机没有模型服务器应答。"));
            }
            for server in found {
                output.row(&server, &found_words(&server, output));
            }
        }
        Providers::Add { name, kind, base_url, model } => {
            let request = ProviderRequest {
                name: name.clone(),
                kind: match kind {
                    WireKind::Openai => ProviderKind::OpenAiCompatible,
                    WireKind::Anthropic => ProviderKind::Anthropic,
                },
                base_url: base_url.clone(),
                model: model.clone(),
            };
            service.save_provider(request).await?;
        }
        Providers::Key { name } => keep_key(service, name).await?,
        Providers::Test { name } => {
            let view = service.test_provider(service.saved_draft(name).await?).await;
            return Ok(tell_test(&view, output));
        }
        Providers::Models { name } => {
            for model in service.provider_models(service.saved_draft(name).await?).await? {
                output.row(&serde_json::json!({ "type": "model", "name": model }), &model);
            }
        }
        Providers::Remove { name } => service.remove_provider(name).await?,
        Providers::Allow { name, workspace } => {
            let workspace = workspace_at(service, workspace).await?;
            service.give_consent(&workspace, name).await?;
        }
    }
    Ok(Exit::Done)
}

fn list_one(view: ProviderView, output: &Output) {
    let row = serde_json::json!({ "id": view.name, "name": view.name, "kind": view.kind, "base_url": view.base_url,
        "model": view.model, "local": view.local, "has_key": view.has_key });
    let words =
        format!("{}  {}  {}", view.name, view.base_url.unwrap_or_default(), view.model.unwrap_or_default());
    output.row(&row, &words);
}

fn found_words(server: &LocalServerView, output: &Output) -> String {
    let models = if server.loading {
        output.pick("still loading its model", "还在加载模型").to_owned()
    } else if server.models.is_empty() {
        output.pick("has no model yet", "还没有模型").to_owned()
    } else {
        server.models.join(", ")
    };
    format!("{}  {}  {models}", server.name, server.base_url)
}

async fn keep_key(service: &Service, name: &str) -> Result<(), ServiceError> {
    let key = read_stdin()?.trim().to_owned();
    if key.is_empty() {
        return Err(ServiceError::new(ErrorCode::Usage, "no key on standard input"));
    }
    let (place, error) = service.save_key(name, key.into()).await;
    if place == KeyPlace::ThisRun {
        let words = error.map_or_else(String::new, |error| error.to_string());
        return Err(ServiceError::new(ErrorCode::KeyringMissing, format!("the key was not kept: {words}"))
            .about(name));
    }
    Ok(())
}

fn tell_test(view: &ProviderTestView, output: &Output) -> Exit {
    let row = serde_json::json!({ "type": "provider_test", "ok": view.ok, "code": view.code, "message": view.message,
        "subject": view.subject, "called_tool": view.called_tool, "models": view.models, "millis": view.millis });
    let Some(code) = view.code else {
        let tools = if view.called_tool {
            output.pick("It called the tool that it was asked to call.", "它调用了要求它调用的工具。")
        } else {
            output.pick(
                "It answered, but did not call the tool that it was asked to call. Tasks need a model that does.",
                "它回答了，但没有调用要求它调用的工具。任务需要会调用工具的模型。",
            )
        };
        output.row(&row, &format!("✓ {}  {} ms\n  {tools}", shown_text(&view.subject), view.millis));
        return Exit::Done;
    };
    let detail = shown_text(&view.message);
    let words =
        format!("✗ {} ({})\n  {code}: {detail}", words::of(code, output.chinese), shown_text(&view.subject));
    output.row(&row, &words);
    Exit::Failed
}

pub(crate) async fn usage(service: &Service, days: u32, output: &Output) -> Result<Exit, ServiceError> {
    let mut sums: BTreeMap<String, TokenUsage> = BTreeMap::new();
    for day in service.usage(days).await? {
        sums.entry(day.provider.clone()).or_default().add(day.usage);
        let words = format!("{}  {}", day.day, usage_words(&day.provider, day.usage, output));
        output.row(&serde_json::json!({ "type": "usage", "day": day.day, "provider": day.provider, "usage": day.usage }), &words);
    }
    if sums.is_empty() {
        output.say(output.pick("No model was used in these days.", "这些天没有用过模型。"));
    }
    for (provider, sum) in sums {
        output.say(&format!("= {}", usage_words(&provider, sum, output)));
    }
    Ok(Exit::Done)
}

fn usage_words(provider: &str, usage: TokenUsage, output: &Output) -> String {
    let mark = if usage.estimated { output.pick("  (estimated)", "（估算）") } else { "" };
    format!(
        "{}  {} {}  {} {}{mark}",
        shown_text(provider),
        output.pick("in", "输入"),
        usage.input,
        output.pick("out", "输出"),
        usage.output
    )
}
