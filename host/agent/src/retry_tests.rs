use super::*;
use capstan_ports::ModelErrorKind;

fn error(kind: ModelErrorKind, retry_after: Option<u64>) -> ModelError {
    ModelError { retry_after: retry_after.map(Duration::from_secs), ..ModelError::new(kind, "x") }
}

// 000-170
#[test]
fn waits_double_and_end_after_three() {
    let policy = RetryPolicy::default();
    let delays: Vec<_> = (1..=4).map(|n| policy.delay(n, &error(ModelErrorKind::Server, None))).collect();
    assert_eq!(
        delays,
        [2, 4, 8].map(|s| Some(Duration::from_secs(s))).into_iter().chain([None]).collect::<Vec<_>>()
    );
}

#[test]
fn only_passing_failures_are_retried() {
    let policy = RetryPolicy::default();
    for kind in [ModelErrorKind::Auth, ModelErrorKind::ContextOverflow, ModelErrorKind::InvalidRequest] {
        assert_eq!(policy.delay(1, &error(kind, None)), None);
    }
    assert_eq!(RetryPolicy { max_retries: 0, ..policy }.delay(1, &error(ModelErrorKind::Server, None)), None);
}

#[test]
fn a_providers_wish_counts_up_to_the_cap() {
    let policy = RetryPolicy::default();
    let asked = |seconds| policy.delay(1, &error(ModelErrorKind::RateLimited, Some(seconds)));
    assert_eq!(asked(20), Some(Duration::from_secs(20)));
    assert_eq!(asked(3600), None);
}

#[test]
fn retry_events_have_the_json_form_of_pi() {
    let event = RetryEvent::AutoRetryStart {
        attempt: 1,
        max_attempts: 3,
        delay_ms: 2000,
        error_message: "busy".into(),
    };
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"busy"}"#
    );
}
