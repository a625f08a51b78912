//! Which document stands before and after which.

/// Marks the absence of a neighbour.
const NONE: u32 = u32::MAX;

/// Chains of documents. If b is after a, a is before b.
#[derive(Default)]
pub(super) struct Links(Vec<Link>);

#[derive(Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

const UNLINKED: Link = Link { before: NONE, after: NONE };

impl Links {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Up to two documents before `slot` and two after it.
    pub(super) fn around(&self, slot: u32) -> impl Iterator<Item = u32> {
        let Link { before, after } = self.get(slot);
        [before, self.get(before).before, after, self.get(after).after]
            .into_iter()
            .filter(|&slot| slot != NONE)
    }

    /// Puts `slot` between `before` and `after`; both leave the neighbour they had there.
    pub(super) fn set(&mut self, slot: u32, before: Option<u32>, after: Option<u32>) {
        let (before, after) = (before.unwrap_or(NONE), after.unwrap_or(NONE));
        let old = self.get(slot);
        self.change(old.before, |link| link.after = NONE);
        self.change(old.after, |link| link.before = NONE);
        let (of_before, of_after) = (self.get(before).after, self.get(after).before);
        self.change(of_before, |link| link.before = NONE);
        self.change(of_after, |link| link.after = NONE);
        self.change(before, |link| link.after = slot);
        self.change(after, |link| link.before = slot);
        if before != NONE || after != NONE || old.before != NONE || old.after != NONE {
            self.change(slot, |link| *link = Link { before, after });
        }
    }

    fn get(&self, slot: u32) -> Link {
        self.0.get(slot as usize).copied().unwrap_or(UNLINKED)
    }

    fn change(&mut self, slot: u32, change: impl FnOnce(&mut Link)) {
        if slot != NONE {
            if self.0.len() <= slot as usize {
                self.0.resize(slot as usize + 1, UNLINKED);
            }
            change(&mut self.0[slot as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Links;

    fn around(links: &Links, slot: u32) -> Vec<u32> {
        links.around(slot).collect()
    }

    #[test]
    fn links_hold_in_both_directions() {
        let mut links = Links::default();
        links.set(1, Some(0), Some(2));
        assert_eq!(
            [around(&links, 0), around(&links, 1), around(&links, 2)],
            [vec![1, 2], vec![0, 2], vec![1, 0]]
        );
        links.set(3, Some(1), None);
        assert_eq!(
            [around(&links, 1), around(&links, 2), around(&links, 3)],
            [vec![0, 3], vec![], vec![1, 0]]
        );
        links.set(1, None, None);
        assert!([0, 1, 3].iter().all(|&slot| around(&links, slot).is_empty()));
    }

    #[test]
    fn absent_links_take_no_room() {
        let mut links = Links::default();
        links.set(7, None, None);
        assert!(links.is_empty() && around(&links, 7).is_empty());
    }
}
