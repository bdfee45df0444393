#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documents: each block with the mark `<!-- run -->` (blocks.py), with an agent on this kernel.

usage: commands_test.py TREE BUILD PLUGIN [DOCUMENT...]     PLUGIN: the commands have it as acme.so; exit status 77: they cannot run here

The agent has the configuration as installed, the default socket and the default port, in namespaces of its own for mounts and
network, and pods with the names that the documents use. A block passes when each of its commands succeeds. It is run again until
then or for a minute, because a metric appears only after some ticks.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import marks  # noqa: E402

SECONDS = 60
SKIPPED = 77
# Folders of the installed agent. In the mount namespace they are empty.
OWN_FOLDERS = ['/run/koordetector', '/var/lib/koordetector']
# namespace, name, QoS class
PODS = [('shop', 'web-0', 'LS'), ('shop', 'cart', 'LS'), ('shop', 'batch-7', 'BE'), ('batch', 'etl-5', 'BE'), ('machine', 'nightly', 'BE'), ('machine', 'web', 'LS')]
NODE_SLO = """kind: NodeSLO
spec:
  resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 60, cpuSuppressPolicy: cfsQuota}
  cpuBurstStrategy: {policy: auto}
  hostApplications: [{name: cron, qos: LS, cgroupPath: {base: CgroupRoot, relativePath: %s}}]
"""
NODE_EXPORTER = ['prometheus-node-exporter', '--web.listen-address=127.0.0.1:9100']


class Cgroups:
    """One cgroup with a process for each pod, in each hierarchy of this kernel."""

    def __init__(self, name):
        root = pathlib.Path('/sys/fs/cgroup')
        hierarchies = [root] if (root / 'cgroup.procs').exists() else [path for path in root.iterdir() if not path.is_symlink() and (path / 'cgroup.procs').exists()]
        self.tops = [path / name for path in hierarchies]
        self.processes = []

    def add(self, pod):
        """Makes the cgroups of the pod and of its container `main`. Returns the pod's."""
        # The first process works, because its scheduling is measured; the others only exist.
        process = subprocess.Popen(['sleep', 'infinity'] if self.processes else ['sh', '-c', 'while :; do head -c 9999999 /dev/zero | tail -c 1 > /dev/null; done'])
        self.processes.append(process)
        for top in self.tops:
            container = top / pod / 'main'
            for folder in (top, top / pod, container):
                if not folder.exists():
                    folder.mkdir()
                    self.prepare(folder)
            (container / 'cgroup.procs').write_text(str(process.pid))
        return f'{self.tops[0].name}/{pod}'

    @staticmethod
    def prepare(folder):
        """Prepares a new cgroup: v1 needs CPUs and memory nodes in a new cpuset, v2 the controllers of its parent."""
        for file in ('cpuset.mems', 'cpuset.cpus'):
            if (folder / file).exists() and (folder.parent / file).exists() and not (folder / 'cgroup.controllers').exists():
                (folder / file).write_text((folder.parent / file).read_text())
        if (folder / 'cgroup.subtree_control').exists() and folder.name != 'main':
            for controller in (folder / 'cgroup.controllers').read_text().split():
                (folder / 'cgroup.subtree_control').write_text('+' + controller)

    def remove(self):
        for process in self.processes:
            process.kill()
            process.wait()
        for top in self.tops:
            for folder in sorted(top.rglob('*'), key=lambda path: -len(path.parts)):
                if folder.is_dir():
                    remove_cgroup(folder)
            remove_cgroup(top)


def remove_cgroup(folder):
    """Removes a cgroup. Its last process may have ended without having left it yet."""
    deadline = time.monotonic() + SECONDS
    while folder.exists():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            os.sched_yield()


class Node:
    def __init__(self, build, plugin, folder):
        self.build, self.plugin, self.folder = pathlib.Path(build), plugin, folder
        self.cgroups = Cgroups(f'koord-test-documents-{os.getpid()}')
        self.agent = self.exporter = None
        self.bin = folder / 'bin'
        self.bin.mkdir()
        for program in ('core/agentd/koordetector', 'core/ctl/koordctl', 'core/manager/koord-manager'):
            (self.bin / pathlib.Path(program).name).symlink_to(self.build / program)
        self.environment = {**os.environ, 'PATH': f'{self.bin}:{os.environ["PATH"]}', 'LC_ALL': 'C.UTF-8', 'HOME': str(folder)}

    def start(self):
        (self.folder / 'pods.yaml').write_text('kind: PodList\nitems:\n' + ''.join(self.pod(*pod) for pod in PODS))
        (self.folder / 'slo.yaml').write_text(NODE_SLO % self.cgroups.add('cron'))
        plugins = self.folder / 'plugins'
        plugins.mkdir()
        for plugin in (self.build / 'plugins').glob('*/*.so'):
            shutil.copy(plugin, plugins)
        settings = [f'plugins.ownDirectories=[{plugins}]', 'plugins.directories=[]', f'plugins.childProgram={self.build}/core/plugin_host/koord-plugin-host',
                    'hooks.nri.socket=', 'state.source=file', f'state.file.pods={self.folder}/pods.yaml', f'state.file.nodeSLO={self.folder}/slo.yaml',
                    'plugins.settings.external-textfile.config.directory=/var/lib/koordetector/textfile',
                    'plugins.settings.external-prometheus.config={targets: [{name: exporter, url: "http://127.0.0.1:9100/metrics", metrics: ["node_load*"]}]}']
        self.log = open(self.folder / 'log', 'wb')
        self.exporter = subprocess.Popen(NODE_EXPORTER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.agent = subprocess.Popen(['koordetector', '--config', self.build / 'packaging/koordetector.yaml', '--feature-gates=AllAlpha=true,AllBeta=true',
                                       *(word for setting in settings for word in ('--set', setting))],
                                      stdout=self.log, stderr=self.log, env=self.environment)

    def pod(self, namespace, name, qos):
        cgroup = self.cgroups.add(name)
        return (f'- metadata: {{uid: {name}, namespace: {namespace}, name: {name}, labels: {{koordinator.sh/qosClass: {qos}}}, annotations: '
                f'{{koordetector.sh/cgroup-dir: {cgroup}, koordetector.sh/cgroup-dir.main: {cgroup}/main}}}}\n'
                f'  spec: {{containers: [{{name: main, resources: {{limits: {{cpu: 200m}}}}}}]}}\n')

    def stop(self):
        """Returns the problems of the agent's end."""
        problems = []
        if self.agent:
            if self.agent.poll() is None:
                self.agent.send_signal(signal.SIGTERM)
            if self.agent.wait(SECONDS) != 0:
                problems.append(f'the agent ended with {self.agent.returncode}:\n' + (self.folder / 'log').read_text()[-4000:])
            self.log.close()
        if self.exporter:
            self.exporter.kill()
            self.exporter.wait()
        self.cgroups.remove()
        return problems

    def supports(self, plugin):
        """Waits until the agent knows the plugin, if it is built."""
        if not (self.folder / f'plugins/{plugin}.so').exists() or self.run(f'koordctl capabilities | grep "^{plugin} "') is not None:
            return False
        return self.run_once(f'koordctl capabilities | grep "^{plugin} *supported "').returncode == 0

    def run_once(self, code, folder=None):
        return subprocess.run(['bash', '-euo', 'pipefail', '-c', code], cwd=folder or self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)

    def run(self, code):
        """Runs the block until it passes. Returns its last output, or None if it passed."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copy(self.plugin, folder / 'acme.so')
        deadline = time.monotonic() + SECONDS
        while True:
            done = self.run_once(code, folder)
            if done.returncode == 0:
                return None
            if time.monotonic() > deadline or self.agent.poll() is not None:
                return f'exit status {done.returncode}\n' + done.stdout.decode(errors='replace')[-3000:]


def inside(tree, build, plugin, paths):
    """Runs all blocks inside the namespaces, and prints a line for each."""
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
    for path in OWN_FOLDERS:
        subprocess.run(['mount', '-t', 'tmpfs', 'koord-test-documents', path], check=True)
    marked = [block for block in marks.all_blocks(tree) if block.mark.split(' ')[0] == 'run' and (not paths or block.path in paths)]
    failed, problems = 0, []
    with tempfile.TemporaryDirectory(prefix='koord-test-documents-') as folder:
        node = Node(build, plugin, pathlib.Path(folder))
        try:
            node.start()
            for block in marked:
                needed = block.mark.removeprefix('run').removeprefix(' with ')
                if needed and not node.supports(needed):
                    print(f'{block.path}:{block.line}: SKIPPED: {needed} is not supported here')
                    continue
                problem = node.run(block.code)
                print(f'{block.path}:{block.line}: {problem or "passed"}', flush=True)
                failed += bool(problem)
        finally:
            problems = node.stop()
    print('\n'.join(problems))
    print(f'{len(marked)} blocks, {failed} failed')
    return 1 if failed or problems or not marked else 0


def main(arguments):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # then cgroups are removed, too
    if arguments[0] == '--inside':
        return inside(pathlib.Path(arguments[1]), arguments[2], arguments[3], arguments[4:])
    if os.geteuid() != 0:
        print('SKIPPED: cgroups and namespaces need root')
        return SKIPPED
    made = [path for path in OWN_FOLDERS if not os.path.exists(path)]
    for path in made:
        os.mkdir(path)
    try:
        return subprocess.run(['unshare', '--mount', '--net', sys.executable, __file__, '--inside', *arguments], check=False).returncode
    finally:
        for path in made:
            with contextlib.suppress(OSError):  # a different agent uses it now
                os.rmdir(path)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
