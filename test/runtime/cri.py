# SPDX-License-Identifier: Apache-2.0
"""A client of a container runtime's CRI socket, with the calls that tests need. It needs python3-grpcio."""
import json
import pathlib

import grpc

import protobuf

# Field numbers of Kubernetes' runtime.v1.
MESSAGES = protobuf.schema("""
PodSandboxMetadata name=1 uid=2 namespace=3
PodSandboxConfig metadata=1:PodSandboxMetadata log_directory=3 labels=6:map annotations=7:map linux=8:LinuxPodSandboxConfig
LinuxPodSandboxConfig cgroup_parent=1 security_context=2:SandboxSecurity
SandboxSecurity namespace_options=1:NamespaceOption
NamespaceOption network=1:i pid=2:i
RunPodSandboxRequest config=1:PodSandboxConfig
RunPodSandboxResponse pod_sandbox_id=1
StopPodSandboxRequest pod_sandbox_id=1
StopPodSandboxResponse
RemovePodSandboxRequest pod_sandbox_id=1
RemovePodSandboxResponse
ListPodSandboxRequest
ListPodSandboxResponse items=1:*PodSandbox
PodSandbox id=1

ImageSpec image=1
ContainerMetadata name=1
KeyValue key=1 value=2
ContainerConfig metadata=1:ContainerMetadata image=2:ImageSpec command=3:*s envs=6:*KeyValue labels=9:map
  annotations=10:map log_path=11 linux=15:LinuxContainerConfig
LinuxContainerConfig resources=1:LinuxContainerResources security_context=2:ContainerSecurity
ContainerSecurity namespace_options=3:NamespaceOption
LinuxContainerResources cpu_period=1:i cpu_quota=2:i cpu_shares=3:i memory_limit_in_bytes=4:i oom_score_adj=5:i
  cpuset_cpus=6 cpuset_mems=7
CreateContainerRequest pod_sandbox_id=1 config=2:ContainerConfig sandbox_config=3:PodSandboxConfig
CreateContainerResponse container_id=1
StartContainerRequest container_id=1
StartContainerResponse
ContainerStatusRequest container_id=1 verbose=2:b
ContainerStatusResponse status=1:ContainerStatus info=2:map
ContainerStatus id=1 annotations=13:map
StopContainerRequest container_id=1 timeout=2:i
StopContainerResponse
RemoveContainerRequest container_id=1
RemoveContainerResponse
ListContainersRequest
ListContainersResponse containers=1:*Container
Container id=1
ExecSyncRequest container_id=1 cmd=2:*s timeout=3:i
ExecSyncResponse stdout=1 stderr=2 exit_code=3:i
ExecRequest container_id=1 cmd=2:*s tty=3:b stdin=4:b stdout=5:b stderr=6:b
ExecResponse url=1
PortForwardRequest pod_sandbox_id=1 port=2:*i
PortForwardResponse url=1
ListContainerStatsRequest
ListContainerStatsResponse stats=1:*ContainerStats
ContainerStats attributes=1:ContainerAttributes
ContainerAttributes id=1
ContainerEvent container_id=1 type=2:i
UpdateContainerResourcesRequest container_id=1 linux=2:LinuxContainerResources
UpdateContainerResourcesResponse

ListImagesRequest
ListImagesResponse images=1:*Image
Image id=1 repo_tags=2:*s
""")
HOST_NETWORK = {'network': 2, 'pid': 1}  # pid 1: each container has its own namespace, as the kubelet requests


class Cri:
    def __init__(self, socket):
        self.socket, self.sandboxes, self.channel = socket, {}, None
        self.logs = pathlib.Path(socket).parent / 'logs'  # one folder for each pod
        self.connect()

    def connect(self):
        """Connects, or connects again after a restart of the runtime."""
        if self.channel:
            self.channel.close()
        self.channel = grpc.insecure_channel(f'unix:{self.socket}', options=[('grpc.default_authority', 'localhost'),
                                                                             ('grpc.max_receive_message_length', -1),
                                                                             ('grpc.enable_http_proxy', 0)])

    def call(self, method, **fields):
        service = 'ImageService' if method == 'ListImages' else 'RuntimeService'
        call = self.channel.unary_unary(f'/runtime.v1.{service}/{method}')
        answer = call(protobuf.encode(MESSAGES, method + 'Request', fields), timeout=60, wait_for_ready=True)
        return protobuf.decode(MESSAGES, method + 'Response', answer)

    def images(self):
        return [tag for image in self.call('ListImages').get('images', []) for tag in image.get('repo_tags', [])]

    def run_pod(self, name, cgroup_parent, annotations, labels=None):
        config = {'metadata': {'name': name, 'uid': 'uid-of-' + name, 'namespace': 'koord-test'},
                  'labels': {'io.kubernetes.pod.name': name} | (labels or {}), 'annotations': annotations,
                  'log_directory': f'{self.logs}/{name}',
                  'linux': {'cgroup_parent': cgroup_parent, 'security_context': {'namespace_options': HOST_NETWORK}}}
        (self.logs / name).mkdir(parents=True, exist_ok=True)
        pod = self.call('RunPodSandbox', config=config)['pod_sandbox_id']
        self.sandboxes[pod] = config
        return pod

    def create_container(self, pod, name, resources, command=('sleep', '100000')):
        config = {'metadata': {'name': name}, 'image': {'image': 'localhost/busybox:1'}, 'command': command,
                  'envs': [{'key': 'FROM_SPEC', 'value': '1'}], 'log_path': name + '.log',
                  'linux': {'resources': resources, 'security_context': {'namespace_options': HOST_NETWORK}}}
        return self.call('CreateContainer', pod_sandbox_id=pod, config=config,
                         sandbox_config=self.sandboxes[pod])['container_id']

    def start(self, container):
        self.call('StartContainer', container_id=container)

    def update(self, container, resources):
        self.call('UpdateContainerResources', container_id=container, linux=resources)

    def exec(self, container, *command):
        """Returns the output of the command and its exit status."""
        answer = self.call('ExecSync', container_id=container, cmd=command)
        return answer.get('stdout', ''), answer.get('exit_code', 0)

    def pid(self, container):
        status = self.call('ContainerStatus', container_id=container, verbose=True)
        return json.loads(status['info']['info'])['pid']

    def remove_pod(self, name):
        """Removes a pod that run_pod() has made."""
        for pod in [pod for pod, config in self.sandboxes.items() if config['metadata']['name'] == name]:
            self.call('StopPodSandbox', pod_sandbox_id=pod)
            self.call('RemovePodSandbox', pod_sandbox_id=pod)
            del self.sandboxes[pod]

    def remove_pods(self):
        for pod in self.call('ListPodSandbox').get('items', []):
            self.call('StopPodSandbox', pod_sandbox_id=pod['id'])
            self.call('RemovePodSandbox', pod_sandbox_id=pod['id'])
