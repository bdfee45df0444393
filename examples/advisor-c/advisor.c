/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete third-party plugin in C: an advisor that tells how many files the node has open, from
 * /proc/sys/fs/file-nr through the host's koord.fs/1. Copy it, change `id`, `gate` and what collect() reads.
 */
#include <koordetector/plugin.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_metrics *metrics;
  const koord_svc_fs *fs;
  uint64_t open_files; /* the series */
} open_files_advisor;

static koord_status fail(const open_files_advisor *self, koord_status status, koord_str why) {
  self->host->set_error(self->host, status, why);
  return status;
}

static koord_status create(const koord_host *host, const koord_class *cls, void **out) {
  open_files_advisor *self = calloc(1, sizeof *self);
  (void)cls;
  if (!self) return KOORD_E_NOMEM;
  self->host = host;
  *out = self;
  return KOORD_OK;
}

/* Once: get the services, say what will be measured, make its series. */
static koord_status init(void *instance) {
  open_files_advisor *self = instance;
  const koord_host *host = self->host;
  const koord_metric_desc desc = {
      .struct_size = sizeof desc,
      .type = KOORD_GAUGE,
      .flags = KOORD_METRIC_EXPORT,
      .name = TEXT("example_open_files"),
      .unit = TEXT("files"),
      .help = TEXT("Open file descriptions on the node."),
      .resolution = 1,
  };
  uint32_t metric;
  koord_status status;

  self->metrics = host->get_service(host, "koord.metrics/1");
  self->fs = host->get_service(host, "koord.fs/1");
  if (!KOORD_HAS(self->metrics, append) || !KOORD_HAS(self->fs, read))
    return fail(self, KOORD_E_UNSUPPORTED, TEXT("this host offers no metrics or no files"));

  status = self->metrics->define(host, &desc, &metric);
  if (status != KOORD_OK) return status; /* the host has said why */
  return self->metrics->series(host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &self->open_files);
}

/* Every period: read "allocated unused maximum", append the first. */
static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  open_files_advisor *self = instance;
  koord_point point = {self->open_files, 0};
  char text[64], *end;
  uint64_t length;
  koord_status status;
  (void)deadline_ns;

  status = self->fs->read(self->host, KOORD_ROOT_PROC, TEXT("sys/fs/file-nr"), text, sizeof text - 1, &length);
  if (status != KOORD_OK) return status;
  text[length] = '\0';
  point.value = (double)strtoull(text, &end, 10);
  if (end == text) return fail(self, KOORD_E_IO, TEXT("/proc/sys/fs/file-nr does not begin with a number"));
  return self->metrics->append(self->host, now_ns, &point, 1, sizeof point);
}

static void destroy(void *instance) { free(instance); }

static const koord_advisor advisor = {
    .life = {.struct_size = sizeof advisor, .create = create, .init = init, .destroy = destroy},
    .collect = collect,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.advisor/1",
    .name = "open-files",
    .vtable = &advisor.life,
    .period_ns = 1000000000u,
}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\n"
    "id=com.example.open-files\n"
    "version=1.0.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.advisor/1\n"
    "gate=OpenFilesExample\n"
    "requires=koord.metrics/1,koord.fs/1\n"
    "license=Apache-2.0\n"
    "description=counts the open files of the node\n";

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
