//! The person at the terminal: lines with editing and history, and answers to questions.

use super::editing::Editing;
use crate::home::Home;
use crate::loader::Say;
use crate::permit::{Person, Reply};
use crate::screen::{self, DIM, WARN};
use anyhow::{Context, Result};
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Editor, ExternalPrinter};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

/// Before a line for the model.
const PROMPT: &str = "> ";

/// Before a line that continues one.
const CONTINUED: &str = "… ";

/// What came from the keyboard.
pub(crate) enum Line {
    /// A line.
    Text(String),
    /// Ctrl-C, with text on the line that is gone now.
    Cleared,
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Where lines come from.
pub(crate) struct Terminal {
    editor: Arc<Mutex<Editor<Editing, FileHistory>>>,
    /// The names of commands that Tab completes.
    names: Arc<Mutex<Vec<String>>>,
    /// Whether the line that is being typed has text.
    has_text: Arc<AtomicBool>,
    history: Option<PathBuf>,
    interactive: bool,
    /// A line is being read at the moment.
    is_reading: Arc<AtomicBool>,
    /// The modes that the shell had set.
    modes: Option<Termios>,
    /// What is said while a line is being typed.
    notes: mpsc::Sender<String>,
}

impl Terminal {
    /// Takes the terminal, or whatever stdin is.
    pub(crate) fn open(home: &Home) -> Result<Self> {
        let mut editor = Editor::new().context("the terminal cannot be used")?;
        let editing = Editing::default();
        let (names, has_text) = (editing.names(), editing.has_text());
        editor.set_helper(Some(editing));
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
        let editor = Arc::new(Mutex::new(editor));
        let is_reading = Arc::default();
        Ok(Self { editor, names, has_text, history, interactive, is_reading, modes, notes })
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
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Gives the terminal back as the shell had it, if a line is still being read. Reading cannot be called off.
    pub(crate) fn restore(&self) {
        let Some(modes) = self.modes.as_ref().filter(|_| self.is_reading.load(Ordering::Relaxed)) else {
            return;
        };
        // Ends the pasting mode that line editing has switched on.
        if let Err(reason) = screen::show("\u{1b}[?2004l\n") {
            tracing::debug!(%reason, "the screen cannot be written");
        }
        if let Err(reason) = tcsetattr(std::io::stdin(), OptionalActions::Now, modes) {
            tracing::warn!(%reason, "the terminal could not be given back; `reset` mends it");
        }
    }

    /// The names of commands that Tab completes from now on.
    pub(super) fn complete_with(&self, names: Vec<String>) {
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// The next line for the model, which begins as `draft` and is kept in the history. With `\` at its end it goes on in
    /// the next one, and pasted lines stay together.
    pub(super) async fn prompt(&self, draft: String) -> Result<Line> {
        let mut text = String::new();
        let (mut prompt, mut draft) = (PROMPT, draft);
        loop {
            match self.read(prompt, std::mem::take(&mut draft)).await? {
                Line::Text(line) if self.interactive && line.ends_with('\\') => {
                    text.push_str(line.strip_suffix('\\').unwrap_or_default());
                    text.push('\n');
                    prompt = CONTINUED;
                }
                Line::Text(line) => {
                    text.push_str(&line);
                    self.remember(&text)?;
                    return Ok(Line::Text(text));
                }
                // Only an empty line has no other meaning than to leave.
                Line::Interrupted | Line::End if prompt == CONTINUED => return Ok(Line::Cleared),
                other => return Ok(other),
            }
        }
    }

    /// The answer to a question. What was typed before the question was there is no answer to it.
    pub(crate) async fn ask(&self, question: &str) -> Result<Line> {
        self.forget_typed();
        self.read(question, String::new()).await
    }

    /// Throws away what was typed and not read yet.
    fn forget_typed(&self) {
        if self.interactive
            && let Err(reason) = tcflush(std::io::stdin(), QueueSelector::IFlush)
        {
            tracing::warn!(%reason, "what was typed ahead could not be thrown away");
        }
    }

    async fn read(&self, prompt: &str, draft: String) -> Result<Line> {
        let (editor, text, is_reading) = (self.editor.clone(), prompt.to_owned(), self.is_reading.clone());
        let read = tokio::task::spawn_blocking(move || {
            let mut editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
            is_reading.store(true, Ordering::Relaxed);
            let read = editor.readline_with_initial(text.as_str(), (&draft, ""));
            is_reading.store(false, Ordering::Relaxed);
            read
        });
        match read.await.context("the terminal was lost")? {
            Ok(text) => Ok(Line::Text(text)),
            Err(ReadlineError::Interrupted) if self.has_text.load(Ordering::Relaxed) => Ok(Line::Cleared),
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(reason) => Err(reason).context("the terminal cannot be read"),
        }
    }

    fn remember(&self, line: &str) -> Result<()> {
        let Some(path) = &self.history else { return Ok(()) };
        let mut editor = self.editor.lock().unwrap_or_else(PoisonError::into_inner);
        editor.add_history_entry(line).context("the history cannot be kept")?;
        editor.append_history(path).with_context(|| format!("{} cannot be written", path.display()))
    }
}

#[async_trait]
impl Person for Terminal {
    async fn reply(&self, question: &str, call: &ToolCall) -> Reply {
        // Before the question is seen, so that an answer to it that comes at once counts.
        self.forget_typed();
        // What is asked about has a margin, so that no line of it can be taken for one of the program's own.
        let question = screen::beginning(question).trim_end().replace('\n', "\n  | ");
        screen::note(&format!("{WARN}{}{WARN:#}: {question}", screen::brief(&call.name, 64)));
        match self.read("  [y]es once, [a]lways in this session, [N]o: ", String::new()).await {
            Ok(Line::Text(answer)) => match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => Reply::Once,
                "a" | "always" => Reply::Always,
                _ => Reply::No,
            },
            Ok(Line::Cleared | Line::Interrupted | Line::End) => Reply::No,
            Err(error) => {
                screen::complain(&error);
                Reply::No
            }
        }
    }
}
