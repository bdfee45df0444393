#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""koord-cri-proxy between a CRI client and a real containerd 1.7.

usage: cri_proxy_test.py FOLDER PROGRAM BUILD

FOLDER keeps the packages, PROGRAM is koord-cri-proxy, BUILD the build folder with the agent. Ends with 77, which is meson's "skipped", where containerd is
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
    import containerd
    import cri_agent_test
    import cri_case
    import cri_passing_test
    from cri_agent_test import HooksOfTheRealAgent
    from cri_hooks_test import HookServers, HooksOfTheAgent, PassingToContainerd
    from cri_passing_test import PassingTest
    from cri_restart_test import Checkpoints, Restarts
    from cri_streams_test import StreamsThroughTheProxy
    cri_case.program = cri_passing_test.PROGRAM = sys.argv[2]
    cri_agent_test.build = sys.argv[3]
    # The path must be short, because a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix='koord-test-') as folder, \
            containerd.Containerd(pathlib.Path(os.environ[UNPACKED]), folder) as cri_case.runtime:
        unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
