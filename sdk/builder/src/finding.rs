//! What `capstan doctor` tells an author about each language.

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What: "cargo", "component linker", or the name of a target.
    pub subject: String,
    /// Whether it can be used.
    pub status: Status,
    /// What was found, in one line.
    pub detail: String,
    /// A command or step that mends or speeds things up; `None` when there is nothing to do.
    pub remedy: Option<String>,
}

/// Whether something can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// There, and works offline.
    Ready,
    /// Not there, but the first build tries to fetch or make it by itself.
    CanBeMade,
    /// Not there, and a person has to act.
    Missing,
}
