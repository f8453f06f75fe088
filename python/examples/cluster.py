"""X on a cluster: two worker processes here, SLURM or Kubernetes elsewhere; the model has the bits of one process."""

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import bestset.dask as bd


def main() -> None:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        rng = np.random.default_rng(0)
        columns = rng.standard_normal((200, 2000))
        y = 2 * columns[:, 7] - columns[:, 1200] + 0.5 * rng.standard_normal(200)
        X = da.from_array(columns, chunks=(-1, 500)).persist()  # all samples of 500 features in a part

        model = bd.DaskBestSubsetRegressor(client=client).fit(X, y)
        print("selected", model.support_, "status", model.status_)
        print("no subset of this penalty has P below", f"{model.lower_bound_:.6g};", "this one has", f"{model.objective_:.6g}")

        local = model.to_local()  # without Dask
        print("the same predictions:", bool(np.array_equal(local.predict(columns), model.predict(columns))))


if __name__ == "__main__":
    main()
