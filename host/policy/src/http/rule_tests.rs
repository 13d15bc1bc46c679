use super::*;

fn rules(list: &[(&str, &[&str])]) -> HttpRules {
    let mut rules = HttpRules::default();
    for (pattern, methods) in list {
        let methods: Vec<_> = methods.iter().map(|method| (*method).to_owned()).collect();
        rules.push(HttpRule::new(pattern, &methods).expect(pattern));
    }
    rules
}

fn target(url: &str) -> Target {
    let (scheme, authority) = url.split_once("://").expect(url);
    Target::parse(scheme, authority).expect(url)
}

// N1
#[test]
fn without_a_grant_nothing_is_allowed() {
    let none = HttpRules::default();
    let refused = none.check("GET", &target("https://api.example.com")).expect_err("nothing is granted");
    assert_eq!(refused.to_string(), "no grant allows https://api.example.com");
    assert!(
        rules(&[("https://api.example.com", &[])]).check("GET", &target("https://api.example.com")).is_ok()
    );
}

#[test]
fn methods_count_and_none_means_reading() {
    let rules = rules(&[("https://read.example.com", &[]), ("https://write.example.com", &["POST"])]);
    let reads = target("https://read.example.com");
    let writes = target("https://write.example.com");
    assert!(rules.check("GET", &reads).is_ok() && rules.check("HEAD", &reads).is_ok());
    assert!(rules.check("POST", &writes).is_ok());
    for (method, target) in [("POST", &reads), ("get", &reads), ("GET", &writes), ("post", &writes)] {
        let refused = rules.check(method, target).expect_err(method);
        assert_eq!(refused.to_string(), format!("no grant allows {method} to {target}"));
    }
}

// N14
#[test]
fn connect_and_trace_can_be_neither_granted_nor_used() {
    for method in ["CONNECT", "TRACE", "get", "", "GET POST", "G\r\nET"] {
        let refused = HttpRule::new("https://api.example.com", &[method.to_owned()]).expect_err(method);
        assert!(refused.to_string().contains("cannot be granted"), "{refused}");
    }
    let rules = rules(&[("https://api.example.com", &[])]);
    for method in ["CONNECT", "TRACE"] {
        assert!(rules.check(method, &target("https://api.example.com")).is_err());
    }
}

// N4, N5: the decision; that the checked address is the one connected to is the engine's.
#[test]
fn one_inner_address_spoils_the_whole_answer_of_a_resolver() {
    let rules = rules(&[("https://api.example.com", &[])]);
    let target = target("https://api.example.com");
    let allowed = rules.check("GET", &target).expect("it is granted");
    let addresses =
        |list: &[&str]| list.iter().map(|text| text.parse().expect(text)).collect::<Vec<IpAddr>>();
    assert_eq!(allowed.check_addresses(&target, &addresses(&["8.8.8.8", "2606:4700::1111"])), Ok(()));
    let refused =
        allowed.check_addresses(&target, &addresses(&["8.8.8.8", "10.0.0.1"])).expect_err("10.0.0.1");
    assert_eq!(
        refused.to_string(),
        "https://api.example.com leads to 10.0.0.1, an address of a private network; only a grant that names it so reaches it"
    );
}

#[test]
fn a_grant_of_another_method_lends_no_address() {
    let rules = rules(&[("http://localhost", &["POST"]), ("http://localhost", &[])]);
    let target = target("http://localhost");
    let allowed = rules.check("GET", &target).expect("it is granted");
    assert!(allowed.check_addresses(&target, &["127.0.0.1".parse().expect("an address")]).is_ok());
    assert!(allowed.check_addresses(&target, &["8.8.8.8".parse().expect("an address")]).is_err());
}
