use super::*;
use std::sync::{Arc, mpsc};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

fn call() -> ToolCall {
    ToolCall { id: "call-1".into(), name: "bash".into(), arguments: json!({}), malformed: None }
}

fn questions() -> (Arc<Questions>, mpsc::Receiver<String>) {
    let (sender, lines) = mpsc::channel();
    let output = Output::to(move |text| {
        text.lines().for_each(|line| sender.send(line.to_owned()).unwrap());
        Ok(true)
    });
    (Arc::new(Questions::new(output.unwrap())), lines)
}

fn said(id: &Value, value: Option<&str>, confirmed: Option<bool>) -> Said {
    let id = id.as_str().unwrap().to_owned();
    Said { id, value: value.map(str::to_owned), confirmed, cancelled: false }
}

async fn next(lines: mpsc::Receiver<String>) -> (Value, mpsc::Receiver<String>) {
    tokio::task::spawn_blocking(|| {
        let line = lines.recv_timeout(LONG).unwrap();
        (serde_json::from_str(&line).unwrap(), lines)
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn a_permission_is_one_of_the_offered_words_and_everything_else_is_none() {
    let cases = [
        (ONCE, Reply::Once),
        (ALWAYS, Reply::Always),
        (NO, Reply::No),
        ("allow once", Reply::No),
        ("", Reply::No),
    ];
    let (questions, mut lines) = questions();
    for (value, expected) in cases {
        let asked = questions.clone();
        let reply = tokio::spawn(async move { Person::reply(&*asked, "run this?", &call()).await });
        let (request, rest) = next(lines).await;
        lines = rest;
        assert_eq!(request["type"], "extension_ui_request");
        assert_eq!((&request["method"], &request["options"]), (&json!("select"), &json!([ONCE, ALWAYS, NO])));
        assert_eq!(
            (&request["title"], &request["toolCallId"]),
            (&json!("bash: run this?"), &json!("call-1"))
        );
        questions.answer(said(&request["id"], Some(value), Some(true)));
        assert_eq!(reply.await.unwrap(), expected, "{value}");
    }
    assert!(questions.state().open.is_empty());
}

#[tokio::test]
async fn a_question_without_an_answer_is_a_no() {
    let (questions, mut lines) = questions();
    for case in ["cancelled", "closed", "after the end"] {
        let asked = questions.clone();
        let reply = tokio::spawn(async move { Person::confirm(&*asked, "sure?", &call()).await });
        if case != "after the end" {
            let (request, rest) = next(lines).await;
            lines = rest;
            assert_eq!((&request["method"], &request["message"]), (&json!("confirm"), &json!("sure?")));
            match case {
                "cancelled" => {
                    let yes = said(&request["id"], None, Some(true));
                    questions.answer(Said { cancelled: true, ..yes });
                }
                _ => questions.close(),
            }
        }
        assert_eq!(reply.await.unwrap(), Reply::No, "{case}");
    }
}

#[tokio::test]
async fn an_aborted_question_is_forgotten_and_its_late_answer_is_for_nobody() {
    let (questions, lines) = questions();
    let asked = questions.clone();
    let reply = tokio::spawn(async move { Person::confirm(&*asked, "sure?", &call()).await });
    let (request, _lines) = next(lines).await;
    reply.abort();
    assert!(reply.await.unwrap_err().is_cancelled());
    assert!(questions.state().open.is_empty());
    questions.answer(said(&request["id"], None, Some(true)));
}
