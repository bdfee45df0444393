# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the image: it is made once, and started in pods that the chart makes.

usage of each: TEST TREE BUILD PLUGIN    unittest's output; exit status 77 where containers cannot be run
"""
import ctypes
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import containerd
import pod
import yaml

tree, build, hello = (pathlib.Path(argument) for argument in sys.argv[1:4])
LIMIT = 120  # seconds until an expected event must have happened

# From linux/capability.h.
CAPABILITIES = {'PERFMON': 38, 'BPF': 39}

# Writable files that the runtime gives every container. They are its own kernel file systems, and no file of the node.
OF_THE_RUNTIME = {'/proc', '/dev', '/dev/pts', '/dev/shm', '/dev/mqueue', '/proc/keys', '/proc/timer_list', '/proc/kcore', '/proc/latency_stats',
                  '/proc/sched_debug', '/proc/timer_stats', '/sys/fs/cgroup'}


def rendered(*settings):
    text = subprocess.run([sys.executable, tree / 'packaging/helm/render', *[word for setting in settings for word in ('--set', setting)]], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return list(yaml.safe_load_all(text))


def capabilities_of(names):
    return sum(1 << CAPABILITIES[name] for name in names)


def status_of(pid):
    lines = pathlib.Path(f'/proc/{pid}/status').read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(':') for line in lines)}


def writable_mounts(pid):
    found = set()
    for line in pathlib.Path(f'/proc/{pid}/mountinfo').read_text().splitlines():
        fields = line.split()
        if 'rw' in fields[5].split(','):
            found.add(fields[4])
    return found


def in_mount_namespace(pid, path):
    """Opens `path` for writing as the container sees it, with all rights of the test. Returns 0 or an errno."""
    child = os.fork()
    if child == 0:
        space = os.open(f'/proc/{pid}/ns/mnt', os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(space, 0) != 0:
            os._exit(255)
        try:
            os.close(os.open(path, os.O_WRONLY | (0 if os.path.exists(path) else os.O_CREAT)))
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def until(wanted, seen):
    """Calls `seen` until `wanted` holds for its result, for at most LIMIT seconds. Returns the last result."""
    end = time.monotonic() + LIMIT
    while True:
        value = seen()
        if wanted(value) or time.monotonic() > end:
            return value
        time.sleep(0.2)


class ImageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='koord-test-image-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        archive = cls.folder / 'image.tar'
        pod.run(tree / 'packaging/image', 'archive', build, archive)
        cls.archive = archive
        layout = cls.folder / 'layout'
        with tarfile.open(archive) as tar:
            tar.extractall(layout)
        cls.layout = layout
        index = json.loads((layout / 'index.json').read_text())
        cls.name = index['manifests'][0]['annotations']['org.opencontainers.image.ref.name']
        manifest = cls.blob(index['manifests'][0])
        cls.config = cls.blob(manifest['config'])
        # A different program unpacks the image, which also proves that the archive is valid.
        pod.run('umoci', 'unpack', '--image', f'{layout}:{cls.name}', cls.folder / 'unpacked')
        cls.root = cls.folder / 'unpacked/rootfs'
        cls.images = {cls.name: cls.root}
        cls.seccomp = None
        if not containerd.missing():
            place = tempfile.mkdtemp(prefix='koord-test-')
            cls.addClassCleanup(shutil.rmtree, place)
            cls.seccomp = cls.enterClassContext(containerd.Containerd(place)).default_profile

    @classmethod
    def blob(cls, descriptor):
        return json.loads((cls.layout / 'blobs' / descriptor['digest'].replace(':', '/')).read_text())

    def pod(self, *settings, images=None, **more):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        more.setdefault('seccomp', self.seccomp)
        running = pod.Pod(rendered(*settings), self.images | (images or {}), folder, f'koord-test-{os.getpid()}-{folder.name}', **more)
        self.enterContext(running)
        return running

    def started(self, running):
        """Starts the agent and waits until it is ready and its page has pods or services of this machine."""
        pid = running.start(self.config['config'])
        answer = until(lambda answer: answer[0] == 200, lambda: running.get(running.probe('readinessProbe')))
        self.assertEqual(answer[0], 200, answer[1] + running.log.read_text())
        return pid

    def metrics(self, running, wanted):
        url = running.url('metrics', '/metrics')
        return until(lambda page: wanted in page, lambda: running.get(url)[1])

    def states(self, running):
        def settled(states):
            return states and not {'loading', 'loaded', 'created', 'initialised'} & set(states.values())
        return until(settled, lambda: {plugin['id']: plugin['state'] for plugin in json.loads(
            running.execute('/usr/bin/koordctl', 'plugins', '-o', 'json'))['plugins']})


def missing(*more):
    if os.geteuid() != 0:
        return 'root'
    return next((program for program in ('runc', 'umoci', 'ip', 'strip', *more) if not shutil.which(program)), None)


def main(*programs):
    if what := missing(*programs):
        print(f'SKIPPED: needs {what}')
        sys.exit(77)
    unittest.main('__main__', argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
