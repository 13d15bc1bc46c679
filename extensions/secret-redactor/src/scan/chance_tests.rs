use super::*;

#[test]
fn keys_are_random_and_names_are_not() {
    for key in [
        "9f86d081884c7d659a2feaa0c55ad015",
        "hX3kP9vQ2mLr",
        "K7MDENGbPxRfiCYzq/4t0lw8",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ] {
        assert!(is_random(key), "{key}");
    }
    for name in [
        "next_token",
        "db-credentials-2",
        "oauth2",
        "token-service-v1beta1",
        "confirmPassword",
        "i18n.password.label",
        "20260101",
        "user_4711",
        "parseURLPath",
    ] {
        assert!(!is_random(name), "{name}");
    }
}

#[test]
fn rows_of_letters_without_vowels_in_changing_case_are_chaotic() {
    assert!(is_chaotic("bfqZgiBPBufq") && is_chaotic("OdQIHxQPbOqTqfmH"));
    for name in ["handleXHRResponse", "setApiKeyOfUser", "correcthorse", "TokenStream", "PASSWORDRESET"] {
        assert!(!is_chaotic(name), "{name}");
    }
}

#[test]
fn rows_of_one_letter_are_placeholders() {
    assert!(!varies(b"xxxxxxxxxxxxxxxxxxxxxxxxxxxx") && !varies(b"0000000000000000000000000000"));
    assert!(varies(b"hX3kP9vQ2mLr8sTd"));
}
