//! The extensions of `extensions/` in the built program, each at its work.

mod markdown_plan;
mod sliding_window;
mod summarize;
mod table;
mod todo;
mod web_fetch;
