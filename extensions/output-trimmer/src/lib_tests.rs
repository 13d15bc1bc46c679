use super::trim::trim;
use super::*;
use capstan_sdk::testing;
use proptest::prelude::*;

fn shortened(command: &str, text: &str) -> Option<String> {
    trim(command, text, false, &Config::default()).map(|trimmed| trimmed.text)
}

/// A hundred lines.
fn lines(of: impl Fn(usize) -> String) -> String {
    (0..100).map(|n| of(n) + "\n").collect()
}

fn passing() -> String {
    lines(|n| format!("test cart::holds_{n}_items ... ok"))
}

#[test]
fn the_schema_that_is_written_down_is_that_of_the_type() {
    let of_type: Value = serde_json::from_str(&config::schema::<Config>()).unwrap();
    let written: Value = serde_json::from_str(settings::SCHEMA).unwrap();
    assert_eq!(written, of_type, "{of_type:#}");
}

#[test]
fn it_asks_for_the_power_to_rewrite_results_of_bash_and_for_nothing_else() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!(descriptor.requests.len(), 1);
    assert_eq!(descriptor.hooks[0].tools, ["bash"]);
}

#[test]
fn passing_tests_become_one_line_and_the_details_say_how_many() {
    let text = format!(
        "running 101 tests\n{}test cart::is_paid ... FAILED\n\ntest result: FAILED. 100 passed; 1 failed\n",
        passing()
    );
    let result = ToolResult::text(text).with_details(&json!({ "exitCode": 101 })).unwrap().failed();
    let call = testing::tool_call("bash", json!({ "command": "cargo test" }));
    let amendment = shorten(&call, result, &testing::context()).unwrap().unwrap();
    let content = amendment.content.unwrap();
    let shorter = content[0].as_text().unwrap();
    assert!(
        shorter.starts_with(
            "running 101 tests\n[… 100 lines of passing tests left out]\ntest cart::is_paid ... FAILED\n\ntest result: FAILED."
        ),
        "{shorter}"
    );
    assert!(shorter.ends_with("end the command with \"# full\"]"), "{shorter}");
    let details: Value = serde_json::from_str(&amendment.details.unwrap()).unwrap();
    assert_eq!(details["exitCode"], 101);
    assert_eq!(details["trimmed"]["linesLeftOut"], json!({ "passing tests": 100 }));
    assert_eq!(details["trimmed"]["bytesAfter"], shorter.len());
    assert_eq!(amendment.is_error, None);
}

#[test]
fn short_output_readers_and_what_is_asked_for_in_full_stay() {
    assert!(shortened("cargo test", &passing()).is_some());
    for (command, text) in [
        ("cargo test # full", passing()),
        ("cat test.log | grep ok", passing()),
        ("cargo test", passing()[..900].to_owned()),
        ("./server --verbose", passing()),
        ("git log --grep cargo", passing()),
    ] {
        assert_eq!(shortened(command, &text), None, "{command}");
    }
}

#[test]
fn of_unknown_programs_only_progress_and_repeats_go() {
    let repeated = format!("start\n{}the\nend\n", lines(|_| "waiting for the server".to_owned()));
    let shorter = shortened("./deploy", &repeated).unwrap();
    assert!(
        shorter.starts_with(
            "start\nwaiting for the server\n[… 99 lines of repeats of the line above left out]\nthe\nend\n"
        ),
        "{shorter}"
    );
    let progress = lines(|n| format!("uploading {n}% [{}] {n}/100", "=".repeat(n / 5)));
    let shorter = shortened("./deploy", &format!("{progress}all\nstored\n")).unwrap();
    assert!(shorter.contains("99%") && !shorter.contains("50%"), "{shorter}");
    let values = lines(|n| format!("disk{n} {n}% used by {}", "abcdefghij".split_at(n % 10).0));
    assert_eq!(shortened("./usage", &values), None, "lines that differ in more than numbers are no progress");
}

#[test]
fn a_failure_that_no_rule_understands_keeps_everything() {
    let text = format!("{}\n\nCommand exited with code 101\n", passing());
    assert!(trim("cargo test", &text, false, &Config::default()).is_some());
    assert!(trim("cargo test", &text, true, &Config::default()).is_none());
}

#[test]
fn the_user_says_what_stays() {
    let config = json!({ "keep": ["passing tests"] });
    let call = testing::tool_call("bash", json!({ "command": "cargo test" }));
    let run = |config| {
        testing::with_config(config, || {
            shorten(&call, ToolResult::text(passing()), &testing::context()).unwrap()
        })
    };
    assert!(run(json!({})).is_some());
    for config in [config, json!({ "skip": ["cargo"] }), json!({ "shortest": 100_000 })] {
        assert!(run(config).is_none());
    }
}

#[test]
fn what_resembles_a_passing_test_and_is_none_stays() {
    let text = format!(
        "{}test a ... FAILED\ntest b ... ignored\nok 3 - later # TODO\nnot ok 4 - x\nPASS [   0.1s\n   Compiling is slow, says Ada\n--- FAIL: TestX\nnpm http fetch GET 404 https://example.org/x 3ms\nlast\nlines\n",
        passing()
    );
    let shorter = shortened("make check", &text).unwrap();
    for line in text.lines().skip(100) {
        assert!(shorter.contains(line), "{line}\n{shorter}");
    }
}

fn line() -> impl Strategy<Value = String> {
    let noise = prop::sample::select(vec![
        "test a ... ok",
        "   Compiling serde v1.0.0",
        "--- PASS: TestA (0.00s)",
        "ok 1 - a",
        "  ---",
        "  ...",
        "",
        "PASS",
        "  ✓ works",
        "remote: Counting objects: 100% (3/3)",
        "diff --git a/Cargo.lock b/Cargo.lock",
        "@@ -1 +1 @@",
        " context",
        "50%",
        "51%",
        "gcc -c -o a.o a.c",
        "commit 1111111111111111111111111111111111111111",
        "    message",
    ]);
    let news = prop::sample::select(vec![
        "test a ... FAILED",
        "error[E0308]: mismatched types",
        "  --> src/lib.rs:1:2",
        "warning: unused",
        "--- FAIL: TestA",
        "not ok 2 - b",
        "make: *** [all] Error 2",
        "FAILED tests/test_a.py::test_b",
        "a.c:1:2: error: no",
        "fatal: not a repository",
    ]);
    prop_oneof![3 => noise.prop_map(str::to_owned), 1 => news.prop_map(str::to_owned), 1 => "\\PC{0,30}"]
}

proptest! {
    #[test]
    fn what_stays_was_there_in_this_order_and_nothing_that_failed_is_lost(
        lines in prop::collection::vec(line(), 20..80),
        command in prop::sample::select(vec!["make", "cargo test", "git log", "npm test", "./x"]),
    ) {
        let text = lines.join("\n");
        let config = Config { shortest: 0, ..Config::default() };
        if let Some(trimmed) = trim(command, &text, true, &config) {
            prop_assert!(trimmed.text.len() < text.len());
            let clean = clean::clean(&text);
            let mut rest = clean.lines();
            for line in trimmed.text.lines().filter(|line| !line.starts_with("[… ") && !line.starts_with("[shortened by")) {
                prop_assert!(rest.any(|before| before == line), "{line:?} is new or out of order in\n{}", trimmed.text);
            }
            for news in ["FAIL", "error", "warning: ", "not ok ", "fatal: ", "***"] {
                let count = |text: &str| text.lines().filter(|line| line.contains(news)).collect::<std::collections::BTreeSet<_>>().len();
                prop_assert_eq!(count(&clean), count(&trimmed.text), "{} in\n{}\nof\n{}", news, trimmed.text, clean);
            }
        }
    }

    #[test]
    fn any_text_is_read(text in "[\\PC\\n\\r\\x1b\\x08]{0,400}", command in "\\PC{0,40}") {
        trim(&command, &text, false, &Config { shortest: 0, ..Config::default() });
    }
}
