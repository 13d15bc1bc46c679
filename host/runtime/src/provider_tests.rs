use super::*;
use capstan_ports::ModelInfo;
use capstan_provider::ScriptedModel;

fn model(id: &str) -> Arc<dyn Model> {
    let model = ScriptedModel::new([]);
    let info = ModelInfo { id: id.into(), ..model.info().clone() };
    Arc::new(model.with_info(info))
}

// 004-138
#[test]
fn providers_are_found_by_name_and_a_name_is_given_once() {
    let mut registry = ProviderRegistry::new();
    assert!(registry.get("fast").err().unwrap().to_string().ends_with("registered: none"));
    registry.register("fast", model("one")).unwrap();
    registry.register("deep", model("two")).unwrap();
    assert_eq!(registry.get("fast").unwrap().info().id, "one");
    assert_eq!(registry.get("deep").unwrap().info().id, "two");
    assert!(matches!(registry.get("Fast"), Err(AgentError::Config(text)) if text.contains("deep, fast")));
    assert!(matches!(registry.register("fast", model("three")), Err(AgentError::Config(_))));
    assert_eq!(registry.get("fast").unwrap().info().id, "one");
}
