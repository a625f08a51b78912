//! `memoryctl notes stats`, in the seed's layout (spec M13).

use memoryd_client::proto::NoteStatus;

use crate::render::Page;

pub(super) fn render(page: &mut Page, status: &NoteStatus) {
    let NoteStatus { hot, projects, domains, shared, shared_new, cold, .. } = status;
    page.line(format_args!(
        "\
Memory Status

HOT (always loaded):
  memory.md: {hot} entries

WARM (load on demand):
  projects/: {} files, {} entries total
  domains/: {} files, {} entries total

SHARED (cross-session):
  shared/: {shared} files ({shared_new} new since last check)

COLD (archived):
  archive/: {cold} files

Recent activity (7 days):
  Corrections logged: {}
  Promotions to HOT: {}
  Demotions to WARM: {}
  Shared insights written: {}
  Shared insights consumed: {}",
        projects.files,
        projects.entries,
        domains.files,
        domains.entries,
        status.corrections,
        status.promotions,
        status.demotions,
        status.written,
        status.consumed,
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::testing::shown;
    use memoryd_client::proto::Counted;

    #[test]
    fn m13_the_layout_is_that_of_the_seed() {
        let status = NoteStatus {
            hot: 1,
            projects: Counted { files: 2, entries: 3 },
            domains: Counted { files: 4, entries: 5 },
            shared: 6,
            shared_new: 7,
            cold: 8,
            corrections: 9,
            promotions: 10,
            demotions: 11,
            written: 12,
            consumed: 13,
        };
        assert_eq!(
            shown(|page| render(page, &status)),
            "\
Memory Status

HOT (always loaded):
  memory.md: 1 entries

WARM (load on demand):
  projects/: 2 files, 3 entries total
  domains/: 4 files, 5 entries total

SHARED (cross-session):
  shared/: 6 files (7 new since last check)

COLD (archived):
  archive/: 8 files

Recent activity (7 days):
  Corrections logged: 9
  Promotions to HOT: 10
  Demotions to WARM: 11
  Shared insights written: 12
  Shared insights consumed: 13
"
        );
    }
}
