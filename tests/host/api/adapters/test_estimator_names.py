"""The names in the adapters: River's and scikit-learn's, also without these packages."""

from __future__ import annotations

import ast
import importlib
import inspect
import pydoc
import subprocess
import sys
from types import ModuleType

import pytest

from microshrub_host.api import river_adapter, sklearn_adapter
from microshrub_host.library.learners import MODELS, REGRESSORS

ADAPTERS = [river_adapter, sklearn_adapter]
BOTH = {"HoeffdingTreeClassifier", "HoeffdingTreeRegressor", "GaussianNB", "LinearRegression"}


def is_regressor(adapter: ModuleType, name: str) -> bool:
    return getattr(adapter, name)._model in REGRESSORS


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_all_learners_are_in_dir_help_and_star_imports(adapter: ModuleType) -> None:
    names = adapter.__all__
    assert sorted(names) == names
    assert len(names) == len(MODELS) + len(REGRESSORS) + 1
    assert set(names) <= set(dir(adapter))
    assert not [name for name in dir(adapter) if name not in names and not name.startswith("__")]
    text = pydoc.plain(pydoc.render_doc(adapter))
    results: dict[str, object] = {}
    exec(f"from {adapter.__name__} import *", results)
    for name in names:
        assert f"class {name}(" in text
        assert results[name] is getattr(adapter, name)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_editors_and_type_checkers_see_all_learners(adapter: ModuleType) -> None:
    tree = ast.parse(inspect.getsource(adapter))
    classes = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}
    assert sorted([*classes, "AdapterError"]) == adapter.__all__
    for name, declared in classes.items():
        assert is_regressor(adapter, name) == ast.unparse(declared.bases[0]).endswith("Regressor")


@pytest.mark.parametrize(
    ("adapter", "words"), [("river", "microshrub[river]"), ("sklearn", "install scikit-learn")]
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    adapter: str, words: str
) -> None:
    script = (
        f"import sys; sys.modules[{adapter!r}] = None\n"
        f"from microshrub_host.api.{adapter}_adapter import ThicketRegressor"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("ImportError: this needs")
    assert words in run.stderr.splitlines()[-1]


def test_names_are_those_of_river_and_scikit_learn() -> None:
    assert {*BOTH, "KNNClassifier", "SoftmaxRegression"} <= set(river_adapter.__all__)
    assert {*BOTH, "KNeighborsClassifier", "LogisticRegression"} <= set(sklearn_adapter.__all__)
    for home in ("river.tree", "river.naive_bayes", "river.linear_model", "river.neighbors"):
        for name in importlib.import_module(home).__all__:
            if name in {*BOTH, "KNNClassifier", "SoftmaxRegression"}:
                assert getattr(river_adapter, name).__name__ == name


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_repr_has_the_name_and_changed_parameters(
    adapter: ModuleType,
) -> None:
    text = repr(adapter.ShrubClassifier(window=9))
    assert text.startswith("ShrubClassifier")
    assert "window=9" in text


def test_names_exist_without_river_and_scikit_learn() -> None:
    code = """if True:
        import sys
        sys.modules["river"] = sys.modules["sklearn"] = None  # importing them fails
        from microshrub_host.api import river_adapter, sklearn_adapter
        assert "ThicketClassifier" in dir(river_adapter)
        assert "GaussianNB" in sklearn_adapter.__all__
        try:
            sklearn_adapter.ThicketClassifier
        except ImportError as error:
            print(error)
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "this needs scikit-learn" in done.stdout
