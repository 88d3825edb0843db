//! OpenAI-compatible chat completions: OpenAI, DeepSeek, Qwen, Moonshot, Ollama, LM Studio, llama.cpp, vLLM and others.

mod answer;
mod chunk;
pub(crate) mod request;

pub(crate) use answer::Assembly;
