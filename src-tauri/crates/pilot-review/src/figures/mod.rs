//! The number check: where each figure of a proposed text comes from. It never says that a figure is right, only which
//! tool result it is in, how it follows from such figures, or that nothing explains it.

mod check;
mod currency;
mod dates;
mod derive;
mod draft;
mod evidence;
mod glyphs;
mod number;
mod scan;
mod totals;
mod words;

use crate::card::{Figure, FigureVerdict, NumberCheck};
use crate::grid::Grid;
use draft::Proposal;
use evidence::Evidence;
pub use evidence::ToolEvidence;
pub(crate) use glyphs::fold;
use pilot_documents::Table;

/// What is proposed, as it is checked.
#[derive(Clone, Copy, Debug)]
pub enum Proposed<'a> {
    /// A text; Markdown tables and lists in it are understood. Places are line numbers.
    Text(&'a str),
    /// Sheets by name, or the one table of a csv. Places are cell references.
    Tables(&'a [(Option<String>, Table)]),
}

/// Checks every figure of a proposed text or table against the tool results of the task. Pass only results of tools
/// that read: what a writing tool echoes would make any figure known.
#[must_use]
pub fn number_check(proposed: &Proposed<'_>, results: &[ToolEvidence<'_>]) -> NumberCheck {
    match proposed {
        Proposed::Text(text) => check_text(text, results),
        Proposed::Tables(tables) => check_grids(&Grid::of_tables(tables), results),
    }
}

pub(crate) fn check_text(text: &str, results: &[ToolEvidence<'_>]) -> NumberCheck {
    let evidence = Evidence::of(results);
    counted(Proposal::of_text(text, &evidence), &evidence)
}

pub(crate) fn check_grids(grids: &[Grid], results: &[ToolEvidence<'_>]) -> NumberCheck {
    let evidence = Evidence::of(results);
    counted(Proposal::of_grids(grids, &evidence), &evidence)
}

fn counted(proposal: Proposal, evidence: &Evidence) -> NumberCheck {
    let verdicts = check::verdicts(&proposal, evidence);
    let mut check = NumberCheck::default();
    for (draft, verdict) in proposal.drafts.into_iter().zip(verdicts) {
        match &verdict {
            FigureVerdict::Known { .. } => check.known += 1,
            FigureVerdict::Derived { .. } => check.derived += 1,
            FigureVerdict::Differs { .. } => check.differs += 1,
            FigureVerdict::Unsourced => check.unsourced += 1,
        }
        check.figures.push(Figure {
            text: crate::shown::shown_line(&draft.text),
            place: draft.place,
            verdict,
            kept: false,
        });
    }
    check
}

#[cfg(test)]
mod tests;
