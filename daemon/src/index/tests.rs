//! Properties of the whole index.

mod reference;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{CaseId, Document, Index, Query, Slot, WrongDimension};
use crate::domain::ranking::Blend;
use reference::{Change, DIMENSION, Question, Reference, SETTINGS, Vector, apply, document};

fn a_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "alpha",
        "beta",
        "betas",
        "gamma",
        "the",
        "snake_case",
        "snake",
        "東京都",
        "café",
        "1.2.3",
    ]);
    vec(word, 0..8).prop_map(|words| words.join(" "))
}

fn a_vector() -> impl Strategy<Value = Vector> {
    vec(-4_i8..=4, DIMENSION).prop_map(|values| {
        let mut values = values.into_iter();
        std::array::from_fn(|_| f32::from(values.next().unwrap_or(0)))
    })
}

fn maybe_vector() -> impl Strategy<Value = Option<Vector>> {
    prop::option::weighted(0.8, a_vector())
}

fn a_change() -> impl Strategy<Value = Change> {
    let slot = || 0..12_u32;
    prop_oneof![
        4 => (slot(), a_text(), maybe_vector()).prop_map(|(slot, text, vector)| Change::Insert(slot, text, vector)),
        2 => vec((slot(), a_text(), maybe_vector()), 0..8).prop_map(Change::Extend),
        2 => slot().prop_map(Change::Remove),
        1 => (slot(), maybe_vector()).prop_map(|(slot, vector)| Change::SetVector(slot, vector)),
        2 => (slot(), 0..3_i64, a_vector(), any::<bool>())
            .prop_map(|(slot, id, vector, finds)| Change::AddCase(slot, id, vector, finds)),
        1 => (slot(), 0..3_i64).prop_map(|(slot, id)| Change::RemoveCase(slot, id)),
        2 => Just((0..12_u32).collect::<Vec<_>>()).prop_shuffle().prop_flat_map(|slots| {
            (any::<bool>(), any::<bool>()).prop_map(move |(before, after)| {
                Change::Link(slots[0], before.then_some(slots[1]), after.then_some(slots[2]))
            })
        }),
    ]
}

fn a_question() -> impl Strategy<Value = Question> {
    let weight = || prop::sample::select(vec![0.0_f32, 0.3, 0.5, 1.0]);
    let margin = || prop::sample::select(vec![0.1_f32, 0.25, 4.0]);
    let blend =
        (weight(), weight(), margin(), prop::option::of(margin()), prop::sample::select(vec![0.0_f32, 0.5]))
            .prop_map(|(dense, lexical, margin, case_margin, neighbour)| Blend {
                dense,
                lexical,
                margin,
                case_margin,
                neighbour,
            });
    let filter = prop_oneof![Just(u16::MAX), any::<u16>()];
    (a_text(), maybe_vector(), 0..15_usize, blend, filter)
        .prop_map(|(text, vector, limit, blend, filter)| Question { text, vector, limit, blend, filter })
}

const BLEND: Blend = Blend { dense: 0.5, lexical: 0.5, margin: 0.25, case_margin: Some(0.2), neighbour: 0.5 };

proptest! {
    #[test]
    fn any_history_answers_like_the_reference_and_like_a_fresh_index(
        changes in vec(a_change(), 0..40),
        questions in vec(a_question(), 1..6),
    ) {
        let mut index = Index::new(SETTINGS);
        let mut reference = Reference::default();
        for change in &changes {
            prop_assert_eq!(apply(&mut index, change), Ok(()));
            reference.apply(change);
        }
        let Ok(fresh) = reference.index() else { return Err(TestCaseError::fail("dimension")) };
        for question in &questions {
            reference.check(&index, question)?;
            let list = |index| question.ask(index).map(|hits| hits.list);
            prop_assert_eq!(list(&index), list(&fresh));
        }
    }
}

#[test]
fn a_large_index_answers_alike_on_any_number_of_threads() -> Result<(), Box<dyn std::error::Error>> {
    const WORDS: [&str; 7] = ["red", "green", "blue", "fox", "hen", "ox", "eel"];
    let mut reference = Reference::default();
    let mut state = 7_u32;
    let mut draw = |end: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % end
    };
    for slot in 0..40_000 {
        let text: Vec<_> = (0..draw(6)).map(|_| WORDS[draw(7) as usize]).collect();
        let vector = std::array::from_fn(|_| f32::from(u8::try_from(draw(200)).unwrap_or(0)) - 99.5);
        reference.apply(&Change::Insert(slot + slot / 10_000 * 5000, text.join(" "), Some(vector)));
        if slot % 3 == 0 {
            reference.apply(&Change::AddCase(slot, 1, vector.map(|value| 5.0 - value), true));
        }
    }
    let mut index = reference.index()?;
    for slot in 1..50_000 {
        index.set_links(Slot(slot), Some(Slot(slot - 1)), None);
    }
    let question = Question {
        text: "blue fox".to_owned(),
        vector: Some([1.0, -2.0, 3.0, 4.0, 0.0, 0.5, -1.0, 2.0]),
        limit: 50,
        blend: Blend { neighbour: 0.0, ..BLEND },
        filter: 0b1111_0111_1110_1111,
    };
    reference.check(&index, &question).map_err(|failure| failure.to_string())?;
    let linked = Question { blend: BLEND, ..question };
    let mut answers = Vec::new();
    for threads in 1..=3 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        answers.push(pool.install(|| linked.ask(&index))?.list);
    }
    assert_eq!(answers[0].len(), 50);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert!(answers[0].iter().any(|hit| hit.case.is_some()));
    Ok(())
}

#[test]
fn a_wrong_dimension_changes_nothing() -> Result<(), WrongDimension> {
    let mut index = Index::new(SETTINGS);
    let wrong = Err(WrongDimension { expected: DIMENSION, found: 2 });
    let bad = Document { slot: Slot(0), text: "fox", vector: Some(&[1.0, 2.0]) };
    assert_eq!(index.insert(&bad), wrong);
    assert_eq!(index.extend(&[document(1, "hen", None), bad]), wrong);
    assert_eq!(index.add_case(Slot(0), CaseId(0), &[1.0, 2.0], true), wrong);
    assert!(index.is_empty());
    index.insert(&document(3, "fox", None))?;
    let question =
        Query { text: "fox", vector: Some(&[1.0, 2.0]), limit: 1, blend: Blend { neighbour: 0.0, ..BLEND } };
    assert_eq!(index.search(&question, |_| true).map(|hits| hits.list), wrong.map(|()| Vec::new()));
    Ok(())
}

#[test]
fn an_empty_index_finds_nothing() -> Result<(), WrongDimension> {
    let question = Question { text: String::new(), vector: None, limit: 3, blend: BLEND, filter: u16::MAX };
    let hits = question.ask(&Index::new(SETTINGS))?;
    assert!(hits.list.is_empty() && hits.scanned == 0 && hits.passed == 0);
    Ok(())
}
