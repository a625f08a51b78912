//! Copies of the database, whenever they are wanted.

use memoryd_proto::{BackUp, BackedUp, BackupKind, BackupList, Backups, Fault, Serve};

use super::App;
use crate::error::Error;

impl Serve<BackUp> for App {
    fn serve(&self, _: BackUp) -> Result<BackedUp, Fault> {
        Ok(self.back_up()?)
    }
}

impl Serve<Backups> for App {
    fn serve(&self, _: Backups) -> Result<BackupList, Fault> {
        let copies = &self.view().copies;
        let backups = copies.list().map_err(Error::from)?;
        let backups = backups.into_iter().map(|copy| copies.opened(copy)).collect();
        Ok(BackupList { folder: copies.folder().display().to_string(), backups })
    }
}

impl App {
    /// Makes a copy now. Of those made by hand, as many stay as of those of days.
    fn back_up(&self) -> Result<BackedUp, Error> {
        let (copies, kind) = (&self.view().copies, BackupKind::ByHand);
        let backup = self.view().read(|connection| copies.make(connection, kind, self.now()))?;
        let removed = copies.bound(kind, self.config.maintenance.daily_copies as usize)?;
        Ok(BackedUp { backup, folder: copies.folder().display().to_string(), removed })
    }
}
