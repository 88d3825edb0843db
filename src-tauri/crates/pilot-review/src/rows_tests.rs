use super::*;
use proptest::prelude::*;

fn table(rows: &[&[&str]]) -> Grid {
    grid(rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect())
}

fn grid(rows: Vec<Vec<String>>) -> Grid {
    Grid { name: None, numbers: (1..).take(rows.len()).collect(), rows }
}

fn text(spans: &Option<Vec<Span>>) -> Option<String> {
    spans.as_ref().map(|spans| spans.iter().map(|span| span.text.as_str()).collect())
}

fn difference(old: &Grid, new: &Grid) -> TableDifference {
    table_difference(Some(old), Some(new), &mut 0)
}

fn sides(difference: &TableDifference) -> Vec<(LineKind, Option<u32>, Option<u32>)> {
    difference.rows.iter().map(|row| (row.kind, row.old, row.new)).collect()
}

#[test]
fn rows_are_matched_by_the_first_unique_column() {
    let old = table(&[
        &["Payee no.", "Name", "Account"],
        &["P-003", "Harbor Cloud", "DE21 5001 0517 5407 3249 31"],
        &["P-004", "Blue Whale Freight", "DE89 3704 0044 0532 0130 00"],
        &["P-019", "Old Mill Paper", "DE75 5121 0800 1245 1261 99"],
        &["P-020", "Meadow Print", "DE44 2004 1133 0112 0200 00"],
    ]);
    let new = table(&[
        &["Payee no.", "Name", "Account"],
        &["P-003", "Harbor Cloud", "DE21 5001 0517 5407 3249 31"],
        &["P-004", "Blue Whale Freight", "LT12 1000 0111 0100 1000"],
        &["P-020", "Meadow Print", "DE44 2004 1133 0112 0200 00"],
        &["P-027", "Daybreak Design", "DE02 1203 0000 0000 2020 51"],
    ]);
    let found = difference(&old, &new);
    assert_eq!(found.matched_by.as_deref(), Some("Payee no."), "the key is named");
    let expected = [
        (LineKind::Same, Some(1), Some(1)),
        (LineKind::Same, Some(2), Some(2)),
        (LineKind::Changed, Some(3), Some(3)),
        (LineKind::Removed, Some(4), None),
        (LineKind::Same, Some(5), Some(4)),
        (LineKind::Added, None, Some(5)),
    ];
    assert_eq!(sides(&found), expected, "removed rows stand where they stood");
    assert_eq!(
        text(&found.rows[2].cells[2].old).as_deref(),
        Some("DE89 3704 0044 0532 0130 00"),
        "old account"
    );
    assert_eq!(text(&found.rows[2].cells[2].new).as_deref(), Some("LT12 1000 0111 0100 1000"), "new account");
    assert_eq!(text(&found.rows[2].cells[1].old), None, "an equal cell has no old side");
    assert_eq!(found.rows.iter().filter(|row| row.change > 0).count(), 3, "every changed row is one change");
}

#[test]
fn without_a_key_rows_go_by_content_and_place() {
    let old = table(&[&["供应商", "金额"], &["甲", "1.00"], &["甲", "2.00"], &["乙", "3.00"]]);
    let new =
        table(&[&["供应商", "金额"], &["甲", "1.00"], &["乙", "9.00"], &["甲", "2.00"], &["乙", "3.50"]]);
    let found = difference(&old, &new);
    assert_eq!(found.matched_by, None, "neither column names every row for both sides");
    let kinds: Vec<LineKind> = found.rows.iter().map(|row| row.kind).collect();
    let expected = [LineKind::Same, LineKind::Same, LineKind::Added, LineKind::Same, LineKind::Changed];
    assert_eq!(kinds, expected, "one row came, one changed");
}

#[test]
fn a_new_column_changes_only_its_own_cells() {
    let old = table(&[&["No", "Amount"], &["a", "1"], &["b", "2"]]);
    let new = table(&[&["No", "Status", "Amount"], &["a", "paid", "1"], &["b", "", "2"]]);
    let found = difference(&old, &new);
    let places: Vec<(Option<u32>, Option<u32>)> =
        found.column_places.iter().map(|place| (place.old, place.new)).collect();
    assert_eq!(
        places,
        [(Some(1), Some(1)), (None, Some(2)), (Some(2), Some(3))],
        "the amount is still the amount"
    );
    assert_eq!(text(&found.rows[1].cells[1].old).as_deref(), Some(""), "nothing stood there");
    assert_eq!(text(&found.rows[1].cells[2].old), None, "the amount did not change");
    assert_eq!(found.rows[2].kind, LineKind::Same, "an empty cell of a new column changes nothing");
    assert!(!takes_away(&found.rows[1]), "filling an empty cell only adds");
}

#[test]
fn a_column_that_goes_is_shown_as_gone() {
    let old = table(&[&["No", "Note", "Amount"], &["a", "closed", "1"], &["b", "", "2"]]);
    let new = table(&[&["No", "Amount"], &["a", "1"], &["b", "2"]]);
    let found = difference(&old, &new);
    assert_eq!(text(&found.rows[1].cells[1].old).as_deref(), Some("closed"), "what goes is there to be seen");
    assert_eq!(text(&found.rows[1].cells[1].new), None, "nothing takes its place");
    assert!(takes_away(&found.rows[1]), "a filled cell goes");
    assert_eq!(found.rows[2].kind, LineKind::Same, "an empty cell that goes is no loss");
}

#[test]
fn moved_rows_are_changes() {
    let old = table(&[&["No", "x"], &["a", "1"], &["b", "2"], &["c", "3"]]);
    let new = table(&[&["No", "x"], &["c", "3"], &["a", "1"], &["b", "2"]]);
    let found = difference(&old, &new);
    let moved: Vec<&RowChange> = found.rows.iter().filter(|row| row.change > 0).collect();
    assert_eq!(moved.len(), 1, "one row moved, the others kept their order");
    assert_eq!((moved[0].old, moved[0].new), (Some(4), Some(2)), "from the fourth row to the second");
    assert!(takes_away(moved[0]), "a place was given up");
}

#[test]
fn whole_tables_come_and_go() {
    let one = table(&[&["a"], &["1"]]);
    let came = table_difference(None, Some(&one), &mut 0);
    assert_eq!(came.kind, LineKind::Added, "a new sheet");
    assert!(came.rows.iter().all(|row| row.kind == LineKind::Added), "all of its rows are new");
    let went = table_difference(Some(&one), None, &mut 4);
    assert_eq!(went.kind, LineKind::Removed, "a sheet that goes");
    assert_eq!(went.rows.iter().map(|row| row.change).collect::<Vec<_>>(), [5, 6], "numbers are carried on");
}

fn any_table() -> impl Strategy<Value = Grid> {
    prop::collection::vec(prop::collection::vec("[ab0]{0,2}", 0..4), 0..9).prop_map(grid)
}

proptest! {
    #[test]
    fn every_row_of_both_sides_is_shown_once(old in any_table(), new in any_table()) {
        let found = difference(&old, &new);
        let mut olds: Vec<u32> = found.rows.iter().filter_map(|row| row.old).collect();
        olds.sort_unstable();
        prop_assert_eq!(olds, (1..=old.rows.len() as u32).collect::<Vec<_>>(), "each present row once");
        let news: Vec<u32> = found.rows.iter().filter_map(|row| row.new).collect();
        prop_assert_eq!(news, (1..=new.rows.len() as u32).collect::<Vec<_>>(), "each new row once, in order");
        for row in &found.rows {
            for (column, change) in found.column_places.iter().zip(&row.cells) {
                let at = |number: Option<u32>| number.map(|number| number as usize - 1);
                let side = |table: &Grid, number: Option<u32>, place: Option<u32>| {
                    number.map(|number| cell(&table.rows[number as usize - 1], at(place)).to_owned())
                };
                let (before, after) = (side(&old, row.old, column.old), side(&new, row.new, column.new));
                if let Some(after) = &after {
                    prop_assert_eq!(&text(&change.new).unwrap_or_default(), after, "the new cell is shown");
                }
                if let Some(before) = before {
                    let shown = text(&change.old).or_else(|| text(&change.new)).unwrap_or_default();
                    prop_assert_eq!(shown, before, "the present cell is shown, or equal to the new one");
                }
            }
        }
    }
}
