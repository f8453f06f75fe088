//! An unfinished file read again: the families that its records leave open, to go on from. What it says is believed here, as the checker
//! will look at all of it.

use super::coherent::Discount;
use super::ground::{OpenNode, ProofTree};
use crate::error::Result;
use crate::exact::node::moved::MemberCurvature;
use crate::exact::node::{Choice, MovedCurvature};
use crate::solution::Coefficients;
use std::sync::Arc;

/// What the records leave open.
pub(super) struct Replayed {
    /// The families, the one that is looked at last.
    open: Vec<OpenFamily>,
    /// Where the last whole record ends.
    pub end: usize,
    /// What coherence left, if it was asked.
    pub discount: Option<Discount>,
}

/// A family of subsets with what the last records said of it.
#[derive(Clone)]
struct OpenFamily {
    choices: Vec<Choice>,
    lemma: Option<Arc<Vec<(usize, f64)>>>,
    beta: Vec<(usize, f64)>,
    price: f64,
}

/// The bytes of records; `None` where they end before a record does, or make no sense.
struct Cursor<'b> {
    bytes: &'b [u8],
    place: usize,
    p: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.place)?;
        self.place += 1;
        Some(byte)
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.byte()? == 1)
    }

    fn whole(&mut self) -> Option<usize> {
        let mut value = 0;
        for shift in (0..42).step_by(7) {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn real(&mut self) -> Option<f64> {
        let bytes = self.bytes.get(self.place..self.place + 8)?;
        self.place += 8;
        Some(f64::from_le_bytes(bytes.try_into().ok()?))
    }

    fn features(&mut self) -> Option<Vec<usize>> {
        let mut last = 0;
        let mut list = Vec::new();
        for _ in 0..self.whole()? {
            last += self.whole()?;
            list.push(last);
        }
        list.last().is_none_or(|j| *j < self.p).then_some(list)
    }

    fn sparse(&mut self) -> Option<Vec<(usize, f64)>> {
        self.features()?.into_iter().map(|j| Some((j, self.real()?))).collect()
    }
}

/// Follows the records as far as they are whole; `None` where there are none, or where they are no walk through a tree.
pub(super) fn replay(bytes: &[u8], choices: Vec<Choice>, size: Option<usize>) -> Option<Replayed> {
    let mut from = Cursor { bytes, place: 0, p: choices.len() };
    let mut open = vec![OpenFamily { choices, lemma: None, beta: Vec::new(), price: 0.0 }];
    let (mut end, mut discount) = (0, None);
    while let Some(record) = from.byte() {
        let Some(before) = open.last().cloned() else { break };
        if record == 9 {
            let Some(found) = discounted(&mut from) else { break };
            // Without a discount nothing is left.
            if found.by == 0.0 {
                open.clear();
            }
            (discount, end) = (Some(found).filter(|d| d.by > 0.0), from.place);
            continue;
        }
        if step(record, &mut from, &mut open, size).is_none() {
            open.push(before);
            break;
        }
        end = from.place;
    }
    (end > 0).then_some(Replayed { open, end, discount })
}

/// A COHERENCE; `None` where it is not whole.
fn discounted(from: &mut Cursor<'_>) -> Option<Discount> {
    let inside: Vec<usize> = from.sparse()?.into_iter().map(|c| c.0).collect();
    inside.iter().try_for_each(|_| from.real().map(|_| ()))?;
    Some(Discount { inside, added: from.whole()?, by: from.real()? })
}

/// One record; `None` where it is not whole, or not possible.
fn step(record: u8, from: &mut Cursor<'_>, open: &mut Vec<OpenFamily>, size: Option<usize>) -> Option<()> {
    let mut family = open.pop()?;
    match record {
        1 => {
            let (j, in_first) = (from.whole()?, from.flag()?);
            let mut other = family.clone();
            let sides = if in_first { (Choice::In, Choice::Out) } else { (Choice::Out, Choice::In) };
            (*family.choices.get_mut(j)?, *other.choices.get_mut(j)?) = sides;
            open.extend([other, family]);
        }
        2 => {
            (family.beta, _, family.price) = (from.sparse()?, from.flag()?, from.real()?);
            if from.flag()? {
                return Some(());
            }
            let (inside, are_kept, listed) = (from.features()?, from.flag()?, from.features()?);
            let is_out = |j: usize| listed.binary_search(&j).is_ok() != are_kept;
            for (j, choice) in family.choices.iter_mut().enumerate().filter(|c| *c.1 == Choice::Free) {
                match inside.binary_search(&j).is_ok() {
                    true => *choice = Choice::In,
                    false if is_out(j) => *choice = Choice::Out,
                    false => {}
                }
            }
            open.push(family);
        }
        3 => {
            family.lemma = Some(Arc::new(from.sparse()?));
            open.push(family);
        }
        4 => {
            let inside = family.choices.iter().filter(|c| **c == Choice::In).count();
            if size.is_some_and(|k| inside > k) {
                return Some(());
            }
            family.choices.iter_mut().filter(|c| **c == Choice::Free).for_each(|c| *c = Choice::Out);
            open.push(family);
        }
        5 | 8 | 10 => {}
        11 => {
            from.whole()?;
            from.sparse()?;
            from.flag()?;
            from.real()?;
        }
        7 => {
            if from.flag()? {
                return Some(());
            }
            for j in from.features()? {
                *family.choices.get_mut(j)? = Choice::In;
            }
            open.push(family);
        }
        _ => return None,
    }
    Some(())
}

impl ProofTree<'_, '_, '_> {
    /// The nodes that an unfinished file leaves open.
    pub(super) fn restore(&mut self, replayed: Replayed) -> Result<Vec<OpenNode>> {
        let is_member = |j: &usize| replayed.open.iter().any(|f| f.choices[*j] != Choice::Out);
        let near: Vec<usize> = (0..self.ground.setting.problem.ncols()).filter(is_member).collect();
        self.bring_near(&near)?;
        replayed.open.into_iter().map(|family| self.reopen(family)).collect()
    }

    fn reopen(&mut self, family: OpenFamily) -> Result<OpenNode> {
        let OpenFamily { choices, lemma, beta, price } = family;
        let features: Vec<usize> = (0..choices.len()).filter(|&j| choices[j] != Choice::Out).collect();
        let is_member = |c: &(usize, f64)| choices[c.0] != Choice::Out;
        let beta = Coefficients::from_pairs(beta.into_iter().filter(is_member).collect(), 0.0);
        let mut node = self.node(&features, &beta, price)?;
        features.iter().zip(&mut node.members.choices).for_each(|(&j, choice)| *choice = choices[j]);
        if let Some(lemma) = lemma {
            let d = |j: usize| lemma.binary_search_by_key(&j, |c| c.0).map_or(0.0, |k| lemma[k].1);
            features.iter().zip(&mut node.members.moved).for_each(|(&j, moved)| *moved = d(j));
            let members = &node.members;
            let one = |a: usize| {
                let (position, moved) = (members.positions[a] as u32, members.moved[a]);
                MemberCurvature { position, moved, spare: 0.0, share: 0.0 }
            };
            let by_position = (0..members.len()).map(one).collect();
            node.inherited = Some(Arc::new(MovedCurvature { by_position }));
        }
        let lemma = node.inherited.clone();
        Ok(OpenNode { node, lemma })
    }
}
