use std::path::Path;

use wit_bindgen_core::wit_parser::ManglingAndAbi;
use wit_component::{ComponentEncoder, DecodedWasm};

use super::*;
use crate::contract;

fn parsed() -> Contract {
    contract::parse(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../wit/v0.1")).unwrap()
}

fn leb(mut number: usize, bytes: &mut Vec<u8>) {
    while number > 127 {
        bytes.push((number % 128) as u8 | 128);
        number /= 128;
    }
    bytes.push(number as u8);
}

/// A core module that has these exports and carries their sections, as an author's crate does after linking.
fn module(contract: &Contract, names: &[&str]) -> Vec<u8> {
    let mut resolve = contract.resolve.clone();
    let mut world = resolve.worlds[contract.world].clone();
    world
        .exports
        .retain(|_, item| name_of(&resolve, item).is_some_and(|name| names.contains(&name.as_str())));
    let world = resolve.worlds.alloc(world);
    let mut bytes = wit_component::dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    for name in names {
        let mut payload = Vec::new();
        let title = format!("component-type:capstan:{name}");
        leb(title.len(), &mut payload);
        payload.extend(title.as_bytes());
        payload.extend(section(contract, name).unwrap());
        bytes.push(0);
        leb(payload.len(), &mut bytes);
        bytes.extend(payload);
    }
    bytes
}

fn exported(contract: &Contract, names: &[&str]) -> Vec<String> {
    let module = module(contract, names);
    let mut encoder = ComponentEncoder::default();
    let component = encoder.module(&module).unwrap().validate(true).encode().unwrap();
    let DecodedWasm::Component(resolve, world) = wit_component::decode(&component).unwrap() else {
        panic!("a package")
    };
    resolve.worlds[world].exports.keys().map(|key| resolve.name_world_key(key)).collect()
}

#[test]
fn a_component_exports_exactly_the_interfaces_whose_sections_it_carries() {
    let contract = parsed();
    for other in ["tools", "before-tool-call", "memory"] {
        let mut found = exported(&contract, &["extension", other]);
        found.sort();
        let mut expected =
            vec!["capstan:extension/extension@0.1.0".to_owned(), format!("capstan:extension/{other}@0.1.0")];
        expected.sort();
        assert_eq!(found, expected);
    }
}

#[test]
fn all_sections_together_make_the_widest_world() {
    let contract = parsed();
    let names = exports(&contract);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(exported(&contract, &names).len(), names.len());
}
