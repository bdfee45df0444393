#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time that koord-cri-proxy adds to a call which no hook is asked about, and its memory: the same calls directly to
a gRPC server of the benchmark's own and through the proxy, each pair in random order.

usage: cri_proxy_latency.py FOLDER PROGRAM [PAIRS]

FOLDER keeps the packages, PROGRAM is koord-cri-proxy. 2,000 pairs by default. Ends with 77 where gRPC's Python is
unavailable, and prints the reason. The targets are for a quiet machine.
"""
import os
import pathlib
import random
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import packages  # noqa: E402

UNPACKED = 'KOORD_TEST_UNPACKED'  # the root of the packages
MOST_P99_MS, MOST_RSS_MIB = 1, 20
WARM_UP = 100
BODY = b'x' * 2000  # the size of an answer to ContainerStatus


def run_again_on_unpacked_python():
    """Runs this file with the unpacked Python, which has gRPC."""
    try:
        packages.check_available()
        root = packages.unpack(sys.argv[1], packages.CONTAINERD)
    except packages.Unavailable as error:
        print(f'skipped: {error}')
        sys.exit(77)
    command, environment = packages.python_command(root, pathlib.Path(__file__).parent)
    os.execve(command[0], command + sys.argv, environment | {UNPACKED: str(root)})


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def milliseconds_of(call):
    begin = time.perf_counter()
    if call(BODY, timeout=60) != BODY:
        raise AssertionError('another answer')
    return (time.perf_counter() - begin) * 1000


def main(pairs):
    with tempfile.TemporaryDirectory(prefix='koord-test-') as folder:
        runtime = folder + '/runtime.sock'
        server = cri_proxy.serve(runtime, lambda _: grpc.unary_unary_rpc_method_handler(lambda request, _: request))
        proxy = cri_proxy.Proxy(sys.argv[2], folder, runtime).start().wait()
        try:
            calls = {name: cri_proxy.channel_to(path).unary_unary('/runtime.v1.RuntimeService/Version')
                     for name, path in (('ours', proxy.socket), ('bare', runtime))}
            times = {name: [] for name in calls}
            for number in range(WARM_UP + pairs):
                for name in random.sample(sorted(calls), 2):
                    taken = milliseconds_of(calls[name])
                    if number >= WARM_UP:
                        times[name].append(taken)
            status = pathlib.Path(f'/proc/{proxy.process.pid}/status').read_text()
        finally:
            proxy.stop()
            server.stop(None)
    for name, part, target in (('median', 0.5, ''), ('p99', 0.99, f'  target <= {MOST_P99_MS} ms added')):
        ours, bare = quantile(times['ours'], part), quantile(times['bare'], part)
        print(f'NR4 a call through koord-cri-proxy, {name:6}  ours {ours:7.3f} ms  directly {bare:7.3f} ms  '
              f'ratio {ours / bare:5.2f}  added {ours - bare:6.3f} ms{target}')
    words = dict(line.split(':', 1) for line in status.splitlines())
    rss, own = (int(words[name].split()[0]) / 1024 for name in ('VmRSS', 'RssAnon'))
    print(f'NR4 memory of koord-cri-proxy  resident {rss:5.1f} MiB, of that its own {own:5.1f} MiB  target <= {MOST_RSS_MIB} MiB')


if __name__ == '__main__':
    if UNPACKED not in os.environ:
        run_again_on_unpacked_python()
    import grpc

    import cri_proxy
    numbers = [int(word) for word in sys.argv[3:]]
    main(numbers[0] if numbers else 2000)
