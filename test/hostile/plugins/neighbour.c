/* SPDX-License-Identifier: Apache-2.0 */
/* A well-behaved third-party runtime hook: sets 777 CPU shares and a variable for each container. Its id is the last in
 * order, so every hook of an attack is asked before it. */
#include <koordetector/plugin.h>
#include <stdlib.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

static koord_status create(const koord_host *host, const koord_class *cls, void **self) {
  (void)host, (void)cls;
  *self = malloc(1);
  return *self ? KOORD_OK : KOORD_E_NOMEM;
}

static koord_status init(void *self) {
  (void)self;
  return KOORD_OK;
}

static void destroy(void *self) { free(self); }

static koord_status handle(void *self, const koord_hook_request *request, const koord_hook_response *response) {
  (void)self;
  if (!request->container) return KOORD_OK;
  const koord_status status = response->set(response, TEXT("linux.cpu.shares"), TEXT("777"));
  return status == KOORD_OK ? response->set(response, TEXT("env:OF_NEIGHBOUR"), TEXT("1")) : status;
}

static const koord_runtime_hook hook = {
    .life = {.struct_size = sizeof hook, .create = create, .init = init, .destroy = destroy},
    .stages = KOORD_STAGE_PRE_CREATE_CONTAINER,
    .handle = handle,
};

static const koord_class classes[] = {
    {.struct_size = sizeof classes[0], .kind = "koord.runtime-hook/1", .name = "neighbour", .vtable = &hook.life}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\nid=com.neighbour\nversion=1.0.0\nabi=1.0\nkinds=koord.runtime-hook/1\ngate=Neighbour\n";

static const koord_module module = {.magic = KOORD_MAGIC,
                                    .struct_size = sizeof module,
                                    .abi_major = KOORD_ABI_MAJOR,
                                    .abi_minor = KOORD_ABI_MINOR,
                                    .n_classes = 1,
                                    .class_stride = sizeof classes[0],
                                    .manifest = manifest,
                                    .classes = classes};

const koord_module *koord_entry_v1(void) { return &module; }
