//! Curvature moved between loss and penalty (MATH 11.6), as a node hands it down to those below it: M loses rows and columns there
//! and stays semidefinite.

use serde::{Deserialize, Serialize};

/// What was moved for a node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MovedCurvature {
    /// Of each member of the node it was made for; none where a position is not listed.
    pub by_position: Vec<MemberCurvature>,
}

/// The curvature of one member; a file holds it as four numbers.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(from = "(u32, f64, f64, f64)", into = "(u32, f64, f64, f64)")]
pub struct MemberCurvature {
    /// Its position.
    pub position: u32,
    /// d_j (MATH 11.6).
    pub moved: f64,
    /// σ_j (MATH 11.12).
    pub spare: f64,
    /// θ_j (MATH 11.20).
    pub share: f64,
}

impl From<(u32, f64, f64, f64)> for MemberCurvature {
    fn from((position, moved, spare, share): (u32, f64, f64, f64)) -> Self {
        Self { position, moved, spare, share }
    }
}

impl From<MemberCurvature> for (u32, f64, f64, f64) {
    fn from(one: MemberCurvature) -> Self {
        (one.position, one.moved, one.spare, one.share)
    }
}
