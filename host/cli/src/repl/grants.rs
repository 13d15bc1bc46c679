//! Extensions that wait for the user's yes, asked about before the session begins.

use super::terminal::{Line, Terminal};
use crate::args::Setup;
use crate::config::{self, Config};
use crate::home::Home;
use crate::loader::Loader;
use crate::{approve, screen, secrets};
use anyhow::Result;
use std::time::Duration;

/// How long the first prompt may be held up by what has to be compiled first.
const WORTH_WAITING: Duration = Duration::from_secs(1);

/// Asks about each of them.
pub(super) async fn offer(
    home: &Home,
    setup: &Setup,
    terminal: &Terminal,
    loader: &mut Loader,
) -> Result<()> {
    let mut grants = config::load_grants(home)?;
    let config = Config::load(home, &grants)?;
    let mut catalog = loader.look(home, &config, &grants, &setup.extensions).await?;
    loader.compile(&catalog, &terminal.announcer());
    if loader.is_compiling() {
        // A small extension is there in no time, and then it is asked about here and greeted with the others.
        let compiled = async {
            while loader.is_compiling() {
                loader.compiled().await;
            }
        };
        // Whatever takes longer joins later.
        drop(tokio::time::timeout(WORTH_WAITING, compiled).await);
        catalog = loader.look(home, &config, &grants, &setup.extensions).await?;
    }
    // What was in force for this look was so without the services of a session.
    loader.memory.put_in_force(Vec::new());
    for (found, about) in approve::waiting(&catalog) {
        screen::note(&approve::card(found, about));
        match terminal.ask("Allow this? [y/N] ").await? {
            Line::Text(answer) if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") => {
                let allowed = approve::allow(home, &mut grants, about)
                    .and_then(|granted| secrets::remind(home, about.descriptor.id.as_str(), &granted));
                if let Err(error) = allowed {
                    screen::complain(&error);
                }
            }
            Line::Text(_) | Line::Cleared | Line::Interrupted => {}
            Line::End => return Ok(()),
        }
    }
    Ok(())
}
