# SPDX-License-Identifier: Apache-2.0
"""A real agent and `koordctl ui` with it, for the tests of the page."""
import os
import re
import subprocess
import time

PATIENCE_S = 90


def start_agent(build, config, log):
    """Starts an agent. `log`: the path of its log."""
    environment = {**os.environ, 'KOORD_SHARED_CGROUP_TREE': '1'}
    with open(log, 'wb') as output:
        return subprocess.Popen([build / 'core/agentd/koordetector', '--config', config], stderr=output, stdout=output, env=environment)


def until(condition, why=lambda: '', is_over=lambda: False):
    """Waits for a condition. Fails with `why` after PATIENCE_S, or when the condition can no longer become true."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        if time.monotonic() > deadline or is_over():
            raise RuntimeError('not within the time: ' + why())
        time.sleep(0.05)


def next_link(viewer):
    """Returns the next link. After each used link the viewer prints a line with a new link."""
    return re.search(r'http://\S+', viewer.stdout.readline())[0]


def received(connection):
    """Returns (status, headers, body) of the answer."""
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read()
    connection.close()
    return found
