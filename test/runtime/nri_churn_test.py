# SPDX-License-Identifier: Apache-2.0
"""Kills of the runtime and of the agent while pods are created and removed: no pod fails because of the agent, each container
gets its values, and the runtime has one connection. KOORD_CHURN_KILLS: kills in each test, 3 by default."""
import os
import pathlib
import re
import threading
import time

import grpc

import agent_case
import containerd
import cri
from nri_reconcile_test import batch

KILLS = int(os.environ.get('KOORD_CHURN_KILLS', '3'))
PERIOD = 1  # seconds between two pods
MOST_PODS = 8  # maximum at the same time
PODS_OF_A_KILL = 3  # pods created between two kills


class Churn:
    """Runs a pod each second, as a kubelet does, and lists the pods for the agent. A failed call is repeated for a new pod. So a
    runtime that is down, or has files damaged by a kill, only delays a pod; an error that names hooks or NRI is a failure.
    Removes the oldest pods."""

    def __init__(self, agent):
        self.agent, self.pods, self.lock = agent, [], threading.RLock()
        self.cri = cri.Cri(agent_case.runtime.socket)  # a separate client, which reconnects by itself
        self.made, self.retries, self.failures, self.ends = 0, 0, [], threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends.is_set():
            begin = time.monotonic()
            try:
                self.add()
                self.remove_oldest()
            except Exception as error:  # the test reports it
                self.failures.append(repr(error))
            self.ends.wait(max(0.0, begin + PERIOD - time.monotonic()))

    def add(self):
        pod, end = batch(f'churn-{self.made}'), time.monotonic() + containerd.LIMIT
        while not self.ends.is_set():
            try:
                pod.run(self.cri)
                break
            except grpc.RpcError as error:
                if is_of_the_agent(error) or time.monotonic() > end:
                    raise
                print('again:', error.code(), error.details()[:200])
                self.retries += 1
                self.ends.wait(0.2)
                pod = batch(f'churn-{self.made}-again-{self.retries}')  # the earlier name is still reserved
        else:
            return
        with self.lock:
            self.pods.append(pod)
            self.made += 1
            self.show()

    def show(self):
        self.agent.show([pod.object() for pod in self.pods])

    def remove_oldest(self):
        with self.lock:
            if len(self.pods) <= MOST_PODS:
                return
            oldest = self.pods.pop(0)
            self.show()
        try:
            self.cri.remove_pod(oldest.name)
        except grpc.RpcError as error:
            if is_of_the_agent(error):
                raise

    def await_pods(self, more):
        wanted = self.made + more
        containerd.eventually(lambda: self.made >= wanted or self.failures, f'{more} more pods')

    def stop(self):
        self.ends.set()
        self.thread.join()


def is_of_the_agent(error):
    return re.search(r'koordetector|hook-|\bNRI\b', error.details()) is not None


def connections():
    """Returns the accepted connections to the runtime's NRI socket."""
    lines = [line.split() for line in pathlib.Path('/proc/net/unix').read_text().splitlines()]
    connected = '03'
    return sum(1 for line in lines if line[-1] == str(agent_case.runtime.nri_socket) and line[5] == connected)


class ChurnTest(agent_case.AgentCase):
    def churn(self, agent):
        churn = Churn(agent)
        self.addCleanup(churn.stop)
        churn.await_pods(2)
        return churn

    def wrong(self, pods):
        wrong = []
        for pod in pods:
            files = agent_case.files_of_cgroup(pod.parent, pod.container)
            values = self.values(pod.parent, pod.container)
            if values != self.adjusted(files):
                wrong.append(f'{pod.name}: {values}')
        return wrong

    def check_all(self, churn, agent, kill):
        """Checks all current containers, also those that were created while the runtime could not ask the agent."""
        with churn.lock:
            pods = list(churn.pods)
            containerd.eventually(lambda: not self.wrong(pods), f'after kill {kill} all are right: {self.wrong(pods)}')
        self.assertEqual(churn.failures, [])
        containerd.eventually(lambda: connections() == 1, f'after kill {kill} there is one connection: {connections()}')
        self.assertIsNone(agent.process.poll())

    def finish(self, churn, agent):
        churn.stop()
        self.assertEqual(churn.failures, [])
        self.assertEqual(self.wrong(churn.pods), [])
        print(f'{KILLS} kills, {churn.made} pods, {churn.retries} calls made again')
        agent.stop()
        left = [pod.name for pod in churn.pods
                if self.values(pod.parent, pod.container) != self.plain(agent_case.files_of_cgroup(pod.parent, pod.container))]
        self.assertEqual(left, [])

    def test_kills_of_containerd_under_churn_fail_no_pod_and_leave_no_container_wrong(self):
        agent = self.agent()
        agent.await_log('hook-batch-resource is running')
        churn = self.churn(agent)
        for kill in range(KILLS):
            agent_case.runtime.kill()
            agent_case.runtime.start()
            agent.await_connection(kill + 2)
            churn.await_pods(PODS_OF_A_KILL)
            self.check_all(churn, agent, kill)
        self.assertEqual(agent.log().count('connected to containerd'), KILLS + 1)
        self.finish(churn, agent)

    def test_kills_of_the_agent_under_churn_fail_no_pod_and_leave_no_container_wrong(self):
        agent = self.agent()
        agent.await_log('hook-batch-resource is running')
        churn = self.churn(agent)
        for kill in range(KILLS):
            agent.kill()
            churn.await_pods(1)  # while no agent runs
            agent.start()
            agent.await_connection(kill + 2)
            churn.await_pods(PODS_OF_A_KILL)
            self.check_all(churn, agent, kill)
        self.finish(churn, agent)
