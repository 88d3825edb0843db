//! The conversation: one handshake, at most one call, by the protocol's own library.

use super::process::{Output, SharedStdin};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock,
    Implementation, JsonObject, ResourceContents,
};
use rmcp::{RoleClient, ServiceError, service::RunningService};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a server introduced itself. Its own words, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerGreeting {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Version of the protocol that both speak.
    pub protocol: String,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) text: String,
    /// The server says that the call failed.
    pub(super) failed: bool,
}

/// Why a conversation came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It did not shake hands.
    Handshake(String),
    /// It went away after the call was sent.
    Gone(String),
    /// What it said is no answer to the call.
    BadAnswer(String),
}

/// Shakes hands and, with a call, makes it. `sent` becomes true just before the call leaves.
pub(super) async fn converse(
    output: Output,
    input: SharedStdin,
    call: Option<(String, JsonObject)>,
    sent: &AtomicBool,
) -> Result<(ServerGreeting, Option<Answer>), Fault> {
    let us = ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("pocketpilot", env!("CARGO_PKG_VERSION")),
    );
    let running = rmcp::serve_client(us, (output, input))
        .await
        .map_err(|error| Fault::Handshake(shortened(&error.to_string())))?;
    let greeting = greeting(&running);
    let answer = match call {
        None => None,
        Some((tool, arguments)) => {
            sent.store(true, Ordering::SeqCst);
            Some(ask(&running, tool, arguments).await)
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(200), running.cancel()).await;
    answer.transpose().map(|answer| (greeting, answer))
}

fn greeting(running: &RunningService<RoleClient, ClientConfig>) -> ServerGreeting {
    let info = running.peer().peer_info();
    let server = info.as_ref().and_then(|info| info.server_info.as_ref());
    ServerGreeting {
        name: server.map_or_else(String::new, |server| shortened(&server.name)),
        version: server.map_or_else(String::new, |server| shortened(&server.version)),
        protocol: info
            .as_ref()
            .map_or_else(String::new, |info| shortened(&info.protocol_version.to_string())),
    }
}

async fn ask(
    running: &RunningService<RoleClient, ClientConfig>,
    tool: String,
    arguments: JsonObject,
) -> Result<Answer, Fault> {
    let mut call = CallToolRequestParams::new(tool);
    call.arguments = Some(arguments);
    // One request, one response: rounds of further questions would be more than what was approved.
    match running.peer().call_tool_once(call).await {
        Ok(CallToolResponse::Complete(result)) => Ok(answer_of(result)),
        Ok(CallToolResponse::InputRequired(_)) => {
            Err(Fault::BadAnswer("it asked for more instead of answering".to_owned()))
        }
        Ok(_) => Err(Fault::BadAnswer("it put the call off instead of answering".to_owned())),
        Err(ServiceError::McpError(error)) => Ok(Answer { text: error.message.to_string(), failed: true }),
        Err(ServiceError::UnexpectedResponse) => {
            Err(Fault::BadAnswer("its answer has another form".to_owned()))
        }
        Err(error) => Err(Fault::Gone(shortened(&error.to_string()))),
    }
}

fn answer_of(result: CallToolResult) -> Answer {
    let mut parts: Vec<String> = result.content.into_iter().map(part).collect();
    if let Some(value) = result.structured_content
        && parts.is_empty()
    {
        parts.push(value.to_string());
    }
    Answer { text: parts.join("\n"), failed: result.is_error == Some(true) }
}

/// Text as it is; anything else by what it is. Pictures and sound go to no model from here.
fn part(block: ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => left_out(&image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => left_out(&audio.mime_type, audio.data.len()),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text,
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                left_out(mime_type.as_deref().unwrap_or("a file"), blob.len())
            }
            _ => "[a resource, left out]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[link: {}]", link.uri),
        _ => "[something of an unknown kind, left out]".to_owned(),
    }
}

fn left_out(kind: &str, encoded: usize) -> String {
    format!("[{kind}, about {} bytes, left out]", encoded / 4 * 3)
}

/// The arguments of a call as the library takes them.
pub(super) fn arguments(value: &Value) -> JsonObject {
    value.as_object().cloned().unwrap_or_default()
}

fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}
