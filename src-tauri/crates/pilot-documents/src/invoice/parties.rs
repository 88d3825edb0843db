//! Seller and buyer of a letter in Latin script.

use super::grid::Grid;
use super::labels::list;
use crate::fold;

/// Ends of company names. Short ones must stand as words.
const FORMS: &str = "gmbh | gmbh & co. kg | ag | kg | ohg | gbr | ug | e.k. | e.v. | se | ltd | ltd. | limited | llc \
     | llp | inc | inc. | corp | corp. | corporation | co. | company | plc | pty | s.a. | sa | sarl | \
     s.a.r.l. | sas | s.a.s. | eurl | b.v. | bv | n.v. | s.r.l. | srl | s.p.a. | spa | s.l. | oy | ab";

const SELLER: &str = "verkäufer | lieferant | rechnungssteller | rechnungsaussteller | leistungserbringer | seller | \
     supplier | vendor | sold by | from | bill from | billed by | issued by | payee | émetteur | \
     vendeur | fournisseur | emisor | fornitore | company name";

const BUYER: &str = "käufer | kunde | rechnungsempfänger | leistungsempfänger | rechnung an | buyer | bill to | \
     billed to | invoice to | sold to | customer | customer name | client | acheteur | facturé à | \
     adresse de facturation | destinataire | cliente | purchaser | attention | prepared for | an";

/// True when a text names a company by its legal form.
fn is_company(text: &str) -> bool {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | ';'));
    words.skip(1).any(|word| {
        let lower = word.to_lowercase();
        let known = list(FORMS).any(|form| form == lower || form == lower.trim_end_matches('.'));
        // "Sa" is Saturday and "se" a pronoun; two letters count in capitals only.
        known && (lower.len() > 2 || word.chars().all(char::is_uppercase))
    }) || ["有限公司", "股份公司", "事务所", "合作社"].iter().any(|form| text.contains(form))
}

/// The name within a line such as `Bei Spiel GmbH ● Ecke 12 ● 12345 Stadthausen`.
fn name_of(text: &str) -> Option<String> {
    let piece = text
        .split(['●', '•', '·', '|', '∙', '■', '*'])
        .flat_map(|piece| piece.split(" - "))
        .flat_map(|piece| piece.split(" – "))
        .map(str::trim)
        .find(|piece| is_company(piece))?;
    // A comma ends the name unless the legal form comes after it: "Acme, Inc."
    let name = match piece.split_once(',') {
        Some((head, tail)) if !is_company(&format!("x {}", tail.trim())) || is_company(head) => head,
        _ => piece,
    };
    let name = name.trim();
    (name.chars().count() >= 3 && name.chars().count() <= 80 && name.chars().any(char::is_alphabetic))
        .then(|| name.to_owned())
}

/// Seller and buyer, as far as labels or legal forms tell.
pub(super) fn find(grid: &Grid<'_>) -> (Option<String>, Option<String>) {
    let buyer = labelled(grid, BUYER);
    let seller = labelled(grid, SELLER).or_else(|| {
        let first_page = grid.lines.first().map_or(1, |line| line.page);
        let same = |name: &str| buyer.as_ref().is_some_and(|buyer| fold::key(buyer) == fold::key(name));
        (0..grid.lines.len())
            .take_while(|line| grid.lines[*line].page == first_page)
            .flat_map(|line| grid.cells(line).iter())
            .filter_map(|text| name_of(text))
            .find(|name| !same(name))
    });
    (seller, buyer)
}

fn labelled(grid: &Grid<'_>, labels: &'static str) -> Option<String> {
    for label in list(labels) {
        for hit in grid.find(label) {
            // "Käufer/Leistungsempfänger" and "Bill to:" are headings; "customer no." and "from 1 May" are not names.
            if !hit.before.trim_matches([' ', '/', ':', '-']).is_empty() && !hit.before.ends_with('/') {
                continue;
            }
            let rest = hit.rest.trim_start_matches('/').trim();
            let heading = rest.is_empty()
                || list(labels).any(|other| other == rest.to_lowercase().trim_end_matches(':'));
            let value = if heading { under(grid, hit.line, hit.cell) } else { Some(rest.to_owned()) };
            let direct = !heading || label != "an";
            if let Some(name) = value.and_then(|value| plausible(&value)).filter(|_| direct) {
                return Some(name);
            }
        }
    }
    None
}

/// The name under a heading: behind a label `Name:`, else the first line of the block, else the cell beside it.
fn under(grid: &Grid<'_>, line: usize, cell: usize) -> Option<String> {
    let place = grid.place(line, cell)?;
    for next in line + 1..(line + 6).min(grid.lines.len()) {
        for (at, text) in grid.cells(next).iter().enumerate() {
            let lower = text.to_lowercase();
            if let Some(name) =
                lower.strip_prefix("name").filter(|rest| rest.is_empty() || rest.starts_with(':'))
            {
                let own = text[text.len() - name.len()..].trim_start_matches([':', ' ']).to_owned();
                return if own.is_empty() { grid.cells(next).get(at + 1).cloned() } else { Some(own) };
            }
        }
    }
    let below = (line + 1..(line + 5).min(grid.lines.len()))
        .filter_map(|next| {
            grid.lines[next]
                .cells
                .iter()
                .position(|other| other.overlaps(place))
                .map(|at| grid.text(next, at).to_owned())
        })
        .find(|text| plausible(text).is_some());
    below.or_else(|| grid.cells(line).get(cell + 1).cloned())
}

/// A name has letters, is no label, no number and no sentence.
fn plausible(value: &str) -> Option<String> {
    let text = name_of(value).unwrap_or_else(|| value.trim().to_owned());
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let lower = text.to_lowercase();
    let label = text.ends_with(':')
        || ["no", "nr", "number", "nummer", "id", "name", "code", "gln", "telefon", "tel"]
            .iter()
            .any(|word| lower.split([' ', '.', ':', '-']).next() == Some(word));
    let begins = text.chars().next().is_some_and(char::is_alphanumeric);
    (begins
        && letters >= 3
        && digits * 2 < letters
        && !label
        && text.chars().count() <= 80
        && text.split_whitespace().count() <= 9)
        .then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Line;

    fn of(lines: &[&str]) -> (Option<String>, Option<String>) {
        let lines: Vec<Line> =
            lines.iter().enumerate().map(|(number, text)| Line::of_text(1, number, text)).collect();
        find(&Grid::new(&lines))
    }

    #[test]
    fn letterheads_and_labels() {
        let (seller, buyer) =
            of(&["Bei Spiel GmbH ● Ecke 12 ● 12345 Stadthausen", "Theodor Est", "Rechnung # 7"]);
        assert_eq!((seller.as_deref(), buyer), (Some("Bei Spiel GmbH"), None), "the sender line");
        let (seller, buyer) = of(&[
            "Verkäufer",
            "Nummer:\t5499",
            "Name:\tLieferant GmbH",
            "Käufer/Leistungsempfänger",
            "Name:\tKunden AG Mitte",
        ]);
        assert_eq!(
            (seller.as_deref(), buyer.as_deref()),
            (Some("Lieferant GmbH"), Some("Kunden AG Mitte")),
            "blocks with labels"
        );
        let (seller, buyer) =
            of(&["Acme, Inc.", "12 Road", "Bill To:", "Globex Corporation", "Invoice no 5"]);
        assert_eq!(
            (seller.as_deref(), buyer.as_deref()),
            (Some("Acme, Inc."), Some("Globex Corporation")),
            "the comma belongs to the name"
        );
        let (seller, _) = of(&["Au bon moulin SARL - 1242 chemin de l'olive - 84340 Malaucène"]);
        assert_eq!(seller.as_deref(), Some("Au bon moulin SARL"), "dashes end the name");
        assert_eq!(of(&["Dear reader,", "we write to you."]), (None, None), "empty is better than a guess");
    }
}
