use super::*;
use serde_json::json;

fn record(n: usize, effect: HookEffect) -> HookRecord {
    HookRecord {
        hook: format!("hook-{n}"),
        stage: HookStage::BeforeToolCall,
        tool_call_id: "call-1".into(),
        tool: "bash".into(),
        took: Duration::from_micros(1500),
        effect,
    }
}

#[test]
fn a_trace_forgets_the_oldest_records_counts_them_and_is_empty_once_taken() {
    let trace = HookTrace::default();
    for n in 0..MAX_RECORDS + 3 {
        trace.push(record(n, HookEffect::Passed));
    }
    assert_eq!(trace.records().len(), MAX_RECORDS);
    let (records, forgotten) = trace.take();
    assert_eq!((records[0].hook.as_str(), records.len(), forgotten), ("hook-3", MAX_RECORDS, 3));
    assert_eq!(trace.take(), (Vec::new(), 0));
}

#[test]
fn records_survive_a_trip_through_json() {
    let change = FieldChange { field: "command".into(), before: Some("a".into()), after: None };
    let effects = [
        HookEffect::Passed,
        HookEffect::Changed(vec![change]),
        HookEffect::Blocked("no".into()),
        HookEffect::Asked { allowed: true },
        HookEffect::NotAsked(Absence::OtherTool),
        HookEffect::NotAsked(Absence::DecidedBy("guard".into())),
    ];
    for effect in effects {
        let record = record(0, effect);
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<HookRecord>(&text).unwrap(), record, "{text}");
    }
    let shown = serde_json::to_value(record(0, HookEffect::Passed)).unwrap();
    assert_eq!((&shown["took_us"], &shown["stage"]), (&json!(1500), &json!("before-tool-call")));
}
