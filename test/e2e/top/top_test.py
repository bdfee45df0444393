#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interactive `koordctl top` on a pseudo-terminal, with an agent that gives the test's answers.

usage: top_test.py KOORDCTL
"""
import json
import os
import pathlib
import signal
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'page'))
from frozen_agent import FrozenAgent  # noqa: E402
from screen import Screen  # noqa: E402

KOORDCTL = sys.argv[1]
HOSTILE = 'evil\x1b]0;x\x07\x1b[2J\u009b2J'


def pod(name, cores, bytes_of_memory, container='app'):
    namespace, short = name.split('/')
    return {'namespace': namespace, 'name': short, 'qosClass': 'LS', 'values': {'pod_cpu_usage': cores, 'pod_memory_usage': bytes_of_memory},
            'containers': [{'name': container, 'kind': 'regular', 'values': {'container_cpu_usage': cores, 'container_memory_usage': bytes_of_memory}}]}


class Top(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='koord-test-')
        self.socket = self.folder.name + '/agent.sock'
        self.begin_agent()
        self.screens = []

    def begin_agent(self):
        self.agent = FrozenAgent(self.socket, '')
        self.agent.instead = {
            '/api/v1/node': json.dumps({'name': 'n1', 'time': 1700000000, 'cpus': [{'cpu': 0, 'online': True}], 'values': {'node_cpu_usage': 1}}).encode(),
            '/api/v1/pods': b'{}',
            '/api/v1/interference': json.dumps({'verdicts': [{
                'state': 'standing', 'kind': 'interfered', 'resource': 'cpu', 'victim': {'name': 'shop/cart/app'}, 'since': 1700000000,
                'statistic': {'name': 'held_up', 'unit': 'ratio', 'value': 0.042}}]}).encode(),
            '/api/v1/why': lambda _: (404, b'{"error": "no strategy manages this pod"}'),
        }
        self.show_pods(pod('batch/etl', 2, 1024), pod('shop/cart', 0.5, 4096), pod('kube-system/idle', 0, 8192))

    def show_pods(self, *pods):
        self.agent.instead['/api/v1/pods'] = json.dumps({'pods': pods, 'containers': []}).encode()

    def end_agent(self):
        self.agent.shutdown()
        self.agent.server_close()
        os.unlink(self.socket)

    def tearDown(self):
        for screen in self.screens:
            screen.close()
        self.agent.shutdown()
        self.agent.server_close()
        self.folder.cleanup()

    def top(self, *options, **settings):
        screen = Screen([KOORDCTL, 'top', '--socket', self.socket, '--interval', '200ms', *options], **settings)
        self.screens.append(screen)
        return screen

    @staticmethod
    def rows(text):
        return [line.split()[1] for line in text.splitlines() if line.startswith(('pod ', 'container '))]

    def test_letters_sort_and_idle_rows_are_folded(self):
        screen = self.top()
        screen.wait_for('by harm')
        screen.wait_for('2 idle ones folded')
        self.assertEqual(self.rows(screen.text())[:2], ['shop/cart', 'shop/cart/app'])
        screen.type('c')
        screen.wait_for(lambda text: 'by cpu' in text and self.rows(text)[:1] == ['batch/etl'])
        screen.type('m')
        screen.wait_for(lambda text: 'by memory' in text and self.rows(text)[:1] == ['kube-system/idle'])
        screen.type('c')
        screen.wait_for(lambda text: self.rows(text) == ['batch/etl', 'batch/etl/app', 'shop/cart', 'shop/cart/app'])
        screen.type('i')
        screen.wait_for(lambda text: len(self.rows(text)) == 6)

    def test_a_filter_and_its_end(self):
        screen = self.top()
        screen.wait_for('by harm')
        screen.type('/CART')
        screen.wait_for(lambda text: 'filter: CART_' in text and self.rows(text) == ['shop/cart', 'shop/cart/app'])
        screen.type('\r')
        screen.wait_for('filter: CART (Esc clears)')
        screen.type('\x1b')
        screen.wait_for(lambda text: 'filter' not in text.splitlines()[-2] and len(self.rows(text)) == 4)

    def test_pause_keeps_the_figures(self):
        screen = self.top()
        screen.wait_for('2.000')
        screen.type(' ')
        screen.wait_for('PAUSED')
        self.show_pods(pod('batch/etl', 3.25, 1024))
        asked, node = [], json.dumps({'name': 'n1', 'time': 1700000000, 'cpus': [], 'values': {}}).encode()
        self.agent.instead['/api/v1/node'] = lambda _: (asked.append(1), (200, node))[1]
        screen.wait_for(lambda _: len(asked) >= 3)
        self.assertIn('2.000', screen.text())
        screen.type(' ')
        screen.wait_for(lambda text: '3.250' in text and 'PAUSED' not in text)

    def test_arrows_select_and_enter_shows_the_detail(self):
        screen = self.top()
        screen.wait_for('by harm')
        screen.type('\x1bOB\r')  # the key "down"
        screen.wait_for('container shop/cart/app')
        screen.wait_for('INTERFERED')
        screen.wait_for('no strategy manages this pod')
        screen.type('\x1b')
        screen.wait_for('by harm')

    def test_q_ends_it_and_the_terminal_is_as_before(self):
        screen = self.top()
        screen.wait_for('by harm')
        screen.type('q')
        self.assertEqual(screen.wait_for_end(), 0)
        after = termios.tcgetattr(screen.master)
        fresh = os.openpty()
        before = termios.tcgetattr(fresh[1])
        for descriptor in fresh:
            os.close(descriptor)
        self.assertEqual(after[:4], before[:4])

    def test_signals_end_it_well(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            screen = self.top()
            screen.wait_for('by harm')
            os.kill(screen.pid, number)
            self.assertEqual(screen.wait_for_end(), 0)
        screen = self.top()
        screen.wait_for('by harm')
        screen.type('\x03')
        self.assertEqual(screen.wait_for_end(), 0)

    def test_an_agent_that_ends_and_comes_back(self):
        screen = self.top()
        screen.wait_for('by harm')
        self.end_agent()
        screen.wait_for('the agent does not answer')
        self.assertEqual(len(self.rows(screen.text())), 4)
        self.begin_agent()
        screen.wait_for(lambda text: 'does not answer' not in text)

    def test_an_agent_that_hangs_leaves_the_keys_alive(self):
        screen = self.top()
        screen.wait_for('by harm')
        release = []
        self.agent.instead['/api/v1/node'] = lambda _: hang(release)
        screen.type('c')
        screen.wait_for('by cpu')
        screen.type('n')
        screen.wait_for('by name')
        screen.type('q')
        self.assertEqual(screen.wait_for_end(), 0)
        release.append(True)

    def test_no_name_reaches_the_terminal_as_a_command(self):
        self.show_pods(pod('shop/' + HOSTILE, 1, 1, container=HOSTILE))
        screen = self.top()
        screen.wait_for('shop/evil?]0;x??[2J')
        screen.type('\r')
        screen.wait_for('pod shop/evil?')
        self.assertNotIn(b'\x1b]0;', screen.raw)
        self.assertNotIn('\u009b'.encode(), screen.raw)

    def test_any_size_and_a_change_of_it(self):
        screen = self.top()
        screen.wait_for('by harm')
        for width, lines in ((1, 1), (2, 5), (200, 3), (10, 60), (300, 100), (80, 24)):
            screen.resize(width, lines)
            screen.type('\x1bOB\x1bOA')
        screen.wait_for('by harm')

    def test_a_terminal_that_is_gone_ends_it(self):
        screen = self.top()
        screen.wait_for('by harm')
        os.close(screen.master)
        screen.master = None
        self.assertEqual(screen.wait_for_end(), 0)

    def test_an_unknown_terminal_gets_a_table_that_refreshes(self):
        screen = self.top(terminal='koord-test-none')
        screen.wait_for('shop/cart/app')
        screen.type('\x03')
        self.assertEqual(screen.wait_for_end(), 0)

    def test_without_an_agent_it_is_an_error(self):
        self.end_agent()
        screen = self.top()
        self.assertEqual(screen.wait_for_end(), 1)
        self.assertIn(b'the agent does not answer', screen.raw)
        self.begin_agent()


def hang(release):
    while not release:
        time.sleep(0.01)
    return 503, b'{"error": "late"}'


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
