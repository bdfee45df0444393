#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Third-party plugins in the chart's pods, under containerd's default seccomp profile: the level that `koordctl plugins` shows is the one
that they have, hostile plugins have their calls refused, and plugins.minimumIsolation refuses plugins below it.

usage: image_case.py, and behind its arguments HOSTILE-KIT, the program of test/hostile
"""
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

import containerd
import image_case
import pod
from image_case import build, status_of, until
import yaml

kit = pathlib.Path(sys.argv.pop(4))

CGROUP_V2 = pathlib.Path('/sys/fs/cgroup/cgroup.controllers').exists()
LANDLOCK = ('landlock_create_ruleset', 'landlock_add_rule', 'landlock_restrict_self')
ALL_LAYERS = ['uid', 'landlock', 'seccomp', 'cgroup']
# Attacks that need only the node's own files and processes.
ATTACKS = ['core_pattern', 'release_agent', 'devices', 'system_files', 'shared_folders', 'secrets', 'become_root', 'agent_files',
           'signal_all', 'limit_sibling', 'memory_of_agent', 'memory_of_sibling', 'ptrace', 'own_memory_limit', 'make_cgroup', 'unshare',
           'clone_namespace', 'mount', 'kernel_objects', 'api_mode']
STATE = '/var/lib/koordetector'
WORDS = {'socket': f'{STATE}/koordetector.sock', 'own': '/usr/lib/koordetector/own-plugins', 'plugins': '/usr/lib/koordetector/plugins',
         'folder': STATE, 'store': f'{STATE}/metrics.db', 'secret': f'{STATE}/metrics.db', 'config': '/etc/koordetector/koordetector.yaml',
         'program': '/usr/bin/koord-plugin-host', 'cgroup': '/host/sys/fs/cgroup'}


def node_has_landlock():
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


class Isolation(image_case.ImageCase):
    def plugins_pod(self, attacks, *settings, config=None, **more):
        """Starts a pod with the bystander and the plugins of these attacks, which come in an image."""
        theirs = self.folder / f'acme-{len(self.images)}'
        (theirs / 'plugins').mkdir(parents=True)
        words = [f'{key}={value}' for key, value in WORDS.items()]
        text = subprocess.run([kit, 'write', theirs / 'plugins', '3s', *words, *attacks], check=True, stdout=subprocess.PIPE, text=True,
                              env={'KOORD_BUILD': str(build)}).stdout
        written = yaml.safe_load(text)
        written['plugins'] |= config or {}
        type(self).images = self.images | {theirs.name: theirs}
        running = self.pod(f'plugins.images=[{{name: acme, image: "{theirs.name}"}}]', 'resources.limits.memory=384Mi',
                           'config=' + json.dumps({'plugins': written['plugins']}),
                           'featureGates=' + json.dumps(written['featureGates']), *settings, **more)
        running.run_init_containers()
        self.addCleanup(self.end, running, self.started(running))
        return running

    def end(self, running, pid):
        """Ends the agent as the kubelet does. Its plugins must leave no cgroup on the node."""
        os.kill(pid, signal.SIGTERM)
        state = until(lambda state: state == 'stopped', lambda: json.loads(pod.run('runc', 'state', running.name))['status'])
        self.assertEqual(state, 'stopped', running.log.read_text())
        self.assertEqual(list(pathlib.Path('/sys/fs/cgroup').glob('**/koordetector-plugins/com.hostile.*')), [])

    def plugin(self, running, id='com.bystander'):
        """Waits until the plugin runs or is refused. Returns it as `koordctl plugins -o json` has it."""
        def seen():
            answer = json.loads(running.execute('/usr/bin/koordctl', 'plugins', '-o', 'json'))
            return next((plugin for plugin in answer['plugins'] if plugin['id'] == id), {'state': 'loading'})
        return until(lambda plugin: plugin['state'] in ('running', 'failed', 'parked', 'refused'), seen)

    def assert_level(self, running, layers):
        """Checks that the plugin has these layers, by koordctl and by the kernel's state of its process."""
        plugin = self.plugin(running)
        self.assertEqual(plugin['state'], 'running', running.log.read_text())
        self.assertEqual(plugin['isolation']['layers'], layers, plugin['isolation']['missing'])
        row = re.search(r'^com\.bystander .*', running.execute('/usr/bin/koordctl', 'plugins'), re.MULTILINE)[0]
        self.assertIn(' ' + '+'.join(layers) + ' ', row)
        process = next(instance['process'] for instance in plugin['instances'] if instance.get('process'))
        status = status_of(process)
        self.assertGreater(int(status['Uid'].split()[0]), 65535)
        self.assertEqual([int(status[kind], 16) for kind in ('CapEff', 'CapPrm', 'CapInh', 'CapAmb')], [0, 0, 0, 0])
        self.assertEqual((status['NoNewPrivs'], status['Seccomp']), ('1', '2'))
        self.assertEqual(int(status['Seccomp_filters']), 2)  # the container's filter and the plugin's own
        in_own = 'koordetector-plugins/com.bystander' in pathlib.Path(f'/proc/{process}/cgroup').read_text()
        self.assertEqual(in_own, 'cgroup' in layers)
        return plugin['isolation']['missing']

    def assert_refused(self, running, attacks):
        def judge():
            done = subprocess.run([kit, 'judge', running.log, *attacks], stdout=subprocess.PIPE, text=True)
            return done.returncode, done.stdout
        status, lines = until(lambda verdict: 'no answer' not in verdict[1], judge)
        self.assertEqual(status, 0, lines)

    def forbids_landlock(self, capabilities):
        return containerd.without(self.seccomp(capabilities), *LANDLOCK)

    def present(self, *layers):
        return [layer for layer in layers if layer != 'landlock' or node_has_landlock()]

    def test_in_the_enforcing_profile_a_plugin_has_all_layers_and_calls_of_hostile_plugins_are_refused(self):
        # Gives the right to make cgroups at the root of a hierarchy. On cgroup v2 the agent makes them below its own instead.
        more = [] if CGROUP_V2 else ['capabilities=[BPF, PERFMON, DAC_OVERRIDE]']
        running = self.plugins_pod(ATTACKS, 'profile=enforce', *more)
        self.assert_level(running, self.present(*ALL_LAYERS))
        self.assert_refused(running, ATTACKS)

    @unittest.skipIf(CGROUP_V2, 'only cgroup v1')
    def test_on_cgroup_v1_the_cgroup_layer_needs_a_capability_and_the_level_says_so(self):
        if pathlib.Path('/sys/fs/cgroup/memory/koordetector-plugins').exists():
            self.skipTest('another agent has made the cgroup already')
        running = self.plugins_pod([], 'profile=enforce')
        missing = self.assert_level(running, self.present('uid', 'landlock', 'seccomp'))
        self.assertIn("/koordetector-plugins': Permission denied", missing['cgroup'])

    def test_in_the_observing_profile_cgroups_are_read_only_and_the_level_says_so(self):
        running = self.plugins_pod(ATTACKS)
        missing = self.assert_level(running, self.present('uid', 'landlock', 'seccomp'))
        self.assertIn('Read-only file system', missing['cgroup'])
        self.assert_refused(running, ATTACKS)

    def test_a_profile_that_forbids_landlock_shows_in_the_level_and_the_other_layers_refuse_the_calls(self):
        # The agent's state is in an emptyDir, which all users may write at first. Without Landlock all users may write /dev/shm
        # and read the metric cache.
        attacks = [attack for attack in ATTACKS if attack not in ('shared_folders', 'secrets')]
        running = self.plugins_pod(attacks, 'state.hostPath=', seccomp=self.forbids_landlock)
        missing = self.assert_level(running, ['uid', 'seccomp'])
        if node_has_landlock():
            self.assertEqual(missing['landlock'], "the seccomp profile of the agent's container or unit forbids landlock_create_ruleset")
        self.assert_refused(running, attacks)

    def test_a_minimum_above_the_level_refuses_the_plugin_and_names_the_reason(self):
        for lacking, reason, settings, more in (
                ('cgroup', 'Read-only file system', (), {}),
                ('landlock', 'forbids landlock_create_ruleset' if node_has_landlock() else 'Landlock',
                 ('profile=enforce',), {'seccomp': self.forbids_landlock})):
            with self.subTest(lacking):
                running = self.plugins_pod([], *settings, config={'minimumIsolation': [lacking]}, **more)
                plugin = self.plugin(running)
                self.assertNotEqual(plugin['state'], 'running')
                self.assertRegex(plugin['reason'] or plugin['lastError'],
                                 rf"expected the isolation layer '{lacking}' \(plugins\.minimumIsolation\), which is missing: .*{reason}")
                self.assertFalse([instance for instance in plugin['instances'] if instance.get('process')])


if __name__ == '__main__':
    image_case.main('containerd', 'ctr')
