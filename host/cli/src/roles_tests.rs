use super::*;

fn picked(names: &[&str], wanted: Option<&str>) -> Result<Option<usize>, String> {
    pick(&COMPRESSOR, names, wanted)
}

#[test]
fn one_offer_is_taken_and_none_is_no_problem() {
    assert_eq!(picked(&[], None), Ok(None));
    assert_eq!(picked(&["tidy/short"], None), Ok(Some(0)));
}

#[test]
fn of_several_none_is_taken_until_the_user_names_one() {
    let offers = ["tidy/short", "tidy/long", "other/only"];
    let notice = picked(&offers, None).unwrap_err();
    assert!(notice.contains("\"tidy/short\", \"tidy/long\", \"other/only\""), "{notice}");
    assert_eq!(picked(&offers, Some("tidy/long")), Ok(Some(1)));
    assert_eq!(picked(&offers, Some("other")), Ok(Some(2)));
    let notice = picked(&offers, Some("tidy")).unwrap_err();
    assert!(notice.contains("compressor = \"tidy/short\"") && !notice.contains("other"), "{notice}");
}

#[test]
fn a_name_that_nobody_has_is_said_and_nobody_steps_in() {
    let notice = picked(&["tidy/short"], Some("tydi")).unwrap_err();
    assert!(notice.contains("\"tydi\"") && notice.contains("\"tidy/short\""), "{notice}");
    assert!(picked(&[], Some("tidy")).unwrap_err().contains("there is none"));
}
