use super::*;

#[test]
fn addresses_are_left_out_of_what_a_model_may_read() {
    for (reason, expected) in [
        ("error for url (https://a.b/mcp?key=1)", "error for url (its address)"),
        ("http://a.b/x then https://c.d/y?z=1", "its address then its address"),
        ("no address at all", "no address at all"),
    ] {
        assert_eq!(unreachable(reason), expected);
    }
}
