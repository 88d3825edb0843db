//! The fields of an invoice on a page: labels, and the values to the right of them or below.
//!
//! Empty is better than a guess: a field that no label names stays `None`, except for the seller of a letter, who is the
//! first company on it.

mod amounts;
mod chinese;
mod grid;
mod labels;
mod parties;
mod title;
mod western;

pub(crate) use title::{Kind, of_lines as title_kind, of_name};

use crate::layout::Line;
use crate::model::InvoiceFields;
use grid::Grid;
use rust_decimal::Decimal;

/// Lines that are looked at from each end; an invoice of fifty pages has its fields on the first and the last.
const LINES: usize = 500;

/// Finds the fields of an invoice, credit note, quote or similar paper; `None` when it is none of them.
#[must_use]
pub(crate) fn find(lines: &[Line]) -> Option<InvoiceFields> {
    if lines.is_empty() {
        return None;
    }
    let kind = title::of_lines(lines);
    let ends: Vec<Line>;
    let lines = if lines.len() > 2 * LINES {
        ends = [&lines[..LINES], &lines[lines.len() - LINES..]].concat();
        &ends
    } else {
        lines
    };
    let grid = Grid::new(lines);
    let mut fields = if chinese::speaks(&grid) { chinese::read(&grid) } else { western::read(&grid) };
    let invoice = matches!(kind, Some(Kind::Invoice | Kind::CreditNote));
    let kind = match kind {
        Some(kind) => kind,
        // Without a title only the full set of fields makes an invoice.
        None if fields.number.is_some() && fields.gross.is_some() && fields.date.is_some() => Kind::Invoice,
        None => return None,
    };
    if invoice && fields.number.is_none() && fields.gross.is_none() {
        return None;
    }
    let negative = fields.gross.is_some_and(|gross| gross.is_sign_negative() && !gross.is_zero());
    fields.kind = match kind {
        Kind::Invoice if negative && fields.refers_to.is_some() => Kind::CreditNote,
        other => other,
    }
    .as_str()
    .to_owned();
    check_sum(&mut fields);
    Some(fields)
}

/// Net and tax must make the gross; otherwise both sides are told and nothing is changed.
fn check_sum(fields: &mut InvoiceFields) {
    if let (Some(net), Some(tax), Some(gross)) = (fields.net, fields.tax, fields.gross) {
        let sum = net.saturating_add(tax);
        if sum != gross {
            fields.conflicts.push(format!("net {net} + tax {tax} = {sum}, but gross is {gross}"));
        }
    } else if let (Some(net), Some(tax), None) = (fields.net, fields.tax, fields.gross) {
        fields.gross = Some(net.saturating_add(tax));
    }
}

/// The amount that counts: with tax, negative for a credit note however it is printed.
#[must_use]
pub(crate) fn signed_amount(fields: &InvoiceFields) -> Option<Decimal> {
    let amount = fields.gross.or(fields.due).or(fields.net)?;
    let credit = fields.kind == Kind::CreditNote.as_str();
    Some(if credit && amount.is_sign_positive() { -amount } else { amount })
}
