//! The parts of a card, as the window and the command line draw them.

use pilot_types::Digest;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How much must have been on screen before Approve is offered. Decided from facts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// A new file without flags: nothing must have been seen.
    Quiet,
    /// Only additions to an existing file, no flags.
    Normal,
    /// Something is removed or replaced, memory, a loss, a flag, or an effect outside the folder.
    Heavy,
}

/// What would happen to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// A new file.
    Create,
    /// A file that is there is replaced.
    Overwrite,
    /// A program outside this one is asked.
    Outside,
}

/// Facts of a file's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileFacts {
    /// Bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// Lines of a text; `None` for other bytes.
    #[ts(type = "number | null")]
    pub lines: Option<u64>,
    /// `UTF-8`, `UTF-8 BOM`, `GB18030`, `XLSX` …
    pub encoding: String,
    /// `LF`, `CRLF`, `mixed`, `none`.
    pub line_end: String,
    /// SHA-256.
    pub digest: Digest,
}

/// Something of the present file that the new bytes do not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// Formulas become values or vanish.
    Formulas,
    /// Cell colours, fonts, borders.
    CellStyles,
    /// A hidden sheet.
    HiddenSheets,
    /// A sheet that is no longer there.
    Sheets,
    /// Comments and notes.
    Comments,
    /// Charts and pictures.
    Drawings,
    /// Macros.
    Macros,
    /// The text encoding changes.
    Encoding,
    /// The line ends change.
    LineEnds,
    /// Anything else of a workbook that is not written again: pivot tables, drop-down lists, merged cells, protection.
    OtherFeatures,
    /// The present file could not be read for comparison; all of it is replaced.
    Unreadable,
}

/// A loss, with how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Loss {
    /// What.
    pub kind: LossKind,
    /// How many; 1 where counting makes no sense.
    pub count: u32,
}

/// Something that a person should look at twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// Invisible or direction-changing characters in the content.
    HiddenCharacters,
    /// A word that mixes scripts, such as Latin and Cyrillic.
    MixedScripts,
    /// Text that looks like an answer to this card ("approved", 批准).
    ForgedApproval,
    /// Text that reads like an instruction to a model.
    ReadsLikeInstruction,
    /// A file that other programs read as instructions (`AGENTS.md` and the like).
    InstructionFile,
    /// A long number such as a bank account differs from the present file.
    AccountNumberChanged,
    /// Figures that no tool result explains.
    UnsourcedFigures,
    /// Figures that differ from what a tool computed.
    DifferingFigures,
    /// A cell or field that other programs would take for a formula; it is written as text.
    FormulaLike,
    /// Lines longer than 2,000 characters.
    LongLines,
}

/// A flag with what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Flag {
    /// What.
    pub kind: FlagKind,
    /// How many.
    pub count: u32,
    /// The first one, escaped; never translated.
    pub sample: String,
}

/// How a piece of a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SpanMark {
    /// As it is.
    Plain,
    /// Differs from the other side.
    Changed,
    /// A character that could not be seen: drawn as a box with this text, such as `U+202E`.
    Hidden,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Span {
    /// Text to draw; contains no invisible or control character.
    pub text: String,
    /// How.
    pub mark: SpanMark,
}

/// Which side a line or row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// On both sides.
    Same,
    /// Only in the new bytes.
    Added,
    /// Only in the present file.
    Removed,
    /// On both sides with other cells (rows only).
    Changed,
}

/// A line of a text difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLine {
    /// Side.
    pub kind: LineKind,
    /// Line number in the present file, from 1.
    pub old: Option<u32>,
    /// Line number in the new bytes, from 1.
    pub new: Option<u32>,
    /// Pieces.
    pub spans: Vec<Span>,
    /// Number of the change that it belongs to, from 1; 0 for unchanged lines. Neighbouring changed lines share one.
    pub change: u32,
    /// True for a last line that has no line end.
    #[serde(default)]
    pub no_line_end: bool,
}

/// Where a column of a table difference stands on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ColumnPlace {
    /// Column of the present table, from 1; `None` for a new column.
    pub old: Option<u32>,
    /// Column of the new table, from 1; `None` for a column that goes.
    pub new: Option<u32>,
}

/// A cell of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CellChange {
    /// Present content; `None` when the cell is not there or equal.
    pub old: Option<Vec<Span>>,
    /// New content; `None` when the row or the column is removed.
    pub new: Option<Vec<Span>>,
}

/// A row of a table difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RowChange {
    /// Side.
    pub kind: LineKind,
    /// Row number in the present table, from 1.
    pub old: Option<u32>,
    /// Row number in the new table, from 1.
    pub new: Option<u32>,
    /// Cells by column.
    pub cells: Vec<CellChange>,
    /// Number of the change, from 1; 0 for unchanged rows.
    pub change: u32,
}

/// The difference of one sheet or csv.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TableDifference {
    /// Sheet name; `None` for a csv.
    pub name: Option<String>,
    /// Whether the sheet is new, gone, changed or the same.
    pub kind: LineKind,
    /// Name of the column by which rows were matched; `None` when by position.
    pub matched_by: Option<String>,
    /// Number of columns in `rows`, also those that go.
    pub columns: u32,
    /// Where each column stands on either side. Without inserted or removed columns, both are the same.
    #[serde(default)]
    pub column_places: Vec<ColumnPlace>,
    /// All rows in the order of the new table, removed ones where they stood.
    pub rows: Vec<RowChange>,
}

/// What changes, by kind of file. Never cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Difference {
    /// Lines (md, txt, memory, and the exact text of a csv).
    Text {
        /// All lines.
        lines: Vec<DiffLine>,
    },
    /// Rows of a csv, and the same as lines.
    Rows {
        /// The one table.
        table: TableDifference,
        /// Encoding and delimiter line, such as `UTF-8 BOM, comma`.
        format: String,
        /// The exact text as lines.
        lines: Vec<DiffLine>,
    },
    /// Cells of a workbook.
    Cells {
        /// All sheets.
        sheets: Vec<TableDifference>,
    },
    /// A request to an outside program: its exact text as lines.
    Outside {
        /// All lines.
        lines: Vec<DiffLine>,
    },
}

/// What is known of one figure of the proposed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum FigureVerdict {
    /// A tool result of the task contains it, at the shown precision.
    Known {
        /// Tool and place, such as `analyze_table · totals.CNY`.
        source: String,
    },
    /// Follows from known figures: a sum, a difference, a share.
    Derived {
        /// How, such as `12300.00 + 11850.00`.
        how: String,
    },
    /// A tool computed something close to it.
    Differs {
        /// What was computed.
        computed: String,
        /// Where.
        source: String,
    },
    /// No tool result explains it.
    Unsourced,
}

/// A figure of the proposed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Figure {
    /// As written.
    pub text: String,
    /// Line number or cell reference (`Sheet1!C4`).
    pub place: String,
    /// What is known.
    pub verdict: FigureVerdict,
    /// True when it stands in a line or cell that the present file has too: marked, but no reason for a flag.
    #[serde(default)]
    pub kept: bool,
}

/// All figures of the proposed text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NumberCheck {
    /// In reading order.
    pub figures: Vec<Figure>,
    /// How many are known.
    pub known: u32,
    /// How many are derived.
    pub derived: u32,
    /// How many differ.
    pub differs: u32,
    /// How many have no source.
    pub unsourced: u32,
}

/// Everything that a card shows about the effect itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Card {
    /// How much must have been seen.
    pub weight: Weight,
    /// What would happen.
    pub verb: Verb,
    /// The file as it is; `None` when nothing is there.
    pub before: Option<FileFacts>,
    /// The file as it would be; `None` for an outside program.
    pub after: Option<FileFacts>,
    /// What is not kept.
    pub losses: Vec<Loss>,
    /// What to look at twice, most serious first.
    pub flags: Vec<Flag>,
    /// What changes.
    pub difference: Difference,
    /// Number of changes in `difference`.
    pub changes: u32,
    /// Numbers of the changes that must have been seen before a heavy card can be approved.
    pub must_see: Vec<u32>,
    /// The figures.
    pub numbers: NumberCheck,
    /// Invisible and direction-changing characters in the new content.
    pub hidden_characters: u32,
}
