//! Panels in rows and columns as SVG, in colours that colour-blind readers tell apart (Okabe & Ito) and with markers of
//! their own.

use crate::Result;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const PANEL: (u32, u32) = (268, 226);
const LEFT: u32 = 34;
const TOP: u32 = 76;
const INK: RGBColor = RGBColor(30, 34, 42);
const MUTED: RGBColor = RGBColor(84, 92, 106);
const GRID: RGBColor = RGBColor(226, 230, 236);

/// Okabe & Ito without their yellow, which is lost on white.
const COLOURS: [RGBColor; 6] = [
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(213, 94, 0),
];

/// A point with its quartiles; hollow where a time cap ended runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Position on the horizontal axis, in ticks.
    pub x: usize,
    /// Median.
    pub y: f64,
    /// First and third quartile.
    pub quartiles: (f64, f64),
    /// Whether a cap struck.
    pub hollow: bool,
}

/// One panel.
#[derive(Debug, Clone)]
pub struct Panel {
    /// What is drawn.
    pub title: String,
    /// Words below the horizontal axis.
    pub axis: &'static str,
    /// Words at its ticks.
    pub ticks: Vec<String>,
    /// Logarithms on the vertical axis; values at or below this are drawn there.
    pub log_floor: Option<f64>,
    /// Points of each series, in the order of the key.
    pub series: Vec<Vec<Point>>,
}

/// Rows of panels, with a name each, below a title and one key.
pub struct Sheet<'a> {
    /// Heading.
    pub title: &'a str,
    /// A line below the key.
    pub note: &'a str,
    /// Names of the series; the position says which colour and marker.
    pub key: Vec<(usize, &'a str)>,
    /// Rows.
    pub rows: Vec<(String, Vec<Panel>)>,
}

type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Sheet<'_> {
    /// The picture.
    pub fn svg(&self) -> Result<String> {
        let columns = self.rows.iter().map(|r| r.1.len()).max().unwrap_or(0) as u32;
        let size = ((LEFT + columns * PANEL.0).max(760) + 8, TOP + self.rows.len() as u32 * PANEL.1 + 6);
        let mut svg = String::new();
        {
            let paper = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            paper.fill(&WHITE)?;
            self.head(&paper)?;
            for (i, (name, panels)) in self.rows.iter().enumerate() {
                let top = TOP + i as u32 * PANEL.1;
                let style = TextStyle::from(font(14, true)).color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
                let style = style.transform(FontTransform::Rotate270);
                paper.draw(&Text::new(name.clone(), (16, (top + PANEL.1 / 2) as i32), style))?;
                for (j, panel) in panels.iter().enumerate() {
                    let area = paper.clone().shrink((LEFT + j as u32 * PANEL.0, top), PANEL);
                    self.panel(&area, panel)?;
                }
            }
            paper.present()?;
        }
        Ok(described(&svg, self.title, self.note))
    }

    fn head(&self, paper: &Paper<'_>) -> Result<()> {
        write(paper, self.title, (12, 18), font(17, true), INK)?;
        let mut left = 16;
        for (style, name) in &self.key {
            let y = 42;
            draw_line(paper, *style, vec![(left, y), (left + 26, y)])?;
            marker(paper, *style, (left + 13, y), false)?;
            write(paper, name, (left + 33, y), font(13, false), INK)?;
            left += 58 + 7 * name.chars().count() as i32;
        }
        write(paper, self.note, (12, 63), font(12, false), MUTED)
    }

    fn panel(&self, area: &Paper<'_>, panel: &Panel) -> Result<()> {
        let scale = Scale::new(panel);
        let across = -0.45..panel.ticks.len() as f64 - 0.55;
        let mut chart = ChartBuilder::on(area)
            .margin(4)
            .caption(&panel.title, font(13, true).color(&INK))
            .x_label_area_size(36)
            .y_label_area_size(50)
            .build_cartesian_2d(across, scale.range.0..scale.range.1)?;
        // Words at every other tick where there are too many for the room.
        let every = if panel.ticks.len() > 8 { 2 } else { 1 };
        let tick = |x: &f64| match (x - x.round()).abs() < 1e-6 && (x.round() as usize).is_multiple_of(every) {
            true => panel.ticks.get(x.round() as usize).cloned().unwrap_or_default(),
            false => String::new(),
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(MUTED)
            .x_labels(panel.ticks.len() + 1)
            .y_labels(scale.labels())
            .x_label_formatter(&tick)
            .y_label_formatter(&|y: &f64| scale.label(*y))
            .x_desc(panel.axis)
            .label_style(font(11, false).color(&MUTED))
            .axis_desc_style(font(11, false).color(&MUTED))
            .draw()?;
        let plane = chart.plotting_area();
        for (i, ((style, _), points)) in self.key.iter().zip(&panel.series).enumerate() {
            // Side by side, so that equal values do not hide one another.
            let shift = (i as f64 - 0.5 * (self.key.len() - 1) as f64) * 0.05;
            let at = |x: usize, y: f64| plane.map_coordinate(&(x as f64 + shift, scale.of(y)));
            let known: Vec<&Point> = points.iter().filter(|p| !p.y.is_nan()).collect();
            let line: Vec<(i32, i32)> = known.iter().map(|p| at(p.x, p.y)).collect();
            let base = area.strip_coord_spec();
            let offset = base.get_base_pixel();
            let local = |(x, y): (i32, i32)| (x - offset.0, y - offset.1);
            draw_line(&base, *style, line.iter().map(|p| local(*p)).collect())?;
            for (point, centre) in known.iter().zip(&line) {
                let (low, high) = (at(point.x, point.quartiles.0), at(point.x, point.quartiles.1));
                base.draw(&PathElement::new([local(low), local(high)], colour(*style).mix(0.6).stroke_width(1)))?;
                marker(&base, *style, local(*centre), point.hollow)?;
            }
        }
        Ok(())
    }
}

/// Vertical axis: values or their logarithms.
struct Scale {
    floor: Option<f64>,
    range: (f64, f64),
}

impl Scale {
    fn new(panel: &Panel) -> Self {
        let mut scale = Self { floor: panel.log_floor, range: (0.0, 1.0) };
        let values = panel.series.iter().flatten().flat_map(|p| [p.y, p.quartiles.0, p.quartiles.1]);
        let shown: Vec<f64> = values.filter(|v| v.is_finite()).map(|v| scale.of(v)).collect();
        let (low, high) = shown.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        if low <= high {
            scale.range = match scale.floor {
                Some(_) => (low.floor() - 0.15, (high + 0.02).ceil().max(low.floor() + 1.0) + 0.15),
                None => {
                    let room = 0.08 * (high - low).max(0.02 * high.abs()).max(1e-9);
                    (if low >= 0.0 && low < 0.5 * high { -0.03 * high } else { low - room }, high + room)
                }
            };
        }
        scale
    }

    fn of(&self, value: f64) -> f64 {
        match self.floor {
            Some(floor) => value.max(floor).log10(),
            None => value,
        }
    }

    fn labels(&self) -> usize {
        match self.floor {
            Some(_) => (self.range.1 - self.range.0).round() as usize + 2,
            None => 6,
        }
    }

    fn label(&self, at: f64) -> String {
        let whole = (at - at.round()).abs() < 1e-6;
        let every = if self.range.1 - self.range.0 > 7.0 { 2 } else { 1 };
        match self.floor {
            Some(_) if !whole || (at.round() as i32).rem_euclid(every) != 0 => String::new(),
            Some(floor) if at.round() <= floor.log10().round() && floor < 1e-3 => {
                format!("≤ {}", power(at.round() as i32))
            }
            Some(_) => power(at.round() as i32),
            None => format!("{}", (at * 1e6).round() / 1e6),
        }
    }
}

fn power(exponent: i32) -> String {
    match exponent {
        -2..=4 => format!("{}", 10f64.powi(exponent)),
        _ => {
            let raised = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize).unwrap_or('⁻');
            let digits = exponent.abs().to_string().chars().map(raised).collect::<String>();
            format!("10{}{digits}", if exponent < 0 { "⁻" } else { "" })
        }
    }
}

/// Styles from here on are dashed, with a smaller marker: other readings of the algorithms with styles 2 and 3.
const DASHED: usize = COLOURS.len();

/// The style whose colour and marker this one has.
fn base(style: usize) -> usize {
    if style < DASHED { style } else { style - DASHED + 2 }
}

fn colour(style: usize) -> RGBColor {
    COLOURS[base(style)]
}

/// A line through the points; the default solver's is thick and black.
fn draw_line(paper: &Paper<'_>, style: usize, points: Vec<(i32, i32)>) -> Result<()> {
    let width = if style == 4 { 3 } else { 2 };
    if style < DASHED {
        paper.draw(&PathElement::new(points, colour(style).stroke_width(width)))?;
    } else {
        paper.draw(&DashedPathElement::new(points, 5, 4, colour(style).stroke_width(1)))?;
    }
    Ok(())
}

fn marker(paper: &Paper<'_>, style: usize, at: (i32, i32), hollow: bool) -> Result<()> {
    let (x, y) = at;
    let r = if style < DASHED { 4 } else { 3 };
    let corners: Vec<(i32, i32)> = match base(style) {
        0 => vec![(x, y - r - 1), (x + r + 1, y + r), (x - r - 1, y + r)],
        1 => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
        2 => vec![(x, y - r - 1), (x + r + 1, y), (x, y + r + 1), (x - r - 1, y)],
        3 => vec![(x, y + r + 1), (x + r + 1, y - r), (x - r - 1, y - r)],
        _ => (0..12)
            .map(|k| f64::from(k) * std::f64::consts::TAU / 12.0)
            .map(|t| (x + (4.4 * t.cos()).round() as i32, y + (4.4 * t.sin()).round() as i32))
            .collect(),
    };
    let inside = if hollow { WHITE } else { colour(style) };
    paper.draw(&Polygon::new(corners.clone(), inside.filled()))?;
    let closed: Vec<(i32, i32)> = corners.iter().chain(corners.first()).copied().collect();
    paper.draw(&PathElement::new(closed, colour(style).stroke_width(if style < DASHED { 2 } else { 1 })))?;
    Ok(())
}

/// The SVG backend divides sizes by 1.24.
fn font(size: u32, bold: bool) -> FontDesc<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    ("sans-serif", f64::from(size) * 1.24, style).into_font()
}

fn write(paper: &Paper<'_>, text: &str, at: (i32, i32), font: FontDesc<'_>, colour: RGBColor) -> Result<()> {
    let style = TextStyle::from(font).color(&colour).pos(Pos::new(HPos::Left, VPos::Center));
    paper.draw(&Text::new(text.to_owned(), at, style))?;
    Ok(())
}

/// Names the picture for those who do not see it.
fn described(svg: &str, title: &str, note: &str) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let inside = format!("<title>{}</title><desc>{}</desc>", escape(title), escape(note));
    match svg.find('>') {
        Some(end) => format!("{} role=\"img\">{inside}{}", &svg[..end], &svg[end + 1..]),
        None => svg.to_owned(),
    }
}
