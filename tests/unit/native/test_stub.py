"""Tests that the stub has the same names, parameters and defaults as the native module."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import reverie
from reverie import _native

_STUB = Path(reverie.__file__ or "").parent / "_native.pyi"
_TREE = ast.parse(_STUB.read_text())
_FUNCTIONS = {node.name: node for node in _TREE.body if isinstance(node, ast.FunctionDef)}
_CLASSES = {node.name: node for node in _TREE.body if isinstance(node, ast.ClassDef)}


def _stub_parameters(function: ast.FunctionDef) -> list[tuple[str, Any]]:
    """Return names and defaults of the parameters in the stub; `...` without a default."""
    arguments = function.args.args
    missing: list[Any] = [...] * (len(arguments) - len(function.args.defaults))
    defaults = missing + [ast.literal_eval(default) for default in function.args.defaults]
    return [(argument.arg, default) for argument, default in zip(arguments, defaults, strict=True)]


def _module_parameters(function: Any) -> list[tuple[str, Any]]:
    """Return names and defaults of the parameters in the module; `...` without a default."""
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, ... if each.default is inspect.Parameter.empty else each.default) for each in parameters]


def _check(promised: list[tuple[str, Any]], real: list[tuple[str, Any]]) -> None:
    """Assert that the parameters agree; an empty tuple and an empty list are one default."""
    assert [name for name, _ in promised] == [name for name, _ in real]
    for (name, here), (_, there) in zip(promised, real, strict=True):
        # A default that Rust builds itself shows as `...` in its signature.
        assert there in (here, ...) or (here, there) == ((), []), name


def test_the_stub_has_the_names_of_the_module() -> None:
    """The stub and the module have the same public names."""
    public = {name for name in dir(_native) if not name.startswith("_")}

    assert public == _FUNCTIONS.keys() | _CLASSES.keys()


@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
def test_functions_have_the_parameters_of_the_stub(name: str) -> None:
    """Parameter names, order and defaults agree."""
    _check(_stub_parameters(_FUNCTIONS[name]), _module_parameters(getattr(_native, name)))


@pytest.mark.parametrize("name", sorted(_CLASSES))
def test_classes_have_the_methods_of_the_stub(name: str) -> None:
    """A class has the public methods of its stub and no other, with the same parameters."""
    real = getattr(_native, name)
    methods = {node.name: node for node in _CLASSES[name].body if isinstance(node, ast.FunctionDef)}
    public = {method for method in vars(real) if not method.startswith("_")}

    assert public == {method for method in methods if not method.startswith("_")}
    for method, node in methods.items():
        if not method.startswith("_"):
            _check(_stub_parameters(node), _module_parameters(getattr(real, method)))


@pytest.mark.parametrize("node", [*_FUNCTIONS.values(), *_CLASSES.values()], ids=lambda node: node.name)
def test_the_stub_documents_every_name(node: ast.FunctionDef | ast.ClassDef) -> None:
    """Every name is documented in the stub, as the binding has no docstrings."""
    assert ast.get_docstring(node)
