//! The functions that R calls. Each poses the problem on the engine's threads and returns lists.

use crate::ask::{Choice, Control};
use crate::classes::Given;
use crate::errors::said;
use crate::fields::{needed, Failure, Fields};
use crate::input::{genotypes, setup, Data};
use crate::report::{about, page};
use crate::run::{run, Caller};
use crate::value::{count, Record, Value};
use crate::{model, output, survival};
use bestset::design::{column_names, names_are_older, names_said, Design, Stored};
use bestset::select::SUBSET_SIZES;
use bestset::shown::{significant, Side};
use bestset::{CancelFlag, Limits};
use bestset_data::CohortFiles;
use savvy::{savvy, FunctionSexp, IntoExtPtrSexp, ListSexp, OwnedListSexp, OwnedRealSexp, RealSexp, Sexp};

/// What a call is made of: `data`, `setup`, `choice` and `control` of the list that `R/words.R` writes.
struct Call {
    fields: Fields,
    data: Data,
    control: Control,
    caller: Caller,
}

impl Call {
    fn read(call: ListSexp, progress: Option<FunctionSexp>) -> Result<Self, Failure> {
        let fields = Fields(call);
        let part = |name: &str| needed(name, fields.list(name)?);
        let cancel = CancelFlag::default();
        let control = Control::read(&part("control")?, &cancel)?;
        let caller = Caller { threads: control.threads, cancel, progress };
        let data = Data::read(&part("data")?)?;
        Ok(Self { data, control, caller, fields })
    }

    fn part(&self, name: &str) -> Result<Fields, Failure> {
        needed(name, self.fields.list(name)?)
    }
}

/// A selection, kept for its report.
#[savvy]
struct Kept {
    answer: bestset_report::Kept,
}

/// The model at a price, of a size, or chosen by a criterion or by cross-validation.
/// @noRd
#[savvy]
fn call_select(call: ListSexp, progress: Option<FunctionSexp>) -> savvy::Result<Sexp> {
    let call = Call::read(call, progress)?;
    let input = call.data.borrow(setup(&call.part("setup")?)?);
    let choice = Choice::read(&call.part("choice")?, input.y)?;
    let control = &call.control;
    let (found, answer) = run(&call.caller, |heard| {
        input.pose(&call.control.limits, |posed| {
            let options = choice.selection(posed, control);
            let selected = posed.select_observed(&options, &mut (), &|progress| heard.note(progress))?;
            Ok((output::selected(posed, &selected)?, bestset_report::Kept::new(posed, selected)))
        })
    })?;
    let mut both = OwnedListSexp::new(2, true)?;
    both.set_name_and_value(0, "found", found.to_r()?)?;
    both.set_name_and_value(1, "kept", Kept { answer }.into_external_pointer())?;
    both.into()
}

/// A bound and gaps for the coefficients given; the answer that was found on the way comes along.
/// @noRd
#[savvy]
fn call_certify(call: ListSexp, given: ListSexp, progress: Option<FunctionSexp>) -> savvy::Result<Sexp> {
    let call = Call::read(call, progress)?;
    let input = call.data.borrow(setup(&call.part("setup")?)?);
    let choice = Choice::read(&call.part("choice")?, input.y)?;
    let given = Given::read(&Fields(given))?;
    let control = &call.control;
    let judged = run(&call.caller, |_| {
        input.pose(&call.control.limits, |posed| {
            let options = choice.selection(posed, control);
            let judged = match &given {
                Given::Classes(outside) => posed.certify_classes(outside, &options, &mut ())?,
                Given::One(outside) => {
                    outside.validate(posed.problem.variables())?;
                    posed.certify(&posed.inward(outside), &options, &mut ())?
                }
            };
            let mut all = Record::default();
            output::certificate(&judged.certificate, &mut all);
            output::standing(&judged.standing, &mut all);
            all.set("status", judged.status.name());
            all.set("selected", output::selected(posed, &judged.found)?);
            Ok(Value::from(all))
        })
    })?;
    judged.to_r()
}

/// The best subset of every size, and the features taken for combinations of each other.
/// @noRd
#[savvy]
fn call_subsets(call: ListSexp, most: Option<f64>, progress: Option<FunctionSexp>) -> savvy::Result<Sexp> {
    let call = Call::read(call, progress)?;
    let input = call.data.borrow(setup(&call.part("setup")?)?);
    let most = most.map_or(SUBSET_SIZES, |most| most as usize);
    let control = &call.control;
    let found = run(&call.caller, |_| {
        input.pose(&call.control.limits, |posed| {
            Ok(output::subsets(posed, &posed.subsets(most, &control.options(posed))?)?)
        })
    })?;
    found.to_r()
}

/// How often each feature is selected on random subsamples.
/// @noRd
#[savvy]
fn call_stability(call: ListSexp, subsamples: f64, share: f64, seed: f64) -> savvy::Result<Sexp> {
    let call = Call::read(call, None)?;
    let input = call.data.borrow(setup(&call.part("setup")?)?);
    let choice = Choice::read(&call.part("choice")?, input.y)?;
    let control = &call.control;
    let found = run(&call.caller, |_| {
        input.pose(&call.control.limits, |posed| {
            let options = choice.selection(posed, control);
            Ok(output::stability(&posed.stability(&options, subsamples as usize, share, seed as u64)?))
        })
    })?;
    found.to_r()
}

/// The linear predictor; of many classes one block of samples after the other.
/// @noRd
#[savvy]
fn call_predict(call: ListSexp, given: ListSexp) -> savvy::Result<Sexp> {
    let call = Call::read(call, None)?;
    let input = call.data.borrow(bestset::select::Setup::default());
    let given = Given::read(&Fields(given))?;
    let margins = run(&call.caller, |_| input.predict(&given))?;
    OwnedRealSexp::try_from_slice(margins)?.into()
}

/// What survival times say at a linear predictor: baseline hazard, residuals, concordance, likelihood.
/// @noRd
#[savvy]
fn call_survival(call: ListSexp, u: RealSexp) -> savvy::Result<Sexp> {
    let call = Call::read(call, None)?;
    let input = call.data.borrow(setup(&call.part("setup")?)?);
    let u = u.as_slice();
    // The limit was that of the fit.
    let limits = Limits::begin(None, call.caller.cancel.clone());
    run(&call.caller, |_| input.pose(&limits, |posed| survival::told_at(posed, u)))?.to_r()
}

/// Cumulative hazards or survival at times, row by row, or medians.
/// @noRd
#[savvy]
fn call_curves(baseline: ListSexp, u: RealSexp, what: &str, wanted: ListSexp) -> savvy::Result<Sexp> {
    let (baseline, wanted) = (survival::baseline(&Fields(baseline))?, Fields(wanted));
    let (times, strata) = (wanted.numbers("times")?.unwrap_or_default(), wanted.wholes("strata")?);
    let found = survival::curves(&baseline, u.as_slice(), what, &times, strata.as_deref())?;
    OwnedRealSexp::try_from_slice(found)?.into()
}

/// Whether a number and its lower bound, as they are shown, make more of the gap between them than there is.
/// @noRd
#[savvy]
fn call_misleads(value: &str, bound: &str, gap: f64) -> savvy::Result<Sexp> {
    Value::from(bestset::shown::misleads(value, bound, gap)).to_r()
}

/// A share as a percentage, rounded up.
/// @noRd
#[savvy]
fn call_percent(share: f64) -> savvy::Result<Sexp> {
    Value::from(bestset::shown::percent(share, Side::Above)).to_r()
}

/// A bound to so many significant digits: not below it, or not above.
/// @noRd
#[savvy]
fn call_shown(value: f64, digits: f64, above: bool) -> savvy::Result<Sexp> {
    let side = if above { Side::Above } else { Side::Below };
    Value::from(significant(value, digits as usize, side)).to_r()
}

/// The page of a selection.
/// @noRd
#[savvy]
fn call_report(call: ListSexp, kept: &Kept, about: ListSexp) -> savvy::Result<Sexp> {
    let call = Call::read(call, None)?;
    let input = call.data.borrow(setup(&call.part("setup")?)?);
    let (about, answer) = (self::about(&Fields(about))?, &kept.answer);
    // The limit was that of the fit.
    let limits = Limits::begin(None, call.caller.cancel.clone());
    let page = run(&call.caller, |_| input.pose(&limits, |posed| page(answer, posed, &about, &call.caller.cancel)))?;
    Value::from(page).to_r()
}

/// Writes a model with its encoding.
/// @noRd
#[savvy]
fn call_write_model(path: &str, from: ListSexp) -> savvy::Result<()> {
    let from = Fields(from);
    let encoding = model::encoding(&from)?;
    Ok(model::model(&from)?.save_encoded(path, &encoding).map_err(said)?)
}

/// Reads the model in a text.
/// @noRd
#[savvy]
fn call_read_model(text: &str) -> savvy::Result<Sexp> {
    model::read(text)?.to_r()
}

/// Rows, columns and kind of numbers of a matrix in files; the names of its columns, where they have some.
/// @noRd
#[savvy]
fn call_open(path: &str) -> savvy::Result<Sexp> {
    let mut all = Record::default();
    if let Some(files) = CohortFiles::of(path.as_ref()) {
        let (found, names) = genotypes(&files).map_err(said)?;
        all.set("rows", count(found.design().nrows()));
        all.set("columns", count(found.design().ncols()));
        all.set("numbers", "genotypes");
        all.set("sparse", false);
        all.set("names", Value::Texts(names));
    } else {
        let stored = Stored::open(path).map_err(said)?;
        all.set("rows", count(stored.nrows()));
        all.set("columns", count(stored.ncols()));
        all.set("numbers", stored.numbers());
        all.set("sparse", stored.is_sparse());
        if let Some(names) = column_names(path.as_ref(), stored.ncols()).map_err(said)? {
            all.set("names", Value::Texts(names));
            all.set("stale", names_are_older(path.as_ref()).then(|| names_said(path.as_ref())));
        }
    }
    Value::from(all).to_r()
}
