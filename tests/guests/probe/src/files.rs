//! Files through WASI's own calls: paths reach the host exactly as the test wrote them.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};

/// Bytes of a file that are shown.
const SHOWN: usize = 200;

/// The names of the granted directories.
pub(crate) fn granted() -> Vec<String> {
    get_directories().into_iter().map(|(_, name)| name).collect()
}

/// A granted directory; with `//` in its name, the directory below that the rest names, opened.
pub(crate) fn directory(at: &str) -> Result<Descriptor, String> {
    let (granted, below) = match at.split_once("//") {
        Some((granted, below)) => (granted, Some(below)),
        None => (at, None),
    };
    let found = get_directories().into_iter().find(|(_, name)| name == granted);
    let directory = found.map(|(directory, _)| directory).ok_or_else(|| "not granted".to_owned())?;
    match below {
        None => Ok(directory),
        Some(below) => {
            directory.open_at(follow(true), below, OpenFlags::DIRECTORY, DescriptorFlags::READ).map_err(name)
        }
    }
}

pub(crate) fn name(error: ErrorCode) -> String {
    error.name().to_owned()
}

/// One operation on a granted directory.
pub(crate) fn on<R: Into<Value>>(
    at: &str,
    work: impl FnOnce(&Descriptor) -> Result<R, ErrorCode>,
) -> Result<Value, String> {
    work(&directory(at)?).map(Into::into).map_err(name)
}

pub(crate) fn follow(yes: bool) -> PathFlags {
    if yes { PathFlags::SYMLINK_FOLLOW } else { PathFlags::empty() }
}

fn contents(directory: &Descriptor, path: &str, links: PathFlags) -> Result<Vec<u8>, ErrorCode> {
    let file = directory.open_at(links, path, OpenFlags::empty(), DescriptorFlags::READ)?;
    let mut bytes = Vec::new();
    loop {
        let (mut more, ended) = file.read(1 << 20, bytes.len() as u64)?;
        bytes.append(&mut more);
        if ended {
            return Ok(bytes);
        }
    }
}

pub(crate) fn read(at: &str, path: &str, links: bool) -> Result<Value, String> {
    let bytes = contents(&directory(at)?, path, follow(links)).map_err(name)?;
    let shown = &bytes[..bytes.len().min(SHOWN)];
    Ok(json!({ "bytes": bytes.len(), "text": String::from_utf8_lossy(shown) }))
}

pub(crate) fn write(at: &str, path: &str, text: &str, create: bool, truncate: bool) -> Result<Value, String> {
    let mut how = OpenFlags::empty();
    how.set(OpenFlags::CREATE, create);
    how.set(OpenFlags::TRUNCATE, truncate);
    on(at, |directory| {
        let file =
            directory.open_at(follow(true), path, how, DescriptorFlags::READ | DescriptorFlags::WRITE)?;
        file.write(text.as_bytes(), 0)
    })
}

pub(crate) fn resize(at: &str, path: &str, bytes: u64, write: bool) -> Result<Value, String> {
    let mut mode = DescriptorFlags::READ;
    mode.set(DescriptorFlags::WRITE, write);
    on(at, |directory| directory.open_at(follow(true), path, OpenFlags::empty(), mode)?.set_size(bytes))
}

pub(crate) fn list(at: &str, path: &str) -> Result<Value, String> {
    on(at, |directory| {
        let opened = directory.open_at(follow(true), path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
        let entries = opened.read_directory()?;
        let mut names = BTreeSet::new();
        while let Some(entry) = entries.read_directory_entry()? {
            names.insert(entry.name);
        }
        Ok(json!(names))
    })
}

pub(crate) fn stat(at: &str, path: &str, links: bool) -> Result<Value, String> {
    on(at, |directory| {
        let stat = directory.stat_at(follow(links), path)?;
        let kind = match stat.type_ {
            DescriptorType::RegularFile => "file",
            DescriptorType::Directory => "directory",
            DescriptorType::SymbolicLink => "link",
            _ => "special",
        };
        Ok(json!({ "kind": kind, "bytes": stat.size }))
    })
}

pub(crate) fn rename(at: &str, path: &str, to_at: &str, to: &str) -> Result<Value, String> {
    let target = directory(to_at)?;
    on(at, |directory| directory.rename_at(path, &target, to))
}

pub(crate) fn link(at: &str, path: &str, to_at: &str, to: &str) -> Result<Value, String> {
    let target = directory(to_at)?;
    on(at, |directory| directory.link_at(PathFlags::empty(), path, &target, to))
}

pub(crate) fn touch(at: &str, path: &str, links: bool) -> Result<Value, String> {
    on(at, |directory| directory.set_times_at(follow(links), path, NewTimestamp::NoChange, NewTimestamp::Now))
}

pub(crate) fn touch_open(at: &str, path: &str) -> Result<Value, String> {
    on(at, |directory| {
        let opened = directory.open_at(follow(true), path, OpenFlags::empty(), DescriptorFlags::READ)?;
        opened.set_times(NewTimestamp::NoChange, NewTimestamp::Now)
    })
}

pub(crate) fn make(at: &str, path: &str) -> Result<Value, String> {
    let how = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    on(at, |directory| directory.open_at(follow(true), path, how, DescriptorFlags::WRITE).map(drop))
}

pub(crate) fn count(at: &str, path: &str) -> Result<Value, String> {
    on(at, |directory| {
        let opened = directory.open_at(follow(true), path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
        let entries = opened.read_directory()?;
        let mut count = 0;
        loop {
            match entries.read_directory_entry() {
                Ok(Some(_)) => count += 1,
                Ok(None) => return Ok(json!({ "entries": count })),
                Err(error) => return Ok(json!({ "entries": count, "then": error.name() })),
            }
        }
    })
}

pub(crate) fn wait(at: &str, path: &str) -> Result<Value, String> {
    let directory = directory(at)?;
    while directory.stat_at(PathFlags::empty(), path).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(Value::Null)
}

pub(crate) fn swap(at: &str, path: &str, one: &str, other: &str, times: u32) -> Result<Value, String> {
    on(at, |directory| {
        for _ in 0..times {
            directory.rename_at(path, directory, one)?;
            directory.rename_at(other, directory, path)?;
            directory.rename_at(path, directory, other)?;
            directory.rename_at(one, directory, path)?;
        }
        Ok(())
    })
}

pub(crate) fn hammer(at: &str, path: &str, times: u32) -> Result<Value, String> {
    let directory = directory(at)?;
    let seen: BTreeSet<String> = (0..times)
        .map(|_| match contents(&directory, path, follow(true)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned(),
            Err(error) => format!("error {}", error.name()),
        })
        .collect();
    Ok(json!(seen))
}

pub(crate) fn hoard(at: &str, path: &str, times: u32) -> Result<Value, String> {
    let directory = directory(at)?;
    let mut open = Vec::new();
    for _ in 0..times {
        match directory.open_at(follow(true), path, OpenFlags::empty(), DescriptorFlags::READ) {
            Ok(file) => open.push(file),
            Err(error) => return Ok(json!({ "open": open.len(), "then": error.name() })),
        }
    }
    Ok(json!({ "open": open.len() }))
}
