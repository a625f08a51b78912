//! Binding the socket without harming anyone: a live daemon, a file that is no socket, or another user's folder.

use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use interprocess::local_socket::tokio::Listener;
use interprocess::local_socket::{GenericFilePath, ListenerOptions, ToFsName};
use interprocess::os::unix::local_socket::ListenerOptionsExt;

/// Why the socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another daemon answers there.
    #[error("A daemon already serves {}. Stop it first: memoryctl stop", path.display())]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// Something else lies there.
    #[error("{} is no socket, so it is left alone. Move it away, or set MEMORYD_SOCKET to another path", path.display())]
    NoSocket {
        /// The path.
        path: PathBuf,
    },
    /// The folder is not private to this user.
    #[error("The socket's folder {} must belong to you, and nobody else may write to it. Set MEMORYD_SOCKET to a path in a private folder", path.display())]
    Shared {
        /// The folder.
        path: PathBuf,
    },
    /// The system refused.
    #[error("The socket {} cannot be bound: {source}. Set MEMORYD_SOCKET to a path on a file system that takes sockets", path.display())]
    Refused {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Binds the socket at `path`, with mode 0600 in a folder of mode 0700. A socket that a dead daemon left is replaced;
/// nothing else is ever removed. The caller holds the lock of the data directory, and must be in a tokio runtime.
///
/// # Errors
/// When another daemon answers there, the path is no socket, the folder is not private, or the system refuses.
pub fn bind(path: &Path) -> Result<Listener, Error> {
    let refused = |source| Error::Refused { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        private_folder(folder, path)?;
    }
    match path.symlink_metadata() {
        Ok(found) if !found.file_type().is_socket() => return Err(Error::NoSocket { path: path.to_owned() }),
        Ok(_) => {
            // A daemon that is stopped or busy still takes the connection: slow is not dead.
            if UnixStream::connect(path).is_ok() {
                return Err(Error::Taken { path: path.to_owned() });
            }
            std::fs::remove_file(path).map_err(refused)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refused(error)),
    }
    let name = path.to_fs_name::<GenericFilePath>().map_err(refused)?;
    ListenerOptions::new().name(name).mode(0o600).create_tokio().map_err(refused)
}

fn private_folder(folder: &Path, socket: &Path) -> Result<(), Error> {
    let refused = |source| Error::Refused { path: socket.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(refused)?;
    let found = folder.metadata().map_err(refused)?;
    if is_private(&found) { Ok(()) } else { Err(Error::Shared { path: folder.to_owned() }) }
}

/// Whether a folder belongs to this user, or to root, and nobody else can put files into it.
fn is_private(folder: &Metadata) -> bool {
    let own = [rustix::process::geteuid().as_raw(), 0].contains(&folder.uid());
    own && folder.permissions().mode() & 0o022 == 0
}
