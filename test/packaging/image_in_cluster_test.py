#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the image in a cluster: the agent and koord-manager, their requests with the chart's rights, and their writes. Usage:
image_case.py."""
import base64
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import image_case
import pod
from image_case import status_of, tree, until, writable_mounts

sys.path.insert(0, str(tree / 'test/support/cluster'))
sys.path.insert(0, str(tree / 'test/support'))
from cluster import certificates, kinds  # noqa: E402
from cluster_case import Unix  # noqa: E402

NODE = 'koord-test-node'
OBJECTS = [
    {'apiVersion': 'slo.koordinator.sh/v1alpha1', 'kind': 'NodeMetric', 'metadata': {'name': NODE}, 'spec': {'metricCollectPolicy': {
        'aggregateDurationSeconds': 60, 'reportIntervalSeconds': 30}}},
    {'apiVersion': 'slo.koordinator.sh/v1alpha1', 'kind': 'NodeSLO', 'metadata': {'name': NODE}, 'spec': {
        'resourceUsedThresholdWithBE': {'enable': True, 'cpuSuppressThresholdPercent': 42}}}]

POD = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'web-0', 'namespace': 'shop', 'uid': '5f0c4b1e-8a0e-4a53-9b1e-000000000001'},
       'spec': {'nodeName': NODE, 'containers': [{'name': 'web', 'image': 'web'}]}, 'status': {'phase': 'Running', 'qosClass': 'BestEffort'}}

SETTINGS = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'slo-controller-config', 'namespace': 'koordinator-system'},
            'data': {'resource-threshold-config': '{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 61}}'}}
LEASE = ('koordetector-manager', 'koordinator-system')

# Every authenticated client may discover the API.
DISCOVERY = ('/api', '/apis', '/version', '/openapi')


# A role that Kubernetes itself creates.
BUILT_IN = {'extension-apiserver-authentication-reader': {(verb, '', 'configmaps') for verb in ('get', 'list', 'watch')}}


def rights_of_role(manifest, name):
    """Returns the rights that roles of this name grant, in any namespace."""
    return BUILT_IN.get(name, set()) | {
        (verb, group, resource) for document in manifest if document['kind'] in ('ClusterRole', 'Role') and document['metadata']['name'] == name
        for rule in document['rules'] for verb in rule['verbs'] for group in rule['apiGroups'] for resource in rule['resources']}


def granted(manifest, account):
    """Returns the rights of this service account."""
    return {right for document in manifest if document['kind'] in ('ClusterRoleBinding', 'RoleBinding')
            if account in [subject['name'] for subject in document['subjects']]
            for right in rights_of_role(manifest, document['roleRef']['name'])}


def right_of(request):
    """Returns the rights that a request needs, as in a role's rule; None if it needs none."""
    path = request['path'].split('?')[0].rstrip('/')
    if request['server'] == 'kubelet':
        return request['verb'], '', 'nodes' + path
    if not request.get('kind'):
        return None if path.startswith(DISCOVERY) else (request['verb'], '', path)
    kind = kinds.named(request['kind'])
    subresource = '/' + request['subresource'] if request.get('subresource') else ''
    return request['verb'], kind.group, kind.plural + subresource


class InCluster(image_case.ImageCase):
    def begin(self, running):
        folder = running.folder / 'cluster'
        process = subprocess.Popen(['ip', 'netns', 'exec', running.name, sys.executable, tree / 'test/support/cluster/run', '--folder', folder,
                                    '--node', NODE, '--minor', '34'], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.assertTrue(until(bool, (folder / 'ready.json').exists))
        facts = json.loads((folder / 'ready.json').read_text())
        shutil.copy(facts['kubelet_ca'], self.folder / 'kubelet.crt')
        for object in OBJECTS:
            self.command(folder, 'put', object=object)
        self.command(folder, 'set_pods', items=[POD])
        return facts

    def requests(self, running):
        return self.command(running.folder / 'cluster', 'requests')

    def command(self, folder, name, /, **arguments):
        with contextlib.closing(Unix(str(folder / 'control.sock'))) as connection:
            connection.request('POST', '/' + name, json.dumps(arguments))
            answer = connection.getresponse()
            text = answer.read()
        self.assertEqual(answer.status, 200, text)
        return json.loads(text)

    def test_it_learns_its_pods_and_asks_for_nothing_that_its_role_does_not_grant(self):
        running = self.pod(f'kubelet.caFile={self.folder}/kubelet.crt', begin=self.begin)
        self.started(running)
        expected = {('watch', '', 'nodes'), ('watch', 'slo.koordinator.sh', 'nodeslos'), ('watch', 'slo.koordinator.sh', 'nodemetrics'),
                    ('get', '', 'nodes/pods'), ('get', '', 'nodes/configz'), ('watch', '', 'configmaps')}
        self.assertLessEqual(expected, until(expected.issubset, lambda: self.needed(running)), running.log.read_text())
        self.assertIn('web-0', until(lambda page: 'web-0' in page, lambda: running.execute('/usr/bin/koordctl', 'pods')))
        self.assert_asks_within_its_rights(running, 'koordetector')

    def needed(self, running):
        return {right_of(request) for request in self.requests(running)} - {None}

    def assert_asks_within_its_rights(self, running, account):
        self.assertEqual(self.needed(running) - granted(running.manifest, account), set())
        self.assertEqual([request for request in self.requests(running) if request['status'] in (401, 403)], [])

    def manager(self, *settings, **more):
        """Starts a pod of koord-manager and waits until it is ready. Returns it with its process."""
        running = self.pod('manager.enabled=true', *settings, begin=self.begin, kind='Deployment', **more)
        return running, self.started(running)

    def object(self, running, kind, name, namespace=''):
        return self.command(running.folder / 'cluster', 'get', kind=kind, name=name, namespace=namespace)

    def test_koord_manager_leads_without_rights_on_its_machine_and_gives_its_lease_up_when_it_is_stopped(self):
        running, pid = self.manager()
        holder = until(bool, lambda: self.object(running, 'Lease', *LEASE)['spec'].get('holderIdentity'))
        self.assertIn('/koord-test-pod/', holder)
        status = status_of(pid)
        self.assertEqual((status['Uid'].split(), int(status['CapBnd'], 16), status['NoNewPrivs']), (['65532'] * 4, 0, '1'))
        self.assertEqual(writable_mounts(pid) - image_case.OF_THE_RUNTIME, set())
        os.kill(pid, signal.SIGTERM)
        self.assertFalse(until(lambda holder: not holder, lambda: self.object(running, 'Lease', *LEASE)['spec'].get('holderIdentity')))
        state = until(lambda state: state == 'stopped', lambda: json.loads(pod.run('runc', 'state', running.name))['status'])
        self.assertEqual(state, 'stopped', running.log.read_text())

    def test_koord_manager_makes_the_node_slo_of_the_settings_and_asks_for_nothing_that_its_roles_do_not_grant(self):
        running, _ = self.manager()
        self.command(running.folder / 'cluster', 'put', object=SETTINGS)

        def threshold():
            strategy = self.object(running, 'NodeSLO', NODE)['spec'].get('resourceUsedThresholdWithBE') or {}
            return strategy.get('cpuSuppressThresholdPercent')
        self.assertEqual(until(lambda percent: percent == 61, threshold), 61, running.log.read_text())
        self.assert_asks_within_its_rights(running, 'koordetector-manager')

    def test_koord_manager_serves_the_aggregated_api_through_the_aggregator(self):
        authority = certificates.Authority(self.folder, 'manager-ca', 'koord-test-manager-ca')
        certificate, key = authority.sign('manager', '/CN=koord-manager', 'DNS:koordetector-manager.koordinator-system.svc')
        bundle = base64.b64encode(pathlib.Path(authority.certificate).read_bytes()).decode()
        running, _ = self.manager('manager.tls.secretName=manager-tls', f'manager.tls.caBundle={bundle}', secrets={
            'manager-tls': {'tls.crt': pathlib.Path(certificate).read_bytes(), 'tls.key': pathlib.Path(key).read_bytes()}})
        self.command(running.folder / 'cluster', 'register_api', group='metrics.koordetector.sh', version='v1alpha1',
                     namespace='koordinator-system', service='koordetector-manager', ca_file=authority.certificate)

        def reason():
            service = self.object(running, 'APIService', 'v1alpha1.metrics.koordetector.sh')
            return next((condition['reason'] for condition in service.get('status', {}).get('conditions', [])), '')
        self.assertEqual(until(lambda reason: reason == 'Passed', reason), 'Passed', running.log.read_text())
        self.assert_asks_within_its_rights(running, 'koordetector-manager')


if __name__ == '__main__':
    image_case.main()
