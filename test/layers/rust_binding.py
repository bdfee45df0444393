#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that abi.rs of the Rust binding is what generate_abi.py makes of plugin.h.

usage: rust_binding.py                prints what differs
       rust_binding.py --self-test    each form of declaration is translated or refused, each difference is found
"""
import difflib
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'plugin-api/bindings/rust'))
import generate_abi  # noqa: E402


def differences(header, binding):
    lines = (text.split('\n') for text in (binding, generate_abi.generate(header)))
    return list(difflib.unified_diff(*lines, 'abi.rs', 'generate_abi.py', lineterm='', n=1))


HEADER = '''
/* The first comment. */
#define KOORD_EXPORT __attribute__((visibility("default")))
#define KOORD_HAS(table, member) \\
  ((table)->member)

#ifdef __cplusplus
extern "C" {
#endif
#define KOORD_ABI_MAJOR 1u
#define KOORD_ABI_TEXT "1.1"

/* ---- status -------------------------------------------------------------- */
typedef int32_t koord_status;
#define KOORD_OK 0
#define KOORD_E_IO (-12) /* twelve */
#define KOORD_LOG_WARN 2

/* ---- koord.x/1: one of all ------------------------------------------
 * More of it. */
#define KOORD_MAGIC 0x4bu
#define KOORD_NO_SUBJECT 0u
#define KOORD_ABSENT INT64_MIN
typedef struct koord_snapshot koord_snapshot;
typedef struct koord_late koord_late;
typedef struct koord_x { /* "koord.x/1" */
  uint32_t n, type; /* two */
  const char *p, *q;
  double *impl;
  const koord_late *(*late)(void *self, const struct koord_x *x, const koord_snapshot **out);
  void (*end)(void *self);
} koord_x;
struct koord_late {
  koord_status (*name_of_a_length)(const koord_x *a_first_parameter, uint64_t seconds);
  koord_status (*name_of_a_longer_length)(const koord_x *a_first_parameter, uint64_t seconds);
  koord_status (*longer)(const koord_x *a_first_parameter, uint64_t seconds_that_have_passed_s);
  koord_status (*longest)(const koord_x *a_first_parameter, uint64_t the_second_of_them, koord_x *three);
};
KOORD_EXPORT const koord_x *koord_entry_v1(void);
#if UINTPTR_MAX == 0xffffffffffffffffu
KOORD_ASSERT_(sizeof(koord_x) == 48);
KOORD_ASSERT_(sizeof(koord_late) == 24);
#endif
#ifdef __cplusplus
}
#endif
'''
BINDING = generate_abi.BEGIN + '''
pub const KOORD_ABI_MAJOR: u16 = 1;

// ---- status

pub type koord_status = i32;
pub const KOORD_OK: koord_status = 0;
pub const KOORD_E_IO: koord_status = -12;
pub const KOORD_LOG_WARN: i32 = 2;

// ---- koord.x/1: one of all

pub const KOORD_MAGIC: u32 = 0x4b;
pub const KOORD_NO_SUBJECT: u64 = 0;
pub const KOORD_ABSENT: i64 = i64::MIN;

/// Opaque.
#[repr(C)]
pub struct koord_snapshot {
    opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_x {
    pub n: u32,
    pub r#type: u32,
    pub p: *const c_char,
    pub q: *const c_char,
    pub r#impl: *mut f64,
    pub late: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            x: *const koord_x,
            out: *mut *const koord_snapshot,
        ) -> *const koord_late,
    >,
    pub end: Option<unsafe extern "C" fn(instance: *mut c_void)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_late {
    pub name_of_a_length: Option<unsafe extern "C" fn(a_first_parameter: *const koord_x, seconds: u64) -> koord_status>,
    pub name_of_a_longer_length:
        Option<unsafe extern "C" fn(a_first_parameter: *const koord_x, seconds: u64) -> koord_status>,
    pub longer: Option<
        unsafe extern "C" fn(a_first_parameter: *const koord_x, seconds_that_have_passed_s: u64) -> koord_status,
    >,
    pub longest: Option<
        unsafe extern "C" fn(
            a_first_parameter: *const koord_x,
            the_second_of_them: u64,
            three: *mut koord_x,
        ) -> koord_status,
    >,
}

#[cfg(target_pointer_width = "64")]
mod sizes {
    use super::*;
    use std::mem::size_of;

    const _: () = assert!(size_of::<koord_x>() == 48);
    const _: () = assert!(size_of::<koord_late>() == 24);
}
'''

# Each of these must be found as a difference of abi.rs.
DAMAGE = [('u32 = 0x4b', 'u32 = 0x4c'), ('    pub n: u32,\n', ''), ('*const c_char', '*mut c_char'),
          ('*mut *const', '*mut'), ('-> koord_status', '-> u32'), ('== 24', '== 32')]
# Each of these must end generate_abi.py with an error.
UNKNOWN = [('KOORD_MAGIC 0x4bu', 'KOORD_MAGIC (1u << 4)'), ('uint32_t n, type;', 'uint32_t n[2];'),
           ('uint32_t n, type;', 'uint32_t n : 4;'), ('uint32_t n, type;', 'union { int32_t n; } type;'),
           ('double *impl', 'float *impl'), ('double *impl', 'char *const *impl'), ('void *self)', 'void *)'),
           ('typedef int32_t', 'typedef enum koord_e { KOORD_A } koord_e;\ntypedef int32_t'),
           ('KOORD_ASSERT_(sizeof(koord_late) == 24);\n', '')]


def is_refused(header):
    try:
        generate_abi.generate(header)
    except generate_abi.Unknown:
        return True
    return False


def self_test():
    yield from differences(HEADER, BINDING)
    for good, bad in DAMAGE:
        if not differences(HEADER, BINDING.replace(good, bad, 1)):
            yield f'{bad!r} for {good!r} is not found'
    for good, bad in UNKNOWN:
        if not is_refused(HEADER.replace(good, bad)):
            yield f'{bad!r} for {good!r} is not refused'


def main(arguments):
    if arguments == ['--self-test']:
        findings = list(self_test())
    else:
        texts = (path.read_text(encoding='utf-8') for path in (generate_abi.HEADER, generate_abi.ABI))
        findings = differences(*texts)
        findings += ['run plugin-api/bindings/rust/generate_abi.py'] if findings else []
    print('\n'.join(findings))
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
