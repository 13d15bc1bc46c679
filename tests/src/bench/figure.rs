//! What was measured, as a table for people and as JSON for everything else.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// In what a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Milliseconds,
    Microseconds,
    Megabytes,
    Bytes,
    /// Things, such as allocations.
    Count,
    /// How many times as much as another figure.
    Times,
}

impl Unit {
    fn symbol(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Megabytes => "MB",
            Self::Bytes => "bytes",
            Self::Count => "n",
            Self::Times => "x",
        }
    }

    /// A time in this unit. Units of something else take it in seconds, which nobody asks for.
    fn of(self, time: Duration) -> f64 {
        match self {
            Self::Milliseconds => time.as_secs_f64() * 1e3,
            Self::Microseconds => time.as_secs_f64() * 1e6,
            Self::Megabytes | Self::Bytes | Self::Count | Self::Times => time.as_secs_f64(),
        }
    }
}

/// One figure.
#[derive(Debug, Clone)]
struct Figure {
    name: &'static str,
    unit: Unit,
    samples: usize,
    p50: f64,
    p95: f64,
    p99: f64,
    /// For comparisons: with which figure.
    against: Option<&'static str>,
    /// What the product promises itself, where it does.
    goal: Option<f64>,
}

/// The figures of a run, and which of them are wanted.
pub(crate) struct Figures {
    only: String,
    taken: Vec<Figure>,
}

impl Figures {
    /// For figures whose name or group contains `only`; an empty text is contained in all.
    pub(crate) fn matching(only: &str) -> Self {
        Self { only: only.to_owned(), taken: Vec::new() }
    }

    /// Whether a figure is asked for.
    pub(crate) fn wants(&self, group: &str, name: &str) -> bool {
        group.contains(&self.only) || name.contains(&self.only)
    }

    /// Whether nothing was measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Takes times.
    pub(crate) fn times(&mut self, name: &'static str, unit: Unit, goal: Option<f64>, times: &[Duration]) {
        self.values(name, unit, goal, times.iter().map(|&time| unit.of(time)).collect());
    }

    /// Takes values of any unit. Nothing measured is no figure.
    pub(crate) fn values(&mut self, name: &'static str, unit: Unit, goal: Option<f64>, mut values: Vec<f64>) {
        values.sort_by(f64::total_cmp);
        let (Some(p50), Some(p95), Some(p99)) =
            (percentile(&values, 50), percentile(&values, 95), percentile(&values, 99))
        else {
            return;
        };
        let samples = values.len();
        self.taken.push(Figure { name, unit, samples, p50, p95, p99, against: None, goal });
        eprintln!("    {name}: {p50:.2} {} (p99 {p99:.2}, {samples} samples)", unit.symbol());
    }

    /// Takes ratios that were measured pair by pair: how many times as much as `against` its partner took.
    pub(crate) fn ratios(
        &mut self,
        name: &'static str,
        against: &'static str,
        goal: Option<f64>,
        ratios: Vec<f64>,
    ) {
        let n_before = self.taken.len();
        self.values(name, Unit::Times, goal, ratios);
        for taken in &mut self.taken[n_before..] {
            taken.against = Some(against);
        }
    }

    /// Compares two figures that were taken: how many times `name`'s time fits into that of `against`, at p50.
    pub(crate) fn compare(&mut self, as_name: &'static str, name: &str, against: &'static str) {
        let find = |wanted: &str| self.taken.iter().find(|figure| figure.name == wanted).cloned();
        let (Some(one), Some(other)) = (find(name), find(against)) else { return };
        // Both are times; `of` brings them to one unit.
        let scale = Unit::of(other.unit, Duration::from_secs(1)) / Unit::of(one.unit, Duration::from_secs(1));
        let ratio = |of_other: f64, of_one: f64| of_other / scale / of_one;
        self.taken.push(Figure {
            name: as_name,
            unit: Unit::Times,
            samples: one.samples.min(other.samples),
            p50: ratio(other.p50, one.p50),
            p95: ratio(other.p95, one.p95),
            p99: ratio(other.p99, one.p99),
            against: Some(against),
            goal: None,
        });
    }

    /// Writes the figures into the file. Those of other names that the file holds stay.
    pub(crate) fn merge_into(&self, path: &Path) -> Result<()> {
        let mut all = BTreeMap::new();
        if let Ok(text) = std::fs::read_to_string(path) {
            let old: Vec<Value> = serde_json::from_str(&text)
                .with_context(|| format!("{} holds no figures; remove it", path.display()))?;
            all.extend(old.into_iter().filter_map(|old| Some((old.get("name")?.as_str()?.to_owned(), old))));
        }
        all.extend(self.taken.iter().map(|figure| (figure.name.to_owned(), figure.to_json())));
        let all: Vec<_> = all.into_values().collect();
        std::fs::write(path, format!("{:#}\n", Value::Array(all)))
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    /// One line a figure.
    pub(crate) fn table(&self) -> String {
        let mut table = format!(
            "{:<28} {:>5} {:>10} {:>10} {:>10} {:>8} {:>9}\n",
            "figure", "unit", "p50", "p95", "p99", "samples", "goal"
        );
        for figure in &self.taken {
            let goal = figure.goal.map(|goal| format!("<= {goal}")).unwrap_or_default();
            let against = figure.against.map(|against| format!("  against {against}")).unwrap_or_default();
            let [p50, p95, p99] = [figure.p50, figure.p95, figure.p99].map(shown);
            // Writing to a string does not fail.
            let _infallible = writeln!(
                table,
                "{:<28} {:>5} {p50:>10} {p95:>10} {p99:>10} {:>8} {goal:>9}{against}",
                figure.name,
                figure.unit.symbol(),
                figure.samples,
            );
        }
        table
    }
}

impl Figure {
    fn to_json(&self) -> Value {
        let mut json = json!({
            "name": self.name,
            "unit": self.unit.symbol(),
            "p50": self.p50,
            "p95": self.p95,
            "p99": self.p99,
            "samples": self.samples,
        });
        if let Some(against) = self.against {
            json["against"] = json!(against);
            json["ratio"] = json!(self.p50);
        }
        json
    }
}

/// The value that `percent` of the values do not exceed (nearest rank).
fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

fn shown(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
