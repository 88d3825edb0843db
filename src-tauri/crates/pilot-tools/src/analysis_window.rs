//! An analysis cut to what one answer may hold. Totals always stay; lists are cut at whole entries and it is said.

use pilot_documents::Analysis;
use serde::Serialize;
use serde_json::{Map, Value};

/// Lists in the order in which they may use up the room: what a report needs first, provenance last.
const LISTS: &[&str] =
    &["notes", "by_month", "by_supplier", "outliers", "duplicates", "conflicts", "unread_rows", "items"];

/// How much of a list is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct CutList {
    shown: usize,
    of: usize,
}

/// The analysis as a JSON object of at most about `limit` bytes, with `cut` naming each list that is not whole.
pub(crate) fn cut(analysis: &Analysis, limit: usize) -> Result<Value, serde_json::Error> {
    let mut object = match serde_json::to_value(analysis)? {
        Value::Object(object) => object,
        other => return Ok(other),
    };
    let mut lists: Vec<(&str, Vec<Value>)> = Vec::new();
    for name in LISTS {
        if let Some(Value::Array(entries)) = object.remove(*name) {
            lists.push((name, entries));
        }
    }
    let mut room = limit.saturating_sub(length(&object) + LISTS.len() * 64);
    let mut cuts = Map::new();
    let count = lists.len();
    for (index, (name, entries)) in lists.into_iter().enumerate() {
        // Half of what is left for each but the last, so that no list can push out all that follow.
        let allowed = if index + 1 == count { room } else { room / 2 };
        let (mut used, of) = (0, entries.len());
        let fits = |entry: &Value| {
            used += length(entry) + 1;
            used <= allowed
        };
        let kept: Vec<Value> = entries.into_iter().take_while(fits).collect();
        room -= kept.iter().map(|entry| length(entry) + 1).sum::<usize>().min(room);
        if kept.len() < of {
            cuts.insert(name.to_owned(), serde_json::to_value(CutList { shown: kept.len(), of })?);
        }
        object.insert(name.to_owned(), Value::Array(kept));
    }
    if !cuts.is_empty() {
        object.insert("cut".to_owned(), Value::Object(cuts));
    }
    Ok(Value::Object(object))
}

fn length(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_documents::{GroupTotal, RowSource, UnreadRow};
    use pilot_types::ErrorCode;

    fn unread(n: u32) -> UnreadRow {
        let source = RowSource { file: format!("folder/file-{n}.csv"), row: n, ..RowSource::default() };
        UnreadRow { source, code: ErrorCode::DocumentBroken, reason: "not a number".into() }
    }

    #[test]
    fn a_small_analysis_is_whole() {
        let analysis = Analysis { rows: 3, unread_rows: vec![unread(1)], ..Analysis::default() };
        let value = cut(&analysis, 60 * 1024).expect("JSON");
        assert_eq!(value, serde_json::to_value(&analysis).expect("JSON"), "nothing is changed or added");
    }

    #[test]
    fn a_large_one_is_cut_at_whole_entries_and_says_so() {
        let group =
            |n: u32| GroupTotal { key: format!("supplier {n}"), count: 1, totals: Default::default() };
        let analysis = Analysis {
            rows: 9_000,
            by_supplier: (0..5_000).map(group).collect(),
            unread_rows: (0..5_000).map(unread).collect(),
            ..Analysis::default()
        };
        let value = cut(&analysis, 60 * 1024).expect("JSON");
        assert!(length(&value) <= 60 * 1024, "{} bytes", length(&value));
        for list in ["by_supplier", "unread_rows"] {
            let shown = value[list].as_array().map_or(0, Vec::len);
            assert!(shown > 50, "{list}: each list keeps some room");
            assert_eq!(value["cut"][list]["shown"], shown, "{list}: what is shown is counted");
            assert_eq!(value["cut"][list]["of"], 5_000, "{list}: and how many there are");
        }
        assert_eq!(
            value["by_supplier"][0]["key"], "supplier 0",
            "the beginning stays: the largest stand first"
        );
    }
}
