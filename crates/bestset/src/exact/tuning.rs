//! The numbers that steer the search. None of them is part of a proof: they decide how soon a bound is found, not whether it holds.
//! Numbers that pay for rounding are constants beside their proof.
//!
//! Figures are nodes to the proof, or seconds, of the simulation of MATH §8; those of section 11 of bench/NOTES.md are cited as NOTES.
//! "Not tuned" means that one value was chosen for the reason given and others were not measured.

/// See the fields; [`Tuning::default`] is what every solve uses, tests of single parts take others.
#[derive(Debug, Clone)]
pub struct Tuning {
    // The tree.
    /// A batch of nodes, relaxed side by side, is one of so many parts of the open ones, so that few threads wait for the last in a
    /// large tree and little is done in vain in a small one. The tree does not depend on the number of threads. One of four changes
    /// (batches of 8 before, fewer looks at the curvature, takers that take all) that together took SNR 2, n=200, seed 1 from 18,200
    /// to 12,450 nodes (NOTES, members tried); not measured alone.
    pub batch_share: usize,
    /// The fewest nodes of a batch, where so many are open. Not tuned: enough for a few threads.
    pub least_batch: usize,
    /// The most nodes of a batch. Not tuned: what is done in vain when a better answer is found grows with it.
    pub most_batch: usize,
    /// Every node up to this one is rounded to an answer: answers that come early prune most. Not tuned.
    pub rounded_nodes: usize,
    /// After them every so many-th is. Not tuned.
    pub rounded_every: usize,
    /// Nodes after which answers are looked for in all of X, with a walk past the minimum that exchanges led to: a tree that ends
    /// before has no use for it. Not tuned.
    pub search_from: usize,
    /// n p² of a look at all pairs of features, for coherence, that each node makes up for: about 0.1 s for each at 20 multiplications
    /// of single precision in a nanosecond, so that a tree which ends soon does without. Not tuned.
    pub coherence_work_per_node: f64,
    /// The same for each entry of the near columns, where that is less: 25 products with each in a node, at twenty times as many of single
    /// precision in the same time. At n = 500, p = 3000, where few are near, a look was due after three nodes of a millisecond, and took a second.
    pub coherence_work_per_entry: f64,
    /// The fewest nodes before a look that no forecast asks for: most trees end there. Not tuned.
    pub nodes_before_coherence: usize,
    /// Gap, in prices of a feature, from which on a tree is taken for a long one after its first nodes, and coherence is looked at then if
    /// a forecast says that it closes what is left. n = 1000, p = 10⁴, λ2 = .01 (3.2 prices then): 16 s before, 9 s so. Not tuned.
    pub coherence_gap: f64,
    /// Nodes of a tree for what coherence leaves open (MATH 13.5), splitting on the answer's features first: all subsets of ten of them are
    /// 1024. Not tuned.
    pub region_nodes: usize,

    // Columns and memory.
    /// Open features up to this many all come into memory; nodes look at more by passes over X. Not tuned: at n = 1000 they take 32 MB.
    pub most_near: usize,
    /// Features of the root closest to their thresholds that come into memory even where there are more than that, besides those that
    /// its convex phase looked at. Not tuned.
    pub first_near: usize,
    /// Features up to which all members of a node with few join the core with their inner products, besides those that were not zero
    /// in some node. Not tuned: at 1500 the products take 18 MB.
    pub most_core: usize,
    /// One part in so many of the limit on memory is for the near columns, as many for the core's and for its inner products. Not tuned.
    pub memory_for_columns: usize,
    /// One part in so many of it is for the open nodes. Not tuned.
    pub memory_for_open: usize,
    /// One part in so many of it is for what the nodes that are relaxed side by side take together. Not tuned.
    pub memory_for_nodes: usize,
    /// Members that a node works on whatever memory there is. Not tuned: 1.6 MB.
    pub least_working: usize,

    // The relaxation of a node.
    /// Share of its threshold from which on a correlation is close to it: such members are worked on from the start. Not tuned: what is
    /// left out and needed costs one more descent, what is put in and not needed its inner products.
    pub close_to_threshold: f64,
    /// Prices ν tried in a node after its parent's: each costs a relaxation, and any price gives a bound. Not tuned.
    pub prices: usize,
    /// Prices ν tried at the root, where all nodes start from what is found. Not tuned: ten times as many as in a node.
    pub root_prices: usize,
    /// Share of the gap that the next price must be able to close. Not tuned.
    pub price_worth: f64,

    // Answers of a limited size.
    /// The first price ν at the root, as a part of the one at which nothing is taken. Not tuned.
    pub first_price: f64,
    /// Features of one relaxation among which an answer is looked for: those that are charged most. Not tuned: a tableau of 1500 takes
    /// 18 MB.
    pub most_charged: usize,
    /// Moves of one feature that are tried from a point of at most k, best first. Not tuned.
    pub moves_within_size: usize,

    // Far features.
    /// Nodes whose dual points share one pass over the far features: the pass costs the reading of X, whatever their number. Not tuned.
    pub nodes_per_pass: usize,
    /// Nodes with far features that are looked at together, and split side by side, where so many are open with lists of about one length. Their
    /// relaxations are what a proof among many features waits for: on sixteen cores two of them at a time were 36 of 58 s at p = 10⁷
    /// (NOTES, devices).
    pub far_nodes: usize,
    /// So many times `nodes_per_pass` and `far_nodes` where X is on a device that lists pairs ([`crate::design::Design::lists_pairs`]): its passes
    /// cost next to nothing. After as many nodes as `search_from` says, for a tree that ends sooner would look at more than it needs: p = 10⁷ on an H200 with sixteen cores 39 s with 1, 37 with 2, 32 with 4, and 970, 1038, 968 nodes.
    pub more_elsewhere: usize,
    /// Share of the gap that a node which seems closed is to have to spare for the far features (MATH 11.24). Not tuned.
    pub spare_share: f64,
    /// Steps of the search for the dual point that has it: to 1/32 of the way. Not tuned.
    pub blend_halvings: usize,
    /// Share of the gap that far features may take from a bound without being brought near. Not tuned.
    pub far_gap_share: f64,
    /// Far features that may come near after a pass even where fewer are near. Not tuned.
    pub least_brought: usize,
    /// Far features that come near for a node with nothing else left to split on. Not tuned: one is enough to be right.
    pub joining_to_split: usize,

    // Curvature moved.
    /// Members among which curvature is moved from the first node on, whatever that costs. Not tuned.
    pub least_curved: usize,
    /// Multiplications that a move of curvature may cost in the first node: a second or two. Trees that end soon are not to wait for it,
    /// as the 5 nodes of n=400, SNR 5, seed 1 (NOTES, curvature moved). Not tuned beyond that.
    pub curvature_work: f64,
    /// Nodes after which it may cost as much again. Not tuned.
    pub curvature_work_nodes: f64,
    /// Moves of curvature in one node: members that the first excludes make the next better. 3 before `looks_left` ended them where
    /// they do not pay; not tuned since.
    pub curvature_looks: usize,
    /// Gap over the rise of the last look above which the next is not worth its cost: 12, 30 and 100 take as long where proofs end, fewer looks
    /// get further where much is left (NOTES, to second order).
    pub looks_left: f64,
    /// The most members among which curvature is moved without a pool. Such a move leaves some along each member alone, with which the rules
    /// exclude more. With 1500, as before (11.22) went by partners, SNR 20, n=500, seed 3 took 1261 nodes for 275 (NOTES, a budget).
    pub most_unpooled: usize,
    /// The fewest members among which some are pooled; 1000 before, as above. Nodes with no fewer than this and no more than `most_unpooled`
    /// make both moves: those of 300, and of tests.
    pub least_pooled: usize,
    /// Share of its distance from the threshold that a giver at zero keeps: with none it would be charged as soon as α moves. 0.5 before;
    /// what was measured is not recorded.
    pub kept_distance: f64,
    /// Share of its own ridge that a giver keeps. Not tuned: without ridge Ψ′ is −∞ beyond λ1.
    pub kept_ridge: f64,
    /// The least gift, relative to the ridge: a little from everyone keeps Q regular. Not tuned.
    pub least_gift: f64,
    /// Share of what they could take that the takers do where members are pooled, which have to give the less the more is left.
    /// Not tuned. Without a pool all is taken: 15,400 nodes instead of 18,000 (NOTES, one member alone).
    pub pooled_taking: f64,
    /// Of the members that cannot give what is asked of them, the parts that leave the pool before the next attempts, those that lack most
    /// first: without them the others may have enough (NOTES, a budget). After the last there is no pool.
    pub poor_left_out: [f64; 6],
    /// The fewest that leave at once. With none: 2.2 s for 1.7 (SNR 20, n=500, seed 3) and 3.2 for 2.8 (n=400, seed 1), with as many nodes; with
    /// 8, 1.7 and 3.1 s.
    pub few_poor: usize,
    /// Least share of the budget with which a member is pooled (MATH 11.21): the smaller it is, the more partners fit beside each, and the more
    /// each has to give. Not tuned.
    pub least_share: f64,
    /// Steps of the search for a share: to 1/4096. Not tuned.
    pub share_halvings: usize,
    /// Newton steps on the barrier, each after the barrier shrank. 8 and 7 before; what was measured is not recorded.
    pub barrier_steps: usize,
    /// Part of Σv_jd_j that the barrier may still cost at the end: what is left inside the boundary is of use to the rules, and to nodes below (NOTES,
    /// to second order).
    pub barrier_left: f64,
    /// The same at the start from a diagonal that is known, in units of the last. Not tuned.
    pub barrier_away: f64,
    /// Part of its own curvature that a coefficient starts from which took nothing before. Not tuned: small enough to be inside.
    pub barrier_fresh: f64,

    // Probes.
    /// Share of the members that may fall from which on they are probed: each look costs the inner products of all. Not tuned.
    pub falling_share: f64,
    /// Rounds in which those beyond their thresholds answer. Most probes are decided in the second or third (NOTES, members tried).
    pub probe_rounds: usize,
    /// Slices of a divided tree that are grown at the same time, while there are nodes for so many. Not tuned: enough for as many workers
    /// to be busy to the end of a round, most of the time.
    pub slices: usize,
    /// Nodes that a slice takes before it comes back: a second or so, against the tenth that it takes to be sent and made ready.
    pub slice_nodes: usize,
    /// The same at the least, where little is left of a time limit: fewer take less long than to be sent. Not tuned.
    pub least_slice_nodes: usize,
    /// Nodes that are looked at before a tree is divided: most proofs end there.
    pub nodes_before_slices: usize,
}

impl Tuning {
    /// A constant, as a function of so many lines would be none to read.
    const DEFAULT: Self = Self {
        batch_share: 8,
        least_batch: 8,
        most_batch: 32,
        rounded_nodes: 256,
        rounded_every: 16,
        search_from: 64,
        coherence_work_per_node: 2e9,
        coherence_work_per_entry: 500.0,
        nodes_before_coherence: 16,
        coherence_gap: 2.0,
        region_nodes: 2048,
        most_near: 4000,
        first_near: 256,
        most_core: 1500,
        memory_for_columns: 8,
        memory_for_open: 4,
        memory_for_nodes: 4,
        least_working: 200,
        close_to_threshold: 0.98,
        prices: 4,
        root_prices: 40,
        price_worth: 0.02,
        first_price: 0.1,
        most_charged: 1500,
        moves_within_size: 4,
        nodes_per_pass: 12,
        far_nodes: 4,
        more_elsewhere: 4,
        spare_share: 0.3,
        blend_halvings: 5,
        far_gap_share: 0.01,
        least_brought: 64,
        joining_to_split: 64,
        least_curved: 300,
        curvature_work: 2e9,
        curvature_work_nodes: 64.0,
        curvature_looks: 10,
        looks_left: 30.0,
        most_unpooled: 300,
        least_pooled: 300,
        kept_distance: 0.2,
        kept_ridge: 0.1,
        least_gift: 0.02,
        pooled_taking: 0.8,
        poor_left_out: [0.3, 0.3, 0.3, 0.5, 0.5, 1.0],
        few_poor: 32,
        least_share: 0.08,
        share_halvings: 12,
        barrier_steps: 9,
        barrier_left: 0.3,
        barrier_away: 4.0,
        barrier_fresh: 0.01,
        falling_share: 0.05,
        probe_rounds: 6,
        slices: 16,
        slice_nodes: 256,
        least_slice_nodes: 8,
        nodes_before_slices: 96,
    };

    /// The most members m among which curvature is moved after so many nodes, of n samples: min(n, m)² m multiplications must be worth
    /// it, and in a tree that may end soon few are. What a pool takes besides, n times the square of its members for each attempt, is not
    /// counted.
    pub fn most_curved(&self, n: usize, nodes: usize) -> usize {
        let n = n as f64;
        let work = self.curvature_work * (1.0 + nodes as f64 / self.curvature_work_nodes);
        self.least_curved.max((work / (n * n)).max(work.cbrt().min(n)) as usize)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}
