//! What differs between an instance in the sandbox and a native test.

/// Prepares an instance for a call. Cheap, because most instances serve just one.
pub(crate) fn enter() {
    #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
    std::panic::set_hook(Box::new(|panic| report(panic)));
}

/// Without a console a panic would be a bare trap. In the log it has its text and its place. The line is put together by
/// hand because the formatting machinery would make up a tenth of a small hook.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
fn report(panic: &std::panic::PanicHookInfo<'_>) {
    let mut line = String::from("panicked");
    if let Some(place) = panic.location() {
        line.push_str(" at ");
        line.push_str(place.file());
        line.push(':');
        push_number(&mut line, place.line());
    }
    line.push_str(": ");
    line.push_str(panic.payload_as_str().unwrap_or("no text"));
    crate::log::write(crate::log::Level::Error, line);
}

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
fn push_number(line: &mut String, number: u32) {
    if number > 9 {
        push_number(line, number / 10);
    }
    line.push(char::from(b'0' + (number % 10) as u8));
}

/// Ends the call as a failure: the host applies the failure rule of the stage.
#[cfg(target_arch = "wasm32")]
pub(crate) fn fail(message: &str) -> ! {
    crate::log::error!("{message}");
    std::process::abort()
}

/// Ends the call as a failure; a test sees a panic.
#[cfg(not(target_arch = "wasm32"))]
#[allow(clippy::panic, reason = "the native stand-in for a trap")]
pub(crate) fn fail(message: &str) -> ! {
    crate::log::error!("{message}");
    panic!("{message}")
}
