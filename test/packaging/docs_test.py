#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documents and checks each page, link and anchor, and that the reference pages are complete.

usage: docs_test.py TREE PROGRAM...    unittest's output
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

tree, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
sys.dont_write_bytecode = True
sys.path[:0] = [str(tree / 'packaging/docs'), str(tree / 'packaging')]
import pages  # noqa: E402
import site_check  # noqa: E402

BUILD = tree / 'packaging/docs/build'
by_name = {pathlib.Path(program).name: program for program in programs}


def build(*arguments):
    return subprocess.run([sys.executable, BUILD, *arguments], capture_output=True, text=True, check=False)


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-docs-')
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name, 'site')
        done = build(cls.folder, *programs)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.site = site_check.Site(cls.folder)

    def test_each_page_is_well_formed_and_reachable_and_each_link_and_anchor_leads_somewhere(self):
        self.assertGreater(len(self.site.trees), 150)
        self.assertEqual(self.site.check(), [])

    def test_each_document_of_git_has_a_page(self):
        listed = subprocess.run(['git', '-c', 'safe.directory=*', '-C', tree, 'ls-files', '*.md'], capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            self.skipTest('SKIPPED: there is no git')
        missing = [path for path in listed.stdout.split() if pages.page_of(path) not in self.site.files]
        self.assertEqual([path for path in missing if not path.startswith('plugin-api/templates/')], [])

    def test_each_page_has_a_language_a_title_a_heading_and_all_pages(self):
        for name in self.site.trees:
            tags = [tag for tag, _ in self.site.elements(name)]
            self.assertEqual([tags.count(tag) for tag in ('title', 'h1', 'main')], [1, 1, 1], name)
            self.assertEqual(self.site.trees[name].get('lang'), 'en')

    def test_the_page_of_koordctl_has_each_command_and_option_of_its_help(self):
        text = self.site.text('reference/koordctl.html')
        listed = subprocess.run([by_name['koordctl'], '--help'], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r'^  ([a-z-]+(?: [a-z]+)?)', listed.partition('Commands\n')[2], re.M)
        self.assertGreater(len(commands), 30)
        for command in commands:
            self.assertIn(f'koordctl {command}', text)
            options = subprocess.run([by_name['koordctl'], *command.split(), '--help'], capture_output=True, text=True, check=True).stdout
            for option in re.findall(r'^  (?:-\w \[ )?(--[\w-]+)', options, re.M):
                self.assertIn(option, text, command)

    def test_the_pages_of_the_configuration_have_each_key_with_its_meaning(self):
        for name in ('koordetector', 'koord-manager'):
            printed = subprocess.run([by_name[name], '--print-config-reference'], capture_output=True, text=True, check=True).stdout
            text = ' '.join(self.site.text(f'reference/configuration-{name}.html').split())
            lines = [line.strip() for line in printed.split('\n')]
            meanings = [line[2:] for line, after in zip(lines, lines[1:]) if line.startswith('# ') and after.startswith('# ') and not line.startswith('#  ')]
            self.assertGreater(len(meanings), 20)
            for meaning in meanings:
                self.assertIn(' '.join(meaning.split()), text)

    def test_the_pages_of_the_abi_have_each_line_of_its_header(self):
        header = (tree / 'plugin-api/include/koordetector/plugin.h').read_text(encoding='utf-8')
        shown = self.site.text('reference/abi.html')
        body = header[header.index('/* ---- status'):]
        for line in body.split('\n'):
            if '/* ----' not in line:
                self.assertIn(line, shown)
        errors = self.site.text('reference/errors.html')
        for name in re.findall(r'#define (KOORD_E_\w+)', header):
            self.assertIn(name, errors)

    def test_the_page_of_metrics_has_each_metric_of_the_alerts(self):
        text = self.site.text('reference/metrics.html')
        rules = (tree / 'packaging/prometheus/rules.yaml').read_text(encoding='utf-8')
        for name in set(re.findall(r'\b(?:koordetector_(?:host|plugin|store|report)|koord_manager)_\w+', rules)):
            self.assertIn(name, text)

    def test_the_page_of_metrics_has_each_metric_of_its_own_that_an_agent_exports(self):
        with tempfile.TemporaryDirectory(prefix='koord-test-docs-') as folder:
            settings = ['listen.metrics=', f'listen.socket={folder}/socket', 'store.path=', 'predict.directory=', f'qos.directory={folder}/qos', 'hooks.nri.socket=',
                        'plugins.ownDirectories=[]', 'plugins.directories=[]', 'exporter.detail=all']
            command = [by_name['koordetector'], *(word for setting in settings for word in ('--set', setting))]
            scrape = ['curl', '-fs', '--unix-socket', f'{folder}/socket', 'http://agent/metrics']
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as agent:
                try:
                    while (done := subprocess.run(scrape, capture_output=True, text=True, check=False)).returncode != 0:
                        self.assertIsNone(agent.poll(), 'the agent ended')
                finally:
                    agent.terminate()
        exported = set(re.findall(r'^# HELP (koordetector_(?:host|store|predict|report|http)_\w+)', done.stdout, re.M))
        self.assertGreater(len(exported), 25)
        text = self.site.text('reference/metrics.html')
        self.assertEqual([name for name in sorted(exported) if name not in text], [])

    def test_a_second_run_writes_the_same_pages(self):
        before = {name: (self.folder / name).read_bytes() for name in self.site.files}
        self.assertEqual(build(self.folder, *programs).returncode, 0)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in before}, before)


class Refused(unittest.TestCase):
    """Tests the tests: a generator that accepts everything, or a check without findings, would pass the tests above."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='koord-test-docs-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, **documents):
        made = [pages.Document(f'core/{name}/README.md', text) for name, text in documents.items()]
        return pages.Site(self.folder, made).write(self.folder / 'site')

    def test_the_generator_names_the_document_and_the_link_that_leads_nowhere(self):
        for text, problem in [('# A\n[x](../c/README.md)\n', r'core/a/README\.md: link to \.\./c/README\.md: there is no such file'),
                              ('# A\n[x](#b)\n', 'link to #b: core/a/README.md has no such heading'), ('# A\n[x](../../../etc)\n', 'there is no such file'),
                              ('# A\n<b>x</b>\n', 'HTML in Markdown'), ('x\n', 'has no title')]:
            with self.subTest(text), self.assertRaisesRegex(pages.Problem, problem):
                self.write(a=text)

    def test_links_lead_to_pages_with_the_same_anchors_as_on_a_forge(self):
        self.write(a='# A\n[x](../b/README.md#one-two-1)\n[y](../b)\n', b='# B\n## One `two`\n## One two\n')
        page = (self.folder / 'site/core/a/index.html').read_text(encoding='utf-8')
        self.assertIn('href="../b/index.html#one-two-1"', page)
        self.assertIn('href="../b/index.html"', page)

    def test_the_generator_does_not_delete_a_folder_of_others(self):
        (self.folder / 'letter').write_text('mine')
        done = build(self.folder, *programs)
        self.assertEqual((done.returncode, (self.folder / 'letter').read_text()), (1, 'mine'))
        self.assertIn('has other files', done.stderr)

    def test_the_check_finds_each_kind_of_problem(self):
        page = '<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="b.html">b</a>{}</body></html>'
        for extra, problem in [('<p>', 'is not well-formed'), ('<a href="c.html">c</a>', 'there is no file c.html'), ('<a href="#x">x</a>', 'has no such id'),
                               ('<a href="b.html#x">x</a>', 'b.html has no such id'), ('<p id="x"></p><p id="x"></p>', 'the id x stands twice'),
                               ('<script src="b.html"></script>', 'has a script'), ('<p onclick="x()"></p>', 'has a script'),
                               ('<img src="https://example.org/x.png"/>', 'is outside of the site'), ('<a href="file:///x">x</a>', 'is outside of the site')]:
            with self.subTest(extra):
                (self.folder / 'index.html').write_text(page.format(extra))
                (self.folder / 'b.html').write_text(page.format(''))
                self.assertRegex('\n'.join(site_check.Site(self.folder).check()), problem)
        (self.folder / 'index.html').write_text(page.format(''))
        self.assertEqual(site_check.Site(self.folder).check(), [])
        (self.folder / 'd.html').write_text(page.format(''))
        (self.folder / 'x.css').write_text('p { background: url(https://example.org/x) }')
        self.assertEqual(site_check.Site(self.folder).check(), ['d.html: no path of links leads here from index.html', 'x.css: loads https://example.org/x'])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
