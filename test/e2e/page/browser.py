# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by the DevTools protocol over two pipes."""
import base64
import json
import os
import re
import shutil
import subprocess
import time

PATIENCE_S = 60
KEYS = {'Tab': 9, 'Enter': 13}


def chromium():
    return shutil.which('chromium') or shutil.which('chromium-browser')


class Browser:
    """One page. `problems`: console errors and uncaught exceptions; `addresses`: each URL that was requested."""

    def __init__(self, profile):
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def take_pipes():  # the protocol uses descriptors 3 and 4
            os.dup2(to_browser, 30)
            os.dup2(from_browser, 31)
            os.dup2(30, 3)
            os.dup2(31, 4)

        self.process = subprocess.Popen(
            [chromium(), '--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run',
             '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
             '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', f'--user-data-dir={profile}', 'about:blank'],
            preexec_fn=take_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.bytes, self.number, self.session = b'', 0, None
        self.problems, self.addresses = [], []
        target = self.send('Target.createTarget', url='about:blank')['targetId']
        self.session = self.send('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.send(f'{domain}.enable')

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)

    def next_message(self):
        while b'\0' not in self.bytes:
            part = os.read(self.from_browser, 1 << 20)
            if not part:
                raise RuntimeError('chromium has ended')
            self.bytes += part
        text, self.bytes = self.bytes.split(b'\0', 1)
        return json.loads(text)

    def note(self, message):
        method, parameters = message.get('method'), message.get('params', {})
        if method == 'Network.requestWillBeSent':
            self.addresses.append(parameters['request']['url'])
        elif method == 'Runtime.exceptionThrown':
            self.problems.append(json.dumps(parameters['exceptionDetails'])[:600])
        elif method == 'Log.entryAdded' and parameters['entry']['level'] in ('error', 'warning'):
            self.problems.append(parameters['entry']['text'] + ' ' + parameters['entry'].get('url', ''))
        elif method == 'Runtime.consoleAPICalled' and parameters['type'] in ('error', 'warning', 'assert'):
            self.problems.append(json.dumps(parameters['args'])[:600])

    def send(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.next_message()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer['result']
            self.note(answer)

    def run(self, script):
        """Returns the value of an expression in the page. Waits for it if it is a promise."""
        result = self.send('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(json.dumps(result['exceptionDetails'])[:600])
        return result['result'].get('value')

    def is_true(self, script):
        try:
            return self.run(script)
        except RuntimeError as error:
            if re.search('navigated|context', str(error)):  # the browser is loading a new page
                return False
            raise

    def wait_for(self, script):
        deadline = time.monotonic() + PATIENCE_S
        while not self.is_true(script):
            if time.monotonic() > deadline:
                raise RuntimeError(f'not true within {PATIENCE_S} s: {script}; the page shows: {self.run("document.body.innerText")[:800]}')
            time.sleep(0.05)

    def open(self, address):
        self.send('Page.navigate', url=address)
        self.wait_for('document.readyState === "complete"')

    def press(self, key):
        for kind in ('keyDown', 'keyUp'):
            text = {'text': '\r'} if key == 'Enter' and kind == 'keyDown' else {}
            self.send('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key], **text)

    def look_like(self, width, height, scheme):
        self.send('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.run('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))')

    def screenshot(self, path, height=2400):
        size = self.send('Page.getLayoutMetrics')['cssContentSize']
        clip = {'x': 0, 'y': 0, 'width': size['width'], 'height': min(size['height'], height), 'scale': 1}
        path.write_bytes(base64.b64decode(self.send('Page.captureScreenshot', format='png', captureBeyondViewport=True, clip=clip)['data']))
