//! What commands print: tables for people, JSON for machines. Style is stripped where there is no terminal.

pub mod answer;
pub mod certificate;
pub mod features;
pub mod trace;

mod summary;

pub use crate::numbers::{above, below_objective, number, percent, percent_above, seconds, short};
pub use summary::Summary;

use crate::args::Terms;
use anstyle::{AnsiColor, Style};
use bestset::Loss;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use std::io::{self, Write};

/// Style of headings.
const HEADING: Style = Style::new().bold();
/// Style of the word `error`.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// One rule below the header, no other lines.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Writes a heading on a line of its own.
pub fn heading(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "{HEADING}{title}{HEADING:#}")
}

/// A table whose first column is aligned left and the others right.
pub fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(RULED);
    if !header.is_empty() {
        table.set_header(header.to_vec());
    }
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// The problem in a phrase.
pub fn describe(terms: &Terms) -> String {
    let Terms { loss, lambda0, lambda1, lambda2, k } = terms;
    let loss = match loss {
        Loss::Huber { delta } => format!("huber loss with delta {}", short(*delta)),
        Loss::NegativeBinomial { theta } => format!("negative_binomial loss with theta {theta}"),
        Loss::Cox { ties } => format!("cox partial likelihood, {} ties", ties.name()),
        other => format!("{} loss", other.name()),
    };
    let size = k.map_or(String::new(), |k| format!(", at most {k} features"));
    let (lambda0, lambda1, lambda2) = (short(*lambda0), short(*lambda1), short(*lambda2));
    let price = if k.is_some() && lambda0 == "0" { String::new() } else { format!(", lambda0 {lambda0}") };
    format!("{loss}{price}, lambda1 {lambda1}, lambda2 {lambda2}{size}")
}

/// What the share explained is called: of squares or of the deviance.
pub fn share(loss: bestset::Loss) -> &'static str {
    if loss.is_quadratic() { "R²" } else { "D²" }
}
