//! What the page is made of.

use crate::common;
use bestset_report::Report;

/// Headings, landmarks, figures and tables in their order.
fn outline(html: &str) -> String {
    let body = &html[html.find("<body").unwrap()..html.find("<script type=\"application/json\"").unwrap()];
    let mut lines = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag.split_whitespace().next().unwrap_or("");
        let attribute = |key: &str| {
            let start = tag.find(&format!(" {key}=\""))? + key.len() + 3;
            Some(format!(" {key}={}", &tag[start..start + tag[start..].find('"')?]))
        };
        let kept = matches!(
            name,
            "header"
                | "nav"
                | "main"
                | "section"
                | "footer"
                | "h1"
                | "h2"
                | "h3"
                | "figure"
                | "table"
                | "select"
                | "input"
        ) || attribute("data-chart").is_some()
            || attribute("id").is_some_and(|id| !id.contains("term-"));
        if kept {
            let known: Vec<String> =
                ["id", "role", "aria-label", "aria-labelledby"].iter().filter_map(|k| attribute(k)).collect();
            lines.push(format!("{name}{} {}", known.concat(), text.trim()).trim_end().to_owned());
        }
    }
    lines.join("\n")
}

#[test]
fn structure_of_a_full_page() {
    insta::assert_snapshot!("regression", outline(&common::regression().html()));
    insta::assert_snapshot!("classification", outline(&common::classification().html()));
}

#[test]
fn structure_of_a_bare_page() {
    insta::assert_snapshot!("bare", outline(&common::bare().html()));
    insta::assert_snapshot!("empty", outline(&Report::default().html()));
}

/// The data that the scripts read.
fn data(html: &str) -> serde_json::Value {
    let start = html.find("id=\"report-data\">").unwrap() + "id=\"report-data\">".len();
    let end = start + html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..end]).unwrap()
}

#[test]
fn names_are_text_wherever_they_stand() {
    let html = common::hostile().html();
    assert!(!html.contains("<script>window.hacked"), "a name became a script");
    assert!(!html.contains("<img src=x"), "a name became a picture");
    assert_eq!(html.matches("<script").count(), 4, "theme, data, library, page");
    assert!(html.contains("&lt;script&gt;window.hacked=1&lt;/script&gt;"));
    assert_eq!(data(&html)["path"]["lines"][0]["name"], "<script>window.hacked=1</script>");
}

#[test]
fn only_finite_numbers_reach_the_page() {
    let html = common::extreme().html();
    let json = data(&html).to_string();
    assert!(!json.contains("NaN") && !json.contains("inf"), "{json}");
    assert!(!html[..html.find("id=\"report-data\"").unwrap()].contains("NaN"));
    assert!(html.contains("Not proved"));
}

#[test]
fn a_page_stays_small_whatever_is_asked_of_it() {
    let size = common::regression().html().len();
    assert!(size < 800_000, "{size} bytes");
    let huge = common::huge().html();
    assert!(huge.len() < 1_200_000, "{} bytes", huge.len());
    assert!(huge.contains("2,000 of 200,000 samples are drawn."));
    assert!(huge.contains("The 40 that enter first; 2959 more enter later."), "lines are capped with a note");
    assert!(huge.contains("500 most important of 4,000 features"));
}

#[test]
fn nothing_is_fetched() {
    for (name, report) in common::all() {
        let html = report.html();
        let markup = &html[..html.find("id=\"report-data\"").unwrap()];
        assert!(!markup.contains("src=\"http") && !markup.contains("href=\"http"), "{name}");
        assert!(markup.contains("default-src 'none'"), "{name}");
    }
}

#[test]
fn a_report_survives_a_file() {
    for report in [common::regression(), common::classification()] {
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
    // What is not finite comes back as nothing, and the page says so.
    let odd = serde_json::to_string(&common::extreme()).unwrap();
    let again: Report = serde_json::from_str(&odd).unwrap();
    assert!(again.certificate.gap.is_nan() && again.path.as_ref().unwrap().points[1].objective.is_nan());
    assert!(again.html().contains("Not proved"));
    assert!(serde_json::from_str::<Report>("{}").unwrap().html().contains(" of 0 features"));
}

/// The pages as files, to look at: `cargo test -p bestset-report --test report -- --ignored` and see `target/tmp/pages`.
#[test]
#[ignore = "writes files to look at"]
fn write_pages() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, report) in common::all() {
        std::fs::write(folder.join(format!("{name}.html")), report.html()).unwrap();
    }
}
