//! Who may come in: a program on this computer that talks to this very address, and no web page.
//!
//! A page can make the browser send requests to loopback, also under a name of its own that it points here (DNS
//! rebinding). Such a request carries the page's name as `Host`, or an `Origin`, or a `Sec-Fetch-Site`; a program sends
//! none of these. Nothing here answers a preflight, so a page cannot set a header or the JSON type either.

use super::answer::Refusal;
use axum::http::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use pilot_types::ErrorCode;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const TOKEN: HeaderName = HeaderName::from_static("x-pocketpilot-token");

/// Checks where a request comes from and whom it is meant for.
pub(super) fn check(parts: &Parts, port: u16) -> Result<(), Refusal> {
    let stranger = |words: &'static str| Refusal::new(StatusCode::FORBIDDEN, ErrorCode::CallerRefused, words);
    // A request line with a name in it is one for a proxy, and this is none.
    if parts.uri.authority().is_some() {
        return Err(stranger("the request names another server"));
    }
    let host = only(&parts.headers, &HOST).ok_or_else(|| stranger("the Host header is not this address"))?;
    if host != format!("127.0.0.1:{port}") && host != format!("localhost:{port}") {
        return Err(stranger("the Host header is not this address"));
    }
    if parts.headers.contains_key(ORIGIN) {
        return Err(stranger("requests from web pages are refused"));
    }
    if parts.headers.contains_key(FETCH_SITE) && only(&parts.headers, &FETCH_SITE) != Some("none") {
        return Err(stranger("requests from web pages are refused"));
    }
    Ok(())
}

/// The token that a request carries; `None` when there is none, or more than one.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    let own = headers.contains_key(TOKEN);
    let general = headers.contains_key(axum::http::header::AUTHORIZATION);
    match (own, general) {
        (true, false) => only(headers, &TOKEN),
        (false, true) => {
            let (scheme, token) = only(headers, &axum::http::header::AUTHORIZATION)?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
        }
        (true, true) | (false, false) => None,
    }
}

/// True when the body says that it is JSON, in UTF-8 if it says so.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = only(headers, &CONTENT_TYPE) else { return false };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    essence
        && parts.all(|parameter| {
            matches!(parameter.to_ascii_lowercase().as_str(), "charset=utf-8" | "charset=\"utf-8\"")
        })
}

/// The value of a header that is there exactly once and is text.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
