// SPDX-License-Identifier: Apache-2.0

package koordetector

/*
#include "call.h"

static inline koord_go_answer kv_get(const koord_host *host, const koord_svc_kv *kv, _GoString_ key, void *buf,
                                     uint64_t cap) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(kv, get, host, KOORD_GO_TEXT(key), buf, cap, &answer.value);
  return answer;
}
static inline koord_status kv_remove(const koord_host *host, const koord_svc_kv *kv, _GoString_ key) {
  return KOORD_GO_CALL(kv, remove, host, KOORD_GO_TEXT(key));
}
static inline koord_status kv_set(const koord_host *host, const koord_svc_kv *kv, _GoString_ key, const void *buf,
                                  uint64_t n, uint64_t ttl_ns) {
  return KOORD_GO_CALL(kv, set, host, KOORD_GO_TEXT(key), buf, n, ttl_ns);
}

static inline koord_go_answer config_json(const koord_host *host, const koord_svc_config *config, void *buf, uint64_t cap) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(config, json, host, buf, cap, &answer.value);
  return answer;
}
static inline koord_status config_i64(const koord_host *host, const koord_svc_config *config, _GoString_ pointer,
                                      int64_t *value) {
  return KOORD_GO_CALL(config, i64, host, KOORD_GO_TEXT(pointer), value);
}
static inline koord_status config_f64(const koord_host *host, const koord_svc_config *config, _GoString_ pointer,
                                      double *value) {
  return KOORD_GO_CALL(config, f64, host, KOORD_GO_TEXT(pointer), value);
}
static inline koord_status config_boolean(const koord_host *host, const koord_svc_config *config, _GoString_ pointer,
                                          int32_t *value) {
  return KOORD_GO_CALL(config, boolean, host, KOORD_GO_TEXT(pointer), value);
}
static inline koord_go_answer config_string(const koord_host *host, const koord_svc_config *config, _GoString_ pointer,
                                            void *buf, uint64_t cap) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(config, string, host, KOORD_GO_TEXT(pointer), buf, cap, &answer.value);
  return answer;
}

static inline uint64_t clock_now(const koord_host *host, const koord_svc_clock *clock) {
  return KOORD_HAS(clock, now_ns) ? clock->now_ns(host) : 0;
}
static inline uint64_t clock_wall(const koord_host *host, const koord_svc_clock *clock) {
  return KOORD_HAS(clock, wall_ns) ? clock->wall_ns(host) : 0;
}

static inline koord_go_answer fs_path(const koord_host *host, const koord_svc_fs *fs, uint32_t root, void *buf,
                                      uint64_t cap) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(fs, path, host, root, buf, cap, &answer.value);
  return answer;
}
static inline koord_go_answer fs_read(const koord_host *host, const koord_svc_fs *fs, uint32_t root, _GoString_ relative,
                                      void *buf, uint64_t cap) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(fs, read, host, root, KOORD_GO_TEXT(relative), buf, cap, &answer.value);
  return answer;
}

static inline koord_go_answer cgroup_open(const koord_host *host, const koord_svc_cgroup *cgroup, _GoString_ cgroup_dir,
                                          _GoString_ file, const koord_str *keys, uint32_t n_keys) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(cgroup, open, host, KOORD_GO_TEXT(cgroup_dir), KOORD_GO_TEXT(file), keys, n_keys,
                                &answer.value);
  return answer;
}
static inline koord_go_answer cgroup_read(const koord_host *host, const koord_svc_cgroup *cgroup, uint64_t handle,
                                          int64_t *values, uint32_t n) {
  koord_go_answer answer = {0, 0};
  answer.status = KOORD_GO_CALL(cgroup, read, host, handle, values, n, &answer.value);
  return answer;
}
static inline void cgroup_close(const koord_host *host, const koord_svc_cgroup *cgroup, uint64_t handle) {
  if (KOORD_HAS(cgroup, close)) cgroup->close(host, handle);
}

static inline koord_go_answer capabilities_get(const koord_host *host, const koord_svc_capabilities *capabilities,
                                               _GoString_ name) {
  uint32_t state = 0;
  koord_status status = KOORD_GO_CALL(capabilities, get, host, KOORD_GO_TEXT(name), &state);
  return (koord_go_answer){status, state};
}
static inline koord_status capabilities_report(const koord_host *host, const koord_svc_capabilities *capabilities,
                                               _GoString_ name, uint32_t state, _GoString_ detail) {
  return KOORD_GO_CALL(capabilities, report, host, KOORD_GO_TEXT(name), state, KOORD_GO_TEXT(detail));
}
*/
import "C"

import (
	"errors"
	"time"
	"unsafe"
)

// KV is the service koord.kv/1.
type KV struct{ service[C.koord_svc_kv] }

// Get returns the value of an own key, or of a different plugin's key as "<plugin id>/<key>". ErrNotFound: missing or
// expired.
func (kv KV) Get(key string) ([]byte, error) {
	return filled(nil, func(buffer []byte) C.koord_go_answer {
		return C.kv_get(kv.host, kv.table, key, unsafe.Pointer(&buffer[0]), C.uint64_t(len(buffer)))
	})
}

// Set sets an own key. With ttl 0 the value stays until it is replaced.
func (kv KV) Set(key string, value []byte, ttl time.Duration) error {
	return check(C.kv_set(kv.host, kv.table, key, unsafe.Pointer(first(value)), C.uint64_t(len(value)), C.uint64_t(ttl)))
}

// Remove removes an own key; a missing key is no error. ErrUnsupported: the host is older than 1.1.
func (kv KV) Remove(key string) error { return check(C.kv_remove(kv.host, kv.table, key)) }

// Config is the service koord.config/1.
type Config struct{ service[C.koord_svc_config] }

// JSON returns the whole configuration, for encoding/json; "{}" if nothing is configured.
func (c Config) JSON() ([]byte, error) {
	return filled(nil, func(buffer []byte) C.koord_go_answer {
		return C.config_json(c.host, c.table, unsafe.Pointer(&buffer[0]), C.uint64_t(len(buffer)))
	})
}

// Returns the configured value, or the default if nothing is configured.
func configured[Value any](value, otherwise Value, err error) (Value, error) {
	switch {
	case err == nil:
		return value, nil
	case errors.Is(err, ErrNotFound):
		return otherwise, nil
	}
	return otherwise, err
}

// Int64 returns the value at a JSON pointer (RFC 6901) like "/limits/cpu", or the default if missing. ErrInvalid: it
// has a different type.
func (c Config) Int64(pointer string, otherwise int64) (int64, error) {
	var value C.int64_t
	err := check(C.config_i64(c.host, c.table, pointer, &value))
	return configured(int64(value), otherwise, err)
}

// Float64 returns a number. See Int64.
func (c Config) Float64(pointer string, otherwise float64) (float64, error) {
	var value C.double
	err := check(C.config_f64(c.host, c.table, pointer, &value))
	return configured(float64(value), otherwise, err)
}

// Bool returns a boolean. See Int64.
func (c Config) Bool(pointer string, otherwise bool) (bool, error) {
	var value C.int32_t
	err := check(C.config_boolean(c.host, c.table, pointer, &value))
	return configured(value != 0, otherwise, err)
}

// String returns a text. See Int64.
func (c Config) String(pointer, otherwise string) (string, error) {
	value, err := filled(nil, func(buffer []byte) C.koord_go_answer {
		return C.config_string(c.host, c.table, pointer, unsafe.Pointer(&buffer[0]), C.uint64_t(len(buffer)))
	})
	return configured(string(value), otherwise, err)
}

// Clock is the service koord.clock/1.
type Clock struct{ service[C.koord_svc_clock] }

// Now returns host time. Use it for intervals.
func (c Clock) Now() Time { return Time(C.clock_now(c.host, c.table)) }

// Wall returns Unix time, which may step; use it only for labels.
func (c Clock) Wall() time.Time { return time.Unix(0, int64(C.clock_wall(c.host, c.table))) }

// Root is one of the node's file trees.
type Root uint32

// The trees.
const (
	ProcRoot    Root = C.KOORD_ROOT_PROC
	SysRoot     Root = C.KOORD_ROOT_SYS
	CgroupRoot  Root = C.KOORD_ROOT_CGROUP
	ResctrlRoot Root = C.KOORD_ROOT_RESCTRL
	RunRoot     Root = C.KOORD_ROOT_RUN
)

// FS is the service koord.fs/1.
type FS struct{ service[C.koord_svc_fs] }

// Path returns the directory where a tree is mounted.
func (fs FS) Path(root Root) (string, error) {
	path, err := filled(nil, func(buffer []byte) C.koord_go_answer {
		return C.fs_path(fs.host, fs.table, C.uint32_t(root), unsafe.Pointer(&buffer[0]), C.uint64_t(len(buffer)))
	})
	return string(path), err
}

// Read returns the content of a small file below a tree. The path must not leave the tree.
func (fs FS) Read(root Root, relative string) ([]byte, error) {
	return fs.ReadInto(nil, root, relative)
}

// ReadInto is Read with a buffer that is reused between ticks if it is long enough.
func (fs FS) ReadInto(buffer []byte, root Root, relative string) ([]byte, error) {
	return filled(buffer, func(buffer []byte) C.koord_go_answer {
		return C.fs_read(fs.host, fs.table, C.uint32_t(root), relative, unsafe.Pointer(&buffer[0]), C.uint64_t(len(buffer)))
	})
}

// Cgroup is the service koord.cgroup/1.
type Cgroup struct{ service[C.koord_svc_cgroup] }

// Open opens a logical file of a cgroup for these keys; plugin.h has the table of files and keys. ErrGone: the cgroup
// does not exist. ErrUnsupported: this kernel lacks the file. ErrInvalid: unknown logical file or key.
func (c Cgroup) Open(cgroupDir, file string, keys ...string) (*CgroupFile, error) {
	var l loan
	defer l.end()
	raw := lend[C.koord_str](&l, len(keys))
	for i, key := range keys {
		raw[i] = l.text(key)
	}
	answer := C.cgroup_open(c.host, c.table, cgroupDir, file, first(raw), C.uint32_t(len(raw)))
	if err := check(answer.status); err != nil {
		return nil, err
	}
	return &CgroupFile{cgroup: c, handle: answer.value}, nil
}

// CgroupFile is an open file of a cgroup. Close it after use.
type CgroupFile struct {
	cgroup Cgroup
	handle C.uint64_t
	closed bool
}

// Read fills in one value for each key, or Absent if this kernel lacks it, and returns the time of the read, for rates.
// ErrGone: the cgroup has ended; close the file.
func (f *CgroupFile) Read(values []int64) (Time, error) {
	raw := (*C.int64_t)(first(values))
	answer := C.cgroup_read(f.cgroup.host, f.cgroup.table, f.handle, raw, C.uint32_t(len(values)))
	return Time(answer.value), check(answer.status)
}

// Close closes the file. Read must not be called after it.
func (f *CgroupFile) Close() {
	if !f.closed {
		C.cgroup_close(f.cgroup.host, f.cgroup.table, f.handle)
		f.closed = true
	}
}

// CapabilityState is the state of a capability on this node.
type CapabilityState uint32

// The states of capabilities.
const (
	CapabilitySupported CapabilityState = C.KOORD_CAPABILITY_SUPPORTED
	CapabilityAbsent    CapabilityState = C.KOORD_CAPABILITY_ABSENT // the node lacks it; not an error
	CapabilityBroken    CapabilityState = C.KOORD_CAPABILITY_BROKEN // it should work but does not
)

// Capabilities is the service koord.capabilities/1.
type Capabilities struct {
	service[C.koord_svc_capabilities]
}

// Get returns the state of a capability of the host, or of one that a plugin reported.
func (c Capabilities) Get(name string) (CapabilityState, error) {
	answer := C.capabilities_get(c.host, c.table, name)
	return CapabilityState(answer.value), check(answer.status)
}

// Report reports a capability of this plugin on this node, for operators.
func (c Capabilities) Report(name string, state CapabilityState, detail string) error {
	return check(C.capabilities_report(c.host, c.table, name, C.uint32_t(state), detail))
}
