"""A model as ONNX: a TreeEnsembleClassifier of raw values, whose scores are the votes.

Input `raw`, double [N, features], the raw integers; outputs `label`, int64 [N], and `scores`,
float [N, classes]. Thresholds are doubles, which represent every raw value exactly. Votes are
below 2**24, so floats represent their sums exactly. The label is computed from the scores, since
the classifier's own label for two classes depends on the ONNX runtime.
"""

from __future__ import annotations

from typing import Any

from ..base.errors import UserError
from .frozen import Frozen
from .trees import Leaf, Node

_LOST = "It takes raw integers as doubles, and has no missing values."


def exported(model: Frozen) -> tuple[bytes, str]:
    """Return the model's bytes and a note on limits. Raises UserError for naive Bayes leaves."""
    model.refuse_bayes("ONNX's leaves hold class shares")
    try:
        from onnx import TensorProto, helper
    except ImportError:
        raise UserError(
            "--format onnx needs the package onnx: pip install 'microshrub[export]'"
        ) from None
    node = helper.make_node(
        "TreeEnsembleClassifier",
        ["raw"],
        ["unused", "scores"],
        domain="ai.onnx.ml",
        post_transform="NONE",
        classlabels_int64s=list(range(model.classes)),
        **_nodes(model),
        **_leaves(model),
    )
    most = helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0)
    graph = helper.make_graph(
        [node, most],
        "microshrub",
        [helper.make_tensor_value_info("raw", TensorProto.DOUBLE, [None, model.features])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, model.classes]),
        ],
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    made = helper.make_model(graph, opset_imports=versions, ir_version=8)
    return bytes(made.SerializeToString()), _LOST


def _nodes(model: Frozen) -> dict[str, Any]:
    """Return the attributes of tests and leaves, tree by tree, with the root first."""
    from onnx import TensorProto, helper

    rows: list[tuple[int, int, int, float, int, int]] = []
    for tree, (_, nodes) in enumerate(_numbered(model)):
        for number, (node, below, above) in enumerate(nodes):
            if isinstance(node, Leaf):
                rows.append((tree, number, 0, 0.0, 0, 0))
            else:
                value = model.model.quantizer.raw(node.feature, node.threshold)
                rows.append((tree, number, node.feature, float(value), below, above))
    trees, numbers, features, values, below_of, above_of = zip(*rows, strict=True)
    return {
        "nodes_treeids": trees,
        "nodes_nodeids": numbers,
        "nodes_featureids": features,
        "nodes_modes": ["BRANCH_LEQ" if child else "LEAF" for child in below_of],
        "nodes_values_as_tensor": helper.make_tensor(
            "values", TensorProto.DOUBLE, [len(values)], values
        ),
        "nodes_truenodeids": below_of,
        "nodes_falsenodeids": above_of,
    }


def _leaves(model: Frozen) -> dict[str, Any]:
    """Return the attributes of the leaves' votes."""
    from onnx import TensorProto, helper

    rows = [
        (tree, number, label, float(votes))
        for tree, (factor, nodes) in enumerate(_numbered(model))
        for number, (node, _, _) in enumerate(nodes)
        if isinstance(node, Leaf)
        for label, votes in enumerate(_votes(model, node, factor))
    ]
    trees, numbers, labels, weights = zip(*rows, strict=True)
    return {
        "class_treeids": trees,
        "class_nodeids": numbers,
        "class_ids": labels,
        "class_weights_as_tensor": helper.make_tensor(
            "weights", TensorProto.DOUBLE, [len(weights)], weights
        ),
    }


def _votes(model: Frozen, leaf: Leaf, factor: int) -> list[int]:
    """Return a leaf's votes; its label gets one more if rounding has tied it with another."""
    answer = model.of(leaf)
    votes = [share * factor for share in answer.shares]
    if model.single and votes.index(max(votes)) != answer.label:
        votes[answer.label] += 1
    return votes


def _numbered(model: Frozen) -> list[tuple[int, list[tuple[Node, int, int]]]]:
    """Return each tree's factor and its nodes with their children's numbers, 0, 0 for a leaf."""
    result = []
    for factor, tree in zip(model.factors, model.trees, strict=True):
        nodes: list[tuple[Node, int, int]] = []

        def add(node: Node, nodes: list[tuple[Node, int, int]] = nodes) -> int:
            place = len(nodes)
            nodes.append((node, 0, 0))
            if not isinstance(node, Leaf):
                nodes[place] = (node, add(node.below), add(node.above))
            return place

        add(tree.root)
        result.append((factor, nodes))
    return result
