//! `capstan plan`

use super::{SessionFlags, Setup};
use clap::ValueEnum;

/// `capstan plan`
#[derive(Debug, clap::Args)]
pub(crate) struct PlanOptions {
    /// What is to be reached. Without it, the last plan of the session that the flags name goes on
    pub(crate) goal: Option<String>,

    /// Who reads the plan out of what the model wrote: json, or EXTENSION/FORMAT; repeated: each is asked in turn until one
    /// finds a plan. Default: plan_parser of config.toml, else json
    #[arg(long, value_name = "NAME")]
    pub(crate) parser: Vec<String>,

    /// How the model is told to write the plan, where the parser does not say it: the end of "Write the plan as"
    #[arg(long, value_name = "TEXT")]
    pub(crate) format: Option<String>,

    /// Make the plan and show it, and carry out nothing; `capstan plan --continue` does that later
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Carry the plan out without asking
    #[arg(short, long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,

    /// What goes to stdout: the answers' text, or every event as one JSON line
    #[arg(long, value_enum, default_value_t = PlanMode::Text)]
    pub(crate) mode: PlanMode,

    #[command(flatten)]
    pub(crate) session: SessionFlags,

    #[command(flatten)]
    pub(crate) setup: Setup,
}

/// What goes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanMode {
    /// The answers of the steps.
    Text,
    /// Events.
    Json,
}
