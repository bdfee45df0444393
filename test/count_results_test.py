#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of count_results.py and failed_tests.py with result files as meson writes them."""
import contextlib
import io
import json
import os
import pathlib
import tempfile
import sys
import unittest

sys.dont_write_bytecode = True
import count_results  # noqa: E402
import failed_tests  # noqa: E402


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.results = self.top / 'results'
        self.results.touch()

    def ran(self, build, phase, **tests):
        path = self.top / build / 'meson-logs' / f'{phase}.json'
        os.makedirs(path.parent, exist_ok=True)
        path.write_text(''.join(json.dumps({'name': f'koordetector:e2e / {name}', 'result': result, 'duration': 1.0}) + '\n'
                                for name, result in tests.items()))
        with self.results.open('a') as results:
            results.write(f'{path}\n')

    def counted(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = count_results.main(self.results, '/dev/null')
        return output.getvalue().splitlines(), status

    def failed(self, most):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            failed_tests.main(self.results, str(self.top / 'build'), most)
        return output.getvalue().split()

    def test_a_failed_test_counts_and_makes_the_status_1(self):
        self.ran('build', 'test-one-by-one', a='OK', b='FAIL', c='SKIP')
        lines, status = self.counted()
        self.assertEqual((lines[-1], status), ('1 passed, 1 failed, 1 skipped', 1))

    def test_a_failed_test_that_passes_alone_is_shown_as_unsteady_and_counts_as_passed(self):
        self.ran('build', 'test-in-parallel', a='FAIL', b='TIMEOUT')
        self.ran('build', 'test-again', a='OK', b='FAIL')
        lines, status = self.counted()
        self.assertEqual((lines[-1], status), ('1 passed, 1 failed', 1))
        self.assertIn('--- UNSTEADY, passed when it ran again: koordetector:e2e / a (1.0 s)', lines)

    def test_of_a_failed_test_the_end_of_each_output_is_shown_and_before_it_the_errors(self):
        noise = [f'line {i}' for i in range(200)]
        output = {'stdout': '\n'.join(['a_test.cpp:7: ERROR: CHECK( a == b )', *noise]), 'stderr': '\n'.join(noise)}
        self.ran('build', 'test-in-parallel', a='FAIL')
        path = self.top / 'build' / 'meson-logs' / 'test-in-parallel.json'
        path.write_text(json.dumps(json.loads(path.read_text()) | output) + '\n')
        lines = self.counted()[0]
        shown = [line.strip() for line in lines[1:lines.index('')]]
        self.assertEqual(shown[:2], ['a_test.cpp:7: ERROR: CHECK( a == b )', 'line 140'])
        self.assertEqual((len(shown), shown[60:62]), (81, ['line 199', 'line 180']))

    def test_a_finding_of_a_sanitizer_counts_whatever_the_gcc_build_says(self):
        self.ran('build', 'test-in-parallel', a='FAIL')
        self.ran('build-asan', 'unit-tests-with-asan', a='FAIL')
        self.ran('build', 'test-again', a='OK')
        self.assertEqual(self.counted()[0][-1], '1 passed, 1 failed')

    def test_a_build_that_fails_is_one_failure(self):
        self.ran('build', 'test-in-parallel', a='OK')
        with self.results.open('a') as results:
            results.write('-compile build-asan\n')
        self.assertEqual(self.counted()[0][-1], '1 passed, 1 failed')

    def test_failed_tests_of_one_build_are_named_if_they_are_few(self):
        self.ran('build', 'test-in-parallel', a='FAIL', b='OK', c='TIMEOUT')
        self.ran('build-tsan', 'threads-tests-with-tsan', d='FAIL')
        self.assertEqual(self.failed(2), ['a', 'c'])
        self.assertEqual(self.failed(1), [])


if __name__ == '__main__':
    unittest.main()
