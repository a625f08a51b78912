//! `memoryctl projects`

use memoryd_client::proto::{ProjectList, Projects, Serve};

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::{Page, time};

pub fn run(service: &impl Serve<Projects>, out: &mut Output) -> Outcome {
    out.reply(&service.serve(Projects {})?, render)
}

fn render(page: &mut Page, reply: &ProjectList) {
    if reply.projects.is_empty() {
        return page.line("Nothing was logged in a project yet.");
    }
    let rows = reply.projects.iter().map(|one| {
        let absent = if one.present { "" } else { " (absent)" };
        [one.name.clone(), one.hash.to_string(), time(one.since), format!("{}{absent}", one.root)]
    });
    page.table(["name", "hash", "since", "folder"], rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::{sample, shown};
    use memoryd_client::proto::KnownProject;

    #[test]
    fn projects_are_listed_and_absent_ones_are_marked() {
        let project = KnownProject {
            hash: "0123456789ab".parse().unwrap(),
            name: "app".to_owned(),
            root: "/home/app".to_owned(),
            since: sample::noon(),
            present: false,
        };
        let text = shown(|page| render(page, &ProjectList { projects: vec![project] }));
        assert!(text.contains("app   0123456789ab"), "{text}");
        assert!(text.ends_with("/home/app (absent)\n"), "{text}");
    }
}
