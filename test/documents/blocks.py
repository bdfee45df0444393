# SPDX-License-Identifier: Apache-2.0
"""Finds the code blocks of Markdown, with the mark that says whether the tests run a block of commands.

Each block names its language. A block of commands is `sh`, and the line above it is one of these comments, which no reader sees:

    <!-- run -->                commands_test.py runs it
    <!-- run with PLUGIN -->    the same, where this plugin is supported
    <!-- tested by PATH -->     this test runs the same commands; several paths are separated by commas
    <!-- not run: REASON -->    no test runs it
"""
import collections
import re

Block = collections.namedtuple('Block', 'path line language mark code')

FENCE = re.compile(r'^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```[ ]*$', re.M | re.S)
MARK = re.compile(r'^ *<!-- (?P<mark>run|run with [a-z-]+|tested by [^\n]*?|not run: [^\n]*?) -->\n\Z', re.M)
LANGUAGES = {'c', 'console', 'cpp', 'dockerfile', 'go', 'ini', 'json', 'promql', 'python', 'rust', 'sh', 'text', 'yaml'}


def blocks_of(path, text):
    for match in FENCE.finditer(text):
        mark = MARK.search(text[:match.start()])
        code = re.sub(f'^{match["indent"]}', '', match['code'], flags=re.M)
        yield Block(path, text.count('\n', 0, match.start()) + 1, match['language'], mark['mark'] if mark else '', code)


def problems_of(block, exists):
    """Yields the problems of a block's mark. `exists`: whether the tree has a path."""
    place = f'{block.path}:{block.line}'
    if block.language not in LANGUAGES:
        yield f'{place}: the block has the language "{block.language}", expected one of {", ".join(sorted(LANGUAGES))}'
    elif block.language != 'sh' and block.mark:
        yield f'{place}: a block of {block.language} is no commands, expected no mark above it'
    elif block.language == 'sh' and not block.mark:
        yield f'{place}: no mark above the commands, expected <!-- run -->, <!-- run with PLUGIN -->, <!-- tested by PATH --> or <!-- not run: REASON -->'
    elif block.mark.startswith('run with ') and not exists('plugins/' + block.mark.removeprefix('run with ')):
        yield f'{place}: {block.mark}: there is no such plugin'
    elif block.mark.startswith('tested by '):
        for path in block.mark.removeprefix('tested by ').split(', '):
            if not path.startswith('test/') or not exists(path):
                yield f'{place}: tested by {path}: there is no such test'
