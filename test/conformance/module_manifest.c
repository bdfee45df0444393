/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a plugin as the host does and prints the manifest that its module points to. */
#include <dlfcn.h>
#include <stdio.h>

#include "koordetector/plugin.h"

int main(int argc, char **argv) {
  const koord_module *(*entry)(void);
  const koord_module *module;
  void *library;
  if (argc != 2) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library) *(void **)&entry = dlsym(library, "koord_entry_v1");
  if (!library || !entry) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  module = entry();
  if (module != entry() || module->magic != KOORD_MAGIC || module->abi_major != KOORD_ABI_MAJOR) {
    fprintf(stderr, "the entry does not give one module of ABI %u\n", KOORD_ABI_MAJOR);
    return 1;
  }
  fputs(module->manifest, stdout);
  return 0;
}
