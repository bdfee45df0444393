#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the output of the chart, for each of its values.

usage: chart_test.py TREE KOORDETECTOR KOORD_MANAGER    unittest's output
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader

import jsonschema
import yaml

from chart_variations import ACME, VARIATIONS

tree, koordetector, koord_manager = (pathlib.Path(argument) for argument in sys.argv[1:4])
chart = tree / 'packaging/helm/koordetector'
render = SourceFileLoader('render', str(tree / 'packaging/helm/render')).load_module()

SERVING = VARIATIONS['manager that serves']


def values_with(changes):
    return render.go_template.overwrite(render.values_of([], []), json.loads(json.dumps(changes)))


def objects(changes=None, **more):
    return list(yaml.safe_load_all(render.rendered(values_with(changes or {}), **more)))


def is_of_manager(document):
    return '-manager' in document['metadata']['name'] or document['kind'] == 'APIService'


def the(kind, documents, of_manager=False, name=None):
    """Returns the object of a kind: the agent's, or koord-manager's."""
    found = [document for document in documents if document['kind'] == kind and is_of_manager(document) == of_manager
             and name in (None, document['metadata']['name'])]
    assert len(found) == 1, (kind, len(found))
    return found[0]


def pod_of(documents):
    return the('DaemonSet', documents)['spec']['template']


def rights(documents, kind='ClusterRole', **which):
    return {(verb, group, resource) for rule in the(kind, documents, **which)['rules'] for verb in rule['verbs'] for group in rule['apiGroups']
            for resource in rule['resources']}


def leaves(values, above=''):
    """Yields the values one by one. A map that is empty, or has keys of the user or of Kubernetes, counts as one value."""
    for key, value in values.items():
        path = above + key
        if isinstance(value, dict) and value and path.removeprefix('manager.') not in ('resources', 'seccompProfile', 'updateStrategy', 'nodeSelector'):
            yield from leaves(value, path + '.')
        else:
            yield path


def certificate_settings(name, folder):
    """Makes a certificate for a DNS name, and returns the options by which koord-manager takes it."""
    certificate, key = pathlib.Path(folder, 'tls.crt'), pathlib.Path(folder, 'tls.key')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=koord-manager',
                    '-addext', f'subjectAltName=DNS:{name}', '-keyout', key, '-out', certificate], check=True, capture_output=True)
    return ['--set', f'serve.certificateFile={certificate}', '--set', f'serve.keyFile={key}']


class Chart(unittest.TestCase):
    maxDiff = None

    def test_the_committed_manifests_are_what_the_chart_renders(self):
        for name, text in render.manifests().items():
            self.assertEqual((tree / 'packaging/manifests' / name).read_text(), text, 'run packaging/helm/render --manifests')

    def test_there_are_no_other_manifests(self):
        committed = {path.name for path in (tree / 'packaging/manifests').glob('*.yaml')}
        self.assertEqual(committed, set(render.manifests()))

    def test_the_defaults_and_all_variations_are_as_the_schema_of_values_says(self):
        schema = json.loads((chart / 'values.schema.json').read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        for changes in VARIATIONS.values():
            jsonschema.validate(values_with(changes), schema)

    def test_patterns_of_the_schema_are_such_as_go_knows(self):
        self.assertNotIn('(?', (chart / 'values.schema.json').read_text())

    def test_the_schema_of_values_refuses_what_is_misspelt_or_of_another_type(self):
        schema = json.loads((chart / 'values.schema.json').read_text())
        for wrong in ({'profil': 'observe'}, {'profile': 'enforcing'}, {'capabilities': ['CAP_BPF']}, {'metrics': {'port': '9316'}},
                      {'image': {'digest': 'latest'}}, {'plugins': {'images': [{'name': 'A', 'image': 'a'}]}}, {'kubelet': {'acces': 'fine'}}):
            with self.assertRaises(jsonschema.ValidationError, msg=wrong):
                jsonschema.validate(values_with(wrong), schema)

    def test_each_value_stands_in_the_table_of_the_readme_and_nothing_else_does(self):
        documented = re.findall(r'^\| `([\w.]+)` \|', (chart / 'README.md').read_text().split('## Values')[1], re.M)
        self.assertEqual(documented, list(dict.fromkeys(documented)))
        self.assertEqual(set(documented), set(leaves(render.values_of([], []))))

    def test_the_agent_takes_every_configuration_that_the_chart_makes(self):
        for name, changes in VARIATIONS.items():
            configs = [made for made in objects(changes) if not made['metadata']['name'].endswith('-dashboards')]
            text = the('ConfigMap', configs)['data']['koordetector.yaml']
            with tempfile.TemporaryDirectory() as folder:
                for plugins in ('own-plugins', 'plugins'):
                    pathlib.Path(folder, plugins).mkdir()
                file = pathlib.Path(folder, 'koordetector.yaml')
                file.write_text(text.replace('/usr/lib/koordetector', folder))
                checked = subprocess.run([koordetector, 'check-config', file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(checked.returncode, 0, f'{name}: {checked.stdout}')

    def test_koord_manager_takes_every_configuration_that_the_chart_makes(self):
        for name in ('manager', 'manager that serves'):
            made = the('ConfigMap', objects(VARIATIONS[name]), of_manager=True, name='koordetector-manager')
            config, namespace = yaml.safe_load(made['data']['koord-manager.yaml']), made['metadata']['namespace']
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, 'koord-manager.yaml')
                file.write_text(yaml.safe_dump(config))
                certificate = certificate_settings(f'{config["serve"]["service"]}.{namespace}.svc', folder) if 'serve' in config else []
                checked = subprocess.run([koord_manager, '--config', file, *certificate, '--check-config'], stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, env={**os.environ, 'POD_IP': '10.0.0.7', 'POD_NAMESPACE': namespace})
            self.assertEqual(checked.returncode, 0, f'{name}: {checked.stdout}')

    def test_the_users_configuration_goes_over_that_of_the_chart_key_by_key(self):
        text = the('ConfigMap', objects({'config': {'store': {'retention': '1h'}, 'log': {'level': 'debug'}}}))['data']['koordetector.yaml']
        config = yaml.safe_load(text)
        self.assertEqual(config['store'], {'path': '/var/lib/koordetector/metrics.db', 'retention': '1h'})
        self.assertEqual(config['log'], {'level': 'debug'})

    def test_the_readme_lists_the_gate_of_each_hook(self):
        sources = [file.read_text() for file in (tree / 'plugins').glob('hook-*/*_plugin.cpp')]
        found = {(re.search(r'"gate=(\w+)', text)[1], re.search(r'"id=([\w-]+)', text)[1]) for text in sources}
        section = (chart / 'README.md').read_text().split('## Runtime hooks')[1].split('\n## ')[0]
        self.assertEqual(set(re.findall(r'^\| `(\w+)` \| `(hook-[\w-]+)` \|', section, re.M)), found)

    def test_another_configuration_makes_new_pods(self):
        annotation = 'koordetector/config'
        self.assertNotEqual(pod_of(objects())['metadata']['annotations'][annotation],
                            pod_of(objects({'config': {'log': {'level': 'debug'}}}))['metadata']['annotations'][annotation])

    def test_version_and_name_are_those_of_the_project(self):
        version = re.search(r"version : '([^']+)'", (tree / 'meson.build').read_text())[1]
        self.assertEqual(yaml.safe_load((chart / 'Chart.yaml').read_text())['appVersion'], version)
        self.assertEqual(pod_of(objects())['spec']['containers'][0]['image'], f'koordetector:{version}')


class Rights(unittest.TestCase):
    OBSERVING = {(verb, group, resource) for verb in ('get', 'list', 'watch') for group, resource in (
        ('', 'nodes'), ('slo.koordinator.sh', 'nodeslos'), ('slo.koordinator.sh', 'nodemetrics'),
        ('topology.node.k8s.io', 'noderesourcetopologies'), ('scheduling.koordinator.sh', 'devices'),
        ('interference.koordinator.sh', 'interferencedetectionrules'))} | {
        ('get', '', 'nodes/pods'), ('get', '', 'nodes/configz'), ('get', '', 'nodes/stats'),
        ('patch', 'slo.koordinator.sh', 'nodemetrics'), ('patch', 'slo.koordinator.sh', 'nodemetrics/status'), ('update', 'slo.koordinator.sh', 'nodemetrics/status'),
        *((verb, 'topology.node.k8s.io', 'noderesourcetopologies') for verb in ('create', 'patch', 'update'))}

    def test_observing_needs_these_and_no_others(self):
        self.assertEqual(rights(objects()), self.OBSERVING)

    def test_enforcing_needs_evictions_and_events_besides(self):
        self.assertEqual(rights(objects({'profile': 'enforce'})) - self.OBSERVING, {
            ('create', '', 'pods/eviction'), ('create', '', 'events'), ('patch', '', 'events')})

    def test_checkpoints_need_rights_of_their_own(self):
        def added(use):
            return rights(objects({'config': {'plugins': {'settings': {'advisor-interference': {'config': {'checkpoints': use}}}}}})) - self.OBSERVING
        one = ('interference.koordinator.sh', 'interferencemetriccheckpoints')
        self.assertEqual(added('none'), set())
        self.assertEqual(added('read'), {('get', *one)})
        self.assertEqual(added('write'), {('get', *one), ('create', *one), ('update', *one)})

    def test_verdicts_need_events_besides(self):
        for gates in {'InterferenceCollector': True}, {'AllAlpha': True}:
            self.assertEqual(rights(objects({'featureGates': gates})) - self.OBSERVING, {('create', '', 'events'), ('patch', '', 'events')})
        self.assertEqual(rights(objects({'featureGates': {'AllAlpha': True, 'InterferenceCollector': False}})) - self.OBSERVING, set())

    def test_a_kubelet_before_1_33_is_asked_by_the_right_to_its_proxy(self):
        fine = {right for right in self.OBSERVING if right[2] in ('nodes/pods', 'nodes/configz', 'nodes/stats')}
        self.assertEqual(rights(objects(kube_version='1.32.9')), self.OBSERVING - fine | {('get', '', 'nodes/proxy')})
        self.assertEqual(rights(objects(kube_version='1.33.0')), self.OBSERVING)

    def test_rights_follow_the_configuration_of_the_agent(self):
        silent = rights(objects({'config': {'report': {'nodeMetric': False, 'topology': False}}}))
        self.assertEqual({verb for verb, _, _ in silent}, {'get', 'list', 'watch'})
        more = rights(objects({'config': {'report': {'devices': True, 'createNodeMetric': True}, 'state': {'apiserver': {'volumes': True}}}}))
        self.assertEqual(more - self.OBSERVING, {
            ('create', 'slo.koordinator.sh', 'nodemetrics'), *((verb, '', 'persistentvolumeclaims') for verb in ('get', 'list', 'watch')),
            *((verb, 'scheduling.koordinator.sh', 'devices') for verb in ('create', 'patch', 'update'))})
        of_api_server = {'config': {'state': {'source': 'apiserver'}}}
        pods = rights(objects(of_api_server))
        self.assertEqual(pods - self.OBSERVING, {(verb, '', 'pods') for verb in ('get', 'list', 'watch')})
        # The kubelet is asked only for its configuration, and not at all if that would require all its rights.
        self.assertEqual({resource for _, _, resource in pods if resource.startswith('nodes/')}, {'nodes/configz'})
        old = rights(objects({**of_api_server, 'kubelet': {'access': 'proxy'}}))
        self.assertEqual({resource for _, _, resource in old if resource.startswith('nodes/')}, set())

    def test_nothing_lets_it_read_secrets_or_all_of_anything(self):
        for changes in VARIATIONS.values():
            for document in objects(changes):
                if document['kind'] in ('ClusterRole', 'Role'):
                    for rule in document['rules']:
                        self.assertFalse({'*', 'secrets'} & {*rule['resources'], *rule['verbs'], *rule['apiGroups']})

    def test_of_config_maps_one_is_read_in_one_namespace(self):
        role = the('Role', objects())
        self.assertEqual(role['metadata']['namespace'], 'koordinator-system')
        self.assertEqual(role['rules'], [{'apiGroups': [''], 'resources': ['configmaps'], 'resourceNames': ['slo-controller-config'],
                                          'verbs': ['get', 'list', 'watch']}])
        self.assertNotIn('Role', [document['kind'] for document in objects({'sloConfigMap': {'name': ''}})])

    def test_everything_that_it_may_write_but_evictions_is_bound_to_the_node_of_its_token(self):
        more = {'profile': 'enforce', 'config': {'report': {'devices': True, 'createNodeMetric': True}, 'plugins': {
            'settings': {'advisor-interference': {'config': {'checkpoints': 'write'}}}}}}
        documents = objects(more)
        spec = the('ValidatingAdmissionPolicy', documents)['spec']
        self.assertEqual(spec['failurePolicy'], 'Fail')
        bound = {(group, resource) for rule in spec['matchConstraints']['resourceRules'] for group in rule['apiGroups']
                 for resource in rule['resources'] if rule['operations'] == ['CREATE', 'UPDATE']}
        written = {(group, resource) for verb, group, resource in rights(documents) if verb in ('create', 'patch', 'update')}
        # An eviction names a pod, and a policy cannot look up the pod's node. An aggregated API has no policies: see Manager.
        self.assertEqual(written - bound, {('', 'pods/eviction')})
        self.assertEqual({verb for verb, _, _ in rights(documents)}, {'get', 'list', 'watch', 'create', 'patch', 'update'})

    def test_the_policy_is_about_the_agents_own_account_and_is_in_force(self):
        documents = objects({'serviceAccount': {'name': 'own'}}, namespace='elsewhere')
        policy, binding = the('ValidatingAdmissionPolicy', documents), the('ValidatingAdmissionPolicyBinding', documents)
        self.assertEqual([condition['expression'] for condition in policy['spec']['matchConditions']],
                         ['request.userInfo.username == "system:serviceaccount:elsewhere:own"'])
        self.assertEqual(binding['spec'], {'policyName': policy['metadata']['name'], 'validationActions': ['Deny']})
        self.assertEqual([variable['name'] for variable in policy['spec']['variables']], ['node', 'objectNode'])
        self.assertEqual([validation['expression'] for validation in policy['spec']['validations']],
                         ['variables.node != ""', 'variables.objectNode == variables.node'])

    def test_the_policy_is_there_where_the_cluster_knows_it_and_the_tokens_name_nodes(self):
        def has(create, version):
            documents = objects({'admissionPolicy': {'create': create}}, kube_version=version)
            return 'ValidatingAdmissionPolicy' in [document['kind'] for document in documents]
        self.assertEqual([has('auto', '1.29.9'), has('auto', '1.30.0'), has('always', '1.28.0'), has('never', '1.34.0')],
                         [False, True, True, False])

    def test_the_token_is_only_in_the_agents_own_container(self):
        pod = pod_of(objects({'plugins': {'images': ACME}}))['spec']
        self.assertFalse(pod['automountServiceAccountToken'])
        for container in pod['initContainers']:
            self.assertNotIn('token', [mount['name'] for mount in container['volumeMounts']])
        self.assertIn('token', [mount['name'] for mount in pod['containers'][0]['volumeMounts']])


class Pod(unittest.TestCase):
    def test_no_container_of_it_can_get_more_rights_than_it_has(self):
        for name, changes in VARIATIONS.items():
            pod = pod_of(objects(changes))['spec']
            self.assertEqual(pod.get('hostNetwork', False), changes.get('hostNetwork', False))
            self.assertNotIn('hostIPC', pod)
            for container in pod['containers'] + pod.get('initContainers', []):
                context = container['securityContext']
                self.assertFalse(context.get('privileged'), name)
                self.assertIs(context['allowPrivilegeEscalation'], False)
                self.assertIs(context['readOnlyRootFilesystem'], True)
                self.assertEqual(context['capabilities']['drop'], ['ALL'])
                self.assertEqual(context['seccompProfile'], {'type': 'RuntimeDefault'})

    def test_plugins_of_others_add_four_capabilities_and_nothing_else_asks_for_them(self):
        def added(changes):
            return pod_of(objects(changes))['spec']['containers'][0]['securityContext']['capabilities'].get('add', [])
        for name in ('observe', 'enforce', 'little'):
            without = {**VARIATIONS[name], 'plugins': {'images': []}}
            self.assertFalse({'SETUID', 'SETGID', 'KILL', 'CHOWN'} & set(added(without)), name)
            self.assertEqual(added({**without, 'plugins': {'images': ACME}}), added(without) + ['SETUID', 'SETGID', 'KILL', 'CHOWN'], name)

    def test_observing_it_mounts_nothing_writable_but_its_state(self):
        for name in ('observe', 'unprivileged', 'little'):
            mounts = pod_of(objects(VARIATIONS[name]))['spec']['containers'][0]['volumeMounts']
            self.assertEqual([mount['name'] for mount in mounts if not mount.get('readOnly')], ['state'])

    def test_enforcing_it_mounts_cgroups_writable_and_nothing_else_changes_in_the_pod(self):
        observing, enforcing = (pod_of(objects({'profile': profile})) for profile in ('observe', 'enforce'))
        mounts = enforcing['spec']['containers'][0]['volumeMounts']
        cgroup = next(mount for mount in mounts if mount['name'] == 'cgroup')
        self.assertEqual(cgroup, {'name': 'cgroup', 'mountPath': '/host/sys/fs/cgroup', 'readOnly': False})
        cgroup |= {'readOnly': True, 'recursiveReadOnly': 'IfPossible'}
        self.assertEqual(enforcing, observing)

    def test_mounts_below_are_read_only_where_the_cluster_knows_how(self):
        def cgroup(version):
            mounts = pod_of(objects(kube_version=version))['spec']['containers'][0]['volumeMounts']
            return next(mount for mount in mounts if mount['name'] == 'cgroup').get('recursiveReadOnly')
        self.assertEqual([cgroup('1.30.14'), cgroup('1.31.0')], [None, 'IfPossible'])

    def test_hierarchies_of_cgroup_v1_are_mounted_one_by_one_when_they_are_named(self):
        pod = pod_of(objects({'cgroup': {'hierarchies': ['cpu,cpuacct', 'memory']}}))['spec']
        mounts = {mount['mountPath']: mount['name'] for mount in pod['containers'][0]['volumeMounts'] if mount['name'].startswith('cgroup')}
        self.assertEqual(mounts, {'/host/sys/fs/cgroup/cpu,cpuacct': 'cgroup-cpu-cpuacct', '/host/sys/fs/cgroup/memory': 'cgroup-memory'})

    def test_the_folder_of_the_nri_socket_is_mounted_where_the_agent_looks_for_it_and_only_when_asked_for(self):
        mounts = lambda pod: {mount['name']: mount for mount in pod['containers'][0]['volumeMounts']}
        self.assertNotIn('nri', mounts(pod_of(objects())['spec']))
        pod = pod_of(objects({'nri': {'hostPath': '/run/nri'}}))['spec']
        self.assertEqual(mounts(pod)['nri'], {'name': 'nri', 'mountPath': '/var/run/nri', 'readOnly': True})
        self.assertIn({'name': 'nri', 'hostPath': {'path': '/run/nri', 'type': 'DirectoryOrCreate'}}, pod['volumes'])
        reference = subprocess.run([koordetector, '--print-config-reference'], check=True, capture_output=True, text=True).stdout
        self.assertIn('/var/run/nri/nri.sock', reference)
        with self.assertRaisesRegex(render.go_template.TemplateError, 'nri.hostPath: not with unprivileged'):
            objects({'unprivileged': True, 'nri': {'hostPath': '/run/nri'}})

    def test_it_has_a_network_of_its_own_unless_asked_for_that_of_the_node(self):
        self.assertNotIn('dnsPolicy', pod_of(objects())['spec'])
        pod = pod_of(objects({'hostNetwork': True}))['spec']
        self.assertIs(pod['hostNetwork'], True)
        self.assertEqual(pod['dnsPolicy'], 'ClusterFirstWithHostNet')
        with self.assertRaisesRegex(render.go_template.TemplateError, 'hostNetwork: not with unprivileged'):
            objects({'unprivileged': True, 'hostNetwork': True})

    def test_unprivileged_it_is_not_root_and_has_no_capability(self):
        pod = pod_of(objects({'unprivileged': True}))['spec']
        context = pod['containers'][0]['securityContext']
        self.assertTrue(context['runAsNonRoot'])
        self.assertNotIn('add', context['capabilities'])
        self.assertIn('emptyDir', next(volume for volume in pod['volumes'] if volume['name'] == 'state'))

    def test_enforcing_without_rights_is_refused_with_a_word_why(self):
        with self.assertRaisesRegex(render.go_template.TemplateError, 'unprivileged: only with profile observe'):
            objects({'unprivileged': True, 'profile': 'enforce'})

    def test_knobs_are_written_only_where_what_they_were_outlives_the_pod(self):
        config = yaml.safe_load(the('ConfigMap', objects({'profile': 'enforce'}))['data']['koordetector.yaml'])
        pod = pod_of(objects({'profile': 'enforce'}))['spec']
        directory = config['qos']['directory']
        mount = next(m for m in pod['containers'][0]['volumeMounts'] if directory.startswith(m['mountPath'] + '/'))
        self.assertFalse(mount.get('readOnly', False))
        self.assertIn('hostPath', next(volume for volume in pod['volumes'] if volume['name'] == mount['name']))
        with self.assertRaisesRegex(render.go_template.TemplateError, 'profile enforce: needs state.hostPath'):
            objects({'profile': 'enforce', 'state': {'hostPath': ''}})

    def test_a_pod_that_ends_has_the_time_to_give_knobs_back(self):
        self.assertGreaterEqual(pod_of(objects({'profile': 'enforce'}))['spec']['terminationGracePeriodSeconds'], 12)
        with self.assertRaisesRegex(render.go_template.TemplateError, 'terminationGracePeriodSeconds must be 12 or more'):
            objects({'profile': 'enforce', 'terminationGracePeriodSeconds': 11})

    def test_a_mode_enforce_is_refused_where_cgroups_are_read_only(self):
        for config in ({'qos': {'mode': 'enforce'}}, {'plugins': {'settings': {'qos-cpu-burst': {'mode': 'enforce'}}}}):
            with self.assertRaisesRegex(render.go_template.TemplateError, 'a mode enforce needs profile enforce'):
                objects({'config': config})
            objects({'config': config, 'profile': 'enforce'})

    def test_the_restore_job_finds_what_the_agent_kept_and_has_no_more_rights(self):
        job = yaml.safe_load((tree / 'packaging/restore-job.yaml').read_text().replace('NODE', 'worker-7').replace('IMAGE', 'koordetector:1'))
        spec, enforcing = job['spec']['template']['spec'], objects({'profile': 'enforce'})
        agent = pod_of(enforcing)['spec']
        config = yaml.safe_load(the('ConfigMap', enforcing)['data']['koordetector.yaml'])
        command, *settings = spec['containers'][0]['args']
        self.assertEqual(command, 'restore')
        self.assertEqual(settings, [f"--set=qos.directory={config['qos']['directory']}"] + [
            f'--set=roots.{root}={config["roots"][root]}' for root in ('sys', 'cgroup', 'resctrl')])
        paths = {mount['name']: mount['mountPath'] for mount in agent['containers'][0]['volumeMounts']}
        self.assertEqual({m['name']: m['mountPath'] for m in spec['containers'][0]['volumeMounts']},
                         {name: paths[name] for name in ('state', 'cgroup')})
        sources = {volume['name']: volume['hostPath']['path'] for volume in agent['volumes'] if 'hostPath' in volume}
        self.assertEqual({v['name']: v['hostPath']['path'] for v in spec['volumes']}, {name: sources[name] for name in ('state', 'cgroup')})
        context = dict(agent['containers'][0]['securityContext'], capabilities={'drop': ['ALL']})
        self.assertEqual(spec['containers'][0]['securityContext'], context)
        self.assertEqual(spec['nodeName'], 'worker-7')

    def test_all_that_it_mounts_is_there_once_and_names_are_what_kubernetes_takes(self):
        for name, changes in VARIATIONS.items():
            documents = objects(changes)
            pod = pod_of(documents)['spec']
            volumes = [volume['name'] for volume in pod['volumes']]
            self.assertEqual(len(volumes), len(set(volumes)), name)
            used = {mount['name'] for container in pod['containers'] + pod.get('initContainers', []) for mount in container['volumeMounts']}
            self.assertEqual(used, set(volumes), name)
            for text in volumes + [document['metadata']['name'] for document in documents]:
                self.assertRegex(text, r'^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')

    def test_selectors_find_its_pods(self):
        for changes in VARIATIONS.values():
            documents = objects(changes)
            for document in documents:
                spec = document.get('spec', {})
                selector = {'DaemonSet': lambda: spec['selector']['matchLabels'], 'Service': lambda: spec['selector'],
                            'Deployment': lambda: spec['selector']['matchLabels'], 'PodDisruptionBudget': lambda: spec['selector']['matchLabels'],
                            'NetworkPolicy': lambda: spec['podSelector']['matchLabels']}.get(document['kind'])
                if selector and not (document['kind'] == 'Service' and is_of_manager(document)):
                    for of_manager, kind in ((False, 'DaemonSet'), (True, 'Deployment')):
                        for pod in (d for d in documents if d['kind'] == kind):
                            labels = pod['spec']['template']['metadata']['labels']
                            self.assertIs(selector().items() <= labels.items(), of_manager == is_of_manager(document), document['kind'])

    def test_probes_and_scrapes_go_to_the_port_that_the_agent_listens_on(self):
        documents = objects({'metrics': {'port': 9000, 'serviceMonitor': {'enabled': True}}, 'probes': {'port': 9001}})
        agent = pod_of(documents)['spec']['containers'][0]
        self.assertIn('--set=listen.metrics=$(POD_IP):9000', agent['args'])
        self.assertIn('--set=listen.probes=$(POD_IP):9001', agent['args'])
        self.assertEqual(agent['ports'], [{'name': 'metrics', 'containerPort': 9000}, {'name': 'probes', 'containerPort': 9001}])
        self.assertEqual([agent[probe]['httpGet'] for probe in ('livenessProbe', 'readinessProbe')],
                         [{'path': '/healthz', 'port': 'probes'}, {'path': '/readyz', 'port': 'probes'}])
        self.assertEqual(the('Service', documents)['spec']['ports'], [{'name': 'metrics', 'port': 9000, 'targetPort': 'metrics'}])
        self.assertEqual(the('ServiceMonitor', documents)['spec']['endpoints'][0]['port'], 'metrics')
        self.assertEqual(the('NetworkPolicy', documents)['spec']['ingress'], [{'ports': [{'port': 9000}]}])

    def test_a_secret_gives_the_metrics_port_tls_and_only_then_the_agent_may_review(self):
        reviews = {('create', 'authentication.k8s.io', 'tokenreviews'), ('create', 'authorization.k8s.io', 'subjectaccessreviews')}
        self.assertFalse(reviews & rights(objects()))
        tls = {'secretName': 'agent-tls', 'clientCaKey': 'ca.crt'}
        documents = objects({'metrics': {'tls': tls, 'serviceMonitor': {'enabled': True, 'tlsConfig': {'serverName': 'agent'}}}})
        self.assertLessEqual(reviews, rights(documents))
        self.assertEqual(yaml.safe_load(the('ConfigMap', documents)['data']['koordetector.yaml'])['listen']['tls'], {
            'certFile': '/etc/koordetector-tls/tls.crt', 'keyFile': '/etc/koordetector-tls/tls.key',
            'clientCaFile': '/etc/koordetector-tls/ca.crt', 'authorization': 'kubernetes'})
        pod = pod_of(documents)['spec']
        self.assertIn({'name': 'tls', 'mountPath': '/etc/koordetector-tls', 'readOnly': True}, pod['containers'][0]['volumeMounts'])
        self.assertIn({'name': 'tls', 'secret': {'secretName': 'agent-tls', 'defaultMode': 0o440}}, pod['volumes'])
        endpoint = the('ServiceMonitor', documents)['spec']['endpoints'][0]
        self.assertEqual((endpoint['scheme'], endpoint['tlsConfig']), ('https', {'serverName': 'agent'}))
        self.assertIn('bearerTokenFile', endpoint)
        documents = objects({'metrics': {'tls': {**tls, 'authorization': 'none'}}})
        self.assertFalse(reviews & rights(documents))

    def test_there_is_nothing_to_scrape_by_unless_it_is_asked_for(self):
        kinds = {document['kind'] for document in objects()}
        self.assertFalse({'Service', 'ServiceMonitor'} & kinds)

    def test_from_other_nodes_and_pods_only_metrics_can_be_reached(self):
        spec = the('NetworkPolicy', objects())['spec']
        self.assertEqual(spec['policyTypes'], ['Ingress'])
        self.assertEqual(spec['ingress'], [{'ports': [{'port': 9316}]}])
        monitoring = [{'namespaceSelector': {'matchLabels': {'kubernetes.io/metadata.name': 'monitoring'}}}]
        self.assertEqual(the('NetworkPolicy', objects({'networkPolicy': {'from': monitoring}}))['spec']['ingress'],
                         [{'ports': [{'port': 9316}], 'from': monitoring}])
        self.assertNotIn('NetworkPolicy', [document['kind'] for document in objects({'networkPolicy': {'enabled': False}})])

    def test_the_ipv6_address_of_a_pod_is_in_brackets(self):
        args = pod_of(objects({'metrics': {'ipv6': True}}))['spec']['containers'][0]['args']
        self.assertIn('--set=listen.metrics=[$(POD_IP)]:9316', args)
        self.assertIn('--set=listen.probes=[$(POD_IP)]:9317', args)


class Manager(unittest.TestCase):
    BATCH = {('list', '', 'pods'), ('watch', '', 'pods'), ('patch', '', 'nodes/status')}
    REVIEWS = {('create', 'authentication.k8s.io', 'tokenreviews'), ('create', 'authorization.k8s.io', 'subjectaccessreviews')}

    def kinds_of(self, changes):
        return {document['kind'] for document in objects(changes) if is_of_manager(document)}

    def test_without_being_asked_for_it_is_not_there_and_the_agent_reports_as_before(self):
        self.assertEqual(self.kinds_of({}), set())
        self.assertNotIn('report', yaml.safe_load(the('ConfigMap', objects())['data']['koordetector.yaml']))
        self.assertEqual(self.kinds_of({'manager': {'tls': {'secretName': 'manager-tls'}}}), set())

    def test_without_a_certificate_there_are_its_controllers_only(self):
        kinds = self.kinds_of({'manager': {'enabled': True}})
        self.assertFalse({'Service', 'APIService'} & kinds)
        self.assertLessEqual({'Deployment', 'PodDisruptionBudget', 'NetworkPolicy', 'ServiceAccount', 'ConfigMap', 'ClusterRole', 'Role'}, kinds)
        documents = objects({'manager': {'enabled': True}})
        self.assertFalse(self.REVIEWS & rights(documents, of_manager=True))
        self.assertEqual(the('NetworkPolicy', documents, of_manager=True)['spec']['ingress'], [{'ports': [{'port': 9320}]}])

    def test_its_rights_follow_its_controllers(self):
        def of(gates, tls=''):
            return rights(objects({'manager': {'enabled': True, 'featureGates': gates, 'apiService': {'create': False},
                                               'tls': {'secretName': tls, 'caConfigMap': 'authority'}}}),
                          of_manager=True, name='koordetector-manager')
        def own(resource):
            return {(verb, 'slo.koordinator.sh', resource) for verb in ('create', 'delete', 'list', 'update', 'watch')}
        nodes = {('list', '', 'nodes'), ('watch', '', 'nodes')}
        self.assertEqual(of({}), nodes | self.BATCH | own('nodeslos') | own('nodemetrics'))
        self.assertEqual(of({'NodeSLO': False, 'BatchResources': False}), nodes | own('nodemetrics'))
        self.assertEqual(of({'NodeSLO': False, 'NodeMetric': False}), nodes | self.BATCH | {
            (verb, 'slo.koordinator.sh', 'nodemetrics') for verb in ('list', 'watch')})
        self.assertEqual(of({}, 'manager-tls') - of({}), self.REVIEWS)
        self.assertEqual(of({'NodeMetricMirror': True}) - of({}), {('patch', 'slo.koordinator.sh', 'nodemetrics/status')})

    def test_it_may_change_its_own_lease_and_endpoint_and_no_others(self):
        for rule in the('Role', objects(SERVING), of_manager=True, name='koordetector-manager')['rules']:
            if rule['verbs'] != ['create']:
                self.assertIn(rule['resourceNames'], (['koordetector-manager'], ['koordetector-manager-leader']))

    def test_it_has_no_rights_on_its_node_and_its_replicas_keep_apart(self):
        for name in ('manager', 'manager that serves'):
            deployment = the('Deployment', objects(VARIATIONS[name]), of_manager=True)['spec']
            pod = deployment['template']['spec']
            self.assertEqual(deployment['replicas'], VARIATIONS[name]['manager'].get('replicas', 2))
            self.assertFalse({'hostNetwork', 'hostPID', 'hostIPC'} & set(pod))
            self.assertFalse(pod['automountServiceAccountToken'])
            self.assertFalse([volume for volume in pod['volumes'] if 'hostPath' in volume])
            [container] = pod['containers']
            context = container['securityContext']
            self.assertEqual(context['capabilities'], {'drop': ['ALL']})
            self.assertEqual([context[key] for key in ('runAsNonRoot', 'readOnlyRootFilesystem', 'allowPrivilegeEscalation', 'privileged')],
                             [True, True, False, False])
            self.assertTrue(all(mount['readOnly'] for mount in container['volumeMounts']))
            self.assertEqual({mount['name'] for mount in container['volumeMounts']}, {volume['name'] for volume in pod['volumes']})
        self.assertIn('podAntiAffinity', the('Deployment', objects(VARIATIONS['manager']), of_manager=True)['spec']['template']['spec']['affinity'])
        self.assertEqual(the('PodDisruptionBudget', objects(SERVING), of_manager=True)['spec']['maxUnavailable'], 1)

    def test_its_service_has_no_selector_and_stands_in_the_configuration(self):
        documents = objects(SERVING)
        service = the('Service', documents, of_manager=True)
        self.assertEqual(service['spec'], {'ports': [{'name': 'https', 'port': 443, 'targetPort': 8443}]})
        config = yaml.safe_load(the('ConfigMap', documents, of_manager=True, name='koordetector-manager')['data']['koord-manager.yaml'])
        self.assertEqual(config['serve'], {
            'address': ':8443', 'certificateFile': '/etc/koord-manager-tls/tls.crt', 'keyFile': '/etc/koord-manager-tls/tls.key',
            'agentUser': 'system:serviceaccount:koordinator-system:koordetector', 'service': service['metadata']['name']})
        self.assertEqual(config['lease'], {'namespace': 'koordinator-system', 'name': 'koordetector-manager'})
        self.assertEqual((config['batch'], config['featureGates']), ({'grace': '1m'}, {'NodeSLO': False}))

    def test_the_api_service_leads_to_it_with_its_authority(self):
        service = the('APIService', objects(SERVING), of_manager=True)
        self.assertEqual(service['metadata']['name'], 'v1alpha1.metrics.koordetector.sh')
        self.assertEqual(service['spec'], {
            'group': 'metrics.koordetector.sh', 'version': 'v1alpha1', 'groupPriorityMinimum': 100, 'versionPriority': 100, 'caBundle': 'QUJD',
            'service': {'name': 'koordetector-manager', 'namespace': 'koordinator-system', 'port': 443}})
        with self.assertRaisesRegex(render.go_template.TemplateError, 'manager.apiService: needs manager.tls.caBundle'):
            objects({'manager': {'enabled': True, 'tls': {'secretName': 'manager-tls', 'caConfigMap': 'authority'}}})
        injected = {'enabled': True, 'tls': {'secretName': 'manager-tls', 'caConfigMap': 'authority'}, 'apiService': {'annotations': {'cert-manager.io/inject-ca-from': 'a/b'}}}
        self.assertNotIn('caBundle', the('APIService', objects({'manager': injected}), of_manager=True)['spec'])

    def test_agents_report_to_the_leader_of_its_lease_and_see_its_authority_but_no_key(self):
        documents = objects(SERVING)
        direct = yaml.safe_load(the('ConfigMap', documents)['data']['koordetector.yaml'])['report']['direct']
        self.assertEqual(direct, {'enabled': True, 'lease': 'koordinator-system/koordetector-manager', 'caFile': '/etc/koord-manager/root.crt'})
        volume = next(volume for volume in pod_of(documents)['spec']['volumes'] if volume['name'] == 'manager-ca')
        self.assertEqual(volume['configMap'], {'name': 'koordetector-manager-ca', 'items': [{'key': 'root.crt', 'path': 'root.crt'}], 'optional': True})
        self.assertEqual(the('ConfigMap', documents, of_manager=True, name='koordetector-manager-ca')['binaryData'], {'root.crt': 'QUJD'})
        self.assertEqual(rights(documents, 'Role', of_manager=True, name='koordetector-manager-leader'), {('get', 'coordination.k8s.io', 'leases')})
        self.assertEqual(rights(documents, of_manager=True, name='koordetector-manager-reports'), {
            (verb, 'metrics.koordetector.sh', 'nodemetrics/status') for verb in ('patch', 'update')})
        for binding in ('koordetector-manager-leader', 'koordetector-manager-reports'):
            [found] = [d for d in documents if d['kind'].endswith('RoleBinding') and d['metadata']['name'] == binding]
            self.assertEqual([subject['name'] for subject in found['subjects']], ['koordetector'])
        silent = {**SERVING, 'manager': {**SERVING['manager'], 'directReports': False}}
        self.assertNotIn('report', yaml.safe_load(the('ConfigMap', objects(silent))['data']['koordetector.yaml']))
        self.assertFalse([d for d in objects(silent) if d['metadata']['name'].endswith(('-leader', '-reports'))])

    def test_no_pod_of_a_node_names_the_secret_with_its_key(self):
        documents = objects({'manager': {'enabled': True, 'tls': {'secretName': 'manager-tls', 'caConfigMap': 'authority'},
                                         'apiService': {'annotations': {'cert-manager.io/inject-ca-from': 'a/b'}}}})
        volumes = pod_of(documents)['spec']['volumes']
        self.assertFalse([volume for volume in volumes if 'secret' in volume])
        self.assertEqual(next(volume for volume in volumes if volume['name'] == 'manager-ca')['configMap']['name'], 'authority')
        self.assertFalse([made for made in documents if made['kind'] == 'ConfigMap' and made['metadata']['name'].endswith('-ca')])
        with self.assertRaisesRegex(render.go_template.TemplateError, 'manager.directReports: needs manager.tls.caConfigMap or manager.tls.caBundle'):
            objects({'manager': {'enabled': True, 'tls': {'secretName': 'manager-tls'}, 'apiService': {'create': False}}})

    def test_a_role_has_the_rights_of_koordctl_manager_status_and_is_bound_to_no_subject(self):
        documents = objects(SERVING)
        role = the('Role', documents, of_manager=True, name='koordetector-manager-status')
        self.assertEqual(rights(documents, 'Role', of_manager=True, name='koordetector-manager-status'), {
            ('get', 'coordination.k8s.io', 'leases'), ('list', '', 'pods'), ('get', '', 'pods/proxy')})
        self.assertEqual(role['rules'][0]['resourceNames'], ['koordetector-manager'])
        self.assertFalse([made for made in documents if made['kind'].endswith('RoleBinding') and made['roleRef']['name'] == role['metadata']['name']])

    def test_a_pod_monitor_scrapes_each_replica(self):
        monitor = the('PodMonitor', objects(SERVING), of_manager=True)
        self.assertEqual(monitor['metadata']['labels']['team'], 'a')
        deployment = the('Deployment', objects(SERVING), of_manager=True)['spec']['template']
        self.assertLessEqual(monitor['spec']['selector']['matchLabels'].items(), deployment['metadata']['labels'].items())
        [endpoint] = monitor['spec']['podMetricsEndpoints']
        self.assertEqual(endpoint, {'port': 'metrics', 'interval': '30s'})
        self.assertIn('metrics', [port['name'] for port in deployment['spec']['containers'][0]['ports']])
        self.assertNotIn('PodMonitor', [made['kind'] for made in objects(VARIATIONS['manager'])])

    def test_without_the_config_map_of_the_cluster_it_is_refused(self):
        with self.assertRaisesRegex(render.go_template.TemplateError, 'manager.enabled: needs sloConfigMap.name'):
            objects({'manager': {'enabled': True}, 'sloConfigMap': {'name': ''}})


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
