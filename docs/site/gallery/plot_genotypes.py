"""
Genotypes: few causal variants among thousands
==============================================

Simulated counts 0, 1, 2 of an allele in blocks of linkage, with ten causal variants and age always in the model. In memory, as 32-bit
floats. Files of PLINK are read by the command line, see the guide's page on :doc:`genotypes </guide/genotypes>`.
"""

import matplotlib.pyplot as plt
import numpy as np

import bestset

# %%
# Neighbours within a block of 25 are correlated, as variants on one haplotype are.

rng = np.random.default_rng(11)
n, blocks, width = 600, 160, 25
p = blocks * width
frequency = rng.uniform(0.1, 0.5, p)
counts = np.zeros((n, p), dtype=np.float32)
for _ in range(2):
    hidden = np.repeat(rng.standard_normal((n, blocks)), width, axis=1)
    latent = 0.8 * hidden + 0.6 * rng.standard_normal((n, p))
    cut = np.quantile(latent, frequency, axis=0)[np.arange(p), np.arange(p)]
    counts += (latent < cut).astype(np.float32)
causal = np.sort(rng.choice(p, 10, replace=False))
age = rng.uniform(20, 80, n)
trait = counts[:, causal] @ rng.choice([-0.6, 0.6], 10) + 0.02 * age + rng.standard_normal(n)

# %%
# Age costs nothing (`always`); variants are chosen along a path by EBIC, which is careful with thousands of them.

X = np.asfortranarray(np.column_stack([counts, age]), dtype=np.float32)
found = bestset.solve(X, trait, always=[p], max_size=20)
variants = found.support[found.support < p]
print(f"{len(variants)} variants, {len(np.intersect1d(variants, causal))} of the 10 causal ones; age in: {p in found.support}")
print(found.standing)

# %%
# One by one, neighbours of causal variants look associated too. Together, the causal ones are enough.

residual = trait - np.polyval(np.polyfit(age, trait, 1), age)
z = np.abs(counts.T @ residual - counts.mean(0) * residual.sum()) / (counts.std(0) * np.sqrt(n) * residual.std())
fig, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(z, ".", color="silver", markersize=3, label="one by one")
ax.plot(causal, z[causal], "o", mfc="none", color="#c1622d", markersize=9, label="causal")
ax.plot(variants, z[variants], "x", color="#3b6ea5", label="best subset")
ax.set(xlabel="variant", ylabel="|z| of a single regression")
ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()
assert len(np.intersect1d(variants, causal)) >= 7
