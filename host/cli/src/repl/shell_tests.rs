use super::*;
use capstan_tools::command::Output;

fn in_words(line: &str) -> Option<(&str, bool)> {
    typed(line).map(|typed| (typed.command, typed.is_private))
}

#[test]
fn one_mark_tells_the_model_and_two_do_not() {
    assert_eq!(in_words("!ls -l"), Some(("ls -l", false)));
    assert_eq!(in_words("!! ls"), Some(("ls", true)));
    assert_eq!(in_words("!  ls "), Some(("ls", false)));
    for line in ["ls!", " !ls", "!", "!!", "!!!!", "! ", ""] {
        assert_eq!(in_words(line), None, "{line:?} is something that people say");
    }
}

#[test]
fn of_output_that_was_lost_the_end_is_shown() {
    let lines = |n: usize| (0..n).map(|n| format!("{n}\n")).collect::<String>();
    assert_eq!(last_lines("a\nb\n"), "a\nb\n");
    assert_eq!(last_lines(&lines(LAST_LINES)), lines(LAST_LINES));
    let end = last_lines(&lines(LAST_LINES + 5)).to_owned();
    assert!(end.starts_with("5\n") && end.ends_with("44\n"), "{end}");
}

#[test]
fn a_command_is_recorded_as_it_ended() {
    let ends = [
        (CommandEnd::Exited(3), Some(3), false),
        (CommandEnd::Signalled(9), None, false),
        (CommandEnd::Cancelled, None, true),
    ];
    for (end, exit_code, cancelled) in ends {
        let outcome = CommandOutcome { output: Output::short("out"), end };
        let recorded = record(Typed { command: "go", is_private: true }, outcome, 7);
        assert_eq!((recorded.exit_code, recorded.cancelled), (exit_code, cancelled));
        assert!(recorded.exclude_from_context && !recorded.truncated);
        assert_eq!((recorded.output.as_str(), recorded.timestamp), ("out", 7));
    }
}
