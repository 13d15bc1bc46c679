//! The program does what its model and its tool say.

use super::*;

/// Who said what.
fn said(turn: &[Arc<Message>]) -> Vec<(&'static str, String)> {
    turn.iter().map(|message| (message.role(), message.text())).collect()
}

// 003-011, 004-157: a program of before there were roles, plans and memories is the same program still.
#[tokio::test]
async fn a_program_with_path_dependencies_runs_two_turns_and_its_own_tool() {
    let model = model();
    let [first, second] = converse(&model).await.unwrap();

    let Message::Assistant(asked) = first[1].as_ref() else { panic!("{first:?}") };
    let calls: Vec<_> = asked.tool_calls().map(|call| (call.name.as_str(), &call.arguments)).collect();
    assert_eq!(calls, [("seats", &json!({ "table": "window" }))]);
    let Message::ToolResult(result) = first[2].as_ref() else { panic!("{first:?}") };
    assert!(!result.is_error);
    assert_eq!(
        said(&first[2..]),
        [
            ("toolResult", "2 seats are free".to_owned()),
            ("assistant", "Two seats at the window are free.".to_owned()),
        ]
    );
    assert_eq!(
        said(&second),
        [("user", "I take it.".to_owned()), ("assistant", "Then it is yours.".to_owned()),]
    );

    // The second turn knew the first: four messages of it, and its own input.
    let requests = model.requests();
    assert_eq!(requests.iter().map(|request| request.messages.len()).collect::<Vec<_>>(), [1, 3, 5]);
    assert_eq!(model.remaining(), 0);
}
