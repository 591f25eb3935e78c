"""A small writer of ONNX graphs: nodes by operator, constants by value, names made up where none matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["IR_VERSION", "OPSET", "GraphWriter"]

OPSET = 17
"""Of `onnxruntime` 1.12 (2022) and later, browsers and phones included."""
IR_VERSION = 8

Operand = str | npt.NDArray[Any] | float | int


class GraphWriter:
    """Nodes and constants, in the order in which they are made.

    Operands are names of values, arrays, or plain numbers; a whole number stands for int32 and any other for float32.

    >>> graph = GraphWriter()
    >>> x = graph.input("x", np.float32, ["n", 2])
    >>> graph.output("y", graph.op("Mul", x, 2.0), np.float32, ["n", 2])
    >>> [node.op_type for node in graph.model("twice").graph.node]
    ['Mul', 'Identity']
    """

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._tensors: list[onnx.TensorProto] = []

    def input(self, name: str, dtype: Any, shape: list[int | str], *, meaning: str = "") -> str:
        """Add an input of the whole graph and return its name."""
        self._inputs.append(_value(name, dtype, shape, meaning))
        return name

    def output(self, name: str, source: str, dtype: Any, shape: list[int | str], *, meaning: str = "") -> None:
        """Make a value an output of the whole graph."""
        self._nodes.append(helper.make_node("Identity", [source], [name]))
        self._outputs.append(_value(name, dtype, shape, meaning))

    def constant(self, value: npt.NDArray[Any]) -> str:
        """Return the name of a constant; equal ones are stored once."""
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"c{len(self._constants)}"
            self._constants[key] = name
            self._tensors.append(numpy_helper.from_array(array, name))
        return self._constants[key]

    def whole(self, *values: int) -> str:
        """Return a list of whole numbers as shapes and axes are given: int64."""
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, *operands: Operand, **attributes: Any) -> str:
        """Add a node with one result and return its name."""
        return self.many(kind, *operands, results=1, **attributes)[0]

    def many(self, kind: str, *operands: Operand, results: int, **attributes: Any) -> list[str]:
        """Add a node with some results and return their names."""
        names = [self._named(operand) for operand in operands]
        made = [f"v{len(self._nodes)}_{number}" for number in range(results)]
        self._nodes.append(helper.make_node(kind, names, made, **attributes))
        return made

    def cast(self, value: Operand, dtype: Any) -> str:
        """Return a value as another type."""
        return self.op("Cast", value, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def at(self, value: Operand, axis: int) -> str:
        """Return a value with a further axis of length 1."""
        return self.op("Unsqueeze", value, self.whole(axis))

    def join(self, *values: Operand, axis: int) -> str:
        """Return values one after the other."""
        return self.op("Concat", *values, axis=axis)

    def total(self, kind: str, *values: str) -> str:
        """Return what an operator of two makes of all values."""
        first, *rest = values
        for value in rest:
            first = self.op(kind, first, value)
        return first

    def model(self, name: str) -> onnx.ModelProto:
        """Return the graph as a checked model."""
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="prial")
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model, full_check=True)
        return model

    def _named(self, operand: Operand) -> str:
        if isinstance(operand, str):
            return operand
        if isinstance(operand, np.ndarray):
            return self.constant(operand)
        return self.constant(np.array(operand, np.int32 if isinstance(operand, int) else np.float32))


def _value(name: str, dtype: Any, shape: list[int | str], meaning: str) -> onnx.ValueInfoProto:
    kind = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32}[np.dtype(dtype)]
    return helper.make_tensor_value_info(name, kind, shape, doc_string=meaning)
