#!/usr/bin/env python3
"""Checks licences, bans and sources of deny.toml against the locked dependencies, without any network.

`cargo deny` does the same and reads advisories besides, but it takes minutes to build and a download of its database;
this is what `make test` runs everywhere.
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def metadata():
    host = next(
        line.split(": ", 1)[1]
        for line in subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout.splitlines()
        if line.startswith("host: ")
    )
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def allowed(expression, names):
    """True when the SPDX expression can be met with the allowed licences alone."""
    words = re.findall(r"[()]|[^\s()/]+|/", expression.replace("/", " / "))
    tokens = []
    for word in words:
        if tokens and tokens[-1].endswith(" WITH"):
            tokens[-1] += f" {word}"
        elif word == "WITH" and tokens:
            tokens[-1] += " WITH"
        else:
            tokens.append("OR" if word == "/" else word)

    def either():
        result = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            result = both() or result
        return result

    def both():
        result = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            result = one() and result
        return result

    def one():
        token = tokens.pop(0)
        if token == "(":
            result = either()
            tokens.pop(0)
            return result
        return token in names

    return either() and not tokens


def problems(meta, rules):
    names = set(rules["licenses"]["allow"])
    banned = {rule["crate"]: set(rule.get("wrappers", [])) for rule in rules["bans"]["deny"]}
    own = set(meta["workspace_members"])
    by_id = {package["id"]: package["name"] for package in meta["packages"]}
    used = {node["id"] for node in meta["resolve"]["nodes"]}
    for package in meta["packages"]:
        label = f"{package['name']} {package['version']}"
        if package["id"] not in used:
            continue
        users = {by_id[node["id"]] for node in meta["resolve"]["nodes"] if package["id"] in node["dependencies"]}
        if package["name"] in banned and not (users and users <= banned[package["name"]]):
            yield f"{label}: banned in deny.toml, used by {', '.join(sorted(users))}"
        for dependency in package["dependencies"]:
            # Cargo names the registry only where it is another one than its own.
            if dependency["registry"]:
                yield f"{label}: takes {dependency['name']} from {dependency['registry']}"
        if package["id"] in own:
            for dependency in package["dependencies"]:
                if dependency["req"] == "*" and not dependency.get("path"):
                    yield f"{label}: dependency {dependency['name']} has no version"
            continue
        source = package["source"] or "a path outside the workspace"
        if not source.startswith("registry+"):
            yield f"{label}: comes from {source}"
        licence = package["license"]
        if not licence:
            yield f"{label}: names no licence"
        elif not allowed(licence, names):
            yield f"{label}: licence {licence} is not in deny.toml"


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    meta = metadata()
    found = sorted(set(problems(meta, rules)))
    for line in found:
        print(line, file=sys.stderr)
    print(f"dependencies: {len(meta['packages'])} packages, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
