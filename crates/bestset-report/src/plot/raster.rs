//! SVG to PNG.

use super::PlotError;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use std::sync::{Arc, OnceLock};

const REGULAR: &[u8] = include_bytes!("../../assets/Inter-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../assets/Inter-Bold.ttf");
/// Pixels for each unit of the SVG.
const SCALE: f32 = 2.0;

/// The embedded fonts: the same picture on every machine.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    FONTS
        .get_or_init(|| {
            let mut made = Database::new();
            made.load_font_data(REGULAR.to_vec());
            made.load_font_data(BOLD.to_vec());
            made.set_sans_serif_family("Inter");
            Arc::new(made)
        })
        .clone()
}

/// The embedded fonts and those of the system: for scripts that the small font does not have.
fn more_fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    FONTS
        .get_or_init(|| {
            let mut made = Database::clone(&fonts());
            made.load_system_fonts();
            Arc::new(made)
        })
        .clone()
}

/// Whether the embedded font has the letter; the ranges are those of `web/build.mjs`.
fn has(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{17f}' | '\u{370}'..='\u{3ff}' | '\u{2010}'..='\u{203a}' | '\u{2070}'..='\u{209c}'
        | '\u{20ac}' | '\u{2190}'..='\u{2193}' | '\u{2200}'..='\u{22ff}')
}

pub(super) fn png(name: &'static str, svg: &str) -> Result<Vec<u8>, PlotError> {
    let bad = |reason: String| PlotError::Svg { name, reason };
    let fontdb = if svg.chars().all(has) { fonts() } else { more_fonts() };
    let tree = Tree::from_str(svg, &Options { fontdb, ..Options::default() }).map_err(|e| bad(e.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| bad("it has no size".to_owned()))?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| bad("it has no size".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| PlotError::Png { name, reason: e.to_string() })
}
