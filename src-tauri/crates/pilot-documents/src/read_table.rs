//! Reading back what was written: the tables of our own small files, for the card.

use crate::model::{DocumentKind, ExtractOptions, Table};
use crate::{csv_table, extract, kind, sheet, text};
use pilot_types::ErrorCode;

/// The tables of a CSV or a workbook, by sheet. Runs in process: it is meant for files of the sizes that this
/// application writes, with the same guards as every other reading.
///
/// # Errors
/// The code of what stops the reading; [`ErrorCode::DocumentUnsupported`] for anything that is no table.
pub fn read_table(name: &str, bytes: &[u8]) -> Result<Vec<(Option<String>, Table)>, ErrorCode> {
    let kind = kind::of(name, bytes);
    match kind {
        DocumentKind::Csv => {
            let decoded = text::decode(bytes, ExtractOptions::default().chinese);
            let (table, more) = csv_table::table(&decoded.text);
            if more { Err(ErrorCode::DocumentLimit) } else { Ok(vec![(None, table)]) }
        }
        DocumentKind::Xlsx | DocumentKind::Xls | DocumentKind::Xlsb | DocumentKind::Ods => {
            let book = extract::isolated(|| sheet::open(kind, bytes, None)).map_err(|error| error.code())?;
            if book.cut {
                return Err(ErrorCode::DocumentLimit);
            }
            let document = sheet::document(kind, &book);
            Ok(document
                .parts
                .into_iter()
                .flat_map(|part| {
                    let name = part.sheet;
                    part.tables.into_iter().map(move |table| (name.clone(), table))
                })
                .collect())
        }
        DocumentKind::Text
        | DocumentKind::Pdf
        | DocumentKind::Docx
        | DocumentKind::Doc
        | DocumentKind::Ofd
        | DocumentKind::InvoiceXml
        | DocumentKind::Image
        | DocumentKind::Unknown => Err(ErrorCode::DocumentUnsupported),
    }
}
