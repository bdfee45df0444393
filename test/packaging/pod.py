# SPDX-License-Identifier: Apache-2.0
"""A pod of a rendered DaemonSet or Deployment, run by runc: the part of a kubelet and a container runtime that the tests of the image need.

Everything that says what a container may do comes from the manifest: user, capabilities, no_new_privs, read-only root, mounts and how
they are mounted, PID namespace, environment, limit of memory. The seccomp profile RuntimeDefault is that of the caller. Not from the
manifest: the pod's network, which is a namespace with one address, and the node's directory for state, which is one of the test's.
"""
import base64
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import urllib.error
import urllib.request

POD_IP = '10.213.0.2'
ENVIRONMENT = {'spec.nodeName': 'koord-test-node', 'status.hostIP': '127.0.0.1', 'status.podIP': POD_IP,
               'metadata.name': 'koord-test-pod', 'metadata.namespace': 'koordinator-system',
               'metadata.uid': 'b1ec0f5e-7b1c-4a5e-9d0a-000000000000'}
MOST_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
KUBELETS_FILES = {'token': 'not-a-token', 'namespace': 'koordinator-system', 'ca.crt': ''}


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def bytes_of(quantity):
    number, unit = re.fullmatch(r'(\d+)(Mi|Gi)', quantity).groups()
    return int(number) << {'Mi': 20, 'Gi': 30}[unit]


class Pod:
    """`images`: image name to its unpacked root file system. Everything that this class makes is named `name`, koord-test-…, or
    is in `folder`. `begin`: called when the pod's network exists; it may start a cluster there, and returns the cluster's facts
    (test/support/cluster). `seccomp`: returns the profile for a container's capabilities; None: containers have no profile.
    `kind`: the kind of the manifest's object that makes the pod. `secrets`: the files of each secret by name."""

    def __init__(self, manifest, images, folder, name, begin=None, seccomp=None, kind='DaemonSet', secrets=None):
        self.manifest = manifest
        self.spec = next(d for d in manifest if d['kind'] == kind)['spec']['template']['spec']
        self.images, self.folder, self.name, self.secrets = images, pathlib.Path(folder), name, secrets or {}
        self.running, self.begin, self.seccomp, self.cluster = [], begin, seccomp, None
        self.volumes = {volume['name']: self.volume(volume) for volume in self.spec['volumes']}

    def __enter__(self):
        run('ip', 'netns', 'add', self.name)
        run('ip', '-n', self.name, 'link', 'set', 'lo', 'up')
        run('ip', '-n', self.name, 'address', 'add', POD_IP, 'dev', 'lo')
        if self.begin:
            self.cluster = self.begin(self)
            self.volumes['token'] = self.cluster['service_account']
        return self

    def __exit__(self, *_):
        for container in self.running:
            subprocess.run(['runc', 'delete', '--force', container], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run('ip', 'netns', 'delete', self.name)

    def volume(self, volume):
        """Returns the path of the volume on this machine."""
        place = self.folder / 'volumes' / volume['name']
        if 'hostPath' in volume and volume['hostPath']['type'] in ('Directory', 'File'):
            return volume['hostPath']['path']
        place.mkdir(parents=True)
        if 'configMap' in volume:
            for name, content in self.files_of(volume['configMap']['name']).items():
                (place / name).write_bytes(content)
        elif 'secret' in volume:
            self.write_secret(place, volume['secret'])
        elif 'projected' in volume:
            for name, text in KUBELETS_FILES.items():
                (place / name).write_text(text)
        elif 'emptyDir' in volume:  # the mode that a kubelet sets
            place.chmod(0o777)
            if group := self.spec.get('securityContext', {}).get('fsGroup'):
                os.chown(place, 0, group)
        return str(place)

    def files_of(self, config_map):
        found = next(d for d in self.manifest if d['kind'] == 'ConfigMap' and d['metadata']['name'] == config_map)
        return ({name: text.encode() for name, text in found.get('data', {}).items()} |
                {name: base64.b64decode(text) for name, text in found.get('binaryData', {}).items()})

    def write_secret(self, place, secret):
        """Writes the files as a kubelet does: the pod's group may read them."""
        for name, content in self.secrets[secret['secretName']].items():
            (place / name).write_bytes(content)
            (place / name).chmod(secret['defaultMode'])
            os.chown(place / name, 0, self.spec['securityContext']['fsGroup'])

    def mount(self, mount):
        options = ['rbind', 'rprivate', 'ro' if mount.get('readOnly') else 'rw']
        if mount.get('recursiveReadOnly') in ('IfPossible', 'Enabled'):
            options.append('rro')
        return {'destination': mount['mountPath'], 'type': 'bind', 'source': self.volumes[mount['name']], 'options': options}

    def arguments(self, container, image_config, environment):
        words = (container.get('command') or image_config['Entrypoint']) + container.get('args', [])
        return [re.sub(r'\$\((\w+)\)', lambda match: environment[match[1]], word) for word in words]

    def bundle(self, container, image_config=None):
        """Makes the folder with runc's config.json for this container, and returns it."""
        root = self.images[container['image']]
        context = container['securityContext']
        folder = self.folder / container['name']
        folder.mkdir()
        run('runc', 'spec', '--bundle', folder)
        config = json.loads((folder / 'config.json').read_text())
        environment = {entry['name']: ENVIRONMENT[entry['valueFrom']['fieldRef']['fieldPath']] for entry in container.get('env', [])}
        if self.cluster:
            environment |= {'KUBERNETES_SERVICE_HOST': '127.0.0.1', 'KUBERNETES_SERVICE_PORT': str(self.cluster['api_port'])}
        capabilities = ['CAP_' + name for name in context['capabilities'].get('add', [])]
        assert context['capabilities']['drop'] == ['ALL'] and not context.get('privileged')
        is_root = context['runAsUser'] == 0
        config['root'] = {'path': str(root), 'readonly': context['readOnlyRootFilesystem']}
        config['process'] |= {
            'terminal': False, 'cwd': '/', 'user': {'uid': context['runAsUser'], 'gid': context['runAsGroup']},
            'args': self.arguments(container, image_config, environment),
            'env': ['PATH=/usr/bin'] + [f'{name}={value}' for name, value in environment.items()],
            'noNewPrivileges': not context['allowPrivilegeEscalation'],
            'capabilities': {'bounding': capabilities} | ({'permitted': capabilities, 'effective': capabilities} if is_root else {}),
            'rlimits': [{'type': 'RLIMIT_NOFILE', 'hard': MOST_FILES, 'soft': MOST_FILES}]}
        config['mounts'] += [self.mount(mount) for mount in container.get('volumeMounts', [])]
        config['linux']['namespaces'] = [
            space | ({'path': '/run/netns/' + self.name} if space['type'] == 'network' else {}) for space in config['linux']['namespaces']
            if not (space['type'] == 'pid' and self.spec.get('hostPID')) and space['type'] != 'cgroup']
        config['linux']['cgroupsPath'] = '/' + self.name
        config['linux']['resources']['memory'] = {'limit': bytes_of(container['resources']['limits']['memory'])}
        assert context['seccompProfile'] == {'type': 'RuntimeDefault'}
        if self.seccomp:
            config['linux']['seccomp'] = self.seccomp(capabilities)
        (folder / 'config.json').write_text(json.dumps(config))
        return folder

    def run_init_containers(self):
        return [run('runc', 'run', '--bundle', self.bundle(container), f"{self.name}-{container['name']}")
                for container in self.spec.get('initContainers', [])]

    def start(self, image_config):
        """Starts the only container. Returns its process id."""
        bundle = self.bundle(self.spec['containers'][0], image_config)
        pid_file = self.folder / 'pid'
        self.log = self.folder / 'log'
        with open(self.log, 'w', encoding='utf-8') as log:
            started = subprocess.run(['runc', 'run', '--detach', '--bundle', bundle, '--pid-file', pid_file, self.name],
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=60)
        self.running.append(self.name)
        if started.returncode != 0:
            raise AssertionError(f'runc: exit status {started.returncode}\n{self.log.read_text()}')
        return int(pid_file.read_text())

    def execute(self, *command):
        return run('runc', 'exec', self.name, *command)

    def probe(self, kind):
        """Returns the address that the kubelet uses for this probe."""
        container = self.spec['containers'][0]
        get = container[kind]['httpGet']
        return self.url(get['port'], get['path'])

    def url(self, port_name, path):
        """Returns the address of a named port of the agent's container."""
        ports = self.spec['containers'][0]['ports']
        port = next(port['containerPort'] for port in ports if port['name'] == port_name)
        return f'http://{POD_IP}:{port}{path}'

    def get(self, url):
        """Sends a request in the pod's network. Returns status and body; the status is 0 if no answer arrives."""
        code = 'import sys; sys.path.insert(0, sys.argv[1]); import pod; pod.print_answer(sys.argv[2])'
        here = os.path.dirname(os.path.abspath(__file__))
        answer = run('ip', 'netns', 'exec', self.name, sys.executable, '-c', code, here, url)
        status, _, body = answer.partition('\n')
        return int(status), body


def print_answer(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            print(answer.status)
            print(answer.read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
        print(error.read().decode())
    except OSError as error:
        print(0)
        print(error)
