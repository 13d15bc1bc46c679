//! Hides secrets in what comes back: each of their forms becomes the placeholder again, across the borders of pieces.
//!
//! Forms that are found: the value itself; base64 in both alphabets, with and without padding, alone or inside of a longer
//! encoded text (`user:value`); hexadecimal in either case; percent-encoding as browsers, forms and cautious libraries write
//! it; the escapes of JSON and HTML. At the borders of an encoded text some bits of one character may stay visible.
//!
//! This catches what servers do by themselves, echo. It is no wall against a server that wants to give the value away: it
//! could be reversed, encrypted, spelt out or sent in halves. What goes to that server is the user's decision.

use super::fault::Fault;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use capstan_policy::secret::placeholder;
use http::{HeaderMap, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// What `encodeURIComponent` leaves as it is.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// What a browser leaves as it is in a query.
const QUERY: &AsciiSet =
    &percent_encoding::CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');

/// All forms of some secrets as one automaton: each byte is looked at once, however many forms there are.
pub(crate) struct Forms {
    automaton: NFA,
    /// How many bytes of a form have been seen in each state.
    depths: HashMap<StateID, usize>,
    /// For each form the text in its place.
    placeholders: Vec<Arc<str>>,
    start: StateID,
}

impl std::fmt::Debug for Forms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Forms").field("forms", &self.placeholders.len()).finish_non_exhaustive()
    }
}

impl Forms {
    /// For secrets by name and value.
    pub(crate) fn new(secrets: &[(&str, &str)]) -> Result<Self, String> {
        let mut seen = BTreeSet::new();
        let (mut forms, mut placeholders) = (Vec::new(), Vec::new());
        for (name, value) in secrets {
            let shown: Arc<str> = placeholder(name).into();
            for form in forms_of(value) {
                if seen.insert(form.clone()) {
                    forms.push(form);
                    placeholders.push(shown.clone());
                }
            }
        }
        let unusable =
            |reason: &dyn std::fmt::Display| format!("the search for secrets cannot be set up: {reason}");
        let automaton = NFA::builder()
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(&forms)
            .map_err(|reason| unusable(&reason))?;
        let start = automaton.start_state(Anchored::No).map_err(|reason| unusable(&reason))?;
        let mut depths = HashMap::from([(start, 0)]);
        for form in &forms {
            let mut state = start;
            for (at, byte) in form.iter().enumerate() {
                state = automaton.next_state(Anchored::No, state, *byte);
                depths.insert(state, at + 1);
            }
        }
        Ok(Self { automaton, depths, placeholders, start })
    }

    /// The longest form that ends in this state: its length and its text.
    fn longest_match(&self, state: StateID) -> Option<(usize, &Arc<str>)> {
        if !(self.automaton.is_special(state) && self.automaton.is_match(state)) {
            return None;
        }
        let ends = (0..self.automaton.match_len(state)).map(|at| self.automaton.match_pattern(state, at));
        ends.map(|form| (self.automaton.pattern_len(form), &self.placeholders[form.as_usize()]))
            .max_by_key(|(length, _)| *length)
    }
}

/// A search through one stream.
pub(crate) struct Redactor {
    forms: Arc<Forms>,
    state: StateID,
    /// Bytes that were read and not yet given out, because a form may have begun in them.
    held: Vec<u8>,
    /// Bytes that were read.
    position: u64,
    /// What is to be hidden in what is held: from, to, and the text in its place. In order, without overlaps.
    found: VecDeque<(u64, u64, Arc<str>)>,
    /// Everything before this is hidden already.
    hidden_until: u64,
}

impl Redactor {
    pub(crate) fn new(forms: Arc<Forms>) -> Self {
        let state = forms.start;
        Self { forms, state, held: Vec::new(), position: 0, found: VecDeque::new(), hidden_until: 0 }
    }

    /// Reads a piece and writes what can be given out by now. Only what may be the beginning of a secret is held back, so a
    /// stream of events flows on.
    pub(crate) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        for byte in piece {
            self.state = self.forms.automaton.next_state(Anchored::No, self.state, *byte);
            self.position += 1;
            if let Some((length, text)) = self.forms.longest_match(self.state) {
                let (mut from, to) = (self.position - length as u64, self.position);
                let text = text.clone();
                while let Some((earlier, _, _)) = self.found.pop_back_if(|(_, end, _)| *end > from) {
                    from = from.min(earlier);
                }
                self.found.push_back((from, to, text));
            }
        }
        self.held.extend_from_slice(piece);
        // A state that no form leads to by itself cannot be; were there one, everything would be held back.
        let depth = self.forms.depths.get(&self.state).map_or(self.position, |depth| *depth as u64);
        self.give_out(self.position - depth, out);
    }

    /// Writes the rest.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        self.give_out(self.position, out);
        self.state = self.forms.start;
    }

    /// Hides secrets in the values of headers.
    pub(crate) fn hide_in(&self, headers: &mut HeaderMap) -> Result<(), Fault> {
        for value in headers.values_mut() {
            let mut search = Self::new(self.forms.clone());
            let mut clean = Vec::with_capacity(value.len());
            search.push(value.as_bytes(), &mut clean);
            search.finish(&mut clean);
            if clean != value.as_bytes() {
                *value = HeaderValue::from_bytes(&clean)
                    .map_err(|reason| Fault::Internal { reason: reason.to_string() })?;
            }
        }
        Ok(())
    }

    fn give_out(&mut self, until: u64, out: &mut Vec<u8>) {
        let begin = self.position - self.held.len() as u64;
        // Positions to places in what is held.
        let place = |position: u64| position.saturating_sub(begin) as usize;
        let mut from = begin.max(self.hidden_until);
        while let Some((start, end, text)) = self.found.pop_front_if(|(start, _, _)| *start < until) {
            if start > from {
                out.extend_from_slice(&self.held[place(from)..place(start)]);
            }
            out.extend_from_slice(text.as_bytes());
            self.hidden_until = end;
            from = from.max(end);
        }
        if until > from {
            out.extend_from_slice(&self.held[place(from)..place(until)]);
        }
        self.held.drain(..place(until));
    }
}

/// The forms of a value that are looked for.
fn forms_of(value: &str) -> Vec<Vec<u8>> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let component = utf8_percent_encode(value, COMPONENT).to_string();
    let mut forms = vec![
        value.to_owned(),
        hex.to_ascii_uppercase(),
        hex,
        percent.to_ascii_uppercase(),
        percent,
        lower_escapes(&component),
        component.replace("%20", "+"),
        component,
        utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
        utf8_percent_encode(value, QUERY).to_string(),
        json(value),
        json(value).replace('/', "\\/"),
        html(value, "&#39;"),
        html(value, "&#x27;"),
        html(value, "&apos;"),
    ];
    // Within a longer text a value begins at one of three places of a base64 group. What depends on its neighbours is left
    // out, at the end only where something follows.
    for skipped in 0..3_usize {
        let padded = [vec![0; skipped], value.as_bytes().to_vec()].concat();
        let first = (skipped * 8).div_ceil(6);
        let whole = padded.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            forms.push(encoded[first..whole].to_owned());
            forms.push(encoded[first..].to_owned());
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

fn lower_escapes(text: &str) -> String {
    let mut digits = 0;
    text.chars()
        .map(|c| match c {
            '%' => {
                digits = 2;
                c
            }
            _ if digits > 0 => {
                digits -= 1;
                c.to_ascii_lowercase()
            }
            _ => c,
        })
        .collect()
}

/// Values have no control characters, so two escapes are all.
fn json(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

fn html(value: &str, quote: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', quote)
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
