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
# The first torch for Python 3.15, which the release above came before.
NEWER = ("3.15", "torch==2.15.0")


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
    python, newer = NEWER
    pins.remove(TORCH)
    pins += [f'{TORCH}; python_version < "{python}"', f'{newer}; python_version >= "{python}"']
    return sorted(pins, key=str.lower)


if __name__ == "__main__":
    print("\n".join(resolve()))
