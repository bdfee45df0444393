#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the rules for Prometheus and the dashboards for Grafana, as files. composed-dashboards runs their expressions.

usage: monitoring_test.py TREE [PROMTOOL]    unittest's output
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader

import yaml

tree = pathlib.Path(sys.argv[1])
promtool = sys.argv[2] if len(sys.argv) > 2 else None
packaging = tree / 'packaging'
rules_file = packaging / 'prometheus/rules.yaml'
dashboards = sorted((packaging / 'grafana').glob('*.json'))
render = SourceFileLoader('render', str(packaging / 'helm/render')).load_module()

# Units by their names in Grafana.
UNITS = {'none', 's', 'bytes', 'percentunit', 'reqps'}
DATASOURCE = {'type': 'prometheus', 'uid': '${datasource}'}


def rules():
    return [rule for group in yaml.safe_load(rules_file.read_text())['groups'] for rule in group['rules']]


def alerts():
    return [rule for rule in rules() if 'alert' in rule]


def anchors(page):
    """Returns the anchors of a page's headings, as GitHub and GitLab make them."""
    headings = re.findall(r'^#+ (.*)$', page.read_text(), re.M)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def objects(**metrics):
    values = render.go_template.overwrite(render.values_of([], []), {'metrics': metrics})
    return list(yaml.safe_load_all(render.rendered(values)))


class Rules(unittest.TestCase):
    def run_promtool(self, *arguments):
        if not promtool:
            self.skipTest('SKIPPED: there is no promtool')
        done = subprocess.run([promtool, *arguments], cwd=rules_file.parent, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_accepts_the_rules(self):
        self.run_promtool('check', 'rules', rules_file.name)

    def test_the_rules_fire_and_do_not_fire_as_their_tests_say(self):
        self.run_promtool('test', 'rules', 'rules_test.yaml')

    def test_an_alert_says_what_is_wrong_how_bad_it_is_and_where_its_runbook_is(self):
        for alert in alerts():
            with self.subTest(alert['alert']):
                self.assertIn(alert['labels']['severity'], ('warning', 'critical'))
                self.assertEqual(sorted(alert['annotations']), ['description', 'runbook_url', 'summary'])
                page, _, anchor = alert['annotations']['runbook_url'].partition('#')
                self.assertIn(anchor, anchors(tree / page))
                self.assertEqual(anchor, alert['alert'].lower())

    def test_each_alert_has_a_case_that_fires_and_one_that_does_not(self):
        tests = yaml.safe_load((rules_file.parent / 'rules_test.yaml').read_text())['tests']
        cases = [case for test in tests for case in test.get('alert_rule_test', [])]
        expressions = [case for test in tests for case in test.get('promql_expr_test', [])]
        for alert in alerts():
            name = alert['alert']
            with self.subTest(name):
                fires = [bool(case['exp_alerts']) for case in cases if case['alertname'] == name]
                fires += [bool(case['exp_samples']) for case in expressions if f'"{name}"' in case['expr']]
                self.assertIn(True, fires)
        quiet = [test for test in tests if 'quiet' in test['name']]
        self.assertEqual(len(quiet), 1)
        shown = ' '.join(series['series'] for series in quiet[0]['input_series'])
        for alert in alerts():
            for metric in re.findall(r'\b(?:koordetector|koord_manager)_\w+', alert['expr']):
                self.assertIn(metric, shown, alert['alert'])

    def test_the_readme_lists_each_rule(self):
        page = (rules_file.parent / 'README.md').read_text()
        for rule in rules():
            self.assertIn('`' + rule['record'] + '`' if 'record' in rule else '## ' + rule['alert'], page)


class Dashboards(unittest.TestCase):
    def test_the_dashboards_are_those_of_the_readme(self):
        page = (packaging / 'grafana/README.md').read_text()
        self.assertEqual([path.stem for path in dashboards], ['agent', 'fleet', 'node', 'pod'])
        for path in dashboards:
            self.assertIn(f'`{path.name}`', page)

    def test_a_dashboard_chooses_its_data_source_and_links_to_the_others(self):
        for path in dashboards:
            with self.subTest(path.name):
                board = json.loads(path.read_text())
                self.assertEqual(board['uid'], 'koordetector-' + path.stem)
                self.assertTrue(board['title'] and board['description'])
                self.assertEqual(board['tags'], ['koordetector'])
                variables = board['templating']['list']
                self.assertEqual((variables[0]['name'], variables[0]['type'], variables[0]['query']), ('datasource', 'datasource', 'prometheus'))
                for variable in variables[1:]:
                    self.assertEqual(variable['datasource'], DATASOURCE)
                self.assertLess(path.stat().st_size, 10_000, 'a dashboard is small enough to be read')

    def panels(self):
        for path in dashboards:
            for panel in json.loads(path.read_text())['panels']:
                with self.subTest(f"{path.name}: {panel.get('title')}"):
                    yield path, panel

    def test_a_panel_has_a_title_a_description_a_unit_and_the_data_source_that_was_chosen(self):
        for _, panel in self.panels():
            self.assertTrue(panel['title'])
            self.assertTrue(panel['description'].endswith('.'))
            self.assertIn(panel['fieldConfig']['defaults']['unit'], UNITS)
            self.assertEqual(panel['datasource'], DATASOURCE)

    def test_each_expression_has_a_legend_and_is_about_the_selected_nodes_or_pod(self):
        for _, panel in self.panels():
            self.assertTrue(panel['targets'])
            for target in panel['targets']:
                self.assertTrue(target['legendFormat'])
                for selector in re.findall(r'koordetector_\w+(\{[^}]*\})?', target['expr']):
                    if 'scrape_samples_scraped' not in target['expr']:
                        self.assertRegex(selector, r'=~"\$(node|pod)"')
                self.assertNotRegex(target['expr'], r'rate\([^)]*\[\d+[sm]\]', 'expected $__rate_interval')

    def test_titles_and_ids_are_unique_and_panels_do_not_overlap(self):
        for path in dashboards:
            panels = json.loads(path.read_text())['panels']
            self.assertEqual(len({panel['title'] for panel in panels}), len(panels), path.name)
            self.assertEqual(len({panel['id'] for panel in panels}), len(panels), path.name)
            cells = [(x, y) for panel in panels for x in range(panel['gridPos']['x'], panel['gridPos']['x'] + panel['gridPos']['w'])
                     for y in range(panel['gridPos']['y'], panel['gridPos']['y'] + panel['gridPos']['h'])]
            self.assertEqual(len(set(cells)), len(cells), path.name)
            self.assertLess(max(x for x, _ in cells), 24, path.name)


class Levels(unittest.TestCase):
    def test_the_readme_names_each_metric_that_only_level_all_has(self):
        code = (tree / 'core/agentd/export_detail.cpp').read_text()
        page = (packaging / 'README.md').read_text()
        names = re.findall(r'"((?:pod|container)_[a-z0-9_]+[a-z0-9])"', code)
        self.assertGreater(len(names), 30)
        for name in names:
            self.assertIn(f'`{name}`', page)

    def test_no_expression_of_an_alert_needs_the_level_all(self):
        code = (tree / 'core/agentd/export_detail.cpp').read_text()
        for name in re.findall(r'"((?:pod|container)_[a-z0-9_]+[a-z0-9])"', code):
            if name != 'container_interference':  # every level has it while its value is 1
                for rule in rules():
                    self.assertNotRegex(rule['expr'], rf'koordetector_{name}\b')
                for path in dashboards:
                    self.assertNotRegex(path.read_text(), rf'koordetector_{name}\b', path.name)


class Examples(unittest.TestCase):
    """Returns the README's configuration of Prometheus."""

    @classmethod
    def setUpClass(cls):
        cls.page = (rules_file.parent / 'README.md').read_text()
        cls.blocks = re.findall(r'^```yaml\n(.*?)^```', cls.page, re.M | re.S)

    def block_with(self, word):
        found, = (block for block in self.blocks if word in block)
        return found

    def used_of_containers(self):
        texts = [rule['expr'] for rule in rules()] + [path.read_text() for path in dashboards]
        return set(re.findall(r'koordetector_(container_[a-z0-9_]+)', ' '.join(texts)))

    def test_prometheus_accepts_the_scrape_jobs_with_and_without_the_relabelling(self):
        if not promtool:
            self.skipTest('SKIPPED: there is no promtool')
        jobs = yaml.safe_load(self.block_with('scrape_configs'))
        relabelled = json.loads(json.dumps(jobs))
        for job in relabelled['scrape_configs'][:2]:
            job.update(yaml.safe_load(self.block_with('metric_relabel_configs')))
        for config in jobs, relabelled:
            for job in config['scrape_configs']:
                job.pop('kubernetes_sd_configs', None)  # Debian's promtool is built without this discovery
            with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
                yaml.safe_dump(config, file)
                done = subprocess.run([promtool, 'check', 'config', '--syntax-only', file.name], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_dropped_names_are_those_of_containers_that_neither_dashboards_nor_rules_use(self):
        rule, = yaml.safe_load(self.block_with('metric_relabel_configs'))['metric_relabel_configs']
        of_chart, = yaml.safe_load(self.block_with('metricRelabelings'))['metrics']['serviceMonitor']['metricRelabelings']
        self.assertEqual(rule['regex'], of_chart['regex'])
        used = self.used_of_containers()
        self.assertFalse([name for name in used if re.fullmatch(rule['regex'], 'koordetector_' + name)])
        section = self.page.split('## Fewer series')[1].split('\n## ')[0].split('```')[0]
        self.assertEqual(set(re.findall(r'`(container_\w+)`', section)), used)
        documented = (packaging / 'README.md').read_text().split("A container's 15,")[1].split('On top come')[0]
        for name in re.findall(r'`(container_\w+)`', documented):
            self.assertNotEqual(name in used, bool(re.fullmatch(rule['regex'], 'koordetector_' + name)), name)


class Chart(unittest.TestCase):
    def test_the_chart_has_neither_rules_nor_dashboards_by_default(self):
        self.assertFalse([made for made in objects() if made['kind'] == 'PrometheusRule' or 'dashboards' in made['metadata']['name']])

    def test_the_chart_s_rules_are_those_of_the_file_with_the_base_of_the_runbooks(self):
        base = 'https://git.example/koordetector/blob/main/'
        made, = (made for made in objects(prometheusRule={'enabled': True, 'labels': {'release': 'p'}, 'runbookBase': base})
                 if made['kind'] == 'PrometheusRule')
        self.assertEqual(made['metadata']['labels']['release'], 'p')
        expected = yaml.safe_load(rules_file.read_text().replace('runbook_url: ', 'runbook_url: ' + base))
        self.assertEqual(made['spec'], expected)
        plain, = (made for made in objects(prometheusRule={'enabled': True}) if made['kind'] == 'PrometheusRule')
        self.assertEqual(plain['spec'], yaml.safe_load(rules_file.read_text()))

    def test_the_chart_s_config_map_has_each_dashboard_for_grafana_s_sidecar(self):
        made, = (made for made in objects(dashboards={'enabled': True, 'annotations': {'grafana_folder': 'K'}})
                 if made['metadata']['name'].endswith('-dashboards'))
        self.assertEqual(made['kind'], 'ConfigMap')
        self.assertEqual(made['metadata']['labels']['grafana_dashboard'], '1')
        self.assertEqual(made['metadata']['annotations'], {'grafana_folder': 'K'})
        self.assertEqual(sorted(made['data']), sorted('koordetector-' + path.name for path in dashboards))
        for path in dashboards:
            self.assertEqual(json.loads(made['data']['koordetector-' + path.name]), json.loads(path.read_text()))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
