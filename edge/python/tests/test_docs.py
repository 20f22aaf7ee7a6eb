"""The documents and docstrings against the package."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import pdm_bearings as pb
from conftest import ROOT

MODULES = [name for _, name, _ in pkgutil.iter_modules(pb.__path__) if name != "_core"]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_say(name):
    module = importlib.import_module(f"pdm_bearings.{name}")
    found = doctest.testmod(module, extraglobs={"np": importlib.import_module("numpy")})
    assert found.failed == 0


def public():
    return [
        (name, getattr(pb, name))
        for name in pb.__all__
        if inspect.isfunction(getattr(pb, name)) or inspect.isclass(getattr(pb, name))
    ]


@pytest.mark.parametrize("name, item", public(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_item_says_what_it_takes(name, item):
    assert item.__doc__, name
    if inspect.isfunction(item) and inspect.signature(item).parameters:
        assert "Parameters\n" in item.__doc__, name
        for parameter in inspect.signature(item).parameters.values():
            if parameter.kind is not parameter.VAR_KEYWORD:
                assert re.search(rf"\b{parameter.name}\b", item.__doc__), f"{name}: {parameter.name}"


def test_the_guide_names_what_is_there():
    guide = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in pb.__all__:
        if name.islower() and name not in ("__version__", "errors", "simulate", "simulate_run"):
            assert f"`{name}" in guide or f"{name}(" in guide, name
    table = guide[guide.index("## Questions") : guide.index("## From MATLAB")]
    for call in re.findall(r"^\| `([A-Za-z_.]+)\(", table, flags=re.M):
        item = pb
        for part in call.split("."):
            item = getattr(item, part)
        assert callable(item), call


def test_the_examples_for_matlab_users_run_and_answer():
    page = (ROOT / "docs" / "from-matlab.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    assert len(blocks) == 6
    names = {}
    for block in blocks:
        exec(compile(block, "from-matlab.md", "exec"), names)
    frequencies = names["bearing"].frequencies_hz(1797)
    assert abs(names["at_hz"] - frequencies["bpfo"]) < 1.0
    assert names["row"]["bpfo_snr_db"] > names["row"]["bpfi_snr_db"]
    assert names["ta"].shape == (512,) and names["residual"].size == names["turns"].size
    assert names["track"].speed.rpm == pytest.approx(1797, rel=1e-3)
    assert names["track"].spectrum.peak(1.0, 0.1)[0] == pytest.approx(1.0, abs=0.02)
    for word in ("envspectrum", "kurtogram", "bearingFaultBands", "tsa", "rpmtrack"):
        assert word in page
    for linking in (ROOT / "docs" / "python.md", ROOT / "edge" / "python" / "README.md"):
        assert "from-matlab.md" in linking.read_text(encoding="utf-8")
