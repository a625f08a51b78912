//! Reviews made by hand: of a lively week, of a first one, and of nothing at all.

use chrono::{DateTime, TimeDelta, Utc};
use memoryd_client::proto::{
    AgentReview, ContextReview, ContextState, CriterionName, Day, Figures, JobName, JobWork, Judgement,
    Lesson, Mode, OperationId, Point, QValue, Review, StandingCount, SuccessCriterion, TaskUse, Usage, Week,
};

use crate::verbs::testing::sample;

fn week() -> Week {
    "2026-W05".parse().unwrap()
}

fn monday() -> DateTime<Utc> {
    "2026-01-26T00:00:00Z".parse().unwrap()
}

fn criteria(judged: &[(Judgement, &str, &str)]) -> Vec<SuccessCriterion> {
    let names = [
        CriterionName::Stored,
        CriterionName::Relevant,
        CriterionName::Tracked,
        CriterionName::Improving,
        CriterionName::Evaluated,
        CriterionName::Deprecation,
        CriterionName::Promotion,
        CriterionName::FilesUntouched,
    ];
    let all = names.into_iter().zip(judged);
    all.map(|(name, (judgement, rule, figure))| SuccessCriterion {
        name,
        judgement: *judgement,
        rule: (*rule).to_owned(),
        figure: (*figure).to_owned(),
    })
    .collect()
}

const RULES: [&str; 8] = [
    "At least 10 improvements are stored in a week.",
    "Of more than 80 % of the reported recalls that returned something, something was used.",
    "Every reported use counts in the usage of its improvement.",
    "Over 30 days, the newer half of the tasks has a higher mean quality than the older.",
    "At least 90 % of the recalls that had 24 hours for it were reported.",
    "What was used often enough and fails is no longer recalled.",
    "What was used often enough and succeeds is promoted.",
    "No agent's .md file is changed.",
];

/// The review of a memory without anything.
pub fn empty() -> Review {
    let nothing = [
        "0 stored",
        "no recall that returned something was reported",
        "no use was reported",
        "fewer than two tasks in 30 days",
        "no recall is older than 24 hours",
        "nothing used often enough fails",
        "nothing used often enough succeeds",
        "memoryd opens them for reading only",
    ];
    let judged: Vec<_> = (0..8)
        .map(|n| (if n == 7 { Judgement::Met } else { Judgement::Open }, RULES[n], nothing[n]))
        .collect();
    let cold = |name: &str| ContextReview {
        state: ContextState {
            name: name.parse().unwrap(),
            interactions: 0,
            warm_from: 100,
            mode: Mode::Cold,
        },
        grown: 0,
    };
    Review {
        week: week(),
        from: monday(),
        to: monday() + TimeDelta::days(7),
        made_at: monday() + TimeDelta::hours(9),
        all: Figures::default(),
        before: Figures::default(),
        days: (0..7).map(|n| Day { day: week().day(n), tasks: 0, succeeded: 0 }).collect(),
        agents: Vec::new(),
        standing: StandingCount::default(),
        q_values: vec![0; 20],
        contexts: ["coding", "debugging", "research"].map(cold).into(),
        best: Vec::new(),
        worst: Vec::new(),
        fallen: 0,
        shared: Vec::new(),
        skills: Vec::new(),
        maintenance: Vec::new(),
        criteria: criteria(&judged),
    }
}

/// The review of a first week: one agent, two tasks.
pub fn first() -> Review {
    let point = |n: u64| Point { week: week().before(n), tasks: 0, succeeded: 0, quality: None };
    let mut weeks: Vec<Point> = (0..12).rev().map(point).collect();
    weeks[11] = Point { week: week(), tasks: 2, succeeded: 1, quality: Some(61.0) };
    let figures = Figures {
        tasks: 2,
        succeeded: 1,
        quality: Some(61.0),
        insights: 1,
        stored: 1,
        recalls: 2,
        reported: 2,
    };
    let mut review = Review {
        all: figures.clone(),
        agents: vec![AgentReview {
            agent: "finder".parse().unwrap(),
            week: figures,
            before: Figures::default(),
            trend: Some(-12.0),
            weeks,
        }],
        standing: StandingCount { active: 1, candidates: 0, deprecated: 0 },
        ..empty()
    };
    review.made_at = monday() + TimeDelta::hours(33);
    review.days[0] = Day { day: week().day(0), tasks: 2, succeeded: 1 };
    review.criteria[0].figure = "1 stored so far".to_owned();
    review.q_values[11] = 1;
    review.contexts[0].state.interactions = 2;
    review.contexts[0].grown = 2;
    review.best = vec![lesson(0, (1, 1), (1, 1), 0.56)];
    review
}

mod noted {
    use super::week;
    use memoryd_client::proto::{Place, SharedInsight, SkillCriterion, SkillEvidence, SkillIdea};

    pub fn shared() -> Vec<SharedInsight> {
        let one = |n: u64, title: &str, rule: &str| SharedInsight {
            title: title.to_owned(),
            rule: Some(rule.to_owned()),
            name: format!("{}-insight", week().day(n)),
            day: week().day(n),
        };
        vec![
            one(4, "Summaries", "Give summaries as short bullet points, not as prose."),
            one(
                1,
                "Headers of the gateway",
                "Send the token of the gateway in a header in lower case, as it drops others without a word.",
            ),
        ]
    }

    pub fn skills() -> Vec<SkillIdea> {
        let met = |criterion, evidence: &str| SkillEvidence { criterion, evidence: evidence.to_owned() };
        let file = "/home/ada/uploader/.learnings/LEARNINGS.md".to_owned();
        vec![SkillIdea {
            note: "0f3a9c5e71b24d68".repeat(2),
            title: "Linking fails on the small runners".to_owned(),
            rule: Some("Link with one job where there is less than 4 GiB of memory.".to_owned()),
            place: Place { file: file.clone(), line: Some(41) },
            met: vec![
                met(SkillCriterion::Verified, "5 of 6 tasks that used it succeeded"),
                met(
                    SkillCriterion::NonObvious,
                    &format!("an error that took 74 words to tell, in {file}:41"),
                ),
            ],
        }]
    }
}

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

const AGENTS: [&str; 8] = [
    "research-specialist",
    "code-finder",
    "debugger",
    "release-manager",
    "test-writer",
    "docs",
    "security-reviewer",
    "data-pipeline",
];

const LESSONS: [&str; 9] = [
    "When a download from the artefact store fails with a 503, retry it with exponential backoff and jitter, at \
     most five times, and log the last response body before giving up: the store answers 503 while it rebalances.",
    "Before renaming a public function, search the generated bindings too; they are not part of the workspace and \
     `cargo check` does not see them.",
    "When asked for the \"latest\" figures, prefer sources of this year and say of each source when it was published.",
    "Run the migration against a copy of production with its real row counts; the planner chooses another index \
     below 10,000 rows.",
    "Ask for the failing test's seed first. Two thirds of the flaky reports here are reproducible with it.",
    "Restart the worker when the queue is stuck.",
    "Assume that timestamps in the billing export are UTC.",
    "Increase the timeout of the integration tests when they fail on CI, as the machines there are slower than \
     those of developers and the suite was written on a laptop.",
    "Squash all commits of a branch before review so that the reviewer sees one change.",
];

const TASKS: [&str; 6] = [
    "Find out why the nightly build of the uploader fails on the arm64 runners, and fix it",
    "Rename `resolve` to `resolve_path` everywhere, including the Python bindings",
    "Summarise what changed in the store's consistency guarantees since version 4",
    "Make the import of the March billing export pass again",
    "Review the pull request that moves session handling to the gateway",
    "Write a test for the retry policy of the download client",
];

fn lesson(
    n: usize,
    (uses, successes): (u64, u64),
    (week_uses, week_successes): (u64, u64),
    q: f64,
) -> Lesson {
    let rate = |part: u64, whole: u64| {
        u32::try_from(part).map(f64::from).unwrap() / u32::try_from(whole).map(f64::from).unwrap()
    };
    let at = |hours: u64| monday() + TimeDelta::hours(i64::try_from(hours).unwrap());
    let mut improvement = sample::improvement();
    improvement.id = format!("improvement_{}_{n}", 1_769_000_000_000_u64 + 7_919 * n as u64).parse().unwrap();
    improvement.agent = AGENTS[n % 6].parse().unwrap();
    improvement.category = ["error_handling", "code_quality", "search_strategy"][n % 3].to_owned();
    LESSONS[n].clone_into(&mut improvement.document);
    improvement.usage = Usage {
        usage_count: uses,
        success_count: successes,
        failure_count: uses - successes,
        success_rate: Some(rate(successes, uses)),
        last_used: Some(at(100 + n as u64)),
        access_count: 2 * uses,
        last_accessed: None,
        q_value: QValue::clamped(q),
    };
    let tasks = (0..week_uses.min(3)).map(|place| TaskUse {
        task: TASKS[(n + usize::try_from(place).unwrap()) % 6].to_owned(),
        success: place < week_successes,
        at: at(100 - place),
    });
    Lesson {
        recalled: rate(successes, uses) >= 0.6,
        uses: week_uses,
        successes: week_successes,
        tasks: tasks.collect(),
        improvement,
    }
}

/// The review of a lively week of so many agents. One pauses, one came lately, and one is idle.
pub fn lively(agents: u64) -> Review {
    let mut dice = Dice(agents);
    let mut review = empty();
    review.made_at = review.to + TimeDelta::hours(4);
    for n in 0..agents {
        review.agents.push(agent(n, &mut dice));
    }
    review.agents.sort_by_key(|one| std::cmp::Reverse(one.week.tasks));
    let sum = |field: fn(&Figures) -> u64| -> (u64, u64) {
        let week = review.agents.iter().map(|one| field(&one.week)).sum();
        (week, review.agents.iter().map(|one| field(&one.before)).sum())
    };
    let ((tasks, tasks_before), (succeeded, succeeded_before)) =
        (sum(|one| one.tasks), sum(|one| one.succeeded));
    let ((stored, stored_before), (recalls, recalls_before)) =
        (sum(|one| one.stored), sum(|one| one.recalls));
    let (reported, reported_before) = sum(|one| one.reported);
    review.all =
        Figures { tasks, succeeded, quality: Some(78.4), insights: stored + 9, stored, recalls, reported };
    review.before = Figures {
        tasks: tasks_before,
        succeeded: succeeded_before,
        quality: Some(74.9),
        insights: stored_before + 4,
        stored: stored_before,
        recalls: recalls_before,
        reported: reported_before,
    };
    let (mut left, mut good) = (tasks, succeeded);
    for (day, share) in review.days.iter_mut().zip([5, 4, 5, 3, 3, 8, 1]) {
        day.tasks = left / share;
        day.succeeded = (good / share).min(day.tasks);
        (left, good) = (left - day.tasks, good - day.succeeded);
    }
    review.standing = StandingCount { active: 1_204, candidates: 88, deprecated: 31 };
    review.q_values = vec![0, 0, 1, 3, 2, 6, 9, 14, 22, 31, 58, 41, 33, 27, 24, 19, 12, 8, 3, 1];
    for (context, (interactions, grown)) in review.contexts.iter_mut().zip([(412, 31), (86, 12), (23, 4)]) {
        context.state.interactions = interactions;
        context.grown = grown;
        context.state.mode = if interactions < 100 { Mode::Cold } else { Mode::Warm };
    }
    review.best = vec![
        lesson(0, (31, 30), (6, 6), 0.91),
        lesson(1, (18, 17), (4, 4), 0.88),
        lesson(2, (12, 11), (3, 3), 0.83),
        lesson(3, (9, 8), (2, 2), 0.79),
        lesson(4, (6, 6), (1, 1), 0.77),
    ];
    review.worst = vec![
        lesson(5, (11, 4), (3, 0), 0.22),
        lesson(6, (4, 1), (2, 0), 0.31),
        lesson(7, (7, 4), (3, 1), 0.44),
        lesson(8, (13, 9), (2, 1), 0.62),
    ];
    review.fallen = 3;
    review.shared = noted::shared();
    review.skills = noted::skills();
    let mut operation = 2_310;
    for day in 0..7 {
        for (job, changes) in
            [(JobName::Metrics, agents), (JobName::Deprecate, day % 2), (JobName::Promote, (day + 1) % 3)]
        {
            if changes > 0 {
                operation += 3;
                let at = monday() + TimeDelta::days(i64::try_from(day).unwrap());
                let operation = OperationId(operation);
                review.maintenance.push(JobWork { job, at, operation, changes, undone: day == 3 });
            }
        }
    }
    let consolidated = JobWork {
        job: JobName::Consolidate,
        at: monday() + TimeDelta::days(6),
        operation: OperationId(operation + 1),
        changes: 1_137,
        undone: false,
    };
    review.maintenance.push(consolidated);
    let figures = [
        (Judgement::Met, "27 stored"),
        (Judgement::Met, "86 %: 61 of 71 helped"),
        (Judgement::Met, "104 of 104 uses counted"),
        (Judgement::Met, "+3.4 of 100 points"),
        (Judgement::NotMet, "83 %: 75 of 90 reported"),
        (Judgement::Met, "5 of 5 failing improvements deprecated"),
        (Judgement::Open, "nothing used often enough succeeds"),
        (Judgement::Met, "memoryd opens them for reading only"),
    ];
    let judged: Vec<_> = (0..8).map(|n| (figures[n].0, RULES[n], figures[n].1)).collect();
    review.criteria = criteria(&judged);
    review
}

fn agent(n: u64, dice: &mut Dice) -> AgentReview {
    let place = usize::try_from(n).unwrap();
    let name = AGENTS.get(place).map_or_else(|| format!("worker-{n:02}"), |name| (*name).to_owned());
    let base = 46 + dice.roll(22);
    let weeks: Vec<Point> = (0..12)
        .map(|week_n| {
            let away = match n % 8 {
                2 => (4..7).contains(&week_n),
                4 => week_n < 8,
                5 => week_n == 11 || week_n == 3,
                7 => true,
                _ => false,
            };
            let tasks = if away { 0 } else { 3 + dice.roll(14) };
            let likely = base + 2 * week_n + dice.roll(9) - 4;
            let succeeded = (0..tasks).filter(|_| dice.roll(100) < likely).count() as u64;
            let quality = u32::try_from((likely + dice.roll(12)).min(98)).map(f64::from).unwrap() - 4.0;
            let quality = (tasks > 0).then_some(quality);
            Point { week: week().before(11 - week_n), tasks, succeeded, quality }
        })
        .collect();
    let figures = |point: &Point, dice: &mut Dice| {
        let recalls = if point.tasks == 0 { 0 } else { point.tasks + dice.roll(3) };
        Figures {
            tasks: point.tasks,
            succeeded: point.succeeded,
            quality: point.quality,
            insights: point.tasks / 2,
            stored: point.tasks / 3,
            recalls,
            reported: point.tasks,
        }
    };
    let (week, before) = (figures(&weeks[11], dice), figures(&weeks[10], dice));
    let trend = (n % 8 != 7).then(|| f64::from(u32::try_from(dice.roll(13)).unwrap()) - 4.0);
    AgentReview { agent: name.parse().unwrap(), week, before, trend, weeks }
}
