"""The header, what the library exports and what the documentation names are the same."""

import re

from . import rig

PAGES = sorted((rig.ROOT / "docs").glob("*.md")) + [rig.ROOT / "README.md"]


def metrics():
    """The names in a scrape: those that stand in the sources, and those of figures by their rule."""
    folder = rig.ROOT / "src/prometheus"
    names = set(re.findall(r'"(plimsoll_\w+)"', (folder / "mod.rs").read_text()))
    figures = re.findall(r'\(\s*"([\w.]+)",\s*(Counter|Gauge),', (folder / "figures.rs").read_text())
    assert len(figures) > 40, "the figures were not understood"
    for name, kind in figures:
        stem = name.removeprefix("plimsoll.").replace(".", "_").removesuffix("_total")
        names.add(f"plimsoll_{stem}" + ("_total" if kind == "Counter" else ""))
    return names


def test_every_function_and_type_that_the_documentation_names_is_there():
    known = set(re.findall(r"\bplimsoll_\w+", rig.HEADER.read_text()))
    known |= {"plimsoll_static", "plimsoll_tree"}  # a target of CMake, and tags of Go
    known |= metrics()
    known |= set(re.findall(r"\bplimsoll_\w+", (rig.ROOT / "Cargo.lock").read_text()))
    for page in PAGES:
        for name in re.findall(r"\bplimsoll_[a-z_]*[a-z]\b(?!::|/)", page.read_text()):
            assert name in known or name.startswith("plimsoll_envoy"), f"{page.name}: {name}"


def test_every_function_of_the_header_is_documented():
    """In prose: the header's own comments are checked where it is made."""
    pages = "\n".join(page.read_text() for page in PAGES)
    missing = {name for name in rig.declared() if not re.search(rf"\b{name}\b", pages)}
    assert not missing, f"docs/c-api.md does not name {sorted(missing)}"
