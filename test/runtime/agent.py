# SPDX-License-Identifier: Apache-2.0
"""A separate koordetector that a container runtime asks through NRI."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.request

import containerd

BATCH = {'koordinator.sh/qosClass': 'BE'}
# Requests 500 milli-cores, limits 800 milli-cores and 64 MiB.
AMOUNTS = {'requests': {'kubernetes.io/batch-cpu': '500', 'kubernetes.io/batch-memory': '64Mi'},
           'limits': {'kubernetes.io/batch-cpu': '800', 'kubernetes.io/batch-memory': '64Mi'}}
# The annotation of Koordinator's webhook. When the runtime asks, the agent may not know the pod yet.
RESOURCES = {'node.koordinator.sh/extended-resource-spec': json.dumps({'containers': {'main': AMOUNTS}})}
# The kubelet's values for a best-effort pod.
OF_KUBELET = {'cpu_shares': 2, 'cpu_period': 100000}
HOOKS = ('hook-batch-resource', 'hook-cpuset', 'hook-cpu-normalization')
CONFIG = """nodeName: test-node
listen: {{metrics: "127.0.0.1:0", socket: "{folder}/agent.sock"}}
store: {{path: ""}}
state: {{source: file, file: {{pods: "{folder}/pods.yaml", node: "{folder}/node.yaml"}}}}
log: {{level: {level}}}
predict: {{directory: ""}}
featureGates: {{{gates}}}
plugins:
  childProgram: "{build}/core/plugin_host/koord-plugin-host"
  ownDirectories: [{own}, "{folder}/own"]
  directories: ["{folder}/third"]
  settings: {settings}
qos: {{mode: {mode}, directory: "{folder}/qos"}}
hooks: {{nri: {{socket: "{socket}"}}, deadline: {deadline}}}
"""


class Agent:
    """`socket`: the runtime's NRI socket; empty: the runtime does not ask."""

    def __init__(self, build, socket, mode='enforce', gates='BatchResource: true', settings='{}', pod_uid='', level='debug', hooks=HOOKS,
                 deadline='1s'):
        self.build, self.folder = build, tempfile.TemporaryDirectory(prefix='koord-test-agent-')
        folder = pathlib.Path(self.folder.name)
        self.pods, self.config, self.log_path = folder / 'pods.yaml', folder / 'config.yaml', folder / 'log'
        self.show([])
        (folder / 'node.yaml').write_text(json.dumps({'kind': 'Node', 'metadata': {
            'name': 'test-node', 'annotations': {'node.koordinator.sh/cpu-normalization-ratio': '1.25'}},
            'status': {'capacity': {'cpu': '2', 'memory': '8Gi'}, 'allocatable': {'cpu': '2', 'memory': '8Gi'}}}))
        (folder / 'own').mkdir()
        (folder / 'third').mkdir(mode=0o755)
        shutil.copy(build + '/test/e2e/plugins/careless_hook.so', folder / 'third')
        own = ', '.join(f'"{build}/plugins/{hook}"' for hook in hooks)
        self.config.write_text(CONFIG.format(folder=folder, build=build, own=own, mode=mode, gates=gates,
                                             settings=settings, socket=socket, level=level,
                                             deadline=deadline))
        self.process, self.environment = None, {'KOORD_SHARED_CGROUP_TREE': '1', 'POD_UID': pod_uid}
        self.start()

    def start(self):
        with open(self.log_path, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen([self.build + '/core/agentd/koordetector', '--config', self.config],
                                            stdout=log, stderr=log, env=os.environ | self.environment)

    def show(self, pods):
        """Lists the pods for the agent, as an API server does."""
        fresh = self.pods.with_suffix('.new')
        fresh.write_text(json.dumps({'kind': 'PodList', 'apiVersion': 'v1', 'items': pods}))
        fresh.rename(self.pods)

    def log(self):
        return self.log_path.read_text()

    def await_log(self, text, count=1):
        containerd.eventually(lambda: self.log().count(text) >= count or self.process.poll() is not None, text)
        if self.log().count(text) < count:
            raise AssertionError(f'the agent ended: {self.log()}')

    def await_connection(self, count=1):
        self.await_log('connected to containerd', count)

    def ctl(self, *arguments):
        return subprocess.run([self.build + '/core/ctl/koordctl', *arguments, '--socket', self.config.parent / 'agent.sock'],
                              check=True, stdout=subprocess.PIPE, text=True).stdout

    def metric(self, name):
        """Returns the sum over the series since the last start."""
        port = re.findall(r'metrics on .*, port (\d+)', self.log())[-1]
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics', timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(name + r'[ {]', line))

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.stop()
        self.folder.cleanup()


def pod_object(name, uid, container, labels, annotations, resources, kube_qos):
    """Returns a pod with one container, as an API server has it. `container`: its id; None: it does not exist yet."""
    status = {'phase': 'Pending', 'qosClass': kube_qos}
    if container:
        running = {'name': 'main', 'containerID': 'containerd://' + container, 'state': {'running': {}}}
        status = status | {'phase': 'Running', 'containerStatuses': [running]}
    return {'metadata': {'name': name, 'namespace': 'koord-test', 'uid': uid, 'labels': labels, 'annotations': annotations},
            'spec': {'containers': [{'name': 'main', 'resources': resources}]},
            'status': status}
