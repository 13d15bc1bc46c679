//! What a path stands for, seen from a delete.

/// Directories of the system: what lies directly below the root and is not anyone's to throw away.
const SYSTEM: [&str; 24] = [
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "mnt",
    "media",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
];

/// What a path means to its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Root,
    System,
    Home,
    /// The folder in which the command runs.
    Current,
    /// A folder that contains that folder.
    Above,
    /// A variable that, if it is empty, leaves the root.
    RootIfEmpty,
    Elsewhere,
}

impl Place {
    /// What is lost, `None` for places that are fine.
    pub(crate) fn loss(self) -> Option<&'static str> {
        match self {
            Self::Root => Some("the root of the file system"),
            Self::System => Some("a directory of the system"),
            Self::Home => Some("a home folder"),
            Self::Current => Some("the whole working folder"),
            Self::Above => Some("the folder above the working folder"),
            Self::RootIfEmpty => Some("the root of the file system if its variable is empty"),
            Self::Elsewhere => None,
        }
    }
}

/// The place of a path. `known` as in [`crate::words::Argument`]; `directory` is where the command line went by `cd`.
pub(crate) fn place(path: &str, known: bool, directory: Option<&str>) -> Place {
    if path.is_empty() {
        return Place::Elsewhere;
    }
    if !known {
        return unknown(path);
    }
    let whole = match directory {
        Some(directory) if !path.starts_with(['/', '~']) => format!("{directory}/{path}"),
        _ => path.to_owned(),
    };
    if let Some(inside) = whole.strip_prefix('~') {
        let (user, below) = inside.split_once('/').unwrap_or((inside, ""));
        let steps = steps(below);
        return match steps.first() {
            None => Place::Home,
            Some(&"..") if steps.iter().all(|step| *step == "..") => {
                if user.is_empty() && steps.len() > 1 {
                    Place::Root
                } else {
                    Place::System
                }
            }
            Some(_) => Place::Elsewhere,
        };
    }
    let steps = steps(&whole);
    if whole.starts_with('/') {
        let below: Vec<&str> = steps.into_iter().filter(|step| *step != "..").collect();
        return match below.as_slice() {
            [] => Place::Root,
            ["root"] => Place::Home,
            ["home" | "Users", _] => Place::Home,
            [first] if SYSTEM.contains(first) || first.contains(['*', '?', '[']) => Place::System,
            _ => Place::Elsewhere,
        };
    }
    match steps.as_slice() {
        [] => Place::Current,
        steps if steps.iter().all(|step| *step == "..") => Place::Above,
        _ => Place::Elsewhere,
    }
}

/// `$X/`, `$X/*`, `/$X`: the root when the variable is empty. `${X:?}` never is.
fn unknown(path: &str) -> Place {
    if path.contains(":?") {
        return Place::Elsewhere;
    }
    let (head, below) = path.split_once('/').unwrap_or((path, "x"));
    if head.starts_with('$') {
        return if steps(below).is_empty() { Place::RootIfEmpty } else { Place::Elsewhere };
    }
    if head.is_empty() && below.starts_with('$') && !below.contains('/') {
        return Place::RootIfEmpty;
    }
    Place::Elsewhere
}

/// The names of a path with `.` and `name/..` taken out. A last `*` counts as its folder, whose content it is.
fn steps(path: &str) -> Vec<&str> {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            other => steps.push(other),
        }
    }
    while matches!(steps.last(), Some(&("*" | ".*" | "**"))) {
        steps.pop();
    }
    steps
}

/// Where `cd` leads from `directory`; `None` when that cannot be known.
pub(crate) fn enter(directory: Option<&str>, path: &str) -> Option<String> {
    if path.starts_with(['/', '~']) {
        return Some(path.to_owned());
    }
    Some(match directory {
        Some(directory) => format!("{directory}/{path}"),
        None => path.to_owned(),
    })
}

/// Whether a path is a device that holds data, or the memory of the machine.
pub(crate) fn is_device(path: &str) -> bool {
    const DEVICES: [&str; 18] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "md", "mapper/", "loop", "nbd",
        "sr", "mem", "kmem", "ram", "zd",
    ];
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    if name.starts_with("disk/") {
        return true;
    }
    DEVICES.iter().any(|device| {
        name.strip_prefix(device).is_some_and(|rest| match *device {
            "mem" | "kmem" => rest.is_empty(),
            "mapper/" => !rest.is_empty() && rest != "control",
            // `sda`, `sda1`, `sd*`, `nvme0n1p2`, `disk2s1`; not `/dev/shm` or `/dev/stdin`.
            "sd" | "hd" | "vd" | "xvd" => {
                rest.len() <= 4
                    && rest
                        .chars()
                        .next()
                        .is_some_and(|next| next.is_ascii_lowercase() || next == '*' || next == '?')
                    && rest
                        .chars()
                        .skip(1)
                        .all(|next| next.is_ascii_lowercase() || next.is_ascii_digit() || next == '*')
            }
            _ => rest.chars().next().is_some_and(|next| next.is_ascii_digit() || next == '*' || next == '?'),
        })
    })
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
