//! Invoices of many files in one answer: totals by supplier, month and currency, medians, outliers, duplicates across
//! formats, contradictions, and everything that could not be read.

mod columns;
mod decode;
mod field;
mod figures;
mod ledger;
mod log;
mod same;
mod store;
mod tables;

use crate::error::DocumentError;
use crate::extract::{self, Reading};
use crate::invoice::{self, Kind};
use crate::model::{
    Analysis, AnalyzeOptions, DocumentKind, DocumentStatus, ExtractOptions, InvoiceFields, RowSource, Table,
};
use crate::{csv_table, kind, limits, text};
use log::Log;
use pilot_types::ErrorCode;
use std::io::{self, Cursor, Read};
use store::{Facts, Store, TableSource};
use tables::Outcome;

/// Most rows that one analysis counts.
pub(crate) const MAX_ROWS: usize = 3_000_000;

/// Bytes that decide kind, encoding and layout of a streamed file.
const HEAD: usize = 1 << 20;

/// Takes file after file, then answers.
#[derive(Debug)]
pub struct Analyzer {
    options: AnalyzeOptions,
    store: Store,
    log: Log,
    files: u32,
    full: bool,
}

impl Analyzer {
    /// Begins an analysis.
    #[must_use]
    pub fn new(options: AnalyzeOptions) -> Self {
        Self { options, store: Store::default(), log: Log::default(), files: 0, full: false }
    }

    /// Adds a file. Never fails: what cannot be read is in the answer's `unread_rows`.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        if is_streamed(kind::of(name, bytes)) {
            let guess = text::guess(bytes, self.options.chinese);
            self.streamed(name, &bytes[..bytes.len().min(HEAD)], guess, Cursor::new(bytes));
        } else {
            self.document(name, bytes);
        }
    }

    /// Adds a file that is read to the end; separated values are never held in memory as a whole.
    ///
    /// # Errors
    /// Those of the reader. What the bytes are is never an error.
    pub fn add_stream(&mut self, name: &str, mut input: impl Read) -> io::Result<()> {
        let mut head = Vec::new();
        input.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        if head.len() == HEAD && is_streamed(kind::of(name, &head)) {
            let guess = text::guess(&head, self.options.chinese);
            let mut all = Cursor::new(head.clone()).chain(input.take(limits::STREAM_BYTES));
            self.streamed(name, &head, guess, &mut all);
            return Ok(());
        }
        input.take(limits::DOCUMENT_BYTES + 1 - head.len() as u64).read_to_end(&mut head)?;
        if head.len() as u64 > limits::DOCUMENT_BYTES {
            self.add_unread(
                name,
                ErrorCode::DocumentLimit,
                &format!("more than {} bytes", limits::DOCUMENT_BYTES),
            );
        } else {
            self.add(name, &head);
        }
        Ok(())
    }

    /// Notes a file that could not even be opened.
    pub fn add_unread(&mut self, name: &str, code: ErrorCode, reason: &str) {
        self.log.unread(place(name), code, reason);
    }

    /// The answer.
    #[must_use]
    pub fn finish(mut self) -> Analysis {
        let settled = same::settle(&self.store, &mut self.log);
        let mut analysis = Analysis { files: self.files, ..Analysis::default() };
        figures::fill(&mut analysis, &self.store, settled, self.options.outlier_multiplier);
        if analysis.totals.contains_key("") {
            self.log.note("some amounts have no currency that the files name; they stand under an empty one");
        }
        if analysis.totals.len() > 1 {
            self.log.note("amounts of different currencies are never added");
        }
        self.log.close();
        analysis.conflicts = self.log.conflicts;
        analysis.unread_rows = self.log.unread;
        analysis.notes = self.log.notes;
        analysis
    }

    fn streamed(&mut self, name: &str, head: &[u8], guess: text::Guess, mut all: impl Read) {
        let end = head.len().max(guess.bom);
        let (sample, _) = guess.encoding.decode_without_bom_handling(&head[guess.bom.min(end)..]);
        let layout = csv_table::layout(&sample);
        let is_table = kind::of(name, head) == DocumentKind::Csv || (layout.regular && layout.columns >= 3);
        if !is_table || prose(name) {
            self.not_counted(name, "text, not a table");
            return;
        }
        if skip(&mut all, guess.bom as u64).is_err() {
            self.add_unread(name, ErrorCode::IoFailed, "the file could not be read to its end");
            return;
        }
        // A first line `sep=;` is one line of the decoded text.
        let lines = csv_table::Lines::new(&sample[layout.skip..], u64::from(layout.skip > 0));
        let mut decoded = decode::Utf8::new(all, guess.encoding);
        if skip(&mut decoded, layout.skip as u64).is_err() {
            self.add_unread(name, ErrorCode::IoFailed, "the file could not be read to its end");
            return;
        }
        if !guess.certain {
            self.log
                .note(format!("{name}: encoding {} (a guess; the file does not say)", guess.encoding.name()));
        }
        let title = invoice::of_name(name);
        if let Some(kind @ (Kind::Quote | Kind::Proforma)) = title {
            self.not_counted(name, &format!("a {} and no invoice", kind.as_str()));
            return;
        }
        match self.csv(name, decoded, layout, lines) {
            Outcome::Rows => self.files += 1,
            Outcome::NoLedger(why) => self.add_unread(name, ErrorCode::DocumentUnsupported, &why),
        }
    }

    fn not_counted(&mut self, name: &str, what: &str) {
        self.log.note(format!("{name}: {what}; not counted"));
    }

    fn document(&mut self, name: &str, bytes: &[u8]) {
        let kind = kind::of(name, bytes);
        if bytes.len() as u64 > limits::DOCUMENT_BYTES {
            self.add_unread(
                name,
                ErrorCode::DocumentLimit,
                &format!("more than {} bytes", limits::DOCUMENT_BYTES),
            );
            return;
        }
        let options = ExtractOptions { chinese: self.options.chinese, ..ExtractOptions::default() };
        let reading = match kind {
            DocumentKind::InvoiceXml => Err(DocumentError::Unsupported(
                "an invoice as XML; its fields are not read by this version".to_owned(),
            )),
            _ => extract::isolated(|| extract::read(kind, name, bytes, &options)),
        };
        match reading {
            Ok(reading) => self.reading(name, &reading),
            Err(error) => self.add_unread(name, error.code(), &error.to_string()),
        }
    }

    fn reading(&mut self, name: &str, reading: &Reading) {
        let document = &reading.document;
        if let (DocumentStatus::Refused | DocumentStatus::Partial, Some(code)) =
            (document.status, document.code)
        {
            let why = document.notes.iter().take(3).cloned().collect::<Vec<_>>().join("; ");
            self.add_unread(name, code, &why);
            if document.status == DocumentStatus::Refused {
                return;
            }
        }
        let title = invoice::title_kind(&reading.lines).or_else(|| invoice::of_name(name));
        let fields = document.invoice.as_ref();
        if let Some(book) = &reading.workbook {
            if let Some(kind @ (Kind::Quote | Kind::Proforma)) = title {
                self.not_counted(name, &format!("a {} and no invoice", kind.as_str()));
                return;
            }
            match self.workbook(name, book) {
                Outcome::Rows => self.files += 1,
                Outcome::NoLedger(why) => self.invoice_or(name, fields, &why),
            }
            return;
        }
        if fields.is_some() {
            self.invoice_or(name, fields, "");
            return;
        }
        if let Some(kind) = title.filter(|kind| !matches!(kind, Kind::Invoice | Kind::CreditNote)) {
            self.not_counted(name, &format!("a {} and no invoice", kind.as_str()));
            return;
        }
        let tables: Vec<(Option<u32>, &Table)> = document
            .parts
            .iter()
            .flat_map(|part| part.tables.iter().map(|table| (part.page, table)))
            .collect();
        match self.page_tables(name, &tables) {
            Outcome::Rows => self.files += 1,
            Outcome::NoLedger(why) => self.add_unread(name, ErrorCode::DocumentUnsupported, &why),
        }
    }

    /// A recognised invoice counts as one row.
    fn invoice_or(&mut self, name: &str, fields: Option<&InvoiceFields>, why: &str) {
        let Some(fields) = fields else {
            self.add_unread(name, ErrorCode::DocumentUnsupported, why);
            return;
        };
        if fields.kind != Kind::Invoice.as_str() && fields.kind != Kind::CreditNote.as_str() {
            self.not_counted(name, &format!("a {} and no invoice", fields.kind));
            return;
        }
        let Some(amount) = invoice::signed_amount(fields) else {
            self.add_unread(name, ErrorCode::DocumentUnsupported, "an invoice, but its total was not found");
            return;
        };
        let table = self.store.begin(TableSource { file: name.to_owned(), ..TableSource::default() });
        let facts = Facts {
            amount,
            currency: fields.currency.as_deref().unwrap_or_default(),
            supplier: fields.seller.as_deref().unwrap_or_default(),
            number: fields.number.as_deref().unwrap_or_default(),
            code: fields.code.as_deref().unwrap_or_default(),
            date: fields.date.as_deref().and_then(|date| date.parse().ok()),
            row: 0,
        };
        let index = self.store.add(table, &facts);
        let sign =
            if amount.is_sign_negative() { -rust_decimal::Decimal::ONE } else { rust_decimal::Decimal::ONE };
        let others = [fields.net, fields.due].into_iter().flatten().map(|other| other.abs() * sign).collect();
        self.store.others.insert(index, others);
        self.files += 1;
        let key = fields.number.clone().unwrap_or_else(|| name.to_owned());
        for conflict in &fields.conflicts {
            self.log.conflict(key.clone(), conflict.clone(), vec![place(name)]);
        }
    }
}

fn place(name: &str) -> RowSource {
    RowSource { file: name.to_owned(), ..RowSource::default() }
}

fn is_streamed(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::Csv | DocumentKind::Text)
}

/// Files that are text by their nature, however many commas they have.
fn prose(name: &str) -> bool {
    matches!(
        kind::ending(name).as_str(),
        "md" | "markdown" | "json" | "jsonl" | "xml" | "html" | "htm" | "yaml" | "yml" | "log"
    )
}

fn skip(input: &mut impl Read, count: u64) -> io::Result<()> {
    io::copy(&mut input.take(count), &mut io::sink()).map(|_| ())
}
