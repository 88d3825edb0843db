//! Runner, scorer and cases of the evaluation.
