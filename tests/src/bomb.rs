//! Components that are small to send and hard to compile or to validate. Written byte by byte, because no tool emits them.

/// A component around one core module.
pub fn component(module: &[u8]) -> Vec<u8> {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    section(&mut bytes, 1, module);
    bytes
}

/// Loops within loops around code that changes every local: a compiler has to carry each local through each loop, so a
/// few hundred kilobytes become millions of values.
pub fn nested_loops(depth: usize, locals: u32) -> Vec<u8> {
    let mut body = vec![1];
    leb(&mut body, locals);
    body.push(I32);
    body.extend([LOOP, EMPTY].repeat(depth));
    for local in 0..locals {
        body.push(LOCAL_GET);
        leb(&mut body, local);
        body.push(LOCAL_GET);
        leb(&mut body, (local + 1) % locals);
        body.extend([I32_ADD, LOCAL_SET]);
        leb(&mut body, local);
    }
    body.extend([LOCAL_GET, 0, BR_IF, 0, END].repeat(depth));
    body.extend([LOCAL_GET, 0, END]);
    component(&module(&[body]))
}

/// So many functions.
pub fn many_functions(n: usize) -> Vec<u8> {
    component(&module(&vec![vec![0, I32_CONST, 1, END]; n]))
}

/// Blocks within blocks, each with a jump table to all around it.
pub fn nested_tables(depth: u32) -> Vec<u8> {
    let mut body = vec![0];
    body.extend([BLOCK, EMPTY].repeat(depth as usize));
    for level in 0..depth {
        body.extend([I32_CONST, 1, BR_TABLE]);
        let around = depth - level;
        leb(&mut body, around - 1);
        (0..around).for_each(|target| leb(&mut body, target));
        body.push(END);
    }
    body.extend([I32_CONST, 1, END]);
    component(&module(&[body]))
}

/// A component type within a component type, so deep.
pub fn nested_types(depth: usize) -> Vec<u8> {
    let mut types = vec![1];
    // A component type with one declaration, which is a type, which is a component type…
    types.extend([0x41, 1, 1].repeat(depth));
    types.extend([0x41, 0]);
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    section(&mut bytes, 7, &types);
    bytes
}

/// A list of a list of a list…, each type naming the one before.
pub fn chained_types(length: u32) -> Vec<u8> {
    let mut types = Vec::new();
    leb(&mut types, length + 1);
    types.push(0x7d); // u8
    for before in 0..length {
        types.push(0x70);
        leb(&mut types, before);
    }
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    section(&mut bytes, 7, &types);
    bytes
}

const I32: u8 = 0x7f;
const EMPTY: u8 = 0x40;
const BLOCK: u8 = 0x02;
const LOOP: u8 = 0x03;
const BR_IF: u8 = 0x0d;
const END: u8 = 0x0b;
const BR_TABLE: u8 = 0x0e;
const LOCAL_GET: u8 = 0x20;
const LOCAL_SET: u8 = 0x21;
const I32_CONST: u8 = 0x41;
const I32_ADD: u8 = 0x6a;

/// A module of functions without parameters that answer an `i32`.
fn module(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"\0asm\x01\0\0\0".to_vec();
    section(&mut bytes, 1, &[1, 0x60, 0, 1, I32]);
    let mut functions = Vec::new();
    leb(&mut functions, bodies.len() as u32);
    functions.resize(functions.len() + bodies.len(), 0);
    section(&mut bytes, 3, &functions);
    let mut code = Vec::new();
    leb(&mut code, bodies.len() as u32);
    for body in bodies {
        leb(&mut code, body.len() as u32);
        code.extend(body);
    }
    section(&mut bytes, 10, &code);
    bytes
}

fn section(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    bytes.push(id);
    leb(bytes, content.len() as u32);
    bytes.extend(content);
}

fn leb(bytes: &mut Vec<u8>, mut value: u32) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
