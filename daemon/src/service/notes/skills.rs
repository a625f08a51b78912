//! Learnings that are worth being a skill, and making them one (spec M12).

use std::path::{Path, PathBuf};

use memoryd_proto::{Distilled, ExtractSkill, Fault, Place, Serve, SkillList, Skills};

use super::distil::{Distilling, Rewrite, gone, marked};
use super::{App, Reading, Sheet};
use crate::domain::markdown::{self, Skill};
use crate::domain::skills::{self, PROMOTED};
use crate::error::Error;
use crate::ledger::noted;
use crate::service::page;

/// How many candidates are listed when the caller does not say.
const LISTED: u64 = 20;

impl Serve<Skills> for App {
    fn serve(&self, call: Skills) -> Result<SkillList, Fault> {
        Ok(self.skills(call.limit)?)
    }
}

impl Serve<ExtractSkill> for App {
    fn serve(&self, call: ExtractSkill) -> Result<Distilled, Fault> {
        Ok(self.extract_skill(&call)?)
    }
}

impl App {
    fn skills(&self, limit: u64) -> Result<SkillList, Error> {
        let reading = self.reading()?;
        let uses = self.view().read(noted::tallies)?;
        let mut candidates = skills::candidates(&reading.notes(), &uses, &self.config.skills);
        let total = candidates.len() as u64;
        candidates.truncate(usize::try_from(page(limit, LISTED)).unwrap_or(usize::MAX));
        for one in &mut candidates {
            self.redact(std::slice::from_mut(&mut one.note));
            one.name = skills::name(&one.note.title);
        }
        Ok(SkillList { candidates, total, unread: reading.unread })
    }

    fn extract_skill(&self, call: &ExtractSkill) -> Result<Distilled, Error> {
        let site = call.project.as_deref().map(Self::site).transpose()?;
        let folder = self.skill_folder(call.into.as_deref())?;
        self.distil("extract-skill", call.dry_run, |vault| {
            let mut entry = self.entry();
            let mut reading = if vault.exists() { self.reading()? } else { Reading::default() };
            if let Some(site) = &site {
                let known = |sheet: &Sheet| reading.sheets.iter().any(|one| one.leaf.path == sheet.leaf.path);
                let more: Vec<Sheet> =
                    Self::learnings(vault, site)?.sheets.into_iter().filter(|sheet| !known(sheet)).collect();
                reading.sheets.extend(more);
            }
            let (sheet, line) = self.meant(&reading, &call.note)?;
            let entries = sheet.entries();
            let learning = entries.iter().find(|entry| entry.line as u64 == line).ok_or_else(gone)?;
            let title = entry.text(&learning.title);
            let name = skill_name(call.name.as_deref(), &title)?;
            let path = folder.join(&name).join("SKILL.md");
            let vault = vault.with(&folder);
            let place = Place { file: path.display().to_string(), line: None };
            if learning.is_marked(PROMOTED) && vault.read(&path)?.is_some() {
                let (rewrites, reason, redacted) = (Vec::new(), String::new(), Vec::new());
                return Ok(Distilling { rewrites, place, reason, redacted });
            }
            if path.symlink_metadata().is_ok() {
                return Err(Fault::conflict(
                    format!("There is a skill {name} already, in {}", path.display()),
                    "It was left as it is. --name gives the new one another name.",
                )
                .into());
            }
            let noted = learning.date().map_or_else(String::new, |day| format!(", noted on {day}"));
            let sources = [format!("{}{noted}, note {}", sheet.leaf.path.display(), &learning.id()[..12])];
            let after = markdown::skill(&Skill {
                name: &name,
                title: &title,
                rule: &entry.text(learning.rule().unwrap_or(&learning.title)),
                context: &entry.text(learning.field("Context").unwrap_or_default()),
                situation: &entry.text(&learning.situation()),
                sources: &sources,
            });
            let mut rewrites = vec![Rewrite { path, within: Some(folder.clone()), before: None, after }];
            rewrites.extend(marked(&sheet, learning, PROMOTED));
            let reason = format!("make {title:?} the skill {name}");
            Ok(Distilling { rewrites, place, reason, redacted: entry.redacted })
        })
    }

    /// The folder that skills are in: `skills/` in the tree, or one that is there.
    fn skill_folder(&self, into: Option<&Path>) -> Result<PathBuf, Error> {
        let Some(folder) = into else { return Ok(self.tree()?.root().join("skills")) };
        folder.canonicalize().ok().filter(|path| folder.is_absolute() && path.is_dir()).ok_or_else(|| {
            Fault::not_found(
                format!("There is no folder {}", folder.display()),
                "Only the skill's own folder is made. Make the folder that it goes into first.",
            )
            .into()
        })
    }
}

/// The name of a skill: the one that was given, else one that follows from its title.
fn skill_name(given: Option<&str>, title: &str) -> Result<String, Error> {
    let rule =
        "A skill's name is up to 64 lower-case letters, digits and single hyphens: give one by --name.";
    match given {
        Some(name) if skills::is_name(name) => Ok(name.to_owned()),
        Some(name) => Err(Fault::invalid(format!("{name:?} is no name for a skill"), rule).into()),
        None => skills::name(title)
            .ok_or_else(|| Fault::invalid(format!("No name follows from {title:?}"), rule).into()),
    }
}
