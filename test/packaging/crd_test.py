#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the custom resource definitions of the chart: accepted, refused and kept fields.

usage: crd_test.py TREE    unittest's output
"""
import json
import pathlib
import sys
import unittest

import jsonschema
import yaml

tree = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(tree / 'test/support'))
from cluster import kinds, schemas  # noqa: E402

DEFINITIONS = {}
for file in sorted((tree / 'packaging/helm/koordetector/crds').glob('*.yaml')):
    definition = yaml.safe_load(file.read_text())
    DEFINITIONS[definition['spec']['names']['kind']] = definition

# A NodeMetric as the agent writes it, with every field once.
NODE_METRIC = json.loads("""{
  "apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeMetric", "metadata": {"name": "a"},
  "spec": {"metricCollectPolicy": {"aggregateDurationSeconds": 300, "reportIntervalSeconds": 60,
    "nodeAggregatePolicy": {"durations": ["5m0s", "10m0s"]}, "nodeMemoryCollectPolicy": "usageWithoutPageCache"}},
  "status": {"updateTime": "2026-07-24T06:52:45Z",
    "nodeMetric": {
      "nodeUsage": {"resources": {"cpu": "5230m", "memory": "12Gi"}, "devices": [{"id": "GPU-1", "minor": 0, "type": "gpu", "health": true,
        "resources": {"koordinator.sh/gpu-core": "31", "koordinator.sh/gpu-memory": 1073741824}}]},
      "aggregatedNodeUsages": [{"usage": {"avg": {"resources": {"cpu": "5", "memory": "12Gi"}}, "p50": {}, "p90": {}, "p95": {}, "p99": {}},
        "duration": "5m0s"}],
      "systemUsage": {"resources": {"cpu": "310m", "memory": "900Mi"}},
      "aggregatedSystemUsages": [{"usage": {"p99": {"resources": {"cpu": 1}}}, "duration": "5m0s"}],
      "numaUsages": [{"numaNodeID": 0, "nodeUsage": {"resources": {"cpu": "3"}}, "systemUsage": {}}]},
    "podsMetric": [{"name": "web-0", "namespace": "shop", "priority": "koord-prod", "qos": "LS", "extensions": {"example.org": {"list": [1]}},
      "podUsage": {"resources": {"cpu": "800m", "memory": "2Gi"}}}],
    "hostApplicationMetric": [{"name": "cron", "usage": {"resources": {"cpu": "1m"}}, "priority": "koord-prod", "qos": "LS"}],
    "prodReclaimableMetric": {"resource": {"resources": {"cpu": "2", "memory": "3Gi"}}},
    "prodPeakMetric": {"resource": {"resources": {"cpu": "6", "memory": "14Gi"}}}}}""")

# A NodeSLO as Koordinator's manager writes it for a cluster with everything enabled.
NODE_SLO = yaml.safe_load("""
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeSLO
metadata: {name: a}
spec:
  resourceUsedThresholdWithBE:
    {enable: true, cpuSuppressThresholdPercent: 65, cpuSuppressPolicy: cpuset, memoryEvictThresholdPercent: 70, memoryEvictLowerPercent: 65,
     cpuEvictBESatisfactionUpperPercent: 80, cpuEvictBESatisfactionLowerPercent: 40, cpuEvictTimeWindowSeconds: 60,
     cpuEvictPolicy: evictByRealLimit, memoryAllocatableEvictThresholdPercent: 110, allocatableEvictPriorityThreshold: 5999}
  resourceQOSStrategy:
    policies: {cpuPolicy: groupIdentity, netQOSPolicy: tc}
    lsrClass: {cpuQOS: {enable: true, groupIdentity: 2, schedIdle: 0, coreExpeller: true}}
    lsClass: {memoryQOS: {enable: true, wmarkRatio: 95, wmarkScalePermill: 20, wmarkMinAdj: -25, priorityEnable: 1, priority: 12, oomKillGroup: 0}}
    beClass:
      resctrlQOS: {enable: true, catRangeStartPercent: 0, catRangeEndPercent: 30, mbaPercent: 100}
      networkQOS: {enable: true, ingressRequest: 0, ingressLimit: 50, egressRequest: "10M", egressLimit: "20M"}
      blkioQOS: {enable: true, blocks: [{name: sda, type: device, ioCfg: {readIOPS: 0, ioWeightPercent: 60, enableUserModel: false}}]}
    cgroupRoot: {blkioQOS: {enable: false}}
  cpuBurstStrategy: {policy: auto, cpuBurstPercent: 1000, cfsQuotaBurstPercent: 300, cfsQuotaBurstPeriodSeconds: -1, sharePoolThresholdPercent: 50}
  systemStrategy: {minFreeKbytesFactor: 100, watermarkScaleFactor: 150, memcgReapBackGround: 0, totalNetworkBandwidth: "0",
                   schedFeatures: {ID_ABSOLUTE_EXPEL: true}}
  extensions: {vendor: {anything: [1, 2]}}
  hostApplications: [{name: nginx, priority: koord-prod, qos: LS, cgroupPath: {base: CgroupRoot, parentDir: host-latency-sensitive, relativePath: nginx}}]
""")

TOPOLOGY = yaml.safe_load("""
apiVersion: topology.node.k8s.io/v1alpha1
kind: NodeResourceTopology
metadata: {name: a, annotations: {node.koordinator.sh/cpu-topology: '{"detail":[]}'}}
topologyPolicies: [None]
zones:
- name: node-0
  type: Node
  resources:
  - {name: cpu, capacity: 26, allocatable: "25500m", available: "26"}
  costs: [{name: node-1, value: 20}]
""")

DEVICE = yaml.safe_load("""
apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Device
metadata: {name: a, labels: {node.koordinator.sh/gpu-vendor: nvidia}}
spec:
  devices:
  - id: GPU-1
    type: gpu
    minor: 0
    health: false
    resources: {koordinator.sh/gpu-core: 100, koordinator.sh/gpu-memory: 80Gi}
    topology: {socketID: -1, nodeID: 0, pcieID: pci0000:3a, busID: "0000:3b:00.0"}
    conditions: [{type: Healthy, status: "False", reason: NVMLError79, message: XID, lastTransitionTime: "2026-07-24T06:52:45Z"}]
  - {id: "0000:5e:00.0", type: rdma, minor: 1, health: true, vfGroups: [{vfs: [{minor: -1, busID: "0000:5e:00.2"}]}]}
""")

DETECTION_RULE = yaml.safe_load("""
apiVersion: interference.koordinator.sh/v1alpha1
kind: InterferenceDetectionRule
metadata: {name: strict}
spec:
  priority: 10
  nodeSelector: {matchLabels: {pool: online}, matchExpressions: [{key: gpu, operator: DoesNotExist}, {key: zone, operator: In, values: [a, b]}]}
  workloadSelector:
    {namespaces: [shop], owners: [{kind: Deployment, name: cart}], matchLabels: {app: cart}, matchExpressions: [{key: canary, operator: Exists}]}
  rule:
    {throttledMsPerSecond: 10, heldUpMsPerSecond: 12.5, overQuiet: 2.5, latencyCpus: 1, throughputCpus: 0.3, lostThroughputPercent: 15,
     estimatedPercent: 10, windows: 5, windowsWithFinding: 3, clearAfter: 10s, quietPercentile: 10, quietWindows: 60, quietHalfLife: 6h,
     forgetAfter: 24h, saveInterval: 1m30s,
     blkio: {overQuiet: 1.5, excessMs: 0.5, requestsForMean: 10, requestsForP99: 100, limitUsedPercent: 95, quietWindows: 10, quietHalfLife: 6h},
     memory: {refaultMsPerSecond: 10, overQuiet: 2.5}}
""")

METRIC_CHECKPOINT = yaml.safe_load("""
apiVersion: interference.koordinator.sh/v1alpha1
kind: InterferenceMetricCheckpoint
metadata: {name: w-0123456789abcdef}
spec:
  {workload: shop/cart/app, node: a, updateTime: "2026-07-24T06:52:45Z",
   cpu: {windows: 7200, buckets: [{index: 0, weight: 3000}, {index: 41, weight: 12.5}], suspects: [{name: batch/etl/main, quietMsPerSecond: 0.5}]},
   memory: {windows: 7200, buckets: [{index: 0, weight: 3000}]}}
""")

SAMPLES = {'InterferenceMetricCheckpoint': METRIC_CHECKPOINT, 'InterferenceDetectionRule': DETECTION_RULE, 'NodeMetric': NODE_METRIC, 'NodeSLO': NODE_SLO, 'NodeResourceTopology': TOPOLOGY, 'Device': DEVICE}


# The bounds of Koordinator's own definition of the NodeSLO (its config/crd/bases/slo.koordinator.sh_nodeslos.yaml), and those
# that its descriptions state for newer fields. A field that is missing here has a type, but no bound.
_PERCENT, _NATURAL, _POSITIVE = {'minimum': 0, 'maximum': 100}, {'minimum': 0}, {'minimum': 1}
NODE_SLO_BOUNDS = {
    'resourceUsedThresholdWithBE': {key: _PERCENT for key in (
        'cpuSuppressThresholdPercent', 'cpuSuppressMinPercent', 'memoryEvictThresholdPercent', 'memoryEvictLowerPercent')},
    'memoryQOS': {'minLimitPercent': _NATURAL, 'lowLimitPercent': _NATURAL, 'throttlingPercent': _NATURAL, 'wmarkRatio': _PERCENT,
                  'wmarkScalePermill': {'minimum': 1, 'maximum': 1000}, 'wmarkMinAdj': {'minimum': -25, 'maximum': 50}},
    'ioCfg': {'readIOPS': _NATURAL, 'writeIOPS': _NATURAL, 'readBPS': _NATURAL, 'writeBPS': _NATURAL,
              'ioWeightPercent': {'minimum': 1, 'maximum': 100}, 'readLatencyPercent': _PERCENT, 'writeLatencyPercent': _PERCENT,
              **{key: _POSITIVE for key in ('modelReadBPS', 'modelWriteBPS', 'modelReadSeqIOPS', 'modelWriteSeqIOPS', 'modelReadRandIOPS',
                                            'modelWriteRandIOPS')}},
    'resctrlQOS': {'catRangeStartPercent': _PERCENT, 'catRangeEndPercent': _PERCENT, 'mbaPercent': _PERCENT},
    'cpuBurstStrategy': {'cpuBurstPercent': {'minimum': 0, 'maximum': 10000}},
}


def schema_of(kind):
    return DEFINITIONS[kind]['spec']['versions'][0]['schema']['openAPIV3Schema']


def pruned(schema, value, path=''):
    """Yields the paths of fields that an API server drops: fields that the schema does not name, unless it keeps unknown
    fields."""
    if isinstance(value, list):
        return [found for item in value for found in pruned(schema.get('items', {}), item, path + '[]')]
    if not isinstance(value, dict) or path == '.metadata':
        return []
    found = []
    for key, member in value.items():
        below = schema.get('properties', {}).get(key) or schema.get('additionalProperties')
        if below:
            found += pruned(below, member, f'{path}.{key}')
        elif not schema.get('x-kubernetes-preserve-unknown-fields'):
            found.append(f'{path}.{key}')
    return found


def changed(sample, path, value):
    copy = json.loads(json.dumps(sample))
    target = copy
    *above, last = path
    for key in above:
        target = target[key]
    target[last] = value
    return copy


def described(schema):
    """Returns a schema in the notation of the test API server (test/support/cluster/schemas.py)."""
    if schema.get('x-kubernetes-int-or-string'):
        return 'quantity'
    bounds = {key: schema[key] for key in ('type', 'pattern', 'enum', 'minLength', 'maxLength', 'minimum', 'maximum') if key in schema}
    if set(bounds) - {'type'} and schema['type'] in ('string', 'integer'):
        return next((word for word, known in schemas.BOUNDED.items() if known == bounds), f'no word for {bounds}')
    if schema['type'] == 'array':
        return [described(schema['items'])]
    if 'additionalProperties' in schema:
        return {'*': described(schema['additionalProperties'])}
    if schema['type'] == 'object':
        if schema.get('x-kubernetes-preserve-unknown-fields'):
            return 'any'
        required = schema.get('required', [])
        return {key + ('!' if key in required else ''): described(member) for key, member in schema.get('properties', {}).items()}
    return 'time' if schema.get('format') == 'date-time' else schema['type']


class Definitions(unittest.TestCase):
    maxDiff = None

    def test_there_is_one_of_each_object_that_the_agent_reads_or_writes(self):
        self.assertEqual(set(DEFINITIONS), {'Device', 'InterferenceDetectionRule', 'InterferenceMetricCheckpoint', 'NodeMetric', 'NodeResourceTopology',
                                            'NodeSLO'})

    def test_each_is_structural(self):
        """Checks what API servers require: every value has a type, and no type is hidden in anyOf."""
        def check(schema, path):
            if not schema.get('x-kubernetes-int-or-string'):
                self.assertIn('type', schema, path)
                self.assertNotIn('anyOf', schema, path)
            self.assertFalse('properties' in schema and 'additionalProperties' in schema, path)
            for key, member in schema.get('properties', {}).items():
                check(member, f'{path}.{key}')
            for key in ('items', 'additionalProperties'):
                if key in schema:
                    check(schema[key], f'{path}.{key}')
            self.assertLessEqual(set(schema.get('required', [])), set(schema.get('properties', {})), path)
        for kind, definition in DEFINITIONS.items():
            for version in definition['spec']['versions']:
                schema = version['schema']['openAPIV3Schema']
                jsonschema.Draft7Validator.check_schema(schema)
                check(schema, kind)

    def test_names_are_what_the_api_server_asks_for(self):
        for definition in DEFINITIONS.values():
            spec = definition['spec']
            self.assertEqual(definition['metadata']['name'], f"{spec['names']['plural']}.{spec['group']}")
            self.assertEqual(spec['scope'], 'Cluster')
            versions = [(version['name'], version['served'], version['storage']) for version in spec['versions']]
            # Koordinator's definition stores v1alpha2, and an API server refuses a definition without a version that it has
            # stored.
            two = spec['names']['kind'] == 'NodeResourceTopology'
            self.assertEqual(versions, [('v1alpha1', True, False), ('v1alpha2', True, True)] if two else [('v1alpha1', True, True)])
            if spec['group'].endswith('.k8s.io'):
                self.assertIn('api-approved.kubernetes.io', definition['metadata']['annotations'])

    def test_a_status_that_others_write_is_a_subresource(self):
        with_status = {kind for kind, definition in DEFINITIONS.items() if 'status' in definition['spec']['versions'][0].get('subresources', {})}
        self.assertEqual(with_status, {'NodeMetric', 'NodeSLO'})  # the same kinds as Koordinator's
        self.assertEqual(with_status, {kind.name for kind in kinds.KINDS if kind.custom and kind.status})

    def test_what_the_agent_writes_and_reads_is_taken_and_kept_whole(self):
        for kind, sample in SAMPLES.items():
            jsonschema.validate(sample, schema_of(kind))
            self.assertEqual(pruned(schema_of(kind), sample), [], kind)

    def test_a_rule_takes_the_settings_of_the_plugin_within_the_same_bounds(self):
        text = (tree / 'plugins/advisor-interference/settings.hpp').read_text()
        plain = lambda schema: {key: plain(member['properties']) if 'properties' in member
                                else {word: bound for word, bound in member.items() if word not in ('description', 'pattern')}
                                for key, member in schema.items()}
        settings = json.loads('{' + text[text.index('"rule": {"type"'):text.index('})";')].split(',\n    "clusterRules"', 1)[0] + '}')
        rule = schema_of('InterferenceDetectionRule')['properties']['spec']['properties']['rule']
        self.assertEqual(plain(rule['properties']), plain(settings['rule']['properties']))

    def test_each_version_of_a_topology_takes_what_the_agent_writes(self):
        for version in DEFINITIONS['NodeResourceTopology']['spec']['versions']:
            schema = version['schema']['openAPIV3Schema']
            jsonschema.validate(TOPOLOGY, schema)
            self.assertEqual(pruned(schema, TOPOLOGY), [])
        newer = changed(TOPOLOGY, ('attributes',), [{'name': 'topologyManagerPolicy', 'value': 'restricted'}])
        del newer['topologyPolicies']
        jsonschema.validate(newer, schema)
        self.assertEqual(pruned(schema, newer), [])

    def test_wrong_types_and_values_out_of_range_are_refused(self):
        wrong = [
            (NODE_METRIC, ('status', 'podsMetric'), {}), (NODE_METRIC, ('status', 'nodeMetric', 'nodeUsage', 'resources', 'cpu'), 1.5),
            (NODE_METRIC, ('spec', 'metricCollectPolicy', 'nodeMemoryCollectPolicy'), 'all'),
            (NODE_METRIC, ('status', 'nodeMetric', 'numaUsages'), [{'nodeUsage': {}}]),
            (NODE_SLO, ('spec', 'cpuBurstStrategy', 'policy'), 1), (NODE_SLO, ('spec', 'cpuBurstStrategy', 'cpuBurstPercent'), 10001),
            (NODE_SLO, ('spec', 'resourceUsedThresholdWithBE', 'cpuSuppressThresholdPercent'), 101),
            (NODE_SLO, ('spec', 'resourceQOSStrategy', 'beClass', 'resctrlQOS', 'mbaPercent'), -1),
            (TOPOLOGY, ('zones',), [{'name': 'node-0'}]), (DEVICE, ('spec', 'devices'), [{'type': 'gpu'}]),
            (DEVICE, ('spec', 'devices', 0, 'conditions', 0, 'reason'), '79'), (DEVICE, ('spec', 'devices', 0, 'conditions', 0, 'status'), 'no'),
            (DEVICE, ('spec', 'devices', 0, 'conditions', 0, 'message'), 'x' * 32769), (DEVICE, ('spec', 'devices', 0, 'conditions', 0, 'type'), '-'),
            (DEVICE, ('spec', 'devices', 0, 'resources', 'koordinator.sh/gpu-core'), 'all')]
        for sample, path, value in wrong:
            with self.assertRaises(jsonschema.ValidationError, msg=(path, value)):
                jsonschema.validate(changed(sample, path, value), schema_of(sample['kind']))

    def test_a_node_slo_that_koordinators_definition_takes_is_taken(self):
        """Tests values that Koordinator's manager writes. A refused object would leave all strategies of the node with old
        values."""
        compared = set()

        def check(schema, section, path):
            for key, member in schema.get('properties', {}).items():
                check(member, key if member.get('type') == 'object' else section, f'{path}.{key}')
            if 'items' in schema:
                check(schema['items'], section, path + '[]')
            if schema.get('type') not in ('integer', 'string'):
                return
            name = path.rsplit('.', 1)[-1]
            bounds = {key: schema[key] for key in ('minimum', 'maximum', 'enum', 'pattern', 'minLength', 'maxLength') if key in schema}
            self.assertEqual(bounds, NODE_SLO_BOUNDS.get(section, {}).get(name, {}), path)
            compared.add((section, name))

        check(schema_of('NodeSLO')['properties']['spec'], 'spec', '')
        self.assertEqual({(section, name) for section, names in NODE_SLO_BOUNDS.items() for name in names} - compared, set())

    def test_a_node_slo_keeps_unknown_fields(self):
        for path in (('spec', 'newStrategy'), ('spec', 'cpuBurstStrategy', 'new'), ('spec', 'resourceQOSStrategy', 'lsrClass', 'cpuQOS', 'new')):
            sample = changed(NODE_SLO, path, {'a': [1]})
            jsonschema.validate(sample, schema_of('NodeSLO'))
            self.assertEqual(pruned(schema_of('NodeSLO'), sample), [])

    def test_a_node_metric_loses_what_is_no_field_of_it(self):
        self.assertEqual(pruned(schema_of('NodeMetric'), changed(NODE_METRIC, ('status', 'nodeMetric', 'colour'), 1)), ['.status.nodeMetric.colour'])

    def test_the_api_server_of_the_tests_takes_what_these_take(self):
        for kind, expected in schemas._SCHEMAS.items():
            found = described(schema_of(kind))
            for key in ('apiVersion', 'kind', 'metadata'):
                del found[key]
            self.assertEqual(found, expected, kind)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
