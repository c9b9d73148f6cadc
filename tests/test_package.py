"""The package as a whole: what it exports, and what importing it costs."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dpverdict

ROOT = Path(__file__).parent.parent
EXPORTED = [
    "ExactDistribution",
    "Mechanism",
    "Verification",
    "__version__",
    "argmax",
    "argmin",
    "assert_private",
    "audit",
    "choose",
    "confirm",
    "discretise",
    "distribution",
    "exp",
    "log",
    "lower_bound",
    "maximum",
    "mechanism",
    "minimum",
    "prove",
    "single_run",
    "sqrt",
    "vectorised",
    "verify",
]
HEAVY = ("jax", "matplotlib", "pandas", "scipy", "sklearn", "typer", "click", "dask", "z3")


def python(code: str) -> str:
    done = subprocess.run(
        (sys.executable, "-W", "error", "-c", code), capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_public_names_are_these() -> None:
    assert sorted(dpverdict.__all__) == EXPORTED
    assert all(hasattr(dpverdict, name) for name in EXPORTED)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError):
        getattr(dpverdict, "nothing_of_this_name")  # noqa: B009


@pytest.mark.parametrize("module", ["dpverdict", "dpverdict.catalog", "dpverdict.target", "dpverdict.reading.sample"])
def test_importing_takes_no_heavy_package(module: str) -> None:
    loaded = python(f"import sys, {module}; print(*sys.modules)").split()
    assert not set(loaded) & set(HEAVY)


def test_the_command_takes_no_optional_package() -> None:
    loaded = python("import sys, dpverdict.cli; print(*sys.modules)").split()
    assert not set(loaded) & (set(HEAVY) - {"typer", "click"})


def test_the_base_package_works_without_the_optional_ones() -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys(['jax', 'jaxlib', 'scipy', 'matplotlib'])); "
    code = (
        "from dpverdict.cli import main; sys.exit(main(['sample', 'catalog:svt1', '--input', '0,1', '--runs', '100']))"
    )
    assert "100 runs" in python(blocked + code)


def test_importing_loads_nothing_until_it_is_asked_for() -> None:
    """How long it takes is measured in benchmarks/bench_import.py."""
    loaded = python("import sys, dpverdict; print(*sys.modules)").split()
    assert [name for name in loaded if name.startswith("dpverdict")] == ["dpverdict"]
    assert "numpy" not in loaded


def test_types_are_published() -> None:
    assert (Path(dpverdict.__file__).parent / "py.typed").is_file()


def test_the_metadata_has_lower_bounds_only_and_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # Lower bounds only: an upper bound here would keep every user from newer releases.
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [requirement for group in groups for requirement in group]
    assert not [requirement for requirement in requirements if "<" in requirement or "==" in requirement]
    try:
        installed = importlib.metadata.version("dpverdict")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("dpverdict is not installed, only on the path")
    assert installed == dpverdict.__version__
