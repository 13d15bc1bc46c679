//! Programs that overwrite devices.

use super::operands;
use crate::finding::Finding;
use crate::paths::is_device;
use crate::words::Argument;

/// The objection to writing to a device.
pub(crate) fn written(how: &str, device: &str) -> Finding {
    Finding::Block(format!(
        "`{how}` overwrites the device {device}, and with it everything that is stored there."
    ))
}

/// Programs that make a file system or clear one.
const FORMATTERS: [&str; 12] = [
    "mke2fs",
    "mkswap",
    "mkdosfs",
    "wipefs",
    "blkdiscard",
    "shred",
    "sfdisk",
    "fdisk",
    "parted",
    "sgdisk",
    "badblocks",
    "cryptsetup",
];

/// `dd`, the formatting programs, and programs that write their last argument.
pub(super) fn check(name: &str, arguments: &[Argument]) -> Option<Finding> {
    if name == "dd" {
        return arguments.iter().find_map(|argument| {
            let target = argument.text.strip_prefix("of=")?;
            is_device(target).then(|| written(&format!("dd of={target}"), target))
        });
    }
    if (name.starts_with("mkfs") || FORMATTERS.contains(&name)) && !only_reads(name, arguments) {
        return operands(arguments).find_map(|target| {
            if is_device(&target.text) {
                Some(written(name, &target.text))
            } else if !target.known {
                Some(Finding::Ask(format!("`{name} {}` may overwrite a device.", target.text)))
            } else {
                None
            }
        });
    }
    let targets: Vec<&Argument> = match name {
        "tee" | "truncate" | "sponge" => operands(arguments).collect(),
        "cp" | "install" | "ddrescue" | "pv" => operands(arguments).last().into_iter().collect(),
        _ => return None,
    };
    let target = targets.into_iter().find(|target| is_device(&target.text))?;
    Some(written(name, &target.text))
}

/// Whether these programs, with these arguments, only show something.
fn only_reads(name: &str, arguments: &[Argument]) -> bool {
    let says = |words: &[&str]| arguments.iter().any(|argument| words.contains(&argument.text.as_str()));
    match name {
        "fdisk" | "sfdisk" | "parted" => says(&["-l", "--list", "print", "--no-act", "-d", "--dump"]),
        "sgdisk" => says(&["-p", "--print"]),
        "wipefs" => says(&["-n", "--no-act"]) || !says(&["-a", "--all", "-o", "--offset", "-af", "-fa"]),
        "badblocks" => !says(&["-w", "-n", "-sw", "-wsv", "-wvs", "-svw"]),
        "cryptsetup" => !says(&["luksFormat", "luksErase", "erase", "reencrypt"]),
        _ => false,
    }
}
