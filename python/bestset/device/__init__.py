"""X on a device: arrays of PyTorch, CuPy, JAX or any library of the array API stay where they are.

Arrays in the memory of a device are taken for X as they are (`bestset.solve(X, y)`); `DeviceDesign` does the same for an array in the
memory of the processor, and `DeviceGenotypes` for packed genotypes. Storage may be single precision; products are summed in double
precision, so that TF32 and its like, which round the factors to ten bits, play no part. The active set stays with the processor.

On devices of CUDA the sums are made by kernels of our own, compiled at run time by what PyTorch and CuPy bring along: they read X once,
as it is stored, for up to eight vectors. Elsewhere the products of the array's library are used.
"""

from ._dense import DeviceDesign
from ._genotypes import DeviceGenotypes

__all__ = ["DeviceDesign", "DeviceGenotypes"]
