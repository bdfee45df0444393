#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The image as packaging/image makes it, and what its container may do in each profile. Usage: image_case.py."""
import errno
import json
import os
import pathlib
import shutil
import signal

import image_case
import pod
from image_case import build, hello, in_mount_namespace, status_of, tree, until, writable_mounts


class Image(image_case.ImageCase):
    def test_there_is_neither_a_shell_nor_a_package_manager_in_it(self):
        names = {path.name for path in self.root.rglob('*')}
        self.assertFalse(names & {'sh', 'bash', 'dash', 'busybox', 'apt', 'apt-get', 'perl', 'python3'})

    def test_each_package_in_it_has_its_record_and_copyright(self):
        records = self.root / 'var/lib/dpkg/status.d'
        for record in records.iterdir():
            self.assertIn(f'Package: {record.name}\n', record.read_text())
            self.assertTrue((self.root / 'usr/share/doc' / record.name / 'copyright').is_file(), record.name)
        self.assertLessEqual({'libc6', 'libssl3', 'libsqlite3-0', 'ca-certificates'}, {record.name for record in records.iterdir()})

    def test_nothing_in_it_is_writable_by_others_but_tmp(self):
        writable = [path for path in self.root.rglob('*') if not path.is_symlink() and path.stat().st_mode & 0o022]
        self.assertEqual(writable, [self.root / 'tmp'])

    def test_by_itself_it_runs_as_a_user_without_rights(self):
        self.assertEqual(self.config['config']['User'], '65532:65532')

    def test_the_same_build_gives_the_same_image_to_the_byte(self):
        again = self.folder / 'again.tar'
        pod.run(tree / 'packaging/image', 'archive', build, again)
        self.assertEqual(self.archive.read_bytes(), again.read_bytes())

    def test_the_observing_profile_starts_is_ready_and_measures_with_two_capabilities_and_no_writable_mount(self):
        running = self.pod()
        pid = self.started(running)
        self.assertEqual(running.get(running.probe('livenessProbe'))[0], 200)

        page = self.metrics(running, 'koordetector_node_cpu_usage')
        self.assertRegex(page, r'koordetector_node_cpu_usage\{node="koord-test-node"[^}]*\} [0-9.]+')
        states = self.states(running)
        if pathlib.Path('/sys/kernel/btf/vmlinux').exists():
            for plugin in {'advisor-block-latency', 'advisor-memory-latency'} & set(states):
                # measured by eBPF, and not by a different source
                self.assertEqual(states[plugin], 'running', running.log.read_text())

        status = status_of(pid)
        declared = image_case.capabilities_of(['BPF', 'PERFMON'])
        self.assertEqual(int(status['CapBnd'], 16), declared)
        self.assertEqual(int(status['CapEff'], 16) & ~declared, 0)
        self.assertEqual(status['NoNewPrivs'], '1')
        self.assertEqual(writable_mounts(pid) - image_case.OF_THE_RUNTIME, {'/var/lib/koordetector'})

        procs = next(pathlib.Path('/sys/fs/cgroup').glob('**/cgroup.procs')).relative_to('/sys/fs/cgroup')
        for path in ('/file', '/etc/koordetector/file', f'/host/sys/fs/cgroup/{procs}', '/host/sys/kernel/mm/hugepages/file'):
            self.assertEqual(in_mount_namespace(pid, path), errno.EROFS, path)
        self.assertEqual(in_mount_namespace(pid, '/var/lib/koordetector/file'), 0)
        self.assertIn('metrics.db', os.listdir(running.volumes['state']))

    def test_the_observing_profile_ends_in_time_when_it_is_stopped(self):
        running = self.pod()
        pid = self.started(running)
        os.kill(pid, signal.SIGTERM)
        state = until(lambda state: state == 'stopped', lambda: json.loads(pod.run('runc', 'state', running.name))['status'])
        self.assertEqual(state, 'stopped', running.log.read_text())

    def test_the_enforcing_profile_adds_a_writable_cgroup_mount_and_nothing_else(self):
        configs = []
        for settings in ([], ['profile=enforce']):
            running = self.pod(*settings)
            config = json.loads((running.bundle(running.spec['containers'][0], self.config['config']) / 'config.json').read_text())
            configs.append(json.loads(json.dumps(config).replace(str(running.folder), '').replace(running.name, '')))
        observing, enforcing = configs
        at = next(i for i, mount in enumerate(observing['mounts']) if mount['destination'] == '/host/sys/fs/cgroup')
        self.assertEqual(observing['mounts'].pop(at)['options'], ['rbind', 'rprivate', 'ro', 'rro'])
        self.assertEqual(enforcing['mounts'].pop(at)['options'], ['rbind', 'rprivate', 'rw'])
        self.assertEqual(observing, enforcing)

    def test_the_enforcing_profile_can_write_cgroups(self):
        running = self.pod('profile=enforce')
        pid = self.started(running)
        procs = next(pathlib.Path('/sys/fs/cgroup').glob('**/cgroup.procs')).relative_to('/sys/fs/cgroup')
        self.assertEqual(in_mount_namespace(pid, f'/host/sys/fs/cgroup/{procs}'), 0)
        self.assertEqual(in_mount_namespace(pid, '/file'), errno.EROFS)

    def test_unprivileged_it_measures_without_root_and_without_capabilities(self):
        running = self.pod('unprivileged=true')
        pid = self.started(running)
        self.assertIn('koordetector_node_cpu_usage', self.metrics(running, 'koordetector_node_cpu_usage'))
        status = status_of(pid)
        self.assertEqual(status['Uid'].split(), ['65532'] * 4)
        self.assertEqual([int(status[kind], 16) for kind in ('CapEff', 'CapPrm', 'CapBnd', 'CapAmb')], [0, 0, 0, 0])
        self.assertEqual(in_mount_namespace(pid, '/host/sys/fs/cgroup/file'), errno.EROFS)
        self.assertIn('metrics.db', os.listdir(running.volumes['state']))

    def test_a_third_party_plugin_comes_in_an_image_that_contains_nothing_else(self):
        theirs = self.folder / 'acme'
        (theirs / 'plugins').mkdir(parents=True)
        shutil.copy(hello, theirs / 'plugins/hello.so')
        running = self.pod('plugins.images=[{name: acme, image: "acme:1"}]', 'featureGates={Hello: true}', images={'acme:1': theirs})
        running.run_init_containers()
        plugin = pathlib.Path(running.volumes['plugins'], 'hello.so')
        self.assertEqual(plugin.stat().st_mode & 0o7777, 0o644)
        self.assertEqual(plugin.parent.stat().st_mode & 0o7777, 0o755)
        self.started(running)
        self.assertIn('koordetector_load1', self.metrics(running, 'koordetector_load1'), running.log.read_text())

    def test_two_images_may_not_bring_different_files_of_one_name(self):
        images = {}
        for name in ('acme', 'other'):
            folder = self.folder / f'conflict-{name}'
            (folder / 'plugins').mkdir(parents=True)
            (folder / 'plugins/a.so').write_text(name)
            images[name + ':1'] = folder
        running = self.pod('plugins.images=[{name: acme, image: "acme:1"}, {name: other, image: "other:1"}]', images=images)
        with self.assertRaisesRegex(AssertionError, "'/koordetector/plugins/a.so' is there already"):
            running.run_init_containers()


if __name__ == '__main__':
    image_case.main()
