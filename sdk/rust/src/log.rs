//! Lines for the log. Always available.
//!
//! `log::info!("read {count} files")`, and likewise `trace!`, `debug!`, `warn!` and `error!`. A line holds at most
//! 4 KiB in a tool and 1 KiB elsewhere; the host counts and drops what is too much.

use crate::host;

pub use crate::bindings::contract::capstan::extension::log::Level;

pub use crate::{
    __log_debug as debug, __log_error as error, __log_info as info, __log_trace as trace, __log_warn as warn,
};

/// Writes one line.
pub fn write(level: Level, message: impl AsRef<str>) {
    host::log::write(level, message.as_ref());
}

/// For what only a debugging author wants to see. Takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_trace {
    ($($part:tt)+) => { $crate::log::write($crate::log::Level::Trace, ::std::format!($($part)+)) };
}

/// For details of the work. Takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_debug {
    ($($part:tt)+) => { $crate::log::write($crate::log::Level::Debug, ::std::format!($($part)+)) };
}

/// For what a curious user wants to know. Takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_info {
    ($($part:tt)+) => { $crate::log::write($crate::log::Level::Info, ::std::format!($($part)+)) };
}

/// For what the user should look at some day. Takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_warn {
    ($($part:tt)+) => { $crate::log::write($crate::log::Level::Warn, ::std::format!($($part)+)) };
}

/// For what went wrong. Takes what `format!` takes.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_error {
    ($($part:tt)+) => { $crate::log::write($crate::log::Level::Error, ::std::format!($($part)+)) };
}
