//! Assembly: the real ports in an agent session.

use crate::args::Setup;
use crate::catalog::{self, Catalog};
use crate::config::{self, Config};
use crate::home::Home;
use crate::live::{Live, LiveParts};
use crate::loader::Loader;
use crate::mcp::Mcp;
use crate::model::{ConfiguredModels, NoModel};
use crate::permit::{Permits, Person};
use crate::prompts::Prompts;
use crate::reload::ClosedGates;
use crate::sessions::{self, Kept, Sessions, Which};
use crate::{model, print, roles, roster, screen, secrets, usage};
use anyhow::{Context, Result};
use capstan_agent::trace::HookTrace;
use capstan_agent::{AgentLoopConfig, AgentSession, Observers, RetryEvent, SessionFacts};
use capstan_engine::Services;
use capstan_policy::{Grants, PermissionMode};
use capstan_ports::extension::Access;
use capstan_ports::{Model, ModelCatalog, ProgramRunner, Tool};
use capstan_session::Header;
use capstan_session::header::folder_name;
use capstan_storage::KeyValueFiles;
use capstan_tools::{
    CommandRuntime, LocalCommands, LocalPrograms, LocalWorkspace, OutputFolder, builtin_tools, selected_tools,
};
use std::sync::Arc;
use std::time::Duration;

/// How long the full output of a command can be read. Nobody goes back to it after a week, and one file may have a
/// hundred megabytes.
const OUTPUTS_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A session ready for its first prompt.
pub(crate) struct Composed {
    pub(crate) session: AgentSession,
    /// The first line of the session's file.
    pub(crate) header: Header,
    pub(crate) catalog: Catalog,
    /// What was said about parts of extensions that are not used.
    pub(crate) notices: Vec<String>,
    /// What the extensions are wired to.
    pub(crate) live: Arc<Live>,
    /// Which session it is, and going on with others.
    pub(crate) sessions: Sessions,
    /// What else could answer.
    pub(crate) models: Arc<ConfiguredModels>,
    /// Runs what the user types after `!`, or an rpc client sends, as the `bash` tool runs what the model writes.
    pub(crate) shell: Arc<dyn CommandRuntime>,
    /// What is needed to look at the extensions again.
    pub(crate) loader: Loader,
    /// What hooks do.
    pub(crate) trace: Arc<HookTrace>,
    /// What the model is told, and the prompts that can be called by name.
    pub(crate) prompts: Arc<Prompts>,
    /// Who is configured to read plans.
    pub(crate) plan_parsers: Vec<String>,
}

impl Composed {
    /// Tells hooks that the session is over and the user what is left open in it, and keeps what extensions used.
    pub(crate) async fn finish(&self, home: &Home) {
        print::finish(&self.session).await;
        usage::keep(home, &self.catalog.active);
    }
}

/// What the caller of [`session`] decides besides the flags.
pub(crate) struct Plan {
    pub(crate) which: Which,
    /// In force where neither flag nor configuration says otherwise.
    pub(crate) default_mode: PermissionMode,
    /// Who can be asked.
    pub(crate) person: Option<Arc<dyn Person>>,
    /// How extensions are loaded, and what is known of them already.
    pub(crate) loader: Loader,
}

/// Puts a session together from the user's files and the flags.
///
/// # Errors
/// When the configuration or the grants cannot be read, no model is chosen, or the session cannot be opened.
pub(crate) async fn session(home: &Home, setup: &Setup, plan: Plan) -> Result<Composed> {
    let grants = config::load_grants(home)?;
    let mut config = Config::load(home, &grants)?;
    model::heed_environment(&mut config);
    let commands = Arc::new(commands(home, &config, None));
    assemble(home, setup, plan, &config, &grants, commands).await
}

/// The same with configuration, grants and command runtime given.
pub(crate) async fn assemble(
    home: &Home,
    setup: &Setup,
    plan: Plan,
    config: &Config,
    grants: &Grants,
    commands: Arc<dyn CommandRuntime>,
) -> Result<Composed> {
    let models = Arc::new(ConfiguredModels::new(config));
    // First, because they take their time.
    let mut mcp = if setup.no_extensions { None } else { Mcp::begin(home, config)? };
    // A new session is made only when everything else is in order.
    let going_on = match plan.which {
        Which::Last | Which::File(_) => Some(sessions::open(home, plan.which.clone())?),
        Which::New | Which::CopyOf(_) | Which::Unkept => None,
    };
    let own = going_on.as_ref().filter(|_| setup.model.is_none()).map(|kept| own_model(kept, &*models));
    let model = match own.transpose()?.flatten() {
        Some(model) => model,
        None => match model::choose(setup, config) {
            Err(reason) if setup.model_is_optional => Arc::new(NoModel::because(&reason)),
            chosen => chosen?,
        },
    };
    let programs: Arc<dyn ProgramRunner> = Arc::new(LocalPrograms::new());
    let (facts, observers) = (Arc::new(SessionFacts::default()), Arc::new(Observers::default()));
    let mut loader = plan.loader;
    loader.services = Services {
        storage: Some(Arc::new(KeyValueFiles::new(home.storage()))),
        programs: Some(programs.clone()),
        model: Some(model.clone()),
        session_memory: Some(facts.clone()),
        events: Some(observers.clone()),
        secrets: secrets::load(home)?,
        ..Services::default()
    };
    let catalog = extensions(home, config, grants, setup, &mut loader).await?;
    let mut natives = roster::natives(home, config, programs)?;
    if let Some(mcp) = &mut mcp {
        natives.extend(mcp.extensions());
        mcp.ready().await.iter().for_each(|notice| warn(notice));
    }
    let builtin = builtin(home, setup, &plan.which, commands.clone())?;
    let trace = Arc::new(HookTrace::default());
    let kept = match going_on {
        Some(kept) => kept,
        None => sessions::open(home, plan.which)?,
    };
    let header = kept.header();

    let mut loop_config = AgentLoopConfig::new(model.clone());
    loop_config.thinking = setup.thinking.unwrap_or_default();
    loop_config.models = Some(models.clone());
    loop_config.prices = models.clone();
    // What was named for this run counts; what is only configured gives way to what the session was continued with.
    loop_config.chosen.model = setup.model.is_some();
    loop_config.chosen.thinking = setup.thinking.is_some();
    loop_config.session_memory = Some(facts);
    loop_config.compaction = config.compaction;
    loop_config.observers = observers.clone();
    let mode = setup.permissions.or(config.permissions).unwrap_or(plan.default_mode);
    loop_config.permissions = Arc::new(Permits::new(mode, plan.person));
    loop_config.limits.max_tool_rounds = setup.max_rounds.or(config.max_rounds);
    if let Some(retries) = config.max_retries {
        loop_config.retry.max_retries = retries;
    }
    loop_config.on_retry = Some(Arc::new(tell_of_retry));
    let hooks = loop_config.hooks.clone();
    let closed = ClosedGates::begin(&catalog).hooks();
    let runtime = roster::runtime(&catalog, &natives, &closed)?.with_trace(trace.clone());
    let opened = runtime.open(loop_config, kept.log(), builtin.clone()).await?;
    let prompts = prompts(home, setup, grants)?;
    let (prompt_home, told) = (home.clone(), prompts.clone());
    let has_extensions = !setup.no_extensions;
    let own_memory = roles::own_memory(home).await.unwrap_or_else(|error| {
        warn(&format!("{error}. This session goes on without what you keep with capstan memory"));
        None
    });
    let live = Arc::new(Live::new(LiveParts {
        session: opened.session.clone(),
        builtin,
        natives,
        tools: opened.tools,
        hooks,
        observers,
        trace: trace.clone(),
        templates: prompts.templates.clone(),
        own_memory,
        prompt: Box::new(move |tools| told.system(&prompt_home, tools)),
    }));
    let notices = live.apply(&catalog, config, &closed)?;
    if has_extensions {
        notices.iter().for_each(|notice| warn(notice));
    }
    if let Some(mcp) = mcp {
        mcp.follow(home.clone(), &live);
    }
    let session = opened.session;
    session.notices().iter().for_each(|notice| warn(&notice.to_string()));
    let sessions = Sessions::new(home, kept, session.clone(), live.clone());
    Ok(Composed {
        session,
        header,
        catalog,
        notices,
        live,
        sessions,
        models,
        shell: commands,
        loader,
        trace,
        prompts,
        plan_parsers: config.plan_parsers.clone(),
    })
}

/// The model that a session was last continued with, if it is still there. Then none needs to be configured.
fn own_model(kept: &Kept, models: &dyn ModelCatalog) -> Result<Option<Arc<dyn Model>>> {
    let Some(own) = kept.log().context()?.model else { return Ok(None) };
    // That it is not, and why, is told when the session is opened with another one.
    Ok(models.find(&own.provider, &own.model_id).ok())
}

/// Extensions in force, with a line on stderr about each that is not.
async fn extensions(
    home: &Home,
    config: &Config,
    grants: &Grants,
    setup: &Setup,
    loader: &mut Loader,
) -> Result<Catalog> {
    if setup.no_extensions {
        return Ok(Catalog { active: Vec::new(), found: Vec::new() });
    }
    let catalog = loader.look(home, config, grants, &setup.extensions).await?;
    for notice in catalog.found.iter().filter_map(catalog::Found::notice) {
        warn(&notice);
    }
    Ok(catalog)
}

/// A line on stderr that wants attention. Names in it come from files and extensions.
fn warn(notice: &str) {
    screen::note(&format!("{}capstan:{:#} {}", screen::WARN, screen::WARN, screen::visible(notice)));
}

/// Commands without the keys of providers and without the variable `secret`, whose long output the session's `read` can reach.
pub(crate) fn commands(home: &Home, config: &Config, secret: Option<&str>) -> LocalCommands {
    let keys = config.providers.iter().filter_map(|provider| provider.api_key_env.clone());
    let keys = keys.chain(secret.map(str::to_owned));
    let commands = LocalCommands::new().without_variables(keys);
    match OutputFolder::create(home.outputs()) {
        Ok(folder) => {
            let all = home.all_outputs();
            // Beside everything else; nobody waits for it.
            drop(tokio::task::spawn_blocking(move || OutputFolder::sweep(&all, OUTPUTS_KEPT)));
            commands.with_output_directory(folder.path())
        }
        Err(error) => {
            warn(&format!(
                "{error}; long output goes to the system's temporary folder, where read cannot reach it"
            ));
            commands
        }
    }
}

/// The built-in tools.
fn builtin(
    home: &Home,
    setup: &Setup,
    which: &Which,
    commands: Arc<dyn CommandRuntime>,
) -> Result<Vec<Arc<dyn Tool>>> {
    let mut workspace = LocalWorkspace::open(&home.workspace)?;
    for directory in &setup.add_dir {
        workspace = workspace
            .with_root(directory, Access::ReadWrite)
            .with_context(|| format!("--add-dir {}", directory.display()))?;
    }
    if home.outputs().is_dir() {
        workspace = workspace.with_root(home.outputs(), Access::ReadOnly)?;
    }
    // What would give a writer power over the host or over git later.
    let (project, git_hooks) = (home.project(), home.workspace.join(".git/hooks"));
    for protected in [&home.config, &home.data, &home.cache, &project, &git_hooks] {
        workspace = workspace.protecting(protected);
    }
    // Flags can put sessions anywhere, also into the working directory. Only their own folder is closed then: the one that
    // was named may be the working directory itself.
    workspace = workspace.protecting(home.sessions().join(folder_name(&home.workspace)));
    if let Which::File(path) = which {
        workspace = workspace.protecting(path);
    }
    let workspace = Arc::new(workspace);
    match &setup.tools {
        _ if setup.no_tools => Ok(Vec::new()),
        Some(names) => Ok(selected_tools(names.iter().map(String::as_str), workspace, commands)?),
        None => Ok(builtin_tools(workspace, commands)),
    }
}

/// What the model is told, with a line on stderr about each file that is not.
fn prompts(home: &Home, setup: &Setup, grants: &Grants) -> Result<Arc<Prompts>> {
    let prompts = Prompts::read(home, setup, grants)?;
    prompts.notices.iter().for_each(|notice| warn(notice));
    for name in &prompts.names {
        tracing::info!("the system prompt holds {name}");
    }
    Ok(Arc::new(prompts))
}

fn tell_of_retry(event: RetryEvent) {
    if let RetryEvent::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } = event {
        screen::note(&format!(
            "capstan: the model did not answer ({}); trying again in {:.1} s ({attempt} of {max_attempts})",
            screen::brief(&error_message, 200),
            delay_ms as f64 / 1000.0
        ));
    }
}
