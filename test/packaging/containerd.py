# SPDX-License-Identifier: Apache-2.0
"""A separate containerd that provides the seccomp profile of its containers: RuntimeDefault of Kubernetes."""
import json
import pathlib
import shutil
import subprocess
import time

LIMIT = 60  # seconds until it must answer
# Capabilities that `ctr` gives each container and that the chart drops.
USUAL = ['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'NET_RAW', 'SETFCAP',
         'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT']
CONFIG = """version = 2
root = "{folder}/root"
state = "{folder}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "{folder}/sock"
[ttrpc]
  address = "{folder}/sock.ttrpc"
"""


def missing():
    """Returns the missing program; None if all exist."""
    return next((program for program in ('containerd', 'ctr') if not shutil.which(program)), None)


class Containerd:
    """Runs containerd in `folder`. The path must be short, because the folder has sockets."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.profiles = {}

    def __enter__(self):
        (self.folder / 'config.toml').write_text(CONFIG.format(folder=self.folder))
        self.log = open(self.folder / 'log', 'w', encoding='utf-8')
        self.process = subprocess.Popen(['containerd', '--config', self.folder / 'config.toml', '--log-level', 'warn'],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.monotonic() + LIMIT
        while self.ctr('version').returncode != 0:
            if time.monotonic() > end or self.process.poll() is not None:
                self.__exit__()
                raise AssertionError('containerd does not answer: ' + (self.folder / 'log').read_text())
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def ctr(self, *words):
        return subprocess.run(['ctr', '--address', self.folder / 'sock', *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=LIMIT)

    def default_profile(self, capabilities):
        """Returns `linux.seccomp` of a container with these capabilities, such as CAP_BPF. Starts no container."""
        key = tuple(sorted(capabilities))
        if key not in self.profiles:
            container = f'profile-{len(self.profiles)}'
            wanted = [word for capability in capabilities for word in ('--cap-add', capability)]
            unwanted = [word for name in USUAL if 'CAP_' + name not in capabilities for word in ('--cap-drop', 'CAP_' + name)]
            made = self.ctr('container', 'create', '--rootfs', '--seccomp', *wanted, *unwanted, str(self.folder), container, 'true')
            assert made.returncode == 0, made.stdout
            spec = json.loads(self.ctr('container', 'info', container).stdout)['Spec']
            assert sorted(spec['process']['capabilities'].get('bounding', [])) == list(key)
            self.profiles[key] = spec['linux']['seccomp']
        return self.profiles[key]


def without(profile, *calls):
    """Returns the profile with these system calls forbidden, too."""
    rules = [rule | {'names': [name for name in rule['names'] if name not in calls]} for rule in profile['syscalls']]
    return profile | {'syscalls': [rule for rule in rules if rule['names']]}
