/* @NAME@: limits the threads that best-effort containers start by default, whatever CPUs the node has.
 * handle() is a pure function of the request; the contract is sdk/koordetector/plugin.h. */
#include <koordetector/plugin.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_config *config;
  _Atomic int64_t threads; /* handle() may run on several threads, and beside on_event() */
} plugin;

static const char settings[] =
    "{\"type\": \"object\","
    " \"properties\": {\"threads\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1024,"
    " \"description\": \"how many a best-effort container is to start\"}},"
    " \"additionalProperties\": false}";

static koord_status create(const koord_host *host, const koord_class *cls, void **out) {
  plugin *self = calloc(1, sizeof *self);
  (void)cls;
  if (!self) return KOORD_E_NOMEM;
  self->host = host;
  *out = self;
  return KOORD_OK;
}

static void destroy(void *instance) { free(instance); }

/* At the start, and when an operator has changed the settings. */
static koord_status on_event(void *instance, uint32_t what, uint64_t version) {
  plugin *self = instance;
  int64_t threads = 2;
  koord_status status;
  (void)version;
  if (what != KOORD_ON_CONFIG) return KOORD_OK;
  status = self->config->i64(self->host, TEXT("/threads"), &threads);
  if (status != KOORD_OK && status != KOORD_E_NOT_FOUND) return status; /* the host has reported the reason */
  self->threads = threads;
  return KOORD_OK;
}

static koord_status init(void *instance) {
  plugin *self = instance;
  self->config = self->host->get_service(self->host, "koord.config/1");
  if (KOORD_HAS(self->config, i64)) return on_event(self, KOORD_ON_CONFIG, 0);
  self->host->set_error(self->host, KOORD_E_UNSUPPORTED, TEXT("wanted a host with koord.config/1"));
  return KOORD_E_UNSUPPORTED;
}

/* Called for each new container. Values set here go into the runtime's request. */
static koord_status handle(void *instance, const koord_hook_request *request, const koord_hook_response *response) {
  plugin *self = instance;
  char text[24];
  int length;
  if (request->pod->kube_qos != KOORD_KUBE_QOS_BEST_EFFORT) return KOORD_OK;
  length = snprintf(text, sizeof text, "%" PRId64, self->threads);
  return response->set(response, TEXT("env:OMP_NUM_THREADS"), (koord_str){text, (uint64_t)length});
}

static const koord_runtime_hook hook = {
    .life = {.struct_size = sizeof hook, .create = create, .init = init, .on_event = on_event, .destroy = destroy},
    .stages = KOORD_STAGE_PRE_CREATE_CONTAINER,
    .handle = handle,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.runtime-hook/1",
    .name = "threads",
    .config_schema = settings,
    .vtable = &hook.life,
}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\n"
    "id=@ID@\n"
    "version=0.1.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.runtime-hook/1\n"
    "gate=@GATE@\n"
    "requires=koord.config/1\n"
    "description=few threads for best-effort pods\n";

static const koord_module module = {
    .magic = KOORD_MAGIC,
    .struct_size = sizeof module,
    .abi_major = KOORD_ABI_MAJOR,
    .abi_minor = KOORD_ABI_MINOR,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .manifest = manifest,
    .classes = classes,
};

const koord_module *koord_entry_v1(void) { return &module; }
