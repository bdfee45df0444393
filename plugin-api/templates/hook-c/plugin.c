/* @NAME@: gives pods with the label example.com/tier: interactive more CPU time under contention.
 * handle() is a pure function of the request; the contract is sdk/koordetector/plugin.h. */
#include <koordetector/plugin.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_config *config;
  _Atomic int64_t shares; /* handle() may run on several threads, in parallel with on_event() */
} plugin;

static const char settings[] =
    "{\"type\": \"object\","
    " \"properties\": {\"shares\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 262144,"
    " \"description\": \"CPU shares of a container of an interactive pod; usual are 1024 for a CPU\"}},"
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

/* Called at start, and when an operator has changed the settings. */
static koord_status on_event(void *instance, uint32_t what, uint64_t version) {
  plugin *self = instance;
  int64_t shares = 2048;
  koord_status status;
  (void)version;
  if (what != KOORD_ON_CONFIG) return KOORD_OK;
  status = self->config->i64(self->host, TEXT("/shares"), &shares);
  if (status != KOORD_OK && status != KOORD_E_NOT_FOUND) return status; /* the host has reported the reason */
  self->shares = shares;
  return KOORD_OK;
}

static koord_status init(void *instance) {
  plugin *self = instance;
  self->config = self->host->get_service(self->host, "koord.config/1");
  if (KOORD_HAS(self->config, i64)) return on_event(self, KOORD_ON_CONFIG, 0);
  self->host->set_error(self->host, KOORD_E_UNSUPPORTED, TEXT("expected a host with koord.config/1"));
  return KOORD_E_UNSUPPORTED;
}

static int is(koord_str text, const char *word) { return text.n == strlen(word) && memcmp(text.p, word, text.n) == 0; }

static int is_interactive(const koord_pod *pod) {
  const char *at = (const char *)pod->labels;
  uint32_t i;
  for (i = 0; i < pod->n_labels; ++i, at += pod->label_stride) {
    const koord_label *label = (const koord_label *)(const void *)at;
    if (is(label->key, "example.com/tier")) return is(label->value, "interactive");
  }
  return 0;
}

/* Called for each container. The agent keeps cgroup fields at the returned values later, too. An environment is set
 * only while a container is created. */
static koord_status handle(void *instance, const koord_hook_request *request, const koord_hook_response *response) {
  plugin *self = instance;
  char text[24];
  int length;
  koord_status status;
  if (!is_interactive(request->pod)) return KOORD_OK;
  length = snprintf(text, sizeof text, "%" PRId64, self->shares);
  status = response->set(response, TEXT("linux.cpu.shares"), (koord_str){text, (uint64_t)length});
  if (status != KOORD_OK) return status;
  return response->set(response, TEXT("env:POD_TIER"), TEXT("interactive"));
}

static const koord_runtime_hook hook = {
    .life = {.struct_size = sizeof hook, .create = create, .init = init, .on_event = on_event, .destroy = destroy},
    .stages = KOORD_STAGE_PRE_CREATE_CONTAINER,
    .handle = handle,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.runtime-hook/1",
    .name = "tiers",
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
    "description=CPU shares of interactive pods\n";

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
