//! The processes of one command or program: how they are set apart from the host, and how they end together.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// How long a pipe may stay open after the leader has exited. Long enough for what is already written, too short to
/// notice when a background process holds the pipe. A pipe that closes with the leader costs none of it.
pub(crate) const GRACE: Duration = Duration::from_millis(100);

/// How long a killed process may take to be gone. One that hangs in the kernel must not hold up an abort.
pub(crate) const KILL_WAIT: Duration = Duration::from_secs(1);

/// What a pipe holds by default.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

/// How a command is set apart from the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Isolation {
    /// In a process group of its own. Enough where the host has no terminal.
    Group,
    /// In a session of its own, by this `setsid` program, which costs one more `exec`. Where the host has a terminal, a
    /// command in a mere group that asks for a password would stop for ever instead of failing.
    Session(PathBuf),
}

impl Isolation {
    /// What fits this host: a session where there is a terminal, a group elsewhere.
    pub(crate) fn fitting() -> Self {
        let has_terminal = std::fs::File::open("/dev/tty").is_ok();
        let setsid = ["/usr/bin/setsid", "/bin/setsid"].into_iter().map(Path::new).find(|path| path.exists());
        match setsid {
            Some(setsid) if has_terminal => Self::Session(setsid.to_path_buf()),
            _ => Self::Group,
        }
    }

    /// The start of a command that runs `program`, which is an absolute path, set apart like this.
    pub(crate) fn command(&self, program: &Path) -> Command {
        match self {
            Self::Group => {
                let mut command = Command::new(program);
                command.process_group(0);
                command
            }
            Self::Session(setsid) => {
                let mut command = Command::new(setsid);
                command.arg(program);
                command
            }
        }
    }
}

/// The processes of one command. Kills them when dropped, so that a call whose future is dropped leaves nothing behind.
pub(crate) struct Group {
    leader: Option<Pid>,
}

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        Self { leader: child.id().and_then(|id| Pid::from_raw(id.cast_signed())) }
    }

    /// The leader has been waited for. From now on its number may mean another process, and must not be used.
    pub(crate) fn is_gone(&mut self) {
        self.leader = None;
    }

    pub(crate) fn kill(&self) {
        let Some(leader) = self.leader else { return };
        if kill_process_group(leader, Signal::KILL).is_err() {
            // There is no group yet when `setsid` has not come that far. If the leader is gone too, all is done.
            kill_process(leader, Signal::KILL).ok();
        }
    }

    /// Waits until the leader has exited, and leaves it unreaped: while its number is not given away, the rest of the
    /// group can be killed by it without any danger of hitting somebody else.
    pub(crate) async fn exited(&self) -> std::io::Result<()> {
        let Some(leader) = self.leader else { return Ok(()) };
        // Listening starts before the first look, so that no exit falls between the two.
        let mut changes = signal(SignalKind::child())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(leader), options)?.is_none() {
            changes.recv().await;
        }
        Ok(())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
