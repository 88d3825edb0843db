//! Tables as they are read back from bytes, with the number that every row has in its file.

use pilot_documents::Table;

/// One sheet, or the one table of a csv.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Sheet name; `None` for a csv.
    pub(crate) name: Option<String>,
    /// Cells by row.
    pub(crate) rows: Vec<Vec<String>>,
    /// Row numbers from 1, rising.
    pub(crate) numbers: Vec<u32>,
}

impl Grid {
    /// Joins the parts of each sheet, which stand apart where many rows between them are empty.
    pub(crate) fn of_tables(tables: &[(Option<String>, Table)]) -> Vec<Self> {
        let mut grids: Vec<Self> = Vec::new();
        for (name, table) in tables {
            let known = grids.iter_mut().find(|grid| grid.name == *name);
            let grid = match known {
                Some(grid) => grid,
                None => {
                    grids.push(Self { name: name.clone(), ..Self::default() });
                    let Some(last) = grids.last_mut() else { continue };
                    last
                }
            };
            grid.rows.extend(table.rows.iter().cloned());
            grid.numbers.extend((table.first_row.max(1)..).take(table.rows.len()));
        }
        grids
    }
}

/// Letters of a column from 0: `A`, `Z`, `AA`.
pub(crate) fn column_letters(column: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        for (column, letters) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")]
        {
            assert_eq!(column_letters(column), letters, "column {column}");
        }
    }

    #[test]
    fn parts_of_a_sheet_are_one_grid_with_their_own_row_numbers() {
        let part = |first_row, text: &str| Table { first_row, rows: vec![vec![text.to_owned()]] };
        let tables = [
            (Some("S".to_owned()), part(1, "a")),
            (Some("S".to_owned()), part(900, "b")),
            (Some("T".to_owned()), part(2, "c")),
        ];
        let grids = Grid::of_tables(&tables);
        assert_eq!(grids.len(), 2, "two sheets");
        assert_eq!(grids[0].numbers, [1, 900], "each row keeps its number");
    }
}
