use super::*;
use std::convert::Infallible;

fn limits() -> Limits {
    Limits { total: Duration::from_secs(602), ..Limits::with_idle(Duration::from_secs(5)) }
}

async fn collect(chunks: Vec<Vec<u8>>, limits: Limits) -> (Vec<Sse>, Option<ReadError>) {
    let body =
        stream::iter(chunks).map(|chunk| Ok::<_, Infallible>(Bytes::from(chunk)).map_err(|e| match e {}));
    let mut events = Events::new(body.boxed(), limits);
    let mut seen = Vec::new();
    loop {
        match events.next().await {
            Some(Ok(event)) => seen.push(event),
            Some(Err(error)) => return (seen, Some(error)),
            None => return (seen, None),
        }
    }
}

async fn data_of(text: &[u8]) -> Vec<String> {
    let (events, error) = collect(vec![text.to_vec()], limits()).await;
    assert!(error.is_none(), "{error:?}");
    events.into_iter().filter_map(|event| event.data).collect()
}

// P8
#[tokio::test]
async fn every_legal_way_to_write_the_same_events_reads_the_same() {
    let wanted = ["{\"a\":1}", "two\nlines", ""];
    for text in [
        "data: {\"a\":1}\n\ndata: two\ndata: lines\n\ndata\n\n".to_owned(),
        "data: {\"a\":1}\r\n\r\ndata: two\r\ndata: lines\r\n\r\ndata\r\n\r\n".to_owned(),
        "data: {\"a\":1}\r\rdata: two\rdata: lines\r\rdata\r\r".to_owned(),
        "\u{feff}data:{\"a\":1}\n\n\n\ndata:two\nunknown: field\ndata:lines\n\ndata:\n\n".to_owned(),
        ": comment\n\ndata: {\"a\":1}\nretry: soon\n\n:\ndata: two\n: in between\ndata: lines\n\ndata: \n\n"
            .to_owned(),
    ] {
        assert_eq!(data_of(text.as_bytes()).await, wanted, "{text:?}");
    }
}

// P8
#[tokio::test]
async fn invalid_utf8_becomes_replacement_characters() {
    assert_eq!(data_of(b"data: a\xff\xc3(\n\ndata: \xe2\x82\n\n").await, ["a\u{fffd}\u{fffd}(", "\u{fffd}"]);
}

// P10
#[tokio::test]
async fn the_same_stream_cut_at_any_one_or_two_places_gives_the_same_events() {
    let text =
        "\u{feff}event: a\r\ndata: grüße 🦀\r\n\r\n: c\rdata:x\rdata: y\r\rid: 1\ndata: z\n\n".as_bytes();
    let (whole, _) = collect(vec![text.to_vec()], limits()).await;
    assert_eq!(whole.len(), 3);
    let single: Vec<_> = text.iter().map(|byte| vec![*byte]).collect();
    assert_eq!(collect(single, limits()).await.0, whole);
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let chunks = vec![text[..first].to_vec(), text[first..second].to_vec(), text[second..].to_vec()];
            assert_eq!(collect(chunks, limits()).await.0, whole, "cut at {first} and {second}");
        }
    }
}

// P9
#[tokio::test]
async fn a_line_without_end_an_event_without_end_and_a_flood_of_empty_lines_are_cut_off() {
    let small = Limits { bytes: 100_000, event_bytes: 1000, event_lines: 50, ..limits() };
    let endless_line = vec![vec![b'x'; 100]; 50];
    let endless_event = vec![b"data: abc\n".to_vec(); 1000];
    let empty_lines = vec![b"data\n".to_vec(); 100];
    let endless_events = vec![b"data: abc\n\n".to_vec(); 100_000];
    for (chunks, wanted) in [
        (endless_line, "one event in bytes is larger than 1000"),
        (endless_event, "one event in lines is larger than 50"),
        (empty_lines, "one event in lines is larger than 50"),
        (endless_events, "the answer in bytes is larger than 100000"),
    ] {
        let (_, error) = collect(chunks, small).await;
        assert_eq!(error.map(|error| error.to_string()).as_deref(), Some(wanted));
    }
}

// P9: the positive control of the limits above.
#[tokio::test]
async fn a_long_stream_of_small_events_passes() {
    let chunks = vec![b"event: delta\r\ndata: abc\r\n\r\n".to_vec(); 20_000];
    let (events, error) = collect(chunks, limits()).await;
    assert!(error.is_none());
    assert_eq!(events.len(), 20_000);
}

// P11
#[tokio::test]
async fn silence_and_endless_dripping_both_end() {
    let silent = stream::once(async { Ok(Bytes::from_static(b"data: a\n\n")) }).chain(stream::pending());
    let mut events = Events::new(silent.boxed(), Limits::with_idle(Duration::from_millis(30)));
    assert!(matches!(events.next().await, Some(Ok(_))));
    assert!(matches!(events.next().await, Some(Err(ReadError::Idle(_)))));
    assert!(events.next().await.is_none());

    // Never idle, and still it ends.
    let drip = stream::repeat(()).then(|()| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(Bytes::from_static(b": still here\n\n"))
    });
    let limits = Limits { total: Duration::from_millis(103), ..Limits::with_idle(Duration::from_secs(60)) };
    let mut events = Events::new(drip.boxed(), limits);
    assert!(matches!(events.next().await, Some(Err(ReadError::TooLong(_)))));
}

#[tokio::test]
async fn a_broken_connection_keeps_its_cause_and_the_head_tells_what_it_was() {
    let body = stream::iter([Ok(Bytes::from_static(b"<html>")), Err(BoxError::from("reset by peer"))]);
    let mut events = Events::new(body.boxed(), limits());
    let Some(Err(ReadError::Broken(source))) = events.next().await else { panic!("no error") };
    assert_eq!(source.to_string(), "reset by peer");
    assert_eq!(events.head(), "<html>");
}
