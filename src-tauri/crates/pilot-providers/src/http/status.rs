//! From a status and the body of an error to a code, words, and whether another try makes sense.

use pilot_agent::ModelError;
use pilot_types::ErrorCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// Characters of a server's own words that are kept.
const SHOWN_CHARS: usize = 300;

/// Whether a failed attempt is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// No.
    Never,
    /// After a moment.
    Soon,
    /// After the time that the server named.
    After(Duration),
    /// The model is being loaded; asked again until the time for that is over.
    Loading,
}

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ModelError,
    pub(crate) again: Again,
}

impl Failure {
    pub(crate) fn new(again: Again, code: ErrorCode, words: impl Into<String>) -> Self {
        Self { error: ModelError::new(code, words), again }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, again: Again::Never }
    }
}

/// What an HTTP answer other than 2xx means.
pub(crate) fn failure(status: u16, headers: &HeaderMap, body: &[u8]) -> Failure {
    let said = words_of(body);
    if (300..400).contains(&status) {
        let to = headers
            .get(LOCATION)
            .and_then(|value| value.to_str().ok())
            .map_or_else(String::new, super::address::host);
        let words = format!(
            "the provider sends requests elsewhere ({status} → {to}); the key stays here, correct the address"
        );
        return Failure::new(Again::Never, ErrorCode::ProviderRedirect, words);
    }
    let code = code_for(status, &said.to_lowercase());
    let words = if said.is_empty() {
        format!("the provider answered {status}")
    } else {
        format!("the provider answered {status}: {said}")
    };
    let wait = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| retry_after(text, SystemTime::now()));
    let again = match status {
        // Money does not come back by waiting.
        429 if is_out_of_money(body) => Again::Never,
        _ if code == ErrorCode::ProviderLoading => Again::Loading,
        _ if matches!(code, ErrorCode::ProviderNoTools | ErrorCode::ProviderModelMissing) => Again::Never,
        408 | 425 | 429 | 500..=599 => wait.map_or(Again::Soon, Again::After),
        _ => Again::Never,
    };
    Failure::new(again, code, words)
}

/// What an error inside an answer of status 200 means.
pub(crate) fn error_in_answer(error: &Value) -> Failure {
    let said = shortened(&message_of(error));
    let lower = said.to_lowercase();
    let number = ["code", "status"].iter().find_map(|key| error.get(*key).and_then(Value::as_u64));
    let status = number
        .and_then(|status| u16::try_from(status).ok())
        .filter(|status| (400..600).contains(status))
        .or_else(|| status_of_kind(error.get("type").and_then(Value::as_str)?));
    let code = match status {
        Some(status) => code_for(status, &lower),
        // A server that answers whatever it is asked for.
        None if lower.contains("unexpected endpoint") => ErrorCode::ProviderNotFound,
        // Broken off on the server's side: the task can go on from where it stands.
        None => ErrorCode::ProviderUnavailable,
    };
    let passes = matches!(code, ErrorCode::ProviderUnavailable | ErrorCode::ProviderRateLimited);
    let again = if passes { Again::Soon } else { Again::Never };
    Failure::new(again, code, format!("the provider broke off: {said}"))
}

/// The status that belongs to a kind of error, as Anthropic names them.
fn status_of_kind(kind: &str) -> Option<u16> {
    match kind {
        "invalid_request_error" => Some(400),
        "authentication_error" => Some(401),
        "billing_error" => Some(402),
        "permission_error" => Some(403),
        "not_found_error" => Some(404),
        "request_too_large" => Some(413),
        "rate_limit_error" => Some(429),
        "api_error" => Some(500),
        "timeout_error" => Some(504),
        "overloaded_error" => Some(529),
        _ => None,
    }
}

/// The code of a status, made more exact by what the server says in small letters.
fn code_for(status: u16, said: &str) -> ErrorCode {
    match status {
        503 if said.contains("loading") => ErrorCode::ProviderLoading,
        400 | 404 | 422 | 500 | 501 if refuses_tools(said) => ErrorCode::ProviderNoTools,
        400 | 404 | 422 if misses_model(said) => ErrorCode::ProviderModelMissing,
        _ => code_of(status),
    }
}

/// In the words of Ollama, llama.cpp, vLLM, DeepSeek and OpenRouter.
fn refuses_tools(said: &str) -> bool {
    const WORDS: [&str; 6] = [
        "not support tool",
        "not support function call",
        "support tool use",
        "tools param requires",
        "tool-call-parser",
        "tool calling is not supported",
    ];
    WORDS.iter().any(|words| said.contains(words))
}

fn misses_model(said: &str) -> bool {
    const WORDS: [&str; 6] =
        ["not found", "not exist", "not_found", "no such model", "unknown model", "invalid model"];
    said.contains("model") && WORDS.iter().any(|words| said.contains(words))
}

fn is_out_of_money(body: &[u8]) -> bool {
    const WORDS: [&str; 2] = ["insufficient_quota", "enforced_spend_limit_reached"];
    let body = String::from_utf8_lossy(body);
    WORDS.iter().any(|words| body.contains(words))
}

fn code_of(status: u16) -> ErrorCode {
    match status {
        401 => ErrorCode::ProviderUnauthorized,
        402 | 403 => ErrorCode::ProviderForbidden,
        404 => ErrorCode::ProviderNotFound,
        408 => ErrorCode::ProviderTimeout,
        429 => ErrorCode::ProviderRateLimited,
        400..=499 => ErrorCode::ProviderRejected,
        500..=599 => ErrorCode::ProviderUnavailable,
        _ => ErrorCode::ProviderBadResponse,
    }
}

/// The server's own words in an error body, in whichever of the usual forms, short and on one line.
fn words_of(body: &[u8]) -> String {
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => shortened(&message_of(value.get("error").unwrap_or(&value))),
        Err(_) => shortened(&String::from_utf8_lossy(body)),
    }
}

fn message_of(error: &Value) -> String {
    if let Value::String(text) = error {
        return text.clone();
    }
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let message = text("message").or_else(|| text("detail")).unwrap_or_default();
    match text("code").or_else(|| text("type")) {
        Some(kind) if !message.is_empty() => format!("{message} ({kind})"),
        Some(kind) => kind.to_owned(),
        None => message.to_owned(),
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text
        .trim()
        .chars()
        .take(SHOWN_CHARS)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if text.trim().chars().nth(SHOWN_CHARS).is_some() {
        short.push('…');
    }
    short
}

/// `Retry-After`: seconds, or a date as HTTP writes it.
fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Some(seconds) = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite()) {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let date = http_date(text)?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that is still sent.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = text.split_once(", ")?.1.split(' ');
    let day: u64 = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let month = u64::try_from(MONTHS.iter().position(|month| *month == name)?).ok()? + 1;
    let year: u64 = parts.next()?.parse().ok()?;
    let mut clock = parts.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let valid =
        (1970..10_000).contains(&year) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    if !valid || parts.next() != Some("GMT") {
        return None;
    }
    // Days since 1970 by the civil calendar, with the year beginning in March so that the leap day comes last.
    let (shifted_year, shifted_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era_days = 365 * shifted_year + shifted_year / 4 - shifted_year / 100 + shifted_year / 400;
    let days = (era_days + (153 * shifted_month + 2) / 5 + day - 1).checked_sub(719_468)?;
    SystemTime::UNIX_EPOCH
        .checked_add(Duration::from_secs(days * 86_400 + hour * 3_600 + minute * 60 + second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn with(headers: &[(reqwest::header::HeaderName, &'static str)]) -> HeaderMap {
        headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn each_status_has_its_code_and_its_patience() {
        let table = [
            (301, ErrorCode::ProviderRedirect, Again::Never),
            (307, ErrorCode::ProviderRedirect, Again::Never),
            (400, ErrorCode::ProviderRejected, Again::Never),
            (401, ErrorCode::ProviderUnauthorized, Again::Never),
            (402, ErrorCode::ProviderForbidden, Again::Never),
            (403, ErrorCode::ProviderForbidden, Again::Never),
            (404, ErrorCode::ProviderNotFound, Again::Never),
            (408, ErrorCode::ProviderTimeout, Again::Soon),
            (413, ErrorCode::ProviderRejected, Again::Never),
            (422, ErrorCode::ProviderRejected, Again::Never),
            (429, ErrorCode::ProviderRateLimited, Again::Soon),
            (500, ErrorCode::ProviderUnavailable, Again::Soon),
            (503, ErrorCode::ProviderUnavailable, Again::Soon),
            (529, ErrorCode::ProviderUnavailable, Again::Soon),
            (100, ErrorCode::ProviderBadResponse, Again::Never),
        ];
        for (status, code, again) in table {
            let failure = failure(status, &HeaderMap::new(), b"{\"error\":{\"message\":\"why\"}}");
            assert_eq!((failure.error.code, failure.again), (code, again), "status {status}");
        }
    }

    #[test]
    fn a_servers_words_are_found_and_shortened() {
        let table: [(&[u8], &str); 7] = [
            (b"{\"error\":{\"code\":400,\"message\":\"'messages' is required\",\"type\":\"invalid_request_error\"}}", "'messages' is required (invalid_request_error)"),
            (b"{\"error\":\"model not found\"}", "model not found"),
            (b"{\"message\":\"no\"}", "no"),
            (b"{\"detail\":\"no\"}", "no"),
            (b"plain\r\nwords", "plain  words"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
            (b"", ""),
        ];
        for (body, words) in table {
            assert_eq!(words_of(body), words, "{:?}", String::from_utf8_lossy(body));
        }
        assert!(words_of(&[b'x'; 10_000]).chars().count() <= SHOWN_CHARS + 1, "a page of words is shortened");
    }

    #[test]
    fn loading_and_empty_accounts_are_told_apart_from_rush() {
        let loading = failure(
            503,
            &HeaderMap::new(),
            b"{\"error\":{\"message\":\"Loading model\",\"type\":\"unavailable_error\",\"code\":503}}",
        );
        assert_eq!(
            (loading.again, loading.error.code),
            (Again::Loading, ErrorCode::ProviderLoading),
            "a model that is being loaded"
        );
        let empty = failure(
            429,
            &HeaderMap::new(),
            b"{\"error\":{\"message\":\"x\",\"code\":\"insufficient_quota\"}}",
        );
        assert_eq!(empty.again, Again::Never, "an empty account");
        let capped = failure(
            429,
            &HeaderMap::new(),
            b"{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"x\",\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}}}",
        );
        assert_eq!(capped.again, Again::Never, "a cap on spending");
        let named = failure(429, &with(&[(RETRY_AFTER, "7")]), b"");
        assert_eq!(named.again, Again::After(Duration::from_secs(7)), "the server named a time");
    }

    #[test]
    fn a_missing_model_and_missing_tools_are_told_from_a_wrong_address() {
        let table: [(u16, &str, ErrorCode); 12] = [
            (
                404,
                "The model `gpt-x` does not exist or you do not have access to it. (model_not_found)",
                ErrorCode::ProviderModelMissing,
            ),
            (404, "model \"qwen9\" not found, try pulling it first", ErrorCode::ProviderModelMissing),
            (404, "model: claude-x (not_found_error)", ErrorCode::ProviderModelMissing),
            (400, "Model Not Exist", ErrorCode::ProviderModelMissing),
            (404, "Not Found", ErrorCode::ProviderNotFound),
            (404, "File Not Found (not_found_error)", ErrorCode::ProviderNotFound),
            (404, "", ErrorCode::ProviderNotFound),
            (400, "registry.ollama.ai/library/gemma3:4b does not support tools", ErrorCode::ProviderNoTools),
            (500, "tools param requires --jinja flag", ErrorCode::ProviderNoTools),
            (404, "No endpoints found that support tool use", ErrorCode::ProviderNoTools),
            (
                400,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
                ErrorCode::ProviderNoTools,
            ),
            (503, "still loading model", ErrorCode::ProviderLoading),
        ];
        for (status, words, code) in table {
            let body = serde_json::json!({ "error": { "message": words } }).to_string();
            let found = failure(status, &HeaderMap::new(), body.as_bytes());
            assert_eq!(found.error.code, code, "{status} {words}");
            let inside = error_in_answer(&serde_json::json!({ "code": status, "message": words }));
            assert_eq!(inside.error.code, code, "{status} {words}, said inside an answer");
        }
        let lost = error_in_answer(&serde_json::json!("Unexpected endpoint or method. (POST /v2)"));
        assert_eq!(lost.error.code, ErrorCode::ProviderNotFound, "a server that says 200 to everything");
    }

    #[test]
    fn a_redirect_names_the_other_host() {
        let failure = failure(302, &with(&[(LOCATION, "https://elsewhere.example/x?key=1")]), b"");
        assert!(failure.error.detail.contains("elsewhere.example"), "the host: {}", failure.error.detail);
        assert!(!failure.error.detail.contains("key=1"), "and nothing of the rest: {}", failure.error.detail);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let table = [
            ("5", Some(5_000)),
            ("0.5", Some(500)),
            ("-3", Some(0)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0)),
            ("Thu, 29 Feb 1996 00:00:00 GMT", Some(41_440_223_000)),
            ("Sun, 06 Nov 1994 08:49:47 CET", None),
            ("soon", None),
            ("NaN", None),
            ("1e400", None),
        ];
        for (text, millis) in table {
            assert_eq!(retry_after(text, now), millis.map(Duration::from_millis), "{text}");
        }
    }
}
