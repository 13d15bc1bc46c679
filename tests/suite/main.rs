//! Whole-product suites. Ids in comments are those of the acceptance list (`000-001`) and of the reliability cases (`C1`).

mod architecture;
mod author_commands;
mod bad_input;
mod cache;
mod calls;
mod command_line;
mod contract;
mod environment;
mod extensions_command;
mod files;
mod interactive;
mod javascript;
mod limits;
mod load;
mod native_hooks;
mod network;
mod roles;
mod secrets;
mod services;
mod stages;
mod trust;
mod turn;
mod usage;
