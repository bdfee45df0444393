#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent as an NRI plugin of a real containerd 1.7: the values of runtime hooks in real containers.

usage: nri_agent_test.py FOLDER BUILD [hooks|churn]

FOLDER keeps the packages, BUILD is the build folder. Ends with 77, which is meson's "skipped", where containerd is
unavailable, and prints the reason.
"""
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import packages  # noqa: E402

UNPACKED = 'KOORD_TEST_UNPACKED'  # the root of the packages


def run_again_on_unpacked_python():
    """Runs this file with the unpacked Python, which has the modules of the CRI client."""
    try:
        packages.check_available()
        root = packages.unpack(sys.argv[1], packages.CONTAINERD)
    except packages.Unavailable as error:
        print(f'skipped: {error}')
        sys.exit(77)
    command, environment = packages.python_command(root, pathlib.Path(__file__).parent)
    os.execve(command[0], command + sys.argv, environment | {UNPACKED: str(root)})


if __name__ == '__main__':
    if UNPACKED not in os.environ:
        run_again_on_unpacked_python()
    import agent_case
    import containerd
    if sys.argv[3:4] == ['churn']:
        from nri_churn_test import ChurnTest
    else:
        from nri_creation_test import CreationTest
        from nri_reconcile_test import ReconcileTest
    agent_case.build = sys.argv[2]
    # The path must be short, because a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix='koord-test-') as folder, \
            containerd.Containerd(pathlib.Path(os.environ[UNPACKED]), folder) as agent_case.runtime:
        unittest.main(argv=sys.argv[:1] + sys.argv[4:])
