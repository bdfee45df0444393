#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time that the agent's hooks add to the creation of a container, on two real containerds: one asks an agent through
NRI, the other has no agent. Each pair creates one container on each, in random order.

usage: nri_latency.py FOLDER BUILD [PAIRS] [start|sleep]

FOLDER keeps the packages, BUILD is the build folder. 50 pairs by default. "start": a pair starts its containers, too.
"sleep": a hook of a third party sleeps 5 s in each answer, and the deadline of hooks is the default, 200 ms.
Ends with 77 where containerd is unavailable, and prints the reason. The targets are for a quiet machine.
"""
import os
import pathlib
import random
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import packages  # noqa: E402

UNPACKED = 'KOORD_TEST_UNPACKED'  # the root of the packages
MOST_MEDIAN_MS, MOST_P99_MS = 2, 5
MOST_MS_BESIDE_A_SLEEPER = 200
WARM_UP = 5
LONGEST = 300  # seconds until enough answers were late
TIMEOUTS = r'koordetector_plugin_hook_requests_total\{[^}]*result="timeout"[^}]*\}'


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


class Side:
    """Creates containers in one pod on one containerd."""

    def __init__(self, runtime, starts, order=''):
        self.runtime, self.starts, self.seconds = runtime, starts, []
        annotations = agent.RESOURCES | ({'koordetector.sh/test-hook': order} if order else {})
        self.pod = runtime.cri.run_pod('latency', f'{runtime.cgroup}/besteffort-latency', annotations, agent.BATCH)

    def create(self):
        begin = time.monotonic()
        container = self.runtime.cri.create_container(self.pod, 'main', agent.OF_KUBELET)
        if self.starts:
            self.runtime.cri.start(container)
        self.seconds.append(time.monotonic() - begin)
        if self.starts:
            self.runtime.cri.call('StopContainer', container_id=container)
        self.runtime.cri.call('RemoveContainer', container_id=container)


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def measure(asking, plain, pairs):
    for number in range(WARM_UP + pairs):
        sides = [asking, plain]
        random.shuffle(sides)
        for side in sides:
            side.create()
        if number == WARM_UP - 1:
            asking.seconds.clear()
            plain.seconds.clear()
    added = [(a - b) * 1000 for a, b in zip(asking.seconds, plain.seconds)]
    for name, part, most in (('median', 0.5, MOST_MEDIAN_MS), ('p99', 0.99, MOST_P99_MS)):
        ours, bare = quantile(asking.seconds, part) * 1000, quantile(plain.seconds, part) * 1000
        print(f'NR2 creation of a container, {name:6}  ours {ours:8.3f} ms  without an agent {bare:8.3f} ms  '
              f'ratio {ours / bare:5.2f}  added {ours - bare:6.3f} ms, of pairs {quantile(added, part):6.3f} ms  '
              f'target <= {most} ms')


def measure_beside_a_sleeper(asked, asking, plain, pairs):
    """Returns only pairs for which the hook was asked and did not answer. The agent kills it for its sleep and restarts it."""
    for _ in range(WARM_UP):
        plain.create()
    plain.seconds.clear()
    end = time.monotonic() + LONGEST
    added, late, bare = [], [], []
    while len(added) < pairs and time.monotonic() < end:
        before = asked.metric(TIMEOUTS)
        asking.create()
        plain.create()
        if asked.metric(TIMEOUTS) > before:
            late.append(asking.seconds[-1] * 1000)
            bare.append(plain.seconds[-1] * 1000)
            added.append(late[-1] - bare[-1])
        else:
            time.sleep(0.1)  # waits until the hook runs again
    for name, part in (('median', 0.5), ('most', 1)):
        ours, without = quantile(late, part), quantile(bare, part)
        print(f'NR6 creation beside a hook that sleeps 5 s, {name:6}  ours {ours:8.3f} ms  without an agent {without:8.3f} ms  '
              f'ratio {ours / without:6.2f}  added, of {len(added)} pairs {quantile(added, part):8.3f} ms  '
              f'target <= {MOST_MS_BESIDE_A_SLEEPER} ms')


def main(pairs, starts, sleeps):
    root = pathlib.Path(os.environ[UNPACKED])
    # The path must be short, because a socket's path has at most 107 bytes. It is in memory, because a runtime syncs
    # its database at each creation.
    where = {'prefix': 'koord-test-', 'dir': '/dev/shm' if os.path.isdir('/dev/shm') else None}
    with tempfile.TemporaryDirectory(**where) as one, tempfile.TemporaryDirectory(**where) as other:
        first, second = containerd.Containerd(root, one), containerd.Containerd(root, other)
        second.cgroup += '-plain'
        with first, second:
            gates = 'BatchResource: true, CPUSetAllocator: true, CPUNormalization: true' + (', Careless: true' if sleeps else '')
            asked = agent.Agent(os.path.abspath(sys.argv[2]), first.nri_socket, gates=gates, level='info', deadline='200ms' if sleeps else '1s')
            try:
                for hook in agent.HOOKS:
                    asked.await_log(hook + ' is running')
                asked.await_connection()
                if sleeps:
                    asked.await_log('careless-hook is running')
                    measure_beside_a_sleeper(asked, Side(first, starts, 'sleep'), Side(second, starts), pairs)
                else:
                    measure(Side(first, starts), Side(second, starts), pairs)
            finally:
                asked.end()


if __name__ == '__main__':
    if UNPACKED not in os.environ:
        run_again_on_unpacked_python()
    import agent
    import containerd
    numbers = [int(word) for word in sys.argv[3:] if word.isdigit()]
    main(numbers[0] if numbers else 50, 'start' in sys.argv[3:], 'sleep' in sys.argv[3:])
