use super::*;

fn server(table: &str) -> Result<Server, SettingsError> {
    Server::new("files", toml::from_str(table).unwrap())
}

#[test]
fn a_table_with_a_command_is_a_program() {
    let server = server("command = 'npx'\nargs = ['-y', 'x']\nenv = { A = 'b' }").unwrap();
    let Reach::Program(program) = &server.reach else { panic!("{server:?}") };
    assert_eq!((program.command.as_str(), program.args.len()), ("npx", 2));
    assert_eq!(server.reach.to_string(), "npx -y x");
    assert!(server.enabled);
    assert_eq!((server.timeout.as_secs(), server.start_timeout.as_secs()), (60, 10));
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_key() {
    for (table, expected) in [
        ("", "neither"),
        ("command = 'a'\nurl = 'http://x/'", "both"),
        ("command = ' '", "empty"),
        ("url = 'file:///etc/passwd'", "https://"),
        ("url = 'http://x/'\nargs = ['a']", "`args`"),
        ("url = 'http://x/'\ncwd = '/'", "`cwd`"),
        ("command = 'a'\nbearer_token_env = 'A'", "bearer_token_env"),
        ("command = 'a'\ntimeout_ms = 0", "timeout_ms"),
        ("command = 'a'\ntools = ['[']", "tools"),
    ] {
        let error = server(table).unwrap_err().to_string();
        assert!(error.contains(expected), "{table}: {error}");
    }
    assert!(toml::from_str::<ServerSettings>("command = 'a'\ntimout_ms = 5").is_err());
}

// 003-141
#[test]
fn a_server_name_has_no_underscore_so_that_combined_names_are_read_in_one_way() {
    for name in ["a__b", "a_b", "", "A", "ä", "a b", &"a".repeat(33)] {
        assert!(ServerName::from_str(name).is_err(), "{name}");
    }
    for name in ["a", "a-b", "9", &"a".repeat(32)] {
        assert!(ServerName::from_str(name).is_ok(), "{name}");
    }
}

#[test]
fn patterns_choose_tools() {
    let server = server("command = 'a'\ntools = ['read_*', 'list']\nread_only = ['list']").unwrap();
    assert!(server.offers("read_file") && server.offers("list") && !server.offers("write_file"));
    assert!(server.is_read_only("list") && !server.is_read_only("read_file"));
    let all = super::Server::new("files", toml::from_str("command = 'a'").unwrap()).unwrap();
    assert!(all.offers("anything") && !all.is_read_only("anything"));
}
