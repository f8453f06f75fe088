"""How long importing and the very first fit take, 100 x 20, in processes of their own: python release/first_fit.py [PROCESSES]"""

import json
import statistics
import subprocess
import sys

#: One process: milliseconds of the clock and of the processors for each step.
ONE = """
import json, time
clock = lambda: (time.perf_counter(), time.process_time())
steps, last = {}, clock()
def step(name):
    global last
    now = clock()
    steps[name] = [1e3 * (a - b) for a, b in zip(now, last)]
    last = clock()
import numpy as np
step("import numpy")
import bestset
step("import bestset, after numpy")
rng = np.random.default_rng(0)
X = rng.standard_normal((100, 20))
y = 2 * X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(100)
last = clock()
FIRST
"""
SOLVE = """
found = bestset.solve(X, y)
step("solve, the first")
bestset.solve(X, y)
step("solve, the second")
assert found.support.tolist() == [3, 7] and found.proved
print(json.dumps(steps))
"""
ESTIMATOR = """
from bestset import BestSubsetRegressor
step("its estimators, which import scikit-learn")
model = BestSubsetRegressor().fit(X, y)
step("BestSubsetRegressor().fit, the first")
BestSubsetRegressor().fit(X, y)
step("BestSubsetRegressor().fit, the second")
assert model.support_.tolist() == [3, 7]
print(json.dumps(steps))
"""


def main() -> None:
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    for first in (SOLVE, ESTIMATOR):
        code = ONE.replace("FIRST", first)
        runs = []
        for _ in range(processes):
            done = subprocess.run([sys.executable, "-W", "error", "-c", code], stdout=subprocess.PIPE, check=True)
            runs.append(json.loads(done.stdout))
        for name in runs[0] if first is SOLVE else list(runs[0])[2:]:
            clock, work = ([run[name][which] for run in runs] for which in (0, 1))
            print(
                f"{name:42} {min(clock):7.2f} ms at least, {statistics.median(clock):7.2f} median, {max(clock):7.2f} at most; "
                f"processor time {min(work):7.2f}, {statistics.median(work):7.2f}, {max(work):7.2f}"
            )


if __name__ == "__main__":
    main()
