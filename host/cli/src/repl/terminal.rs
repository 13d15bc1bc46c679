//! The person at the terminal: lines with editing and history, and answers to questions.

use crate::home::Home;
use crate::loader::Say;
use crate::permit::{Person, Reply};
use crate::screen::{self, DIM, WARN};
use anyhow::{Context, Result};
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::{DefaultEditor, ExternalPrinter};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

/// Before a line for the model.
pub(super) const PROMPT: &str = "> ";

/// What came from the keyboard.
pub(super) enum Line {
    /// A line.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Where lines come from.
pub(crate) struct Terminal {
    editor: Arc<Mutex<DefaultEditor>>,
    history: Option<PathBuf>,
    interactive: bool,
    /// The modes that the shell had set.
    modes: Option<Termios>,
    /// What is said while a line is being typed.
    notes: mpsc::Sender<String>,
}

impl Terminal {
    /// Takes the terminal, or whatever stdin is.
    pub(super) fn open(home: &Home) -> Result<Self> {
        let mut editor = DefaultEditor::new().context("the terminal cannot be used")?;
        let interactive = std::io::stdin().is_terminal();
        let history = interactive.then(|| home.data.join("history"));
        if let Some(path) = history.as_ref().filter(|path| path.exists()) {
            editor.load_history(path).with_context(|| format!("{} cannot be read", path.display()))?;
        }
        let modes = match interactive {
            true => Some(tcgetattr(std::io::stdin()).context("the terminal does not tell its modes")?),
            false => None,
        };
        let (notes, said) = mpsc::channel::<String>();
        // A thread of its own: the printer may wait for the editor, and nobody else should.
        let mut printer = if interactive { editor.create_external_printer().ok() } else { None };
        std::thread::Builder::new()
            .name("capstan-notes".to_owned())
            .spawn(move || {
                for note in said {
                    let printed = printer.as_mut().map(|printer| printer.print(format!("{note}\n")));
                    if !matches!(printed, Some(Ok(()))) {
                        screen::note(&note);
                    }
                }
            })
            .context("the terminal cannot be used")?;
        Ok(Self { editor: Arc::new(Mutex::new(editor)), history, interactive, modes, notes })
    }

    /// Says lines at any time: above the line that is being typed, if there is one.
    pub(super) fn announcer(&self) -> Say {
        let notes = self.notes.clone();
        Arc::new(move |text| {
            let text = screen::visible(text);
            let note = format!("{DIM}capstan:{DIM:#} {text}");
            let note = if screen::is_plain() { format!("capstan: {text}") } else { note };
            // The other end lives as long as the terminal.
            drop(notes.send(note));
        })
    }

    /// Whether a person is there.
    pub(super) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Gives the terminal back as the shell had it, while a line is still being read. Reading cannot be called off.
    pub(super) fn restore(&self) {
        let Some(modes) = &self.modes else { return };
        // Ends the pasting mode that line editing has switched on.
        if let Err(reason) = screen::show("\u{1b}[?2004l\n") {
            tracing::debug!(%reason, "the screen cannot be written");
        }
        if let Err(reason) = tcsetattr(std::io::stdin(), OptionalActions::Now, modes) {
            tracing::warn!(%reason, "the terminal could not be given back; `reset` mends it");
        }
    }

    /// The next line. What is typed at the prompt is kept in the history; answers to questions are not.
    pub(super) async fn line(&self, prompt: &str) -> Result<Line> {
        let (editor, text, history) = (self.editor.clone(), prompt.to_owned(), self.history.clone());
        let read = tokio::task::spawn_blocking(move || {
            let mut editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
            let line = editor.readline(&text);
            if let (Ok(line), Some(path), PROMPT) = (&line, &history, text.as_str()) {
                editor.add_history_entry(line)?;
                editor.append_history(path)?;
            }
            line
        });
        match read.await.context("the terminal was lost")? {
            Ok(text) => Ok(Line::Text(text)),
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(reason) => Err(reason).context("the terminal cannot be read"),
        }
    }
}

#[async_trait]
impl Person for Terminal {
    async fn reply(&self, question: &str, call: &ToolCall) -> Reply {
        // What is asked about has a margin, so that no line of it can be taken for one of the program's own.
        let question = screen::beginning(question).trim_end().replace('\n', "\n  | ");
        screen::note(&format!("{WARN}{}{WARN:#}: {question}", screen::brief(&call.name, 64)));
        match self.line("  [y]es once, [a]lways in this session, [N]o: ").await {
            Ok(Line::Text(answer)) => match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => Reply::Once,
                "a" | "always" => Reply::Always,
                _ => Reply::No,
            },
            Ok(Line::Interrupted | Line::End) => Reply::No,
            Err(error) => {
                screen::complain(&error);
                Reply::No
            }
        }
    }
}
