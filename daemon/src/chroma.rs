//! Chroma: a directory of it on disk, and a server (spec D2, D4).
//!
//! Whatever is kept in a server is kept here too. So a recall takes the same way whether a server is shared or not, and
//! goes on while it is away; the server carries what others are to see, and tells what they wrote.

pub mod directory;
#[cfg(feature = "chroma")]
mod http;
pub mod server;

pub use directory::Directory;
pub use server::Server;

use std::sync::Arc;

use crate::config::Chroma;
use server::Error;

/// The server of a configuration. Nothing is sent yet.
///
/// # Errors
/// When this build knows no servers.
#[cfg(feature = "chroma")]
pub fn connect(config: &Chroma) -> Result<Arc<dyn Server>, Error> {
    Ok(Arc::new(http::Http::new(config)?))
}

/// The server of a configuration. Nothing is sent yet.
///
/// # Errors
/// When this build knows no servers.
#[cfg(not(feature = "chroma"))]
pub fn connect(config: &Chroma) -> Result<Arc<dyn Server>, Error> {
    let reason = "this memoryd was built without the feature chroma".to_owned();
    Err(Error::Unreachable { url: config.url.clone(), reason })
}
