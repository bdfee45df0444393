/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete third-party runtime hook in C: pods and containers get the CPU shares that the operator has configured for
 * their QoS class, and containers get the class as an environment variable. Copy it, change `id`, `gate` and the fields
 * that handle() sets.
 */
#include <koordetector/plugin.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})
#define CLASSES (KOORD_QOS_SYSTEM + 1)

/* Values of the label koordinator.sh/qosClass. */
static const char *const names[CLASSES] = {
    [KOORD_QOS_LSE] = "LSE", [KOORD_QOS_LSR] = "LSR",       [KOORD_QOS_LS] = "LS",
    [KOORD_QOS_BE] = "BE",   [KOORD_QOS_SYSTEM] = "SYSTEM",
};

/* Checked before the hook is created, and before it gets a new configuration. */
static const char schema[] =
    "{\"type\": \"object\", \"additionalProperties\": false,"
    " \"properties\": {\"shares\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {"
    "  \"LSE\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 262144},"
    "  \"LSR\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 262144},"
    "  \"LS\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 262144},"
    "  \"BE\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 262144},"
    "  \"SYSTEM\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 262144}}}}}";

typedef struct {
  const koord_host *host;
  const koord_svc_config *config;
  /* By class; 0: keep the runtime's value. handle() may run on several threads, in parallel with on_event(). */
  _Atomic int64_t shares[CLASSES];
} hook;

static koord_status create(const koord_host *host, const koord_class *cls, void **out) {
  hook *self = calloc(1, sizeof *self);
  (void)cls;
  if (!self) return KOORD_E_NOMEM;
  self->host = host;
  *out = self;
  return KOORD_OK;
}

static koord_status read_shares(hook *self, uint32_t qos) {
  int64_t shares = qos == KOORD_QOS_BE ? 2 : 0;
  char pointer[32];
  int length = snprintf(pointer, sizeof pointer, "/shares/%s", names[qos]);
  koord_status status = self->config->i64(self->host, (koord_str){pointer, (uint64_t)length}, &shares);
  if (status != KOORD_OK && status != KOORD_E_NOT_FOUND) return status; /* the host has reported the reason */
  self->shares[qos] = shares;
  return KOORD_OK;
}

/* Called at start, and when an operator has changed the settings. */
static koord_status on_event(void *instance, uint32_t what, uint64_t version) {
  koord_status status = KOORD_OK;
  uint32_t qos;
  (void)version;
  if (what != KOORD_ON_CONFIG) return KOORD_OK;
  for (qos = KOORD_QOS_NONE + 1; qos < CLASSES && status == KOORD_OK; ++qos) status = read_shares(instance, qos);
  return status;
}

static koord_status init(void *instance) {
  hook *self = instance;
  self->config = self->host->get_service(self->host, "koord.config/1");
  if (KOORD_HAS(self->config, i64)) return on_event(self, KOORD_ON_CONFIG, 0);
  self->host->set_error(self->host, KOORD_E_UNSUPPORTED, TEXT("this host offers no configuration"));
  return KOORD_E_UNSUPPORTED;
}

static koord_status set_shares(const koord_hook_response *response, int64_t shares) {
  char text[24];
  int length = snprintf(text, sizeof text, "%" PRId64, shares);
  return response->set(response, TEXT("linux.cpu.shares"), (koord_str){text, (uint64_t)length});
}

/* Called for each new pod and container, before it is created. Fields that are set here go into the runtime's request;
 * other fields stay unchanged. */
static koord_status handle(void *instance, const koord_hook_request *request, const koord_hook_response *response) {
  hook *self = instance;
  const uint32_t qos = request->pod->qos;
  koord_status status = KOORD_OK;
  int64_t shares;
  if (qos == KOORD_QOS_NONE || qos >= CLASSES) return KOORD_OK; /* no class, or a class of a newer host */
  shares = self->shares[qos];
  if (shares != 0) status = set_shares(response, shares);
  if (status != KOORD_OK || !request->container) return status;
  return response->set(response, TEXT("env:POD_QOS_CLASS"), (koord_str){names[qos], strlen(names[qos])});
}

static void destroy(void *instance) { free(instance); }

static const koord_runtime_hook table = {
    .life = {.struct_size = sizeof table, .create = create, .init = init, .on_event = on_event, .destroy = destroy},
    .stages = KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER,
    .handle = handle,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.runtime-hook/1",
    .name = "qos-shares",
    .config_schema = schema,
    .vtable = &table.life,
}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\n"
    "id=com.example.qos-shares\n"
    "version=1.0.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.runtime-hook/1\n"
    "gate=QosSharesExample\n"
    "requires=koord.config/1\n"
    "license=Apache-2.0\n"
    "description=CPU shares by QoS class, and the class as an environment variable\n";

static const koord_module module = {
    .magic = KOORD_MAGIC,
    .struct_size = sizeof module,
    .abi_major = KOORD_ABI_MAJOR,
    .abi_minor = KOORD_ABI_MINOR,
    .n_classes = 1,
    .class_stride = sizeof classes[0],
    .manifest = manifest,
    .classes = classes,
};

const koord_module *koord_entry_v1(void) { return &module; }
