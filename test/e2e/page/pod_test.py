#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""koordctl ui --pod with a real agent and a kubectl that is a script: it runs the real koordctl, or behaves badly.

usage: pod_test.py BUILD
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from frozen_agent import ask
from running import PATIENCE_S, next_link, received, start_agent, until

BUILD = pathlib.Path(sys.argv[1])
KOORDCTL = BUILD / 'core/ctl/koordctl'
POD = 'koordinator-system/koordetector-x7k2p'

# `mode` sets what this kubectl does. `kubectls` has one line for each run: its process id and its arguments.
KUBECTL = '''#!/bin/sh
echo "$$ $*" >> '{folder}/kubectls'
case "$(cat '{folder}/mode')" in
  garbage) echo 'Unable to use a TTY - input is not a terminal' ; exec sleep 1000 ;;
  endless) exec cat /dev/zero ;;
  loud) yes 'W1126 warning' >&2 & ;;
  hang) exec sleep 1000 ;;
  refuse) echo 'Error from server (NotFound): pods "koordetector-x7k2p" not found' >&2 ; exit 1 ;;
esac
while [ "$1" != -- ]; do shift; done
shift 2
exec '{koordctl}' "$@"
'''


class Installation:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='koord-test-ui-', dir=BUILD / 'test'))
        self.socket, self.database = f'{self.folder}/agent.sock', f'{self.folder}/metrics.db'
        config = self.folder / 'koordetector.yaml'
        config.write_text(f'''nodeName: page-node
listen: {{metrics: "", socket: "{self.socket}"}}
store: {{path: "{self.database}"}}
plugins: {{childProgram: "{BUILD}/core/plugin_host/koord-plugin-host", ownDirectories: [], directories: []}}
state: {{source: cgroup}}
predict: {{directory: "{self.folder}/predictions"}}
qos: {{directory: "{self.folder}/qos"}}
''')
        (self.folder / 'bin').mkdir()
        kubectl = self.folder / 'bin/kubectl'
        kubectl.write_text(KUBECTL.format(folder=self.folder, koordctl=KOORDCTL))
        kubectl.chmod(0o755)
        self.behave('well')
        self.agent = start_agent(BUILD, config, self.folder / 'log')
        until(lambda: ask(self.socket, '/readyz')[0] == 200, lambda: (self.folder / 'log').read_text()[-2000:])

    def behave(self, mode):
        (self.folder / 'mode').write_text(mode)
        (self.folder / 'kubectls').write_text('')

    def kubectls(self):
        return [line.split(' ', 1) for line in (self.folder / 'kubectls').read_text().splitlines()]

    def running_kubectls(self):
        return [pid for pid, _ in self.kubectls() if is_running(pid)]

    def environment(self):
        return {**os.environ, 'PATH': f"{self.folder}/bin:{os.environ['PATH']}"}

    def command(self, *options):
        return [KOORDCTL, 'ui', '--pod', POD, '--socket', self.socket, '--db', self.database, *options]

    def koordctl(self, *words):
        words += ('--db', self.database) if words[0] == 'sql' else ('--socket', self.socket)
        return json.loads(subprocess.run([KOORDCTL, *words, '-o', 'json'], capture_output=True, check=True, text=True).stdout)

    def close(self):
        self.agent.send_signal(signal.SIGTERM)
        self.agent.wait(60)
        shutil.rmtree(self.folder)


def is_running(pid):
    try:
        return ') Z ' not in pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return False


class Viewer:
    """koordctl ui --pod with a signed-in client."""

    def __init__(self, installation):
        self.process = subprocess.Popen(installation.command(), stdout=subprocess.PIPE, text=True, env=installation.environment())
        link = urllib.parse.urlsplit(next_link(self.process))
        self.address, self.cookie = link.netloc, None
        _, headers, _ = self.request(f'/?{link.query}')
        self.cookie = headers['Set-Cookie'].split(';')[0]

    def request(self, target):
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_S)
        connection.request('GET', target, headers={'Cookie': self.cookie} if self.cookie else {})
        return received(connection)

    def get(self, target):
        status, _, body = self.request(target)
        return status, json.loads(body)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        return self.process.returncode


RUNNING = None


def setUpModule():
    global RUNNING
    RUNNING = Installation()


def tearDownModule():
    RUNNING.close()


class WithViewer(unittest.TestCase):
    def setUp(self):
        RUNNING.behave('well')
        self.viewer = Viewer(RUNNING)

    def tearDown(self):
        self.viewer.close()
        self.assertEqual(RUNNING.running_kubectls(), [])

    def end_kubectls(self):
        for pid in RUNNING.running_kubectls():
            os.kill(int(pid), signal.SIGKILL)

    def test_answers_are_those_of_koordctl_beside_the_agent(self):
        for what in ('plugins', 'features', 'capabilities', 'decisions'):
            self.assertEqual(self.viewer.get(f'/api/v1/{what}'), (200, RUNNING.koordctl(what)), what)
        statement = 'SELECT name FROM sqlite_master ORDER BY name'
        self.assertEqual(self.viewer.get('/sql?query=' + urllib.parse.quote(statement)), (200, RUNNING.koordctl('sql', statement)))
        status, answer = self.viewer.get('/sql?query=SELECT%20no_such_column')
        self.assertEqual(status, 400)
        self.assertTrue(answer['error'].startswith('no such column'), answer)

    def test_many_requests_at_once_share_four_kubectls(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.viewer.get('/api/v1/features'), range(200)))
        self.assertEqual(answers, [(200, RUNNING.koordctl('features'))] * 200)
        self.assertLessEqual(len(RUNNING.kubectls()), 4)

    def test_kubectls_that_die_are_replaced(self):
        for _ in range(3):
            self.end_kubectls()
            self.assertEqual(self.viewer.get('/api/v1/features')[0], 200)

    def test_garbage_is_an_error_and_the_page_stays(self):
        for mode, text in (('garbage', 'no answer of an agent'), ('endless', 'no answer of an agent'),
                           ('refuse', 'Error from server (NotFound): pods "koordetector-x7k2p" not found')):
            self.end_kubectls()
            RUNNING.behave(mode)
            status, answer = self.viewer.get('/api/v1/features')
            self.assertEqual(status, 502, mode)
            self.assertIn(text, answer['error'])
            self.assertIn(f"in pod '{POD}'", answer['error'])
            self.assertEqual(self.viewer.request('/main.js')[0], 200)
        RUNNING.behave('well')
        self.assertEqual(self.viewer.get('/api/v1/features')[0], 200)

    def test_a_kubectl_that_complains_without_end_still_serves(self):
        self.end_kubectls()
        RUNNING.behave('loud')
        for _ in range(5):
            self.assertEqual(self.viewer.get('/api/v1/features')[0], 200)

    def test_a_kubectl_that_hangs_holds_up_neither_the_page_nor_its_end(self):
        self.end_kubectls()
        RUNNING.behave('hang')
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(self.viewer.request, '/api/v1/features') for _ in range(8)]
            until(lambda: len(RUNNING.kubectls()) == 4)
            for target in ('/', '/main.js', '/sql.js'):
                self.assertEqual(self.viewer.request(target)[0], 200)
            self.assertFalse(any(one.done() for one in asked))
            self.assertEqual(self.viewer.close(), 0)
            for one in asked:
                self.assertTrue(one.exception(PATIENCE_S) or one.result()[0] == 502)

    def test_a_kubectl_that_is_stopped_ends_with_the_viewer(self):
        self.assertEqual(self.viewer.get('/api/v1/features')[0], 200)
        for pid in RUNNING.running_kubectls():
            os.kill(int(pid), signal.SIGSTOP)  # like a lost network
        pids = RUNNING.running_kubectls()
        self.viewer.close()
        self.assertEqual([pid for pid in pids if is_running(pid)], [])


class CommandLine(unittest.TestCase):
    def fails(self, command, environment=None):
        done = subprocess.run(command, capture_output=True, text=True, env=environment or RUNNING.environment(), timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        return done.stderr

    def test_a_wrong_pod_is_an_error_before_there_is_a_link(self):
        RUNNING.behave('refuse')
        self.assertIn('pods "koordetector-x7k2p" not found', self.fails(RUNNING.command()))

    def test_ctrl_c_before_there_is_a_link_ends_kubectl(self):
        RUNNING.behave('hang')
        viewer = subprocess.Popen(RUNNING.command(), stdout=subprocess.PIPE, text=True, env=RUNNING.environment())
        until(lambda: RUNNING.running_kubectls(), lambda: 'no kubectl was started')
        viewer.send_signal(signal.SIGINT)
        self.assertEqual(viewer.communicate(timeout=PATIENCE_S)[0], '')
        self.assertEqual(viewer.returncode, 0)
        self.assertEqual(RUNNING.running_kubectls(), [])

    def test_a_pod_without_an_agent_is_an_error_with_the_socket(self):
        RUNNING.behave('well')
        self.assertIn("cannot connect to the agent's socket '/nonexistent.sock': No such file or directory",
                      self.fails([KOORDCTL, 'ui', '--pod', POD, '--socket', '/nonexistent.sock']))

    def test_without_kubectl_the_error_names_path_and_option(self):
        error = self.fails(RUNNING.command(), {**os.environ, 'PATH': str(RUNNING.folder)})
        self.assertIn("cannot run 'kubectl': No such file or directory; --pod needs kubectl in PATH or --kubectl PROGRAM", error)
        self.assertIn("cannot run '/nonexistent/kubectl'", self.fails(RUNNING.command('--kubectl', '/nonexistent/kubectl')))

    def test_what_is_no_pod_starts_no_kubectl(self):
        RUNNING.behave('well')
        for pod in ('koordetector-x7k2p', '--all/x', 'a/--kubeconfig=/tmp/x', 'a/b/c', '/'):
            self.assertIn('is not a pod, expected NAMESPACE/NAME', self.fails([KOORDCTL, 'ui', f'--pod={pod}']))
        self.assertIn('--context needs --pod', self.fails([KOORDCTL, 'ui', '--context', 'x']))
        self.assertEqual(RUNNING.kubectls(), [])

    def test_the_context_is_passed_on(self):
        RUNNING.behave('refuse')
        self.fails(RUNNING.command('--context', 'other'))
        self.assertIn('exec --namespace=koordinator-system --context=other --stdin koordetector-x7k2p -- koordctl proxy-stdio', RUNNING.kubectls()[0][1])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
