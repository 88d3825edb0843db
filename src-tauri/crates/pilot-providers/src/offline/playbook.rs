//! The steps of a built-in skill, as data.

use super::goal::{Goal, Language};
use serde::Deserialize;
use serde_json::{Map, Value};

const INVOICE_SUMMARY: &str = include_str!("../../../../../skills/invoice-summary/playbook.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Playbook {
    #[expect(dead_code, reason = "read so that a file of another version does not pass unnoticed")]
    version: OnlyVersion,
    #[expect(dead_code, reason = "names the manual that the steps follow")]
    skill: String,
    goal: GoalWords,
    report: InLanguages,
    pub(super) steps: Vec<Step>,
}

/// Version 1, and nothing else.
#[derive(Debug)]
struct OnlyVersion;

impl<'de> Deserialize<'de> for OnlyVersion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            1 => Ok(Self),
            other => Err(serde::de::Error::custom(format!("playbook version {other}"))),
        }
    }
}

/// A goal that names an action and an object is one for this playbook. Latin words are stems, matched where a word begins.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GoalWords {
    actions: Vec<String>,
    objects: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) say: InLanguages,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// The next step is played even when this one failed.
    #[serde(default)]
    pub(super) optional: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InLanguages {
    zh: String,
    en: String,
}

impl InLanguages {
    pub(super) fn get(&self, language: Language) -> &str {
        match language {
            Language::Chinese => &self.zh,
            Language::English => &self.en,
        }
    }
}

impl Playbook {
    pub(super) fn built_in() -> Result<Self, serde_json::Error> {
        serde_json::from_str(INVOICE_SUMMARY)
    }

    pub(super) fn fits(&self, goal: &Goal) -> bool {
        let names_one = |words: &[String]| words.iter().any(|word| goal.names(word));
        names_one(&self.goal.actions) && names_one(&self.goal.objects)
    }

    pub(super) fn report_path(&self, language: Language) -> &str {
        self.report.get(language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_playbook_is_read_and_ends_with_the_one_write() {
        let playbook = Playbook::built_in().unwrap();
        let tools: Vec<&str> = playbook.steps.iter().map(|step| step.tool.as_str()).collect();
        assert_eq!(
            tools,
            ["list_files", "expand_skill", "analyze_table", "write_file"],
            "look, read, analyse, propose"
        );
        for language in [Language::Chinese, Language::English] {
            assert!(playbook.report_path(language).ends_with(".md"), "a report is markdown");
        }
    }

    #[test]
    fn goals_for_the_playbook_are_told_from_others() {
        let playbook = Playbook::built_in().unwrap();
        let fitting = [
            "汇总这个文件夹里的发票：按供应商和月份合计，标出需要再看一眼的地方，写一份报告。",
            "Summarise the invoices in this folder by supplier and month, mark what needs a second look, and write a report.",
            "summarize invoices",
            "Give me the totals of all receipts",
            "把报价整理成一张表",
            "总结一下采购费用",
            "汇总这个文件夹",
            "汇总 invoices",
            "SUM UP THE BILLS",
        ];
        for goal in fitting {
            assert!(playbook.fits(&Goal::read(goal)), "{goal}");
        }
        let others = [
            "",
            "你好",
            "What is an invoice?",
            "发票是什么？",
            "Write a poem",
            "写一首诗",
            "abilities and reports",
            "translate notes.md",
        ];
        for goal in others {
            assert!(!playbook.fits(&Goal::read(goal)), "{goal}");
        }
    }
}
