//! `capstan ext test`: the recorded cases of an extension, each in the real sandbox with a workspace of its own.

use super::cases::{Case, Cases};
use super::outcome::Outcome;
use super::traces::{self, Ear, Heard, Traces};
use super::trial::{self, Given};
use super::{build, record};
use crate::args::TestOptions;
use crate::catalog;
use crate::home::Home;
use crate::screen::{self, BAD, DIM, GOOD, visible};
use anyhow::{Context, Result, bail, ensure};
use capstan_builder::Language;
use capstan_engine::Sandbox;
use capstan_policy::Places;
use capstan_ports::extension::ExtensionId;
use capstan_ports::tool::NoProgress;
use capstan_storage::KeyValueFiles;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::instrument::WithSubscriber;

/// A component and the file of its cases.
struct Suite {
    wasm: PathBuf,
    cases: PathBuf,
    /// Where its sources are, as far as that is known.
    project: PathBuf,
}

/// Runs all cases: 0 if each came out as expected.
pub(super) async fn run(home: Home, options: TestOptions) -> Result<ExitCode> {
    let suites = suites(&home, &options).await?;
    let mut reports = Vec::new();
    let (mut passed, mut failed, mut recorded) = (0, 0, 0);
    for suite in &suites {
        let text = std::fs::read_to_string(&suite.cases)
            .with_context(|| format!("{} cannot be read", suite.cases.display()))?;
        let unusable = || format!("{} is no file of cases", suite.cases.display());
        let cases = Cases::parse(&text).with_context(unusable)?;
        let sandbox = catalog::sandbox_with_lines_of(&home, &suite.wasm)?;
        // Compiled once, so that the first case shows its own time.
        sandbox.inspect(&suite.wasm).await?;
        let mut outcomes = Vec::new();
        for (at, case) in cases.cases.iter().enumerate() {
            let began = Instant::now();
            let Verdict { misses, expectation, logged } = judge(&sandbox, suite, case).await?;
            let took = began.elapsed();
            let to_record = expectation.filter(|_| options.update && !misses.is_empty());
            let is_recorded = to_record.is_some();
            outcomes.extend(to_record.map(|expectation| (at, expectation)));
            let (style, word) = match (misses.is_empty(), is_recorded) {
                (true, _) => {
                    passed += 1;
                    (GOOD, "ok")
                }
                (false, true) => {
                    recorded += 1;
                    (GOOD, "recorded")
                }
                (false, false) => {
                    failed += 1;
                    (BAD, "FAILED")
                }
            };
            if options.json {
                reports.push(json!({
                    "file": suite.cases, "case": case.name, "state": word.to_lowercase(), "problems": misses,
                    "logged": logged, "took_us": u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                }));
                continue;
            }
            screen::show(&format!(
                "{style}{word}{style:#}  {} {DIM}{:.1} ms{DIM:#}\n",
                visible(&case.name),
                took.as_secs_f64() * 1000.0
            ))?;
            for miss in misses.iter().filter(|_| !is_recorded) {
                screen::show(&format!(
                    "    {}\n",
                    visible(miss).replace(", called by ", ",\n    called by ").replace('\n', "\n    ")
                ))?;
            }
            for line in logged.iter().filter(|_| !misses.is_empty() && !is_recorded) {
                screen::show(&format!("    {DIM}it logged: {}{DIM:#}\n", visible(line)))?;
            }
        }
        if !outcomes.is_empty() {
            let text = record::recorded(&text, &outcomes).with_context(|| {
                format!("{} cannot be updated; write the expectation by hand", suite.cases.display())
            })?;
            std::fs::write(&suite.cases, text)
                .with_context(|| format!("{} cannot be written", suite.cases.display()))?;
        }
    }
    if options.json {
        screen::json(&serde_json::to_string_pretty(&reports)?)?;
    } else {
        let more = if recorded > 0 { format!(", {recorded} recorded") } else { String::new() };
        screen::show(&format!("{passed} passed, {failed} failed{more}\n"))?;
    }
    if failed > 0 && !options.update {
        screen::note("If what came out is right, record it: capstan ext test --update");
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came of a case.
struct Verdict {
    /// What does not hold.
    misses: Vec<String>,
    /// What to expect instead, if it could be asked at all.
    expectation: Option<Value>,
    /// What was logged meanwhile.
    logged: Vec<String>,
}

async fn judge(sandbox: &Sandbox, suite: &Suite, case: &Case) -> Result<Verdict> {
    let place = tempfile::tempdir().context("there is no temporary folder for the workspace")?;
    let root = place.path().canonicalize()?;
    let places =
        Places { workspace: root.join("workspace"), home: Some(root.join("home")), protected: Vec::new() };
    std::fs::create_dir(&places.workspace)?;
    std::fs::create_dir(root.join("home"))?;
    let storage = Arc::new(KeyValueFiles::new(root.join("storage")));
    let (ear, mut traces) =
        (Ear::default(), Traces { workspace: places.workspace.clone(), ..Traces::default() });
    let asked = ask(sandbox, &suite.wasm, case, places, &storage, &ear).with_subscriber(ear.log());
    let outcome = match asked.await {
        Ok((owner, outcome)) => {
            traces.stored = traces::stored(storage.as_ref(), &owner).await?;
            outcome.below(&suite.project)
        }
        // The case itself is wrong, or cannot be set up; there is nothing to record.
        Err(error) => {
            let (misses, logged) = (vec![screen::whole(&error)], ear.take().logged);
            return Ok(Verdict { misses, expectation: None, logged });
        }
    };
    let Heard { logged, emitted } = ear.take();
    (traces.logged, traces.emitted) = (logged, emitted);
    let misses = match &case.expect {
        Some(expect) => expect.misses(&outcome, &traces),
        None => vec!["it has no [case.expect]; --update records one".to_owned()],
    };
    let mut expectation = outcome.as_expectation();
    if matches!(outcome, Outcome::Watched) {
        traces.add_to(&mut expectation);
    }
    Ok(Verdict { misses, expectation: Some(expectation), logged: traces.logged })
}

/// Makes the calls of a case. The extension's id says whose storage it was.
async fn ask(
    sandbox: &Sandbox,
    wasm: &Path,
    case: &Case,
    places: Places,
    storage: &Arc<KeyValueFiles>,
    ear: &Ear,
) -> Result<(ExtensionId, Outcome)> {
    let call = case.call()?;
    case.furnish(&places.workspace)?;
    let file = sandbox.inspect(wasm).await?;
    let id = file.surface.descriptor.id.clone();
    // That a table is refused is something to test.
    if let Err(problem) = file.takes(&case.config) {
        return Ok((id, Outcome::Failure(problem.to_string())));
    }
    traces::store(storage.as_ref(), &id, &case.stored).await?;
    let given = Given {
        allow: case.allow.clone(),
        workspace: None,
        places,
        config: case.config.clone(),
        storage: storage.clone(),
        events: Some(Arc::new(ear.clone())),
        limits: Arc::default(),
    };
    let extension = trial::put_in_force(sandbox, file, given)?;
    // A test must give the same anywhere, and must not touch what is not its own.
    let elsewhere = extension.effective().iter().find(|capability| !trial::is_repeatable(capability));
    if let Some(capability) = elsewhere {
        bail!("a case can grant only folders of its own workspace, not to {capability}");
    }
    let cancel = CancellationToken::new();
    for (at, before) in case.before.iter().enumerate() {
        let which = || format!("the call {} of `before`", at + 1);
        let earlier = before.call().with_context(which)?;
        let earlier = earlier.make(&extension, Arc::new(NoProgress), &cancel).await.with_context(which)?;
        let went_well = !matches!(earlier, Outcome::Failure(_)) && !earlier.is_error_result();
        ensure!(went_well, "{} failed: {}", which(), earlier.text());
    }
    ear.take();
    Ok((id, call.make(&extension, Arc::new(NoProgress), &cancel).await?))
}

async fn suites(home: &Home, options: &TestOptions) -> Result<Vec<Suite>> {
    let path = &options.path;
    if let Ok((_language, manifest)) = Language::of(path) {
        let project = manifest.parent().unwrap_or(path);
        if !options.cases_only {
            own_tests(home, project).await?;
        }
        let built =
            build::component(home, project, build::purpose(options.debug), &build::default_out(project))
                .await?;
        let beside = project.join(built.wasm.file_name().unwrap_or_default());
        return one(project, built.wasm, options.cases.clone().unwrap_or_else(|| cases_of(&beside)));
    }
    if path.is_dir() && options.cases.is_none() {
        let mut suites = Vec::new();
        let entries =
            std::fs::read_dir(path).with_context(|| format!("{} cannot be read", path.display()))?;
        for entry in entries {
            let wasm = entry?.path();
            if wasm.extension().is_some_and(|ending| ending == "wasm") && cases_of(&wasm).is_file() {
                suites.push(Suite { cases: cases_of(&wasm), wasm, project: path.clone() });
            }
        }
        ensure!(
            !suites.is_empty(),
            "{} holds neither a project ({}) nor a NAME.wasm with a NAME.cases.toml",
            path.display(),
            Language::ALL.map(Language::manifest).join(", ")
        );
        suites.sort_by(|a, b| a.wasm.cmp(&b.wasm));
        return Ok(suites);
    }
    let folder = path.parent().unwrap_or(path);
    one(folder, path.clone(), options.cases.clone().unwrap_or_else(|| cases_of(path)))
}

/// Runs the project's own tests. What they say is on stderr, for stdout has the cases.
async fn own_tests(home: &Home, project: &Path) -> Result<()> {
    screen::note(&format!("{DIM}running the project's own tests{DIM:#}"));
    let (folder, cache) = (project.to_owned(), home.cache.clone());
    let tested =
        tokio::task::spawn_blocking(move || capstan_builder::test(&folder, &cache, &build::say)).await;
    tested
        .context("the tests were interrupted")?
        .context("the cases were not run (--cases-only runs them alone)")?;
    screen::note(&format!("{GOOD}ok{GOOD:#} the project's own tests"));
    Ok(())
}

fn one(project: &Path, wasm: PathBuf, cases: PathBuf) -> Result<Vec<Suite>> {
    ensure!(
        cases.is_file(),
        "there are no cases: {} is not there. Write one, or name the file with --cases",
        cases.display()
    );
    let project = project.canonicalize().unwrap_or_else(|_gone| project.to_owned());
    Ok(vec![Suite { wasm, cases, project }])
}

fn cases_of(wasm: &Path) -> PathBuf {
    wasm.with_extension("cases.toml")
}
