use super::GuestTarget;

#[test]
fn every_target_reads_back_from_its_name() {
    for target in GuestTarget::ALL {
        assert_eq!(target.as_str().parse::<GuestTarget>().unwrap(), target);
        assert_eq!(target.to_string(), target.as_str());
    }
}

#[test]
fn the_default_target_is_the_lean_one() {
    assert_eq!(GuestTarget::default().as_str(), "wasm32-unknown-unknown");
}

#[test]
fn an_unknown_target_is_refused_with_the_names_that_exist() {
    for wrong in ["", "wasm32-wasip1", "WASM32-WASIP2", "wasm32-wasip2 "] {
        let message = wrong.parse::<GuestTarget>().unwrap_err().to_string();
        assert!(message.contains(&format!("`{wrong}`")), "{message}");
        assert!(message.contains("wasm32-unknown-unknown") && message.contains("wasm32-wasip2"), "{message}");
    }
}

#[test]
fn the_variable_part_is_what_cargo_derives_from_the_name() {
    for target in GuestTarget::ALL {
        assert_eq!(target.env_part(), target.as_str().to_uppercase().replace('-', "_"));
    }
}
