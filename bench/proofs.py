"""Times solves, proofs in files and their checks; prints rows of the table of bench/PROOFS.md.

    python3 bench/proofs.py DATA TARGET LAMBDA2 K [K ...]      K may be a range, 1-19, or prices LAMBDA0:LAMBDA1, 0.1:0.2
    python3 bench/proofs.py draw FILE.npy paper N SNR          the paper's simulation (problems.py), the target its column x1
    python3 bench/proofs.py draw FILE.npy wide P SNR           n = 1000, ten coefficients of one size, the same way
    python3 bench/proofs.py draw FILE.npy independent P SNR    n = 1000, five coefficients of one size, independent columns

Seconds of the processor on one thread: of the solve alone, of the solve and the search in proof mode after it (no pools, only what a record
can say) with nothing kept of what it says, of the same with the file written, of the check; nodes and bytes of the proof. The programs are
those in target/debug, or in the folder that BESTSET_BIN names. A proof that is not accepted is said, and ends with 1.
"""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ.get("BESTSET_BIN", pathlib.Path(__file__).parents[1] / "target" / "debug"))
LIMIT = os.environ.get("BESTSET_LIMIT", "300")


def run(*words):
    """What a command printed, and the seconds of the processor that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(data, target, ridge, k):
    """One line of the table; whether the proof was accepted."""
    prices = k.split(":")
    asked = ["-k", k] if len(prices) == 1 else ["--lambda0", prices[0], "--lambda1", prices[1]]
    ask = [BIN / "bestset", "exact", data, "--target", target, *asked, "--lambda2", ridge, "--threads", 1, "--time-limit", LIMIT]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "x.bsp"
        plain, alone = run(*ask)
        nothing = pathlib.Path(folder) / "nothing.bsp"
        # What there is of a proof goes into a file of this name until it is whole: here it is lost on the way.
        nothing.with_name("nothing.bsp.part").symlink_to("/dev/null")
        _, mode = run(*ask, "--proof", nothing)
        proved, both = run(*ask, "--proof", file)
        nodes = re.search(r"(\d+) nodes, (\d+) bytes", proved.stdout)
        if nodes is None:
            reason = (proved.stderr or plain.stdout).strip().splitlines()[-1:]
            return f"| {pathlib.Path(data).stem} | {ridge} | {k} | {alone:.2f} | {mode:.2f} | {both:.2f} | no proof: {reason} |", False
        checked, check = run(BIN / "bestset-check", data, file, "--counts")
    name, size = pathlib.Path(data).stem, int(nodes[2])
    row = f"| {name} | {ridge} | {k} | {alone:.2f} | {mode:.2f} | {both:.2f} | {check:.2f} | {int(nodes[1]):,} |"
    if checked.returncode != 0:
        return f"{row} NOT ACCEPTED: {checked.stdout.strip()}", False
    splits, bounds, _, fits, _ = re.findall(r"(\d+) \w+", checked.stdout.strip().splitlines()[-1])
    length = f"{size / 1e3:.1f} KB" if size < 1e6 else f"{size / 1e6:.1f} MB"
    return f"{row} {int(splits):,} | {int(bounds):,} | {int(fits):,} | {length} |", True


def draw(file, kind, size, snr):
    """Writes a problem; the columns are of length one, as the solver takes them."""
    # Nothing else needs more than the standard library.
    import numpy
    import problems

    if kind == "paper":
        X, y, _ = problems.paper_data(int(size), int(snr), 1)
    else:
        correlation, count = {"wide": (0.1, 10), "independent": (0.0, 5)}[kind]
        rng = numpy.random.default_rng([1, int(size), int(snr)])
        X = problems.unit_columns(problems.autoregressive(rng, 1000, int(size), correlation))
        support = rng.choice(X.shape[1], count, replace=False)
        y = problems.with_noise(rng, X[:, support] @ rng.choice([-1.0, 1.0], count), int(snr))
    numpy.save(file, numpy.asfortranarray(numpy.column_stack([y, X])))
    return 0


def main(data, target, ridge, *sizes):
    if data == "draw":
        return draw(target, ridge, *sizes)
    accepted = 0
    ks = []
    for size in sizes:
        first, _, last = size.partition("-")
        ks += [size] if ":" in size else [str(k) for k in range(int(first), int(last or first) + 1)]
    for k in ks:
        line, is_accepted = row(data, target, ridge, k)
        accepted += is_accepted
        print(line, flush=True)
    print(f"{accepted} of {len(ks)} accepted", flush=True)
    return 0 if accepted == len(ks) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 4 else print(__doc__) or 2)
