use super::*;

fn decide(text: &str) -> Decision {
    Detector::new(&[]).unwrap().decide(text)
}

fn signal(text: &str) -> Option<Signal> {
    decide(text).finding.map(|finding| finding.signal)
}

fn on_tool(exit_code: Option<i32>, failed: bool, output: &str) -> Option<Finding> {
    let tool = ToolOutcome { name: "Bash".to_owned(), exit_code, failed };
    Detector::new(&[]).unwrap().decide_on_tool(&tool, output).finding
}

#[test]
fn m9_a_finding_says_what_it_is_and_why() {
    let finding = decide("Thanks! Please always use tabs.").finding.unwrap();
    assert_eq!((finding.signal, finding.pattern.as_str()), (Signal::Preference, "always"));
    assert_eq!(finding.words, "Please always use tabs.");
    assert_eq!(finding.sentence, "Please always use tabs.");
}

#[test]
fn m9_a_rule_is_told_where_it_is_plain() {
    let rule = |text: &str| decide(text).finding.unwrap().rule;
    let rules = [
        ("always use X", "Use X"),
        ("Never commit to main!", "Never commit to main"),
        ("stop adding comments", "Stop adding comments"),
        ("I prefer `rg` over “grep”", "Prefer `rg` over \"grep\""),
        ("From now on, answer in German.", "Answer in German"),
    ];
    for (said, follows) in rules {
        assert_eq!(rule(said).as_deref(), Some(follows), "{said}");
    }
    assert_eq!(rule("No, that's not right, the endpoint is /v2/users"), None);
}

#[test]
fn m9_a_veto_is_named() {
    let decision = decide("For this file, always use tabs");
    assert_eq!(decision.finding, None);
    assert!(decision.vetoed.iter().any(|vetoed| vetoed.pattern == "always" && vetoed.veto == "once"));
}

#[test]
fn m9_what_is_quoted_or_pasted_was_not_said() {
    for text in [
        "What does \"always use tabs\" mean here",
        "> Never commit to main.",
        "```\nAlways use sudo\n```",
        "```\nNever closed",
        "2024-01-01 10:00:00 INFO no, that's wrong",
    ] {
        assert_eq!(signal(text), None, "{text}");
    }
    assert_eq!(signal("> Never commit to main.\nAlways use tabs"), Some(Signal::Preference));
}

#[test]
fn m9_silence_says_nothing() {
    for text in ["", " \n\t", "ok", "...", "👍", "```"] {
        assert_eq!(decide(text), Decision::default(), "{text:?}");
    }
}

#[test]
fn m9_a_pasted_error_is_an_error() {
    let text =
        "look:\n```\nTraceback (most recent call last):\n  File \"a.py\", line 1\nValueError: bad\n```";
    assert_eq!(signal(text), Some(Signal::Error));
}

#[test]
fn m9_a_tool_that_failed_is_an_error() {
    let finding = on_tool(Some(2), false, "make: *** No rule to make target 'al'.\n").unwrap();
    assert_eq!(finding.signal, Signal::Error);
    assert_eq!(finding.sentence, "Bash failed with exit code 2: make: *** No rule to make target 'al'.");
    let finding = on_tool(None, false, "warning: x\nValueError: bad literal\nbye").unwrap();
    assert_eq!(finding.sentence, "Bash failed: ValueError: bad literal");
}

#[test]
fn m9_a_tool_that_did_not_fail_is_none() {
    assert_eq!(on_tool(Some(1), false, ""), None, "a search that finds nothing");
    assert_eq!(on_tool(Some(0), false, "ValueError: printed by a test"), None);
    assert_eq!(on_tool(None, false, "warning: unused variable"), None);
}

#[test]
fn m9_further_patterns_come_first() {
    let pattern = Pattern {
        id: "house".to_owned(),
        signal: Signal::Preference,
        pattern: "house rule: (?<rule>.+)".to_owned(),
        except: Some(r"\?$".to_owned()),
        confidence: 0.95,
        rule: Some("$rule".to_owned()),
    };
    let detector = Detector::new(&[pattern]).unwrap();
    let finding = detector.decide("House rule: spaces").finding.unwrap();
    assert_eq!((finding.pattern.as_str(), finding.rule.as_deref()), ("house", Some("Spaces")));
    assert_eq!(detector.decide("Is that a house rule: spaces?").finding, None);
}

#[test]
fn m9_every_pattern_and_veto_has_a_name_of_its_own() {
    let detector = Detector::new(&[]).unwrap();
    let rules = detector.rules();
    let patterns = rules.patterns.iter().map(|matcher| &matcher.pattern.id);
    let mut ids: Vec<&String> = patterns.chain(rules.vetoes.iter().map(|(veto, _)| &veto.id)).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}
