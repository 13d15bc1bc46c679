//! A tool that fetches a page of documentation and answers its readable text.

mod address;
mod charset;
mod fetch;
mod hosts;
mod html;
mod writer;

use capstan_sdk::prelude::*;

/// Bytes of text that an answer has unless the model asks for more.
const USUAL_BYTES: usize = 20_000;

/// Where a text may be taken up again; what lies behind is found by fetching a smaller page.
const MAX_FROM: usize = 2_000_000;

/// Fetches a page of the web and answers its text: HTML as Markdown (headings, lists, links, code, tables), other text and JSON as
/// they are. Only hosts of documentation that the user allowed are reached; an error names them. No JavaScript runs, nothing is sent
/// but the address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The address, such as https://docs.rs/serde/latest/serde/.
    url: String,
    /// How many bytes of text the answer may have. Default: 20000.
    #[schemars(range(min = 500, max = 200_000))]
    max_bytes: Option<usize>,
    /// Leaves out so many bytes of the text's beginning; the last line of an answer that was cut says how many.
    #[schemars(range(min = 0, max = 2_000_000))]
    from: Option<usize>,
}

/// What was fetched, for programs.
#[derive(Debug, Serialize)]
struct Details {
    url: String,
    content_type: String,
    page_bytes: usize,
    redirects: usize,
    has_more: bool,
}

fn web_fetch(arguments: Arguments, call: &Call) -> Result<Output> {
    call.progress(format!("fetching {}", arguments.url));
    let max_bytes = arguments.max_bytes.unwrap_or(USUAL_BYTES).clamp(1, 200_000);
    let from = arguments.from.unwrap_or(0).min(MAX_FROM);
    let found = fetch::fetch(&arguments.url, from + max_bytes)?;
    let mut start = from.min(found.text.len());
    while !found.text.is_char_boundary(start) {
        start += 1;
    }
    let mut text = String::new();
    if from == 0 && !found.title.is_empty() && !found.text.starts_with(&format!("# {}", found.title)) {
        text.push_str(&format!("Title: {}\n", found.title));
    }
    text.push_str(&format!("Address: {}\n\n", found.address));
    let shown = &found.text[start..];
    text.push_str(if shown.is_empty() { "(no text)" } else { shown });
    for remark in &found.remarks {
        text.push_str(&format!("\n\n[{remark}]"));
    }
    if found.has_more {
        text.push_str(&format!(
            "\n\n[the page goes on: pass `from` = {} for what follows]",
            found.text.len()
        ));
    }
    Output::text(text).with_details(&Details {
        url: found.address,
        content_type: found.content_type,
        page_bytes: found.page_bytes,
        redirects: found.redirects,
        has_more: found.has_more,
    })
}

capstan_sdk::extension! {
    summary: "Fetches pages of documentation and answers their readable text.",
    requests: hosts::requests(),
    tools: [tool("web_fetch", web_fetch).label("Fetch a page")],
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
