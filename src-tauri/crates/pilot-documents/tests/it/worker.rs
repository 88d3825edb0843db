use crate::fixtures::{FAPIAO, fapiao};
use pilot_documents::worker::{Request, read_reply, serve, write_request, write_request_header};
use pilot_documents::{Analysis, AnalyzeOptions, Document, DocumentStatus, ExtractOptions};
use pilot_types::ErrorCode;
use std::io::Cursor;

fn talk(requests: &[(Request, &[u8])]) -> Cursor<Vec<u8>> {
    let mut input = Vec::new();
    for (request, body) in requests {
        write_request(&mut input, request, body).unwrap();
    }
    let mut output = Vec::new();
    serve(Cursor::new(input), &mut output).unwrap();
    Cursor::new(output)
}

#[test]
fn documents_and_analyses_over_the_pipe() {
    let invoice = fapiao(&FAPIAO);
    let ledger = "供应商,发票号码,开票日期,价税合计\n青禾样例办公用品有限公司,26990000000000000101,2026-03-05,2000.00\n".as_bytes();
    let extract = |name: &str, bytes: &[u8]| Request::Extract {
        name: name.into(),
        len: bytes.len() as u64,
        options: ExtractOptions::default(),
    };
    let add = |name: &str, bytes: &[u8]| Request::AnalyzeAdd { name: name.into(), len: bytes.len() as u64 };
    let mut output = talk(&[
        (extract("a.pdf", &invoice), &invoice),
        (extract("bad.pdf", b"%PDF-"), b"%PDF-"),
        (Request::AnalyzeBegin { options: AnalyzeOptions::default() }, b""),
        (add("a.pdf", &invoice), &invoice),
        (add("ledger.csv", ledger), ledger),
        (
            Request::AnalyzeUnread {
                name: "gone.pdf".into(),
                code: ErrorCode::PermissionDenied,
                reason: "no access".into(),
            },
            b"",
        ),
        (Request::AnalyzeFinish, b""),
    ]);
    let first: Document = read_reply(&mut output).unwrap();
    assert_eq!(
        first.invoice.and_then(|invoice| invoice.number).as_deref(),
        Some("26990000000000000101"),
        "the document comes back whole"
    );
    let second: Document = read_reply(&mut output).unwrap();
    assert_eq!(
        second.status,
        DocumentStatus::Refused,
        "a bad one is an answer, and the next request is served"
    );
    for _ in 0..4 {
        read_reply::<()>(&mut output).unwrap();
    }
    let analysis: Analysis = read_reply(&mut output).unwrap();
    assert_eq!(
        (analysis.rows, analysis.duplicates.len(), analysis.unread_rows.len()),
        (1, 1, 1),
        "one invoice in two files: {analysis:?}"
    );
    assert_eq!(analysis.unread_rows[0].code, ErrorCode::PermissionDenied, "with the parent's code");
}

#[test]
fn what_does_not_fit_the_protocol_ends_the_worker() {
    let mut header = Vec::new();
    write_request_header(&mut header, &Request::AnalyzeFinish).unwrap();
    let cases: [&[u8]; 5] =
        [&header, &[255, 255, 255, 255], &[2, 0, 0, 0, b'{', b'}'], &[9, 0], &[3, 0, 0, 0, b'x', b'y', b'z']];
    for input in cases {
        assert!(serve(Cursor::new(input), &mut Vec::new()).is_err(), "{input:?}");
    }
    let cut = Request::Extract { name: "a.txt".into(), len: 10, options: ExtractOptions::default() };
    let mut input = Vec::new();
    write_request(&mut input, &cut, b"short").unwrap();
    assert!(serve(Cursor::new(input), &mut Vec::new()).is_err(), "bytes that were promised and did not come");
    assert!(serve(Cursor::new([]), &mut Vec::new()).is_ok(), "the end of the input is the end of the work");
}

#[test]
fn replies_are_bounded() {
    assert!(read_reply::<()>(Cursor::new([255u8, 255, 255, 255])).is_err(), "four gigabytes are no reply");
    assert!(read_reply::<()>(Cursor::new([5u8, 0, 0, 0, b'{'])).is_err(), "half a reply is none");
    assert!(
        read_reply::<Document>(Cursor::new([&[11u8, 0, 0, 0][..], b"{\"ok\":null}"].concat())).is_err(),
        "nor is another kind"
    );
}
