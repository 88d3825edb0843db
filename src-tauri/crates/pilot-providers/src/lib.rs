//! Model providers
