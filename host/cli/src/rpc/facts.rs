//! What a client can look at.

use super::desk::Desk;
use super::history::{self, Counts};
use crate::templates::Origin;
use anyhow::Result;
use capstan_agent::QueueMode;
use capstan_ports::entry::Entry;
use capstan_ports::{ModelCatalog, ModelInfo, Price, PriceTable};
use serde_json::{Value, json};
use std::sync::Arc;

/// A model in pi's form. A model whose price nobody configured is shown as one that costs nothing.
pub(super) fn model(info: &ModelInfo, prices: &dyn PriceTable) -> Value {
    let Price { input: read, output: written, cache_read, cache_write } =
        prices.price(info).unwrap_or_default();
    let input: &[&str] = if info.accepts_images { &["text", "image"] } else { &["text"] };
    json!({
        "id": info.id,
        "name": info.id,
        "api": info.api,
        "provider": info.provider,
        "reasoning": true,
        "input": input,
        "contextWindow": info.context_window,
        "maxTokens": info.max_output_tokens,
        "cost": {"input": read, "output": written, "cacheRead": cache_read, "cacheWrite": cache_write},
    })
}

impl Desk {
    fn path(&self) -> Result<Vec<Arc<Entry>>> {
        Ok(self.session.log().path(None)?)
    }

    pub(super) fn state(&self) -> Result<Value> {
        let (session, agent, path) = (&self.session, self.session.agent(), self.path()?);
        let mut state = json!({
            "model": model(session.model().info(), self.models.as_ref()),
            "thinkingLevel": session.thinking_level().name(),
            "isStreaming": self.runs.is_on(),
            "isCompacting": session.is_compacting(),
            "autoCompactionEnabled": session.auto_compaction(),
            "steeringMode": mode(agent.steering_mode()),
            "followUpMode": mode(agent.follow_up_mode()),
            "messageCount": history::shown(&path).len(),
            "pendingMessageCount": agent.queued_steering().len() + agent.queued_follow_ups().len(),
        });
        self.add_session(&mut state);
        if let Some(name) = session.name() {
            state["sessionName"] = json!(name);
        }
        Ok(state)
    }

    fn add_session(&self, data: &mut Value) {
        data["sessionId"] = json!(self.session.id());
        if let Some(path) = self.sessions.path() {
            data["sessionFile"] = json!(path.to_string_lossy());
        }
    }

    pub(super) fn messages(&self) -> Result<Value> {
        let path = self.path()?;
        let messages: Vec<Value> = history::shown(&path)
            .into_iter()
            .map(|entry| history::message(entry))
            .collect::<Result<_, _>>()?;
        Ok(json!({"messages": messages}))
    }

    pub(super) fn stats(&self) -> Result<Value> {
        let mut data = Counts::of(&self.path()?).data(self.session.model().info().context_window);
        self.add_session(&mut data);
        Ok(data)
    }

    pub(super) fn fork_points(&self) -> Result<Value> {
        Ok(json!({"messages": history::fork_points(&self.path()?)}))
    }

    pub(super) fn last_text(&self) -> Result<Value> {
        Ok(json!({"text": history::last_text(&self.path()?)}))
    }

    /// The models that can be named without knowing them, the current one among them.
    pub(super) fn available_models(&self) -> Vec<Value> {
        let (now, mut all) = (self.session.model().info().clone(), self.models.available());
        if all.iter().all(|known| known.full_name() != now.full_name()) {
            all.insert(0, now);
        }
        all.iter().map(|info| model(info, self.models.as_ref())).collect()
    }

    pub(super) fn commands_data(&self) -> Value {
        let commands = self.commands.current();
        let of_extensions = commands.all().map(|command| {
            json!({
                "name": command.name(),
                "description": command.description(),
                "source": "extension",
                "path": self.extension_path(command.owner()),
            })
        });
        let templates = commands.templates().map(|template| {
            let location = match template.origin {
                Origin::User => "user",
                Origin::Project => "project",
            };
            let (name, description) = (&template.name, &template.description);
            json!({"name": name, "description": description, "source": "prompt", "location": location})
        });
        json!({"commands": of_extensions.chain(templates).collect::<Vec<_>>()})
    }
}

fn mode(mode: QueueMode) -> &'static str {
    match mode {
        QueueMode::All => "all",
        QueueMode::OneAtATime => "one-at-a-time",
    }
}
