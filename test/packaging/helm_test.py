#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that Helm renders the chart to the same objects as packaging/helm/render, and that its lint finds nothing.

usage: helm_test.py TREE HELM    unittest's output
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader

import yaml

from chart_variations import VARIATIONS

tree, helm = pathlib.Path(sys.argv[1]), sys.argv[2]
chart = tree / 'packaging/helm/koordetector'
render = SourceFileLoader('render', str(tree / 'packaging/helm/render')).load_module()
KUBE_VERSIONS = ['1.29.0', '1.30.0', '1.32.0', '1.34.0']  # the templates distinguish 1.30, 1.31 and 1.33


def named(text):
    """Returns the objects by kind, namespace and name."""
    found = {}
    for it in yaml.safe_load_all(text):
        if it:
            found[it['kind'], it['metadata'].get('namespace'), it['metadata']['name']] = it
    return found


class Helm(unittest.TestCase):
    maxDiff = None

    def run_helm(self, command, values, *more):
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
            yaml.safe_dump(values, file)
            file.flush()
            result = subprocess.run([helm, *command, chart, '--namespace', 'koordinator-system', '--values', file.name, *more],
                                    capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_both_render_the_same_objects(self):
        for name, changes in VARIATIONS.items():
            for version in KUBE_VERSIONS:
                with self.subTest(values=name, kube_version=version):
                    by_helm = named(self.run_helm(['template', 'koordetector'], changes, '--kube-version', version))
                    values = render.go_template.overwrite(render.values_of([], []), json.loads(json.dumps(changes)))
                    self.assertEqual(named(render.rendered(values, kube_version=version)), by_helm)

    def test_lint_finds_nothing(self):
        for name, changes in VARIATIONS.items():
            with self.subTest(values=name):
                self.run_helm(['lint', '--strict'], changes)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
