use super::*;

fn template(text: &str) -> PromptTemplate {
    PromptTemplate::new(text).unwrap()
}

fn refused<T>(result: Result<T, AgentError>) -> String {
    match result {
        Err(AgentError::Config(text)) => text,
        _ => panic!("it was not refused"),
    }
}

// 004-139
#[test]
fn variables_are_replaced_and_a_missing_one_is_named() {
    let greeting = template("Hello {{name}}, {{ what }} of {{name}}!");
    assert_eq!(greeting.variables().collect::<Vec<_>>(), ["name", "what", "name"]);
    let values = [("name", "{{what}}"), ("what", "friend"), ("unused", "x")];
    assert_eq!(greeting.render(&values).unwrap(), "Hello {{what}}, friend of {{what}}!");
    assert!(refused(greeting.render(&values[..1])).contains("`what`"));
    assert_eq!(template("plain } { }} text").render(&[]).unwrap(), "plain } { }} text");
}

#[test]
fn a_template_that_cannot_be_read_is_refused() {
    assert!(refused(PromptTemplate::new("ab {{name")).contains("at byte 3"));
    assert!(refused(PromptTemplate::new("{{ }}")).contains("``"));
    assert!(refused(PromptTemplate::new("{{a b}}")).contains("`a b`"));
}

// 004-139
#[test]
fn sections_stand_in_the_order_in_which_they_were_added() {
    let sections = ["You are {{who}}.", "{{rules}}", "Be brief."];
    let prompt = sections.into_iter().fold(PromptComposer::new(), |all, text| all.section(template(text)));
    let composed = |rules| prompt.compose(&[("who", "a clerk"), ("rules", rules)]).unwrap();
    assert_eq!(composed("No lies."), "You are a clerk.\n\nNo lies.\n\nBe brief.");
    assert_eq!(composed(""), "You are a clerk.\n\nBe brief.");
    assert!(refused(prompt.compose(&[("who", "x")])).contains("`rules`"));
    assert_eq!(PromptComposer::new().compose(&[]).unwrap(), "");
}
