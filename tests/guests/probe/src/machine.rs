//! What is not a file: environment, clocks, random numbers, streams, sockets, memory.

use crate::step::Stream;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read, Write};
use wasip2::clocks::{monotonic_clock, wall_clock};
use wasip2::random::{insecure, insecure_seed, random as secure};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp_create_socket::create_udp_socket;

/// Looks at the clock until it has moved this often.
const CLOCK_STEPS: usize = 5;

/// The whole environment.
pub(crate) fn environment() -> BTreeMap<String, String> {
    std::env::vars().collect()
}

pub(crate) fn working_directory() -> Value {
    let standard = std::env::current_dir().map(|path| path.display().to_string());
    json!({
        "initial": wasip2::cli::environment::initial_cwd(),
        "standard": standard.unwrap_or_else(|error| error.to_string()),
    })
}

pub(crate) fn terminals() -> Value {
    json!([io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()])
}

pub(crate) fn stdin() -> Result<Value, String> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(json!(bytes.len()))
}

/// What the clocks say and how fine they are, in nanoseconds.
pub(crate) fn clocks() -> Value {
    let (now, fine) = (wall_clock::now(), wall_clock::resolution());
    json!({
        "seconds": now.seconds,
        "nanoseconds": now.nanoseconds,
        "wallResolution": fine.seconds * 1_000_000_000 + u64::from(fine.nanoseconds),
        "monotonic": monotonic_clock::now(),
        "monotonicResolution": monotonic_clock::resolution(),
    })
}

/// How often a timer of a millisecond can be asked before it fires: a clock for those who have none.
pub(crate) fn race() -> usize {
    let timer = monotonic_clock::subscribe_duration(1_000_000);
    (0..100_000).take_while(|_| !timer.ready()).count()
}

/// By how much the monotonic clock moves each time.
pub(crate) fn clock_steps() -> Value {
    let mut steps = Vec::new();
    let mut last = monotonic_clock::now();
    while steps.len() < CLOCK_STEPS {
        let now = monotonic_clock::now();
        if now != last {
            steps.push(now - last);
            last = now;
        }
    }
    json!(steps)
}

pub(crate) fn random() -> Value {
    json!([
        secure::get_random_u64().to_string(),
        insecure::get_insecure_random_u64().to_string(),
        format!("{:?}", insecure_seed::insecure_seed())
    ])
}

pub(crate) fn random_bytes(bytes: u64) -> Value {
    json!(secure::get_random_bytes(bytes).len())
}

fn network_error(what: &str, error: ErrorCode) -> String {
    format!("{what}: {}", error.name())
}

/// As far as the first refusal, which the error names.
pub(crate) fn connect(ip: [u8; 4], port: u16) -> Result<Value, String> {
    let socket = create_tcp_socket(IpAddressFamily::Ipv4).map_err(|error| network_error("create", error))?;
    let [a, b, c, d] = ip;
    let address = IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (a, b, c, d) });
    socket.start_connect(&instance_network(), address).map_err(|error| network_error("connect", error))?;
    socket.subscribe().block();
    socket.finish_connect().map_err(|error| network_error("finish", error))?;
    Ok(json!("connected"))
}

pub(crate) fn bind(port: u16) -> Result<Value, String> {
    let socket = create_udp_socket(IpAddressFamily::Ipv4).map_err(|error| network_error("create", error))?;
    let address = IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (127, 0, 0, 1) });
    socket.start_bind(&instance_network(), address).map_err(|error| network_error("bind", error))?;
    socket.finish_bind().map_err(|error| network_error("finish", error))?;
    Ok(json!("bound"))
}

pub(crate) fn resolve(name: &str) -> Result<Value, String> {
    let answers =
        resolve_addresses(&instance_network(), name).map_err(|error| network_error("resolve", error))?;
    answers.subscribe().block();
    let first = answers.resolve_next_address().map_err(|error| network_error("answer", error))?;
    Ok(json!(format!("{first:?}")))
}

pub(crate) fn print(to: Stream, text: &str, bytes: usize) -> Result<Value, String> {
    let mut stream: Box<dyn Write> = match to {
        Stream::Stdout => Box::new(io::stdout().lock()),
        Stream::Stderr => Box::new(io::stderr().lock()),
    };
    let mut written = 0;
    while written < bytes {
        stream.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
        written += text.len().max(1);
    }
    stream.flush().map_err(|error| error.to_string())?;
    Ok(json!(written))
}

/// The function's name is what a trap should name.
#[inline(never)]
#[allow(clippy::panic, reason = "that is what it is for")]
pub(crate) fn panic_with(text: &str, bytes: usize) -> Result<Value, String> {
    let times = bytes.div_ceil(text.len().max(1)).max(1);
    panic!("{}", text.repeat(times))
}

pub(crate) fn allocate(mib: usize) -> Value {
    let memory = vec![1_u8; mib << 20];
    json!(memory.iter().step_by(4096).map(|&byte| usize::from(byte)).sum::<usize>())
}
