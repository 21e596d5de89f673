"""Print requirements.lock: what pip would install today for everything pyproject.toml asks for.

Run by `make lock`. Nothing is installed: pip only resolves. A new lock is a change like any other:
run `make test` before it is committed.
"""

import json
import subprocess
import sys

# The release is fixed here and not by "the newest": it is the largest download by far, and the
# recorded results of the book were made with it.
TORCH = "torch==2.13.0"
# What pip picks for older Pythons came before Python 3.15 and has no wheels for it: these have.
NEWER = "3.15"
FOR_NEWER = ("contourpy==1.4.0", "numpy==2.5.5", "PyYAML==6.0.4", "torch==2.15.0")


def resolve() -> list[str]:
    """`name==version` of every package pip picks for torch and the project, local labels cut."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += ["--report", "-", TORCH, ".[book,classes,dev,scale]"]
    report = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    pins = []
    for item in json.loads(report)["install"]:
        name, version = item["metadata"]["name"], item["metadata"]["version"]
        if name != "looking-back":
            # A CPU build calls itself 2.13.0+cpu; the pin must fit every build of the release.
            pins.append(f"{name}=={version.split('+')[0]}")
    newer = {pin.split("==")[0]: pin for pin in FOR_NEWER}
    for number, pin in enumerate(pins):
        if other := newer.pop(pin.split("==")[0], None):
            pins[number] = f'{pin}; python_version < "{NEWER}"'
            pins.append(f'{other}; python_version >= "{NEWER}"')
    assert not newer, f"not in the lock: {newer}"
    return sorted(pins, key=str.lower)


if __name__ == "__main__":
    print("\n".join(resolve()))
