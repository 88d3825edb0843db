//! Where a provider is: which addresses may be used, and whether content would leave this computer.

use pilot_agent::ModelError;
use pilot_types::ErrorCode;
use reqwest::Url;
use std::net::IpAddr;

/// Checks an address before anything is sent to it: https, or http on this computer, without a name or password in it.
///
/// # Errors
/// [`ErrorCode::SettingsInvalid`] with words.
pub fn check_base_url(base_url: &str) -> Result<(), ModelError> {
    parse(base_url).map(|_| ())
}

/// True when content sent there stays on this computer: a loopback address or `localhost`. False for anything that
/// cannot be read.
#[must_use]
pub fn is_local(base_url: &str) -> bool {
    Url::parse(base_url.trim()).is_ok_and(|url| is_loopback(&url))
}

/// Host, and port if it is not the usual one, for the question whether content may go there. The text itself when it is
/// no address.
#[must_use]
pub fn host(base_url: &str) -> String {
    match Url::parse(base_url.trim()) {
        Ok(url) => match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => base_url.to_owned(),
        },
        Err(_) => base_url.to_owned(),
    }
}

/// An address that passed [`check_base_url`].
pub(crate) fn parse(base_url: &str) -> Result<Url, ModelError> {
    let invalid = |words: &str| ModelError::new(ErrorCode::SettingsInvalid, words.to_owned());
    let url = Url::parse(base_url.trim())
        .map_err(|_| invalid("the address is not a URL such as https://host/v1"))?;
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) => {}
        "http" => return Err(invalid("http is used on this computer only; the address needs https")),
        _ => return Err(invalid("the address must begin with https:// (or http:// on this computer)")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("the address holds a name or password; give the key as the key"));
    }
    if url.fragment().is_some() || url.cannot_be_a_base() {
        return Err(invalid("the address is not a URL such as https://host/v1"));
    }
    Ok(url)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_or_this_computer() {
        let table = [
            ("https://api.example.com/v1", true),
            ("https://api.example.com/v1?api-version=1", true),
            ("http://127.0.0.1:8080/v1", true),
            ("http://127.8.9.10/v1", true),
            ("http://localhost:11434/v1", true),
            ("http://[::1]:1234/v1", true),
            (" http://127.0.0.1:8080/v1 ", true),
            ("http://api.example.com/v1", false),
            ("http://192.168.1.5:8080/v1", false),
            ("http://0.0.0.0:8080/v1", false),
            ("http://localhost.example.com/v1", false),
            ("http://127.0.0.1.example.com/v1", false),
            ("http://[::ffff:127.0.0.1]/v1", false),
            ("https://name:hunter2@api.example.com/v1", false),
            ("https://api.example.com/v1#part", false),
            ("file:///etc/passwd", false),
            ("data:text/plain,x", false),
            ("api.example.com/v1", false),
            ("", false),
        ];
        for (address, good) in table {
            let checked = check_base_url(address);
            assert_eq!(checked.is_ok(), good, "{address:?}: {checked:?}");
            if let Err(error) = checked {
                assert_eq!(error.code, ErrorCode::SettingsInvalid, "{address:?} is a setting to correct");
                assert!(!error.detail.contains("hunter2"), "{address:?}: a password does not come back");
            }
        }
    }

    #[test]
    fn local_means_loopback_and_nothing_else() {
        for local in ["http://127.0.0.1:1/v1", "http://localhost/v1", "https://[::1]/", "http://127.1/v1"] {
            assert!(is_local(local), "{local} stays on this computer");
        }
        for remote in
            ["https://api.example.com", "http://10.0.0.1", "http://localhost.example.com", "", "localhost"]
        {
            assert!(!is_local(remote), "{remote:?} must be taken as leaving it");
        }
    }

    #[test]
    fn the_host_is_what_a_person_is_asked_about() {
        assert_eq!(host("https://api.example.com/v1"), "api.example.com", "without the usual port");
        assert_eq!(host("https://gpu.example.com:8443/v1"), "gpu.example.com:8443", "with an unusual one");
        assert_eq!(host("nonsense"), "nonsense", "what is no address is shown as it is");
    }
}
