//! Paper, axes and pens for all plots.

use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// In pixels: the width of a page's text.
pub(super) const WIDTH: u32 = 960;
const FONT: &str = "Inter, system-ui, sans-serif";
pub(super) const INK: RGBColor = RGBColor(21, 26, 36);
pub(super) const MUTED: RGBColor = RGBColor(82, 92, 109);
const GRID: RGBColor = RGBColor(226, 230, 238);
pub(super) const ACCENT: RGBColor = RGBColor(49, 87, 213);
pub(super) const OBJECTIVE: RGBColor = RGBColor(184, 72, 15);
pub(super) const BOUND: RGBColor = RGBColor(11, 116, 104);
pub(super) const UP: RGBColor = RGBColor(47, 95, 208);
pub(super) const DOWN: RGBColor = RGBColor(194, 87, 12);
pub(super) const HUES: [RGBColor; 8] = [
    ACCENT,
    DOWN,
    BOUND,
    RGBColor(163, 35, 125),
    RGBColor(109, 82, 0),
    RGBColor(91, 63, 196),
    RGBColor(43, 122, 31),
    RGBColor(179, 38, 30),
];

pub(super) type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
pub(super) type Outcome = Result<(), Box<dyn std::error::Error>>;
pub(super) type Points = Vec<(f64, f64)>;

/// An axis.
pub(super) struct Axis<'f> {
    pub name: &'f str,
    pub range: (f64, f64),
    /// The words at the ticks; `None` for an axis without.
    pub label: Option<&'f dyn Fn(f64) -> String>,
}

/// A plot before its data.
pub(super) struct Frame<'f> {
    pub title: &'f str,
    /// A line below the title.
    pub note: String,
    pub keys: Vec<(RGBColor, String)>,
    pub x: Axis<'f>,
    pub y: Axis<'f>,
    pub height: u32,
    /// Room for words on the left and on the right.
    pub sides: (u32, u32),
}

impl<'f> Frame<'f> {
    pub fn new(title: &'f str, note: String, x: Axis<'f>, y: Axis<'f>) -> Self {
        Self { title, note, keys: Vec::new(), x, y, height: 560, sides: (84, 40) }
    }

    pub fn keys(self, keys: &[(RGBColor, &str)]) -> Self {
        Self { keys: keys.iter().map(|k| (k.0, k.1.to_owned())).collect(), ..self }
    }

    /// The picture; `None` when a range has no width that can be drawn.
    pub fn draw(self, body: impl FnOnce(&Paper<'_>, &mut Chart<'_, '_>) -> Outcome) -> Option<String> {
        let known = |r: (f64, f64)| (r.1 - r.0).is_finite() && r.1 > r.0;
        if !known(self.x.range) || !known(self.y.range) {
            return None;
        }
        let mut svg = String::new();
        // Writing into a string cannot fail; a plot that cannot be laid out is left out.
        self.fill(&mut svg, body).ok()?;
        Some(svg)
    }

    fn fill(&self, svg: &mut String, body: impl FnOnce(&Paper<'_>, &mut Chart<'_, '_>) -> Outcome) -> Outcome {
        let paper = SVGBackend::with_string(svg, (WIDTH, self.height)).into_drawing_area();
        paper.fill(&WHITE)?;
        write(&paper, self.title, (28, 34), 21, INK, HPos::Left, true)?;
        write(&paper, &cut(&self.note, 120), (28, 60), 13, MUTED, HPos::Left, false)?;
        let mut left = 28;
        for (colour, text) in &self.keys {
            let text = cut(text, 40);
            paper.draw(&Rectangle::new([(left, 78), (left + 12, 90)], colour.filled()))?;
            write(&paper, &text, (left + 18, 84), 13, INK, HPos::Left, false)?;
            left += 42 + 7 * text.chars().count() as i32;
        }
        let mut chart = ChartBuilder::on(&paper)
            .margin_top(if self.keys.is_empty() { 96 } else { 118 })
            .margin_left(16)
            .margin_right(self.sides.1)
            .margin_bottom(14)
            .x_label_area_size(52)
            .y_label_area_size(self.sides.0)
            .build_cartesian_2d(self.x.range.0..self.x.range.1, self.y.range.0..self.y.range.1)?;
        self.mesh(&mut chart)?;
        body(&paper, &mut chart)?;
        paper.present()?;
        Ok(())
    }

    fn mesh(&self, chart: &mut Chart<'_, '_>) -> Outcome {
        let none = |_: f64| String::new();
        let words = |axis: &Axis<'f>| axis.label.unwrap_or(&none);
        let (x, y) = (words(&self.x), words(&self.y));
        let (x, y) = (|v: &f64| x(*v), |v: &f64| y(*v));
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(GRID)
            .x_labels(9)
            .y_labels(if self.y.label.is_some() { 7 } else { 0 })
            .x_label_formatter(&x)
            .y_label_formatter(&y)
            .x_desc(self.x.name)
            .y_desc(self.y.name)
            .label_style(font(12, false).color(&MUTED))
            .axis_desc_style(font(13, false).color(&MUTED));
        if self.y.label.is_none() {
            mesh.disable_y_mesh();
        }
        if self.x.label.is_none() {
            mesh.x_labels(0);
        }
        mesh.draw()?;
        Ok(())
    }
}

/// The SVG backend divides sizes by 1.24.
fn font(size: u32, bold: bool) -> FontDesc<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    (FONT, f64::from(size) * 1.24, style).into_font()
}

/// Text at a place in pixels, centred on it vertically.
pub(super) fn write(
    paper: &Paper<'_>,
    text: &str,
    at: (i32, i32),
    size: u32,
    colour: RGBColor,
    side: HPos,
    bold: bool,
) -> Outcome {
    let style = TextStyle::from(font(size, bold)).color(&colour).pos(Pos::new(side, VPos::Center));
    paper.draw(&Text::new(clean(text), at, style))?;
    Ok(())
}

/// A vertical line with a word above it.
pub(super) fn upright(
    paper: &Paper<'_>,
    chart: &mut Chart<'_, '_>,
    x: f64,
    word: &str,
    colour: RGBColor,
    side: HPos,
) -> Outcome {
    let range = chart.as_coord_spec().get_y_range();
    let line = [(x, range.start), (x, range.end)];
    chart.draw_series(DashedLineSeries::new(line, 5, 4, colour.stroke_width(1)))?;
    let (left, top) = chart.backend_coord(&(x, range.end));
    let shift = if matches!(side, HPos::Left) { 4 } else { -4 };
    write(paper, word, (left + shift, top - 9), 12, colour, side, true)
}

/// A dashed guide.
pub(super) fn guide(chart: &mut Chart<'_, '_>, from: (f64, f64), to: (f64, f64)) -> Outcome {
    chart.draw_series(DashedLineSeries::new([from, to], 6, 5, MUTED.stroke_width(1)))?;
    Ok(())
}

/// A band between two lines over the same places.
pub(super) fn band(chart: &mut Chart<'_, '_>, lower: &[(f64, f64)], upper: &[(f64, f64)], colour: RGBColor) -> Outcome {
    let around: Points = lower.iter().chain(upper.iter().rev()).copied().collect();
    if around.len() > 2 {
        chart.draw_series(std::iter::once(Polygon::new(around, colour.mix(0.15).filled())))?;
    }
    Ok(())
}

/// The points at which both are known.
pub(super) fn zip(xs: &[Option<f64>], ys: &[Option<f64>]) -> Points {
    xs.iter().zip(ys).filter_map(|(x, y)| x.zip(*y)).collect()
}

/// From the least to the largest with a little room, never without width.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .into_iter()
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |r, v| (r.0.min(v), r.1.max(v)));
    if low > high {
        return (0.0, 1.0);
    }
    // A width that rounding swallows would leave no room for ticks.
    let least = 1e-6 * low.abs().max(high.abs());
    let room = (0.05 * (high - low)).max(least);
    let room = if room > 0.0 { room } else { 1.0 };
    (low - room, high + room)
}

/// At most so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Without characters that XML cannot hold.
pub(super) fn clean(text: &str) -> String {
    let allowed = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(allowed).collect()
}

/// The words of an axis of numbers.
pub(super) fn plain(value: f64) -> String {
    crate::number::number(value, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_a_width_that_rounding_leaves() {
        assert_eq!(range([5.0, 5.0]), (5.0 - 5e-6, 5.0 + 5e-6));
        assert_eq!(range([0.0]), (-1.0, 1.0));
        assert_eq!(range([f64::NAN, f64::INFINITY]), (0.0, 1.0));
        let (low, high) = range([1e16, 1e16 + 2.0]);
        assert!(high - low > 1e9, "ticks need room");
        assert_eq!(range([0.0, 1.0, f64::NAN]), (-0.05, 1.05));
    }

    #[test]
    fn long_and_odd_names_are_cut_and_cleaned() {
        assert_eq!((cut("基因基因基因", 4), cut("gene", 4)), ("基因基…".to_owned(), "gene".to_owned()));
        assert_eq!(clean("a\u{0}b\u{1b}\nc\u{ffff}"), "abc");
    }
}
