#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes abi.rs: the constants and structs of plugin.h in Rust, in the order and the sections of plugin.h.

usage: generate_abi.py    writes abi.rs, beside this file

Fails at a declaration of a form that it does not know, and at a struct of which plugin.h asserts no size.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).parent
HEADER = HERE.parents[1] / 'include/koordetector/plugin.h'
ABI = HERE / 'abi.rs'

BEGIN = '''\
// SPDX-License-Identifier: Apache-2.0
//! The declarations of plugin.h under their own names, documented there. A function that may be missing, and so every
//! function, is an `Option`. generate_abi.py makes this file from plugin.h: do not edit it.

#![allow(non_camel_case_types, missing_docs)]

use std::os::raw::{c_char, c_void};
'''
WIDTH = 120
SCALARS = {'uint16_t': 'u16', 'uint32_t': 'u32', 'uint64_t': 'u64', 'int32_t': 'i32', 'int64_t': 'i64',
           'double': 'f64', 'char': 'c_char', 'void': 'c_void'}
KEYWORDS = {'as', 'fn', 'impl', 'in', 'loop', 'match', 'mod', 'move', 'mut', 'pub', 'ref', 'type', 'use', 'where'}
# Types of constants that differ from the default, as their members and parameters need. Others are u32, or i32 without
# a "u".
CONSTANT_TYPES = {'KOORD_ABI_MAJOR': 'u16', 'KOORD_ABI_MINOR': 'u16', 'KOORD_NO_SUBJECT': 'u64', 'KOORD_ABSENT': 'i64'}
NOT_A_CONSTANT = {'KOORD_EXPORT', 'KOORD_ABI_TEXT', 'KOORD_MANIFEST_SECTION'}  # an attribute and texts

SECTION = re.compile(r'/\* ---- (.*?) ?-{2,}(?: \*/|\n)')
DECLARATION = re.compile(r'''
    //\ ----\ (?P<section>[^\n]*)
  | \#define\ (?P<constant>KOORD_\w+)\ (?P<value>[^\n]*)
  | typedef\ struct\ (?P<forward>\w+)\ (?P=forward);
  | typedef\ (?P<aliased>\w+)\ (?P<alias>\w+);
  | (?P<typedef>typedef\ )?struct\ (?P<struct>\w+)\ \{(?P<body>[^}]*)\}(?(typedef)\ (?P=struct));
  | KOORD_ASSERT_\(sizeof\((?P<sized>\w+)\)\ ==\ (?P<size>\d+)\);
  | \#[^\n]* | extern\ "C"\ \{ | \}         # the preprocessor, for C++
  | KOORD_EXPORT\ [^;]*;                   # the entry, which plugin! makes
''', re.X)


class Unknown(Exception):
    """A declaration that cannot be translated."""


def rust_name(name):
    return f'r#{name}' if name in KEYWORDS else name


def rust_type(text):
    """'const koord_snapshot **' is '*mut *const koord_snapshot'."""
    found = re.fullmatch(r'(const )?(?:struct )?(\w+)([ *]*)', text.strip())
    if not found or (found[2] not in SCALARS and not found[2].startswith('koord_')):
        raise Unknown(f'type {text!r}')
    constant, result = found[1], SCALARS.get(found[2], found[2])
    for _ in range(found[3].count('*')):
        result, constant = f"*{'const' if constant else 'mut'} {result}", None
    return result


def parameter(text):
    found = re.fullmatch(r'(.*\W)(\w+)', text.strip())
    if not found:
        raise Unknown(f'parameter {text!r}')
    # A receiver is `self` in C, which is a keyword that r# cannot quote.
    name = 'instance' if found[2] == 'self' else rust_name(found[2])
    return f'{name}: {rust_type(found[1])}'


def function_member(name, returned, parameters):
    """The member's lines, broken as rustfmt does."""
    parameters = [parameter(p) for p in parameters]
    arrow = '' if returned.strip() == 'void' else f' -> {rust_type(returned)}'
    begin, function = f'    pub {rust_name(name)}:', f'unsafe extern "C" fn({", ".join(parameters)}){arrow}'
    whole = f'Option<{function}>,'
    if len(f'{begin} {whole}') <= WIDTH:
        return [f'{begin} {whole}']
    if len(f'        {whole}') <= WIDTH:
        return [begin, f'        {whole}']
    if len(f'        {function},') <= WIDTH:
        return [f'{begin} Option<', f'        {function},', '    >,']
    return [f'{begin} Option<', '        unsafe extern "C" fn(', *(f'            {p},' for p in parameters),
            f'        ){arrow},', '    >,']


def members(body):
    for declaration in filter(None, (' '.join(d.split()) for d in body.split(';'))):
        function = re.fullmatch(r'(.*?)\(\*(\w+)\)\((.*)\)', declaration)
        if function:
            yield from function_member(function[2], function[1], function[3].split(','))
            continue
        variables = re.fullmatch(r'((?:const )?\w+) (.*)', declaration)
        for declarator in variables[2].split(',') if variables else [declaration]:
            found = re.fullmatch(r' ?(\**)(\w+)', declarator)
            if not found:
                raise Unknown(f'member {declaration!r}')
            yield f'    pub {rust_name(found[2])}: {rust_type(variables[1] + found[1])},'


def struct(name, body):
    return ['', '#[repr(C)]', '#[derive(Clone, Copy)]', f'pub struct {name} {{', *members(body), '}']


def opaque(name):
    return ['', '/// Opaque.', '#[repr(C)]', f'pub struct {name} {{', '    opaque: [u8; 0],', '}']


def constant(name, value):
    if name in NOT_A_CONSTANT:
        return []
    found = re.fullmatch(r'\(?(-?\w+?)(u?)\)?', value.strip())
    if not found or not re.fullmatch(r'-?\d+|0x[0-9a-f]+|INT64_MIN', found[1]):
        raise Unknown(f'constant {name} {value!r}')
    kind = 'koord_status' if re.match('KOORD_(OK|E_)', name) else 'u32' if found[2] else 'i32'
    kind = CONSTANT_TYPES.get(name, kind)
    return [f"pub const {name}: {kind} = {found[1].replace('INT64_MIN', 'i64::MIN')};"]


def translate(found, defined):
    if found['section']:
        return ['', f"// ---- {found['section']}", '']
    if found['constant']:
        return constant(found['constant'], found['value'])
    if found['alias']:
        return [f"pub type {found['alias']} = {rust_type(found['aliased'])};"]
    if found['forward']:
        return [] if found['forward'] in defined else opaque(found['forward'])
    if found['struct']:
        return struct(found['struct'], found['body'])
    return []


def declarations(text):
    at = 0
    while at < len(text):
        found = DECLARATION.match(text, at)
        if not found:
            raise Unknown(text[at:].split('\n', 1)[0])
        yield found
        at = re.compile(r'\s*').match(text, found.end()).end()


def sizes(found, defined):
    """Compile-time checks of this very file, with the sizes that the C compiler has checked."""
    unsized = sorted(defined - {name for name, _ in found})
    if unsized:
        raise Unknown(f'no assertion of the size of {unsized[0]}')
    asserts = [f'    const _: () = assert!(size_of::<{name}>() == {size});' for name, size in found]
    return ['', '#[cfg(target_pointer_width = "64")]', 'mod sizes {',
            '    use super::*;', '    use std::mem::size_of;', '', *asserts, '}']


def without_comments(header):
    """The text without comments and with one line for each directive; the heads of sections become '// ---- '."""
    text = SECTION.sub(lambda found: f'// ---- {found[1]}\n' + ('' if found[0].endswith('*/') else '/*'), header)
    text = re.sub(r'/\*.*?\*/', '', text.replace('\\\n', ' '), flags=re.S)
    return re.sub(r'[ \t]+$', '', text, flags=re.M).lstrip()


def generate(header):
    """abi.rs for the text of plugin.h."""
    found = list(declarations(without_comments(header)))
    defined = {one['struct'] for one in found if one['struct']}
    lines = [BEGIN]
    for one in found:
        new = translate(one, defined)
        after_struct = lines[-1] == '}' and new and new[0]
        lines += ['', *new] if after_struct else new
    lines += sizes([(one['sized'], one['size']) for one in found if one['sized']], defined)
    return re.sub(r'\n{3,}', '\n\n', '\n'.join(lines)) + '\n'


def main():
    ABI.write_text(generate(HEADER.read_text(encoding='utf-8')), encoding='utf-8')


if __name__ == '__main__':
    main()
