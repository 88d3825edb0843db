//! Labels of invoices in English, German, French, Spanish and Italian. Lists are separated by bars, best first.

/// The labels of a list.
pub(super) fn list(labels: &'static str) -> impl Iterator<Item = &'static str> {
    labels.split('|').map(str::trim)
}

/// Titles that the number may follow.
pub(super) const TITLES: &str = "handelsrechnung | rechnungskorrektur | stornorechnung | rechnung | facture | gutschrift | avoir \
     | credit note | invoice | quotation";

/// Labels of the number, best first.
pub(super) const NUMBER: &str = "invoice number | invoice no | invoice # | invoice nr | invoice id | invoice num | inv no | inv # \
     | bill no | bill number | credit note number | credit note no | rechnungsnummer | rechnungs-nr | \
     rechnungsnr | rechnungs nr | rechnung nr | rechnung # | rechnungs-id | belegnummer | beleg-nr | \
     belegnr | gutschriftsnummer | gutschrift nr | facture n° | n° de facture | n° facture | facture \
     no | numéro de facture | numéro facture | factura nº | número de factura | fattura n | numero \
     fattura | quote number | quotation no";

/// Labels of the date field.
pub(super) const DATE: &str = "rechnungsdatum | invoice date | date of issue | issue date | date issued | date d'émission | \
     date de facture | date facture | date de facturation | fecha de factura | fecha de emisión | \
     data fattura | belegdatum | ausstellungsdatum | bill date | tax point | date | datum | fecha | \
     data | vom | den";

/// Labels of the due field.
pub(super) const DUE: &str = "due date | payment due | due on | pay by | fällig am | fälligkeitsdatum | zahlbar bis | fällig | \
     bis zum | date d'échéance | échéance | vencimiento | scadenza | netto bis";

/// Labels of the amount with tax, best first.
pub(super) const GROSS: &str = "bruttosumme | gesamtbetrag brutto | bruttobetrag | rechnungsbetrag | summe inkl | gesamtbetrag \
     inkl | rechnungsbetrag brutto | endbetrag | gesamtsumme | rechnungsendbetrag | total ttc | \
     montant ttc | montant total ttc | grand total | invoice total | total incl | total including | \
     total inc | amount incl | amount including | total amount | total invoice amount | gross amount \
     | gross total | total gross | brutto | gesamtbetrag | importe total | total factura | total \
     documento | totale documento | totale fattura | rechnungssumme | total eur | total usd | total \
     gbp | credit total | gutschriftsbetrag | total due | amount due | gesamt | total | summe | \
     totale | betrag | amount";

/// Labels of the payable field.
pub(super) const PAYABLE: &str = "zahlbetrag | zu zahlen | zu zahlender betrag | offener betrag | fälliger betrag | amount due | \
     balance due | total due | amount payable | due payable | residual | net à payer | solde à payer \
     | reste à payer | total a pagar | netto a pagare | total à payer | zu überweisen";

/// Labels of the net field.
pub(super) const NET: &str = "rechnungssumme ohne ust | summe ohne ust | summe netto | nettosumme | nettobetrag | gesamtbetrag \
     netto | netto gesamt | gesamt netto | steuerbasisbetrag | total ht | montant ht | total net ht | \
     total excl | total excluding | total exc | amount excl | net amount | net total | total net | \
     subtotal | sub total | sub-total | netto | zwischensumme | base imponible | imponibile | totale \
     netto | warenwert | net | base ht";

/// Labels of the tax field.
pub(super) const TAX: &str = "steuerbetrag | summe ust | summe mwst | umsatzsteuerbetrag | total taxes | total tva | montant \
     tva | total tax | total vat | tax total | vat amount | tax amount | mehrwertsteuer | \
     umsatzsteuer | mwst | ust | zuzügl. ust | zzgl. ust | zzgl. mwst | sales tax | vat | gst | tva | \
     iva | tax | cuota";

/// Words that make a line about something else than the whole amount.
pub(super) const NOT_TOTAL: &str = "zuschl | abschl | rabatt | discount | remise | skonto | escompte | übertrag | carried | report | \
     mwst | ust | steuer | tax | vat | tva | iva | netto | net | ht | excl | ohne";
