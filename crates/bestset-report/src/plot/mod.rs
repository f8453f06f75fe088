//! The plots of a report as files: SVG by plotters, PNG by resvg with a font of our own.

mod canvas;
mod choice;
mod classes;
mod fit;
mod model;
mod proof;
mod raster;
mod scores;
mod survival;

use crate::Report;
use crate::series::Series;

/// A picture could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The SVG is not one that can be drawn.
    #[error("the plot {name} could not be drawn: {reason}")]
    Svg {
        /// Which plot.
        name: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The pixels could not be written as PNG.
    #[error("the plot {name} could not be written as PNG: {reason}")]
    Png {
        /// Which plot.
        name: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// One plot of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// A short name fit for a file, for instance `coefficient-path`.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// What it shows, in words: the text alternative.
    pub description: String,
    svg: String,
}

impl Plot {
    /// `None` when there is nothing to draw.
    fn new(name: &'static str, title: &str, description: String, svg: Option<String>) -> Option<Self> {
        let svg = described(&svg?, title, &description);
        Some(Self { name, title: title.to_owned(), description, svg })
    }

    /// The picture as SVG, with its title and description inside.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The picture as PNG, twice as many pixels as the SVG has units.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        raster::png(self.name, &self.svg)
    }
}

/// Names the picture for those who do not see it.
fn described(svg: &str, title: &str, description: &str) -> String {
    let escape = |text: &str| canvas::clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let inside = format!("<title>{}</title><desc>{}</desc>", escape(title), escape(description));
    match svg.find('>') {
        Some(end) => format!("{} role=\"img\">{inside}{}", &svg[..end], &svg[end + 1..]),
        None => svg.to_owned(),
    }
}

impl Report {
    /// The plots for which there is something to show.
    ///
    /// ```
    /// use bestset_report::{Model, Report, Term};
    ///
    /// let model = Model { terms: vec![Term::new("age", 0.7), Term::new("salt", -1.9)], ..Model::default() };
    /// let plots = Report { model, ..Report::default() }.plots();
    /// assert_eq!(plots[0].name, "coefficients");
    /// assert!(plots[0].svg().starts_with("<svg") && plots[0].png()?.starts_with(b"\x89PNG"));
    /// # Ok::<(), bestset_report::PlotError>(())
    /// ```
    pub fn plots(&self) -> Vec<Plot> {
        let series = Series::new(self);
        let mut made = vec![model::coefficients(&series, !self.data.labels.is_empty()), model::screening(self)];
        made.push(series.trace.as_ref().and_then(proof::trace));
        made.push(series.cv.as_ref().and_then(scores::scores));
        if let Some(path) = &series.path {
            made.extend([choice::coefficients(path), choice::support(path), proof::path(path)]);
            made.extend(path.criteria.first().map(|criterion| choice::criterion(path, criterion)));
        }
        made.push(series.subsets.as_ref().and_then(proof::subsets));
        if let Some(fit) = &series.regression {
            made.extend([fit::observed(fit), fit::residuals(fit), fit::histogram(fit), fit::quantiles(fit)]);
        }
        if let Some(fit) = &series.classification {
            made.extend([fit::roc(fit), fit::scores(fit, &series.classes), fit::calibration(fit)]);
        }
        made.extend(series.many.as_ref().map(classes::roc));
        made.extend(series.survival.as_ref().map(survival::survival));
        made.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::*;

    fn full(name: &str) -> Report {
        let point = |k: usize| PathPoint {
            lambda0: 0.5f64.powi(k as i32),
            size: k,
            objective: 10.0 / (1.0 + k as f64),
            lower_bound: 9.0 / (1.0 + k as f64),
            coefficients: (0..k).map(|j| (j, 1.0 - 0.3 * j as f64)).collect(),
            ..PathPoint::default()
        };
        let points: Vec<PathPoint> = (0..6).map(point).collect();
        let scored = |p: &PathPoint| CvPoint {
            lambda0: p.lambda0,
            lambda2: 0.0,
            size: p.size,
            mean: p.objective,
            standard_error: 0.3,
        };
        let cv =
            CrossValidation { points: points.iter().map(scored).collect(), best: 4, one_se: 3, ..Default::default() };
        let features = (0..6).map(|j| format!("{name}{j}")).collect();
        let criteria =
            vec![Criterion { name: name.into(), higher_is_better: false, values: vec![3.0, 2.0, 1.0, 2.0, 3.0, 4.0] }];
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * i % 17)).collect();
        let fitted: Vec<f64> = values.iter().map(|v| 0.8 * v + 1.0).collect();
        Report {
            model: Model {
                intercept: None,
                intercepts: Vec::new(),
                terms: vec![Term::new(name, 2.0), Term::new("b", -1.0)],
            },
            certificate: Certificate::new(8.0, 7.0, "converged", false),
            trace: (1..9)
                .map(|k| TraceRow { seconds: 0.1 * f64::from(k), objective: 9.0, lower_bound: f64::from(k) })
                .collect(),
            path: Some(Path { features, points, criteria, chosen: Some(3), ..Path::default() }),
            cv: Some(cv),
            screening: Some(Screening {
                features: 99,
                rules: vec![Rule { name: name.into(), count: 90, removes: true, ..Rule::default() }],
                selected: 2,
            }),
            subsets: (1..5)
                .map(|size| Subset { size, objective: 9.0 - size as f64, lower_bound: 3.0, ..Subset::default() })
                .collect(),
            diagnostics: Some(Diagnostics::Regression(Regression::new(&values, &fitted))),
            ..Report::default()
        }
    }

    #[test]
    fn every_plot_is_there_and_can_be_drawn() {
        let plots = full("gene").plots();
        let names: Vec<&str> = plots.iter().map(|p| p.name).collect();
        let expected = [
            "coefficients",
            "screening",
            "certificate",
            "cross-validation",
            "coefficient-path",
            "support",
            "path-certificate",
            "criterion",
            "subsets",
            "observed-predicted",
            "residuals",
            "residual-histogram",
            "residual-quantiles",
        ];
        assert_eq!(names, expected);
        for plot in &plots {
            assert!(plot.png().unwrap().len() > 5_000, "{}", plot.name);
            assert!(!plot.description.is_empty() && plot.svg().contains("<desc>"), "{}", plot.name);
        }
        let labels: Vec<bool> = (0..80).map(|i| i % 3 == 0).collect();
        let scores: Vec<f64> = (0..80).map(|i| f64::from(i % 7) / 7.0).collect();
        let fit = Classification::from_probabilities(&labels, &scores);
        let report = Report { diagnostics: Some(Diagnostics::Classification(fit)), ..Report::default() };
        let names: Vec<&str> = report.plots().iter().map(|p| p.name).collect();
        assert_eq!(names, ["roc", "scores", "calibration"]);
    }

    #[test]
    fn names_cannot_break_a_picture() {
        let evil = format!("<script>\"'&\u{0}\u{1b}\u{ffff} 基因 {}", "long ".repeat(60));
        for plot in full(&evil).plots() {
            assert!(!plot.svg().contains("<script"), "{}", plot.name);
            plot.png().unwrap();
        }
    }

    #[test]
    fn nothing_to_draw_is_no_plot_and_extreme_numbers_are_no_trouble() {
        assert!(Report::default().plots().is_empty());
        for value in [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 0.0, 1e16, -1e300] {
            let model = Model {
                intercept: None,
                intercepts: Vec::new(),
                terms: vec![Term::new("a", value), Term::new("b", -value)],
            };
            let (y, u) = ([value, value, 1.0, value + 2.0], [value, 1.0, value, value]);
            let trace = [0.0, 1.0].map(|seconds| TraceRow { seconds, objective: value, lower_bound: value }).to_vec();
            let diagnostics = Some(Diagnostics::Regression(Regression::new(&y, &u)));
            for plot in (Report { model, trace, diagnostics, ..Report::default() }).plots() {
                assert!(!plot.svg().contains("NaN") && !plot.svg().contains("inf"), "{} {value}", plot.name);
                plot.png().unwrap();
            }
        }
    }
}
