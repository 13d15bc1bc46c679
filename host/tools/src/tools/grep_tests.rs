use super::*;
use crate::testing::{context, good, run, run_in, text};
use crate::workspace::{InMemoryWorkspace, LocalWorkspace};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn memory(files: &[(&str, &[u8])]) -> GrepTool {
    let workspace = InMemoryWorkspace::new("/workspace");
    for (path, contents) in files {
        workspace.insert(path, *contents);
    }
    GrepTool::new(Arc::new(workspace))
}

// 001-099
#[tokio::test]
async fn a_match_is_shown_with_file_and_line_and_context_with_dashes() {
    let tool = memory(&[
        ("a.txt", b"one\ntwo needle\nthree\nfour\nfive needle\r\n"),
        ("sub/b.txt", b"needle"),
        (".dot", b"needle"),
    ]);
    let cases = [
        (
            json!({"pattern": "needle"}),
            ".dot:1: needle\na.txt:2: two needle\na.txt:5: five needle\nsub/b.txt:1: needle",
        ),
        (json!({"pattern": "needle$", "path": "a.txt"}), "a.txt:2: two needle\na.txt:5: five needle"),
        (json!({"pattern": "^n", "path": "sub"}), "b.txt:1: needle"),
        (json!({"pattern": "two", "context": 1}), "a.txt-1- one\na.txt:2: two needle\na.txt-3- three"),
        (
            json!({"pattern": "needle", "path": "a.txt", "context": 2}),
            "a.txt-1- one\na.txt:2: two needle\na.txt-3- three\na.txt-4- four\na.txt:5: five needle",
        ),
        (json!({"pattern": "NEEDLE", "path": "sub"}), "No matches found"),
        (json!({"pattern": "NEEDLE", "path": "sub", "ignoreCase": true}), "b.txt:1: needle"),
        (json!({"pattern": "n.edle", "path": "sub", "literal": true}), "No matches found"),
        (json!({"pattern": "n.edle", "path": "sub"}), "b.txt:1: needle"),
        (
            json!({"pattern": "needle", "glob": "*.txt"}),
            "a.txt:2: two needle\na.txt:5: five needle\nsub/b.txt:1: needle",
        ),
        (json!({"pattern": "needle", "glob": "!*.txt"}), ".dot:1: needle"),
        (json!({"pattern": "needle", "glob": "sub/**"}), "sub/b.txt:1: needle"),
        (
            json!({"pattern": "needle", "glob": ""}),
            ".dot:1: needle\na.txt:2: two needle\na.txt:5: five needle\nsub/b.txt:1: needle",
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(good(&tool, arguments.clone()).await, expected, "{arguments}");
    }
}

// 001-099
#[tokio::test]
async fn what_cannot_be_searched_for_is_said_with_a_way_on() {
    let tool = memory(&[("a", b"x")]);
    let wrong = [
        (json!({"pattern": "a("}), "Set literal"),
        (json!({"pattern": "a\nb", "literal": true}), "one line at most"),
        (json!({"pattern": "x", "glob": "{"}), "glob { is no glob"),
        (json!({"pattern": "x", "limit": 1.5}), "whole number"),
    ];
    for (arguments, expected) in wrong {
        let error = run(&tool, arguments.clone()).await.unwrap_err();
        assert!(
            matches!(&error, ToolError::InvalidArguments(text) if text.contains(expected)),
            "{arguments}: {error}"
        );
    }
}

// 001-099
#[tokio::test]
async fn matches_beyond_the_limit_are_announced_and_the_context_ends_where_it_should() {
    let lines: String = (1..=101).map(|n| format!("match {n}\n-\n-\n")).collect();
    let tool = memory(&[("a", lines.as_bytes()), ("b", b"match")]);
    let outcome = run(&tool, json!({"pattern": "match"})).await.unwrap();
    let shown = text(&outcome);
    let expected = "\na:298: match 100\n\n[The limit of 100 matches is reached. Use limit=200 for more, or a narrower pattern]";
    assert!(shown.ends_with(expected), "{shown}");
    assert_eq!(outcome.details.unwrap()["matchLimitReached"], 100);
    // The line before the second match is not shown with the first one.
    let shown = good(&tool, json!({"pattern": "match", "limit": 1, "context": 1})).await;
    assert!(shown.starts_with("a:1: match 1\na-2- -\n\n[The limit of 1 matches"), "{shown}");
    assert!(good(&tool, json!({"pattern": "match", "limit": 102})).await.ends_with("\nb:1: match"));
}

// 001-099
#[tokio::test]
async fn long_lines_are_cut_and_long_results_too() {
    let line = format!("needle {}\n", "\u{e9}".repeat(600));
    let tool = memory(&[("a", line.repeat(90).as_bytes())]);
    let outcome = run(&tool, json!({"pattern": "needle", "limit": 1})).await.unwrap();
    let shown = text(&outcome);
    let first = shown.lines().next().unwrap();
    assert_eq!(first, format!("a:1: needle {}... [cut]", "\u{e9}".repeat(493)));
    assert!(shown.contains("Long lines are cut to 500 characters"), "{shown}");
    assert_eq!(outcome.details.unwrap()["linesTruncated"], true);
    let outcome = run(&tool, json!({"pattern": "needle"})).await.unwrap();
    let shown = text(&outcome);
    assert!(shown.contains("The limit of 50KB is reached]") && shown.len() < 51 * 1024, "{shown}");
    assert!(shown.lines().filter(|line| line.starts_with("a:")).all(|line| line.ends_with("[cut]")));
}

// 001-097 001-099
#[tokio::test]
async fn binary_files_are_passed_over_and_invalid_text_is_not() {
    let late = [b"needle\n".repeat(20_000), b"\0".to_vec()].concat();
    let tool = memory(&[
        ("binary", b"needle\0"),
        ("late", &late),
        ("latin1", b"caf\xE9 needle"),
        ("utf16", b"\xFF\xFEn\0e\0e\0d\0l\0e\0"),
    ]);
    let shown = good(&tool, json!({"pattern": "needle"})).await;
    // Of a file that turns out to be binary after the limit, what was found before is shown.
    assert!(!shown.contains("binary:"), "{shown}");
    let some = good(&tool, json!({"pattern": "needle", "glob": "!late"})).await;
    assert_eq!(some, "latin1:1: caf\u{FFFD} needle\nutf16:1: needle");
    let one = good(&tool, json!({"pattern": "needle", "path": "binary"})).await;
    assert_eq!(one, "No matches found\n\n[The file is binary and was not searched]");
}

// 001-099; F14
#[tokio::test]
async fn on_the_disk_links_and_pipes_are_left_alone_and_ignored_files_are_not_searched() {
    let base = tempfile::tempdir().unwrap();
    let work = base.path().join("work");
    std::fs::create_dir_all(work.join("target")).unwrap();
    std::fs::create_dir_all(work.join(".git")).unwrap();
    std::fs::create_dir(base.path().join("other")).unwrap();
    let write = |path: &str, text: &str| std::fs::write(base.path().join(path), text).unwrap();
    write("other/secret", "needle");
    write("work/a", "needle");
    write("work/target/b", "needle");
    write("work/c.log", "needle");
    write("work/.git/d", "needle");
    write("work/.gitignore", "target/\n*.log\n");
    std::os::unix::fs::symlink("../other/secret", work.join("link")).unwrap();
    std::os::unix::fs::symlink("../other", work.join("folder")).unwrap();
    std::os::unix::fs::symlink("a", work.join("twice")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        work.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let tool = GrepTool::new(Arc::new(LocalWorkspace::open(&work).unwrap()));
    assert_eq!(good(&tool, json!({"pattern": "needle"})).await, "a:1: needle");
    // A file that the glob names is searched although it is ignored; an ignored directory is not opened for `*`.
    assert_eq!(good(&tool, json!({"pattern": "needle", "glob": "*.log"})).await, "c.log:1: needle");
    assert_eq!(good(&tool, json!({"pattern": "needle", "glob": "*"})).await, "a:1: needle\nc.log:1: needle");
    assert_eq!(good(&tool, json!({"pattern": "needle", "path": "target"})).await, "b:1: needle");
    assert_eq!(good(&tool, json!({"pattern": "needle", "path": "twice"})).await, "a:1: needle");
    for path in ["link", "folder", "../other", "/etc"] {
        let error = run(&tool, json!({"pattern": "needle", "path": path})).await.unwrap_err();
        assert!(matches!(error, ToolError::Denied(_)), "{path}: {error}");
    }
    let error = run(&tool, json!({"pattern": "needle", "path": "pipe"})).await.unwrap_err().to_string();
    assert!(error.contains("a pipe, socket or device"), "{error}");
}

/// A file without end.
struct Endless(Arc<AtomicUsize>);

/// Counts how often it is read.
struct EndlessFile(Arc<AtomicUsize>);

impl Read for EndlessFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.fetch_add(1, Ordering::Relaxed);
        buffer.fill(b'\n');
        Ok(buffer.len())
    }
}

impl WalkEntry for Endless {
    fn path(&self) -> &Path {
        Path::new("endless")
    }

    fn kind(&self) -> EntryKind {
        EntryKind::File
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(EndlessFile(self.0.clone())))
    }
}

fn search(pattern: &str, cancel: CancellationToken) -> Search {
    let wanted: GrepArguments = serde_json::from_value(json!({"pattern": pattern})).unwrap();
    Search {
        matcher: matcher(&wanted).unwrap(),
        only: Override::empty(),
        limit: 1,
        cancel,
        state: Mutex::new(State {
            searcher: searcher(0),
            found: Found::default(),
            n_unreadable: 0,
            n_binary: 0,
        }),
    }
}

// 001-099
#[tokio::test]
async fn an_abort_ends_the_search_of_a_file_however_long_it_is() {
    let cancel = CancellationToken::new();
    let search = search("x", cancel.clone());
    let n_reads = Arc::new(AtomicUsize::default());
    let endless = Endless(n_reads.clone());
    let searching = tokio::task::spawn_blocking(move || search.visit(&endless));
    while n_reads.load(Ordering::Relaxed) < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!searching.is_finished());
    cancel.cancel();
    tokio::time::timeout(Duration::from_secs(60), searching)
        .await
        .expect("the thread is free")
        .map(|_ended| ())
        .unwrap();
}

#[tokio::test]
async fn an_aborted_run_searches_nothing() {
    let context = context();
    context.cancel.cancel();
    let error = run_in(&memory(&[("a", b"x")]), json!({"pattern": "x"}), &context).await.unwrap_err();
    assert!(matches!(error, ToolError::Aborted));
}
