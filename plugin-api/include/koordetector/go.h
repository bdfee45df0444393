/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest of a plugin in Go. It is in C, because Go cannot put data into a separate section. Use it once per
 * plugin, in the comment above `import "C"` of its main package; the first line, `abi` and `runtime` are added.
 */
#ifndef KOORDETECTOR_GO_H
#define KOORDETECTOR_GO_H

#include "koordetector/plugin.h"

#define KOORD_GO_MANIFEST(lines)                                                          \
  __attribute__((section(KOORD_MANIFEST_SECTION), used)) const char koord_go_manifest[] = \
      "koord-manifest/1\nabi=" KOORD_ABI_TEXT "\nruntime=go\n" lines

#endif
