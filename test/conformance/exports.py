#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks with nm that a plugin exports only one function: exports.py PLUGIN.so"""
import subprocess
import sys


def exported(plugin):
    """Returns (type, name) of the dynamic symbols that the plugin defines, without the names of its symbol versions."""
    listing = subprocess.run(['nm', '-D', '--defined-only', plugin], check=True, capture_output=True, text=True).stdout
    symbols = (line.split() for line in listing.splitlines())
    return [(kind, name.split('@')[0]) for _, kind, name in symbols if kind != 'A']


def main(plugin):
    found = exported(plugin)
    print(f'{plugin} exports {found}')
    return 0 if found == [('T', 'koord_entry_v1')] else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
