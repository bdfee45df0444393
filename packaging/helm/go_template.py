# SPDX-License-Identifier: Apache-2.0
"""The part of Go's text/template, and of the functions that Helm adds, that the chart uses.

Everything that is missing here is an error that names it. So the chart uses only what Helm and this file render in the
same way. Values are YAML values; templates are parsed once and rendered with a dot and variables.
"""
import copy
import hashlib
import re

import yaml


class TemplateError(Exception):
    pass


ACTION = re.compile(r'(\s*)\{\{(-(?=\s))?\s*(.*?)\s*(?:(?<=\s)(-))?\}\}', re.S)
TOKEN = re.compile(r'\s*(?:(?P<string>"(?:\\.|[^"\\])*")|(?P<number>-?\d+)|(?P<variable>\$\w*)|(?P<field>\.\w+)|(?P<word>\w+)'
                   r'|(?P<mark>:=|[=|(),.]))')


# --- YAML as sigs.k8s.io/yaml writes it

class Dumper(yaml.SafeDumper):
    pass


def write_text(dumper, text):
    if '\n' in text:
        return dumper.represent_scalar('tag:yaml.org,2002:str', text, style='|')
    plain = dumper.resolve(yaml.ScalarNode, text, (True, False)) == 'tag:yaml.org,2002:str' and text not in ('', 'y', 'n', 'Y', 'N')
    return dumper.represent_scalar('tag:yaml.org,2002:str', text, style=None if plain else '"')


Dumper.add_representer(str, write_text)


def to_yaml(value):
    return yaml.dump(value, Dumper=Dumper, default_flow_style=False, sort_keys=True, width=float('inf')).rstrip('\n').removesuffix('\n...')


# --- functions

def text_of(value):
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, (str, int)):
        return str(value)
    raise TemplateError(f'cannot print {value!r}: say toYaml')


def overwrite(target, *others):
    for other in others:
        for key, value in other.items():
            if isinstance(value, dict) and isinstance(target.get(key), dict):
                overwrite(target[key], value)
            else:
                target[key] = value
    return target


def version_compare(constraint, version):
    wanted = re.fullmatch(r'>=(\d+)\.(\d+)\.(\d+)-0', constraint)
    found = re.fullmatch(r'v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?', version)
    if not wanted or not found:
        raise TemplateError(f"semverCompare: expected '>=X.Y.Z-0' and a version, found '{constraint}' and '{version}'")
    return tuple(map(int, found.groups())) >= tuple(map(int, wanted.groups()))


def fail(message):
    raise TemplateError(message)


def dig(*words):
    """Same as in sprig. The arguments are nested keys, the default if a key is missing, and the map."""
    *keys, instead, value = words
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return instead
        value = value[key]
    return value


def indent(width, text):
    return '\n'.join(' ' * width + line for line in text.split('\n'))


def quote(value):
    return '"' + text_of(value).replace('\\', '\\\\').replace('"', '\\"') + '"'


FUNCTIONS = {
    'and': lambda *values: next((value for value in values if not value), values[-1]),
    'or': lambda *values: next((value for value in values if value), values[-1]),
    'contains': lambda part, text: part in text,
    'deepCopy': copy.deepcopy,
    'default': lambda instead, value=None: value or instead,
    'dict': lambda *pairs: dict(zip(pairs[::2], pairs[1::2])),
    'dig': dig,
    'eq': lambda a, *others: any(a == other for other in others),
    'fail': fail,
    'fromYaml': yaml.safe_load,
    'get': lambda values, key: values.get(key, ''),
    'int': lambda value: int(value or 0),
    'list': lambda *values: list(values),
    'lt': lambda a, b: a < b,
    'mergeOverwrite': overwrite,
    'ne': lambda a, b: a != b,
    'nindent': lambda width, text: '\n' + indent(width, text),
    'not': lambda value: not value,
    'printf': lambda form, *values: form % tuple(map(text_of, values)),
    'quote': quote,
    'replace': lambda old, new, text: text.replace(old, new),
    'semverCompare': version_compare,
    'sha256sum': lambda text: hashlib.sha256(text.encode()).hexdigest(),
    'toString': text_of,
    'toYaml': to_yaml,
    'trimSuffix': lambda end, text: text.removesuffix(end),
    'trunc': lambda length, text: text[:length],
    'values': lambda of: [of[key] for key in sorted(of)],
}


# --- expressions

class Expression:
    """The parsed words of one action. evaluate(scope) returns its value."""

    def __init__(self, text):
        self.text, self.tokens, at = text, [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            if not match:
                raise TemplateError(f"cannot read '{text[at:]}' in '{text}'")
            # A field that follows without a space belongs to the value before it.
            self.tokens.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) == at and at > 0))
            at = match.end()
        self.at = 0
        self.evaluate = self.pipeline()
        if self.at != len(self.tokens):
            raise TemplateError(f"cannot read all of '{text}'")

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else (None, None, False)

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else (None, None, False)

    def pipeline(self):
        if self.peek()[0] == 'variable' and self.tokens[self.at + 1:self.at + 2] and self.tokens[self.at + 1][1] in (':=', '='):
            name, declares = self.take()[1], self.take()[1] == ':='
            value = self.pipeline()
            return lambda scope: scope.declare(name, value(scope)) if declares else scope.assign(name, value(scope))
        result = self.command()
        while self.peek()[1] == '|':
            self.take()
            result = self.command(result)
        return result

    def command(self, piped=None):
        kind, word, _ = self.peek()
        is_call = kind == 'word' and word not in ('true', 'false', 'nil')
        if is_call:
            self.take()
        arguments = []
        while self.peek()[1] not in (None, '|', ')'):
            arguments.append(self.operand())
        if piped:
            arguments.append(piped)
        if not is_call:
            if len(arguments) == 1:
                return arguments[0]
            method, *rest = arguments
            return lambda scope: call(method(scope), [argument(scope) for argument in rest], self.text)
        if word == 'include':
            return lambda scope: scope.include(*[argument(scope) for argument in arguments])
        if word not in FUNCTIONS:
            raise TemplateError(f"there is no function '{word}' here: '{self.text}'")
        return lambda scope: FUNCTIONS[word](*[argument(scope) for argument in arguments])

    def operand(self):
        kind, word, _ = self.take()
        if word == '(':
            value = self.pipeline()
            if self.take()[1] != ')':
                raise TemplateError(f"expected ')' in '{self.text}'")
        elif kind == 'string':
            literal = word[1:-1].replace('\\"', '"').replace('\\\\', '\\')
            value = lambda scope: literal
        elif kind == 'number':
            value = lambda scope: int(word)
        elif kind == 'variable':
            value = lambda scope: scope.variable(word)
        elif kind == 'field':
            value = lambda scope: field(scope.dot, word[1:], self.text)
        elif word == '.':
            value = lambda scope: scope.dot
        elif word in ('true', 'false', 'nil'):
            value = lambda scope: {'true': True, 'false': False, 'nil': None}[word]
        elif word in FUNCTIONS:
            value = lambda scope: FUNCTIONS[word]()
        else:
            raise TemplateError(f"cannot read '{word}' in '{self.text}'")
        while self.peek()[0] == 'field' and self.peek()[2]:
            value = (lambda of, name: lambda scope: field(of(scope), name, self.text))(value, self.take()[1][1:])
        return value


def field(of, name, text):
    if of is None:
        raise TemplateError(f"nothing there to take '{name}' of, in '{text}'")
    return of.get(name)


def call(method, arguments, text):
    """Calls a method of an object, such as .Files.Get PATH."""
    if not callable(method):
        raise TemplateError(f"expected one value in '{text}'")
    return method(*arguments)


class Scope:
    def __init__(self, templates, dot, above=None):
        self.templates, self.dot, self.above, self.variables = templates, dot, above, {} if above else {'$': dot}

    def inner(self, dot):
        return Scope(self.templates, dot, self)

    def variable(self, name):
        scope = self
        while scope and name not in scope.variables:
            scope = scope.above
        if not scope:
            raise TemplateError(f"there is no variable '{name}'")
        return scope.variables[name]

    def declare(self, name, value):
        self.variables[name] = value
        return ''

    def assign(self, name, value):
        scope = self
        while name not in scope.variables:
            scope = scope.above
        scope.variables[name] = value
        return ''

    def include(self, name, dot):
        if name not in self.templates:
            raise TemplateError(f"there is no template '{name}'")
        return render(self.templates[name], Scope(self.templates, dot))


# --- templates

def parts_of(source):
    """Returns text and actions in turn, without the white space that '-' removes."""
    at, cut = 0, False
    for match in ACTION.finditer(source):
        before = source[at:match.end(1)]
        before = before.lstrip() if cut else before
        yield 'text', before.rstrip() if match[2] else before
        at, cut = match.end(), bool(match[4])
        if not match[3].startswith('/*'):
            yield 'action', match[3]
    yield 'text', source[at:].lstrip() if cut else source[at:]


def parse(source, templates):
    """Returns a list of (kind, …), in which blocks contain lists. A `define` is stored in `templates`."""
    parts = parts_of(source)

    def block():
        nodes = []
        for kind, text in parts:
            if kind == 'text':
                nodes.append(('text', text))
                continue
            word, _, rest = text.partition(' ')
            if word in ('end', 'else'):
                return nodes, text
            if word in ('if', 'with', 'range'):
                nodes.append(branches(word, rest))
            elif word == 'define':
                templates[rest.strip('"')], _ = block()
            else:
                nodes.append(('value', Expression(text)))
        return nodes, None

    def branches(word, condition):
        body, ended_by = block()
        if ended_by is None:
            raise TemplateError(f"'{word} {condition}' has no end")
        otherwise = []
        if ended_by.startswith('else if '):
            otherwise = [branches('if', ended_by[len('else if '):])]
        elif ended_by == 'else':
            otherwise, _ = block()
        return word, Expression(condition), body, otherwise

    nodes, ended_by = block()
    if ended_by:
        raise TemplateError(f"'{ended_by}' ends nothing")
    return nodes


def render(nodes, scope):
    return ''.join(render_node(node, scope) for node in nodes)


def render_node(node, scope):
    kind, what = node[:2]
    if kind == 'text':
        return what
    value = what.evaluate(scope)
    if kind == 'value':
        return text_of(value)
    if not value:
        return render(node[3], scope.inner(scope.dot))
    if kind == 'range':
        if not isinstance(value, list):
            raise TemplateError(f"range: expected a list, found {value!r} in '{what.text}'")
        return ''.join(render(node[2], scope.inner(item)) for item in value)
    return render(node[2], scope.inner(value if kind == 'with' else scope.dot))
