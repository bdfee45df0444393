/* SPDX-License-Identifier: Apache-2.0 */
/* A replacement of libnvidia-ml.so.1 with the documented functions of NVML that advisor-gpu uses. Each call reads
 * its answer from the file that KOORD_STAND_IN_NVML names, with one fact per line:
 *
 *   hang                                       nvmlInit_v2 never returns
 *   crash                                      nvmlInit_v2 ends the process
 *   init CODE                                  result of nvmlInit_v2
 *   device UUID MINOR BUS_ID TOTAL USED GPU    bytes and percent; the first is device 0
 *   process DEVICE PID BYTES                   -1: not available
 *   sample DEVICE PID SM TIME_STAMP            percent and microseconds
 *   broken DEVICE CODE                         answer to every question about the device
 *   unsampled DEVICE                           the device has no utilisation by process
 *
 * ELEMENT is the length of a process's element, SUFFIX the end of the name of the function for them. WITHOUT_UUID
 * leaves a function out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ELEMENT
#define ELEMENT 24
#define SUFFIX _v2
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, GPU_IS_LOST = 15, MOST = 64, LINE = 256 };

struct device {
  unsigned index;
};
struct memory {
  unsigned long long total, free, used;
};
struct utilization {
  unsigned gpu, memory;
};
struct sample {
  unsigned pid;
  unsigned long long time_stamp;
  unsigned sm, memory, encoder, decoder;
};
struct pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

struct facts {
  int hang, crash, init;
  unsigned devices, processes, samples;
  struct {
    char uuid[80], bus_id[32];
    unsigned minor, gpu;
    unsigned long long total, used;
    int broken, unsampled;
  } device[MOST];
  struct {
    unsigned device, pid;
    long long bytes;
  } process[MOST];
  struct {
    unsigned device, pid, sm;
    unsigned long long time_stamp;
  } sample[MOST];
};

static struct device handles[MOST];

static void take(struct facts *f, const char *line) {
  unsigned device = 0;
  int code = 0;
  if (!strcmp(line, "hang\n")) f->hang = 1;
  if (!strcmp(line, "crash\n")) f->crash = 1;
  if (sscanf(line, "init %d", &code) == 1) f->init = code;
  if (f->devices < MOST &&
      sscanf(line, "device %79s %u %31s %llu %llu %u", f->device[f->devices].uuid, &f->device[f->devices].minor,
             f->device[f->devices].bus_id, &f->device[f->devices].total, &f->device[f->devices].used,
             &f->device[f->devices].gpu) == 6)
    f->devices++;
  if (f->processes < MOST && sscanf(line, "process %u %u %lld", &f->process[f->processes].device,
                                    &f->process[f->processes].pid, &f->process[f->processes].bytes) == 3)
    f->processes++;
  if (f->samples < MOST &&
      sscanf(line, "sample %u %u %u %llu", &f->sample[f->samples].device, &f->sample[f->samples].pid,
             &f->sample[f->samples].sm, &f->sample[f->samples].time_stamp) == 4)
    f->samples++;
  if (sscanf(line, "broken %u %d", &device, &code) == 2 && device < MOST) f->device[device].broken = code;
  if (sscanf(line, "unsampled %u", &device) == 1 && device < MOST) f->device[device].unsampled = 1;
}

static struct facts facts(void) {
  struct facts f;
  memset(&f, 0, sizeof f);
  const char *path = getenv("KOORD_STAND_IN_NVML");
  FILE *file = path ? fopen(path, "re") : NULL;
  char line[LINE];
  while (file && fgets(line, sizeof line, file)) take(&f, line);
  if (file) fclose(file);
  return f;
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void) {
  const struct facts f = facts();
  while (f.hang) pause();
  if (f.crash) abort();
  return f.init;
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void) { return SUCCESS; }

EXPORT const char *nvmlErrorString(int code);
EXPORT const char *nvmlErrorString(int code) {
  return code == SUCCESS       ? "Success"
         : code == 9           ? "Driver Not Loaded"
         : code == GPU_IS_LOST ? "GPU is lost"
                               : "Unknown Error";
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = facts().devices;
  return SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device) {
  if (index >= facts().devices) return 2;
  handles[index].index = index;
  *device = &handles[index];
  return SUCCESS;
}

#ifndef WITHOUT_UUID
EXPORT int nvmlDeviceGetUUID(struct device *device, char *text, unsigned length);
EXPORT int nvmlDeviceGetUUID(struct device *device, char *text, unsigned length) {
  const struct facts f = facts();
  snprintf(text, length, "%s", f.device[device->index].uuid);
  return f.device[device->index].broken;
}
#endif

EXPORT int nvmlDeviceGetMinorNumber(struct device *device, unsigned *minor);
EXPORT int nvmlDeviceGetMinorNumber(struct device *device, unsigned *minor) {
  *minor = facts().device[device->index].minor;
  return SUCCESS;
}

EXPORT int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci);
EXPORT int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci) {
  const struct facts f = facts();
  memset(pci, 0, sizeof *pci);
  snprintf(pci->bus_id, sizeof pci->bus_id, "%s", f.device[device->index].bus_id);
  return SUCCESS;
}

EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory);
EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory) {
  const struct facts f = facts();
  memory->total = f.device[device->index].total;
  memory->used = f.device[device->index].used;
  memory->free = memory->total - memory->used;
  return f.device[device->index].broken;
}

EXPORT int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *utilization);
EXPORT int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *utilization) {
  const struct facts f = facts();
  utilization->gpu = f.device[device->index].gpu;
  utilization->memory = 0;
  return f.device[device->index].broken;
}

/* All bits are set at the end, as a driver does for the instance ids of a device that is not divided. */
EXPORT int JOIN(nvmlDeviceGetComputeRunningProcesses, SUFFIX)(struct device *device, unsigned *count, void *processes);
EXPORT int JOIN(nvmlDeviceGetComputeRunningProcesses, SUFFIX)(struct device *device, unsigned *count, void *processes) {
  const struct facts f = facts();
  char *element = processes;
  unsigned n = 0;
  if (f.device[device->index].broken) return f.device[device->index].broken;
  for (unsigned i = 0; i < f.processes; ++i) n += f.process[i].device == device->index;
  const int fits = n <= *count;
  *count = n;
  if (!fits) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < f.processes; ++i) {
    if (f.process[i].device != device->index) continue;
    const unsigned long long bytes = (unsigned long long)f.process[i].bytes;
    memset(element, 0xff, ELEMENT);
    memcpy(element, &f.process[i].pid, sizeof f.process[i].pid);
    memcpy(element + 8, &bytes, sizeof bytes);
    element += ELEMENT;
  }
  return SUCCESS;
}

EXPORT int nvmlDeviceGetProcessUtilization(struct device *device, struct sample *samples, unsigned *count,
                                           unsigned long long since);
EXPORT int nvmlDeviceGetProcessUtilization(struct device *device, struct sample *samples, unsigned *count,
                                           unsigned long long since) {
  const struct facts f = facts();
  unsigned n = 0;
  if (f.device[device->index].broken) return f.device[device->index].broken;
  if (f.device[device->index].unsampled) return NOT_SUPPORTED;
  for (unsigned i = 0; i < f.samples; ++i) {
    if (f.sample[i].device != device->index || f.sample[i].time_stamp <= since) continue;
    if (samples && n < *count)
      samples[n] = (struct sample){f.sample[i].pid, f.sample[i].time_stamp, f.sample[i].sm, 0, 0, 0};
    n++;
  }
  const int fits = samples && n <= *count;
  *count = n;
  return n == 0 ? NOT_FOUND : fits ? SUCCESS : INSUFFICIENT_SIZE;
}
