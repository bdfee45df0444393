# SPDX-License-Identifier: Apache-2.0
"""Exec and port-forward with CRI calls through koord-cri-proxy, until their streams end."""
import pathlib

import containerd
import cri_case
import cri_proxy
import cri_streams

LISTENING = '0A'


class StreamsThroughTheProxy(cri_case.ProxyCase):
    def streams(self, url, query=''):
        streams = cri_streams.Streams(url, query)
        self.addCleanup(streams.close)
        return streams

    @staticmethod
    def await_listening(port):
        def listens():
            lines = [line.split() for line in pathlib.Path('/proc/net/tcp').read_text().splitlines()[1:]]
            return any(line[1].endswith(f':{port:04X}') and line[3] == LISTENING for line in lines)
        containerd.eventually(listens, f'port {port} has a listener')

    def test_exec_has_its_streams_and_its_exit_status(self):
        container = self.run_container(self.run_pod('exec')[0])
        url = self.cri.call('Exec', container_id=container, cmd=['sh', '-c', 'read word; echo got $word; echo no >&2; exit 3'],
                            stdin=True, stdout=True, stderr=True)['url']
        streams = self.streams(url)
        streams.send(0, b'this\n')
        seen = {}
        for stream, data in streams:
            seen[stream] = seen.get(stream, b'') + data
        self.assertEqual((seen[1], seen[2]), (b'got this\n', b'no\n'))
        self.assertIn(b'"3"', seen[3])  # the exit status

    def test_a_forwarded_port_reaches_the_program_in_the_pod(self):
        pod, _ = self.run_pod('forwarded')
        port = cri_proxy.free_port()
        serve = f'echo from the pod >/tmp/page; exec httpd -f -p 127.0.0.1:{port} -h /tmp'
        self.cri.start(self.cri.create_container(pod, 'main', {'cpu_shares': 512}, command=['sh', '-c', serve]))
        self.await_listening(port)
        streams = self.streams(self.cri.call('PortForward', pod_sandbox_id=pod, port=[port])['url'], f'port={port}')
        streams.send(0, b'GET /page HTTP/1.0\r\n\r\n')
        begin, seen = port.to_bytes(2, 'little'), {}
        for stream, data in streams:
            seen[stream] = seen.get(stream, b'') + data
            if seen.get(0, b'').endswith(b'from the pod\n'):
                break
        self.assertTrue(seen[0].startswith(begin + b'HTTP/1.'), seen)
        self.assertIn(b' 200 ', seen[0])
        self.assertEqual(seen.get(1, begin), begin)  # no error
