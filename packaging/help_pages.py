#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the man page and the completions of a program, from what it prints for --help.

usage: help_pages.py PROGRAM man|bash|zsh|fish    to the standard output

The commands and options come from the program's own tables, so they cannot differ from it. A value such as table|json
is completed by its words, FILE and PATH by names of files, and live|FILE by both, because words in capitals are
placeholders.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

SECTIONS = {'koordctl': 1, 'koordetector': 8, 'koord-manager': 8, 'koord-cri-proxy': 8, 'koord-plugin-host': 8}
SUMMARIES = {
    'koordctl': 'look at a koordetector agent, and at plugins',
    'koordetector': 'node agent that measures interference between containers',
    'koord-manager': "the cluster's part of koordetector",
    'koord-cri-proxy': 'stand between a kubelet and a container runtime without NRI',
    'koord-plugin-host': 'run one plugin of koordetector in a process of its own',
}
SEE_ALSO = ['koordctl', 'koordetector', 'koord-manager', 'koord-cri-proxy']

Option = collections.namedtuple('Option', 'short long value default help')
Command = collections.namedtuple('Command', 'name arguments summary options')
Program = collections.namedtuple('Program', 'name usage text commands options')

SPEC = re.compile(r'(?:-(?P<short>\w) \[ --(?P<long>[\w-]+) \]|--(?P<only>[\w-]+))(?: (?P<value>[^\s(]\S*))?(?: \(=(?P<default>.*)\))?')


# --- what --help says

def help_of(program, *command):
    environment = {**os.environ, 'LC_ALL': 'C.UTF-8'}
    done = subprocess.run([program, *command, '--help'], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"help_pages: {program} {' '.join(command)} --help: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def help_column(lines):
    """Returns the column in which the help texts begin. In most lines a text begins in this column after a space."""
    starts = collections.Counter()
    for line in lines:
        for at in range(3, len(line)):
            is_continued = line.startswith(' ' * at)
            if line[at] != ' ' and line[at - 1] == ' ' and (is_continued or (line.startswith('  -') and SPEC.fullmatch(line[2:at].rstrip()))):
                starts[at] += 1
    return starts.most_common(1)[0][0] if starts else 0


def options_in(text):
    _, _, block = text.partition('\nOptions:\n')
    lines = block.split('\n\n')[0].split('\n') if block else []
    column, options = help_column(lines), []
    for line in lines:
        spec, text_of_line = line[:column].rstrip(), line[column:].strip()
        if line.startswith('  -'):
            whole = SPEC.fullmatch(line.strip())  # too long for a text after it
            match = whole or SPEC.fullmatch(spec.strip())
            if not match:
                sys.exit(f"help_pages: cannot read the option '{line}'")
            options.append([match['short'], match['long'] or match['only'], match['value'] or '', match['default'] or '',
                            '' if whole else text_of_line])
        elif line.strip():
            options[-1][4] = (options[-1][4] + ' ' + line.strip()).strip()
    return [Option(*option) for option in options]


def commands_of(program, text):
    _, _, block = text.partition('\nCommands\n')
    commands = []
    for line in block.split('\n\n')[0].split('\n') if block else []:
        match = re.fullmatch(r'  (?P<name>[a-z]+(?:-[a-z]+)?(?: [a-z]+)?)(?P<arguments>(?: \[?[A-Z]+\]?)*) +(?P<summary>\S.*)', line)
        if not match:
            sys.exit(f"help_pages: cannot read the command '{line}'")
        own = help_of(program, *match['name'].split())
        commands.append(Command(match['name'], match['arguments'].strip(), match['summary'], options_in(own)))
    return commands


def read(path):
    name = pathlib.Path(path).name
    if name == 'koord-plugin-host':  # it has no options, because koordetector starts it
        return Program(name, [f'{name} ID FILE'], [f'{name} is started by koordetector(8) only, and ends with it.'], [], [])
    text = help_of(path)
    paragraphs = re.split(r'\n(?:Options:|Commands)\n', text)[0].split('\n\n')
    usage = [line.strip().removeprefix('Usage: ') for line in paragraphs[0].split('\n')]
    prose = [' '.join(paragraph.split()) for paragraph in paragraphs[1:] if paragraph.strip()]
    return Program(name, usage, prose, commands_of(path, text), options_in(text))


# --- the man page

def roff(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\n'.join('\\&' + line if line.startswith(('.', "'")) else line for line in text.split('\n'))


def option_entry(option):
    names = ([f'-{option.short}'] if option.short else []) + [f'--{option.long}']
    value = f' \\fI{roff(option.value)}\\fR' if option.value else ''
    default = f' (default: {roff(option.default)})' if option.default else ''
    return ['.TP', ', '.join(f'\\fB{roff(name)}\\fR' for name in names) + value, roff(option.help) + default + '.']


def man(program):
    section = SECTIONS[program.name]
    lines = [f'.TH {program.name.upper()} {section} "" "koordetector" ""', '.SH NAME', f'{roff(program.name)} \\- {roff(SUMMARIES[program.name])}',
             '.SH SYNOPSIS']
    for usage in program.usage:
        lines += [f'.B {roff(usage)}', '.br']
    lines.append('.SH DESCRIPTION')
    for paragraph in program.text:
        lines += ['.PP', roff(paragraph)]
    if program.options:
        lines.append('.SH OPTIONS')
        for option in program.options:
            lines += option_entry(option)
    if program.commands:
        lines.append('.SH COMMANDS')
        for command in program.commands:
            lines += [f'.SS {roff((command.name + " " + command.arguments).strip())}', roff(command.summary)]
            for option in command.options:
                lines += option_entry(option)
    others = [name for name in SEE_ALSO if name != program.name]
    lines += ['.SH SEE ALSO', ', '.join(f'\\fB{roff(name)}\\fR({SECTIONS[name]})' for name in others)]
    return '\n'.join(lines) + '\n'


# --- completions

def words_of(value):
    """Returns the values in a list such as table|json, without placeholders such as FILE."""
    return [word for word in value.split('|') if not word.isupper()] if '|' in value else []


def takes_file(value):
    return any(word in ('FILE', 'PATH', 'DIR', 'SOCKET', 'FIXTURE') for word in value.split('|'))


def leading_options(program):
    """Returns the options of at least half of the commands, with all words that these commands accept."""
    found = []
    for option in program.commands[0].options:
        same = [other for command in program.commands for other in command.options if other.long == option.long]
        if 2 * len(same) >= len(program.commands):
            words = dict.fromkeys(word for other in same for word in words_of(other.value))
            found.append(option._replace(value='|'.join(words) or option.value))
    return found


def all_options(program):
    return [(f'{command.name}', command.options) for command in program.commands] or [('', program.options)]


def bash_values(options):
    cases = []
    for option in options:
        names = '|'.join(([f'-{option.short}'] if option.short else []) + [f'--{option.long}'])
        words = f'-W "{" ".join(words_of(option.value))}" ' if words_of(option.value) else ''
        if takes_file(option.value):
            cases.append(f'      {names}) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen {words}-f -- "$cur")); return ;;')
        elif words:
            cases.append(f'      {names}) COMPREPLY=($(compgen {words}-- "$cur")); return ;;')
        elif option.value:
            cases.append(f'      {names}) return ;;')
    return cases


# The words of the command. An option before them takes the next word as its value, unless it is -sPATH or
# --socket=PATH. bash splits --socket=PATH into three words.
LEADING_OPTIONS_IN_BASH = '''\
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ -n $value ]]; then [[ $word == "=" ]] || value=""; continue; fi
    if [[ $word == -* && -n $words ]]; then break; fi
    if [[ $word == -? || ( $word == --* && $word != *=* ) ]]; then value=$word; continue; fi
    [[ $word == -* ]] || words+="${words:+ }$word"
  done'''.split('\n')


def bash(program):
    function = '_' + program.name.replace('-', '_')
    lines = [f'# Completion of {program.name} for bash.', f'{function}() {{', '  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=""',
             '  COMPREPLY=()', '  local word value=""', *LEADING_OPTIONS_IN_BASH, '  case "$words" in']
    # The longest names come first: "interference matrix" before "interference".
    for name, options in sorted(all_options(program), key=lambda entry: (-len(entry[0].split()), entry[0])):
        pattern = f'"{name}"|"{name} "*' if name else '*'
        lines.append(f'  {pattern})')
        if values := bash_values(options):
            lines += ['    case "$prev" in', *values, '    esac']
        flags = ' '.join(f'--{option.long}' for option in options)
        followers = sorted({command.name.split()[1] for command in program.commands if command.name.startswith(name + ' ')}) if name else []
        lines += [f'    if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "{flags}" -- "$cur"))',
                  f'    else compopt -o default 2>/dev/null; COMPREPLY=($(compgen -W "{" ".join(followers)}" -- "$cur")); fi; return ;;']
    if program.commands:
        groups = collections.defaultdict(list)
        for command in program.commands:
            first, *rest = command.name.split()
            groups[first] += rest
        known = {command.name for command in program.commands}
        for group in sorted(group for group in groups if group not in known):
            lines.append(f'  "{group}") COMPREPLY=($(compgen -W "{" ".join(groups[group])}" -- "$cur")); return ;;')
        leading = leading_options(program)
        lines += ['  "")', '    case "$value" in', *bash_values(leading), '      ?*) return ;;', '    esac',
                  f'    COMPREPLY=($(compgen -W "{" ".join(sorted(groups))} {" ".join(f"--{option.long}" for option in leading)}" -- "$cur")); return ;;']
    return '\n'.join(lines + ['  esac', '}', f'complete -F {function} {program.name}', ''])


def zsh_quoted(text):
    return text.replace('\\', '\\\\').replace("'", "'\\''").replace('[', '\\[').replace(']', '\\]').replace(':', '\\:')


def zsh_option(option):
    names = ([f'-{option.short}'] if option.short else []) + [f'--{option.long}']
    value = ''
    if option.value:
        words = ' '.join(words_of(option.value))
        what = f"({words})" if words else '_files' if takes_file(option.value) else ' '
        if words and takes_file(option.value):
            what = f' _alternative "words\\:word\\:({words})" "files\\:file\\:_files"'
        value = f":{zsh_quoted(option.value.replace('|', ' '))}:{what}"
    return [f"'{name}[{zsh_quoted(option.help)}]{value}'" for name in names]


# The same for zsh; `leading` counts the words that are skipped.
LEADING_OPTIONS_IN_ZSH = '''\
  for word in "${(@)words[2,CURRENT-1]}"; do
    if [[ -n $value ]]; then value=""; (( ++leading )); continue; fi
    if [[ $word == -* && -n $words_so_far ]]; then break; fi
    if [[ $word == -? || ( $word == --* && $word != *=* ) ]]; then value=$word; (( ++leading )); continue; fi
    if [[ $word == -* ]]; then (( ++leading )); continue; fi
    words_so_far+="${words_so_far:+ }$word"
  done'''.split('\n')


def zsh(program):
    function = '_' + program.name.replace('-', '_')
    lines = [f'#compdef {program.name}', f'# Completion of {program.name} for zsh.', f'{function}() {{']
    if not program.commands:
        specs = [spec for option in program.options for spec in zsh_option(option)]
        return '\n'.join(lines + ['  _arguments \\', *(f'    {spec} \\' for spec in specs), "    '*:file:_files'", '}', f'{function} "$@"', ''])
    lines += ['  local words_so_far="" word value=""', '  local -i leading=0', *LEADING_OPTIONS_IN_ZSH, '  if [[ -n $value ]]; then', '    case "$value" in']
    for option in leading_options(program):
        names = '|'.join(([f'-{option.short}'] if option.short else []) + [f'--{option.long}'])
        if words_of(option.value):
            lines.append(f"      ({names}) compadd -- {' '.join(words_of(option.value))} ;;")
        elif takes_file(option.value):
            lines.append(f'      ({names}) _files ;;')
    lines += ['    esac', '    return', '  fi', '  case "$words_so_far" in']
    groups = collections.defaultdict(list)
    for command in sorted(program.commands, key=lambda command: (-len(command.name.split()), command.name)):
        specs = [spec for option in command.options for spec in zsh_option(option)]
        words = len(command.name.split())
        lines.append(f'  ("{command.name}"|"{command.name} "*)')
        if followers := [other for other in program.commands if other.name.startswith(command.name + ' ')]:
            members = ' '.join(f"'{other.name.split()[1]}:{zsh_quoted(other.summary)}'" for other in followers)
            lines.append(f"    local -a members=({members}); _describe '{command.name} command' members")
        lines += [f'    shift $((leading + {words})) words; (( CURRENT -= leading + {words} ))', '    _arguments \\', *(f'      {spec} \\' for spec in specs),
                  "      '*:argument:_files' ;;"]
    for command in program.commands:
        first, *rest = command.name.split()
        groups[first].append((rest[0] if rest else '', command.summary))
    known = {command.name for command in program.commands}
    for group in sorted(group for group in groups if group not in known):
        lines.append(f'  ("{group}") local -a members=(' + ' '.join(f"'{name}:{zsh_quoted(summary)}'" for name, summary in groups[group]) + f"); _describe '{group} command' members ;;")
    firsts = [f"'{first}:{zsh_quoted(entries[0][1] if not entries[0][0] else 'Commands about a ' + first + '.')}'" for first, entries in sorted(groups.items())]
    lines.append('  ("") local -a members=(' + ' '.join(firsts) + "); _describe 'command' members ;;")
    return '\n'.join(lines + ['  esac', '}', f'{function} "$@"', ''])


def fish_quoted(text):
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def fish(program):
    lines = [f'# Completion of {program.name} for fish.']
    firsts = sorted({command.name.split()[0] for command in program.commands})
    if firsts:
        lines.append(f'complete -c {program.name} -f')
    for command in program.commands:
        first, *rest = command.name.split()
        condition = '__fish_use_subcommand' if not rest else f'__fish_seen_subcommand_from {first}'
        lines.append(f'complete -c {program.name} -n {fish_quoted(condition)} -a {fish_quoted(rest[0] if rest else first)} -d {fish_quoted(command.summary)}')
    for first in firsts:
        if not any(command.name == first for command in program.commands):
            lines.append(f"complete -c {program.name} -n '__fish_use_subcommand' -a {fish_quoted(first)} -d {fish_quoted(f'Commands about a {first}.')}")
    for name, options in all_options(program):
        seen = '; and '.join(f'__fish_seen_subcommand_from {word}' for word in name.split())
        for option in options:
            parts = [f'complete -c {program.name}'] + ([f'-n {fish_quoted(seen)}'] if seen else [])
            parts += ([f'-s {option.short}'] if option.short else []) + [f'-l {option.long}']
            if words_of(option.value):
                parts.append(f"{'-r -F' if takes_file(option.value) else '-x'} -a {fish_quoted(' '.join(words_of(option.value)))}")
            elif option.value:
                parts.append('-r -F' if takes_file(option.value) else '-x')
            lines.append(' '.join(parts + [f'-d {fish_quoted(option.help)}']))
    return '\n'.join(lines) + '\n'


def main(arguments):
    if len(arguments) != 2 or arguments[1] not in WRITERS:
        sys.exit(__doc__.split('\n\n')[1])
    sys.stdout.write(WRITERS[arguments[1]](read(arguments[0])))


WRITERS = {'man': man, 'bash': bash, 'zsh': zsh, 'fish': fish}

if __name__ == '__main__':
    main(sys.argv[1:])
