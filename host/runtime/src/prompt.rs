//! Prompts from templates.

use crate::error::AgentError;

/// A text with variables, each written `{{name}}`. A variable's value goes in as it is; what looks like a variable in it is
/// left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable(String),
}

impl PromptTemplate {
    /// Reads a template. A name may have letters, digits, `_` and `-`, and space around it.
    ///
    /// # Errors
    /// [`AgentError::Config`] for a variable without a name or without its end.
    pub fn new(text: &str) -> Result<Self, AgentError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else {
                return Err(AgentError::Config(format!(
                    "the prompt template has a `{{{{` without `}}}}`, at byte {}",
                    text.len() - after.len() - 2
                )));
            };
            let name = name.trim();
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
                return Err(AgentError::Config(format!(
                    "`{name}` is no name for a variable of a prompt template; use letters, digits, _ and -"
                )));
            }
            pieces.extend([Piece::Text(before.to_owned()), Piece::Variable(name.to_owned())]);
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self { pieces })
    }

    /// The names of its variables, in order of appearance.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The text with the variables replaced. Values that no variable asks for are not used.
    ///
    /// # Errors
    /// [`AgentError::Config`], which names the variable that has no value.
    pub fn render(&self, values: &[(&str, &str)]) -> Result<String, AgentError> {
        let mut text = String::new();
        for piece in &self.pieces {
            text.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Variable(name) => value_of(name, values)?,
            });
        }
        Ok(text)
    }
}

fn value_of<'a>(name: &str, values: &[(&str, &'a str)]) -> Result<&'a str, AgentError> {
    let value = values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    value.ok_or_else(|| {
        AgentError::Config(format!("the prompt's variable `{name}` has no value; give it one"))
    })
}

/// A prompt of several sections, in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct PromptComposer {
    sections: Vec<PromptTemplate>,
}

impl PromptComposer {
    /// A prompt without sections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a section after the others.
    pub fn section(mut self, template: PromptTemplate) -> Self {
        self.sections.push(template);
        self
    }

    /// The whole prompt, an empty line between sections. One that renders to nothing leaves none.
    ///
    /// # Errors
    /// Those of [`PromptTemplate::render`].
    pub fn compose(&self, values: &[(&str, &str)]) -> Result<String, AgentError> {
        let rendered = self.sections.iter().map(|section| section.render(values));
        let mut texts = rendered.collect::<Result<Vec<String>, AgentError>>()?;
        texts.retain(|text| !text.trim().is_empty());
        Ok(texts.join("\n\n"))
    }
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
