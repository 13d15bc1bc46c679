//! How many of the credentials of `tests/corpora/secret-redactor` are found, and how many harmless lines are hit.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

/// Each text is made this often, with other random characters.
const ROUNDS: u64 = 40;

/// Found credentials, in percent: what was measured, rounded down. Those that are missed are passwords of letters alone in
/// code, and `sshpass -p`.
const LEAST_RECALL: f64 = 99.2;
/// Harmless lines that were hit, in percent.
const MOST_FALSE: f64 = 0.1;

fn corpus(name: &str) -> String {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/secret-redactor").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// xorshift64*, so that the figures are the same everywhere.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize
    }

    fn text(&mut self, letters: &str, length: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..length).map(|_| letters[self.next() % letters.len()]).collect()
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";

/// A template with its `<kind:length>` filled in.
pub(super) fn filled(template: &str, chance: &mut Chance) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        rest = &rest[open..];
        let made = rest.find('>').and_then(|close| {
            let (kind, length) = rest[1..close].split_once(':').unwrap_or((&rest[1..close], "0"));
            let length = length.parse().ok()?;
            let alnum = format!("{LOWER}{UPPER}{DIGITS}");
            let made = match kind {
                "hex" => chance.text(HEX, length),
                "digits" => chance.text("123456789", 1) + &chance.text(DIGITS, length - 1),
                "upper" => chance.text(&format!("{UPPER}234567"), length),
                "alnum" => chance.text(&alnum, length),
                "word" => chance.text(&format!("{alnum}_-"), length - 1) + &chance.text(&alnum, 1),
                "b64" => chance.text(&format!("{alnum}+/"), length),
                "b64url" => chance.text(&format!("{alnum}-_"), length - 1) + &chance.text(&alnum, 1),
                // As a password manager makes them, with what no file format quotes.
                "mixed" => {
                    chance.text(&format!("{LOWER}{UPPER}"), 2)
                        + &chance.text(&format!("{alnum}!#%+~^*"), length - 3)
                        + &chance.text(DIGITS, 1)
                }
                "uuid" => [8, 4, 4, 4, 12].map(|length| chance.text(HEX, length)).join("-"),
                _ => return None,
            };
            Some((made, close))
        });
        match made {
            Some((made, close)) => {
                text.push_str(&made);
                rest = &rest[close + 1..];
            }
            None => {
                text.push('<');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

/// The texts of the positives with their kinds.
fn positives() -> Vec<(String, String)> {
    let mut kind = String::new();
    let mut all = Vec::new();
    for line in corpus("positives.txt").lines().skip_while(|line| !line.starts_with('[')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) if !line.contains('⟦') => name.clone_into(&mut kind),
            _ if line.contains('⟦') => all.push((kind.clone(), line.replace('↵', "\n"))),
            _ => {}
        }
    }
    all
}

fn negatives() -> Vec<(&'static str, Vec<String>)> {
    ["lockfiles", "git", "ids", "encoded", "code", "prose"]
        .map(|name| {
            let text = corpus(&format!("negatives/{name}.txt"));
            (name, text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
        })
        .to_vec()
}

/// A filled positive without its marks, and the secrets in it.
fn marked(template: &str, chance: &mut Chance) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut secrets = Vec::new();
    for (n, part) in template.split('⟦').enumerate() {
        match part.split_once('⟧') {
            Some((secret, rest)) if n > 0 => {
                let secret = filled(secret, chance);
                text.push_str(&secret);
                secrets.push(secret);
                text.push_str(&filled(rest, chance));
            }
            _ => text.push_str(&filled(part, chance)),
        }
    }
    (text, secrets)
}

fn plain(text: &str) -> Option<String> {
    redacted(text, &Config::default(), &mut Counts::new())
}

#[test]
fn nearly_all_credentials_of_the_corpus_are_found() {
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut missed = BTreeMap::new();
    for (n, (kind, template)) in positives().into_iter().enumerate() {
        for round in 0..ROUNDS {
            let (text, secrets) = marked(&template, &mut Chance::new(n as u64 * 1000 + round));
            let clean = plain(&text).unwrap_or_else(|| text.clone());
            assert_eq!(clean.lines().count(), text.lines().count(), "lines stay lines\n{text}\n{clean}");
            for secret in &secrets {
                let counts = table.entry(kind.clone()).or_default();
                counts.1 += 1;
                // What is left of it must not help either.
                let rest = secret.get(secret.len() / 2..).unwrap_or_default();
                if clean.contains(secret.as_str()) || clean.contains(rest) {
                    missed.entry(template.clone()).or_insert((0, text.clone(), clean.clone())).0 += 1;
                } else {
                    counts.0 += 1;
                }
            }
        }
    }
    for (template, (count, text, clean)) in &missed {
        println!("missed {count} of {ROUNDS}: {template}\n    {text}\n    {clean}");
    }
    let percent = |found: usize, all: usize| found as f64 * 100.0 / all as f64;
    for (kind, (found, all)) in &table {
        println!("{kind:<15} {found:>5} of {all:>5}  {:>6.2} %", percent(*found, *all));
    }
    let (found, all) = table.values().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
    let recall = percent(found, all);
    println!("recall {found} of {all}: {recall:.2} %");
    assert!(recall >= LEAST_RECALL, "recall is {recall:.2} %, recorded are {LEAST_RECALL} %");
}

#[test]
fn hardly_any_harmless_line_of_the_corpus_is_touched() {
    let (mut hit, mut all) = (0, 0);
    for (name, lines) in negatives() {
        let (mut of_file, mut in_file) = (0, 0);
        for (n, line) in lines.iter().enumerate() {
            let mut worst = None;
            for round in 0..ROUNDS {
                let text = filled(line, &mut Chance::new(n as u64 * 7777 + round));
                in_file += 1;
                if let Some(clean) = plain(&text) {
                    of_file += 1;
                    worst = Some(format!("{text}\n    {clean}"));
                }
            }
            if let Some(worst) = worst {
                println!("hit: {line}\n    {worst}");
            }
        }
        println!(
            "{name:<15} {of_file:>5} of {in_file:>5}  {:>6.2} %",
            of_file as f64 * 100.0 / in_file as f64
        );
        hit += of_file;
        all += in_file;
    }
    let share = hit as f64 * 100.0 / all as f64;
    println!("harmless lines hit: {hit} of {all}: {share:.2} %");
    assert!(share <= MOST_FALSE, "{share:.2} % of the harmless lines are hit, recorded are {MOST_FALSE} %");
    // Whole files, in which lines stand beside each other.
    for (name, lines) in negatives() {
        let text: Vec<String> = lines.iter().map(|line| filled(line, &mut Chance::new(5))).collect();
        let text = text.join("\n");
        let hits = scan::findings(&text, &Config::default()).len();
        assert!(hits * 100 <= text.lines().count(), "{name}: {hits}");
    }
}
