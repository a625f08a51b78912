//! How agents judge their work (spec E3).

use memoryd_proto::{AgentName, Fault, Profile, ProfileOf, Serve, SetProfile};

use super::App;
use crate::domain::profile;
use crate::journal::{Change, Draft, Edit};
use crate::store::listing;

impl Serve<ProfileOf> for App {
    fn serve(&self, call: ProfileOf) -> Result<Profile, Fault> {
        let agent = &call.agent;
        let found = self.view().read(|connection| listing::profile(connection, agent))?;
        Ok(found.unwrap_or_else(|| empty(call.agent)))
    }
}

impl Serve<SetProfile> for App {
    fn serve(&self, call: SetProfile) -> Result<Profile, Fault> {
        let (mut entry, mut wanted) = (self.entry(), call.profile);
        for criterion in &mut wanted.criteria {
            criterion.name = entry.label("criterion", &criterion.name)?;
        }
        for category in &mut wanted.categories {
            category.name = entry.label("category", &category.name)?;
            category.description = entry.text(category.description.trim());
        }
        profile::check(&wanted)?;
        let committed = self.journal.commit("profile", |planning| {
            let before = planning.view.read(|connection| listing::profile(connection, &wanted.agent))?;
            let mut draft = Draft {
                reason: "quality criteria and categories set".to_owned(),
                agent: Some(wanted.agent.clone()),
                ..Draft::default()
            };
            if before.as_ref() != Some(&wanted) {
                draft.changes.push(Change::Profile(Edit { before, after: Some(wanted.clone()) }));
            }
            Ok((draft, ()))
        });
        committed.map_err(Fault::from)?;
        Ok(wanted)
    }
}

/// The profile of an agent that has set none.
pub(super) fn empty(agent: AgentName) -> Profile {
    Profile { agent, criteria: Vec::new(), categories: Vec::new() }
}
