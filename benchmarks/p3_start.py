"""P3: what starting costs: import CPU, time to the first decision, size of the installation.

Each figure is the median over new processes. Budgets: import at most 0.1 s of CPU, a gate ready
within 1.0 s, the core's installation at most 300 MB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from importlib.metadata import distribution, requires
from pathlib import Path
from statistics import median

from packaging.requirements import Requirement

ROUNDS = 7

IMPORT = "import time; import sureline; print(time.process_time())"
BARE = "import time; print(time.process_time())"
FIRST = """
import time
begun = time.perf_counter()
import sureline
gate = sureline.Gate.open("policy.yaml", store="sqlite:///first.db")
ready = time.perf_counter() - begun
gate.decide_sync(slice_key="notes", task="say hello", output="Hello.")
print(ready, time.perf_counter() - begun)
gate.close()
"""
POLICY = """
version: 1
slices:
  notes:
    output: {structured: false}
    weights: {verification: 1}
    prose: [{max_length: 100}]
"""


def measured(script: str, folder: Path) -> tuple[float, ...]:
    """Return the figures that a script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    return tuple(map(float, done.stdout.split()))


def medians(script: str, folder: Path, *, clean: str | None = None) -> tuple[float, ...]:
    """Return the median of each figure over ROUNDS processes."""
    rows = []
    for _ in range(ROUNDS):
        if clean is not None:
            for file in folder.glob(clean):
                file.unlink()
        rows.append(measured(script, folder))
    return tuple(map(median, zip(*rows, strict=True)))


def core_distributions(name: str, found: set[str]) -> set[str]:
    """Return what an installation without extras consists of, dependencies of dependencies too."""
    name = name.lower().replace("_", "-")
    if name not in found:
        found.add(name)
        for text in requires(name) or []:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                core_distributions(requirement.name, found)
    return found


def size(name: str, *, compiled: bool = True) -> int:
    """Return the bytes of a distribution's files, with or without Python's compiled copies."""
    files = [one for one in distribution(name).files or [] if compiled or one.suffix != ".pyc"]
    paths = [Path(str(file.locate())) for file in files]
    return sum(path.stat().st_size for path in paths if path.is_file())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
        (bare,) = medians(BARE, folder)
        (imported,) = medians(IMPORT, folder)
        new_ready, new_first = medians(FIRST, folder, clean="first.db*")
        ready, first = medians(FIRST, folder)
    sizes = {one: size(one) for one in core_distributions("sureline", set())}
    largest = sorted(sizes, key=lambda one: -sizes[one])[:4]
    print(f"P3 import           {imported - bare:.3f} s CPU beyond Python's own (budget 0.1)")
    print(f"P3 gate ready       {ready:.2f} s, {new_ready:.2f} s with a new store (budget 1.0)")
    print(f"P3 first decision   {first:.2f} s, {new_first:.2f} s with a new store")
    total = sum(sizes.values()) / 1e6
    shown = ", ".join(f"{one} {sizes[one] / 1e6:.0f}" for one in largest)
    bare_total = sum(size(one, compiled=False) for one in sizes) / 1e6
    print(f"P3 installation     {total:.0f} MB (budget 300): {shown}; {bare_total:.0f} uncompiled")


if __name__ == "__main__":
    main()
