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
pub(super) enum Again {
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
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) again: Again,
}

impl Failure {
    pub(super) fn new(again: Again, code: ErrorCode, words: impl Into<String>) -> Self {
        Self { error: ModelError::new(code, words), again }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, again: Again::Never }
    }
}

/// What an HTTP answer other than 2xx means.
pub(super) fn failure(status: u16, headers: &HeaderMap, body: &[u8]) -> Failure {
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
    let code = code_of(status);
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
        429 if said.contains("insufficient_quota") => Again::Never,
        503 if said.to_lowercase().contains("loading") => Again::Loading,
        408 | 425 | 429 | 500..=599 => wait.map_or(Again::Soon, Again::After),
        _ => Again::Never,
    };
    Failure::new(again, code, words)
}

/// What an error inside an answer of status 200 means.
pub(super) fn error_in_answer(error: &Value) -> ModelError {
    let said = shortened(&message_of(error));
    let status = ["code", "status"].iter().find_map(|key| error.get(*key).and_then(Value::as_u64));
    let code = match status
        .and_then(|status| u16::try_from(status).ok())
        .filter(|status| (400..600).contains(status))
    {
        Some(status) => code_of(status),
        // Broken off on the server's side: the task can go on from where it stands.
        None => ErrorCode::ProviderUnavailable,
    };
    ModelError::new(code, format!("the provider broke off: {said}"))
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
        assert_eq!(loading.again, Again::Loading, "a model that is being loaded");
        let empty = failure(
            429,
            &HeaderMap::new(),
            b"{\"error\":{\"message\":\"x\",\"code\":\"insufficient_quota\"}}",
        );
        assert_eq!(empty.again, Again::Never, "an empty account");
        let named = failure(429, &with(&[(RETRY_AFTER, "7")]), b"");
        assert_eq!(named.again, Again::After(Duration::from_secs(7)), "the server named a time");
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
