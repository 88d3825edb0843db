//! From a tool's declared capability to a verdict. A pure function of one text.
//!
//! **What this crate must not know:** tools and their names, arguments, paths, files, the person, the model. The guard
//! looks at paths before this is asked; nothing here can loosen what the guard refused.

use pilot_types::{Capability, CapabilityClass, ErrorCode, Verdict};

/// Version of the rules below. It stands in every checkpoint, so that a task resumed by a later version can tell that
/// a card was made under other rules.
pub const POLICY_VERSION: u32 = 1;

/// Decides by the text after the capability's last colon. No capability, or one that is not known, is denied.
///
/// Takes `&Capability` as well as `Option<&Capability>`.
#[must_use]
pub fn decide<'a>(capability: impl Into<Option<&'a Capability>>) -> Verdict {
    let Some(capability) = capability.into() else {
        return deny("the tool declares no capability".to_owned());
    };
    let Some(class) = capability.class() else {
        return deny(format!("capability {:?} is not one that policy knows", shown(capability)));
    };
    match class {
        CapabilityClass::Read => allow(capability, "it only reads content"),
        CapabilityClass::List => allow(capability, "it only reads names"),
        CapabilityClass::Write => ask(capability, "it writes content"),
        CapabilityClass::Create => ask(capability, "it makes something new"),
        CapabilityClass::Update => ask(capability, "it changes something"),
        CapabilityClass::Delete => ask(capability, "it removes something"),
        CapabilityClass::Execute => ask(capability, "it runs a program"),
        CapabilityClass::Network => ask(capability, "it reaches out of this computer"),
    }
}

fn allow(capability: &Capability, why: &str) -> Verdict {
    Verdict::Allow { reason: format!("capability {}: {why}", shown(capability)) }
}

fn ask(capability: &Capability, why: &str) -> Verdict {
    Verdict::RequireApproval { reason: format!("capability {}: {why}", shown(capability)) }
}

fn deny(reason: String) -> Verdict {
    Verdict::Deny { code: ErrorCode::PolicyDenied, reason }
}

/// The declared text, short enough for a log line whatever a declaration holds.
fn shown(capability: &Capability) -> String {
    const SHOWN_CHARS: usize = 80;
    let text = capability.as_str();
    let mut short: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq)]
    enum Kind {
        Allow,
        Ask,
        Deny,
    }

    fn kind(declared: &str) -> Kind {
        match decide(&Capability::declared(declared)) {
            Verdict::Allow { reason } => {
                assert!(!reason.is_empty(), "an allowance carries its reason");
                Kind::Allow
            }
            Verdict::RequireApproval { reason } => {
                assert!(!reason.is_empty(), "a question carries its reason");
                Kind::Ask
            }
            Verdict::Deny { code, reason } => {
                assert_eq!(code, ErrorCode::PolicyDenied, "policy denies with its own code");
                assert!(!reason.is_empty(), "a denial carries its reason");
                Kind::Deny
            }
        }
    }

    #[test]
    fn the_suffix_alone_decides() {
        let table = [
            ("file:read", Kind::Allow),
            ("FILE:READ", Kind::Allow),
            ("File:Read", Kind::Allow),
            ("read", Kind::Allow),
            ("list", Kind::Allow),
            ("skill:read", Kind::Allow),
            ("dir:list", Kind::Allow),
            (":read", Kind::Allow),
            ("write:read", Kind::Allow),
            ("a:b:c:list", Kind::Allow),
            ("file:write", Kind::Ask),
            ("memory:write", Kind::Ask),
            ("a:b:write", Kind::Ask),
            ("read:write", Kind::Ask),
            ("file:create", Kind::Ask),
            ("file:update", Kind::Ask),
            ("file:delete", Kind::Ask),
            ("mcp:execute", Kind::Ask),
            ("web:network", Kind::Ask),
            ("web:NETWORK", Kind::Ask),
            ("write", Kind::Ask),
            ("", Kind::Deny),
            (":", Kind::Deny),
            ("file:", Kind::Deny),
            ("read:", Kind::Deny),
            ("file:read ", Kind::Deny),
            (" read", Kind::Deny),
            ("file: read", Kind::Deny),
            ("file:read\n", Kind::Deny),
            ("file:read\0", Kind::Deny),
            ("file\u{ff1a}read", Kind::Deny),
            ("file:r\u{0435}ad", Kind::Deny),
            ("file:\u{ff52}\u{ff45}\u{ff41}\u{ff44}", Kind::Deny),
            ("file:read\u{200b}", Kind::Deny),
            ("file.read", Kind::Deny),
            ("file/read", Kind::Deny),
            ("readonly", Kind::Deny),
            ("file:readonly", Kind::Deny),
            ("file:reads", Kind::Deny),
            ("file:read,write", Kind::Deny),
            ("file:admin", Kind::Deny),
            ("*", Kind::Deny),
            ("file:*", Kind::Deny),
            ("*:read:*", Kind::Deny),
        ];
        for (declared, expected) in table {
            assert_eq!(kind(declared), expected, "capability {declared:?}");
        }
    }

    #[test]
    fn a_tool_without_a_capability_is_denied() {
        let verdict = decide(None);
        assert!(
            matches!(verdict, Verdict::Deny { code: ErrorCode::PolicyDenied, .. }),
            "nothing declared is nothing allowed, got {verdict:?}"
        );
    }

    #[test]
    fn a_hostile_declaration_cannot_flood_the_log() {
        let Verdict::Deny { reason, .. } = decide(&Capability::declared("x\u{202e}\n".repeat(10_000))) else {
            panic!("an unknown capability must be denied");
        };
        assert!(reason.len() < 2_000, "the reason stays short, got {} bytes", reason.len());
        assert!(
            !reason.contains('\n') && !reason.contains('\u{202e}'),
            "control and bidi characters are shown escaped"
        );
    }

    proptest! {
        #[test]
        fn only_read_and_list_run_without_asking(declared in "\\PC{0,24}") {
            let suffix = declared.rsplit(':').next().unwrap_or("").to_lowercase();
            let allowed = kind(&declared) == Kind::Allow;
            prop_assert_eq!(allowed, suffix == "read" || suffix == "list", "capability {:?}", declared);
        }

        #[test]
        fn what_stands_before_the_last_colon_never_matters(prefix in "\\PC{0,16}", suffix in "(read|list|write|create|update|delete|execute|network|other|)") {
            prop_assert_eq!(kind(&format!("{prefix}:{suffix}")), kind(&suffix), "prefix {:?}", prefix);
        }
    }
}
