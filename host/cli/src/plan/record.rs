//! Plans in the session: what was planned, and each change of a step, as private entries that no model sees.

use anyhow::{Context, Result};
use capstan_agent::AgentSession;
use capstan_runtime::{AgentError, Plan, PlanRecord, StatusRecord, Step};
use serde::{Deserialize, Serialize};

/// The type of the entries.
pub(super) const PLAN: &str = "capstan.plan";

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Entry {
    /// A plan begins: a new one, or another try of an old one.
    Begun { plan: PlanRecord },
    /// A step of it, counted from 0, changed.
    Step {
        plan: String,
        step: usize,
        #[serde(flatten)]
        status: StatusRecord,
    },
}

/// Keeps a plan before anything of it is carried out.
pub(super) async fn begun(session: &AgentSession, plan: &Plan) -> Result<(), AgentError> {
    append(session, &Entry::Begun { plan: plan.into() }).await
}

/// Keeps a change of a step.
pub(super) async fn changed(session: &AgentSession, plan: &Plan, step: &Step) -> Result<(), AgentError> {
    let status = step.status().into();
    append(session, &Entry::Step { plan: plan.id().to_owned(), step: step.index(), status }).await
}

async fn append(session: &AgentSession, entry: &Entry) -> Result<(), AgentError> {
    let data = serde_json::to_value(entry).map_err(|error| AgentError::Other(error.to_string()))?;
    session.append_custom_entry(PLAN, Some(data)).await?;
    Ok(())
}

/// The last plan of the session's branch, as far as it came.
///
/// # Errors
/// When the session cannot be read, or its entries were not written by this command.
pub(super) fn last(session: &AgentSession) -> Result<Option<Plan>> {
    let mut last: Option<PlanRecord> = None;
    for data in session.custom_entries(PLAN)? {
        let entry: Entry = serde_json::from_value(data)
            .with_context(|| format!("the session's entries of type {PLAN} hold no plan of this version"))?;
        match (entry, &mut last) {
            (Entry::Begun { plan }, last) => *last = Some(plan),
            (Entry::Step { plan, step, status }, Some(last)) if last.id == plan => {
                let there = last.steps.len();
                let changed = last.steps.get_mut(step);
                changed
                    .with_context(|| format!("the session's plan has {there} steps, not {step}"))?
                    .status = status;
            }
            // Of a plan that another one has replaced.
            (Entry::Step { .. }, _) => {}
        }
    }
    Ok(last.map(Plan::from))
}
