#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that kubectl reads the manifests, without a cluster.

usage: kubectl_test.py TREE KUBECTL    unittest's output; exit code 77 where that kubectl is too old

`kubectl set … --local` reads an object into Kubernetes' own types, refuses values of other types and drops unknown
fields; so its output must have all fields of the input. It does so with workloads and with bindings of roles.
"""
import json
import pathlib
import subprocess
import sys
import unittest

import yaml

tree, kubectl = pathlib.Path(sys.argv[1]), sys.argv[2]
NEWEST_FIELD_SINCE = 31  # Kubernetes 1.31: recursiveReadOnly
COMMANDS = {
    'DaemonSet': lambda it: ['serviceaccount', it['spec']['template']['spec']['serviceAccountName']],
    'ClusterRoleBinding': lambda it: ['subject', '--group=one-more'],  # kubectl prints the object only if it changes it
    'RoleBinding': lambda it: ['subject', '--group=one-more'],
}


def minor_version():
    version = subprocess.run([kubectl, 'version', '--client', '-o', 'json'], capture_output=True, text=True, check=True)
    return int(json.loads(version.stdout)['clientVersion']['minor'].rstrip('+'))


def read_by_kubectl(it):
    what, *arguments = COMMANDS[it['kind']](it)
    command = [kubectl, 'set', what, '--local', '-f', '-', *arguments, '-o', 'json']
    result = subprocess.run(command, input=json.dumps(it), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


def lost(put_in, came_out, path=''):
    """Returns the paths of values that the output lacks or changes."""
    if isinstance(put_in, dict) and isinstance(came_out, dict):
        return [p for key, value in put_in.items() for p in lost(value, came_out.get(key), f'{path}.{key}')]
    if isinstance(put_in, list) and isinstance(came_out, list) and len(put_in) <= len(came_out):
        return [p for i, value in enumerate(put_in) for p in lost(value, came_out[i], f'{path}[{i}]')]
    # An empty value may be missing.
    return [] if put_in == came_out or (came_out is None and put_in in ({}, [], '', 0, False)) else [path]


class Kubectl(unittest.TestCase):
    def test_every_field_of_the_manifests_is_one_of_kubernetes(self):
        for name in ('observe', 'enforce'):
            objects = [it for it in yaml.safe_load_all((tree / f'packaging/manifests/{name}.yaml').read_text()) if it]
            read = [it for it in objects if it['kind'] in COMMANDS]
            self.assertEqual({it['kind'] for it in read}, set(COMMANDS))
            for it in read:
                with self.subTest(manifest=name, kind=it['kind']):
                    self.assertEqual(lost(it, read_by_kubectl(it)), [])

    def test_a_field_that_there_is_not_and_a_value_of_another_type_are_found(self):
        objects = yaml.safe_load_all((tree / 'packaging/manifests/observe.yaml').read_text())
        daemon_set = next(it for it in objects if it and it['kind'] == 'DaemonSet')
        container = daemon_set['spec']['template']['spec']['containers'][0]
        container['livenesProbe'] = {'periodSeconds': 1}
        self.assertEqual(lost(daemon_set, read_by_kubectl(daemon_set)), ['.spec.template.spec.containers[0].livenesProbe'])
        container['image'] = 7
        with self.assertRaises(AssertionError):
            read_by_kubectl(daemon_set)


if __name__ == '__main__':
    if minor_version() < NEWEST_FIELD_SINCE:
        print(f'SKIPPED: kubectl 1.{minor_version()} does not know all fields of the manifests, expected 1.{NEWEST_FIELD_SINCE}')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
