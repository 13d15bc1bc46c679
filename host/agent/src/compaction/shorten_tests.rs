use super::*;
use crate::compaction::talk_tests::{asks, result, round, text, wants};
use crate::scripted_tests::call;
use capstan_ports::ToolOutcome;
use serde_json::json;

fn texts(messages: &[Arc<Message>]) -> Vec<usize> {
    messages.iter().map(|message| tokens(message)).collect()
}

// 001-151
#[test]
fn the_middle_of_a_result_that_takes_too_much_is_left_out() {
    let long = format!("begin{}{}end", "m".repeat(40_000), "e".repeat(100));
    let kept = vec![asks("q", 5), wants([call("a", "work", json!({}))]), result("a", long)];
    assert!(is_shortened(&kept, 1000));
    let shorter = shortened(&kept, 1000);
    let said = shorter[2].text();
    assert!(said.starts_with("beginmmm") && said.ends_with("eeeend"), "{said}");
    assert!(said.contains("characters left out to make room"), "{said}");
    assert!(tokens(&shorter[2]) <= 1030, "{}", tokens(&shorter[2]));
    assert!(Arc::ptr_eq(&shorter[0], &kept[0]) && Arc::ptr_eq(&shorter[1], &kept[1]));
    assert!(!is_shortened(&shorter, 1000), "once is enough");
}

#[test]
fn what_fits_twice_over_and_what_people_and_models_say_stays_as_it_is() {
    let kept: Vec<_> = round("a", 1900).into();
    assert!(!is_shortened(&kept, 1000));
    let said = vec![asks("q", 50_000)];
    assert_eq!(texts(&shortened(&said, 1000)), [50_000]);
}

#[test]
fn of_many_results_the_largest_are_cut() {
    let mut kept = Vec::new();
    for (id, size) in [("a", 9000), ("b", 100), ("c", 9000), ("d", 9000)] {
        kept.extend(round(id, size));
    }
    let shorter = shortened(&kept, 2500);
    assert!(total(&shorter) <= 5000, "{:?}", texts(&shorter));
    assert!(Arc::ptr_eq(&shorter[3], &kept[3]), "the small one is whole");
}

#[test]
fn pictures_beyond_the_limit_are_named_instead() {
    let picture = || Content::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    let outcome = ToolOutcome { content: (0..9).map(|_| picture()).collect(), ..ToolOutcome::text("") };
    let seen = capstan_ports::build_tool_result_message(&call("a", "work", json!({})), &outcome);
    let shorter = shortened(&[Arc::new(seen)], 2500);
    let pictures = shorter[0].content().iter().filter(|piece| matches!(piece, Content::Image { .. }));
    assert_eq!((pictures.count(), shorter[0].text().as_str()), (2, "[7 pictures left out to make room]"));
}

#[test]
fn characters_are_never_cut_apart() {
    let kept = [result("a", "äöü€".repeat(5000)), result("b", text("b", 10))];
    assert!(shortened(&kept, 600)[0].text().contains("left out"));
}
