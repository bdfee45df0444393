#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the Rust binding mirrors plugin.h: every constant, every size, every member by name, order and type.

usage: rust_binding.py HEADER BINDING
       rust_binding.py --self-test    each kind of difference must be found
"""
import pathlib
import re
import sys

SCALARS = {'uint16_t': 'u16', 'uint32_t': 'u32', 'uint64_t': 'u64', 'int32_t': 'i32', 'int64_t': 'i64',
           'double': 'f64', 'char': 'c_char', 'void': 'c_void', 'INT64_MIN': 'i64::MIN'}
# Rust has its own words for the one, and takes only a literal for the other.
NOT_A_RUST_CONSTANT = {'KOORD_EXPORT', 'KOORD_MANIFEST_SECTION'}


def rust_type(c_type):
    """'const koord_snapshot **' is '*mut *const koord_snapshot'."""
    words = re.findall(r'\w+|\*', c_type.replace('struct ', ''))
    constant = words[0] == 'const'
    base, *stars = words[1:] if constant else words
    result = SCALARS.get(base, base)
    for _ in stars:
        result, constant = f"*{'const' if constant else 'mut'} {result}", False
    return result


def rust_function(returned, parameters):
    types = [rust_type(re.sub(r'\w+$', '', p.strip())) for p in parameters.split(',')]
    arrow = '' if returned.strip() == 'void' else f' -> {rust_type(returned)}'
    return f"Option<unsafe extern \"C\" fn({', '.join(types)}){arrow}>"


def members_of_c(body):
    for declaration in filter(None, (d.strip() for d in body.split(';'))):
        function = re.fullmatch(r'(.*?)\(\*(\w+)\)\((.*)\)', declaration, re.S)
        if function:
            returned, name, parameters = function.groups()
            yield name, rust_function(returned, ' '.join(parameters.split()))
            continue
        base, declarators = re.fullmatch(r'((?:const )?\w+)\s+(.*)', declaration, re.S).groups()
        for declarator in declarators.split(','):
            stars, name = re.fullmatch(r'\s*(\**)(\w+)', declarator).groups()
            yield name, rust_type(base + stars)


def read_c(text):
    constants = {name: re.sub(r'[()]|(?<=\w)u\b', '', SCALARS.get(value, value)) for name, value in
                 re.findall(r'^#define (KOORD_\w+) ([-(\w]+\)?)', text, re.M) if name not in NOT_A_RUST_CONSTANT}
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    structs = {name: list(members_of_c(body)) for name, body in re.findall(r'struct (\w+) \{(.*?)\n\}', text, re.S)}
    return constants, structs, dict(re.findall(r'sizeof\((\w+)\) == (\d+)', text))


def members_of_rust(body):
    body = re.sub(r'(?<=[(<]) |, (?=>)|,? (?=\))|,(?=\))', '', ' '.join(body.split()))
    for name, kind in re.findall(r'pub (?:r#)?(\w+): (.*?),(?= pub |$)', body):
        yield name, re.sub(r'(?<=[(, ])\w+: ', '', kind)


def read_rust(text):
    constants = dict(re.findall(r'pub const (KOORD_\w+): \w+ = ([-\w:]+);', text))
    found = re.findall(r'#\[repr\(C\)\]\n(?:#\[[^\n]*\n)*pub struct (koord_\w+) \{(.*?)\n\}', text, re.S)
    structs = {name: list(members_of_rust(body)) for name, body in found if 'pub ' in body}  # without the opaque one
    return constants, structs, dict(re.findall(r'size_of::<(\w+)>\(\) == (\d+)', text))


def differences(header, binding):
    for what, c, rust in zip(('constant', 'struct', 'size of'), read_c(header), read_rust(binding)):
        for name in sorted(c.keys() | rust.keys()):
            if c.get(name) != rust.get(name):
                yield f'{what} {name}: the header has {c.get(name)}, the binding {rust.get(name)}'


HEADER = '''
#define KOORD_GAUGE 1u /* one */
typedef struct koord_x {
  uint32_t n, rsv; /* two */
  const char *p;
  koord_status (*get)(const struct koord_x *x, void **out);
} koord_x;
KOORD_ASSERT_(sizeof(koord_x) == 24);
'''
BINDING = '''
pub const KOORD_GAUGE: u32 = 1;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_x {
    pub n: u32,
    pub rsv: u32,
    pub p: *const c_char,
    pub get: Option<unsafe extern "C" fn(x: *const koord_x, out: *mut *mut c_void) -> koord_status>,
}
const _: () = assert!(size_of::<koord_x>() == 24);
'''
DAMAGE = [('u32 = 1', 'u32 = 2'), ('pub rsv: u32,\n', ''), ('*const c_char', '*mut c_char'),
          ('out: *mut *mut', 'out: *mut'), ('-> koord_status', '-> u32'), ('== 24', '== 32')]


def self_test():
    if list(differences(HEADER, BINDING)):
        yield f'a true mirror is complained about: {list(differences(HEADER, BINDING))}'
    for good, bad in DAMAGE:
        if not list(differences(HEADER, BINDING.replace(good, bad))):
            yield f'{bad!r} for {good!r} is not found'


def main(arguments):
    if arguments == ['--self-test']:
        findings = list(self_test())
    else:
        findings = list(differences(*(pathlib.Path(path).read_text(encoding='utf-8') for path in arguments)))
    print('\n'.join(findings))
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
