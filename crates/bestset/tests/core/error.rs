//! Bad input gives the named error with the offending value and its place; every variant of `Error` is here.

use bestset::design::{ColumnSubset, Csc, Dense, Design, RowSubset, Standardized};
use bestset::{Bounds, Coefficients, Error, Loss, Method, Options, Penalty, Problem, solve};
use bestset::{Published, Step};

fn dense() -> Dense<'static> {
    Dense::new(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 7.0]).unwrap()
}

fn penalty() -> Penalty {
    Penalty::new(0.1, 0.0, 1.0)
}

/// Debug output, because NaN is not equal to itself.
#[track_caller]
fn assert_error<T>(result: bestset::Result<T>, expected: Error) {
    match result {
        Ok(_) => panic!("accepted; expected {expected:?}"),
        Err(error) => assert_eq!(format!("{error:?}"), format!("{expected:?}")),
    }
}

#[test]
fn empty_designs() {
    assert_error(Dense::<f64>::new(0, 2, vec![]), Error::Empty { rows: 0, columns: 2 });
    assert_error(Dense::<f32>::new(3, 0, vec![]), Error::Empty { rows: 3, columns: 0 });
    assert_error(Dense::<f64>::from_rows(&[]), Error::Empty { rows: 0, columns: 0 });
    let none = (Vec::<u32>::new(), Vec::<f64>::new());
    assert_error(Csc::new(0, vec![0, 0], none.0.clone(), none.1.clone()), Error::Empty { rows: 0, columns: 1 });
    assert_error(Csc::new(4, vec![0], none.0.clone(), none.1.clone()), Error::Empty { rows: 4, columns: 0 });
    assert_error(Csc::new(4, vec![], none.0, none.1), Error::Empty { rows: 4, columns: 0 });
    let x = dense();
    assert_error(RowSubset::new(&x, vec![]), Error::Empty { rows: 0, columns: 2 });
    assert_error(ColumnSubset::new(&x, vec![]), Error::Empty { rows: 3, columns: 0 });
}

#[test]
fn shapes_that_do_not_fit() {
    let shape = |what, found, expected| Error::Shape { what, found, expected };
    assert_error(Dense::new(3, 2, vec![1.0; 5]), shape("X", 5, 6));
    assert_error(Dense::new(usize::MAX, 2, vec![1.0; 5]), shape("X", 5, usize::MAX));
    let ragged = [vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0]];
    assert_error(Dense::from_rows(&ragged), Error::Row { row: 2, found: 1, expected: 2 });
    assert_error(Csc::new(3, vec![0, 2], vec![0u32], vec![1.0, 2.0]), shape("row indices of X", 1, 2));
    let last = "values of X (last column start)";
    assert_error(Csc::new(3, vec![0, 1], vec![0u32, 1], vec![1.0, 2.0]), shape(last, 2, 1));
    let x = dense();
    assert_error(Standardized::new(&x, vec![0.0], vec![1.0, 1.0]), shape("centre", 1, 2));
    assert_error(Standardized::new(&x, vec![0.0; 2], vec![1.0; 3]), shape("scale", 3, 2));
    assert_error(Problem::new(&x, vec![1.0; 4], penalty()), shape("y", 4, 3));
    let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
    assert_error(problem.clone().with_weights(vec![1.0; 2]), shape("weight", 2, 3));
    let bounds = |l: usize, u: usize| penalty().with_bounds(Bounds::Each(vec![-1.0; l], vec![1.0; u]));
    assert_error(problem.with_penalty(bounds(1, 2)), shape("lower bounds", 1, 2));
    assert_error(Problem::new(&x, vec![1.0; 3], bounds(2, 3)), shape("upper bounds", 3, 2));
    let bad = Coefficients { support: vec![0], values: vec![], intercept: 0.0 };
    assert_error(bad.validate(2), shape("coefficient values", 0, 1));
}

#[test]
fn entries_that_are_not_finite() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut data = vec![0.5; 6];
        data[4] = value;
        let error = Error::NonFiniteDesign { row: 1, column: 1, value };
        assert_error(Dense::new(3, 2, data.clone()), error.clone());
        let narrow: Vec<f32> = data.iter().map(|&x| x as f32).collect();
        assert_error(Dense::new(3, 2, narrow), error.clone());
        assert_error(Csc::new(3, vec![0, 1, 3], vec![0u32, 0, 1], vec![1.0, 2.0, value]), error);

        let x = dense();
        let non_finite = |what, index| Error::NonFinite { what, index, value };
        assert_error(Problem::new(&x, vec![0.0, 1.0, value], penalty()), non_finite("y", 2));
        let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
        assert_error(problem.with_weights(vec![1.0, value, 1.0]), non_finite("weight", 1));
        assert_error(Standardized::new(&x, vec![0.0, value], vec![1.0; 2]), non_finite("centre", 1));
        let view = Standardized::new(&x, vec![0.0; 2], vec![1.0, value]);
        if value == f64::INFINITY {
            let mut column = vec![0.0; 3];
            view.unwrap().axpy(1, 1.0, &mut column).unwrap();
            assert_eq!(column, [0.0; 3]);
        } else {
            assert_error(view, non_finite("scale", 1));
        }
        assert_error(
            Coefficients::from_pairs(vec![(0, 1.0), (1, value)], 0.0).validate(2),
            non_finite("coefficient", 1),
        );
        assert_error(Coefficients::from_pairs(vec![], value).validate(2), non_finite("intercept", 0));
    }
    // A scale of zero, or one so small that dividing by it is not finite.
    let x = dense();
    let inverse = |value| Error::NonFinite { what: "1 / scale", index: 0, value };
    assert_error(Standardized::new(&x, vec![0.0; 2], vec![0.0, 1.0]), inverse(f64::INFINITY));
    assert_error(Standardized::new(&x, vec![0.0; 2], vec![1e-310, 1.0]), inverse(f64::INFINITY));
}

#[test]
fn norms_that_are_not_positive() {
    let x = dense();
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Error::Range { name: "norm", value, range: "finite and above 0" };
        assert_error(Standardized::fit(&x, None, true, value), error);
    }
}

#[test]
fn finite_entries_whose_squares_overflow() {
    assert_error(Dense::new(2, 2, vec![1.0, 2.0, 1e200, 1.0]), Error::Overflow { column: 1, value: 1e200 });
    assert_error(Dense::new(2, 1, vec![1e154, 1.2e154]), Error::Overflow { column: 0, value: 1.2e154 });
    assert_error(Csc::new(3, vec![0, 0, 1], vec![2u32], vec![-1e155]), Error::Overflow { column: 1, value: -1e155 });
    assert!(Dense::new(2, 1, vec![f32::MAX, f32::MAX]).is_ok(), "f32 squares fit into f64");
}

#[test]
fn weights_that_are_negative_or_all_zero() {
    let x = dense();
    let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
    let negative = Error::NegativeWeight { index: 2, value: -1e-300 };
    assert_error(problem.clone().with_weights(vec![1.0, 0.0, -1e-300]), negative);
    assert_error(problem.clone().with_weights(vec![0.0, -0.0, 0.0]), Error::NoWeight { count: 3 });
    assert!(problem.with_weights(vec![0.0, 0.0, 5e-324]).is_ok());
    let fit = |weights: &[f64]| Standardized::fit(&x, Some(weights), true, 1.0);
    assert_error(fit(&[1.0; 4]), Error::Shape { what: "weight", found: 4, expected: 3 });
    assert_error(fit(&[1.0, -2.0, 1.0]), Error::NegativeWeight { index: 1, value: -2.0 });
    assert_error(fit(&[0.0; 3]), Error::NoWeight { count: 3 });
    assert_error(fit(&[1.0, f64::NAN, 1.0]), Error::NonFinite { what: "weight", index: 1, value: f64::NAN });
}

#[test]
fn settings_out_of_range() {
    let x = dense();
    let range = |name, value, range| Error::Range { name, value, range };
    for value in [-1e-9, f64::NAN, f64::INFINITY] {
        let set = |k: usize| [0, 1, 2].map(|i| if i == k { value } else { 0.0 });
        for (k, name) in ["lambda0", "lambda1", "lambda2"].into_iter().enumerate() {
            let [l0, l1, l2] = set(k);
            let error = range(name, value, "finite and at least 0");
            assert_error(Problem::new(&x, vec![1.0; 3], Penalty::new(l0, l1, l2)), error.clone());
            let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
            assert_error(problem.with_penalty(Penalty::new(l0, l1, l2)), error);
        }
    }
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
        let error = range("delta", value, "finite and above 0");
        assert_error(problem.with_loss(Loss::Huber { delta: value }), error);
    }
    let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
    let rejects = |options: Options, error| assert_error(solve(&problem, &options), error);
    for value in [-0.1, f64::NAN] {
        rejects(Options { gap: value, ..Options::default() }, range("gap", value, "at least 0"));
        rejects(Options { gap_absolute: value, ..Options::default() }, range("gap_absolute", value, "at least 0"));
        let with = |published| Options { published, ..Options::default() };
        rejects(with(Published { epsilon: value, ..Published::default() }), range("epsilon", value, "at least 0"));
        rejects(with(Published { zeta: value, ..Published::default() }), range("zeta", value, "at least 0"));
        let above = "finite and above 0";
        rejects(with(Published { inclusion: value, ..Published::default() }), range("inclusion", value, above));
        let step = Step::Constant(value);
        rejects(with(Published { step, ..Published::default() }), range("step", value, above));
        let step = Step::Diminishing { gamma: value };
        rejects(with(Published { step, ..Published::default() }), range("gamma", value, above));
    }
    rejects(Options { max_iterations: Some(0), ..Options::default() }, range("max_iterations", 0.0, "at least 1"));
    rejects(Options { threads: Some(0), ..Options::default() }, range("threads", 0.0, "at least 1"));
}

#[test]
fn labels_that_are_not_two_classes() {
    let x = dense();
    for loss in [Loss::Logistic, Loss::SquaredHinge] {
        let with = |y: Vec<f64>| Problem::new(&x, y, penalty()).unwrap();
        assert_error(with(vec![1.0, 0.0, -1.0]).with_loss(loss), Error::Label { index: 1, value: 0.0 });
        assert_error(with(vec![1.0, -1.0, 2.0]).with_loss(loss), Error::Label { index: 2, value: 2.0 });
        assert_error(with(vec![-1.0; 3]).with_loss(loss), Error::OneClass { label: -1.0 });
        assert_error(with(vec![1.0; 3]).with_loss(loss), Error::OneClass { label: 1.0 });
        // Weights may take the second class away, in whichever order the two are given.
        let weights = vec![1.0, 0.0, 2.0];
        let two = with(vec![-1.0, 1.0, -1.0]);
        let before = two.clone().with_loss(loss).unwrap().with_weights(weights.clone());
        assert_error(before, Error::OneClass { label: -1.0 });
        assert_error(two.with_weights(weights).unwrap().with_loss(loss), Error::OneClass { label: -1.0 });
    }
    assert!(Problem::new(&x, vec![5.0, 0.0, -1.0], penalty()).unwrap().with_loss(Loss::Huber { delta: 1.0 }).is_ok());
}

#[test]
fn bounds_without_zero() {
    let x = dense();
    let problem = |bounds| Problem::new(&x, vec![1.0; 3], penalty().with_bounds(bounds));
    for (lower, upper) in [(0.1, 1.0), (-1.0, -0.1), (f64::NAN, 1.0), (-1.0, f64::NAN), (1.0, -1.0)] {
        assert_error(problem(Bounds::All(lower, upper)), Error::Bounds { feature: 0, lower, upper });
        let each = Bounds::Each(vec![-1.0, lower], vec![1.0, upper]);
        assert_error(problem(each), Error::Bounds { feature: 1, lower, upper });
    }
    assert!(problem(Bounds::All(0.0, 0.0)).is_ok());
    assert!(problem(Bounds::All(f64::NEG_INFINITY, -0.0)).is_ok());
}

#[test]
fn sizes_that_the_data_cannot_have() {
    let x = dense();
    let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
    assert_error(problem.clone().with_max_size(3), Error::Size { k: 3, features: 2 });
    assert_error(problem.clone().with_max_size(0), Error::Size { k: 0, features: 2 });
    assert_eq!(problem.with_max_size(2).unwrap().max_size(), Some(2));
}

#[test]
fn indices_out_of_place() {
    let index = |what, position, index, problem| Error::Index { what, position, index, problem };
    let x = dense();
    let end = "beyond the end of the design";
    assert_error(RowSubset::new(&x, vec![0, 3]), index("the row subset", 1, 3, end));
    assert_error(ColumnSubset::new(&x, vec![1, 0, 9]), index("the column subset", 2, 9, end));
    let order = "rows must ascend strictly";
    assert_error(RowSubset::new(&x, vec![0, 2, 1]), index("the row subset", 2, 1, order));
    assert_error(RowSubset::new(&x, vec![1, 1]), index("the row subset", 1, 1, order));

    let csc = |starts: Vec<usize>, rows: Vec<u32>| Csc::new(3, starts, rows.clone(), vec![1.0; rows.len()]).map(|_| ());
    let (rows, starts) = ("row indices of X", "column starts of X");
    assert_error(csc(vec![0, 2], vec![0, 3]), index(rows, 1, 3, "beyond the last row"));
    let order = "rows must ascend strictly within a column";
    assert_error(csc(vec![0, 1, 3], vec![0, 2, 1]), index(rows, 2, 1, order));
    assert_error(csc(vec![0, 2], vec![1, 1]), index(rows, 1, 1, order));
    let ascend = "starts must ascend and end at the number of values";
    assert_error(csc(vec![0, 2, 1, 3], vec![0, 1, 2]), index(starts, 1, 2, ascend));
    assert_error(csc(vec![0, 9, 3], vec![0, 1, 2]), index(starts, 0, 0, ascend));
    assert_error(csc(vec![1, 3], vec![0, 1, 2]), index(starts, 0, 1, "the first column must start at 0"));
    assert!(csc(vec![0, 1, 3], vec![2, 0, 1]).is_ok(), "columns are ordered separately");

    let bad = |support: Vec<usize>| Coefficients { values: vec![1.0; support.len()], support, intercept: 0.0 };
    let support = "the support";
    assert_error(bad(vec![0, 2]).validate(2), index(support, 1, 2, "beyond the last feature"));
    assert_error(bad(vec![1, 0]).validate(2), index(support, 1, 0, "features must ascend strictly"));
    assert_error(bad(vec![1, 1]).validate(2), index(support, 1, 1, "features must ascend strictly"));
    let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
    let options = Options { warm_start: Some(bad(vec![5])), ..Options::default() };
    assert_error(solve(&problem, &options), index(support, 0, 5, "beyond the last feature"));
    for (at, place, what) in
        [(vec![0, 2], 1, "beyond the last feature"), (vec![1, 0], 1, "features must ascend strictly")]
    {
        let expected = index(support, place, at[place], what);
        assert_error(problem.objective(&bad(at.clone())), expected.clone());
        assert_error(problem.certify(&bad(at), &[]), expected);
    }
    let short = Error::Shape { what: "dual point", found: 2, expected: 3 };
    assert_error(problem.certify(&bad(vec![1]), &[&[0.0; 3], &[0.0; 2]]), short);
}

#[test]
fn methods_that_cannot_solve_the_problem() {
    let x = dense();
    let unsupported = |method, reason| Error::Unsupported { method, reason };
    let problem = Problem::new(&x, vec![1.0; 3], penalty()).unwrap();
    let limited = problem.clone().with_max_size(1).unwrap();
    let pure = problem.with_penalty(Penalty::new(0.1, 0.0, 0.0)).unwrap();
    let try_with = |problem: &Problem<'_>, method| solve(problem, &Options::with_method(method)).map(|_| ());
    let needs_dual = "needs lambda2 > 0 or bounds on every coefficient";
    for (method, name) in [
        (Method::PrimalDual { dynamic: true }, "primal_dual"),
        (Method::PrimalDual { dynamic: false }, "primal_dual_plain"),
        (Method::DualAscent, "dual_ascent"),
        (Method::DualIht, "dual_iht"),
    ] {
        assert_eq!(method.name(), name);
        assert_error(try_with(&pure, method), unsupported(name, needs_dual));
    }
    assert_error(try_with(&problem, Method::DualIht), unsupported("dual_iht", "needs a largest size k"));
    let cannot = "cannot limit the size; use dual_iht or exact";
    assert_error(try_with(&limited, Method::Cdss), unsupported("cdss", cannot));
    assert_error(try_with(&limited, Method::Incremental), unsupported("incremental", cannot));
}

/// Messages say what is wrong, where, and what would be right.
#[test]
fn messages_name_the_value_and_the_place() {
    let cases = [
        (Error::Empty { rows: 0, columns: 2 }, "the design is empty: 0 rows, 2 columns"),
        (Error::Shape { what: "y", found: 4, expected: 3 }, "y has length 4, expected 3"),
        (Error::Row { row: 6, found: 4, expected: 3 }, "row 6 of X has 4 entries, expected 3"),
        (
            Error::NonFiniteDesign { row: 1, column: 2, value: f64::NAN },
            "X[1, 2] is NaN; every entry must be finite: fill it in, or leave out its row or its column",
        ),
        (
            Error::NonFinite { what: "y", index: 7, value: f64::INFINITY },
            "y[7] is inf; every entry must be finite: correct it, or leave out its sample",
        ),
        (
            Error::NonFinite { what: "coefficient", index: 7, value: f64::INFINITY },
            "coefficient[7] is inf; every entry must be finite",
        ),
        (
            Error::Overflow { column: 3, value: -2.5e200 },
            "column 3 of X is too large: its largest entry is -2.5e200, and the sum of its squares overflows; divide it by 1e200, or leave it out",
        ),
        (
            Error::Unpenalised { what: "a multinomial model", or: "" },
            "a multinomial model cannot be fitted where a coefficient has neither a ridge nor bounds: set lambda2 above 0 (1e-6 hardly changes a fit) and no shrinkage factor to 0, or bound every coefficient",
        ),
        (
            Error::NegativeWeight { index: 2, value: -1.0 },
            "weight[2] is -1; weights must be at least 0, and 0 leaves a sample out",
        ),
        (Error::NoWeight { count: 3 }, "all 3 sample weights are zero"),
        (Error::Range { name: "lambda0", value: -1.0, range: "at least 0" }, "lambda0 is -1; it must be at least 0"),
        (Error::Label { index: 1, value: 0.0 }, "y[1] is 0; classification needs the labels -1 and +1"),
        (Error::OneClass { label: -1.0 }, "every label with a positive weight is -1; classification needs two classes"),
        (
            Error::Bounds { feature: 4, lower: 0.5, upper: 1.0 },
            "the bounds of feature 4 are [0.5, 1]; they must contain 0",
        ),
        (Error::Size { k: 9, features: 5 }, "k is 9; it must be between 1 and the number of features, 5"),
        (
            Error::Index { what: "row indices of X", position: 1, index: 3, problem: "beyond the last row" },
            "index 3 at position 1 of row indices of X: beyond the last row",
        ),
        (Error::Unsupported { method: "cdss", reason: "cannot" }, "method cdss cannot"),
        (
            Error::Unprovable {
                cause: Box::new(Error::Unsupported { method: "exact", reason: "cannot" }),
                advice: "with lambda2 = 0.1 a proof is soon made".to_owned(),
            },
            "method exact cannot; with lambda2 = 0.1 a proof is soon made",
        ),
        (
            Error::Dependent { column: 0, others: vec![], share: 0.0 },
            "column 0 of X is nearly a combination of others: 0.0e0 of its square is left without; drop one of them, or raise \
             lambda2",
        ),
        (
            Error::Dependences { columns: vec![0, 9], most: 256 },
            "columns 0, 9 of X are combinations of each other, and there are more such lists: leaving out one of each makes more \
             than 256 families of subsets; drop copies of columns, and one column of every category",
        ),
        (
            Error::Dependent { column: 4, others: vec![2, 7], share: 1e-15 },
            "column 4 of X is nearly a combination of columns 2, 7: 1.0e-15 of its square is left without; drop one of them, \
             or raise lambda2",
        ),
        (
            Error::Flat { column: 3 },
            "column 3 of X is constant but for its last digits, of which nothing is made; leave it out, or give it with a constant \
             subtracted",
        ),
        (
            Error::Recheck { what: "the fit", claimed: 2.0, found: 2.5, slack: 1e-9 },
            "the fit was 2, but is 2.5 when computed anew; rounding explains 1e-9",
        ),
    ];
    for (error, message) in cases {
        assert_eq!(error.to_string(), message);
    }
}

/// The smallest designs are accepted, and a borrowed one too.
#[test]
fn good_input_is_accepted() {
    let data = [1.0f32];
    let x = Dense::new(1, 1, data.as_slice()).unwrap();
    let problem = Problem::new(&x, [2.0].as_slice(), Penalty::new(0.0, 0.0, 0.0)).unwrap();
    assert_eq!((problem.nrows(), problem.ncols(), problem.has_intercept()), (1, 1, false));
    assert_eq!(x.stored(), 1);
}

/// Squares that overflow would make P infinite and every comparison with it void.
#[test]
fn targets_whose_squares_overflow() {
    let x = dense();
    let too_large = |what, index, value| Error::TooLarge { what, index, value };
    assert_error(Problem::new(&x, vec![1.0, -1e300, 2.0], penalty()), too_large("y", 1, -1e300));
    let problem = Problem::new(&x, vec![1.0, 2.0, 3.0], penalty()).unwrap();
    assert_error(problem.clone().with_offset(vec![0.0, 0.0, 1e200]), too_large("offset", 2, 1e200));
    assert_error(problem.clone().with_weights(vec![1e308, 1.0, 1.0]), too_large("weight", 0, 1e308));
    let large = Problem::new(&x, vec![1e120, -2e120, 1e119], Penalty::new(1e238, 0.0, 1.0)).unwrap();
    assert!(solve(&large, &Options::default()).unwrap().objective().is_finite());
    let message = Problem::new(&x, vec![1.0, -1e300, 2.0], penalty()).err().unwrap().to_string();
    assert_eq!(message, "y[1] is -1e300: sums of squares overflow; rescale the data");
}
