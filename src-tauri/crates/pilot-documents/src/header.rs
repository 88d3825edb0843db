//! What a column means by its header, in Chinese, English, German and French.

use crate::fold;
use crate::money;
use rust_decimal::Decimal;

/// Meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Role {
    Supplier,
    Buyer,
    /// With tax.
    Gross,
    /// An amount that does not say whether tax is in it.
    Amount,
    /// Without tax.
    Net,
    Tax,
    Rate,
    Date,
    DueDate,
    Number,
    Code,
    Currency,
    /// Void, red, credit, positive or not.
    Status,
    Debit,
    Credit,
    Balance,
    Quantity,
    UnitPrice,
    Item,
    TaxId,
    /// Known and of no use here: row numbers, notes, accounts.
    Other,
}

/// A header understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) role: Role,
    /// Smaller is better: 0 for a word that is exactly this meaning, more for a part of a longer header.
    pub(crate) rank: u32,
    /// A currency that the header names.
    pub(crate) currency: Option<&'static str>,
    /// Factor of a unit such as 万元; one without a unit.
    pub(crate) scale: Decimal,
}

/// Words by meaning, best first. A header is matched whole, else by the longest word that it contains.
const WORDS: &[(Role, &[&str])] = &[
    (Role::Supplier, &[
        "销售方名称", "销方名称", "供应商名称", "供应商", "销售方", "销方", "销货单位", "销货方", "供方", "卖方", "供货商", "供货单位", "收款方", "收款单位",
        "收款人", "往来单位", "客商", "客商名称", "对方户名", "对方名称", "对方单位名称", "对方单位", "开票单位", "开票方", "商户", "商户名称", "商家", "厂商", "厂家",
        "supplier", "supplier name", "vendor", "vendor name", "seller", "seller name", "payee", "merchant", "creditor", "issuer", "billed by",
        "lieferant", "lieferantenname", "kreditor", "verkäufer", "rechnungssteller", "empfänger", "auftraggeber", "zahlungsempfänger",
        "fournisseur", "nom du fournisseur", "vendeur", "tiers", "émetteur", "proveedor", "fornitore",
        "公司名称", "单位名称", "公司", "company", "company name", "firma", "société",
    ]),
    (Role::Buyer, &[
        "购买方名称", "购方名称", "购买方", "购方", "购货单位", "客户名称", "客户", "抬头", "发票抬头", "受票方", "买方", "付款方", "付款单位", "付款人",
        "buyer", "buyer name", "customer", "customer name", "bill to", "client", "purchaser", "payer",
        "kunde", "kundenname", "käufer", "debitor", "acheteur", "facturé à", "cliente",
    ]),
    (Role::Gross, &[
        "价税合计", "含税金额", "含税总额", "含税总价", "金额含税", "含税合计", "价税合计金额", "开票金额", "发票金额", "发票总额", "总金额", 
        "报销金额", "票面金额", "票价", "小写", "合计金额", "总计金额", "总额",
        "total", "invoice total", "total amount", "grand total", "amount incl tax", "amount including tax", "amount incl vat", "total incl tax",
        "total incl vat", "total including tax", "gross", "gross amount", "gross total", "invoice amount",
        "brutto", "bruttobetrag", "brutto betrag", "gesamtbetrag", "rechnungsbetrag", "endbetrag", "gesamt", "rechnungssumme", "gesamtsumme", "summe", "betrag brutto",
        "montant ttc", "total ttc", "ttc", "importe total", "totale",
    ]),
    (Role::Amount, &[
        "金额", "交易金额", "发生额", "费用", "款项", "本币金额", "原币金额", "记账金额", "金额小计", "小计", "总价", "货款", "数额", "应付金额", "实付金额", "付款金额", "支付金额",
        "amount", "amt", "value", "sum", "cost", "price total", "line total", "paid", "spend", "expense", "charge", "amount due", "total due", "amount payable", "balance due",
        "betrag", "umsatz", "montant", "importe", "importo",
    ]),
    (Role::Net, &[
        "不含税金额", "未税金额", "无税金额", "金额不含税", "不含税总额", "不含税价", "不含税合计", "未税总额", "净额",
        "net", "net amount", "net total", "subtotal", "amount excl tax", "amount excluding tax", "amount excl vat", "total excl tax", "total excl vat", "taxable amount",
        "netto", "nettobetrag", "netto betrag", "warenwert", "betrag netto", "montant ht", "total ht", "base ht", "ht", "base imponible", "imponibile",
    ]),
    (Role::Tax, &[
        "税额", "增值税额", "增值税", "税金", "税款", "合计税额", "tax", "tax amount", "vat", "vat amount", "gst", "sales tax",
        "mwst", "ust", "steuer", "steuerbetrag", "mwst betrag", "ust betrag", "umsatzsteuer", "tva", "montant tva", "iva",
    ]),
    (Role::Rate, &[
        "税率", "征收率", "税率征收率", "tax rate", "vat rate", "vat %", "tax %", "steuersatz", "ust satz", "mwst satz", "taux tva", "taux de tva", "taux",
        "汇率", "费率", "exchange rate", "fx rate", "rate", "折扣率",
    ]),
    (Role::Date, &[
        "开票日期", "发票日期", "开票时间", "出票日期", "日期", "单据日期", "业务日期", "交易日期", "交易时间", "记账日期", "入账日期", "过账日期", "记账日", "时间", "报销日期", "费用日期",
        "invoice date", "date", "issue date", "issued", "bill date", "document date", "transaction date", "posting date", "value date", "booking date",
        "rechnungsdatum", "datum", "belegdatum", "buchungstag", "buchungsdatum", "valuta", "wertstellung",
        "date de facture", "date facture", "ecrituredate", "piecedate", "fecha", "data",
    ]),
    (Role::DueDate, &[
        "到期日", "到期日期", "付款日期", "付款截止", "付款截止日期", "应付日期", "账期", "due date", "payment due", "due", "paid on", "payment date",
        "fällig", "fälligkeit", "fällig am", "zahlungsziel", "échéance", "date échéance", "date d échéance",
    ]),
    (Role::Number, &[
        "数电发票号码", "数电票号码", "全电发票号码", "发票号码", "发票号", "发票编号", "票号", "发票代码号码", "单据编号", "单据号", "票据号码",
        "invoice no", "invoice number", "invoice #", "invoice id", "invoice num", "invoice", "inv no", "inv #", "bill no", "bill number", "document no", "document number", "number", "no",
        "rechnungsnr", "rechnungsnummer", "rechnung nr", "belegnummer", "belegnr", "beleg nr", "belegfeld 1",
        "n facture", "no facture", "numéro de facture", "numero facture", "facture", "pieceref", "número de factura",
    ]),
    (Role::Code, &["发票代码", "invoice code"]),
    (Role::Currency, &["币种", "币别", "货币", "币制", "currency", "ccy", "curr", "währung", "wkz", "devise", "idevise", "moneda", "valuta code"]),
    (Role::Status, &[
        "发票状态", "状态", "是否正数发票", "发票类型", "红蓝字", "红字标志", "类型", "单据类型", "蓝红标识", "status", "type", "invoice type", "document type", "doc type", "belegart", "typ", "statut", "kind",
    ]),
    (Role::Debit, &["借方发生额", "借方金额", "借方", "支出", "支出金额", "转出", "debit", "debit amount", "money out", "withdrawal", "withdrawals", "soll", "débit", "paid out"]),
    (Role::Credit, &["贷方发生额", "贷方金额", "贷方", "收入", "收入金额", "转入", "credit", "credit amount", "money in", "deposit", "deposits", "haben", "crédit", "paid in"]),
    (Role::Balance, &["余额", "账户余额", "当前余额", "balance", "saldo", "kontostand", "solde", "running balance"]),
    (Role::Quantity, &["数量", "件数", "个数", "qty", "quantity", "menge", "anzahl", "stück", "qté", "quantité", "units", "hours"]),
    (Role::UnitPrice, &["单价", "含税单价", "未税单价", "不含税单价", "单价含税", "价格", "unit price", "price", "price each", "einzelpreis", "stückpreis", "e preis", "prix unitaire", "pu ht", "unit cost"]),
    (Role::Item, &[
        "项目名称", "货物或应税劳务名称", "货物或应税劳务服务名称", "商品名称", "品名", "摘要", "用途", "附言", "内容", "费用类别", "科目", "费用科目", "商品", "项目", "名称",
        "item", "description", "product", "details", "purpose", "category", "bezeichnung", "artikel", "buchungstext", "beschreibung", "désignation", "libellé", "article",
    ]),
    (Role::TaxId, &[
        "纳税人识别号", "统一社会信用代码", "税号", "销方识别号", "购方识别号", "销售方纳税人识别号", "购买方纳税人识别号", "tax id", "vat no", "vat id", "vat number", "tin", "ust idnr", "ust id", "steuernummer", "n tva", "siren", "siret",
    ]),
    (Role::Other, &[
        "序号", "行号", "备注", "开票人", "凭证号", "凭证编号", "订单号", "流水号", "交易流水号", "电子客票号", "物料编码", "税收分类编码", "规格型号", "规格", "单位", "计量单位", "部门", "经办人", "对方账号", "账号", "合同号", "合同编号",
        "发票来源", "发票票种", "发票风险等级", "客户编号", "供应商编码", "供应商编号", "供应商代码", "#", "row", "line", "id", "note", "notes", "remark", "remarks", "comment", "account", "iban", "po no", "po number", "order no", "order number", "customer no", "department", "unit", "uom",
        "supplier id", "supplier no", "supplier code", "vendor id", "vendor no", "vendor code", "customer id", "total pages", "tax code", "pos", "kundennr", "kundennummer", "lieferantennr", "lieferantennummer", "konto", "bemerkung", "country", "address", "email", "phone",
    ]),
];

/// Splits off what stands in brackets: a unit or a condition.
fn brackets(text: &str) -> (String, String) {
    let (mut outside, mut inside) = (String::new(), String::new());
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '【' | '〔' => depth += 1,
            ')' | ']' | '】' | '〕' => depth = (depth - 1).max(0),
            _ if depth > 0 => inside.push(c),
            _ => outside.push(c),
        }
    }
    (outside, inside)
}

/// Lower case, letters and digits, words apart by one blank (none between Chinese characters).
fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, '#' | '%') {
            out.extend(c.to_lowercase());
        } else if c != '\u{ad}' && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    fold::tidy(&out)
}

/// Understands a header; `None` for a word without meaning here.
#[must_use]
pub(crate) fn understand(header: &str) -> Option<Column> {
    if header.len() > 200 || header.trim().is_empty() {
        return None;
    }
    let tidy = fold::tidy(header);
    let (outside, inside) = brackets(&tidy);
    let name = normal(&outside);
    let note = normal(&inside);
    let (currency, scale) = unit(&tidy, &inside);
    let bare = strip_unit(&name);
    let (mut role, rank) = whole(&name).or_else(|| whole(&bare)).or_else(|| part(&name))?;
    // 金额(不含税) and Amount (incl. tax) say in brackets what they are.
    if matches!(role, Role::Amount | Role::Gross | Role::Net) {
        let without = ["不含税", "未税", "无税", "excl", "net", "ht", "netto", "ohne"];
        let with = ["含税", "incl", "gross", "ttc", "brutto", "inkl"];
        if without.iter().any(|word| has_word(&note, word)) {
            role = Role::Net;
        } else if with.iter().any(|word| has_word(&note, word)) {
            role = Role::Gross;
        }
    }
    Some(Column { role, rank, currency, scale })
}

fn has_word(text: &str, word: &str) -> bool {
    if word.is_ascii() { text.split(' ').any(|other| other.starts_with(word)) } else { text.contains(word) }
}

/// Currency and factor: `金额(万元)`, `Amount (USD)`, `Amount EUR`, `金额/元`.
fn unit(tidy: &str, inside: &str) -> (Option<&'static str>, Decimal) {
    let scale = scale(inside).or_else(|| scale_of_end(tidy)).unwrap_or(1);
    let currency = money::currency_in_text(inside).or_else(|| {
        // 元 inside a longer word such as 单元 is no unit; after a separator or as a code it is.
        let tail = tidy.rsplit(['/', ' ', ':', '_', '-']).next().unwrap_or_default();
        money::currency_code(tail).or_else(|| tidy.split(|c: char| !c.is_ascii_alphabetic()).find_map(|word| {
            (word.len() == 3 && word.chars().all(|c| c.is_ascii_uppercase())).then(|| money::currency_code(word)).flatten()
        }))
    });
    (currency, Decimal::from(scale))
}

/// Factor that a unit names: 万元 is ten thousand.
pub(crate) fn scale(unit: &str) -> Option<i64> {
    let unit = fold::tidy(unit);
    for (word, factor) in [("百万元", 1_000_000), ("亿元", 100_000_000), ("万元", 10_000), ("千元", 1_000), ("万美元", 10_000), ("亿美元", 100_000_000)] {
        if unit.contains(word) {
            return Some(factor);
        }
    }
    let lower = unit.to_lowercase();
    if ["'000", "000s", "k eur", "k usd", "keur", "teur", "in thousands", "thousands"].iter().any(|word| lower.contains(word)) {
        return Some(1_000);
    }
    if ["in millions", "millions", "mio"].iter().any(|word| lower.contains(word)) {
        return Some(1_000_000);
    }
    None
}

fn scale_of_end(tidy: &str) -> Option<i64> {
    let tail = tidy.rsplit(['/', ' ', ':', '-', '_']).next().unwrap_or_default();
    (tail.len() < tidy.len()).then(|| scale(tail)).flatten()
}

/// The header without a unit at its end: `amount eur`, `金额 元`.
fn strip_unit(name: &str) -> String {
    let mut words: Vec<&str> = name.split(' ').collect();
    while words.len() > 1 && words.last().is_some_and(|word| money::currency_code(word).is_some() || *word == "in") {
        words.pop();
    }
    let joined = words.join(" ");
    ["万元", "元", "rmb", "¥"].iter().find_map(|unit| joined.strip_suffix(unit)).map_or(joined.clone(), |head| head.trim().to_owned())
}

fn whole(name: &str) -> Option<(Role, u32)> {
    if name.is_empty() {
        return None;
    }
    WORDS.iter().find_map(|(role, words)| {
        let place = words.iter().position(|word| *word == name)?;
        Some((*role, u32::try_from(place).unwrap_or(u32::MAX)))
    })
}

/// The longest word that the header contains. Latin words must stand apart; Chinese ones need two characters.
fn part(name: &str) -> Option<(Role, u32)> {
    let mut best: Option<(usize, Role, u32)> = None;
    for (role, words) in WORDS {
        for (place, word) in words.iter().enumerate() {
            let fits = if word.is_ascii() || !word.chars().any(fold::is_cjk) {
                word.len() >= 3 && contains_words(name, word)
            } else {
                word.chars().count() >= 2 && name.contains(word)
            };
            let length = word.chars().count();
            if fits && best.is_none_or(|(found, _, _)| length > found) {
                best = Some((length, *role, 1_000 + u32::try_from(place).unwrap_or(0)));
            }
        }
    }
    best.map(|(_, role, rank)| (role, rank))
}

fn contains_words(name: &str, word: &str) -> bool {
    name.match_indices(word).any(|(at, _)| {
        let before = name[..at].chars().next_back().is_none_or(|c| c == ' ' || fold::is_cjk(c));
        let after = name[at + word.len()..].chars().next().is_none_or(|c| c == ' ' || fold::is_cjk(c));
        before && after
    })
}

/// Words that begin a row of totals.
const TOTAL_WORDS: [&str; 34] = [
    "合计", "小计", "总计", "总合计", "本页合计", "本页小计", "累计", "本月合计", "本年累计", "共计", "总和", "汇总", "total", "subtotal", "sub total", "grand total",
    "sum", "totals", "summe", "gesamt", "gesamtsumme", "gesamtbetrag", "zwischensumme", "übertrag", "sous total", "total général", "total general", "subtotals",
    "overall", "total amount", "totale", "suma", "subtotaal", "totaal",
];

/// What a cell says that may begin a row of totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    /// Of all rows above.
    Grand,
    /// Of some of them.
    Part,
}

/// Is this the label of a row of totals, such as `合计：` or `Total (EUR)`?
#[must_use]
pub(crate) fn total_label(text: &str) -> Option<Total> {
    // Most cells end here: no total is longer, none begins with a digit, and each holds one of a few syllables.
    if text.len() > 60 || text.bytes().next().is_none_or(|byte| byte.is_ascii_digit()) || !may_be_total(text.as_bytes()) {
        return None;
    }
    let (outside, _) = brackets(&fold::tidy(text));
    let name = normal(&outside);
    let known = |name: &str| TOTAL_WORDS.contains(&name);
    let bare = strip_unit(&name);
    let by_group = name.split(' ').next_back().filter(|last| ["total", "subtotal", "合计", "小计", "summe"].contains(last)).is_some() && name.contains(' ');
    let by_group_zh = name.ends_with("合计") || name.ends_with("小计") || name.starts_with("合计") && name.chars().count() <= 6;
    if !(known(&name) || known(&bare) || by_group || by_group_zh || name.starts_with("total for ") || name.starts_with("total of ")) {
        return None;
    }
    let part = ["小", "本页", "本月", "sub", "zwischen", "übertrag", "sous"].iter().any(|word| name.contains(word));
    let grand = known(&name) || known(&bare);
    Some(if part || !grand { Total::Part } else { Total::Grand })
}

/// A look at the bytes that costs less than making the text comparable.
fn may_be_total(bytes: &[u8]) -> bool {
    const ASCII: [&[u8; 3]; 7] = [b"tot", b"sum", b"ges", b"ber", b"all", b"zwi", b"sou"];
    // 计, 總, 和 and 总 in UTF-8, and full-width letters, which begin with EF BC or EF BD.
    const WIDE: [&[u8; 3]; 4] = [b"\xE8\xAE\xA1", b"\xE5\x92\x8C", b"\xE6\x80\xBB", b"\xE6\xB1\x87"];
    bytes.windows(3).any(|window| {
        let lower = [window[0].to_ascii_lowercase(), window[1].to_ascii_lowercase(), window[2].to_ascii_lowercase()];
        ASCII.iter().any(|word| lower == **word) || WIDE.iter().any(|word| window == *word) || (window[0] == 0xEF && window[1] >= 0xBC)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(header: &str) -> Option<Role> {
        understand(header).map(|column| column.role)
    }

    #[test]
    fn headers_of_real_exports() {
        for (header, expected) in [
            ("销方名称", Role::Supplier),
            ("购买方名称", Role::Buyer),
            ("供应商", Role::Supplier),
            ("供应商编码", Role::Other),
            ("数电发票号码", Role::Number),
            ("发票代码", Role::Code),
            ("开票日期", Role::Date),
            ("金 额", Role::Amount),
            ("金额（不含税）", Role::Net),
            ("金额(含税)", Role::Gross),
            ("价税合计（元）", Role::Gross),
            ("税额", Role::Tax),
            ("税率/征收率", Role::Rate),
            ("含税单价", Role::UnitPrice),
            ("到期日", Role::DueDate),
            ("Amount (USD)", Role::Amount),
            ("Amount EUR", Role::Amount),
            ("Invoice No.", Role::Number),
            ("Invoice Date", Role::Date),
            ("Vendor Name", Role::Supplier),
            ("Total incl. VAT", Role::Gross),
            ("Net Amount", Role::Net),
            ("VAT", Role::Tax),
            ("Rechnungsbetrag", Role::Gross),
            ("Lieferant", Role::Supplier),
            ("Montant TTC", Role::Gross),
            ("Fournisseur", Role::Supplier),
            ("Buchungstag", Role::Date),
            ("借方发生额", Role::Debit),
            ("余额", Role::Balance),
            ("Unit Price", Role::UnitPrice),
            ("Tax rate", Role::Rate),
            ("含税金额", Role::Gross),
            ("发票金额", Role::Gross),
            ("对方户名", Role::Supplier),
            ("Due Date", Role::DueDate),
            ("序号", Role::Other),
        ] {
            assert_eq!(role(header), Some(expected), "of {header:?}");
        }
        for header in ["", "Acme GmbH", "青禾样例", "2026-03-05", "12.50"] {
            assert_eq!(role(header), None, "{header:?} is no header");
        }
    }

    #[test]
    fn units_and_currencies_of_headers() {
        let column = understand("金额（万元）").unwrap();
        assert_eq!((column.scale, column.currency), (Decimal::from(10_000), Some("CNY")), "ten thousand yuan");
        assert_eq!(understand("Amount (USD)").unwrap().currency, Some("USD"), "a code in brackets");
        assert_eq!(understand("Betrag EUR").unwrap().currency, Some("EUR"), "a code at the end");
        assert_eq!(understand("金额/元").unwrap().currency, Some("CNY"), "a unit after a stroke");
        assert_eq!(understand("Amount").unwrap().currency, None, "none is none");
    }

    #[test]
    fn rows_of_totals() {
        for (text, expected) in [
            ("合计", Some(Total::Grand)),
            ("合 计：", Some(Total::Grand)),
            ("小计", Some(Total::Part)),
            ("Total", Some(Total::Grand)),
            ("TOTAL (EUR)", Some(Total::Grand)),
            ("Subtotal", Some(Total::Part)),
            ("Zwischensumme", Some(Total::Part)),
            ("Acme total", Some(Total::Part)),
            ("青禾 小计", Some(Total::Part)),
            ("Total Energies SE", None),
            ("青禾样例公司", None),
            ("Acme", None),
            ("", None),
        ] {
            assert_eq!(total_label(text), expected, "of {text:?}");
        }
    }
}
