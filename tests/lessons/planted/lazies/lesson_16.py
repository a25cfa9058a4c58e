"""The laziest ways through lesson 16: TensorFlow's workers and parameter servers."""

from tests.lessons.planted.lazy import Lazy, LazyTable

TABLE: LazyTable = {
    "tf_cluster.py 16.1": {
        "pass": Lazy(
            "pass",
            {
                "workers": "began to record; failed",
                "learnt": "of `multiworker`",
                "same": "of `multiworker`",
            },
            base="right",
            start="fails",
        ),
        "each worker alone": Lazy(
            "here = f'{hosts[task][index]}:{ports[task][index]}'\n"
            "return {'cluster': {task: [here]}, 'task': {'type': task, 'index': 0}}",
            {
                "workers": "ranks whose gradients arrived: 1 rank",
                "same": "training loss of the last epoch",
            },
            base="right",
        ),
        "nobody in the cluster": Lazy(
            "return {'cluster': {}, 'task': {'type': task, 'index': index}}",
            {
                "workers": "ranks whose gradients arrived: 1 rank",
                "same": "training loss of the last epoch",
            },
            base="right",
        ),
    },
}
