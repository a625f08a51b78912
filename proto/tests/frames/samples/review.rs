//! A review, each field set to something that shows.

use memoryd_proto::{
    AgentReview, ContextReview, CriterionName, Day, Figures, JobName, JobWork, Judgement, Lesson,
    OperationId, Place, Point, Review, SharedInsight, SkillCriterion, SkillEvidence, SkillIdea,
    StandingCount, SuccessCriterion, TaskUse, Week,
};

use super::{at, context, improvement, name};

pub fn week() -> Week {
    "2026-W02".parse().unwrap()
}

pub fn review() -> Review {
    let figures = Figures {
        tasks: 42,
        succeeded: 34,
        quality: Some(81.5),
        insights: 17,
        stored: 12,
        recalls: 40,
        reported: 38,
    };
    let point = Point { week: week(), tasks: 42, succeeded: 34, quality: Some(81.5) };
    let task = TaskUse { task: "A task".to_owned(), success: true, at: at() };
    let criterion = SuccessCriterion {
        name: CriterionName::Relevant,
        judgement: Judgement::NotMet,
        rule: "A rule.".to_owned(),
        figure: "A figure".to_owned(),
    };
    Review {
        week: week(),
        from: at(),
        to: at(),
        made_at: at(),
        all: figures.clone(),
        before: Figures::default(),
        days: vec![Day { day: at().date_naive(), tasks: 6, succeeded: 5 }],
        agents: vec![AgentReview {
            agent: name("finder"),
            week: figures,
            before: Figures::default(),
            trend: Some(-2.5),
            weeks: vec![point],
        }],
        standing: StandingCount { active: 3, candidates: 2, deprecated: 1 },
        q_values: vec![0, 300, 2],
        contexts: vec![ContextReview { state: context(), grown: 4 }],
        best: vec![Lesson {
            improvement: improvement(),
            uses: 3,
            successes: 2,
            recalled: true,
            tasks: vec![task],
        }],
        worst: Vec::new(),
        fallen: 5,
        shared: vec![SharedInsight {
            title: "Auth".to_owned(),
            rule: Some("Send it".to_owned()),
            name: "2026-01-05-auth".to_owned(),
            day: at().date_naive(),
        }],
        skills: vec![SkillIdea {
            note: "0123".to_owned(),
            title: "Auth".to_owned(),
            rule: Some("Send it".to_owned()),
            place: Place { file: "/tree/memory.md".to_owned(), line: Some(5) },
            met: vec![SkillEvidence { criterion: SkillCriterion::Broad, evidence: "used".to_owned() }],
        }],
        maintenance: vec![JobWork {
            job: JobName::Promote,
            at: at(),
            operation: OperationId(4),
            changes: 2,
            undone: true,
        }],
        criteria: vec![criterion],
    }
}
