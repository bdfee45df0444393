#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The templates that packaging/helm/render understands, and what Go makes of the same.

usage: template_test.py TREE    unittest's output
"""
import sys
import unittest

import yaml

sys.path.insert(0, sys.argv[1] + '/packaging/helm')
import go_template  # noqa: E402

VALUES = {'name': 'a', 'none': '', 'number': 3, 'zero': 0, 'yes': True, 'no': False, 'list': ['x', 'y'], 'empty': [], 'map': {'k': 'v'}}


def rendered(source, dot=None):
    templates = {}
    nodes = go_template.parse(source, templates)
    return go_template.render(nodes, go_template.Scope(templates, VALUES if dot is None else dot))


class Templates(unittest.TestCase):
    def test_text_and_values(self):
        for source, expected in [
                ('a{{ .name }}b', 'aab'), ('{{ .map.k }}', 'v'), ('{{ .number }}{{ .yes }}', '3true'), ('{{ "q\\"" }}', 'q"'),
                ('{{ .missing }}', ''), ('{{ $ | toYaml | trunc 10 }}', 'empty: []\n'), ('{{ (dict "a" .map).a.k }}', 'v')]:
            self.assertEqual(rendered(source), expected, source)

    def test_a_method_is_called_with_its_arguments(self):
        dot = {'Files': {'Get': lambda path: f'text of {path}'}, 'name': 'a'}
        self.assertEqual(rendered('{{ .Files.Get "a.json" | replace "text" "all" }}', dot), 'all of a.json')
        self.assertEqual(rendered('{{ range list "b" }}{{ $.Files.Get (printf "%s.json" .) }}{{ end }}', dot), 'text of b.json')

    def test_a_dash_cuts_the_space_beside_it(self):
        for source, expected in [
                ('a {{- .name -}} b', 'aab'), ('a\n  {{- .name }}\nb', 'aa\nb'), ('a\n{{ .name -}}\n b', 'a\nab'),
                ('{{- /* text */ -}} a', 'a'), ('a {{/* text */}} b', 'a  b')]:
            self.assertEqual(rendered(source), expected, source)

    def test_what_is_empty_zero_or_false_is_not(self):
        for name in ('none', 'zero', 'no', 'empty', 'missing'):
            self.assertEqual(rendered('{{ if .%s }}a{{ else }}b{{ end }}' % name), 'b', name)
        for name in ('name', 'number', 'yes', 'list', 'map'):
            self.assertEqual(rendered('{{ if .%s }}a{{ else }}b{{ end }}' % name), 'a', name)

    def test_branches(self):
        for source, expected in [
                ('{{ if .no }}1{{ else if .yes }}2{{ else }}3{{ end }}', '2'), ('{{ if and .yes (not .no) }}1{{ end }}', '1'),
                ('{{ with .map }}{{ .k }}{{ $.name }}{{ end }}', 'va'), ('{{ with .none }}1{{ else }}{{ .name }}{{ end }}', 'a'),
                ('{{ if or .none .name | eq "a" }}1{{ end }}', '1')]:
            self.assertEqual(rendered(source), expected, source)

    def test_lists(self):
        for source, expected in [
                ('{{ range .list }}{{ . }}{{ $.name }}{{ end }}', 'xaya'), ('{{ range .empty }}1{{ else }}2{{ end }}', '2'),
                ('{{ range list "a" "b" }}{{ . | quote }}{{ end }}', '"a""b"')]:
            self.assertEqual(rendered(source), expected, source)

    def test_variables(self):
        for source, expected in [
                ('{{ $a := .name }}{{ $a }}', 'a'), ('{{ $a := 1 }}{{ if .yes }}{{ $a = 2 }}{{ end }}{{ $a }}', '2'),
                ('{{ $a := 1 }}{{ if .yes }}{{ $a := 2 }}{{ end }}{{ $a }}', '1'), ('{{ $m := .map }}{{ $m.k }}', 'v')]:
            self.assertEqual(rendered(source), expected, source)

    def test_templates_are_included_with_a_dot_of_their_own(self):
        self.assertEqual(rendered('{{ define "t" }}[{{ .k }}]{{ end }}{{ include "t" .map | nindent 2 }}'), '\n  [v]')

    def test_functions(self):
        for source, expected in [
                ('{{ default "b" .none }}{{ default "b" .name }}', 'ba'), ('{{ printf "%s-%s" .name "b" }}', 'a-b'),
                ('{{ "a-" | trimSuffix "-" }}', 'a'), ('{{ "abc" | trunc 2 }}', 'ab'), ('{{ contains "b" "abc" }}', 'true'),
                ('{{ replace "-" "/" "a-b" }}', 'a/b'),
                ('{{ lt (int .number) 4 }}{{ lt 4 (int .zero) }}', 'truefalse'), ('{{ range values .map }}{{ . }}{{ end }}', 'v'), ('{{ semverCompare ">=1.31.0-0" "v1.31.2-gke.1" }}', 'true'),
                ('{{ semverCompare ">=1.31.0-0" "v1.30.9" }}', 'false'), ('{{ get .map "n" }}', ''), ('{{ toString .no }}', 'false'),
                ('{{ toYaml (mergeOverwrite (deepCopy .) (dict "map" (dict "k" "w"))) | contains "k: w" }}', 'true'),
                ('{{ sha256sum "" }}', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')]:
            self.assertEqual(rendered(source), expected, source)

    def test_what_is_not_understood_is_an_error_that_names_it(self):
        for source, words in [
                ('{{ upper .name }}', "no function 'upper'"), ('{{ include "t" . }}', "no template 't'"), ('{{ $a }}', "no variable '\\$a'"),
                ('{{ if .name }}', 'has no end'), ('{{ end }}', 'ends nothing'), ('{{ .missing.k }}', "'k'"), ('{{ .list }}', 'toYaml'),
                ('{{ range .map }}{{ end }}', 'expected a list'), ('{{ .name .name }}', 'one value'), ('{{ ( .name }}', "'\\)'"),
                ('{{ semverCompare "~1" "1.2.3" }}', 'semverCompare'), ('{{ fail "text" }}', 'text'), ('{{ `raw` }}', 'cannot read')]:
            with self.assertRaisesRegex(go_template.TemplateError, words, msg=source):
                rendered(source)

    def test_yaml_is_written_so_that_it_reads_back_the_same(self):
        for value in ['true', 'yes', '1', '1e3', '', 'null', '~', '0x1', '2026-01-01', ' a', 'a: b', '#', 'y', 'a\nb', '- a', '%', {}, [], {'a': {}},
                      {'b': [1, {'c': 'd'}], 'a': None}, 'https://a/b?c', 'a' * 300 + ' ' + 'b' * 300]:
            self.assertEqual(yaml.safe_load(go_template.to_yaml(value)), value)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
