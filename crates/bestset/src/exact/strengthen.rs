//! A node made stronger by curvature moved between loss and penalty, again as long as that pays.
//!
//! The bound is concave in d, so that where coefficients are fractional tells to first order what is worth moving. That is looked up
//! where no curvature is moved: with it those that took are fractional no more, the next move would take back what the last gave, and
//! from one to the other the bound goes up and down. Measured at nodes of n=200, p=3000, SNR 2, seed 1: of a gap of 0.071 one move by
//! the weights without curvature leaves 0.019, another by those with it 0.029; by the first alone and with them averaged 0.018.
//!
//! With fewer members more curvature can be moved, and with more of it moved fewer members hold out when they are tried
//! ([`crate::exact::trial`]): the two take turns.

use crate::control::Limits;
use crate::exact::budget::LEAST_POOLED;
use crate::exact::node::Choice;
use crate::exact::relax::{Ground, Relaxed};

/// Looks at the curvature in one node: members that the first excludes make the next better.
const LOOKS: usize = 10;

/// Gap over the rise of the last look above which the next is not worth its cost.
const HOPE: f64 = 12.0;

/// The most members among which curvature is moved without a pool. A pool is worth most where many are open; without one the rules
/// have curvature left for each member alone, and exclude more where fewer are.
const MOST_PLAIN: usize = 1500;

/// Share of the members left since the last look at which another is worth its cost.
const SHRUNK: f64 = 0.98;

/// Members decided to be in since then at which it is as well.
const DECIDED: usize = 2;

/// Share of the members that may fall from which on they are tried on either side.
const HOPEFUL: f64 = 0.1;

/// Share of the gap which, owed by pooled members, is worth another look.
const OWED: f64 = 0.2;

impl Ground<'_, '_, '_> {
    /// The node with curvature moved as long as that pays, the rules applied after each move, up to the one whose bound prunes it.
    /// What the node is left with is the move of the best bound. `aims` are P̂, the cutoff and the room of [`Ground::relax`].
    pub fn strengthen(&self, mut now: Relaxed, aims: (f64, f64, f64), limits: &Limits) -> Relaxed {
        let (best, cutoff, room) = aims;
        let (mut kept, mut guide): (Option<Relaxed>, Option<Relaxed>) = (None, None);
        let mut last = f64::NEG_INFINITY;
        for look in 0..LOOKS {
            let rises = now.dual - last;
            if now.bound > cutoff
                || limits.stop(0).is_some()
                || !self.should_move(&now, best)
                || best - now.dual > HOPE * rises
            {
                break;
            }
            last = now.dual;
            for pool in [false, true] {
                let count = now.members.len();
                // After a pool φ′ is less, and so are the shares of the next: a second one hardly gains.
                let fits = if pool { look == 0 && (LEAST_POOLED..).contains(&count) } else { count <= MOST_PLAIN };
                if !fits {
                    continue;
                }
                let plain = guide.take().map_or_else(|| self.unmoved(&now, limits), |plain| plain.follow(&now));
                let before = now.clone();
                let is_moved = self.move_curvature(&mut now, &plain, best, pool, limits);
                guide = Some(plain);
                if !is_moved {
                    continue;
                }
                if kept.as_ref().is_none_or(|k| k.dual < before.dual) {
                    kept = Some(before);
                }
                now = self.relax(now, cutoff, room, limits);
                if now.bound > cutoff {
                    return now;
                }
                self.decide(&mut now, best);
                now = self.try_on(now, aims, limits);
                if now.bound > cutoff {
                    return now;
                }
            }
        }
        match kept {
            Some(kept) if kept.dual > now.dual => kept.follow(&now),
            _ => now,
        }
    }

    /// The node with its members tried on either side, where enough of them may fall.
    fn try_on(&self, mut now: Relaxed, aims: (f64, f64, f64), limits: &Limits) -> Relaxed {
        let (best, cutoff, room) = aims;
        if !self.is_hopeful(&now, best) {
            return now;
        }
        if now.stale {
            now = self.relax(now, cutoff, room, limits);
        }
        if now.bound <= cutoff {
            self.try_members(&mut now, best, limits);
        }
        now
    }

    /// Whether enough members at zero could be excluded if no other answered to them.
    fn is_hopeful(&self, now: &Relaxed, best: f64) -> bool {
        let could_fall = |&a: &usize| {
            let square = self.problem().squares(self.near.active.features()[now.members[a]]);
            let alone = self.coordinate(now, a).curved((square - now.moved[a]).max(0.0));
            now.beta[a] == 0.0 && now.choices[a] == Choice::Free && now.dual + alone.phi(now.tau[a]) > best
        };
        let count = (0..now.members.len()).filter(could_fall).count();
        count as f64 >= HOPEFUL * now.members.len() as f64
    }

    /// Whether another look at the curvature is worth its cost: there are few members, and since the last some have left or were
    /// decided to be in.
    fn should_move(&self, now: &Relaxed, best: f64) -> bool {
        if !self.problem().loss().is_quadratic() || now.members.len() > self.crowd {
            return false;
        }
        if now.owed > OWED * (best - now.dual) {
            return true;
        }
        let Some(before) = &now.inherited else { return true };
        let inside = now.choices.iter().filter(|c| **c == Choice::In).count();
        (now.members.len() as f64) < SHRUNK * before.members as f64 || inside >= before.inside + DECIDED
    }

    /// The node with no curvature moved, as its minimiser is after one descent; bounds nothing.
    pub(super) fn unmoved(&self, now: &Relaxed, limits: &Limits) -> Relaxed {
        if now.inherited.is_none() {
            return now.clone();
        }
        let none = || vec![0.0; now.members.len()];
        let plain = Relaxed { moved: none(), spare: none(), share: none(), inherited: None, ..now.clone() };
        self.relax(plain, f64::NEG_INFINITY, f64::INFINITY, limits)
    }
}

impl Relaxed {
    /// Takes over what has been decided since, and the better bound.
    fn follow(mut self, later: &Self) -> Self {
        let mut kept = later.members.iter().zip(&later.choices).peekable();
        for a in 0..self.members.len() {
            while kept.next_if(|k| *k.0 < self.members[a]).is_some() {}
            let choice = kept.peek().filter(|k| *k.0 == self.members[a]).map_or(Choice::Out, |k| *k.1);
            self.stale |= choice != self.choices[a] && self.beta[a] != 0.0;
            self.choices[a] = choice;
        }
        self.bound = self.bound.max(later.bound);
        self.drop_out();
        self
    }
}
