"""Checks a proof of docs/PROOF.md in exact fractions: slow, and as obvious as can be. For small problems, to test `bestset-check`.

    python3 check_proof.py DATA.csv PROOF
    python3 check_proof.py --many FOLDER      every *.bsp beside a *.csv of its name, a line "name 1" or "name 0" for each
"""

import csv
import hashlib
import math
import pathlib
import struct
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

INFINITE = float("inf")
SQUARED, LOGISTIC, HINGE, HUBER, POISSON, GAMMA, NEGATIVE_BINOMIAL = range(7)
getcontext().prec = 60


class Rejected(Exception):
    """What does not hold."""


def demand(holds, what):
    if not holds:
        raise Rejected(what)


class Source:
    """The bytes of a proof (PROOF, "The file")."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        demand(self.place + count <= len(self.data), "the file ends in the middle")
        self.place += count
        return self.data[self.place - count : self.place]

    def byte(self):
        return self.take(1)[0]

    def flag(self):
        value = self.byte()
        demand(value in (0, 1), "a flag is 0 or 1")
        return value == 1

    def whole(self):
        value = 0
        for k in range(6):
            byte = self.byte()
            value |= (byte & 127) << (7 * k)
            if byte < 128:
                demand(value <= 1 << 40, "a whole number of more than 2^40")
                return value
        raise Rejected("a whole number of more than 2^40")

    def real(self):
        value = struct.unpack("<d", self.take(8))[0]
        demand(value == value, "not a number")
        return value

    def number(self):
        value = self.real()
        demand(value == 0 or 1e-60 <= abs(value) <= 1e60, "a number out of range")
        return Fraction(value)

    def end(self):
        """A bound on a coefficient, which may be infinite."""
        value = self.real()
        return value if abs(value) == INFINITE else Fraction(value)

    def text(self):
        return self.take(self.whole()).decode()

    def features(self, p):
        found = []
        for k in range(self.whole()):
            by = self.whole()
            demand(k == 0 or by > 0, "features ascend")
            found.append(by if k == 0 else found[-1] + by)
            demand(found[-1] < p, "a feature beyond the last")
        return found

    def sparse(self, p):
        found = {j: None for j in self.features(p)}
        for j in found:
            found[j] = self.number()
            demand(found[j] != 0, "a coefficient of zero")
        return found


class Problem:
    """The header, and the columns x̂ and targets ŷ in exact fractions (PROOF, "The problem")."""

    def __init__(self, source, table):
        demand(source.take(8) == b"BSPROOF4", "no proof of version 4")
        claimed = source.take(32)
        self.n, self.p = source.whole(), source.whole()
        target, weights, offset = source.text(), source.text(), source.text()
        names = self.names = [source.text() for _ in range(self.p)]
        self.loss = source.byte()
        demand(self.loss <= NEGATIVE_BINOMIAL, "no such loss")
        self.delta = source.number() if self.loss in (HUBER, NEGATIVE_BINOMIAL) else None
        demand(self.delta is None or self.delta > 0, "a width is positive")
        self.intercept = source.flag()
        scales = [source.number() for _ in range(self.p)] if source.flag() else [Fraction(1)] * self.p
        demand(all(s > 0 for s in scales), "scales are positive")
        each = source.flag()
        penalties = [self.penalty(source) for _ in range(self.p if each else 1)]
        self.penalties = penalties if each else penalties * self.p
        self.first = self.penalties
        self.size = source.whole() - 1
        self.size = None if self.size < 0 else self.size
        self.bound, self.excepted = source.number(), source.flag()
        self.claimed = self.bound
        self.answers = [source.sparse(self.p) for _ in range(source.whole())]
        for answer in self.answers:
            demand(self.size is None or len(answer) <= self.size, "an answer is too large")
            demand(all(self.penalties[j][3] <= b <= self.penalties[j][4] for j, b in answer.items()), "an answer is out of bounds")
        self.dependent = [set(source.features(self.p)) for _ in range(source.whole())]
        demand(all(self.dependent), "every subset holds a set of no features")
        self.covered = 0
        columns = [table[name] for name in names]
        y, w, o = (table[name] if name else None for name in (target, weights, offset))
        demand(all(len(c) == self.n for c in [*columns, y, w, o] if c is not None), "the data has other rows")
        demand(hash_of(self.n, self.p, columns, y, w, o) == claimed, "the proof is of other data")
        self.w = [Fraction(v) for v in w] if w else [Fraction(1)] * self.n
        self.x = [self.centred([Fraction(v) / scales[j] for v in column]) for j, column in enumerate(columns)]
        self.o = [Fraction(v) for v in o] if o else [Fraction(0)] * self.n
        if self.loss not in (SQUARED, HUBER):
            demand(self.loss not in (LOGISTIC, HINGE) or all(abs(a) == 1 for a in y), "classes are -1 and 1")
            demand(self.loss in (LOGISTIC, HINGE) or all(a >= 0 for a in y), "counts are not negative")
            demand(self.loss != GAMMA or all(a > 0 for a in y), "amounts are positive")
            self.y = [Fraction(a) for a in y]
        else:
            self.y, self.o = self.centred([Fraction(a) - self.o[i] for i, a in enumerate(y)]), [Fraction(0)] * self.n

    @staticmethod
    def penalty(source):
        l0, l1, l2 = source.number(), source.number(), source.number()
        low, high = source.end(), source.end()
        demand(min(l0, l1, l2) >= 0 and low <= 0 <= high, "a penalty out of range")
        return l0, l1, l2, low, high

    def centred(self, column):
        if not self.intercept:
            return column
        mean = sum(w * v for w, v in zip(self.w, column)) / sum(self.w)
        return [v - mean for v in column]

    @property
    def price(self):
        """The least λ0."""
        return min(penalty[0] for penalty in self.penalties)

    def fit(self, subset):
        """½‖ŷ − X̂b‖² + Σλ2b² at its least over b on a subset, by elimination."""
        columns = [self.x[j] for j in sorted(subset)] + [self.y]
        a = [[self.inner(u, v) for v in columns] for u in columns]
        for k, j in enumerate(sorted(subset)):
            a[k][k] += 2 * self.penalties[j][2]
        for k in range(len(subset)):
            for i in range(k + 1, len(columns)):
                if a[k][k] != 0:
                    factor = a[i][k] / a[k][k]
                    a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
        return a[-1][-1] / 2

    def cost(self, answer):
        """P at coefficients, at an intercept near the best one."""
        u = predicted(self, answer)
        b = Fraction(0 if self.loss == SQUARED else intercept_of(self, u))
        paid = sum(self.first[j][0] + self.first[j][1] * abs(v) + self.first[j][2] * v * v for j, v in answer.items())
        return paid + sum(w * loss_of(self, i, u[i] + b) for i, w in enumerate(self.w) if w > 0)

    def inner(self, a, b):
        return sum(w * u * v for w, u, v in zip(self.w, a, b))


def hash_of(n, p, columns, y, w, o):
    def digest(column):
        return hashlib.sha256(struct.pack(f"<{len(column)}d", *column)).digest()

    total = hashlib.sha256(b"bestset data 1" + struct.pack("<QQ", n, p))
    for column in columns:
        total.update(digest(column))
    for part in (y, w, o):
        total.update(b"\0" if part is None else b"\1" + digest(part))
    return total.digest()


def is_semidefinite(matrix):
    """By elimination; a pivot of zero has zeros beside it."""
    m = len(matrix)
    a = [row[:] for row in matrix]
    for k in range(m):
        if a[k][k] < 0 or (a[k][k] == 0 and any(a[k][l] != 0 for l in range(k + 1, m))):
            return False
        for i in range(k + 1, m):
            if a[k][k] != 0 and a[i][k] != 0:
                factor = a[i][k] / a[k][k]
                a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
    return True


def least(penalty, d, slope, price):
    """φ: the least of λ0 + ν + tb + ½db² + λ1|b| + λ2b² within the bounds."""
    l0, l1, l2, low, high = penalty
    q, lowest = l2 + d / 2, Fraction(0)
    for t, reach in ((slope, high), (-slope, -low)):
        s = t + l1
        ends = [] if reach == INFINITE else [Fraction(reach)]
        if q > 0 and s < 0:
            best = -s / (2 * q)
            lowest = min(lowest, *(s * m + q * m * m for m in [best if not ends else min(best, ends[0])]))
        elif q <= 0:
            if not ends and (q < 0 or s < 0):
                return -INFINITE
            lowest = min([lowest, *(s * m + q * m * m for m in ends)])
    return l0 + price + lowest


def logarithm(t):
    """log t to sixty digits."""
    return Fraction((Decimal(t.numerator) / Decimal(t.denominator)).ln())


def entropy(t):
    """At least t log t, from sixty digits."""
    if t == 0:
        return Fraction(0)
    return t * logarithm(t) + Fraction(1, 10**50)


def exponential(t):
    """exp t to sixty digits."""
    return Fraction((Decimal(t.numerator) / Decimal(t.denominator)).exp())


def loss_of(problem, i, u):
    """ℓ of a sample, to about fifty digits."""
    y, theta = problem.y[i], problem.delta
    if problem.loss == SQUARED:
        return (y - u) ** 2 / 2
    if problem.loss == LOGISTIC:
        return logarithm(1 + exponential(-y * u))
    if problem.loss == HINGE:
        return max(Fraction(0), 1 - y * u) ** 2
    if problem.loss == POISSON:
        return exponential(u) - y * u + entropy(y) - y
    if problem.loss == GAMMA:
        return y * exponential(-u) + u - logarithm(y) - 1
    if problem.loss == NEGATIVE_BINOMIAL:
        return (y + theta) * logarithm((theta + exponential(u)) / (theta + y)) - y * u + entropy(y)
    r = abs(y - u)
    return r * r / 2 if r <= theta else theta * r - theta * theta / 2


def conjugate(problem, i, a):
    """At least ℓ*(a) of a sample; infinite outside its domain."""
    y = problem.y[i]
    t = -y * a
    if problem.loss == LOGISTIC:
        return entropy(t) + entropy(1 - t) if 0 <= t <= 1 else INFINITE
    if problem.loss == HINGE:
        return t * t / 4 - t if t >= 0 else INFINITE
    if problem.loss == POISSON:
        return entropy(a + y) - entropy(y) - a + Fraction(1, 10**49) if a + y >= 0 else INFINITE
    if problem.loss == GAMMA:
        return entropy(1 - a) + a * logarithm(y) + a + abs(a) * Fraction(1, 10**49) if a <= 1 else INFINITE
    if problem.loss == NEGATIVE_BINOMIAL:
        theta = problem.delta
        if not -y <= a <= theta:
            return INFINITE
        return entropy(a + y) + entropy(theta - a) - (theta - a) * logarithm(theta) - entropy(y) + Fraction(1, 10**45)
    return a * a / 2 + a * y if abs(a) <= problem.delta else INFINITE


def slope_of(problem, y, v):
    """ℓ′ and whether it answers, in floating point: any slope in the domain of ℓ* makes a valid bound."""
    if problem.loss == LOGISTIC:
        return -y / (1 + math.exp(min(700.0, y * v)))
    if problem.loss == HINGE:
        return -2 * y * max(0.0, 1 - y * v)
    if problem.loss == POISSON:
        return max(-y, math.exp(min(700.0, v)) - y)
    if problem.loss == GAMMA:
        return 1 - y * math.exp(min(700.0, -v))
    if problem.loss == NEGATIVE_BINOMIAL:
        theta = float(problem.delta)
        return max(-y, min(theta, (y + theta) / (1 + theta * math.exp(min(700.0, -v))) - y))
    return max(-float(problem.delta), min(float(problem.delta), v - y))


def predicted(problem, beta):
    """o + X̃b, without the intercept."""
    u = list(problem.o)
    for j, b in beta.items():
        u = [s + b * x for s, x in zip(u, problem.x[j])]
    return u


def slopes_at(problem, u, b):
    return [slope_of(problem, float(y), float(v) + b) if w > 0 else 0.0 for y, v, w in zip(problem.y, u, problem.w)]


def intercept_of(problem, u):
    """An intercept near the best one, in floating point."""
    if not problem.intercept:
        return 0.0
    w = [float(s) for s in problem.w]

    def is_rising(b):
        return sum(weight * a for weight, a in zip(w, slopes_at(problem, u, b))) > 0

    low, high = -1.0, 1.0
    while is_rising(low) and low > -1e70:
        low *= 4
    while not is_rising(high) and high < 1e70:
        high *= 4
    for _ in range(2000):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if is_rising(middle) else (middle, high)
    return low


def dual_point(problem, beta):
    """Slopes a with Σ w a = 0 exactly where there is an intercept, near those of the losses at β (PROOF, "Other losses")."""
    u = predicted(problem, beta)
    a = [Fraction(s) for s in slopes_at(problem, u, intercept_of(problem, u))]
    if not problem.intercept:
        return a
    total = sum(weight * s for weight, s in zip(problem.w, a))
    heavier = [i for i in range(problem.n) if a[i] * total > 0]
    if total != 0:
        share = total / sum(problem.w[i] * a[i] for i in heavier)
        for i in heavier:
            a[i] *= 1 - share
    return a


class Tree:
    """The records (PROOF, "Records")."""

    def __init__(self, problem):
        self.problem = problem
        self.free = {j for j, t in enumerate(problem.penalties) if not (t[3] == 0 and t[4] == 0)}
        self.inside, self.lemma, self.waiting, self.closed = set(), None, [], False

    def follow(self, source):
        records = {1: self.split, 2: self.bound, 3: self.psd, 4: self.fill, 5: self.listed, 7: self.fit, 8: self.pairs, 9: self.coherence}
        records |= {10: self.dependent, 11: self.covered}
        while (record := source.byte()) != 6:
            demand(record in records and not self.closed, "no such record here")
            records[record](source)
        demand(self.closed and source.place == len(source.data), "the end, with families open")

    def close(self):
        if self.waiting:
            self.free, self.inside, self.lemma = self.waiting.pop()
        else:
            self.closed = True

    def split(self, source):
        j, in_first = source.whole(), source.flag()
        demand(j in self.free, "only a free feature divides")
        rest = self.free - {j}
        sides = [(rest, self.inside, self.lemma), (set(rest), self.inside | {j}, self.lemma)]
        first, other = (sides[1], sides[0]) if in_first else (sides[0], sides[1])
        self.waiting.append(other)
        self.free, self.inside, self.lemma = set(first[0]), set(first[1]), first[2]

    def value(self, source):
        """V of (P4) at a point, with all φ."""
        problem = self.problem
        beta, uses_lemma, price = source.sparse(problem.p), source.flag(), source.number()
        demand(not uses_lemma or self.lemma is not None, "there is no lemma")
        d = self.lemma if uses_lemma else {}
        demand(not uses_lemma or all(j in d for j in beta), "the lemma does not speak of the anchor")
        demand(price == 0 or (price > 0 and problem.size is not None), "a price needs a size")
        members = self.free | self.inside | set(beta)
        if problem.loss == SQUARED:
            r = problem.y
            for j, b in beta.items():
                r = [u - b * v for u, v in zip(r, problem.x[j])]
            g = {j: -problem.inner(problem.x[j], r) for j in members}
            value = problem.inner(r, r) / 2
            value += sum(d.get(j, 0) * b * b / 2 - g[j] * b for j, b in beta.items())
        else:
            a = dual_point(problem, beta)
            g = {j: problem.inner(problem.x[j], a) for j in members}
            costs = [conjugate(problem, i, a[i]) for i in range(problem.n)]
            value = -INFINITE
            if INFINITE not in costs:
                value = -sum(w * (cost - s * o) for w, cost, s, o in zip(problem.w, costs, a, problem.o))
        value = value if value == -INFINITE else value - price * (problem.size or 0)
        phi = {}
        for j in self.free | self.inside:
            curvature = d.get(j, Fraction(0))
            phi[j] = least(problem.penalties[j], curvature, g[j] - curvature * beta.get(j, 0), price)
        terms = [phi[j] for j in self.inside] + [min(0, phi[j]) for j in self.free]
        return -INFINITE if -INFINITE in [value, *terms] else value + sum(terms), phi

    def bound(self, source):
        problem, (value, phi) = self.problem, self.value(source)
        if source.flag():
            demand(value >= problem.bound, "the bound is below what is claimed")
            self.close()
            return
        inside, kept, listed = source.features(problem.p), source.flag(), source.features(problem.p)
        outside = [j for j in sorted(self.free) if j not in listed and j not in inside] if kept else listed
        demand(len({*inside, *outside}) == len(inside) + len(outside), "a feature is in and out")
        demand({*inside, *outside} <= self.free, "a feature is decided already")
        demand(value > -INFINITE or not (inside or outside), "there is no bound")
        for j in inside:
            demand(value - min(0, phi[j]) >= problem.bound, "nothing shows that a feature is in")
        for j in outside:
            demand(value - min(0, phi[j]) + phi[j] >= problem.bound, "nothing shows that a feature is out")
        self.free = self.free - {*inside, *outside}
        self.inside = self.inside | {*inside}

    def psd(self, source):
        problem = self.problem
        demand(problem.loss == SQUARED, "a lemma is about the squared loss")
        d = {j: None for j in source.features(problem.p)}
        for j in d:
            d[j] = source.number()
        demand(self.free | self.inside <= set(d), "the lemma leaves a feature out")
        x = problem.x
        matrix = [[problem.inner(x[j], x[l]) - (d[j] if j == l else 0) for l in d] for j in d]
        demand(is_semidefinite(matrix), "the matrix of a lemma is not semidefinite")
        self.lemma = d

    def fill(self, source):
        size = self.problem.size
        demand(size is not None and len(self.inside) >= size, "the size is not reached")
        if len(self.inside) > size:
            self.close()
        else:
            self.free = set()

    def listed(self, source):
        demand(self.problem.excepted and not self.free, "this is no single answer that is excepted")
        demand(any(set(answer) == self.inside for answer in self.problem.answers), "this is no answer")
        self.close()

    def dependent(self, source):
        demand(any(apart <= self.inside for apart in self.problem.dependent), "no set of which nothing is claimed is in")
        self.close()

    def covered(self, source):
        problem, place = self.problem, source.whole()
        demand(problem.excepted and not self.free and place < len(problem.answers), "this is no single subset that holds an answer's")
        demand(set(problem.answers[place]) < self.inside, "the subset does not hold the answer's")
        value, _ = self.value(source)
        costs = [problem.cost(answer) for answer in problem.answers]
        demand(value >= costs[place] - max(costs) + problem.claimed, "the bound is below an answer that the subset holds")
        problem.covered += 1
        self.close()

    def fits(self):
        """Fits on all members and without each free one; the sizes that may hold a subset below B (PROOF, "FIT")."""
        problem, members = self.problem, self.free | self.inside
        demand(problem.loss == SQUARED, "a fit is one of the squared loss")
        everything = problem.fit(members)
        without = {j: problem.fit(members - {j}) for j in self.free}
        most = len(members) if problem.size is None else min(len(members), problem.size)

        def is_open(t):
            dear = [j for j in self.free if without[j] + problem.price * t >= problem.bound]
            return everything + problem.price * t < problem.bound and len(dear) <= t - len(self.inside)

        return without, [t for t in range(len(self.inside), most + 1) if is_open(t)], most

    def fit(self, source):
        without, sizes, _ = self.fits()
        problem = self.problem
        if source.flag():
            demand(not sizes, "fits leave a size open")
            self.close()
            return
        inside = source.features(problem.p)
        demand(set(inside) <= self.free, "a feature is decided already")
        for j in inside:
            demand(all(without[j] + problem.price * t >= problem.bound for t in sizes), "nothing shows that a feature is in")
        self.free, self.inside = self.free - set(inside), self.inside | set(inside)

    def pairs(self, source):
        _, sizes, most = self.fits()
        problem, size = self.problem, len(self.inside)
        demand(all(t <= size + 2 for t in sizes), "more than two features may be added")
        more = [set()] + [{a} for a in self.free] + [{a, b} for a in self.free for b in self.free if a < b]
        for subset in (self.inside | extra for extra in more if size + len(extra) <= most):
            is_answer = problem.excepted and any(set(answer) == subset for answer in problem.answers)
            is_answer |= any(apart <= subset for apart in problem.dependent)
            holds = problem.fit(subset) + problem.price * len(subset) >= problem.bound
            demand(holds or is_answer, "a subset may be below what is claimed")
        self.close()


    def coherence(self, source):
        """No subset with fewer than m₀ features outside those of a point is below B (PROOF, "COHERENCE")."""
        problem, x = self.problem, self.problem.x
        beta = source.sparse(problem.p)
        rho = {j: source.number() for j in beta}
        added, cheaper = source.whole(), source.number()
        demand(problem.loss == SQUARED and all(r >= 0 for r in rho.values()), "coherence is one of the squared loss")
        demand(set(beta) <= self.free | self.inside, "a feature of the point is out")
        outside = [j for j in sorted((self.free | self.inside) - set(beta)) if any(x[j])]
        members = [*beta, *outside]
        # Schur's complement of Q on Â less ϱ, which must be definite.
        q = [[problem.inner(x[j], x[l]) for l in members] for j in members]
        for a, j in enumerate(beta):
            q[a][a] -= rho[j]
        for a in range(len(beta)):
            demand(q[a][a] > 0, "the curvature of the point is more than the loss has to give")
            for b in range(a + 1, len(members)):
                factor = q[b][a] / q[a][a]
                q[b] = [s - factor * t for s, t in zip(q[b], q[a])]
        left = {j: {l: q[len(beta) + a][len(beta) + b] for b, l in enumerate(outside)} for a, j in enumerate(outside)}
        # Any units will do: lengths, as far as they are numbers.
        unit = {j: Fraction(math.sqrt(float(problem.inner(x[j], x[j])))) or Fraction(1) for j in outside}
        r = problem.y
        for j, b in beta.items():
            r = [u - b * v for u, v in zip(r, x[j])]
        g = {j: -problem.inner(x[j], r) for j in members}
        value = problem.inner(r, r) / 2 + sum(rho[j] * b * b / 2 - g[j] * b for j, b in beta.items())
        own = {j: least(problem.penalties[j], rho[j], g[j] - rho[j] * b, 0) for j, b in beta.items()}

        def phi(j, m):
            sizes = sorted((abs(left[j][l]) / (unit[j] * unit[l]) for l in outside if l != j), reverse=True)
            d = left[j][j] - unit[j] * unit[j] * sum(sizes[: m - 1])
            return least(problem.penalties[j], d, g[j], 0)

        most, cost = 0, 0
        for price in sorted(problem.penalties[j][0] for j in members):
            cost += price
            if cost >= problem.bound:
                break
            most += 1
        most = most if problem.size is None else min(most, problem.size)
        forced, gains = [own[j] for j in beta if j in self.inside], sorted(min(0, own[j]) for j in beta if j in self.free)
        needed = [j for j in outside if j in self.inside]
        room = most - len(forced)
        for m in range(len(needed), min(added - 1, len(outside), room) + 1):
            free = sorted(phi(j, m) for j in outside if j in self.free)[: m - len(needed)]
            terms = [*forced, *gains[: room - m], *(phi(j, m) for j in needed), *free]
            demand(-INFINITE not in terms and value + sum(terms) >= problem.bound, "so many features more may be below what is claimed")
        if added > (min(len(outside), room) if room >= 0 else 0):
            self.close()
            return
        demand(not self.waiting, "families wait")
        demand(all(0 <= cheaper <= problem.penalties[j][0] for j in range(problem.p) if j not in beta), "prices are not negative")
        problem.penalties = [t if j in beta else (t[0] - cheaper, *t[1:]) for j, t in enumerate(problem.penalties)]
        problem.bound -= cheaper * added


def check(data, proof):
    """The problem, if the proof holds; `Rejected` if not."""
    with open(data, newline="") as file:
        rows = list(csv.reader(file))
    table = {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}
    source = Source(pathlib.Path(proof).read_bytes())
    try:
        problem = Problem(source, table)
        Tree(problem).follow(source)
    except (KeyError, UnicodeDecodeError, OverflowError) as error:
        raise Rejected(repr(error)) from error
    return problem


def sentence(problem):
    """What has been proved, with all that nothing is said of."""
    but = [f"the {len(problem.answers)} answers"] if problem.excepted else []
    if problem.covered:
        costs = [problem.cost(answer) for answer in problem.answers]
        room = max(costs) - problem.claimed
        nothing = " (nothing where that one's is no larger: no P is below zero)" if room >= min(costs) else ""
        but += [f"{problem.covered} that hold one of them, whose P is at least that one's less {float(room)!r}{nothing},"]
    but += [f"those that hold all of {[problem.names[j] for j in sorted(apart)]}" for apart in problem.dependent]
    subsets = "every subset" + (f" of at most {problem.size}" if problem.size is not None else "")
    return f"Proved: P of {subsets}{' but ' + ' and '.join(but) if but else ''} is at least {float(problem.claimed)!r}."


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--many":
        for proof in sorted(pathlib.Path(arguments[1]).glob("*.bsp")):
            try:
                check(proof.with_suffix(".csv"), proof)
                print(proof.stem, 1)
            except Rejected:
                print(proof.stem, 0)
        return 0
    if len(arguments) != 2:
        print(__doc__)
        return 2
    try:
        problem = check(*arguments)
    except Rejected as problem:
        print(f"Not proved: {problem}.")
        return 1
    print(sentence(problem))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
