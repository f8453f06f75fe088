"""A cohort on SLURM: python fit.py cohort.bed y.npy"""

import sys

import numpy as np
from dask_jobqueue import SLURMCluster
from distributed import Client

import bestset.dask as bd


def main(genotypes: str, target: str) -> None:
    # One worker of eight threads a job: of a job with several workers, lost for good, dask-jobqueue does not start another.
    requeue = ["--requeue"]
    cluster = SLURMCluster(cores=8, processes=1, memory="64GB", walltime="04:00:00", job_extra_directives=requeue, local_directory="/tmp")
    cluster.adapt(minimum_jobs=2, maximum_jobs=40)
    with cluster, Client(cluster) as client:
        X = bd.open(genotypes, impute="mean")  # on a file system that all nodes have
        model = bd.DaskBestSubsetRegressor(client=client).fit(X, np.load(target))
        print(model.summary())
        model.save("model.json")


if __name__ == "__main__":
    main(*sys.argv[1:])
