# SPDX-License-Identifier: Apache-2.0
"""Settings of the chart for its tests."""

ACME = [{'name': 'acme', 'image': 'registry.example/acme:1'}]

# Settings that together use every branch of the templates.
VARIATIONS = {
    'observe': {},
    'enforce': {'profile': 'enforce'},
    'unprivileged': {'unprivileged': True},
    'everything': {
        'profile': 'enforce', 'nameOverride': 'agent', 'namespace': {'create': True}, 'imagePullSecrets': [{'name': 'pull'}],
        'image': {'digest': 'sha256:' + 'a' * 64}, 'config': {'log': {'level': 'debug'}, 'report': {'devices': True, 'createNodeMetric': True},
                                                              'state': {'source': 'apiserver', 'apiserver': {'volumes': True}}},
        'featureGates': {'AllBeta': True, 'AllAlpha': False}, 'resctrl': True, 'hostNetwork': True, 'nri': {'hostPath': '/run/nri'}, 'plugins': {'images': ACME},
        'kubelet': {'port': 10250, 'caFile': '/pki/kubelet.crt', 'serverName': 'nodeName', 'stateDirectory': '/var/lib/kubelet', 'access': 'proxy'},
        'metrics': {'port': 9000, 'ipv6': True, 'tls': {'secretName': 'agent-tls', 'clientCaKey': 'ca.crt'},
                    'serviceMonitor': {'enabled': True, 'labels': {'team': 'a'}, 'tlsConfig': {'serverName': 'agent'},
                                       'metricRelabelings': [{'sourceLabels': ['__name__'], 'regex': 'a', 'action': 'drop'}]},
                    'prometheusRule': {'enabled': True, 'labels': {'team': 'a'}, 'runbookBase': 'https://git.example/'},
                    'dashboards': {'enabled': True, 'annotations': {'grafana_folder': 'a'}}},
        'networkPolicy': {'enabled': True, 'from': [{'namespaceSelector': {}}]}, 'affinity': {'nodeAffinity': {}},
        'serviceAccount': {'annotations': {'a': 'b'}}, 'podAnnotations': {'c': 'd'}, 'podLabels': {'e': 'f'}, 'extraArgs': ['--set=log.format=json'],
        'extraVolumes': [{'name': 'more', 'emptyDir': {}}], 'extraVolumeMounts': [{'name': 'more', 'mountPath': '/more'}]},
    'little': {
        'state': {'hostPath': ''}, 'sloConfigMap': {'name': ''}, 'capabilities': [], 'kubelet': {'access': 'fine', 'serverName': 'kubelet'},
        'cgroup': {'hierarchies': ['cpu', 'cpu,cpuacct', 'memory'], 'recursiveReadOnly': ''}, 'metrics': {'service': True}, 'tolerations': [],
        'nodeSelector': {}, 'serviceAccount': {'create': False, 'name': 'other'}, 'rbac': {'create': False}, 'image': {'tag': 'edge'},
        'networkPolicy': {'enabled': False}, 'admissionPolicy': {'create': 'never'},
        'config': {'report': {'nodeMetric': False, 'topology': False}}},
    'manager': {'manager': {'enabled': True}},
    'manager that serves': {
        'imagePullSecrets': [{'name': 'pull'}], 'networkPolicy': {'from': [{'podSelector': {}}]}, 'manager': {
            'enabled': True, 'replicas': 3, 'tls': {'secretName': 'manager-tls', 'caKey': 'root.crt', 'caBundle': 'QUJD'}, 'featureGates': {'NodeSLO': False},
            'config': {'batch': {'grace': '1m'}}, 'apiService': {'annotations': {'a': 'b'}}, 'podMonitor': {'enabled': True, 'labels': {'team': 'a'}}, 'tolerations': [{'operator': 'Exists'}],
            'affinity': {'nodeAffinity': {}}, 'podAnnotations': {'c': 'd'}, 'podLabels': {'e': 'f'}, 'extraArgs': ['--set=log.format=json']}},
}
