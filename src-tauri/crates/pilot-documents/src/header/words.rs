//! The words by which columns are known. Lists are separated by bars, best first: a header is matched whole, else by the
//! longest word that it contains.

use super::Role;

/// Words by meaning.
pub(super) const WORDS: &[(Role, &str)] = &[
    (
        Role::Supplier,
        "销售方名称 | 销方名称 | 供应商名称 | 供应商 | 销售方 | 销方 | 销货单位 | 销货方 | 供方 | \
         卖方 | 供货商 | 供货单位 | 收款方 | 收款单位 | 收款人 | 往来单位 | 客商 | 客商名称 | \
         对方户名 | 对方名称 | 对方单位名称 | 对方单位 | 开票单位 | 开票方 | 商户 | 商户名称 | \
         商家 | 厂商 | 厂家 | supplier | supplier name | vendor | vendor name | seller | \
         seller name | payee | merchant | creditor | issuer | billed by | lieferant | \
         lieferantenname | kreditor | verkäufer | rechnungssteller | empfänger | auftraggeber | \
         zahlungsempfänger | fournisseur | nom du fournisseur | vendeur | tiers | émetteur | \
         proveedor | fornitore | 公司名称 | 单位名称 | 公司 | company | company name | firma | \
         société",
    ),
    (
        Role::Buyer,
        "购买方名称 | 购方名称 | 购买方 | 购方 | 购货单位 | 客户名称 | 客户 | 抬头 | 发票抬头 | \
         受票方 | 买方 | 付款方 | 付款单位 | 付款人 | buyer | buyer name | customer | \
         customer name | bill to | client | purchaser | payer | kunde | kundenname | käufer | \
         debitor | acheteur | facturé à | cliente",
    ),
    (
        Role::Gross,
        "价税合计 | 含税金额 | 含税总额 | 含税总价 | 金额含税 | 含税合计 | 价税合计金额 | 开票金额 | \
         发票金额 | 发票总额 | 总金额 | 报销金额 | 票面金额 | 票价 | 小写 | 合计金额 | 总计金额 | \
         总额 | total | invoice total | total amount | grand total | amount incl tax | \
         amount including tax | amount incl vat | total incl tax | total incl vat | \
         total including tax | gross | gross amount | gross total | invoice amount | brutto | \
         bruttobetrag | brutto betrag | gesamtbetrag | rechnungsbetrag | endbetrag | gesamt | \
         rechnungssumme | gesamtsumme | summe | betrag brutto | montant ttc | total ttc | ttc | \
         importe total | totale | 含税",
    ),
    (
        Role::Amount,
        "金额 | 交易金额 | 发生额 | 费用 | 款项 | 本币金额 | 原币金额 | 记账金额 | 金额小计 | 小计 | \
         总价 | 货款 | 数额 | 应付金额 | 实付金额 | 付款金额 | 支付金额 | amount | amt | value | \
         sum | cost | price total | line total | paid | spend | expense | charge | amount due | \
         total due | amount payable | balance due | betrag | umsatz | montant | importe | importo",
    ),
    (
        Role::Net,
        "不含税金额 | 未税金额 | 无税金额 | 金额不含税 | 不含税总额 | 不含税价 | 不含税合计 | \
         未税总额 | 净额 | 不含税 | 未税 | net | net amount | net total | subtotal | \
         amount excl tax | amount excluding tax | amount excl vat | total excl tax | \
         total excl vat | taxable amount | netto | nettobetrag | netto betrag | warenwert | \
         betrag netto | montant ht | total ht | base ht | ht | base imponible | imponibile",
    ),
    (
        Role::Tax,
        "税额 | 增值税额 | 增值税 | 税金 | 税款 | 合计税额 | tax | tax amount | vat | vat amount | \
         gst | sales tax | mwst | ust | steuer | steuerbetrag | mwst betrag | ust betrag | \
         umsatzsteuer | tva | montant tva | iva",
    ),
    (
        Role::Rate,
        "税率 | 征收率 | 税率征收率 | tax rate | vat rate | vat % | tax % | steuersatz | ust satz | \
         mwst satz | taux tva | taux de tva | taux | 汇率 | 费率 | exchange rate | fx rate | rate | \
         折扣率",
    ),
    (
        Role::Date,
        "开票日期 | 发票日期 | 开票时间 | 出票日期 | 日期 | 单据日期 | 业务日期 | 交易日期 | \
         交易时间 | 记账日期 | 入账日期 | 过账日期 | 记账日 | 时间 | 报销日期 | 费用日期 | \
         invoice date | date | issue date | issued | bill date | document date | transaction date | \
         posting date | value date | booking date | rechnungsdatum | datum | belegdatum | \
         buchungstag | buchungsdatum | valuta | wertstellung | date de facture | date facture | \
         ecrituredate | piecedate | fecha | data",
    ),
    (
        Role::DueDate,
        "到期日 | 到期日期 | 付款日期 | 付款截止 | 付款截止日期 | 应付日期 | 账期 | due date | \
         payment due | due | paid on | payment date | fällig | fälligkeit | fällig am | \
         zahlungsziel | échéance | date échéance | date d échéance",
    ),
    (
        Role::Number,
        "数电发票号码 | 数电票号码 | 全电发票号码 | 发票号码 | 发票号 | 发票编号 | 票号 | \
         发票代码号码 | 单据编号 | 单据号 | 票据号码 | invoice no | invoice number | invoice # | \
         invoice id | invoice num | invoice | inv no | inv # | bill no | bill number | document no | \
         document number | number | no | rechnungsnr | rechnungsnummer | rechnung nr | belegnummer | \
         belegnr | beleg nr | belegfeld 1 | n facture | no facture | numéro de facture | \
         numero facture | facture | pieceref | número de factura",
    ),
    (Role::Code, "发票代码 | invoice code"),
    (
        Role::Currency,
        "币种 | 币别 | 货币 | 币制 | currency | ccy | curr | währung | wkz | devise | idevise | \
         moneda | valuta code",
    ),
    (
        Role::Status,
        "发票状态 | 状态 | 是否正数发票 | 发票类型 | 红蓝字 | 红字标志 | 类型 | 单据类型 | \
         蓝红标识 | status | type | invoice type | document type | doc type | belegart | typ | \
         statut | kind",
    ),
    (
        Role::Debit,
        "借方发生额 | 借方金额 | 借方 | 支出 | 支出金额 | 转出 | debit | debit amount | money out | \
         withdrawal | withdrawals | soll | débit | paid out",
    ),
    (
        Role::Credit,
        "贷方发生额 | 贷方金额 | 贷方 | 收入 | 收入金额 | 转入 | credit | credit amount | money in | \
         deposit | deposits | haben | crédit | paid in",
    ),
    (Role::Balance, "余额 | 账户余额 | 当前余额 | balance | saldo | kontostand | solde | running balance"),
    (
        Role::Quantity,
        "数量 | 件数 | 个数 | qty | quantity | menge | anzahl | stück | qté | quantité | units | \
         hours",
    ),
    (
        Role::UnitPrice,
        "单价 | 含税单价 | 未税单价 | 不含税单价 | 单价含税 | 价格 | unit price | price | \
         price each | einzelpreis | stückpreis | e preis | prix unitaire | pu ht | unit cost",
    ),
    (
        Role::Item,
        "项目名称 | 货物或应税劳务名称 | 货物或应税劳务服务名称 | 商品名称 | 品名 | 摘要 | 用途 | \
         附言 | 内容 | 费用类别 | 科目 | 费用科目 | 商品 | 项目 | 名称 | item | description | \
         product | details | purpose | category | bezeichnung | artikel | buchungstext | \
         beschreibung | désignation | libellé | article",
    ),
    (
        Role::TaxId,
        "纳税人识别号 | 统一社会信用代码 | 税号 | 销方识别号 | 购方识别号 | 销售方纳税人识别号 | \
         购买方纳税人识别号 | tax id | vat no | vat id | vat number | tin | ust idnr | ust id | \
         steuernummer | n tva | siren | siret",
    ),
    (
        Role::Other,
        "序号 | 行号 | 备注 | 开票人 | 凭证号 | 凭证编号 | 订单号 | 流水号 | 交易流水号 | \
         电子客票号 | 物料编码 | 税收分类编码 | 规格型号 | 规格 | 单位 | 计量单位 | 部门 | 经办人 | \
         对方账号 | 账号 | 合同号 | 合同编号 | 发票来源 | 发票票种 | 发票风险等级 | 客户编号 | \
         供应商编码 | 供应商编号 | 供应商代码 | # | row | line | id | note | notes | remark | \
         remarks | comment | account | iban | po no | po number | order no | order number | \
         customer no | department | unit | uom | supplier id | supplier no | supplier code | \
         vendor id | vendor no | vendor code | customer id | total pages | tax code | pos | \
         kundennr | kundennummer | lieferantennr | lieferantennummer | konto | bemerkung | country | \
         address | email | phone",
    ),
];

/// Words that begin a row of totals.
pub(super) const TOTALS: &str = "合计 | 小计 | 总计 | 总合计 | 本页合计 | 本页小计 | 累计 | 本月合计 | 本年累计 | 共计 | 总和 | \
     汇总 | total | subtotal | sub total | grand total | sum | totals | summe | gesamt | \
     gesamtsumme | gesamtbetrag | zwischensumme | übertrag | sous total | total général | \
     total general | subtotals | overall | total amount | totale | suma | subtotaal | totaal";

/// The words of a list.
pub(super) fn list(words: &'static str) -> impl Iterator<Item = &'static str> {
    words.split('|').map(str::trim)
}
