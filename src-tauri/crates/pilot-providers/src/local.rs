//! Servers of models on this computer: asked at their usual addresses, at no other, and not for long.

use crate::http::{HttpConfig, HttpProvider, Patience, WireFormat, is_local};
use crate::preset::{self, LLAMA_CPP, LM_STUDIO, OLLAMA};
use futures_util::future::join_all;
use pilot_types::ErrorCode;
use std::time::Duration;

/// An address at which a server may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPlace {
    /// Id of the preset.
    pub preset: &'static str,
    /// Address.
    pub base_url: String,
}

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Where.
    pub place: LocalPlace,
    /// Its models; empty while it loads one, or when it has none yet.
    pub models: Vec<String>,
    /// It is there, and its model is not yet.
    pub loading: bool,
}

/// The three addresses that are asked: Ollama, LM Studio and llama.cpp as they are installed.
#[must_use]
pub fn usual_places() -> Vec<LocalPlace> {
    [OLLAMA, LM_STUDIO, LLAMA_CPP]
        .into_iter()
        .filter_map(preset::preset)
        .map(|preset| LocalPlace { preset: preset.id, base_url: preset.base_url.to_owned() })
        .collect()
}

/// Asks all places at once for their models, each for at most this long. Nothing but the question is sent, and what is not on
/// this computer is not asked.
pub async fn find(places: &[LocalPlace], limit: Duration) -> Vec<LocalServer> {
    let asked = places.iter().filter(|place| is_local(&place.base_url)).map(|place| ask(place, limit));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(place: &LocalPlace, limit: Duration) -> Option<LocalServer> {
    let patience = Patience { connect: limit, first_byte: limit, idle: limit, ..Patience::default() };
    let config = HttpConfig {
        patience: Some(patience),
        ..HttpConfig::new(WireFormat::OpenAi, &place.base_url, "", None)
    };
    let models = HttpProvider::new(config).ok()?.models().await;
    let server = |models, loading| LocalServer { place: place.clone(), models, loading };
    match models {
        Ok(models) => Some(server(models, false)),
        Err(error) if error.code == ErrorCode::ProviderLoading => Some(server(Vec::new(), true)),
        // Nobody there, or somebody else.
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_usual_addresses_of_this_computer_are_asked() {
        let addresses: Vec<String> = usual_places().into_iter().map(|place| place.base_url).collect();
        assert_eq!(
            addresses,
            ["http://127.0.0.1:11434/v1", "http://127.0.0.1:1234/v1", "http://127.0.0.1:8080/v1"],
            "three ports on loopback, and nothing else"
        );
    }
}
