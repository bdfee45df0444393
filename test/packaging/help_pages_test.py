#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests man pages and completions against what each program prints for --help, with the tools that read them.

usage: help_pages_test.py TREE PROGRAM…    unittest's output
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
from importlib.machinery import SourceFileLoader

tree, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
pages = SourceFileLoader('help_pages', str(tree / 'packaging/help_pages.py')).load_module()
read = {pathlib.Path(program).name: pages.read(program) for program in programs}
KINDS = ['man', 'bash', 'zsh', 'fish']


def named_in_help(program, *command):
    """Returns the long options, found in a different way than by help_pages."""
    text = subprocess.run([program, *command, '--help'], capture_output=True, text=True, check=True).stdout
    return re.findall(r'^  (?:-\w \[ )?--([\w-]+)', text, re.M)


class Pages(unittest.TestCase):
    def test_each_option_of_help_is_read_with_its_text(self):
        for program in programs:
            name = pathlib.Path(program).name
            if name == 'koord-plugin-host':
                continue
            found = [((), read[name].options)] if not read[name].commands else []
            found += [(tuple(command.name.split()), command.options) for command in read[name].commands]
            for command, options in found:
                with self.subTest(f"{name} {' '.join(command)}"):
                    self.assertEqual([option.long for option in options], named_in_help(program, *command))
                    for option in options:
                        self.assertTrue(option.help, option)
                        self.assertNotRegex(option.help + option.value, r'\(=|  ')

    def test_koordctl_has_all_its_commands(self):
        text = subprocess.run([next(p for p in programs if p.endswith('/koordctl')), '--help'], capture_output=True, text=True, check=True).stdout
        listed = text.partition('Commands\n')[2].partition('\n\n')[0]
        self.assertEqual(len(read['koordctl'].commands), listed.count('\n') + 1)

    def test_each_page_names_each_command_and_option(self):
        for name, program in read.items():
            for kind in KINDS:
                text = pages.WRITERS[kind](program).replace('\\-', '-')
                options = program.options + [option for command in program.commands for option in command.options]
                for option in options:
                    self.assertRegex(text, rf"(--|-l ){option.long}\b", f'{name} {kind}')
                for command in program.commands:
                    for word in command.name.split():
                        self.assertRegex(text, rf'\b{word}\b', f'{name} {kind}')

    def test_man_finds_nothing_wrong_with_the_man_pages(self):
        if not shutil.which('groff'):
            self.skipTest('SKIPPED: there is no groff')
        for name, program in read.items():
            done = subprocess.run(['groff', '-man', '-Tutf8', '-ww', '-z'], input=pages.man(program), capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ''), name)

    def complete(self, name, *words):
        """Returns bash's completions of the last word."""
        script = pages.bash(read[name]) + '''
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _%s 2>/dev/null; printf '%%s\n' "${COMPREPLY[@]}"
''' % name.replace('-', '_')
        done = subprocess.run(['bash', '-c', script, 'bash', name, *words], capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_bash_completes_commands_options_and_their_values(self):
        self.assertEqual(self.complete('koordctl', 'interf'), ['interference'])
        self.assertEqual(self.complete('koordctl', 'interference', 'm'), ['matrix'])
        self.assertIn('--window', self.complete('koordctl', 'query', '--w'))
        self.assertEqual(self.complete('koordctl', 'top', '--sort', 'h'), ['harm'])
        self.assertEqual(self.complete('koordctl', 'top', '-o', ''), ['table', 'json'])
        self.assertIn('reload', self.complete('koordctl', 'plugin', ''))
        self.assertNotIn('--window', self.complete('koordctl', 'top', '--'))
        self.assertEqual(self.complete('koordetector', '--feat'), ['--feature-gates'])

    def test_a_placeholder_is_no_value_and_stands_for_files_beside_the_words(self):
        self.assertEqual(pages.words_of('live|sample|FIXTURE'), ['live', 'sample'])
        offered = self.complete('koordctl', 'plugin', 'run', '--node', '')
        self.assertLessEqual({'live', 'sample'}, set(offered))
        self.assertNotIn('FIXTURE', offered)
        beginning = str(tree / 'packaging/help_pag')
        self.assertEqual(self.complete('koordctl', 'plugin', 'run', '--node', beginning), [beginning + 'es.py'])
        lines = [line for line in pages.fish(read['koordctl']).splitlines() if '-l node ' in line]
        self.assertTrue(lines)
        for line in lines:
            self.assertIn("-r -F -a 'live sample'", line)
        self.assertNotIn('sample FIXTURE)', pages.zsh(read['koordctl']))

    def test_bash_completes_behind_options_that_stand_before_the_command(self):
        for leading in (['--socket', 'X'], ['--socket', '=', 'X'], ['--socket=X'], ['-s', 'X'], ['-sX'], ['-o', 'json', '--socket', 'top']):
            with self.subTest(leading):
                self.assertEqual(self.complete('koordctl', *leading, 'interf'), ['interference'])
                self.assertEqual(self.complete('koordctl', *leading, 'plugin', 'rel'), ['reload'])
                self.assertEqual(self.complete('koordctl', *leading, 'top', '--sor'), ['--sort'])
                self.assertEqual(self.complete('koordctl', *leading, 'top', '--sort', 'h'), ['harm'])
                self.assertEqual(self.complete('koordctl', *leading, 'interference', 'matrix', '--lim'), ['--limit'])
        self.assertEqual(self.complete('koordctl', '--out'), ['--output'])
        self.assertEqual(set(self.complete('koordctl', '--output', '')), {'table', 'wide', 'json'})
        beginning = str(tree / 'packaging/help_pag')
        self.assertEqual(self.complete('koordctl', '--socket', beginning), [beginning + 'es.py'])

    def test_zsh_completes_behind_options_that_stand_before_the_command(self):
        if not shutil.which('zsh'):
            self.skipTest('SKIPPED: there is no zsh')
        script = pages.zsh(read['koordctl']) + """
_describe() { print -r -- describe ${(P)2%%:*}; }; _files() { print files; }; compadd() { print -r -- "$@"; }
_arguments() { print -r -- ${(j: :)words} $CURRENT; }
words=(koordctl "$@"); CURRENT=$#words; _koordctl
"""
        script = script.replace('_koordctl "$@"\n', '', 1)
        for words, wanted in ((['--socket', 'X', 'top', '--sor'], 'top --sor 2'), (['-sX', 'plugin', 'run', '--n'], 'run --n 2'), (['--output', ''], '-- table json wide'),
                              (['--socket', ''], 'files')):
            done = subprocess.run(['zsh', '-fc', script, 'zsh', *words], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip(), wanted, words)

    def test_shells_accept_their_completions(self):
        for shell in ['bash', 'zsh', 'fish']:
            if not shutil.which(shell):
                print(f'SKIPPED: there is no {shell}', file=sys.stderr)
                continue
            for name, program in read.items():
                done = subprocess.run([shell, '-n'], input=pages.WRITERS[shell](program), capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ''), f'{shell} {name}')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
