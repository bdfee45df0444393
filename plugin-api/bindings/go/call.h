/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the preambles. Go cannot call through a pointer, so each function of a table has a C function that
 * does. */
#ifndef KOORDETECTOR_GO_CALL_H
#define KOORDETECTOR_GO_CALL_H

#include "koordetector/plugin.h"

/* A status, and the value to which the call's last argument points. */
typedef struct koord_go_answer {
  koord_status status;
  uint64_t value;
} koord_go_answer;

#define KOORD_GO_CALL(table, member, ...) \
  (KOORD_HAS(table, member) ? (table)->member(__VA_ARGS__) : KOORD_E_UNSUPPORTED)

/* A Go string that C may read during the call. Only for a preamble, where _GoString_ exists. */
#define KOORD_GO_TEXT(text) ((koord_str){_GoStringPtr(text), _GoStringLen(text)})

#endif
