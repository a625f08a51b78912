//! What the hooks of coding agents write: the shapes that are common, and of them only what is needed.

use std::path::PathBuf;

use memoryd_client::proto::{Fault, ToolOutcome};
use serde::Deserialize;
use serde_json::Value;

/// What a hook says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hook {
    /// What the user said, or the errors of a tool; nothing in an event that says neither.
    pub text: Option<String>,
    /// The tool, if it is about one.
    pub tool: Option<ToolOutcome>,
    /// The folder that the agent works in.
    pub folder: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Shape {
    hook_event_name: Option<String>,
    #[serde(alias = "user_prompt", alias = "message")]
    prompt: Option<String>,
    tool_name: Option<String>,
    #[serde(alias = "tool_output", alias = "tool_result")]
    tool_response: Option<Value>,
    error: Option<String>,
    cwd: Option<PathBuf>,
}

impl Hook {
    /// A sentence that no hook wrote.
    pub fn said(text: &str) -> Self {
        Self { text: Some(text.trim().to_owned()), ..Self::default() }
    }

    /// Reads a hook's JSON.
    pub fn read(json: &str) -> Result<Self, Fault> {
        let shape: Shape = serde_json::from_str(json).map_err(|error| unknown(&error.to_string()))?;
        let folder = shape.cwd;
        if let Some(name) = shape.tool_name {
            let (text, tool) = outcome(name, shape.tool_response.as_ref(), shape.error);
            return Ok(Self { text: Some(text), tool: Some(tool), folder });
        }
        match (shape.prompt, shape.hook_event_name) {
            (None, None) => Err(unknown("it has neither prompt nor tool_name nor hook_event_name")),
            (text, _) => Ok(Self { text, tool: None, folder }),
        }
    }
}

fn unknown(why: &str) -> Fault {
    Fault::invalid(
        format!("What is on standard input is no hook's JSON: {why}"),
        "Give an object with \"prompt\", or with \"tool_name\" and \"tool_response\".",
    )
}

/// What a tool put out as its errors, and how it ended.
fn outcome(name: String, response: Option<&Value>, error: Option<String>) -> (String, ToolOutcome) {
    let get = |names: &[&str]| names.iter().find_map(|name| response?.get(name));
    let flag = |names: &[&str]| get(names).and_then(Value::as_bool);
    let exit_code = get(&["exit_code", "exitCode", "code", "returncode", "return_code"])
        .and_then(Value::as_i64)
        .and_then(|code| i32::try_from(code).ok());
    let failed = error.is_some()
        || flag(&["is_error", "isError", "interrupted"]) == Some(true)
        || flag(&["success", "ok"]) == Some(false);
    let text = |names: &[&str]| get(names).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let ended_badly = failed || exit_code.is_some_and(|code| code != 0);
    // What a tool prints while all is well is not looked at: it may be a file about errors.
    let said = text(&["stderr", "error"])
        .or_else(|| text(&["stdout", "output", "content"]).filter(|_| ended_badly))
        .or_else(|| response.and_then(Value::as_str).filter(|_| ended_badly));
    (error.or_else(|| said.map(str::to_owned)).unwrap_or_default(), ToolOutcome { name, exit_code, failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(json: &str) -> (String, ToolOutcome) {
        let hook = Hook::read(json).unwrap();
        (hook.text.unwrap(), hook.tool.unwrap())
    }

    fn bash(exit_code: Option<i32>, failed: bool) -> ToolOutcome {
        ToolOutcome { name: "Bash".to_owned(), exit_code, failed }
    }

    #[test]
    fn prompts_are_read_from_the_common_shapes() {
        for json in [
            r#"{"prompt": "use tabs"}"#,
            r#"{"hook_event_name": "UserPromptSubmit", "prompt": "use tabs", "session_id": "x", "more": [1]}"#,
        ] {
            assert_eq!(Hook::read(json).unwrap(), Hook::said("use tabs"), "{json}");
        }
    }

    #[test]
    fn outcomes_of_tools_are_read_from_the_common_shapes() {
        let json = r#"{"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make"},
            "tool_response": {"exit_code": 2, "stdout": "compiling", "stderr": "No rule"}}"#;
        assert_eq!(tool(json), ("No rule".to_owned(), bash(Some(2), false)));
        let json = r#"{"tool_name": "Bash", "tool_response": {"exitCode": 1, "output": "FAILED test_a"}}"#;
        assert_eq!(tool(json), ("FAILED test_a".to_owned(), bash(Some(1), false)));
        let json = r#"{"tool_name": "Bash", "tool_response": {"isError": true, "content": "no such file"}}"#;
        assert_eq!(tool(json), ("no such file".to_owned(), bash(None, true)));
        let json = r#"{"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "timed out"}"#;
        assert_eq!(tool(json), ("timed out".to_owned(), bash(None, true)));
    }

    #[test]
    fn what_a_tool_prints_while_all_is_well_is_not_read() {
        for response in
            [r#""Traceback""#, r#"{"stdout": "Traceback"}"#, r#"{"exit_code": 0, "output": "Traceback"}"#]
        {
            let json = format!(r#"{{"tool_name": "Read", "tool_response": {response}}}"#);
            assert_eq!(tool(&json).0, "", "{json}");
        }
    }

    #[test]
    fn an_event_that_says_nothing_is_no_failure() {
        assert_eq!(Hook::read(r#"{"hook_event_name": "SessionStart"}"#).unwrap(), Hook::default());
    }

    #[test]
    fn what_is_no_hooks_json_is_refused() {
        for json in ["", "[]", "{", "{}", r#"{"prompt": 3}"#, "always use tabs"] {
            assert!(Hook::read(json).is_err(), "{json}");
        }
    }
}
