"""The stub says exactly what the native module has: same names, same parameters, same defaults."""

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


def _promised(function: ast.FunctionDef) -> list[tuple[str, Any]]:
    """Names and defaults of the parameters in the stub; `...` where there is no default."""
    arguments = function.args.args
    missing: list[Any] = [...] * (len(arguments) - len(function.args.defaults))
    defaults = missing + [ast.literal_eval(default) for default in function.args.defaults]
    return [(argument.arg, default) for argument, default in zip(arguments, defaults, strict=True)]


def _real(function: Any) -> list[tuple[str, Any]]:
    """The same of the module; a tuple and a list of nothing are one default."""
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, ... if each.default is inspect.Parameter.empty else each.default) for each in parameters]


def _check(promised: list[tuple[str, Any]], real: list[tuple[str, Any]]) -> None:
    assert [name for name, _ in promised] == [name for name, _ in real]
    for (name, here), (_, there) in zip(promised, real, strict=True):
        # A default that Rust builds itself shows as `...` in its signature.
        assert there in (here, ...) or (here, there) == ((), []), name


def test_the_stub_names_what_the_module_has() -> None:
    """Nothing is exported that the stub does not know, and the stub promises nothing that is absent."""
    public = {name for name in dir(_native) if not name.startswith("_")}

    assert public == _FUNCTIONS.keys() | _CLASSES.keys()


@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
def test_functions_take_what_the_stub_says(name: str) -> None:
    """Parameter names, order and defaults agree."""
    _check(_promised(_FUNCTIONS[name]), _real(getattr(_native, name)))


@pytest.mark.parametrize("name", sorted(_CLASSES))
def test_classes_have_the_methods_of_the_stub(name: str) -> None:
    """A class has the methods that the stub promises and no other public one, with the same parameters."""
    real = getattr(_native, name)
    methods = {node.name: node for node in _CLASSES[name].body if isinstance(node, ast.FunctionDef)}
    public = {method for method in vars(real) if not method.startswith("_")}

    assert public == {method for method in methods if not method.startswith("_")}
    for method, node in methods.items():
        if not method.startswith("_"):
            _check(_promised(node), _real(getattr(real, method)))


@pytest.mark.parametrize("node", [*_FUNCTIONS.values(), *_CLASSES.values()], ids=lambda node: node.name)
def test_the_stub_documents_every_name(node: ast.FunctionDef | ast.ClassDef) -> None:
    """The prose lives in the stub, since the binding has none."""
    assert ast.get_docstring(node)
