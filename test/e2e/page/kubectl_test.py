#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""koordctl ui --pod through a real kubectl and the test cluster. Its API server runs the command beside a real agent.

usage: kubectl_test.py BUILD
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'support/cluster'))
from cluster_case import ClusterCase  # noqa: E402
import pod_test  # noqa: E402
from running import until  # noqa: E402

NAMESPACE, NAME = pod_test.POD.split('/')


class RealKubectl(ClusterCase):
    @classmethod
    def setUpClass(cls):
        cls.installation = pod_test.Installation()
        cls.addClassCleanup(cls.installation.close)
        folder = cls.installation.folder / 'bin'
        (folder / 'kubectl').unlink()  # the script of pod_test
        (folder / 'koordctl').symlink_to(pod_test.KOORDCTL)
        # The API server finds the command of a pod there, as in the image.
        os.environ['PATH'] = f"{folder}:{os.environ['PATH']}"
        super().setUpClass()
        os.environ['KUBECONFIG'] = cls.facts['kubeconfig']
        os.environ['KUBECTL_REMOTE_COMMAND_WEBSOCKETS'] = 'true'  # the default since 1.31

    def setUp(self):
        self.control('put', object={'kind': 'Pod', 'metadata': {'namespace': NAMESPACE, 'name': NAME},
                                    'spec': {'nodeName': 'test-node', 'containers': [{'name': 'agent'}]}, 'status': {'phase': 'Running'}})
        self.viewer = pod_test.Viewer(self.installation)
        self.addCleanup(self.viewer.close)

    def execs(self):
        return [one for one in self.control('requests') if one['subresource'] == 'exec']

    def test_answers_are_those_of_koordctl_beside_the_agent(self):
        for what in ('plugins', 'features', 'capabilities', 'decisions'):
            self.assertEqual(self.viewer.get(f'/api/v1/{what}'), (200, self.installation.koordctl(what)), what)
        statement = 'SELECT name FROM sqlite_master ORDER BY name'
        self.assertEqual(self.viewer.get('/sql?query=' + urllib.parse.quote(statement)), (200, self.installation.koordctl('sql', statement)))
        self.assertEqual({one['status'] for one in self.execs()}, {101})

    def test_a_long_answer_passes_unchanged(self):
        statement = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9000) SELECT i, printf('%0200d', i) AS text FROM n"
        self.assertEqual(self.viewer.get('/sql?query=' + urllib.parse.quote(statement)), (200, self.installation.koordctl('sql', statement)))

    def test_after_the_api_server_has_ended_all_connections_the_next_requests_are_answered(self):
        self.assertEqual(self.viewer.get('/api/v1/features')[0], 200)
        self.control('fault', fault='disconnect')
        until(lambda: self.viewer.request('/api/v1/features')[0] == 200, lambda: 'no answer any more')

    def test_a_pod_that_is_missing_is_kubectls_error(self):
        self.control('remove', kind='Pod', namespace=NAMESPACE, name=NAME)
        done = subprocess.run(self.installation.command(), capture_output=True, text=True, timeout=pod_test.PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertIn(f"kubectl exec in pod '{pod_test.POD}': Error from server (NotFound)", done.stderr)

    def test_the_command_in_the_pod_ends_with_the_viewer(self):
        self.assertEqual(self.viewer.get('/api/v1/features')[0], 200)
        self.assertGreater(len(self.commands_in_pods()), 0)
        self.viewer.close()
        until(lambda: not self.commands_in_pods(), lambda: self.commands_in_pods())

    def commands_in_pods(self):
        found = subprocess.run(['pgrep', '-a', '-P', str(self.process.pid)], capture_output=True, text=True).stdout
        return [line for line in found.splitlines() if 'proxy-stdio' in line]


if __name__ == '__main__':
    if not shutil.which('kubectl'):
        print('skipped: there is no kubectl')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
