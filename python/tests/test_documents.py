"""The examples, the plots, the README and the types."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from common import hard, regression

import bestset
from bestset import plots

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 8


#: Those that take seconds.
LONG = ("against_lasso", "classification", "cluster", "sparse_text")


@pytest.mark.parametrize("example", [pytest.param(e, marks=[pytest.mark.long] if e.stem in LONG else [], id=e.stem) for e in EXAMPLES])
def test_example(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", ["README.md", "python/README.md"])
def test_readme(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), flags=re.S)
    assert blocks, "the README shows Python"
    space = {}
    for block in blocks:
        exec(compile(block, name, "exec"), space)


@pytest.mark.long
def test_types():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_import_is_light():
    """Neither importing nor a first fit of an array imports what numpy alone has not."""
    code = "import sys, numpy as np; rng = np.random.default_rng(0); known = set(sys.modules); import bestset; "
    code += "X = rng.standard_normal((20, 3)); bestset.solve(X, X[:, 0]); new = set(sys.modules) - known; "
    code += "print([m for m in ('numpy.ma', 'scipy', 'sklearn', 'matplotlib', 'pandas', 'polars', 'pyarrow') if m in new])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"



def test_plots_draw_what_they_are_given():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = regression(noise=1.5)
    model = bestset.BestSubsetRegressorCV(cv=3).fit(X, y)
    path = bestset.path(X, y, max_size=8)
    lines = plots.coefficient_path(path, named=3)
    shown = {line.get_label() for line in lines.get_lines()}
    assert {"x3", "x7"} <= shown
    heat = plots.support(model)
    assert heat.get_yticklabels()[0].get_text() == "x3"
    curve = plots.cv_curve(model)
    said = [t.get_text().split(":")[0] for t in curve.get_legend().get_texts()]
    assert said[-2:] == ["min", "1se"] and len(said) == 7, "five lambda2 and two choices"
    colours = {tuple(np.atleast_1d(line.get_color())) for line in curve.get_lines()[:5]}
    assert len(colours) == 5, "each lambda2 can be told from the others"
    drawn = curve.get_lines()[4]
    own = model.lambda2s_ == model.lambda2_
    scores = dict(zip(model.path_.sizes[own], -model.cv_mean_[own]))
    np.testing.assert_allclose(drawn.get_ydata(), [scores[size] for size in drawn.get_xdata()])
    solved = bestset.solve(*hard(), lambda0=2.0, lambda2=1.0, standardize=False, method="exact", max_nodes=20)
    gap = plots.gap(solved, ax=plt.subplots()[1])
    assert gap.get_lines()[1].get_ydata()[-1] == pytest.approx(solved.lower_bound)
    proved = bestset.solve(X, y, lambda0=5.0, method="exact")
    meeting = plots.gap(proved, ax=plt.subplots()[1])
    assert meeting.get_xlim()[1] > proved.seconds, "where the lines meet is not the edge"
    above, below = (line.get_ydata()[-2:] for line in meeting.get_lines())
    np.testing.assert_allclose(above, below, rtol=1e-6, err_msg="a proof ends where the lines meet")
    plt.close("all")
    with pytest.raises(ValueError, match="no trace"):
        plots.gap(bestset.solve(X, y, lambda0=1.0, trace=False))
    with pytest.raises(TypeError, match="Path"):
        plots.support(3)
    with pytest.raises(TypeError, match="cross-validation"):
        plots.cv_curve(bestset.BestSubsetRegressor().fit(X, y))
