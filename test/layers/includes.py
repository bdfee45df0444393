#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which folders include which in this tree, and which file may read a format.

usage: includes.py TREE RULE      RULE is one of those in RULES below
       includes.py --self-test    each rule must catch a tree that breaks it

The tables come first: they are the rules, everything below only applies them.
"""
import pathlib
import re
import sys
import tempfile

# A library may include itself and libraries of the columns before its own, but no other library of its own column.
COLUMNS = [
    ['pch'],  # only for other precompiled headers
    ['base'],
    ['json', 'analysis'],
    ['log'],
    ['event', 'config', 'cgroup', 'metric', 'exposition'],
    ['sqlite', 'http'],
    ['kube', 'decision', 'verdict', 'aggregated'],
    ['state', 'store', 'kubeauth'],
    ['knob', 'predict', 'evict'],
    ['report'],
    ['service'],
    ['load', 'scrape'],
    ['host'],
    ['child', 'hook'],
    ['api', 'workshop', 'ui'],
    ['agentd', 'ctl', 'plugin_host', 'criproxy', 'manager'],
]

# Additional limits: libraries of earlier columns that a library must not include.
APART = {
    'knob': ['http', 'kube', 'state', 'store'],
}

# Folders that rank below their library, and all other folders that they may include.
LOWER = {
    'core/hook/nri': ['base', 'event'],
}

# Only code that loads plugins, and plugins, may include the plugin ABI ("koordetector/plugin.h").
KNOWS_THE_ABI = ['service', 'load', 'scrape', 'host', 'child', 'hook', 'api', 'workshop', 'agentd', 'ctl', 'plugin_host']

# A row of plugins/shared/README.md: the folder, and its users in the last cell. If it has more users than
# MOST_NAMED_USERS, the cell has only their number.
SHARED_ROW = re.compile(r'^\| `(\w+)` \|.*\| ([^|]*) \|$', re.M)
MOST_NAMED_USERS = 8

# A plugin may link the parts of the core without state of the node: all of base and json, and these headers.
PLUGIN_MAY_INCLUDE = [
    'core/base/',
    'core/json/',
    'core/analysis/',
    'core/cgroup/extraction.hpp',
    'core/cgroup/files.hpp',
    'core/cgroup/io_stat.hpp',
    'core/cgroup/layout.hpp',
    'core/cgroup/names.hpp',
    'core/metric/desc.hpp',
    'core/metric/labels.hpp',
    'core/metric/point.hpp',
]

# Heavy libraries, and the only places in core/ that may include them.
HEAVY = {
    'boost/asio': ['event'],
    'boost/beast': ['http'],
    'boost/dll': ['load'],
    'boost/program_options': ['config', 'agentd', 'ctl', 'criproxy', 'manager'],
    'grpcpp/': ['criproxy'],
    'spdlog/': ['log'],
    'yaml-cpp/': ['config'],
    'sqlite3.h': ['sqlite', 'store'],
    'openssl/': ['load', 'http'],
    'prometheus/': ['metric'],
    'gelf.h': ['workshop'],
    'libelf.h': ['workshop'],
    'bpf/': [],
}

# External formats that are read and written in one place: a pattern of code that handles the format by hand, and the only files
# that may contain such code. The first file has the functions for all others.
ONE_PLACE = {
    'UTF-8': (re.compile(r'&\s*0x[cC]0u?\b'), ['core/base/utf8.cpp']),
    'base64': (re.compile(r'(?i)xyz0123456789[+]/|\bevp_(de|en)code|detail/base64'), ['core/base/base64.cpp']),
    'timestamps': (re.compile(r'\b(strftime|strptime|gmtime(_r)?|localtime(_r)?|timegm)\s*\(|\byear_month_day\b|fmt/chrono'),
                   ['core/base/timestamp.cpp']),
    'percent-encoding': (re.compile(r"== '%'|'%' ==|[+]= '%'|push_back\('%'\)"), ['core/base/url.cpp']),
    # These two select the kind of a socket by the scheme.
    'URLs': (re.compile(r'"https?://"'), ['core/base/url.cpp', 'core/http/location.cpp', 'core/http/client.cpp']),
}

# Only core/json parses JSON texts, so one limit of depth and size holds for all. Values of Boost.JSON may be used anywhere.
PARSES_JSON = 'core/json/'
JSON_PARSER = re.compile(r'\bjson::(parse|parse_into|parser|basic_parser|stream_parser)\b'
                         r'|#\s*include\s*<boost/json/(parse|parse_into|parser|basic_parser|basic_parser_impl|stream_parser|src)\.hpp>')

SOURCES = {'.c', '.cpp', '.h', '.hpp'}
COMMENT = re.compile(r'(^|\s)//.*')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


class File:
    """One source file: its path in the tree and what it includes, as (quote, name)."""

    def __init__(self, tree, path):
        self.path = path.relative_to(tree)
        self.area, self.folder = (self.path.parts + ('', ''))[:2]
        self.name = self.path.name
        self.is_test = self.path.stem.endswith('_test')
        self.text = path.read_text(encoding='utf-8')
        self.includes = INCLUDE.findall(self.text)


def files_in(tree, *areas):
    for area in areas:
        for path in sorted((tree / area).rglob('*')):
            if path.suffix in SOURCES:
                yield File(tree, path)


def lower_libraries(library):
    lower = []
    for column in COLUMNS:
        if library in column:
            return [each for each in lower if each not in APART.get(library, [])] + [library]
        lower = lower + column
    return None


def core_includes_only_lower_libraries(tree):
    for file in files_in(tree, 'core'):
        allowed = lower_libraries(file.folder)
        if allowed is None:
            yield f'{file.path}: core/{file.folder} has no place in COLUMNS of test/layers/includes.py'
            continue
        folder = str(file.path.parent)
        if folder in LOWER:
            allowed = LOWER[folder]
        for _, name in file.includes:
            part = name.split('/')
            if part[0] == 'core' and part[1] not in allowed and not (folder in LOWER and name.startswith(folder + '/')):
                yield f'{file.path}: includes "{name}", but core/{file.folder} may include only {" ".join(allowed)}'
            if part[0] in ('plugins', 'test', 'examples'):
                yield f'{file.path}: includes "{name}", but core must not know {part[0]}/'
            if part[0] == 'koordetector' and file.folder not in KNOWS_THE_ABI:
                yield f'{file.path}: includes "{name}", but only {" ".join(KNOWS_THE_ABI)} know the plugin ABI'


def may_plugin_include(file, name):
    if '/' not in name or name.startswith((f'plugins/{file.folder}/', 'bpf/', 'plugins/shared/', 'koordetector/')):
        return True
    if file.is_test and name.startswith(('test/support/', 'doctest/')):
        return True
    return any(name.startswith(allowed) for allowed in PLUGIN_MAY_INCLUDE)


def plugins_include_only_the_abi_and_stateless_core(tree):
    for file in files_in(tree, 'plugins'):
        for quote, name in file.includes:
            ours = quote == '"' or name.startswith(('core/', 'plugins/', 'test/'))
            if ours and not may_plugin_include(file, name):
                yield (f'{file.path}: includes "{name}", but a plugin may include koordetector/, its own folder, '
                       f'plugins/shared/, bpf/ and {" ".join(PLUGIN_MAY_INCLUDE)}')


def users_of_shared_folders(tree):
    users = {}
    for file in files_in(tree, 'plugins'):
        user = '/'.join(file.path.parts[1:3]) if file.folder == 'shared' else file.folder
        for _, name in file.includes:
            if name.startswith('plugins/shared/'):
                folder = name.split('/')[2]
                if user != f'shared/{folder}':
                    users.setdefault(folder, set()).add(user.removeprefix('shared/'))
    return users


def shared_code_of_plugins_has_several_users_and_its_readme_names_them(tree):
    readme = tree / 'plugins/shared/README.md'
    if not readme.is_file():
        return
    rows = dict(SHARED_ROW.findall(readme.read_text(encoding='utf-8')))
    users = users_of_shared_folders(tree)
    for folder in sorted({file.path.parts[2] for file in files_in(tree, 'plugins') if file.folder == 'shared'}):
        of = sorted(users.get(folder, ()))
        if len(of) < 2:
            yield f'plugins/shared/{folder}: is used by {", ".join(of) or "nothing"} only; move it there'
        cell = ', '.join(f'`{user}`' for user in of) if len(of) <= MOST_NAMED_USERS else f'{len(of)} folders'
        if rows.get(folder) != cell:
            yield f'plugins/shared/README.md: the row of {folder} ends with "{rows.get(folder)}", expected "{cell}"'


def an_include_names_the_folder(tree):
    """Yields includes without a folder. In core a folder is required; a test may leave it out for a neighbour."""
    for file in files_in(tree, 'core', 'test'):
        for quote, name in file.includes:
            if quote == '<' and name.startswith('core/'):
                yield f'{file.path}: includes <{name}>, expected "{name}"'
            if quote == '"' and '/' not in name and file.area == 'core':
                yield f'{file.path}: includes "{name}", expected the path from the top, as in "core/cgroup/reader.hpp"'
            sources = [name, name + '.in', name.replace('.pb.h', '.proto')]
            made = any((tree / source).is_file() for source in sources)
            if quote == '"' and name.startswith('core/') and not made:
                yield f'{file.path}: includes "{name}", which is not in the tree'


def a_dot_h_is_c(tree):
    for file in files_in(tree, 'core', 'plugins', 'bpf', 'plugin-api'):
        if file.path.suffix not in ('.h', '.c'):
            continue
        if file.area == 'core' and file.path.suffix == '.h':
            yield f'{file.path}: .h is for C, shared with plugins or the kernel; C++ headers are .hpp'
        for _, name in file.includes:
            if name.endswith('.hpp') or '.' not in name:
                yield f'{file.path}: is C and includes "{name}", which is C++'


def heavy_libraries_stay_where_they_belong(tree):
    for file in files_in(tree, 'core', 'plugins'):
        for _, name in file.includes:
            for library, places in HEAVY.items():
                if not name.startswith(library) or file.folder in places:
                    continue
                if file.area == 'core':
                    yield f'{file.path}: includes <{name}>, which belongs to {" ".join(places) or "plugins"} only'
                elif library != 'bpf/':
                    yield f'{file.path}: includes <{name}>, which plugins must not use'


def json_is_read_in_one_place(tree):
    for file in files_in(tree, 'core', 'plugins'):
        if str(file.path).startswith(PARSES_JSON) or file.is_test:
            continue
        for found in JSON_PARSER.finditer(file.text):
            yield f'{file.path}: "{found[0]}", but JSON is read by read_json() of core/json/reader.hpp only'


def the_abi_header_includes_only_stddef_and_stdint(tree):
    header = tree / 'plugin-api/include/koordetector/plugin.h'
    for _, name in File(tree, header).includes:
        if name not in ('stddef.h', 'stdint.h'):
            yield f'{header.relative_to(tree)}: includes <{name}>; it must stand on stddef.h and stdint.h alone'


def each_format_has_one_reader(tree):
    for file in files_in(tree, 'core', 'plugins', 'test/support'):
        for name, (pattern, places) in ONE_PLACE.items():
            if str(file.path) in places:
                continue
            for number, line in enumerate(file.text.splitlines(), 1):
                if not file.is_test and pattern.search(COMMENT.sub('', line)):
                    yield f'{file.path}:{number}: reads or writes {name} by hand; use or extend {places[0]}'


RULES = [
    core_includes_only_lower_libraries,
    plugins_include_only_the_abi_and_stateless_core,
    shared_code_of_plugins_has_several_users_and_its_readme_names_them,
    an_include_names_the_folder,
    a_dot_h_is_c,
    heavy_libraries_stay_where_they_belong,
    json_is_read_in_one_place,
    the_abi_header_includes_only_stddef_and_stdint,
    each_format_has_one_reader,
]

# (rule, file, content): each of these must be found. The same tree with only GOOD must have no finding.
GOOD = [
    ('core/base/result.hpp', '#include <string>\n'),
    ('core/json/reader.cpp', '#include <boost/json/parser.hpp>\njson::parser parser;\n'),
    ('core/log/log.hpp', ''),
    ('core/agentd/main.cpp', '#include "core/base/version.hpp"\n'),
    ('core/base/version.hpp.in', ''),
    ('core/base/utf8.cpp', 'bool is_continuation = (c & 0xC0) == 0x80;\n'),
    ('core/base/timestamp.cpp', '::gmtime_r(&time, &parts);\n'),
    ('core/http/location.cpp', 'text.starts_with("https://");\n'),
    ('core/config/config.hpp', '// not a URL: "https://example.org"\n'),
    ('core/state/snapshot.hpp', ''),
    ('core/event/loop.hpp', '#include "core/base/result.hpp"\n'),
    ('core/hook/nri/client.hpp', '#include "core/event/loop.hpp"\n#include "core/hook/nri/client.hpp"\n'),
    ('core/hook/kept_answers.hpp', '#include "core/hook/nri/client.hpp"\n#include "core/state/snapshot.hpp"\n'),
    ('core/http/server.cpp', '#include <boost/beast.hpp>\n#include "core/event/loop.hpp"\n'),
    ('core/load/module.cpp', '#include "koordetector/plugin.h"\n#include "core/http/server.hpp"\n'),
    ('core/http/server.hpp', '#include <memory>\n'),
    ('plugins/advisor-x/x.cpp', '#include "koordetector/plugin.hpp"\n#include "x.hpp"\n#include "core/base/result.hpp"\n'),
    ('plugins/shared/README.md', '| `sdk` | small headers | `advisor-y`, `node` |\n| `node` | places | `advisor-x`, `advisor-y` |\n'),
    ('plugins/shared/sdk/a.hpp', '#include "plugins/shared/sdk/b.hpp"\n'),
    ('plugins/shared/node/a.hpp', '#include "plugins/shared/sdk/a.hpp"\n'),
    ('plugins/advisor-y/y.cpp', '#include "plugins/shared/sdk/a.hpp"\n#include "plugins/shared/node/a.hpp"\n'),
    ('plugins/advisor-x/z.cpp', '#include "plugins/shared/node/a.hpp"\n'),
    ('plugins/advisor-x/x_test.cpp', '#include "test/support/fake_node.hpp"\n'),
    ('plugin-api/include/koordetector/plugin.h', '#include <stdint.h>\n'),
]
BAD = [
    (core_includes_only_lower_libraries, 'core/json/a.cpp', '#include "core/log/log.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/base/a.cpp', '#include "core/log/log.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/event/a.cpp', '#include "core/config/config.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/store/a.hpp', '  #  include "core/state/snapshot.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/knob/a.hpp', '#include "core/state/snapshot.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/state/a.hpp', '#include "koordetector/plugin.h"\n'),
    (core_includes_only_lower_libraries, 'core/host/a.hpp', '#include "plugins/advisor-x/x.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/hook/nri/a.hpp', '#include "core/state/snapshot.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/hook/nri/a.hpp', '#include "core/hook/kept_answers.hpp"\n'),
    (core_includes_only_lower_libraries, 'core/unheard_of/a.hpp', ''),
    (plugins_include_only_the_abi_and_stateless_core, 'plugins/advisor-x/a.cpp', '#include "core/load/module.hpp"\n'),
    (plugins_include_only_the_abi_and_stateless_core, 'plugins/advisor-x/a.cpp', '#include <core/store/store.hpp>\n'),
    (plugins_include_only_the_abi_and_stateless_core, 'plugins/advisor-x/a.cpp', '#include "plugins/advisor-y/y.hpp"\n'),
    (plugins_include_only_the_abi_and_stateless_core, 'plugins/advisor-x/a.cpp', '#include "../advisor-y/y.hpp"\n'),
    (plugins_include_only_the_abi_and_stateless_core, 'plugins/advisor-x/a.cpp', '#include "test/support/fake_node.hpp"\n'),
    (shared_code_of_plugins_has_several_users_and_its_readme_names_them, 'plugins/advisor-x/z.cpp', ''),
    (shared_code_of_plugins_has_several_users_and_its_readme_names_them, 'plugins/advisor-z/z.cpp', '#include "plugins/shared/sdk/a.hpp"\n'),
    (shared_code_of_plugins_has_several_users_and_its_readme_names_them, 'plugins/shared/slo/a.hpp', ''),
    (an_include_names_the_folder, 'core/base/a.cpp', '#include "result.hpp"\n'),
    (an_include_names_the_folder, 'core/base/a.cpp', '#include <core/base/result.hpp>\n'),
    (an_include_names_the_folder, 'core/base/a.cpp', '#include "core/base/renamed.hpp"\n'),
    (a_dot_h_is_c, 'core/base/a.h', ''),
    (a_dot_h_is_c, 'plugins/advisor-x/a.h', '#include <string>\n'),
    (heavy_libraries_stay_where_they_belong, 'core/http/a.cpp', '#include <boost/asio/io_context.hpp>\n'),
    (heavy_libraries_stay_where_they_belong, 'plugins/advisor-x/a.cpp', '#include <sqlite3.h>\n'),
    (heavy_libraries_stay_where_they_belong, 'core/config/a.cpp', '#include <openssl/evp.h>\n'),
    (heavy_libraries_stay_where_they_belong, 'core/state/a.cpp', '#include <yaml-cpp/yaml.h>\n'),
    (json_is_read_in_one_place, 'core/state/a.cpp', 'auto value = json::parse(text);\n'),
    (json_is_read_in_one_place, 'core/state/a.cpp', '#include <boost/json/stream_parser.hpp>\n'),
    (json_is_read_in_one_place, 'plugins/advisor-x/a.cpp', 'boost::json::parse_into(value, text);\n'),
    (the_abi_header_includes_only_stddef_and_stdint, 'plugin-api/include/koordetector/plugin.h', '#include <stdbool.h>\n'),
    (each_format_has_one_reader, 'core/config/a.cpp', 'if ((byte & 0xc0) == 0x80) return;\n'),
    (each_format_has_one_reader, 'core/base/b.cpp', 'auto alphabet = "WXYZabcdefghijklmnopqrstuvwxyz0123456789+/";\n'),
    (each_format_has_one_reader, 'plugins/advisor-x/a.cpp', 'std::strftime(text, sizeof text, "%Y", &parts);\n'),
    (each_format_has_one_reader, 'test/support/a.hpp', "if (c == '%') return;\n"),
    (each_format_has_one_reader, 'core/http/a.cpp', 'if (text.starts_with("http://")) return;\n'),
]


def write(tree, path, content):
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(content, encoding='utf-8')


def self_test():
    for bad in [None] + BAD:
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            for path, content in GOOD:
                write(tree, path, content)
            if bad:
                write(tree, *bad[1:])
            for rule in RULES:
                found = list(rule(tree))
                if bool(found) != bool(bad and rule is bad[0]):
                    yield f'{rule.__name__} on {bad and bad[1:]}: found {found}'


def main(arguments):
    if arguments == ['--self-test']:
        findings = list(self_test())
    else:
        tree, name = arguments
        rule = {r.__name__: r for r in RULES}[name]
        findings = list(rule(pathlib.Path(tree)))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
