"""Try the page book/teaching/jupyterhub.md as it stands: real accounts, a real hub, a browser.

    sudo .venv/bin/python .ci/hub_trial.py

For a machine that can be thrown away: it makes the accounts instructor, ada and bela, and writes to
/opt, /srv and /etc, as the page says. Runs every block of the page that is marked with whom it is
for (`% as NAME`, `% file PATH`, `% keep running as NAME`), the students' clicks in Chromium, and
checks what must hold. What is cloned is this checkout as it is committed. Writes
experiments/jupyterhub/hub-trial.json; takes five to ten minutes, most of them pip's.
"""

import dataclasses
import datetime
import hashlib
import json
import os
import platform
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

import nbformat
from nbgrader.api import Gradebook
from playwright.sync_api import Page, expect, sync_playwright

from course_lib.grading.authoring.demonstration import answered, read_class
from course_lib.grading.authoring.leaks import KEPT_BACK
from course_lib.grading.sources.release import source_notebook

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "book" / "teaching" / "jupyterhub.md"
HUB = "http://127.0.0.1:8000"
NAME = "attention_by_hand"
STUDENTS = {"ada": "reference", "bela": "no-mask"}
"""Who hands in whose answers."""
MADE = ["/opt/looking-back", "/srv/nbgrader", "/etc/jupyter", "/etc/jupyterhub"]
BLOCK = re.compile(
    r"^% (?P<how>as|file|keep running as) (?P<what>\S+)\n```\w+\n(?P<text>.*?)^```$", re.M | re.S
)
checks: list[str] = []


def fingerprint(page: Path) -> str:
    """What changes with a block, and with nothing else on the page."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return hashlib.sha256("\0".join(block[0] for block in found).encode()).hexdigest()


def holds(condition: bool, what: str) -> None:
    """Note a check that held; stop at one that did not."""
    if not condition:
        sys.exit(f"Does not hold: {what}")
    print(f"  holds: {what}", flush=True)
    checks.append(what)


def as_user(user: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a block in a login shell of that account; a command that fails ends the trial."""
    home = pwd.getpwnam(user).pw_dir
    # what this machine needs to reach its package registries stays
    ways = ("PIP_", "SSL_", "REQUESTS_", "NODE_", "npm_", "http")
    environment = {key: value for key, value in os.environ.items() if key.startswith(ways)}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": home}
    environment |= {"USER": user, "LOGNAME": user, "LANG": "C.UTF-8"}
    print(f"{user}$ {script.strip()}", flush=True)
    done = subprocess.run(
        ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "bash", "-ec", script],
        cwd=home, env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{done.stdout}\n{done.stderr}\nThis block ended with status {done.returncode}.")
    return done


def browse(users: dict[str, str], steps: str) -> Iterator[tuple[str, Page]]:
    """Each student's JupyterLab, logged in through the hub's own form."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for user, password in users.items():
            page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
            page.goto(f"{HUB}/hub/login")
            page.fill("#username_input", user)
            page.fill("#password_input", password)
            page.click("#login_submit")
            page.wait_for_url(f"**/user/{user}/lab**", timeout=120_000)
            page.get_by_role("menuitem", name="Nbgrader", exact=True).click(timeout=60_000)
            page.get_by_text("Assignment List", exact=True).first.click()
            print(f"{user} in the browser: {steps}", flush=True)
            yield user, page
            page.context.close()


def hand_in(user: str, who: str) -> None:
    """The student's work: answers into the fetched notebook, by that account."""
    path = Path(pwd.getpwnam(user).pw_dir) / NAME / f"{NAME}.ipynb"
    student = next(one for one in read_class(ROOT, NAME) if one.name == who)
    # the account's name is the student's id, and some numbers are drawn from it
    student = dataclasses.replace(student, owner=user)
    source = source_notebook(ROOT / "solutions" / NAME / f"{NAME}.md")
    notebook = answered(student, source, nbformat.read(path, as_version=4))
    text = nbformat.writes(notebook)
    subprocess.run(
        ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "tee", str(path)],
        input=text, text=True, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip


def main() -> None:
    if os.getuid() != 0:
        sys.exit("The trial makes accounts: run it as root, on a machine that can be thrown away.")
    present = [path for path in MADE if Path(path).exists()]
    if present:
        sys.exit(f"Already here: {', '.join(present)}. Use a fresh machine, or remove them.")
    passwords = {name: secrets.token_urlsafe(12) for name in ("instructor", *STUDENTS)}
    for name, password in passwords.items():
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
        subprocess.run(["chpasswd"], input=f"{name}:{password}", text=True, check=True)
    for key in (f"url.file://{ROOT}.insteadOf", "safe.directory"):
        value = "https://github.com/OWNER/looking-back" if "url" in key else "*"
        subprocess.run(["git", "config", "--system", key, value], check=True)
    students = {name: passwords[name] for name in STUDENTS}
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    with ExitStack() as running:
        for block in blocks:
            how, what, text = block["how"], block["what"], block["text"]
            if how == "file":
                Path(what).parent.mkdir(parents=True, exist_ok=True)
                Path(what).write_text(text, encoding="utf-8")
                continue
            if how == "keep running as":
                running.enter_context(hub(text))
                continue
            if "nbgrader collect" in text:
                fetch_and_submit(students)
            done = as_user(what, text)
            if what == "ada" and "list" in text:
                listed = NAME in done.stderr + done.stdout
                holds(listed, "a student sees the released assignment")
        record(blocks)


@contextmanager
def hub(script: str) -> Iterator[None]:
    """The hub, from the moment its login page answers; stopped at the end."""
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            ["bash", "-ec", script], start_new_session=True, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            for _ in range(120):
                time.sleep(1)
                with suppress(OSError):
                    urlopen(f"{HUB}/hub/login").close()
                    break
            else:
                log.seek(0)
                sys.exit(f"The hub does not answer.\n{log.read().decode(errors='replace')}")
            yield
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=60)


def fetch_and_submit(students: dict[str, str]) -> None:
    """What both students click, and what one may not do to the other."""
    for user, page in browse(students, "fetch"):
        page.get_by_role("button", name="Fetch", exact=True).click(timeout=30_000)
        expect(page.get_by_role("button", name="Submit", exact=True)).to_be_visible(timeout=30_000)
        home = Path(pwd.getpwnam(user).pw_dir)
        holds((home / NAME / f"{NAME}.ipynb").is_file(), f"{user} has fetched the notebook")
    for user, who in STUDENTS.items():
        hand_in(user, who)
    for user, page in browse(students, "submit"):
        page.get_by_role("button", name="Submit", exact=True).click(timeout=30_000)
        expect(page.locator("#submitted_assignments_list")).to_contain_text(NAME, timeout=30_000)
        holds(True, f"{user}'s list shows the submission")
    peek = ["setpriv", "--reuid=bela", "--regid=bela", "--init-groups", "bash", "-c"]
    for folder in ("/srv/nbgrader/exchange/looking_back/inbound", "~instructor/looking-back"):
        tried = subprocess.run([*peek, f"ls {folder}"], text=True, capture_output=True, check=False)
        denied = "Permission denied" in tried.stderr
        holds(denied, f"a student cannot list {folder}")
    for name in (*KEPT_BACK, ".git"):
        holds(not Path("/opt/looking-back", name).exists(), f"the shared copy has no {name}")


def record(blocks: list[re.Match[str]]) -> None:
    """The marks, as the instructor's gradebook has them, and the file the page reads."""
    course = Path(pwd.getpwnam("instructor").pw_dir) / "looking-back"
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        found = {one.student.id: one for one in gradebook.assignment_submissions(NAME)}
        scores = {student: float(found[student].score) for student in sorted(found)}
        points = float(next(iter(found.values())).max_score)
    holds(set(scores) == set(STUDENTS), "both are in the gradebook")
    fewer = scores["ada"] > scores["bela"] > 0
    holds(fewer, "the wrong answer has fewer points than the right one")
    feedback = list(Path(pwd.getpwnam("ada").pw_dir).rglob("feedback/**/*.html"))
    holds(len(feedback) == 1, "ada has her feedback page")
    result = {
        "date": datetime.date.today().isoformat(),
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
        "versions": {
            "jupyterhub": subprocess.run(
                ["/opt/looking-back/.venv/bin/jupyterhub", "--version"],
                capture_output=True, text=True, check=True,
            ).stdout.strip(),
            "nbgrader": version("nbgrader"),
        },
        # another page than the one that was tried is noticed by tests/book
        "blocks": fingerprint(PAGE),
        "steps": sum(
            len(block["text"].strip().splitlines()) for block in blocks if block["how"] == "as"
        ),
        "checks": checks,
        "scores": scores,
        "points": points,
    }  # fmt: skip
    path = ROOT / "experiments" / "jupyterhub" / "hub-trial.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
