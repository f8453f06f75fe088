//! All pairs and all triples of blocks of columns, beside features that are in: single precision sorts out, double precision judges
//! what is left.

use crate::control::Limits;
use crate::enumerate::columns::LISTS;
use crate::enumerate::judge::{Judge, Judgement};
use crate::enumerate::panel::{LANES, Panel};
use crate::enumerate::pool::Pool;
use crate::enumerate::sweep::{FAR, Pair, SINGLE, Second, Thirds, sweep};
use crate::error::Result;
use crate::solution::Status;

/// Thirds that are swept together: with the seconds' products of a block they stay near the processor.
const CHUNK: usize = 1024;

/// What the products and pulls of unit columns may be off besides their rounding to single precision; columns that are off by more are
/// looked at in double precision.
pub const ROUGH: f64 = 2e-8;

/// The columns beside a prefix, of length one when it is projected out.
pub struct Leaf {
    /// Positions of the features that are in.
    pub prefix: Vec<u32>,
    /// Positions of the columns; none where they are their own.
    pub positions: Option<Vec<u32>>,
    /// Their pulls, in units of ‖ŷ‖.
    pulls: Vec<f32>,
    /// Their squares: 1, or far below zero where single precision says nothing of a column.
    own: Vec<f32>,
    /// What the prefix explains.
    pub explained: f64,
}

impl Leaf {
    /// UnitColumns of given pulls; those of which nothing is said in single precision have none.
    pub fn new(
        prefix: Vec<u32>,
        positions: Option<Vec<u32>>,
        explained: f64,
        pulls: impl Iterator<Item = Option<f64>>,
    ) -> Self {
        let (pulls, own) = pulls.map(|q| q.map_or((0.0, -FAR), |q| (q as f32, 1.0))).unzip();
        Self { prefix, positions, pulls, own, explained }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.pulls.len()
    }

    fn position(&self, k: usize) -> u32 {
        self.positions.as_ref().map_or(k as u32, |p| p[k])
    }

    fn is_known(&self, k: usize) -> bool {
        self.own[k] > 0.0
    }

    /// The pair of an optional first and a second feature.
    fn pair(&self, first: Option<First<'_>>, j: usize) -> Pair {
        let (error, pull) = (SINGLE + ROUGH, |k: usize| f64::from(self.pulls[k]));
        let mut pair = match first {
            Some(First { a, row, start }) => Pair::new(f64::from(row[j - start]), pull(a), pull(j), error),
            None => Pair::new(0.0, 0.0, pull(j), error),
        };
        if !self.is_known(j) || first.is_some_and(|first| !self.is_known(first.a)) {
            pair.margin = f64::INFINITY;
        }
        pair
    }
}

/// A first feature with its row of products.
#[derive(Debug, Clone, Copy)]
struct First<'f> {
    a: usize,
    row: &'f [f32],
    /// The column of the first product.
    start: usize,
}

/// What a part of the enumeration knows and has found.
pub struct Finder<'f, 'p, 'a> {
    pub judge: &'f Judge<'f, 'p, 'a>,
    /// The best subsets known.
    pub pool: Pool,
    /// UnitColumns taken for combinations of others on the way.
    pub dependent: Vec<Vec<usize>>,
    /// The limit that struck: what is left was not looked at.
    pub stopped: Option<Status>,
    limits: &'f Limits,
    thirds: Thirds,
    largest: Vec<f32>,
}

impl<'f, 'p, 'a> Finder<'f, 'p, 'a> {
    /// Starts from what is known.
    pub fn new(judge: &'f Judge<'f, 'p, 'a>, pool: Pool, limits: &'f Limits) -> Self {
        let (dependent, thirds, largest) = (Vec::new(), Thirds::default(), Vec::new());
        Self { judge, pool, dependent, stopped: None, limits, thirds, largest }
    }

    /// Looks whether a limit has struck.
    pub fn is_stopped(&mut self) -> bool {
        self.stopped = self.stopped.or_else(|| self.limits.stop(0));
        self.stopped.is_some()
    }

    /// Γ̂ = 1 − (P̂ − λ0|S|) / ½‖ŷ‖² (MATH 14.4): what a better subset of a size explains at least, in units of ‖ŷ‖².
    fn wanted(&self, size: usize) -> f64 {
        let fit = self.pool.threshold() - self.judge.price * size as f64;
        // Everything is wanted below zero, and nothing explains more than all.
        (1.0 - fit / self.judge.columns.total).clamp(-1.0, 1.0)
    }

    /// Judges a subset and keeps it if it may be among the best.
    pub fn look(&mut self, members: &[u32]) -> Result<()> {
        match self.judge.judge(members)? {
            Judgement::Independent(candidate) => self.pool.offer(candidate),
            Judgement::Dependent(features) => self.name(features),
        }
        Ok(())
    }

    /// Notes columns that were taken for dependent.
    pub fn name(&mut self, features: Vec<usize>) {
        if self.dependent.len() < LISTS && !self.dependent.contains(&features) {
            self.dependent.push(features);
        }
    }

    /// Every prefix ∪ {a, j, k} with a among the rows of the first panel, j among those of the second, a < j < k (MATH 14.4–14.7).
    pub fn triples(&mut self, leaf: &Leaf, first: &Panel, second: &Panel) -> Result<()> {
        let start = first.rows.start;
        let firsts: Vec<_> = first.rows.clone().map(|a| Some(First { a, row: first.row(a), start })).collect();
        self.all(leaf, &firsts, second)
    }

    /// Every prefix ∪ {j, k} with j among the rows of the panel, j < k.
    pub fn pairs(&mut self, leaf: &Leaf, second: &Panel) -> Result<()> {
        self.all(leaf, &[None], second)
    }

    fn all(&mut self, leaf: &Leaf, firsts: &[Option<First<'_>>], second: &Panel) -> Result<()> {
        if self.is_stopped() {
            return Ok(());
        }
        let (count, start) = (leaf.len(), second.rows.start);
        let beside = |first: &Option<First<'_>>| second.rows.clone().map(|j| leaf.pair(*first, j)).collect();
        let pairs: Vec<Vec<Pair>> = firsts.iter().map(beside).collect();
        for (first, pairs) in firsts.iter().zip(&pairs) {
            let a = first.map(|first| first.a);
            let after = a.map_or(0, |a| a + 1).max(start);
            for j in (after..second.rows.end).filter(|j| pairs[j - start].margin == f64::INFINITY) {
                if self.is_stopped() {
                    return Ok(());
                }
                self.look_at_thirds(leaf, a, j, j + 1..count)?;
            }
        }
        for from in (start..count).step_by(CHUNK) {
            let chunk = from..(from + CHUNK).min(count);
            for (first, pairs) in firsts.iter().zip(&pairs) {
                self.chunk(leaf, *first, pairs, second, chunk.clone())?;
            }
        }
        Ok(())
    }

    /// The thirds of a chunk, beside one first and all seconds of a panel.
    fn chunk(
        &mut self,
        leaf: &Leaf,
        first: Option<First<'_>>,
        pairs: &[Pair],
        second: &Panel,
        chunk: std::ops::Range<usize>,
    ) -> Result<()> {
        let size = leaf.prefix.len() + if first.is_some() { 3 } else { 2 };
        let (wanted, start) = (self.wanted(size) - leaf.explained, second.rows.start);
        let (a, q_a) = (first.map(|f| f.a), first.map_or(0.0, |f| leaf.pulls[f.a]));
        let g = first.map(|f| &f.row[chunk.start - f.start..chunk.end - f.start]);
        self.thirds.fill(g, q_a, &leaf.pulls[chunk.clone()], &leaf.own[chunk.clone()]);
        let after = a.map_or(0, |a| a + 1).max(start);
        let last = second.rows.end.min(chunk.end - 1);
        let js: Vec<usize> = (after..last.max(after)).filter(|j| pairs[j - start].margin < f64::INFINITY).collect();
        let seconds: Vec<Second<'_>> = js
            .iter()
            .map(|&j| {
                let pair = pairs[j - start];
                let from = (j + 1).saturating_sub(chunk.start);
                let products = &second.row(j)[chunk.start - start..chunk.end - start + LANES];
                Second { pair, products, from, beat: (wanted - pair.explained) as f32 }
            })
            .collect();
        sweep(&self.thirds, &seconds, &mut self.largest);
        let found: Vec<(usize, usize)> = (0..js.len())
            .filter(|&i| seconds[i].may_be_beaten(self.largest[i]))
            .flat_map(|i| seconds[i].survivors(&self.thirds).map(move |k| (i, k)))
            .collect();
        for (i, k) in found {
            self.look_at_thirds(leaf, a, js[i], chunk.start + k..chunk.start + k + 1)?;
        }
        Ok(())
    }

    /// Judges two features with each of some thirds.
    fn look_at_thirds(
        &mut self,
        leaf: &Leaf,
        a: Option<usize>,
        j: usize,
        thirds: std::ops::Range<usize>,
    ) -> Result<()> {
        let columns = self.judge.columns;
        let mut members = leaf.prefix.clone();
        members.extend(a.map(|a| leaf.position(a)));
        members.push(leaf.position(j));
        if members.iter().enumerate().any(|(i, &m)| columns.is_copy(m as usize) || columns.repeats(m, &members[..i])) {
            return Ok(());
        }
        for k in thirds.map(|k| leaf.position(k)) {
            if !columns.is_copy(k as usize) && !columns.repeats(k, &members) {
                members.push(k);
                self.look(&members)?;
                members.pop();
            }
        }
        Ok(())
    }
}
