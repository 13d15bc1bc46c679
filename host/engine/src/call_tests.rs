use super::*;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(20);

fn trapped() -> CallError {
    CallError::Trapped { reason: "unreachable".to_owned() }
}

// C9: a host function that holds the thread until the time is over, and then a guest that traps.
#[tokio::test]
async fn a_trap_after_the_deadline_is_reported_as_the_deadline() {
    let late = async {
        std::thread::sleep(2 * SHORT);
        Err::<(), _>(trapped())
    };
    let late = bounded(SHORT, &CancellationToken::new(), late).await;
    assert!(matches!(late, Err(CallError::TimedOut { limit: SHORT })), "{late:?}");
    let early = async { Err::<(), _>(trapped()) };
    let early = bounded(Duration::from_secs(60), &CancellationToken::new(), early).await;
    assert!(matches!(early, Err(CallError::Trapped { .. })), "the control");
}

#[tokio::test]
async fn an_answer_that_is_there_is_taken_even_if_the_machine_was_slow_to_look() {
    let late = async {
        std::thread::sleep(2 * SHORT);
        Ok::<_, CallError>("answer")
    };
    assert_eq!(bounded(SHORT, &CancellationToken::new(), late).await.unwrap(), "answer");
}

// C8
#[tokio::test]
async fn what_waits_without_computing_is_ended_as_well() {
    let forever = std::future::pending::<Result<(), CallError>>();
    let ended = bounded(SHORT, &CancellationToken::new(), forever).await;
    assert!(matches!(ended, Err(CallError::TimedOut { .. })));
}
