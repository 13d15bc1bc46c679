use super::*;
use crate::templates::Origin;
use async_trait::async_trait;
use capstan_ports::{CommandError, SessionId};
use tokio_util::sync::CancellationToken;

struct Fake(&'static str, &'static str);

#[async_trait]
impl CommandPort for Fake {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &str {
        "does it"
    }

    fn owner(&self) -> &str {
        self.1
    }

    async fn run(&self, _: &SessionId, _: &str, _: &CancellationToken) -> Result<String, CommandError> {
        Ok(String::new())
    }
}

fn commands(all: &[(&'static str, &'static str)]) -> Commands {
    Commands::new(all.iter().map(|(name, owner)| Arc::new(Fake(name, owner)) as Arc<dyn CommandPort>))
}

/// The input in words.
fn read(commands: &Commands, line: &str) -> String {
    match commands.read(line) {
        Input::Message(text) => format!("message {text}"),
        Input::Command(command, arguments) => {
            format!("{} of {}: {arguments}", command.name(), command.owner())
        }
        Input::BuiltIn(command, arguments) => format!("own {command:?}: {arguments}"),
        Input::Refused(error) => format!("refused {error}"),
        Input::Unknown(name) => format!("unknown {name}"),
    }
}

#[test]
fn a_line_is_a_message_a_command_or_a_mistake() {
    let commands = commands(&[("sum", "maths")]);
    for (line, meant) in [
        ("sum 1 2", "message sum 1 2"),
        (" /sum", "message  /sum"),
        ("//sum 1", "message /sum 1"),
        ("/sum", "sum of maths: "),
        ("/sum  1 2 ", "sum of maths: 1 2"),
        ("/sum\t1", "sum of maths: 1"),
        ("/help", "own Help: "),
        ("/name  a b ", "own Name: a b"),
        ("/sums", "unknown sums"),
        ("/", "unknown "),
        ("/etc/hosts is what?", "unknown etc/hosts"),
    ] {
        assert_eq!(read(&commands, line), meant, "{line:?}");
    }
}

#[test]
fn a_name_that_two_want_is_nobodys_and_that_is_said() {
    let commands = commands(&[("go", "a"), ("go", "b"), ("stop", "b")]);
    assert_eq!(read(&commands, "/go"), "unknown go");
    assert_eq!(read(&commands, "/stop"), "stop of b: ");
    assert_eq!(commands.notices.len(), 1);
    assert!(commands.notices[0].contains("/go is offered by a and b"), "{:?}", commands.notices);
}

#[test]
fn the_hosts_own_command_cannot_be_taken() {
    let commands = commands(&[("help", "a"), ("model", "b")]);
    assert_eq!(read(&commands, "/help"), "own Help: ");
    assert_eq!(read(&commands, "/model x"), "own Model: x");
    assert!(
        commands.notices.iter().all(|notice| notice.contains("the host's own")),
        "{:?}",
        commands.notices
    );
    assert_eq!(commands.notices.len(), 2);
}

#[test]
fn the_list_names_every_command_with_its_owner() {
    let list = commands(&[("sum", "maths")]).list();
    assert!(list.contains("/help") && list.contains("/sum") && list.contains("(maths)"), "{list}");
    for known in &BUILT_IN {
        assert!(list.contains(known.description), "{}: {list}", known.name);
    }
}

fn with_templates(own: &[(&'static str, &'static str)], files: &[(&str, &str)]) -> Commands {
    let files = files.iter().map(|(name, text)| (Origin::Project, *name, text.as_bytes()));
    commands(own).with_templates(Arc::new(Templates::new(files)))
}

#[test]
fn a_template_is_called_like_a_command_and_becomes_a_message() {
    let commands = with_templates(&[("sum", "maths")], &[("go", "Go to $1."), ("empty", "")]);
    for (line, meant) in [
        ("/go home now", "message Go to home."),
        ("//go home", "message /go home"),
        ("/gone", "unknown gone"),
        ("/sum 1", "sum of maths: 1"),
    ] {
        assert_eq!(read(&commands, line), meant, "{line:?}");
    }
    assert!(read(&commands, "/empty").starts_with("refused the prompt template /empty"));
    assert_eq!(commands.expand("/go home".to_owned()).unwrap(), "Go to home.");
    // A prompt from a flag that looks like a command of the prompt is still a message.
    for text in ["/etc/hosts is what?", "//go", "/sum 1", "/help", "go", ""] {
        assert_eq!(commands.expand(text.to_owned()).unwrap(), text);
    }
    assert!(commands.expand("/empty".to_owned()).is_err());
}

#[test]
fn commands_stand_before_templates_of_their_name_and_that_is_said() {
    let commands = with_templates(&[("sum", "maths")], &[("sum", "x"), ("help", "x"), ("go", "x")]);
    assert_eq!(read(&commands, "/sum"), "sum of maths: ");
    assert_eq!(read(&commands, "/help"), "own Help: ");
    assert_eq!(commands.expand("/sum".to_owned()).unwrap(), "/sum", "in every mode");
    assert_eq!(commands.notices.len(), 2);
    assert!(
        commands.notices[0].contains("/help is not used, because the host has"),
        "{:?}",
        commands.notices
    );
    assert!(commands.notices[1].contains("/sum is not used, because maths has"), "{:?}", commands.notices);
}

#[test]
fn the_list_names_templates_with_their_arguments() {
    let text = "---\ndescription: Goes\u{1b}[2J.\nargument-hint: <where>\n---\nx";
    let list = with_templates(&[], &[("go", text), ("help", "never")]).list();
    assert!(
        list.contains("/go <where>") && list.contains("Goes\\u{1b}[2J.") && list.contains("project"),
        "{list}"
    );
    assert!(!list.contains("never"), "{list}");
}
