#!/usr/bin/env python3
"""Checks the documents: links and pictures lead somewhere, commands named in them exist, both guides have the same
chapters, no machine's own paths. Needs nothing but the standard library."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("skills/**/*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
LOCAL = re.compile(r"(?<![\w.])/(?:home|root|work|tmp|Users)/")


def anchors(text):
    """The anchors of all headings, by GitHub's rule."""
    found = set()
    for line in re.findall(r"^#{1,6} +(.*)$", text, re.MULTILINE):
        plain = re.sub(r"[`*_]|\[|\]\([^)]*\)", "", line).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def broken_links(page, text):
    for target in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        other = page if not name else (page.parent / name).resolve()
        if not other.exists():
            yield f"leads nowhere: {target}"
        elif anchor and other.suffix == ".md" and anchor not in anchors(other.read_text()):
            yield f"no such heading: {target}"


def unknown_targets(text):
    known = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"(?:^|`)make ([a-z][\w-]*)", text, re.MULTILINE):
        if name not in known:
            yield f"no such make target: {name}"


def guides():
    one, two = ROOT / "docs/user-guide.en.md", ROOT / "docs/user-guide.zh-CN.md"
    levels = [re.findall(r"^(#+) ", page.read_text(), re.MULTILINE) for page in (one, two)]
    if levels[0] != levels[1]:
        yield f"{one.name} and {two.name} do not have the same chapters"


def main():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    pages = PAGES
    if tracked.returncode == 0:
        names = set(tracked.stdout.split("\0"))
        pages = [page for page in PAGES if str(page.relative_to(ROOT)) in names]
    found = list(guides())
    for page in pages:
        text = page.read_text()
        issues = [*broken_links(page, text), *unknown_targets(text)]
        if LOCAL.search(text):
            issues.append("names a path of one machine")
        found += [f"{page.relative_to(ROOT)}: {issue}" for issue in issues]
    for line in found:
        print(line, file=sys.stderr)
    print(f"documents: {len(pages)} pages, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
