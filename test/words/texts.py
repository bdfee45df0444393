# SPDX-License-Identifier: Apache-2.0
"""Finds the text for people in a file: comments, string literals, and Markdown outside of code.

`texts_of(path, content)` returns a list of `Text`. A comment of several lines is one text, and so are adjacent string
literals, because a sentence may begin on one line and end on the next.
"""
import bisect
import re


class Text:
    """One paragraph of a comment, a string literal or of Markdown."""

    def __init__(self, kind, body, lines, before=''):
        self.kind = kind      # 'comment', 'string' or 'prose'
        self.body = body      # lines of a comment are joined by a space, string literals by nothing
        self.lines = lines    # (offset in body, line number) of each line, in order
        self.before = before  # of a string: the source before it

    def is_test_name(self):
        return self.kind == 'string' and TEST_CALL.search(self.before) is not None

    def line_at(self, offset):
        return self.lines[max(0, bisect.bisect_right(self.lines, (offset, 1 << 30)) - 1)][1]


C_LIKE = ('.c', '.cpp', '.h', '.hpp', '.in', '.inc', '.rs', '.go', '.js')
HASH = ('.py', '.build', '.yaml', '.yml', '.sh', '.tpl', '.txt', '.mod', '.toml', '.containerignore', '.gitignore')

# Each alternative begins with a different character, which makes the search fast.
C_TOKEN = re.compile(r'''
    //(?P<line>[^\n]*)
  | /\*(?P<block>.*?)\*/
  | (?<![\w])(?:u8|u|U|L|b|br)?R"(?P<mark>[^(\s]{0,16})\((?P<raw>.*?)\)(?P=mark)"
  | "(?P<string>(?:\\.|[^"\\\n])*)"
  | (?<![0-9a-fA-F\w])'(?:\\[^\n']{1,8}|\\'|[^'\\\n])'
  | `(?P<tick>[^`]*)`
''', re.S | re.X)
RUST_TOKEN = re.compile(C_TOKEN.pattern.replace(
    r'(?<![\w])(?:u8|u|U|L|b|br)?R"(?P<mark>[^(\s]{0,16})\((?P<raw>.*?)\)(?P=mark)"',
    r'(?<![\w])b?r(?P<mark>\#{0,3})"(?P<raw>.*?)"(?P=mark)(?!\#)').replace(r'[^"\\\n])*)"', r'[^"\\])*)"'), re.S | re.X)
# In JavaScript both quotation marks enclose strings.
JS_TOKEN = re.compile(C_TOKEN.pattern.replace(
    r"""(?<![0-9a-fA-F\w])'(?:\\[^\n']{1,8}|\\'|[^'\\\n])'""", r"""'(?P<single>(?:\\.|[^'\\\n])*)'"""), re.S | re.X)
HASH_TOKEN = re.compile(r'''
    (?:^|(?<=\s))\#(?P<line>[^\n]*)
  | \'\'\'(?P<block>.*?)\'\'\'
  | """(?P<raw>.*?)"""
  | "(?P<string>(?:\\.|[^"\\\n])*)"
  | '(?P<single>(?:\\.|[^'\\\n])*)'
''', re.S | re.X | re.M)
# A shell string may contain line ends, and an apostrophe in a comment must not open a string, so comments come first.
SHELL_TOKEN = re.compile(r'''
    (?:^|(?<=[\s;]))\#(?P<line>[^\n]*)
  | "(?P<string>(?:\\.|[^"\\])*)"
  | '(?P<single>[^']*)'
  | \\.
''', re.S | re.X | re.M)
TEST_CALL = re.compile(r'\b(?:TEST_CASE\w*|SUBCASE|test)\s*\(\s*$')
ESCAPE = re.compile(r'\\([ntr"\'\\])')
UNESCAPED = {'n': '\n', 't': '\t', 'r': '\n'}
CODE_SPAN = re.compile(r'(`+)[^`]+?\1')
LINK_TARGET = re.compile(r'\]\([^)\s]*\)')
ITEM = re.compile(r'\s*(?:[-*+]|\d+\.)\s+')


class Paragraphs:
    """Joins lines into paragraphs. An empty line, or one that begins a list item, starts a new paragraph."""

    def __init__(self, kind):
        self.kind = kind
        self.texts = []
        self.end()

    def end(self):
        self.body, self.lines = [], []
        self.length = 0

    def add(self, words, number):
        item = ITEM.match(words)
        stripped = words[item.end():].strip() if item else words.strip()
        if not stripped or item:
            self.end()
        if not stripped:
            return
        if not self.body:
            self.texts.append(Text(self.kind, '', self.lines))
        else:
            self.length += 1
        self.lines.append((self.length, number))
        self.body.append(stripped)
        self.length += len(stripped)
        self.texts[-1].body = ' '.join(self.body)
        if stripped.startswith('SPDX-License-Identifier'):
            self.end()


def line_numbers(content):
    starts = [0]
    find = content.find
    at = find('\n')
    while at >= 0:
        starts.append(at + 1)
        at = find('\n', at + 1)
    return starts


def unescape(text):
    return ESCAPE.sub(lambda m: UNESCAPED.get(m.group(1), m.group(1)), text) if '\\' in text else text


def source_texts(content, token):
    starts = line_numbers(content)
    texts = []
    comment = None  # paragraphs of a comment that may continue
    comment_at = (0, 0)    # line and column of its last line
    strings = None  # string literals that may continue
    strings_end = 0

    for match in token.finditer(content):
        kind = match.lastgroup
        if kind is None or kind == 'mark':
            continue
        start = match.start()
        number = bisect.bisect_right(starts, start)
        if kind == 'line':
            column = start - starts[number - 1]
            goes_on = comment is not None and comment_at == (number - 1, column) and not content[starts[number - 1]:start].strip()
            if not goes_on:
                comment = Paragraphs('comment')
                comment.texts = texts
            comment_at = (number, column)
            comment.add(match.group('line').lstrip('/!'), number)
            continue
        if kind == 'block':
            block = Paragraphs('comment')
            block.texts = texts
            for index, line in enumerate(match.group('block').split('\n')):
                block.add(line.strip().removeprefix('*').lstrip('*!') if line.strip()[:1] == '*' else line, number + index)
            continue
        # A string literal. A single word counts as a name.
        body = match.group(kind)
        joins = strings is not None and not content[strings_end:start].strip(' \t\n\\')
        if ' ' not in body and not joins:
            continue
        if kind in ('string', 'single'):
            body = unescape(body)
        if joins:
            strings.lines.append((len(strings.body), number))
            strings.body += body
        else:
            strings = Text('string', body, [(0, number)], content[max(0, start - 40):start])
            texts.append(strings)
        at = 0
        offset = len(strings.body) - len(body)
        for index in range(match.group(kind).count('\n')):
            at = body.find('\n', at) + 1
            strings.lines.append((offset + at, number + index + 1))
        strings_end = match.end()
    return [text for text in texts if text.body.strip()]


def markdown_texts(content):
    page = Paragraphs('prose')
    fenced = False
    front = False
    for number, line in enumerate(content.split('\n'), 1):
        stripped = line.strip()
        if stripped.startswith(('```', '~~~')):
            fenced = not fenced
            page.end()
            continue
        if fenced:
            continue
        # Code spans are replaced by the same number of letters, so positions stay the same.
        line = CODE_SPAN.sub(lambda m: 'x' * len(m.group()), line)
        line = LINK_TARGET.sub(']', line).replace('**', '')
        stripped = line.strip()
        if stripped.startswith('|'):
            for cell in stripped.strip('|').split('|'):
                page.end()
                page.add(cell, number)
            page.end()
        elif stripped.startswith('#'):
            page.end()
            page.add(stripped.lstrip('#'), number)
            page.end()
        else:
            page.add(line.lstrip('> '), number)
    return page.texts


def token_of(path, content):
    """Returns the expression for comments and strings of the file's language; None if the file is Markdown."""
    name = path.rsplit('/', 1)[-1]
    dot = name.rfind('.')
    suffix = name[dot:] if dot >= 0 else ''
    if suffix == '.md':
        return None
    if content.startswith('#!') and 'python' not in content[:40] or suffix == '.sh':
        return SHELL_TOKEN
    if suffix == '.rs':
        return RUST_TOKEN
    if suffix == '.js':
        return JS_TOKEN
    if suffix == '.in':
        return C_TOKEN if 'include' in content and '//' in content else HASH_TOKEN
    return C_TOKEN if suffix in C_LIKE or suffix == '.json' else HASH_TOKEN


def texts_of(path, content):
    token = token_of(path, content)
    return markdown_texts(content) if token is None else source_texts(content, token)


def code_of(path, content):
    """Returns the source without comments and strings, with the same line numbers."""
    return token_of(path, content).sub(lambda match: ' ' + '\n' * match.group().count('\n'), content)
