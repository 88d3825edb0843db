//! Tool names as this format allows them: letters, digits, `_` and `-`, at most 64.

use pilot_types::ToolSpec;
use std::collections::{HashMap, HashSet};

const LONGEST: usize = 64;

/// The names of one run's tools, both ways. A name that fits stays as it is.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    sent: HashMap<String, String>,
    meant: HashMap<String, String>,
}

impl ToolNames {
    pub(crate) fn of(tools: &[ToolSpec]) -> Self {
        let mut names = Self::default();
        // Names that fit are taken first, so that a bent name never takes theirs.
        let mut taken: HashSet<String> =
            tools.iter().filter(|tool| fits(&tool.name)).map(|tool| tool.name.clone()).collect();
        for tool in tools.iter().filter(|tool| !fits(&tool.name)) {
            let bent = bend(&tool.name, LONGEST);
            let mut free = bent.clone();
            let mut number = 2_u32;
            while !taken.insert(free.clone()) {
                let ending = format!("_{number}");
                free = format!("{}{ending}", &bent[..bent.len().min(LONGEST - ending.len())]);
                number += 1;
            }
            names.sent.insert(tool.name.clone(), free.clone());
            names.meant.insert(free, tool.name.clone());
        }
        names
    }

    /// The name to send for a tool; also for one that does not exist, which a model may have made up.
    pub(crate) fn sent(&self, name: &str) -> String {
        match self.sent.get(name) {
            Some(sent) => sent.clone(),
            None if fits(name) => name.to_owned(),
            None => bend(name, LONGEST),
        }
    }

    /// The tool meant by a name that came back.
    pub(crate) fn meant(&self, name: &str) -> String {
        self.meant.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}

fn allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

fn fits(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(allowed)
}

fn bend(name: &str, longest: usize) -> String {
    let bent: String = name
        .chars()
        .map(|character| if allowed(character) { character } else { '_' })
        .take(longest)
        .collect();
    if bent.is_empty() { "_".to_owned() } else { bent }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pilot_types::{Capability, Risk};
    use serde_json::Value;

    fn tool(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            capability: Capability::declared("file:read"),
            risk: Risk::Low,
            parameters: Value::Null,
            path_fields: Vec::new(),
        }
    }

    #[test]
    fn every_tool_has_a_name_of_its_own_that_leads_back() {
        let long = "m".repeat(80);
        let tools: Vec<ToolSpec> = [
            "read_file",
            "mcp.a.read",
            "mcp_a_read",
            "mcp a read",
            "工具",
            "器具",
            &long,
            &format!("{long}x"),
        ]
        .iter()
        .map(|name| tool(name))
        .collect();
        let names = ToolNames::of(&tools);
        let mut seen = HashSet::new();
        for tool in &tools {
            let sent = names.sent(&tool.name);
            assert!(fits(&sent), "{:?} is sent as {sent:?}, which must fit", tool.name);
            assert_eq!(names.meant(&sent), tool.name, "{sent:?} leads back to its tool");
            assert!(seen.insert(sent.clone()), "{sent:?} is used once");
        }
        assert_eq!(names.sent("read_file"), "read_file", "a good name stays");
        assert!(fits(&names.sent("made up\n")), "a name that a model made up is sent in a form that fits");
        assert_eq!(names.meant("nothing"), "nothing", "an unknown name stays as the model wrote it");
    }
}
