"""A matrix on Kubernetes: python fit.py /data/x.npy /data/y.npy"""

import sys

import numpy as np
from dask_kubernetes.operator import KubeCluster
from distributed import Client

import bestset.dask as bd


def main(matrix: str, target: str) -> None:
    resources = {"requests": {"memory": "8Gi", "cpu": "1"}, "limits": {"memory": "8Gi", "cpu": "1"}}
    cluster = KubeCluster(name="bestset", image="bestset-dask:latest", n_workers=20, resources=resources)
    with cluster, Client(cluster) as client:
        X = bd.open(matrix)  # on a volume that all pods mount
        model = bd.DaskBestSubsetRegressor(client=client).fit(X, np.load(target))
        print(model.summary())
        model.save("model.json")


if __name__ == "__main__":
    main(*sys.argv[1:])
