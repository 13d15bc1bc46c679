use super::*;
use std::sync::Mutex;
use std::sync::mpsc as std_mpsc;

type Written = Arc<Mutex<String>>;

fn kept() -> (Output, Written) {
    let written = Written::default();
    let into = written.clone();
    let output = Output::to(move |text| {
        into.lock().unwrap().push_str(text);
        Ok(true)
    });
    (output.unwrap(), written)
}

const LONG: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lines_of_many_writers_are_never_mixed() {
    let (output, written) = kept();
    let writers = (0..8).map(|writer| {
        let output = output.clone();
        tokio::spawn(async move {
            for n in 0..200 {
                output.line(&json!({"writer": writer, "n": n, "text": "x".repeat(300)})).await;
            }
        })
    });
    for writer in writers {
        writer.await.unwrap();
    }
    output.flush(LONG).await;
    let written = written.lock().unwrap();
    let mut next = [0; 8];
    for line in written.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let writer = usize::try_from(line["writer"].as_u64().unwrap()).unwrap();
        assert_eq!(line["n"], next[writer], "in the order in which one writer wrote them");
        next[writer] += 1;
    }
    assert_eq!(next, [200; 8]);
}

// 001-143: a line ends with LF and holds no other.
#[tokio::test]
async fn what_ends_a_line_or_steers_a_terminal_is_escaped_within_a_text_and_reads_back_the_same() {
    let (output, written) = kept();
    let value = json!({"text": "a\nb\r\nc\u{2028}d\u{85}\u{1b}[2Jé"});
    output.line(&value).await;
    output.flush(LONG).await;
    let written = written.lock().unwrap();
    let line = written.strip_suffix('\n').unwrap();
    assert!(line.chars().all(|c| c == 'é' || (' '..='~').contains(&c)), "{line}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(line).unwrap(), value);
}

#[tokio::test]
async fn a_reader_that_is_gone_holds_up_nobody() {
    let output = Output::to(|_| Ok(false)).unwrap();
    output.line(&"first").await;
    tokio::time::timeout(LONG, output.closed()).await.unwrap();
    for _ in 0..8 {
        output.line(&"x".repeat(MAX_WAITING_BYTES)).await;
    }
    output.flush(LONG).await;
}

#[tokio::test]
async fn a_slow_reader_holds_up_who_writes_events() {
    let (go, may_go) = std_mpsc::channel::<()>();
    let output = Output::to(move |_| Ok(may_go.recv().is_ok())).unwrap();
    let big = "x".repeat(MAX_WAITING_BYTES);
    output.line(&big).await;
    let second = output.line(&big);
    tokio::pin!(second);
    output.line_if_room(&"left out");
    // It is not ready while the first is not written, however often it is asked.
    for _ in 0..10 {
        let waits = tokio::time::timeout(Duration::from_millis(1), &mut second).await;
        assert!(waits.is_err());
    }
    go.send(()).unwrap();
    tokio::time::timeout(LONG, second).await.unwrap();
}
