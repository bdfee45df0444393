# SPDX-License-Identifier: Apache-2.0
"""A containerd of the test's own, with CRI and NRI.

Its programs are unpacked packages. A process keeps a mount namespace in which they lie over /usr; containerd and its
containers run in there. All else is the machine's: cgroups, processes, network, other paths.
"""
import os
import pathlib
import signal
import subprocess
import time

import cri
import images

LIMIT = 60  # seconds until something happens
CAP_SYS_RESOURCE = 24
# The command that holds the namespace. After the last mount it needs nothing of the machine's /usr. /run/containerd has
# the sockets of containers, wherever the state is.
HOLD = 'mount --bind {folder}/state /run/containerd && mount --bind {root}/usr /usr && ' \
       ': >{folder}/held && exec /usr/bin/busybox sleep 2147483647'
CONFIG = """version = 2
root = "{folder}/lib"
state = "{folder}/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "{folder}/sock"
[ttrpc]
  address = "{folder}/sock.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = {restrict_oom_score_adj}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{folder}/cni"
    conf_dir = "{folder}/cni"
[plugins."io.containerd.nri.v1.nri"]
  disable = false
  disable_connections = false
  socket_path = "{folder}/nri.sock"
  plugin_path = "{folder}/nri"
  plugin_config_path = "{folder}/nri"
"""


def eventually(condition, what):
    """Returns the first true result of the condition."""
    end = time.monotonic() + LIMIT
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f'{what}: not within {LIMIT} s')
        time.sleep(0.02)
    return result


def environment_of(pid):
    """Returns the environment of a container's program, once the program is `sleep`."""
    process = pathlib.Path(f'/proc/{pid}')
    # Before, the process runs the runtime's program, which later executes the container's.
    eventually(lambda: process.joinpath('comm').read_text() == 'sleep\n', 'the program of the container runs')
    # Empty while the kernel replaces the program.
    return eventually(lambda: process.joinpath('environ').read_bytes(), 'the program has its environment').split(b'\0')


def hierarchies():
    """Returns the mount points of the cgroup file systems."""
    mounts = [line.split() for line in pathlib.Path('/proc/self/mounts').read_text().splitlines()]
    return [pathlib.Path(mount[1]) for mount in mounts if mount[2] in ('cgroup', 'cgroup2')]


def file_of(cgroup, name_on_v1, name_on_v2):
    """Returns the path of a cgroup's file."""
    for hierarchy in hierarchies():
        for name in (name_on_v1, name_on_v2):
            path = hierarchy / cgroup.lstrip('/') / name
            if path.exists():
                return path
    raise AssertionError(f'no {name_on_v1} of {cgroup}')


def may_lower_oom_score_adj():
    status = pathlib.Path('/proc/self/status').read_text()
    effective = int(next(line for line in status.splitlines() if line.startswith('CapEff')).split()[1], 16)
    return bool(effective >> CAP_SYS_RESOURCE & 1)


class Containerd:
    """Runs in `folder`, which must have a short path because it has sockets. Its pods must be below `cgroup`."""

    def __init__(self, root, folder):
        self.root, self.folder = root, pathlib.Path(folder)
        self.cgroup = f'/koord-test-nri-{os.getpid()}'
        self.socket, self.nri_socket = self.folder / 'sock', self.folder / 'nri.sock'
        self.process = self.holder = self.cri = None

    def __enter__(self):
        try:
            self.log = open(self.folder / 'log', 'w', encoding='utf-8')
            for each in ('lib', 'state', 'cni', 'nri'):
                (self.folder / each).mkdir()
            (self.folder / 'config.toml').write_text(CONFIG.format(
                folder=self.folder, restrict_oom_score_adj=str(not may_lower_oom_score_adj()).lower()))
            self._hold_namespace()
            self.start()
            images.write_images(self.root / 'usr/bin/busybox', self.folder / 'images.tar')
            self.ctr('-n', 'k8s.io', 'images', 'import', self.folder / 'images.tar')
            eventually(lambda: len(self.cri.images()) == 2, 'CRI knows the images')
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            try:
                self.cri.remove_pods()
            except Exception as error:  # the shims are ended below
                print('cannot remove the pods:', error)
            self.process.terminate()
            self.process.wait()
        self._end_shims()
        if self.holder:
            self.holder.kill()
            self.holder.wait()
        self._remove_cgroups()
        self.log.close()

    def _hold_namespace(self):
        pathlib.Path('/run/containerd').mkdir(exist_ok=True)  # not removed later, because of mounts by others
        command = HOLD.format(folder=self.folder, root=self.root)
        self.holder = subprocess.Popen(['unshare', '-m', '--propagation', 'slave', 'sh', '-c', command],
                                       stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        eventually((self.folder / 'held').exists, 'the mount namespace is prepared')

    def _inside(self, *command):
        return ['nsenter', '-t', str(self.holder.pid), '-m', '-r', '--', *map(str, command)]

    def start(self):
        """Starts containerd and waits for its sockets."""
        environment = os.environ | {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'}
        environment = {name: value for name, value in environment.items() if not name.startswith('PYTHON')}
        self.process = subprocess.Popen(self._inside('/usr/bin/containerd', '-c', self.folder / 'config.toml'),
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment)
        eventually(lambda: self.process.poll() is not None or self._serves(), 'containerd serves')
        if self.process.poll() is not None:
            raise AssertionError('containerd ended: ' + (self.folder / 'log').read_text()[-2000:])
        if self.cri:
            self.cri.connect()
        else:
            self.cri = cri.Cri(self.socket)

    def _serves(self):
        version = subprocess.run(self._inside('/usr/bin/ctr', '-a', self.socket, 'version'), check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
        return version.returncode == 0 and self.nri_socket.exists()

    def kill(self):
        """Sends SIGKILL. Pods continue to run."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ctr(self, *words):
        return subprocess.run(self._inside('/usr/bin/ctr', '-a', self.socket, *words), check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT).stdout

    def _end_shims(self):
        """Ends the shims of this containerd, which have its path in their arguments, and the processes of their containers."""
        for process in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                words = (process / 'cmdline').read_bytes().split(b'\0')
                if b'containerd-shim' in words[0] and str(self.socket).encode() in words:
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                continue

    def _remove_cgroups(self):
        for top in (hierarchy / self.cgroup.lstrip('/') for hierarchy in hierarchies()):
            for procs in top.rglob('cgroup.procs'):
                for pid in procs.read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
            eventually(lambda top=top: not self._tree_is_left(top), f'{top} is removed')

    @staticmethod
    def _tree_is_left(top):
        for folder in sorted((path for path in top.rglob('*') if path.is_dir()), reverse=True):
            try:
                folder.rmdir()
            except OSError:
                return True
        try:
            top.rmdir()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False
