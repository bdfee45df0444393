#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/CHANGELOG.md has a section of this version, with the version of the plugin ABI, and its links lead somewhere.

usage: changelog_test.py TREE VERSION    unittest's output
"""
import pathlib
import re
import sys
import unittest

TREE, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2]
FOLDER = TREE / 'packaging'
TEXT = (FOLDER / 'CHANGELOG.md').read_text(encoding='utf-8')


def anchors_of(path):
    titles = re.findall(r'^#+ (.*)', path.read_text(encoding='utf-8'), re.M)
    return {re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-') for title in titles}


class Changelog(unittest.TestCase):
    def test_the_first_section_is_of_this_version(self):
        self.assertEqual(re.findall(r'^## (.*)', TEXT, re.M)[0], VERSION)

    def test_the_versions_fall(self):
        versions = [tuple(map(int, version.split('.'))) for version in re.findall(r'^## (.*)', TEXT, re.M)]
        self.assertEqual(versions, sorted(set(versions), reverse=True))

    def test_each_section_names_its_abi_and_the_first_that_of_the_header(self):
        header = (TREE / 'plugin-api/include/koordetector/plugin.h').read_text(encoding='utf-8')
        named = [re.search(r'Plugin ABI (\d+\.\d+)', section) for section in TEXT.split('\n## ')[1:]]
        self.assertTrue(all(named))
        self.assertEqual(named[0][1], re.search(r'#define KOORD_ABI_TEXT "(.*)"', header)[1])

    def test_the_links_lead_to_files_and_their_sections(self):
        for path, _, anchor in (link.partition('#') for link in re.findall(r'\]\(([^)]+)\)', TEXT)):
            self.assertTrue((FOLDER / path).is_file(), path)
            if anchor:
                self.assertIn(anchor, anchors_of(FOLDER / path), path)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
