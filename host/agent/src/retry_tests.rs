use super::*;
use capstan_ports::ModelErrorKind;

fn error(kind: ModelErrorKind, retry_after: Option<u64>) -> ModelError {
    ModelError { retry_after: retry_after.map(Duration::from_secs), ..ModelError::new(kind, "x") }
}

// 000-170, P2
#[test]
fn waits_double_within_a_quarter_and_end_after_three() {
    let policy = RetryPolicy::default();
    let delays = |random| {
        [1, 2, 3, 4].map(|attempt| policy.delay(attempt, &error(ModelErrorKind::Server, None), random))
    };
    let millis = |list: [u64; 3]| {
        let [first, second, third] = list.map(|millis| Some(Duration::from_millis(millis)));
        [first, second, third, None]
    };
    assert_eq!(delays(0), millis([1500, 3000, 6000]));
    assert_eq!(delays(u32::MAX), millis([2500, 5000, 10_000]));
}

#[test]
fn random_numbers_fall_into_both_halves() {
    let (low, high): (Vec<u32>, Vec<u32>) = (0..200).map(|_| random()).partition(|number| *number < 1 << 31);
    // Eight standard deviations from the middle.
    assert!(low.len() > 40 && high.len() > 40, "{} {}", low.len(), high.len());
}

#[test]
fn only_passing_failures_are_retried() {
    let policy = RetryPolicy::default();
    for kind in [ModelErrorKind::Auth, ModelErrorKind::ContextOverflow, ModelErrorKind::InvalidRequest] {
        assert_eq!(policy.delay(1, &error(kind, None), 0), None);
    }
    let never = RetryPolicy { max_retries: 0, ..policy };
    assert_eq!(never.delay(1, &error(ModelErrorKind::Server, None), 0), None);
}

// P2
#[test]
fn a_providers_wish_counts_up_to_the_cap_and_is_never_undercut() {
    let policy = RetryPolicy::default();
    let asked = |seconds, random| {
        policy.delay(1, &error(ModelErrorKind::RateLimited, Some(seconds)), random).map(|wait| wait.as_secs())
    };
    assert_eq!((asked(20, 0), asked(20, u32::MAX)), (Some(20), Some(25)));
    assert_eq!((asked(60, 0), asked(60, u32::MAX)), (Some(60), Some(60)));
    assert_eq!(asked(3600, 0), None);
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
