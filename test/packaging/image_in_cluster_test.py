#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the image in a cluster: its requests with the chart's rights, and its writes. Usage: image_case.py."""
import contextlib
import json
import shutil
import subprocess
import sys

import image_case
from image_case import tree, until

sys.path.insert(0, str(tree / 'test/support/cluster'))
sys.path.insert(0, str(tree / 'test/support'))
from cluster import kinds  # noqa: E402
from cluster_case import Unix  # noqa: E402

NODE = 'koord-test-node'
OBJECTS = [
    {'apiVersion': 'slo.koordinator.sh/v1alpha1', 'kind': 'NodeMetric', 'metadata': {'name': NODE}, 'spec': {'metricCollectPolicy': {
        'aggregateDurationSeconds': 60, 'reportIntervalSeconds': 30}}},
    {'apiVersion': 'slo.koordinator.sh/v1alpha1', 'kind': 'NodeSLO', 'metadata': {'name': NODE}, 'spec': {
        'resourceUsedThresholdWithBE': {'enable': True, 'cpuSuppressThresholdPercent': 42}}}]

POD = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'web-0', 'namespace': 'shop', 'uid': '5f0c4b1e-8a0e-4a53-9b1e-000000000001'},
       'spec': {'nodeName': NODE, 'containers': [{'name': 'web', 'image': 'web'}]}, 'status': {'phase': 'Running', 'qosClass': 'BestEffort'}}

# Every authenticated client may discover the API.
DISCOVERY = ('/api', '/apis', '/version', '/openapi')


def granted(manifest):
    return {(verb, group, resource) for document in manifest if document['kind'] in ('ClusterRole', 'Role') for rule in document['rules']
            for verb in rule['verbs'] for group in rule['apiGroups'] for resource in rule['resources']}


def right_of(request):
    """The rights that a request needs, in the form of a role's rule; None: none."""
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

    def command(self, folder, name, **arguments):
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

        def needed():
            return {right_of(request) for request in self.requests(running)} - {None}
        self.assertLessEqual(expected, until(expected.issubset, needed), running.log.read_text())
        self.assertIn('web-0', until(lambda page: 'web-0' in page, lambda: running.execute('/usr/bin/koordctl', 'pods')))
        self.assertEqual(needed() - granted(running.manifest), set())
        self.assertEqual([request for request in self.requests(running) if request['status'] in (401, 403)], [])


if __name__ == '__main__':
    image_case.main()
