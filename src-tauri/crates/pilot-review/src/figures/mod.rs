//! The number check.
mod currency;
mod dates;
mod glyphs;
mod number;
mod scan;
mod words;
