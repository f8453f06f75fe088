//! What goes into the page besides markup: data, scripts, pictures.

use maud::{Markup, PreEscaped};
use serde::Serialize;

/// The icon of the page, as data: a browser asks for one otherwise.
pub(super) const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect \
    width='32' height='32' rx='8' fill='%233157d5'/%3E%3Cpath d='M9 22V10M16 22v-7M23 22V13' stroke='white' \
    stroke-width='4' stroke-linecap='round'/%3E%3C/svg%3E";

/// The theme that was chosen last time, if any.
pub(super) const THEME: &str =
    "try{var t=localStorage.getItem('bestset-theme');if(t)document.documentElement.dataset.theme=t}catch(e){}";

/// JSON that cannot end a script element, open a comment, or break a line of script.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned());
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            c => safe.push(c),
        }
    }
    safe
}

/// The parts as one script with a scope of its own.
pub(super) fn script(parts: &[&str]) -> String {
    format!("(() => {{\n\"use strict\";\n{}\n}})();", parts.join("\n"))
}

pub(super) fn logo() -> Markup {
    PreEscaped(
        "<svg viewBox=\"0 0 32 32\" width=\"26\" height=\"26\" aria-hidden=\"true\"><rect width=\"32\" height=\"32\" rx=\"8\" \
         class=\"logo-ground\"/><path d=\"M9 22V10M16 22v-7M23 22V13\" class=\"logo-bars\"/></svg>"
            .to_owned(),
    )
}

pub(super) fn theme_icon() -> Markup {
    PreEscaped(
        "<svg viewBox=\"0 0 24 24\" width=\"18\" height=\"18\" aria-hidden=\"true\"><circle cx=\"12\" cy=\"12\" r=\"8.5\" fill=\"none\" \
         stroke=\"currentColor\" stroke-width=\"1.8\"/><path d=\"M12 3.5a8.5 8.5 0 0 1 0 17z\" fill=\"currentColor\"/></svg>"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_leave_its_element() {
        let evil = "</script><script>alert(1)</script><!-- & \u{2028} \"quoted\" 基因";
        let text = json(&evil);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), evil);
    }

    #[test]
    fn nothing_embedded_ends_its_own_element() {
        for part in super::super::SCRIPTS.iter().chain([&super::super::ECHARTS]) {
            assert!(!part.to_lowercase().contains("</script"), "{}", &part[..40]);
        }
        assert!(!super::super::STYLE.to_lowercase().contains("</style"));
    }
}
