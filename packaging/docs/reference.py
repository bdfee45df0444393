# SPDX-License-Identifier: Apache-2.0
"""Makes the reference pages, as Markdown: from what the programs print, from plugin.h, from the sources and from the plugins' READMEs."""
import ast
import json
import pathlib
import re
import subprocess

import help_pages
from pages import Document, Problem


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Problem(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def escape(text):
    """Returns a program's text as Markdown, which can be in the cell of a table, too."""
    return re.sub(r'([\\`*_{}\[\]<>#|~])', r'\\\1', text)


def code(text):
    """Returns a code span, which can be in the cell of a table, too."""
    return '`' + text.replace('|', '\\|') + '`' if text else ''


def table(*rows):
    head, *others = rows
    lines = [head, ['---'] * len(head), *others]
    return '\n'.join('| ' + ' | '.join(cells) + ' |' for cells in lines) + '\n'


# --- programs

def option_row(option):
    names = ', '.join(([f'-{option.short}'] if option.short else []) + [f'--{option.long}'])
    return [code(names + (f' {option.value}' if option.value else '')), code(option.default), escape(option.help)]


def options_table(options):
    return table(['option', 'default', 'meaning'], *map(option_row, options)) if options else ''


def program_page(path):
    program = help_pages.read(path)
    parts = [f'# {program.name}', escape(help_pages.SUMMARIES[program.name].capitalize()) + '.', '```text\n' + '\n'.join(program.usage) + '\n```',
             *map(escape, program.text)]
    if program.options:
        parts += ['## Options', options_table(program.options)]
    if program.commands:
        parts += ['## Commands', table(['command', 'purpose'], *([f'[{code(program.name + " " + command.name)}](#{anchor(program, command)})', escape(command.summary)]
                                                                for command in program.commands))]
    for command in program.commands:
        parts += [f'### {program.name} {command.name}', code(f'{program.name} {command.name} {command.arguments}'.strip()), escape(command.summary),
                  options_table(command.options)]
    return Document(f'reference/{program.name}.md', '\n\n'.join(parts) + '\n')


def anchor(program, command):
    return f'{program.name} {command.name}'.replace(' ', '-')


# --- the configuration

def keys_of(text):
    """Yields (key, default, allowed values, meaning) of what --print-config-reference prints."""
    parents, comments = [], []
    for line in text.split('\n'):
        stripped, depth = line.strip(), (len(line) - len(line.lstrip())) // 2
        entry = re.match(r'(?P<key>[\w.-]+):(?: (?P<value>.*))?$', stripped)
        setting = re.match(r'#     (?P<key>\w+):(?: (?P<value>[^#]*?))?  # (?P<rest>.*)$', stripped)
        if setting:  # the settings of one plugin are in a comment
            allowed, _, meaning = setting['rest'].partition('. ')
            yield f'plugins.settings.ID.{setting["key"]}', (setting['value'] or '').strip(), allowed, meaning
        elif stripped.startswith('#'):
            comments.append(stripped[1:].strip())
        elif entry:
            parents = parents[:depth] + [entry['key']]
            if comments:
                yield '.'.join(parents), entry['value'] or '', comments[-1], ' '.join(comments[:-1])
            comments = []
        elif stripped:
            raise Problem(f'reference: cannot read the line {line!r} of --print-config-reference')


def configuration_page(path):
    name = pathlib.Path(path).name
    groups = {}
    for key, *rest in keys_of(run(path, '--print-config-reference')):
        groups.setdefault(key.split('.')[0], []).append([code(key), code(rest[0]), escape(rest[1]), escape(rest[2])])
    parts = [f'# Configuration of {name}', f'Every key, as {code(name + " --print-config-reference")} prints it. A key without a default is not set.']
    for group, rows in groups.items():
        parts += [f'## {group}', table(['key', 'default', 'values', 'meaning'], *rows)]
    return Document(f'reference/configuration-{name}.md', '\n\n'.join(parts) + '\n')


# --- the ABI

SECTION = re.compile(r'^/\* ---- (?P<title>.+?) -{3,}(?P<goes_on> ?\*/)?$', re.M)
STATUS = re.compile(r'(?:/\*(?P<above>(?:(?!\*/).)*)\*/\n)?#define (?P<name>KOORD_(?:OK|E_\w+)) \(?(?P<value>-?\d+)\)?(?: */\* (?P<behind>.*?) \*/)?$', re.M | re.S)


def header_sections(header):
    starts = list(SECTION.finditer(header))
    for match, after in zip(starts, starts[1:] + [None]):
        body = header[match.end():after.start() if after else len(header)]
        yield match['title'].strip(), (body if match['goes_on'] else '/*' + body).strip('\n')


def abi_page(header):
    parts = ['# ABI', 'The contract between the agent and a plugin is one header, [plugin.h](../plugin-api/include/koordetector/plugin.h). Its parts follow. '
             'The [authors\' manual](../plugin-api/README.md) shows how to use it.', '## Rules', '```text\n' + law_of(header) + '\n```']
    for title, body in header_sections(header):
        parts += [f'## {escape(title)}', f'```c\n{body}\n```']
    return Document('reference/abi.md', '\n\n'.join(parts) + '\n')


def law_of(header):
    comment = re.search(r'/\*\n( \* The Koordetector plugin ABI.*?)\n \*/', header, re.S)
    return '\n'.join(line.removeprefix(' *').removeprefix(' ') for line in comment[1].split('\n'))


# --- errors

def rules_of(koordctl):
    refused = subprocess.run([koordctl, 'plugin', 'explain', 'K000'], capture_output=True, text=True, check=False)
    for name in re.findall(r'\bK\d{3}\b', refused.stderr.partition('there are')[2]):
        yield json.loads(run(koordctl, 'plugin', 'explain', name, '-o', 'json'))


def errors_page(header, koordctl):
    statuses = []
    for match in STATUS.finditer(header):
        text = match['behind'] or match['above'] or ''
        statuses.append([code(match['name']), match['value'], escape(' '.join(text.replace('\n *', ' ').split()))])
    parts = ['# Errors', 'An error names what failed, on what, why, and what is expected. `koordctl` then ends with exit status 1.',
             '## Statuses of the ABI', 'Functions of the ABI return one of these. The text of the error comes with it.', table(['status', 'value', 'meaning'], *statuses),
             '## Rules of koordctl plugin check', f'{code("koordctl plugin explain RULE")} prints the same text.']
    for rule in rules_of(koordctl):
        parts += [f'### {rule["rule"]}', f'A plugin {escape(rule["title"])} ({rule["severity"]}).', f'```text\n{rule["text"]}\n```']
    parts += ['## Elsewhere', '- [Statuses of the data API](../core/api/README.md)\n- [Alerts, with a runbook for each](../packaging/prometheus/README.md)\n'
              '- [States of a plugin](../plugin-api/README.md#states)\n- [Results of a decision](../packaging/README.md#strategies-shadow-first)']
    return Document('reference/errors.md', '\n\n'.join(parts) + '\n')


# --- metrics

OWN_METRIC = re.compile(r'"((?:host|plugin|store|report|predict|http)(?:_[a-z]+)+)",\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
MANAGER_METRIC = re.compile(r'(?:head|one)\(\s*"([a-z_]+)",\s*"(?:gauge|counter)",\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
NAMES_OF_KOORDLET = 'koordlet_names.cpp'  # core/agentd/KOORDLET.md lists them


def own_metrics(tree):
    """Returns the metrics of the agent and of koord-manager with their HELP text, as the sources define them."""
    agent, manager = {}, {}
    for path in sorted((tree / 'core').rglob('*.[ch]pp')):
        expression, found = (MANAGER_METRIC, manager) if path.parent.name == 'manager' else (OWN_METRIC, agent)
        if path.name == NAMES_OF_KOORDLET:
            continue
        for match in expression.finditer(path.read_text(encoding='utf-8')):
            text = ''.join(ast.literal_eval(literal) for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"', match[2]))
            if text.endswith('.'):
                found[match[1]] = text
    return agent, manager


def metrics_page(tree, documents):
    agent, manager = own_metrics(tree)
    parts = ['# Metrics', 'Names on `/metrics` of the agent begin with `koordetector_`. A metric of a plugin is in the metric cache without this prefix. '
             '[`exporter.detail`](../packaging/README.md#series-on-metrics) selects which of them `/metrics` has.',
             '## The agent', table(['metric', 'meaning'], *([code('koordetector_' + name), escape(text)] for name, text in sorted(agent.items()))),
             '## koord-manager', table(['metric', 'meaning'], *([code('koord_manager_' + name), escape(text)] for name, text in sorted(manager.items())))]
    for document in documents:
        section = re.search(r'^## Metrics\n(.*?)(?=^## |\Z)', document.text, re.M | re.S)
        plugin = re.fullmatch(r'plugins/([^/]+)/README\.md', document.path)
        if plugin and section:
            parts += [f'## {plugin[1]}', f'From [its page](../{document.path}#metrics).', moved(section[1].strip(), f'../plugins/{plugin[1]}')]
    parts += ['## Names of koordlet', 'With `exporter.koordletNames: true` the agent also exports [these families](../core/agentd/KOORDLET.md).']
    return Document('reference/metrics.md', '\n\n'.join(parts) + '\n')


def moved(text, folder):
    """Returns the text of a README for a page in a different folder. Its links lead to the same files."""
    text = re.sub(r'\]\((?=#)', f']({folder}/README.md', text)
    text = re.sub(r'\]\((?!\.\./plugins/|[a-z]+:|#)', f']({folder}/', text)
    return re.sub(r'^(#+ )', r'#\1', text, flags=re.M)


def documents(tree, others, programs):
    by_name = {pathlib.Path(program).name: program for program in programs}
    for name in ('koordctl', 'koordetector', 'koord-manager'):
        if name not in by_name:
            raise Problem(f'the program {name} is missing, expected its path behind OUTPUT')
    header = (tree / 'plugin-api/include/koordetector/plugin.h').read_text(encoding='utf-8')
    made = [program_page(program) for program in programs]
    made += [configuration_page(by_name['koordetector']), configuration_page(by_name['koord-manager'])]
    made += [metrics_page(tree, others), abi_page(header), errors_page(header, by_name['koordctl'])]
    return made
