"""A matrix on Kubernetes: python fit.py /data/x.npy /data/y.npy"""

import sys

import numpy as np
from dask_kubernetes.operator import KubeCluster, make_cluster_spec
from distributed import Client

import bestset.dask as bd


def main(matrix: str, target: str) -> None:
    resources = {"requests": {"memory": "8Gi", "cpu": "1"}, "limits": {"memory": "8Gi", "cpu": "1"}}
    spec = make_cluster_spec(name="bestset", image="bestset-dask:latest", n_workers=20, env={}, resources=resources)
    worker = spec["spec"]["worker"]["spec"]  # the volume with the data, for the workers as for this pod
    worker["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}]
    worker["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data", "readOnly": True}]
    with KubeCluster(custom_cluster_spec=spec) as cluster, Client(cluster) as client:
        X = bd.open(matrix)
        model = bd.DaskBestSubsetRegressor(client=client).fit(X, np.load(target))
        print(model.summary())
        model.save("model.json")


if __name__ == "__main__":
    main(*sys.argv[1:])
