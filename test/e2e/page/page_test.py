#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""koordctl ui with a real agent: hostile requests, and each view in Chromium, with the figures of `koordctl … -o json`.

usage: page_test.py BUILD SCREENSHOTS [PLUGIN.so …]

A socket between both programs and the agent keeps answers (frozen_agent.py), so that page and koordctl see the same moment. The folder
recorded/ has answers of an agent beside examples/noisy-neighbour, for the views of pods. Screenshots of each view go to SCREENSHOTS, light and
dark, 1440 and 360 pixels wide. With axe-core's axe.min.js at KOORD_AXE each view is checked with it, too.
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

from browser import Browser, chromium
from frozen_agent import FrozenAgent, ask
from running import next_link, received, start_agent, until

HERE = pathlib.Path(__file__).parent
BUILD, SCREENSHOTS = map(pathlib.Path, sys.argv[1:3])
PLUGINS = sys.argv[3:]
RECORDED = {'/api/v1/' + path.stem.replace('interference-', 'interference/'): path.read_bytes() for path in (HERE / 'recorded').glob('*.json')}
VIEWS = ['node', 'pods', 'interference', 'decisions', 'plugins', 'capabilities', 'sql', 'pod?name=shop%2Fcart-7d9f']
HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>&amp;\u202e'


class Installation:
    """An agent, the frozen socket in front of it, and a viewer."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='koord-test-ui-', dir=BUILD / 'test'))
        (self.folder / 'plugins').mkdir()
        for plugin in PLUGINS:
            shutil.copy(plugin, self.folder / 'plugins')
        config = self.folder / 'koordetector.yaml'
        config.write_text(f'''nodeName: page-node
listen: {{metrics: "", socket: "{self.folder}/agent.sock"}}
store: {{path: "{self.folder}/metrics.db"}}
plugins: {{childProgram: "{BUILD}/core/plugin_host/koord-plugin-host", ownDirectories: ["{self.folder}/plugins"], directories: []}}
state: {{source: cgroup}}
predict: {{directory: "{self.folder}/predictions"}}
qos: {{directory: "{self.folder}/qos"}}
''')
        self.agent = start_agent(BUILD, config, self.folder / 'log')
        self.until(lambda: ask(f'{self.folder}/agent.sock', '/readyz')[0] == 200)
        self.until(lambda: b'"node_cpu_usage"' in ask(f'{self.folder}/agent.sock', '/api/v1/node')[1])
        self.until(lambda: json.loads(ask(f'{self.folder}/agent.sock', '/api/v1/query?metric=node_cpu_usage&raw=true')[1])['rows'])
        self.frozen = FrozenAgent(f'{self.folder}/frozen.sock', f'{self.folder}/agent.sock')
        self.frozen.instead = dict(RECORDED)
        self.viewer = subprocess.Popen([BUILD / 'core/ctl/koordctl', 'ui', '--socket', f'{self.folder}/frozen.sock', '--db',
                                        f'{self.folder}/metrics.db'], stdout=subprocess.PIPE, text=True)
        self.link = self.next_link()
        self.address = urllib.parse.urlsplit(self.link).netloc

    def next_link(self):
        return next_link(self.viewer)

    def until(self, condition):
        until(condition, lambda: 'the agent is not ready: ' + (self.folder / 'log').read_text()[-2000:],
              lambda: self.agent.poll() is not None)

    def koordctl(self, *words):
        command = [BUILD / 'core/ctl/koordctl', *words, '-o', 'json']
        command += ['--db', f'{self.folder}/metrics.db'] if words[0] == 'sql' else ['--socket', f'{self.folder}/frozen.sock']
        return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    def close(self):
        for process in (self.viewer, self.agent):
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        self.viewer.stdout.close()
        self.frozen.shutdown()
        self.frozen.server_close()
        shutil.rmtree(self.folder)


RUNNING = None


def setUpModule():
    global RUNNING
    RUNNING = Installation()


def tearDownModule():
    RUNNING.close()


def request(target, headers=(), method='GET', host=None, body=None):
    """Returns (status, headers, body). `headers` may contain a name twice."""
    connection = http.client.HTTPConnection(RUNNING.address, timeout=60)
    connection.putrequest(method, target, skip_host=True)
    connection.putheader('Host', RUNNING.address if host is None else host)
    for name, value in headers:
        connection.putheader(name, value)
    if body is not None:
        connection.putheader('Content-Length', str(len(body)))
    connection.endheaders(body)
    return received(connection)


def sign_in():
    """Opens the current link. Returns its token and the cookie."""
    token = RUNNING.link.split('token=')[1]
    status, headers, _ = request(f'/?token={token}')
    assert status == 200, status
    RUNNING.link = RUNNING.next_link()
    return token, headers['Set-Cookie'].split(';')[0]


class Requests(unittest.TestCase):
    def test_a_link_works_once_and_the_next_one_is_another(self):
        token, cookie = sign_in()
        self.assertEqual(request(f'/?token={token}')[0], 401)
        self.assertNotIn(token, RUNNING.link)
        self.assertEqual(request('/', [('Cookie', cookie)])[0], 200)

    def test_without_a_session_nothing_is_shown(self):
        for target in ('/', '/main.js', '/api/v1/node', '/api/v1/pods', '/sql?query=SELECT%201', '/?token=', '/?token=' + 'a' * 64, '/nothing'):
            status, headers, body = request(target)
            self.assertEqual(status, 401, target)
            self.assertNotIn(b'page-node', body)
            self.assertIn("default-src 'none'", headers['Content-Security-Policy'])
        self.assertEqual(request('/api/v1/node', [('Cookie', 'koordctl-ui=1; koordctl-ui-' + RUNNING.address.split(':')[1] + '=')])[0], 401)

    def test_a_forged_host_or_origin_is_refused_with_a_valid_cookie_too(self):
        _, cookie = sign_in()
        port = RUNNING.address.split(':')[1]
        for host in ('evil.example', f'evil.example:{port}', f'127.0.0.1.evil.example:{port}', '127.0.0.1:1', ''):
            self.assertEqual(request('/api/v1/node', [('Cookie', cookie)], host=host)[0], 403, host)
        for headers in ([('Origin', 'http://evil.example')], [('Origin', 'null')], [('Origin', f'http://localhost:{int(port) + 1}')],
                        [('Sec-Fetch-Site', 'cross-site')], [('Sec-Fetch-Site', 'same-site')], [('Host', 'evil.example')]):
            self.assertEqual(request('/api/v1/node', [('Cookie', cookie), *headers])[0], 403, headers)

    def test_no_request_changes_anything(self):
        _, cookie = sign_in()
        before = ask(f'{RUNNING.folder}/agent.sock', '/api/v1/modes')
        for method in ('POST', 'PUT', 'PATCH', 'DELETE'):
            for target in ('/api/v1/restore', '/api/v1/modes/node?mode=off&for=1h', '/api/v1/plugins/advisor-node-resource/reload', '/sql'):
                status, _, _ = request(target, [('Cookie', cookie), ('Origin', f'http://{RUNNING.address}')], method, body=b'')
                self.assertIn(status, (405, 501), f'{method} {target}')
        for statement in ('DELETE FROM series', 'DROP TABLE series', "ATTACH '/etc/passwd' AS x", 'PRAGMA journal_mode=DELETE', ''):
            status, _, body = request('/sql?query=' + urllib.parse.quote(statement), [('Cookie', cookie)])
            self.assertEqual(status, 400, body)
        self.assertEqual(ask(f'{RUNNING.folder}/agent.sock', '/api/v1/modes'), before)

    def test_paths_lead_neither_to_files_nor_to_other_routes_of_the_agent(self):
        _, cookie = sign_in()
        for target in ('/../../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/page/../../etc/passwd', '/api/v1/../../metrics',
                       '/api/v1/%2e%2e/%2e%2e/metrics', '/api/v1/..%2f..%2fmetrics', '/metrics', '/readyz', '/api/v1/node%00', '//evil.example/'):
            status, _, body = request(target, [('Cookie', cookie)])
            self.assertIn(status, (400, 404), target)
            self.assertNotIn(b'root:', body)
            self.assertNotIn(b'koordetector_', body)

    def test_careless_peers_do_not_end_the_viewer(self):
        host, port = RUNNING.address.split(':')
        for text in (b'\0' * 100, b'GET / HTTP/1.1\r\n' + b'A: b\r\n' * 5000, b'GET /' + b'a' * 100_000 + b' HTTP/1.1\r\n\r\n', b'GET / HTTP/1.1\r\nHost:',
                     b'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n'):
            with socket.create_connection((host, int(port)), 60) as peer:
                try:
                    peer.sendall(text)
                    peer.recv(100) if not text.endswith(b'Host:') else None
                except OSError:
                    pass
        _, cookie = sign_in()
        self.assertEqual(request('/api/v1/node', [('Cookie', cookie)])[0], 200)

    def test_answers_are_those_of_koordctl(self):
        _, cookie = sign_in()
        for what in ('plugins', 'features', 'capabilities', 'decisions', 'interference', 'events', 'node', 'pods'):
            status, _, body = request(f'/api/v1/{what}', [('Cookie', cookie)])
            self.assertEqual((status, json.loads(body)), (200, RUNNING.koordctl(what)), what)
        statement = "SELECT metric, count(*) AS n FROM series GROUP BY metric ORDER BY metric"
        self.assertEqual(json.loads(request('/sql?query=' + urllib.parse.quote(statement), [('Cookie', cookie)])[2]), RUNNING.koordctl('sql', statement))


TABLES = '''[...document.querySelectorAll('main table')].map((table) => ({
  caption: table.caption.textContent,
  titles: [...table.tHead.rows[0].cells].map((cell) => cell.textContent),
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => ({
    text: cell.firstChild ? cell.firstChild.textContent : '', small: cell.querySelector('small')?.textContent ?? '',
    value: cell.querySelector('data')?.value ?? null}))),
}))'''
READY = "location.search === '' && document.getElementById('main')?.dataset.ready === 'true'"
FACTS = '''Object.fromEntries([...document.querySelectorAll('main .facts > div')].map((fact) =>
  [fact.querySelector('dt').textContent, fact.querySelector('dd data')?.value ?? fact.querySelector('dd').firstChild.textContent]))'''


@unittest.skipUnless(chromium(), 'there is no chromium')
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        cls.profile = tempfile.TemporaryDirectory(prefix='koord-test-')
        cls.browser = Browser(cls.profile.name)
        cls.browser.look_like(1440, 1000, 'light')
        cls.browser.open(RUNNING.link)
        cls.browser.wait_for(READY)
        RUNNING.link = RUNNING.next_link()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.profile.name, ignore_errors=True)
        cls.profile._finalizer.detach()

    def setUp(self):
        RUNNING.frozen.instead = dict(RECORDED)

    def show(self, view):
        self.browser.run(f'location.hash = "#/plugins-none"; location.hash = {json.dumps("#/" + view)}')
        self.browser.run('new Promise((done) => setTimeout(done, 50))')
        self.browser.wait_for(READY)
        return {table['caption']: table for table in self.browser.run(TABLES)}

    def table(self, view, begin):
        tables = self.show(view)
        found = [table for caption, table in tables.items() if caption.startswith(begin)]
        self.assertEqual(len(found), 1, f'{begin}: {list(tables)}')
        return [dict(zip((re.sub(' [↕↑↓]$', '', title) for title in found[0]['titles']), row)) for row in found[0]['rows']]

    def same(self, cell, number):
        """Checks that the exact value of a cell equals the answer's; a missing one is shown as unknown."""
        if number is None:
            self.assertEqual((cell['text'], cell['value']), ('-', None))
        else:
            self.assertEqual(float(cell['value']), float(number))

    def test_the_views_have_no_error_no_foreign_request_and_screenshots(self):
        for view in VIEWS:
            self.show(view)
            if view == 'sql':
                self.browser.run("document.querySelector('form').requestSubmit()")
                self.browser.wait_for("document.querySelector('main .count').textContent.endsWith('rows')")
            for width, scheme in ((1440, 'light'), (1440, 'dark'), (360, 'light'), (360, 'dark')):
                self.browser.look_like(width, 1000, scheme)
                self.browser.screenshot(SCREENSHOTS / f"{view.split('?')[0]}-{width}-{scheme}.png")
                self.assertLessEqual(self.browser.run('document.documentElement.scrollWidth'), width, f'{view} scrolls sideways at {width}')
                self.check_with_axe(view)
            self.browser.look_like(1440, 1000, 'light')
            self.assertEqual(self.browser.run("document.getElementById('problem').hidden"), True)
        self.assertEqual(self.browser.problems, [])
        self.assertEqual([url for url in self.browser.addresses if not url.startswith((f'http://{RUNNING.address}/', 'about:'))], [])

    def check_with_axe(self, view):
        axe = os.environ.get('KOORD_AXE')
        if not axe:
            return
        self.browser.send('Page.setBypassCSP', enabled=True)
        self.browser.run(pathlib.Path(axe).read_text() + '; 0')
        self.assertEqual(self.browser.run('axe.run(document).then((r) => r.violations.map((v) => [v.id, v.nodes[0].html]))'), [], view)
        self.browser.send('Page.setBypassCSP', enabled=False)

    def test_the_node_is_that_of_koordctl(self):
        values = {row['Metric']['text']: row['Value'] for row in self.table('node', 'Latest values')}
        node = RUNNING.koordctl('node')
        self.assertEqual(set(values), set(node['values']))
        for name, cell in values.items():
            self.same(cell, node['values'][name])
        facts = self.browser.run(FACTS)
        self.assertEqual(float(facts['CPU']), node['values']['node_cpu_usage'])
        self.assertEqual(float(facts['Memory']), node['values']['node_memory_usage'])
        self.assertEqual(int(facts['Standing verdicts']), len(RUNNING.koordctl('interference')['verdicts']))

    def test_a_chart_has_the_samples_of_the_metric_cache_as_a_table_and_a_sentence(self):
        self.show('node')
        self.browser.run("document.querySelector('.chart details summary').click()")
        self.browser.wait_for("document.querySelector('.chart details td') !== null")
        shown = self.browser.run("[...document.querySelectorAll('.chart')][0].querySelectorAll('td data').length && "
                                 "[...[...document.querySelectorAll('.chart')][0].querySelectorAll('td:nth-child(2) data')].map((data) => Number(data.value))")
        known = [sample[1] for target, (_, body) in RUNNING.frozen.kept.items() if 'metric=node_cpu_usage' in target
                 for row in json.loads(body)['rows'] for sample in row['samples']]
        self.assertTrue(shown)
        self.assertLessEqual(set(shown), set(known))
        self.assertIn(': all last ', self.browser.run("document.querySelector('.chart canvas').getAttribute('aria-label')"))

    def test_a_long_span_is_asked_for_in_slices_of_half_an_hour(self):
        self.show('node')
        asked = len(self.browser.addresses)
        self.browser.run("const span = document.querySelector('select'); span.value = '43200'; span.dispatchEvent(new Event('change'))")
        self.browser.wait_for("[...document.querySelectorAll('.chart')].every((chart) => chart.hidden || chart.querySelector('.legend li'))")
        self.browser.wait_for("document.querySelector('.charts + .note').textContent !== ''")  # set after the last chart
        slices = [urllib.parse.parse_qs(urllib.parse.urlsplit(url).query) for url in self.browser.addresses[asked:] if 'metric=node_cpu_usage&' in url]
        self.assertEqual(slices[0]['window'], ['1800s'])
        spans = [(float(one['from'][0]), float(one['to'][0])) for one in slices[1:24]]
        self.assertEqual([round(to - begin) for begin, to in spans], [1800] * 23)
        self.assertEqual([to for _, to in spans[1:]], [begin for begin, _ in spans[:-1]])

    def agent_of_samples(self, script):
        """Runs a script with Samples of /series.js and an agent that has a sample for each of 20,000 seconds, at the clock `agent.wall`."""
        self.show('sql')  # this view sends no requests itself
        return self.browser.run("""import('/series.js').then(async ({Samples}) => {
          const kept = window.fetch, agent = {wall: 1_000_000, asked: [], fails: false}, begin = 20_000;
          window.fetch = async (address) => {
            const query = new URL(address, location).searchParams, to = Number(query.get('to') ?? agent.wall);
            const from = Number(query.get('from') ?? to - parseFloat(query.get('window')));
            agent.asked.push(to - from);
            if (agent.fails) return new Response('{"error": "the agent is starting"}', {status: 503});
            if (from > to) return new Response('{"error": "from is later than to"}', {status: 400});
            const samples = Array.from({length: begin + 1}, (_, i) => [agent.wall - i, begin - i]).reverse();
            return new Response(JSON.stringify({to, rows: [{labels: {}, samples: samples.filter(([at]) => at >= from && at <= to)}]}));
          };
          const fresh = async (span) => (await new Samples('m', span).refresh()).lines(() => 'x')[0].points;
          try {
            %s
          } finally {
            window.fetch = kept;
          }
        })""" % script)

    def test_after_a_step_of_the_agents_clock_a_chart_has_each_sample_once_at_its_new_time(self):
        for span in (900, 7200):
            for step in (-3600, -100, 100, 3600):
                points, wanted, longest = self.agent_of_samples(f"""
                  const samples = await new Samples('m', {span}).refresh();
                  agent.wall += {step};
                  await samples.refresh();
                  await samples.refresh();
                  return [samples.lines(() => 'x')[0].points, await fresh({span}), Math.max(...agent.asked)];""")
                with self.subTest(f'{span} {step}'):
                    self.assertEqual(points, wanted)
                    self.assertLessEqual(points[0][0], 1_000_000 + step - span + 10)
                    self.assertEqual(points[-1], [1_000_000 + step, 20_000])
                    self.assertLessEqual(len(points), 902)
                    self.assertLessEqual(longest, 3600 if step > 0 else 1800)

    def test_a_span_with_failed_slices_is_requested_again(self):
        asked, points, wanted = self.agent_of_samples("""
          const samples = new Samples('m', 7200);
          const refresh = samples.refresh(() => (agent.fails = agent.asked.length === 2, true));
          await refresh.catch(() => {});
          const asked = agent.asked.length;
          agent.fails = false;
          await samples.refresh();
          return [asked, samples.lines(() => 'x')[0].points, await fresh(7200)];""")
        self.assertEqual(asked, 3)
        self.assertEqual(points, wanted)

    def test_a_chart_of_many_samples_keeps_the_highest_of_each_stretch_and_a_restarted_counter_has_no_rate(self):
        points = self.browser.run("""import('/series.js').then(({Samples}) => {
          const samples = new Samples('m', 43200);
          samples.add({}, Array.from({length: 43200}, (_, i) => [1000000 + i, i === 20011 ? 99 : i % 7]));
          samples.add({}, [[1000005, 1], [1043200, 50]]);
          return samples.lines(() => 'x')[0].points;
        })""")
        self.assertLessEqual(len(points), 902)
        self.assertIn([1020011, 99], points)
        self.assertEqual(points[-1][0], 1043200)
        rates = self.browser.run("import('/series.js').then(({rates}) => rates([{label: 'x', points: [[0, 5], [10, 25], [20, 3], [30, 4]]}])[0].points)")
        self.assertEqual(rates, [[10, 2], [30, 0.1]])

    def test_without_the_chart_library_each_chart_is_its_table(self):
        self.browser.run('window.kept = window.Chart; window.Chart = undefined; true')
        try:
            self.show('node')
            self.assertEqual(self.browser.run("[...document.querySelectorAll('.chart .drawing')].filter((drawing) => !drawing.hidden).length"), 0)
            self.browser.wait_for("document.querySelector('.chart details[open] td data') !== null")
        finally:
            self.browser.run('window.Chart = window.kept; true')
        self.assertEqual(self.browser.problems, [])

    def test_pause_stops_the_refresh_and_goes_on_at_once(self):
        self.show('plugins')
        self.browser.run("document.getElementById('pause').click()")
        RUNNING.frozen.instead['/api/v1/plugins'] = b'refused\n'
        self.browser.run('new Promise((done) => setTimeout(done, 5500))')
        self.assertTrue(self.browser.run("document.getElementById('problem').hidden"))
        self.browser.run("document.getElementById('pause').click()")
        self.browser.wait_for("document.getElementById('problem').textContent === 'refused'")

    def test_pods_are_those_of_koordctl_and_the_harmed_come_first(self):
        rows = self.table('pods', 'Pods')
        pods = {f"{pod['namespace']}/{pod['name']}": pod['values'] for pod in RUNNING.koordctl('pods')['pods']}
        columns = {'CPU': 'pod_cpu_usage', 'Memory': 'pod_memory_usage', 'Wait p95': 'pod_sched_latency_p95_seconds',
                   'Wait p99': 'pod_sched_latency_p99_seconds', 'Throttled': 'pod_cpu_throttled', 'Stalled': 'pod_memory_stall_ratio'}
        shown = {row['Name']['text']: row for row in rows}
        self.assertLessEqual(set(pods), set(shown))
        for name, values in pods.items():
            for title, metric in columns.items():
                self.same(shown[name][title], values.get(metric))
        self.assertIn('cpu', rows[0]['Harm']['text'])
        self.assertEqual(rows[-1]['Harm']['text'], '-')
        harmed = [row['Name']['text'] for row in rows if row['Harm']['text'] != '-']
        waits = {name: max(values.get('pod_cpu_throttled', 0), values.get('pod_memory_stall_ratio', 0), min(values.get('pod_sched_latency_p95_seconds', 0) / 0.1, 1))
                 for name, values in pods.items()}
        self.assertEqual([name for name in harmed if name in pods], sorted(pods, key=lambda name: -waits[name]))

    def test_decisions_are_those_of_koordctl(self):
        rows, decisions = self.table('decisions', 'Decisions'), RUNNING.koordctl('decisions')['decisions']
        self.assertEqual(len(rows), len(decisions))
        for row, decision in zip(rows, reversed(decisions)):
            self.assertEqual((row['Knob']['text'], row['Before']['text'], row['Wanted']['text'], row['Result']['text'], row['Why']['text']),
                             (decision['knob'], decision['before'], decision['wanted'], decision['result'], decision['reason']))

    def test_decisions_have_no_gap_and_unrequested_ones_do_not_pile_up(self):
        first = json.loads(RECORDED['/api/v1/decisions'])['decisions'][0]
        log = [{**first, 'number': i} for i in range(1, 451)]

        def answer(query):
            known = [one for one in log if one['number'] < int(query.get('before', 1 << 40))]
            page = known[-200:]
            return 200, json.dumps({'decisions': page, **({'before': page[0]['number']} if len(known) > 200 else {})}).encode()

        def add(count):
            log.extend({**first, 'number': log[-1]['number'] + 1 + i} for i in range(count))

        reasons = iter(range(100))

        def shows(numbers):
            """Waits for a refresh: gives the newest decision a new reason, and waits until the page shows it."""
            log[-1]['reason'] = f'refresh {next(reasons)}'
            log[-1]['time'] += 0 if log[-1]['number'] == 1 else 1e-3
            self.browser.run("document.getElementById('pause').click(); document.getElementById('pause').click()")
            self.browser.wait_for(f"document.querySelector('main tbody tr')?.textContent.includes('{log[-1]['reason']}')")
            count = len(numbers)
            self.assertEqual(self.browser.run("document.querySelectorAll('main table')[0].tBodies[0].rows.length"), count)

        RUNNING.frozen.instead['/api/v1/decisions'] = answer
        self.show('decisions')
        older = "[...document.querySelectorAll('main button')].find((button) => button.textContent === 'Older')"
        rows = "document.querySelectorAll('main table')[0].tBodies[0].rows.length"
        add(150)
        shows(range(200))  # only the newest page
        for count in (400, 600):
            self.browser.run(f'{older}.click()')
            self.browser.wait_for(f'{rows} === {count}')
        self.assertTrue(self.browser.run(f'{older}.hidden'))
        add(100)
        shows(range(700))  # older values that were requested stay
        self.assertTrue(self.browser.run(f'{older}.hidden'))
        add(300)
        shows(range(200))  # values before a gap are not shown
        self.assertFalse(self.browser.run(f'{older}.hidden'))
        self.browser.run(f'{older}.click()')
        self.browser.wait_for(f'{rows} === 400')
        log[:] = [{**first, 'number': i, 'time': first['time'] + 1000 + i} for i in range(1, 4)]
        shows(range(3))  # the agent was restarted, without an archive

    def test_verdicts_and_the_matrix_are_those_of_koordctl(self):
        tables = self.show('interference')
        for verdict in RUNNING.koordctl('interference')['verdicts']:
            rows = tables[f"Waits of {verdict['victim']['name']} for others, the longest first"]['rows']
            self.assertEqual(len(rows), len(verdict['suspects']))
            for row, suspect in zip(rows, verdict['suspects']):
                self.assertEqual(row[0]['text'], {'outside': 'node, outside pods', 'kernel': 'kernel threads'}.get(suspect['kind'], suspect['name']))
                for cell, key in zip(row[1:], ('value', 'share', 'excess', 'usage', 'request')):
                    self.same(cell, suspect.get(key))
        for matrix in RUNNING.koordctl('interference', 'matrix')['matrices']:
            table = next(table for caption, table in tables.items() if caption.startswith(f"Resource {matrix['resource']}:"))
            shown = {float(cell['value']) for row in table['rows'] for cell in row[1:] if cell['value'] is not None}
            self.assertEqual(shown, {pair['value'] for pair in matrix['pairs']})

    def test_a_pod_shows_its_knobs_decisions_and_events(self):
        tables = self.show('pod?name=shop%2Fcart-7d9f')
        why = json.loads(RECORDED['/api/v1/why'])
        knobs = next(table for caption, table in tables.items() if caption.startswith('Knobs'))
        self.assertEqual([row[0]['text'] for row in knobs['rows']], [knob['knob'] for knob in why['knobs'] for _ in knob['intents']])
        events = next(table for caption, table in tables.items() if caption.startswith('Events'))
        self.assertEqual([row[2]['text'] for row in events['rows']], [event['why'] for event in reversed(why['events'])])

    def test_plugins_and_capabilities_are_those_of_koordctl(self):
        plugins = {plugin['id']: plugin for plugin in RUNNING.koordctl('plugins')['plugins']}
        rows = self.table('plugins', 'Plugins')
        self.assertEqual([row['Plugin']['text'] for row in rows], sorted(plugins))
        for row in rows:
            plugin = plugins[row['Plugin']['text']]
            self.assertEqual(row['State']['text'], plugin['state'])
            for title, key in (('Calls', 'calls'), ('Errors', 'errors'), ('Skipped', 'skippedTicks'), ('Late', 'deadlineMisses')):
                self.same(row[title], plugin['counts'][key])
            self.same(row['CPU'], plugin['budget'].get('cpuCores'))
        capabilities = RUNNING.koordctl('capabilities')['capabilities']
        shown = {(row['Capability']['text'], row['State']['text'], row['Detail']['text']) for row in self.table('capabilities', 'Capabilities')}
        self.assertEqual(shown, {(one['name'], one['state'], one['detail']) for one in capabilities})

    def test_sql_shows_rows_a_chart_and_gives_them_as_csv(self):
        self.show('sql')
        statement = "SELECT time, metric, value FROM samples WHERE metric = 'node_memory_usage' ORDER BY time LIMIT 3"
        self.browser.run(f"document.getElementById('statement').value = {json.dumps(statement)}; document.querySelector('form').requestSubmit()")
        self.browser.wait_for("document.querySelector('main .count').textContent === '3 rows'")
        rows = self.browser.run(TABLES)[0]['rows']
        self.assertEqual([[cell['text'] for cell in row] for row in rows],
                         [[row[name] for name in ('time', 'metric', 'value')] for row in RUNNING.koordctl('sql', statement)['rows']])
        self.assertEqual(self.browser.run("document.querySelectorAll('main .chart canvas').length"), 1)
        text = self.browser.run('import("/sql.js").then((sql) => sql.csv(["a", "b"], [{a: "=1+1", b: "-1.5"}, {a: "x,\\"y", b: "\\u202e"}]))')
        self.assertEqual(text, 'a,b\r\n\'=1+1,-1.5\r\n"x,""y",\u202e\r\n')
        self.browser.run("document.getElementById('statement').value = 'DROP TABLE series'; document.querySelector('form').requestSubmit()")
        self.browser.wait_for("!document.querySelector('main .problem').hidden")
        self.browser.problems = [problem for problem in self.browser.problems if '/sql?' not in problem]  # Chromium logs each 400

    def test_columns_of_sql_with_the_same_name_keep_their_values(self):
        self.show('sql')
        statement = 'SELECT 1 AS v, 2 AS v, 3 AS w'
        self.browser.run(f"document.getElementById('statement').value = '{statement}'; document.querySelector('form').requestSubmit()")
        self.browser.wait_for("document.querySelector('main .count').textContent === '1 rows'")
        table = next(table for table in self.browser.run(TABLES) if table['caption'] == 'Rows of the result')
        self.assertEqual(dict(zip(table['titles'], (cell['text'] for cell in table['rows'][0]))), {'v': '1', 'v:2': '2', 'w': '3'})
        self.assertEqual(RUNNING.koordctl('sql', statement)['rows'], [{'v': '1', 'v:2': '2', 'w': '3'}])

    def test_names_with_markup_are_shown_as_text(self):
        text = json.dumps(HOSTILE)[1:-1]
        for path, body in RECORDED.items():
            hostile = body.decode()
            for name in ('cart-7d9f', 'shop', 'app', 'cpu.max.burst', 'qos-cpu-burst', 'exact'):
                hostile = hostile.replace(f'"{name}"', f'"{text}"')
            RUNNING.frozen.instead[path] = re.sub(r'"(reason|why|what|note|problem)": "', lambda m: m[0] + text, hostile).encode()
        name = urllib.parse.quote(f'{HOSTILE}/{HOSTILE}', safe='')
        for view in ('pods', 'interference', 'decisions', f'pod?name={name}', 'node'):
            self.show(view)
            self.assertEqual(self.browser.run("document.querySelectorAll('main img, main script, main iframe, main a[href^=\"javascript\"]').length"), 0)
            self.assertNotEqual(self.browser.run('document.title'), '1')
        self.assertIn(f'{HOSTILE}/{HOSTILE}', [row['Name']['text'] for row in self.table('pods', 'Pods')])
        self.assertEqual(self.browser.problems, [])

    def choose(self, value, number=0):
        self.browser.run(f"{{ const select = document.querySelectorAll('main select')[{number}]; select.value = '{value}'; "
                         "select.dispatchEvent(new Event('change')); }")

    def test_an_error_after_a_choice_is_shown_also_while_paused_and_a_late_answer_to_an_older_choice_is_dropped(self):
        self.show('interference')
        self.browser.run("document.getElementById('pause').click()")
        released, asked = threading.Event(), threading.Event()
        answers = {'any': (200, RECORDED['/api/v1/interference']), 'standing': (503, b'{"error": "the agent is starting"}')}

        def answer(query):
            if query['state'] == 'ended':
                asked.set()
                released.wait(60)
                return 200, json.dumps({**json.loads(RECORDED['/api/v1/interference']), 'verdicts': [], 'history': True}).encode()
            return answers[query['state']]

        RUNNING.frozen.instead['/api/v1/interference'] = answer
        try:
            self.choose('standing')
            self.browser.wait_for("document.getElementById('problem').textContent === 'the agent is starting'")
            self.choose('ended')
            self.assertTrue(asked.wait(60))
            self.choose('any')
            self.browser.wait_for("document.getElementById('problem').hidden")
            released.set()
            self.browser.run('new Promise((done) => setTimeout(done, 500))')  # waits for the late answer
            self.assertEqual(self.browser.run("document.querySelectorAll('main article').length"), 2)
        finally:
            released.set()
            self.browser.run("document.getElementById('pause').click()")
            self.browser.problems.clear()  # Chromium logs each 503

    def test_a_view_that_was_left_asks_nothing_more(self):
        released, asked = threading.Event(), threading.Event()

        def answer(_):
            asked.set()
            released.wait(60)
            return ask(f'{RUNNING.folder}/agent.sock', '/api/v1/node')

        self.show('sql')
        RUNNING.frozen.instead['/api/v1/node'] = answer
        self.browser.run("location.hash = '#/node'")
        self.assertTrue(asked.wait(60))
        self.browser.run("location.hash = '#/plugins'")
        self.browser.wait_for("document.title.startsWith('Plugins')")
        before = len(self.browser.addresses)
        released.set()
        self.browser.wait_for(READY)
        self.assertEqual([url for url in self.browser.addresses[before:] if '/query' in url], [])

    def test_verdicts_that_are_unknown_are_not_shown_as_no_harm(self):
        RUNNING.frozen.instead['/api/v1/interference'] = lambda _: (503, b'{"error": "the agent is starting"}')
        try:
            for view, shown in (('pods', "[...document.querySelectorAll('main tbody tr')].every((row) => row.cells[1].textContent === 'unknown')"),
                                ('pod?name=shop%2Fcart-7d9f',
                                 "document.querySelector('main').textContent.includes('Verdicts about this pod are unknown: the agent is starting')")):
                self.browser.run(f'location.hash = {json.dumps("#/" + view)}')
                self.browser.wait_for("document.querySelector('main tbody tr') !== null")
                self.browser.wait_for(shown)
        finally:
            self.browser.problems = [problem for problem in self.browser.problems if '/interference' not in problem]

    def test_only_pods_that_are_known_to_be_idle_are_hidden(self):
        answer = json.loads(RECORDED['/api/v1/pods'])
        first = answer['pods'][0]
        answer['pods'] = [{**first, 'uid': name, 'name': name, 'values': values} for name, values in
                          (('silent', {}), ('idle', {'pod_cpu_usage': 0.001}), ('busy', {'pod_cpu_usage': 1}))]
        answer['containers'] = []
        RUNNING.frozen.instead['/api/v1/pods'] = json.dumps(answer).encode()
        self.show('pods')
        self.browser.run("document.querySelector('main input[type=checkbox]').click()")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('main tbody th')].map((cell) => cell.firstChild.textContent)"),
                         [f"{first['namespace']}/busy", f"{first['namespace']}/silent"])

    def test_a_request_without_an_answer_becomes_an_error(self):
        released = threading.Event()
        self.show('sql')
        self.browser.run("window.kept = AbortSignal.timeout; AbortSignal.timeout = () => window.kept.call(AbortSignal, 100); true")

        def answer(_):
            released.wait(60)
            return ask(f'{RUNNING.folder}/agent.sock', '/api/v1/plugins')

        RUNNING.frozen.instead['/api/v1/plugins'] = answer
        try:
            self.browser.run("location.hash = '#/plugins'")
            self.browser.wait_for("document.getElementById('problem').textContent.startsWith('koordctl ui did not answer within 35 s')")
        finally:
            self.browser.run('AbortSignal.timeout = window.kept; true')
            released.set()
        self.browser.wait_for("document.getElementById('problem').hidden")

    def test_harm_and_rounded_numbers_are_those_of_koordctl(self):
        harm = self.browser.run("""import('/verdict.js').then(({brief}) => [['self-quota', 'throttled', 'ratio', 3.2], ['interfered', 'held_up_by_others', 'ratio', 3.2],
          ['self', 'held_up', 'ratio', 0.5], ['interfered', 'lost_throughput', 'ratio', 20000], ['interfered', 'refault_time', 'seconds/second', 0.0125]]
          .map(([kind, name, unit, value]) => brief({kind, resource: 'cpu', statistic: {name, unit, value}})))""")
        self.assertEqual(harm, ['own cpu 320.0%', 'cpu 100.0%', 'own cpu 50.0%', 'cpu 2000000 %', 'cpu 1.2%'])
        numbers = self.browser.run("""import('/format.js').then(({bytes, cores, percent, seconds, amount}) => [bytes(1.125 * 2 ** 30), bytes(100.5 * 2 ** 20), bytes(101.5 * 2 ** 20),
          bytes(-1.125 * 2 ** 30), cores(0.0625), cores(0.1875), cores(1.0005), seconds(1.125), percent(0.0625), amount(10.5, 'x'), amount(11.5, 'x'), amount(12345678, 'x')])""")
        self.assertEqual(numbers, ['1.12Gi', '100Mi', '102Mi', '-1.12Gi', '0.062', '0.188', f'{1.0005:.3f}', '1.12s', '6.2%', '10 x', '12 x', '1.2e+07 x'])

    def test_a_link_on_a_page_of_another_site_opens_the_page(self):
        self.browser.open(f'data:text/html,<a id="link" href="{RUNNING.link}">koordctl ui</a>')
        self.browser.run("document.getElementById('link').click()")
        self.browser.wait_for(READY)
        RUNNING.link = RUNNING.next_link()
        self.browser.wait_for('document.getElementById("node-name").textContent === "page-node"')
        self.browser.addresses = [address for address in self.browser.addresses if not address.startswith('data:')]

    def test_ten_thousand_pods_are_shown_sorted_and_filtered(self):
        answer = json.loads(RECORDED['/api/v1/pods'])
        first = answer['pods'][0]
        answer['pods'] = [{**first, 'uid': f'u{i}', 'name': f'pod-{i:05}', 'values': {'pod_cpu_throttled': i / 10_000}} for i in range(10_000)]
        answer['containers'] = []
        RUNNING.frozen.instead['/api/v1/pods'] = json.dumps(answer).encode()
        self.show('pods')
        names = "[...document.querySelectorAll('main tbody th')].map((cell) => cell.firstChild.textContent)"
        shown = self.browser.run(names)
        self.assertEqual((len(shown), shown[0]), (10_000, f"{first['namespace']}/pod-09999"))
        self.browser.run("document.querySelector('main tbody').lastElementChild.scrollIntoView()")
        self.assertGreater(self.browser.run('window.scrollY'), 100_000)
        self.browser.run("const input = document.querySelector('input[type=search]'); input.value = 'pod-0123'; input.dispatchEvent(new Event('input'))")
        self.assertEqual(self.browser.run(names), [f"{first['namespace']}/pod-0123{i}" for i in range(9, -1, -1)])
        self.assertEqual(self.browser.run("document.querySelector('main [role=status]').textContent"), '10 of 10000 shown')

    def test_the_keyboard_reaches_all_controls_and_the_focus_follows_the_view(self):
        self.show('pods')
        focused = 'document.activeElement.id || document.activeElement.textContent'
        self.browser.run('document.activeElement.blur(); document.body.focus()')
        self.browser.open(f'http://{RUNNING.address}/#/pods')
        self.browser.send('Page.reload')
        self.browser.wait_for(READY)
        self.browser.press('Tab')
        self.assertEqual(self.browser.run(focused), 'skip')
        self.browser.press('Enter')
        self.assertEqual(self.browser.run(focused), 'main')
        self.browser.press('Tab')
        self.assertEqual(self.browser.run('document.activeElement.type'), 'search')
        for _ in range(4):
            self.browser.press('Tab')
        self.assertEqual(self.browser.run(focused), 'Harm')
        self.browser.press('Enter')
        self.assertEqual(self.browser.run("document.activeElement.closest('th').getAttribute('aria-sort')"), 'ascending')
        self.browser.run("document.querySelector('#views a[data-view=plugins]').click()")
        self.browser.wait_for("document.title.startsWith('Plugins')")
        self.assertEqual(self.browser.run('document.activeElement.tagName'), 'H1')
        self.assertEqual(self.browser.run("document.querySelector('[aria-current]').textContent"), 'Plugins')
        self.assertEqual(self.browser.run("[...document.querySelectorAll('table')].filter((table) => !table.caption?.textContent).length"), 0)

    def test_an_error_of_the_agent_is_shown_and_the_rows_stay(self):
        self.show('plugins')
        RUNNING.frozen.kept['/api/v1/plugins'] = 503, b'{"error": "the agent is starting"}'
        try:
            self.browser.wait_for("document.getElementById('problem').textContent === 'the agent is starting'")
            self.assertGreater(self.browser.run("document.querySelectorAll('main tbody tr').length"), 0)
        finally:
            del RUNNING.frozen.kept['/api/v1/plugins']
        self.browser.wait_for("document.getElementById('problem').hidden")
        self.browser.problems.clear()  # Chromium logs each 503


if __name__ == '__main__':
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    if result.skipped:
        print(f'SKIPPED: {result.skipped[0][1]}', file=sys.stderr)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
