//! The slash commands that every interactive session has. They go before prompt templates and commands of extensions with the
//! same name: what a person types to look at the session must not change its meaning with what is installed.

/// A command of the program itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    /// `/help`
    Help,
    /// `/session`
    Session,
    /// `/name`
    Name,
    /// `/tree`
    Tree,
    /// `/goto`
    Goto,
    /// `/label`
    Label,
    /// `/fork`
    Fork,
    /// `/clone`
    Clone,
    /// `/new`
    New,
    /// `/resume`
    Resume,
    /// `/model`
    Model,
    /// `/thinking`
    Thinking,
    /// `/compact`
    Compact,
    /// `/ext`
    Ext,
    /// `/export`
    Export,
    /// `/quit`
    Quit,
}

/// How a command is written and what it does.
pub(crate) struct Known {
    /// Without the slash.
    pub(crate) name: &'static str,
    /// What may follow.
    pub(crate) arguments: &'static str,
    /// One line.
    pub(crate) description: &'static str,
    /// Which one it is.
    pub(crate) command: BuiltIn,
}

const fn known(
    name: &'static str,
    arguments: &'static str,
    description: &'static str,
    command: BuiltIn,
) -> Known {
    Known { name, arguments, description, command }
}

/// All of them, in the order of `/help`.
pub(crate) const BUILT_IN: [Known; 16] = [
    known("help", "", "shows this list", BuiltIn::Help),
    known("session", "", "shows id, file, name, model, tokens and cost of this session", BuiltIn::Session),
    known("name", "[TEXT]", "names the session; without a text takes the name away", BuiltIn::Name),
    known("tree", "", "shows the branches of the session and where it is", BuiltIn::Tree),
    known("goto", "ID", "goes on from another entry of the tree", BuiltIn::Goto),
    known(
        "label",
        "ID [TEXT]",
        "bookmarks an entry of the tree; without a text takes it away",
        BuiltIn::Label,
    ),
    known(
        "fork",
        "[ID]",
        "a new session with everything before a prompt, which can be edited",
        BuiltIn::Fork,
    ),
    known("clone", "", "a new session with everything on this branch", BuiltIn::Clone),
    known("new", "", "a new session", BuiltIn::New),
    known("resume", "[ID]", "goes on with another session", BuiltIn::Resume),
    known("model", "[PROVIDER/MODEL]", "shows the models, or changes the model", BuiltIn::Model),
    known("thinking", "[LEVEL]", "shows or changes how much the model thinks", BuiltIn::Thinking),
    known("compact", "[INSTRUCTIONS]", "puts a summary in the place of what was said", BuiltIn::Compact),
    known("ext", "", "shows the extensions and their state", BuiltIn::Ext),
    known("export", "FILE", "writes the session to a file: .md, .html or .json", BuiltIn::Export),
    known("quit", "", "leaves, as Ctrl-D does", BuiltIn::Quit),
];

/// The command of this name.
pub(crate) fn named(name: &str) -> Option<&'static Known> {
    BUILT_IN.iter().find(|known| known.name == name)
}
