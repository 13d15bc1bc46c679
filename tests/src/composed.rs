//! A component around another one, put together byte by byte: what `wac` or `wasm-tools compose` would make.

/// Sections of a component, by their ids.
const COMPONENT: u8 = 4;
const INSTANCE: u8 = 5;
const ALIAS: u8 = 6;
const EXPORT: u8 = 11;

/// The kind of an item that is an instance.
const AN_INSTANCE: u8 = 5;

/// A component that contains `inner`, gives it nothing, and exports some of its interfaces as its own.
pub fn composed(inner: &[u8], interfaces: &[&str]) -> Vec<u8> {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    section(&mut bytes, COMPONENT, inner);
    // One instance: of component 0, with no arguments.
    section(&mut bytes, INSTANCE, &[1, 0, 0, 0]);
    let mut aliases = number(interfaces.len());
    for interface in interfaces {
        // An export of instance 0.
        aliases.extend([AN_INSTANCE, 0, 0]);
        aliases.extend(text(interface));
    }
    section(&mut bytes, ALIAS, &aliases);
    let mut exports = number(interfaces.len());
    for (at, interface) in interfaces.iter().enumerate() {
        exports.push(0);
        exports.extend(text(interface));
        exports.push(AN_INSTANCE);
        exports.extend(number(at + 1));
        exports.push(0);
    }
    section(&mut bytes, EXPORT, &exports);
    bytes
}

fn section(bytes: &mut Vec<u8>, id: u8, payload: &[u8]) {
    bytes.push(id);
    bytes.extend(number(payload.len()));
    bytes.extend(payload);
}

fn text(text: &str) -> Vec<u8> {
    [number(text.len()), text.as_bytes().to_vec()].concat()
}

/// LEB128.
fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
