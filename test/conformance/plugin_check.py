#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a built plugin by what is in its file: plugin_check.py PLUGIN.so MODULE_MANIFEST

MODULE_MANIFEST is the program that prints the manifest of the loaded module. Each rule is one function; every
broken one is named."""

import re
import subprocess
import sys

REQUIRED_KEYS = ("id", "version", "abi", "kinds", "gate")
MAX_MANIFEST_BYTES = 4096


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(plugin):
    """(type, name) of the dynamic symbols that it defines; the version's own symbol is none."""
    lines = (line.split() for line in run("nm", "-D", "--defined-only", plugin).splitlines())
    return [(kind, name.split("@")[0]) for _, kind, name in lines if kind != "A"]


def section(plugin):
    """The bytes of .koord_manifest, from where the section table says."""
    found = re.search(r"\.koord_manifest\s+PROGBITS\s+\w+\s+(\w+)\s+(\w+)", run("readelf", "-SW", plugin))
    if not found:
        return b""
    offset, size = (int(number, 16) for number in found.groups())
    with open(plugin, "rb") as file:
        file.seek(offset)
        return file.read(size)


def exports_exactly_its_entry(plugin, _):
    found = symbols(plugin)
    if found != [("T", "koord_entry_v1")]:
        return f"exports {found}, expected koord_entry_v1 alone"


def has_no_unique_symbols(plugin, _):
    # A GNU_UNIQUE symbol is shared by all plugins of the process, and pins the file in memory.
    unique = [line for line in run("nm", plugin).splitlines() + run("nm", "-D", plugin).splitlines()
              if re.search(r" u ", line)]
    if unique:
        return f"has GNU_UNIQUE symbols: {unique[:3]}"


def has_no_text_relocations(plugin, _):
    if "TEXTREL" in run("readelf", "-dW", plugin):
        return "has text relocations: something was built without -fPIC"


def has_no_executable_stack(plugin, _):
    stack = [line.split() for line in run("readelf", "-lW", plugin).splitlines() if "GNU_STACK" in line]
    if len(stack) != 1 or "E" in stack[0][6]:
        return f"wants an executable stack: {stack}"


def is_bound_at_load(plugin, _):
    # A missing symbol must fail when it is loaded, not when it is called.
    if not re.search(r"\((FLAGS|FLAGS_1)\).*NOW", run("readelf", "-dW", plugin)):
        return "is bound lazily: link with -z now"
    if "GNU_RELRO" not in run("readelf", "-lW", plugin):
        return "has no GNU_RELRO segment: link with -z relro"


def brings_no_search_path(plugin, _):
    if re.search(r"\((RPATH|RUNPATH)\)", run("readelf", "-dW", plugin)):
        return "has a run path: it would look for libraries where it was built"


def has_a_readable_manifest(plugin, _):
    raw = section(plugin)
    if not raw.endswith(b"\0") or raw.count(b"\0") != 1 or len(raw) > MAX_MANIFEST_BYTES:
        return f"its manifest of {len(raw)} bytes is not one text of at most {MAX_MANIFEST_BYTES}"
    first, *lines = raw[:-1].decode().splitlines()
    keys = [line.split("=", 1)[0] for line in lines]
    missing = [key for key in REQUIRED_KEYS if keys.count(key) != 1]
    if first != "koord-manifest/1" or missing:
        return f"its manifest begins with '{first}' and does not say once: {missing}"


def has_the_manifest_of_its_module(plugin, module_manifest):
    loaded = subprocess.run([module_manifest, plugin], capture_output=True, text=True)
    if loaded.returncode != 0:
        return f"does not load: {loaded.stderr.strip()}"
    if loaded.stdout.encode() + b"\0" != section(plugin):
        return "has another manifest in its module than in its section"


RULES = (exports_exactly_its_entry, has_no_unique_symbols, has_no_text_relocations, has_no_executable_stack,
         is_bound_at_load, brings_no_search_path, has_a_readable_manifest, has_the_manifest_of_its_module)


def main():
    plugin, module_manifest = sys.argv[1:]
    broken = 0
    for rule in RULES:
        complaint = rule(plugin, module_manifest)
        print(f"{'FAILED' if complaint else 'ok':6} {rule.__name__.replace('_', ' ')}")
        if complaint:
            broken += 1
            print(f"       {plugin} {complaint}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
