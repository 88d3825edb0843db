//! Documents made in code.

use lopdf::content::{Content, Operation};
use lopdf::{
    Dictionary, Document, EncryptionState, EncryptionVersion, Object, Permissions, Stream, StringFormat,
    dictionary,
};
use std::io::{Cursor, Write};

/// A piece of text on a page: place from the bottom left in points, size, text.
pub(crate) type Piece<'a> = (f32, f32, f32, &'a str);

/// Which font a page is set in.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Face {
    /// Helvetica, not embedded.
    Latin,
    /// A Chinese font that is not embedded, UniGB-UCS2-H, no ToUnicode: what tickets and converters emit.
    Chinese,
}

/// A PDF with one page for each list of pieces.
pub(crate) fn pdf(face: Face, pages: &[Vec<Piece<'_>>]) -> Vec<u8> {
    let mut document = build(face, pages);
    let mut out = Vec::new();
    document.save_to(&mut out).unwrap();
    out
}

/// The same with a password.
pub(crate) fn locked_pdf(pages: &[Vec<Piece<'_>>], user: &str) -> Vec<u8> {
    let mut document = build(Face::Latin, pages);
    let id = Object::String(b"0123456789abcdef".to_vec(), StringFormat::Literal);
    document.trailer.set("ID", Object::Array(vec![id.clone(), id]));
    let version = EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password: user,
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).unwrap();
    document.encrypt(&state).unwrap();
    let mut out = Vec::new();
    document.save_to(&mut out).unwrap();
    out
}

fn build(face: Face, pages: &[Vec<Piece<'_>>]) -> Document {
    let mut document = Document::with_version("1.5");
    let root = document.new_object_id();
    let font = match face {
        Face::Latin => document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding" }),
        Face::Chinese => {
            let inner = document.add_object(dictionary! {
                "Type" => "Font", "Subtype" => "CIDFontType0", "BaseFont" => "STSong-Light", "DW" => 1000,
                "CIDSystemInfo" => dictionary! {
                    "Registry" => Object::string_literal("Adobe"), "Ordering" => Object::string_literal("GB1"), "Supplement" => 4,
                },
                "W" => vec![814.into(), 939.into(), 500.into()],
                "FontDescriptor" => dictionary! { "Type" => "FontDescriptor", "FontName" => "STSong-Light", "Flags" => 6, "Ascent" => 880, "Descent" => -120, "CapHeight" => 880, "ItalicAngle" => 0, "StemV" => 93 },
            });
            document.add_object(dictionary! {
                "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "STSong-Light", "Encoding" => "UniGB-UCS2-H", "DescendantFonts" => vec![inner.into()],
            })
        }
    };
    let kids: Vec<Object> =
        pages.iter().map(|pieces| page(&mut document, root, font, face, pieces).into()).collect();
    let count = i64::try_from(kids.len()).unwrap();
    document.objects.insert(
        root,
        Object::Dictionary(dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count }),
    );
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => root });
    document.trailer.set("Root", catalog);
    document
}

fn page(
    document: &mut Document,
    root: lopdf::ObjectId,
    font: lopdf::ObjectId,
    face: Face,
    pieces: &[Piece<'_>],
) -> lopdf::ObjectId {
    let mut operations = Vec::new();
    for (x, y, size, text) in pieces {
        operations.push(Operation::new("BT", vec![]));
        operations.push(Operation::new("Tf", vec!["F1".into(), (*size).into()]));
        operations.push(Operation::new("Td", vec![(*x).into(), (*y).into()]));
        let string = match face {
            Face::Latin => Object::string_literal(
                text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect::<Vec<u8>>(),
            ),
            Face::Chinese => Object::String(
                text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
                StringFormat::Hexadecimal,
            ),
        };
        operations.push(Operation::new("Tj", vec![string]));
        operations.push(Operation::new("ET", vec![]));
    }
    let content =
        document.add_object(Stream::new(Dictionary::new(), Content { operations }.encode().unwrap()));
    document.add_object(dictionary! {
        "Type" => "Page", "Parent" => root, "Contents" => content, "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
    })
}

/// A PDF whose only page is a picture.
pub(crate) fn scan() -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let root = document.new_object_id();
    let picture = document.add_object(Stream::new(
        dictionary! { "Type" => "XObject", "Subtype" => "Image", "Width" => 2, "Height" => 2, "BitsPerComponent" => 8, "ColorSpace" => "DeviceGray" },
        vec![0, 255, 255, 0],
    ));
    let content =
        document.add_object(Stream::new(Dictionary::new(), b"q 595 0 0 842 0 0 cm /Im1 Do Q".to_vec()));
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => root, "Contents" => content, "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        "Resources" => dictionary! { "XObject" => dictionary! { "Im1" => picture } },
    });
    document.objects.insert(
        root,
        Object::Dictionary(dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 }),
    );
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => root });
    document.trailer.set("Root", catalog);
    let mut out = Vec::new();
    document.save_to(&mut out).unwrap();
    out
}

/// Figures of a 数电票.
#[derive(Clone, Copy)]
pub(crate) struct Fapiao<'a> {
    pub(crate) number: &'a str,
    pub(crate) date: &'a str,
    pub(crate) seller: &'a str,
    pub(crate) net: &'a str,
    pub(crate) tax: &'a str,
    pub(crate) gross: &'a str,
    pub(crate) words: &'a str,
}

/// The first of the fixtures of an invented office supplier.
pub(crate) const FAPIAO: Fapiao<'static> = Fapiao {
    number: "26990000000000000101",
    date: "2026年03月05日",
    seller: "青禾样例办公用品有限公司",
    net: "1769.91",
    tax: "230.09",
    gross: "2000.00",
    words: "贰仟圆整",
};

/// Points of a millimetre on a page of 140 mm, moved to an A4 page.
fn mm(x: f32, y: f32) -> (f32, f32) {
    (x * 2.835, 820.0 - y * 2.835)
}

/// A 数电票 laid out as such: buyer left, seller right, values apart from their labels.
pub(crate) fn fapiao(figures: &Fapiao<'_>) -> Vec<u8> {
    let net = format!("¥{}", figures.net);
    let tax = format!("¥{}", figures.tax);
    let gross = format!("¥{}", figures.gross);
    let texts: Vec<(f32, f32, &str)> = vec![
        (56.0, 8.0, "电子发票（普通发票）"),
        (140.0, 11.0, "发票号码："),
        (158.0, 11.0, figures.number),
        (140.0, 17.0, "开票日期："),
        (158.0, 17.0, figures.date),
        (5.5, 30.0, "购"),
        (5.5, 33.5, "买"),
        (5.5, 37.0, "方"),
        (5.5, 40.5, "信"),
        (5.5, 44.0, "息"),
        (106.0, 30.0, "销"),
        (106.0, 33.5, "售"),
        (106.0, 37.0, "方"),
        (106.0, 40.5, "信"),
        (106.0, 44.0, "息"),
        (11.0, 33.8, "名称："),
        (22.0, 33.8, "晨星样例商贸有限公司"),
        (111.5, 33.8, "名称："),
        (122.0, 33.8, figures.seller),
        (11.0, 44.0, "统一社会信用代码/纳税人识别号："),
        (65.0, 44.0, "91990101000000019M"),
        (111.5, 44.0, "统一社会信用代码/纳税人识别号："),
        (166.0, 44.0, "91990102MA0AB0014N"),
        (15.5, 53.0, "项目名称"),
        (41.6, 53.0, "规格型号"),
        (66.5, 53.0, "单 位"),
        (92.5, 53.0, "数 量"),
        (113.0, 53.0, "单 价"),
        (138.0, 53.0, "金 额"),
        (157.0, 53.0, "税率/征收率"),
        (190.0, 53.0, "税 额"),
        (4.5, 58.0, "*纸制品*复印纸"),
        (44.0, 58.0, "300"),
        (68.0, 58.0, "箱"),
        (98.0, 58.0, "10"),
        (112.0, 58.0, "176.991"),
        (138.0, 58.0, figures.net),
        (158.0, 58.0, "13%"),
        (188.0, 58.0, figures.tax),
        (4.5, 62.5, "A4 白色"),
        (20.0, 92.0, "合"),
        (36.0, 92.0, "计"),
        (136.0, 92.0, &net),
        (186.0, 92.0, &tax),
        (16.0, 98.5, "价税合计（大写）"),
        (63.0, 98.5, figures.words),
        (143.0, 98.5, "（小写）"),
        (158.0, 98.5, &gross),
        (5.5, 109.0, "备"),
        (11.0, 111.0, "开户行：样例银行 账号：9900000000000000019"),
        (5.5, 113.0, "注"),
        (19.0, 129.5, "开票人：周样例"),
    ];
    let pieces = texts
        .into_iter()
        .map(|(x, y, text)| {
            let (x, y) = mm(x, y);
            (x, y, 9.0, text)
        })
        .collect();
    pdf(Face::Chinese, &[pieces])
}

/// A zip of parts.
pub(crate) fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, ::zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An XLSX from the XML of its first sheet and of its shared strings.
pub(crate) fn raw_xlsx(sheet: &str, strings: &str) -> Vec<u8> {
    let types = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#;
    let rels = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    let book = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
    let book_rels = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>"#;
    let sheet = format!(
        r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{sheet}</sheetData></worksheet>"#
    );
    let strings =
        format!(r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{strings}</sst>"#);
    zip(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", rels.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", book_rels.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/sharedStrings.xml", strings.as_bytes()),
    ])
}

/// An OLE file with one stream.
pub(crate) fn ole(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    file.create_stream(name).unwrap().write_all(bytes).unwrap();
    file.into_inner().into_inner()
}

/// A page with a label in print and a value that was filled into a form field, and a note.
pub(crate) fn form() -> Vec<u8> {
    let mut document = build(Face::Latin, &[vec![(50.0, 700.0, 12.0, "Invoice no:")]]);
    let page = *document.get_pages().values().next().unwrap();
    let field = |value: &str, low: i64, flags: i64| {
        dictionary! {
            "Type" => "Annot", "Subtype" => "Widget", "FT" => "Tx", "T" => Object::string_literal("n"), "F" => flags,
            "V" => Object::string_literal(value), "Rect" => vec![150.into(), low.into(), 300.into(), (low + 16).into()],
        }
    };
    let filled = document.add_object(field("FORM-77", 696, 4));
    let hidden = document.add_object(field("never shown", 400, 2));
    let note = document.add_object(dictionary! {
        "Type" => "Annot", "Subtype" => "FreeText", "Contents" => Object::string_literal("paid"), "F" => 4,
        "Rect" => vec![50.into(), 600.into(), 120.into(), 616.into()],
    });
    let list = vec![filled.into(), hidden.into(), note.into()];
    document.get_object_mut(page).unwrap().as_dict_mut().unwrap().set("Annots", Object::Array(list));
    let mut out = Vec::new();
    document.save_to(&mut out).unwrap();
    out
}
