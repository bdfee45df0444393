#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests which texts a file has, which sentences are found in them, and which are not."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import Exceptions, check, tracked_files  # noqa: E402
from names import find_in_identifier, find_in_name, identifiers_of, names_of  # noqa: E402
from rules import find_in  # noqa: E402
from sample import sentences_of  # noqa: E402
from texts import Text, texts_of  # noqa: E402


def phrases(body, kind='comment', before=''):
    return [finding.phrase for finding in find_in(Text(kind, body, [(0, 1)], before))]


# Each sentence, and the phrase that must be found in it.
FOUND = [
    ('Of all intents one holds.', 'Of… as the first word'),
    ('Writes it. What remains is an error.', 'What… as the first word'),
    ('Who removes it owns the slot.', 'Who… as the first word'),
    ('Whose cgroup it is.', 'Whose… as the first word'),
    ('Which knob of which cgroup.', 'Which… as the first word'),
    ('By which a limit is multiplied.', 'By which… as the first word'),
    ('That which is left ends.', 'That which… as the first word'),
    ('The strategy wishes for a knob.', 'wishes'),
    ('The knob is given back.', 'given back'),
    ('The host gives them all back.', 'gives them all back'),
    ('Its end takes it back.', 'takes it back'),
    ('The home of a plugin.', 'home'),
    ('The guest ends.', 'guest'),
    ('The attendant of a child.', 'attendant'),
    ('The service desk answers.', 'desk'),
    ('The remote host of a child.', 'remote host'),
    ('An invitation for the plugin.', 'invitation'),
    ('A lookout of the report.', 'lookout'),
    ('Between two looks.', 'two looks'),
    ('An act is done once.', 'An act'),
    ('The kernel has told it.', 'told'),
    ('The file tells the version.', 'tells'),
    ('That is no news.', 'news'),
    ('As is said in the header.', 'said'),
    ('The book of evictions.', 'book'),
    ('The consent of a pod.', 'consent'),
    ('A scene for the plugin.', 'scene'),
    ('The mischief of a trial.', 'mischief'),
    ('One life of an instance.', 'life'),
    ('The old one lives on.', 'lives'),
    ('In a succession it stays.', 'succession'),
    ('A group that is left over.', 'left over'),
    ('The museum of binaries.', 'museum'),
    ("A stranger's plugin.", 'stranger'),
    ('Exceptions end at the border.', 'border'),
    ('No thread was to be had.', 'to be had'),
    ('It shows what became of the plan.', 'became of'),
    ('Nobody waits for it.', 'Nobody'),
    ('No one waits for it.', 'No one'),
    ('Somebody else writes it.', 'Somebody'),
    ('The certificate is not believed.', 'believed'),
    ('The caller knows better.', 'knows better'),
    ('The plugin who asked.', 'who'),
    ('A pod whose limit is known.', 'whose'),
    ('One each as a rule.', 'as a rule'),
    ('Empty: there is none.', 'there is none'),
    ('Kept so that it stays, so that it is found.', 'so that it stays, so that'),
    ('It is not unlike the other.', 'not unlike'),
    ('It fails for want of memory.', 'for want of'),
    ('Requests: what was sent.', 'what… as the first word'),
    ('It answers whoever asks.', 'whoever'),
    ('An error says what of it is missing.', 'what of'),
    ('Its author can mend it.', 'mend'),
    ('The file is read anew.', 'anew'),
    ('Both are read alike.', 'alike'),
    ('It heeds the limit.', 'heeds'),
    ('It failed of late.', 'of late'),
    ('It need not exist.', 'need not'),
    ('It is silent for so long.', 'for so long'),
    ('At most so many rows.', 'so many'),
    ('It stays for ever.', 'for ever'),
    ('It is asked ever more rarely.', 'ever more'),
    ('It waits in vain.', 'in vain'),
    ('As a kernel would have it.', 'would have it'),
    ('It gets by without a file.', 'gets by'),
    ('A file that there is not is skipped.', 'that there is not'),
    ('All threads but for one.', 'but for'),
    ('Its thread was written off.', 'written off'),
    ('A text that is no number is refused.', 'that is no number'),
    ('wanted a file, found none', 'wanted'),
    ('0 ticks, wanted at least 1', 'wanted'),
]

NOT_FOUND = [
    'Returns the value of the knob.',
    'The kernel refuses it. Ofsets are bytes.',
    'The user who started the agent.',
    'Those who run it on every node, and authors whose plugin fails.',
    'The home directory of the user, /home/user and $HOME.',
    'user nice system idle iowait irq softirq steal guest guest_nice',
    'Called with `told` and of `wishes()`, in core/host/runner.hpp.',
    'The lifetime and the life cycle of a slot.',
    'Acts on each of them.',
    'Looks up the name; one look-up at a time.',
    'It is not unless it must.',
    'It appears at e.g. of the pod.',
    'So many pods are ready that others wait.',
    'A file is refused with what was wanted and found.',
    'which holds all of them',
    'A pod that is no longer listed, and that is no error.',
]


class Sentences(unittest.TestCase):
    def test_phrases_that_are_not_plain_are_found(self):
        for sentence, phrase in FOUND:
            with self.subTest(sentence):
                self.assertEqual(phrases(sentence), [phrase])

    def test_plain_sentences_have_no_finding(self):
        for sentence in NOT_FOUND:
            with self.subTest(sentence):
                self.assertEqual(phrases(sentence), [])

    def test_a_fragment_behind_a_member_may_begin_with_of(self):
        self.assertEqual(phrases('of the pod'), [])
        self.assertEqual(phrases('what the pod has'), ['what… as the first word'])

    def test_a_test_name_is_a_sentence_and_another_text_may_be_a_fragment(self):
        self.assertEqual(phrases('of two limits one holds', 'string', 'TEST_CASE('), ['of… as the first word'])
        self.assertEqual(phrases(' of two limits one holds', 'string', 'text + '), [])
        self.assertEqual(phrases('what fails is logged', 'string', 'log('), ['what… as the first word'])

    def test_the_head_of_a_column_is_no_sentence(self):
        self.assertEqual(phrases('what', 'prose'), [])

    def test_a_finding_names_the_replacement(self):
        [finding] = find_in(Text('comment', 'Its wish.', [(0, 1)]))
        self.assertEqual(finding.instead, '"intent", "proposed"')


class Files(unittest.TestCase):
    def bodies(self, path, content):
        return [(text.kind, text.body) for text in texts_of(path, content)]

    def test_lines_of_a_comment_are_one_text(self):
        self.assertEqual(self.bodies('a.cpp', '// One\n// two.\n//\n// Three.\nint a;  // four\nint b;  // five\n'), [
            ('comment', 'One two.'), ('comment', 'Three.'), ('comment', 'four'), ('comment', 'five')])

    def test_a_comment_behind_code_goes_on_in_its_column(self):
        self.assertEqual(self.bodies('a.cpp', 'int a;  // one\n        // two\n'), [('comment', 'one two')])

    def test_adjacent_string_literals_are_one_text(self):
        self.assertEqual(self.bodies('a.cpp', 'f("one "\n  "two");\n'), [('string', 'one two')])

    def test_a_raw_string_and_a_digit_separator_are_no_comment(self):
        self.assertEqual(self.bodies('a.cpp', "int a = 1'000;\nf(R\"(// no comment)\");\n"), [('string', '// no comment')])

    def test_comments_of_each_language_are_found(self):
        for path, content in {'a.h': '/* one\n * two */\n', 'a.py': '# one\n# two\n', 'meson.build': '# one\n# two\n',
                              'a.rs': '/// one\n/// two\n', 'a.go': '// one\n// two\n', 'a.yaml': 'a: b  # one two\n',
                              'run': '#!/bin/bash\necho  # one two\n'}.items():
            with self.subTest(path):
                self.assertIn(('comment', 'one two'), self.bodies(path, content))

    def test_both_quotation_marks_of_javascript_enclose_strings(self):
        self.assertEqual(self.bodies('a.js', "f('one \"two', \"it's three\");\n"), [('string', 'one "two'), ('string', "it's three")])

    def test_a_page_of_markdown_has_no_code(self):
        page = '# Head\n\n- item `told`\n  goes on\n\n```\nwhat\n```\n\n| cell | two |\n'
        self.assertEqual(self.bodies('a.md', page), [
            ('prose', 'Head'), ('prose', 'item xxxxxx goes on'), ('prose', 'cell'), ('prose', 'two')])

    def test_a_finding_has_the_line_of_its_phrase(self):
        [text] = texts_of('a.cpp', '\n// One\n// two told.\n')
        [finding] = find_in(text)
        self.assertEqual(text.line_at(finding.start), 3)

    def test_a_sample_has_whole_sentences_only(self):
        content = '// Returns the first of two values. Fails if it is gone.\nint a;  // of both\n'
        self.assertEqual([sentence for _, sentence in sentences_of('a.cpp', content)],
                         ['Returns the first of two values.', 'Fails if it is gone.'])


class Names(unittest.TestCase):
    def found(self, path, content=''):
        return [(line, name) for line, name, words in names_of(path, content) if find_in_name(words)]

    def test_a_word_of_a_path_is_found(self):
        self.assertEqual(self.found('test/museum/run.py'), [(0, 'test/museum/run.py')])
        self.assertEqual(self.found('core/child/child_home.cpp'), [(0, 'core/child/child_home.cpp')])
        self.assertEqual(self.found('core/homely/bookmark.cpp'), [])
        self.assertEqual(self.found('test/life_cycles/half-life.cpp'), [])

    def test_a_word_of_a_type_is_found_with_its_line(self):
        content = '// Home\nstruct Node;\nclass ChildHome final {\n  enum class Told { a };\n  using Course = int;\n};\n'
        self.assertEqual(self.found('a.hpp', content), [(3, 'ChildHome'), (4, 'Told'), (5, 'Course')])

    def test_of_and_what_are_found_as_a_whole_name_only(self):
        self.assertEqual(self.found('a.hpp', 'struct What {};\nstruct SloOfNode {};\n'), [(1, 'What')])

    def test_functions_and_variables_and_other_languages_have_rules_of_their_own(self):
        self.assertEqual(self.found('a.cpp', 'int home(Desk desk);\nusing koord::Home;\n'), [])
        self.assertEqual(self.found('a.py', 'class Home:\n'), [])

    def in_code(self, path, content):
        return [(line, name) for line, name, words in identifiers_of(path, content) if find_in_identifier(words)]

    def test_a_word_of_a_function_variable_or_macro_is_found_once_with_its_first_line(self):
        content = '#define TELL 1\nint tell_api(int said);\nusing OnNews = int;\nint x = tell_api(TELL);\nint foretell;\n'
        self.assertEqual(self.in_code('a.cpp', content), [(1, 'TELL'), (2, 'tell_api'), (2, 'said'), (3, 'OnNews')])

    def test_identifiers_of_each_language_are_checked(self):
        for path, content in {'a.h': 'int anew;', 'a.c': 'int anew;', 'a.py': 'def anew(self):', 'a.go': 'func anew() {', 'a.rs': 'fn anew() {',
                              'a.js': 'function anew() {'}.items():
            with self.subTest(path):
                self.assertEqual(self.in_code(path, content), [(1, 'anew')])
        self.assertEqual(self.in_code('a.md', 'anew'), [])

    def test_comments_and_strings_have_no_identifiers(self):
        self.assertEqual(self.in_code('a.cpp', '// said\nf("said", R"(told)");  /* told\n */ int told;\n'), [(3, 'told')])
        self.assertEqual(self.in_code('a.py', "# said\nf('said', \"said\")\ntold = 1\n"), [(3, 'told')])
        self.assertEqual(self.in_code('a.js', "f('said', `told`); // told\nlet told;\n"), [(2, 'told')])

    def test_words_of_the_language_the_kernel_and_the_abi_are_no_finding_in_code(self):
        self.assertEqual(self.in_code('a.cpp', 'int life, exclude_guest, KEY_HOME, half_lives, HalfLives, of_old_metric;'), [])

    def test_of_old_is_found_at_the_end_only(self):
        self.assertEqual(self.in_code('a.cpp', 'int pods_of_old, of_old_pods;'), [(1, 'pods_of_old')])

    def test_a_finding_names_the_replacement(self):
        self.assertEqual(find_in_name(['child', 'home']), ('home', 'a runner'))
        self.assertEqual(find_in_identifier(['tell', 'api']), ('tell', 'report, notify, record, log, send'))


class Trees(unittest.TestCase):
    def test_an_exception_is_for_its_file_and_phrase_only(self):
        exceptions = Exceptions('a/*.cpp | nobody:x | a user\n')
        body = 'nobody:x and nobody'
        self.assertTrue(exceptions.allow('a/b.cpp', body, 0, 6))
        self.assertFalse(exceptions.allow('a/b.cpp', body, 13, 19))
        self.assertFalse(exceptions.allow('b/b.cpp', body, 0, 6))
        self.assertEqual(exceptions.unused(), [])
        self.assertEqual(Exceptions('# no entry\na | b | c\n').unused(), [2])

    def test_an_exception_needs_a_reason(self):
        with self.assertRaises(ValueError):
            Exceptions('a | b\n')

    def test_only_tracked_text_files_are_read(self):
        with tempfile.TemporaryDirectory() as tree:
            subprocess.run(['git', '-C', tree, 'init', '-q'], check=True)
            for name, content in {'a.cpp': '// Nobody.\n', 'b.cpp': '// Nobody.\n', 'c.cpp': '\0// Nobody.\n'}.items():
                with open(os.path.join(tree, name), 'w', encoding='utf-8') as file:
                    file.write(content)
            subprocess.run(['git', '-C', tree, 'add', 'a.cpp', 'c.cpp'], check=True)
            found = [finding for finding in check(tree) if finding.startswith(('a.', 'b.', 'c.'))]
            self.assertEqual(found, ['a.cpp:1: "Nobody": write "no plugin", "no process", "nothing", "none"'])

    def test_names_in_code_are_checked(self):
        with tempfile.TemporaryDirectory() as tree:
            for name, content in {'a.cpp': 'struct Told {};\nint x;\nint said;\n', 'b.cpp': 'int x;\n'}.items():
                with open(os.path.join(tree, name), 'w', encoding='utf-8') as file:
                    file.write(content)
            found = [finding for finding in check(tree) if finding.startswith(('a.', 'b.'))]
            self.assertEqual(found, ['a.cpp:1: "told" in the name "Told": write reported, changes, source',
                                     'a.cpp:3: "said" in the name "said": write the result: reported, output, answer, message'])

    def test_an_unpacked_archive_is_read_without_build_folders(self):
        with tempfile.TemporaryDirectory() as tree:
            os.makedirs(os.path.join(tree, 'build/meson-private'))
            os.makedirs(os.path.join(tree, '.ci'))
            for name in ('.ci/a.cpp', 'build/b.cpp', 'c.cpp'):
                with open(os.path.join(tree, name), 'w', encoding='utf-8') as file:
                    file.write('// Nobody.\n')
            self.assertEqual(tracked_files(tree), ['.ci/a.cpp', 'c.cpp'])


if __name__ == '__main__':
    unittest.main()
