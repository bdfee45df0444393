// SPDX-License-Identifier: Apache-2.0
// koord-plugin-copy: copies plugins from a third-party image into the directory that the agent loads them from.
// It is statically linked, so it runs in an image that contains only a plugin. No program of that image is run.
//
//   koord-plugin-copy tool FOLDER        copies itself there, for the containers that come next
//   koord-plugin-copy FROM FOLDER        copies FROM, a .so, or each .so and .so.sig of the folder FROM
//
// The result has the modes that the agent requires: files 0644 and the folder 0755, owned by the user of this program.
// A file is complete or missing. An existing file with the same name and different content is an error, because two
// images must not bring the same plugin.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("koord-plugin-copy: ", stderr);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static char* join(const char* folder, const char* name) {
  char* path = NULL;
  if (asprintf(&path, "%s/%s", folder, name) < 0) fail("out of memory");
  return path;
}

// A link is not copied, because it might lead anywhere.
static int open_file(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0)
    fail("cannot open '%s': %s", path, errno == ELOOP ? "it is a link" : strerror(errno));
  if (!S_ISREG(about.st_mode)) fail("'%s': expected a regular file", path);
  return fd;
}

static ssize_t read_some(int fd, char* buffer, size_t size, const char* path) {
  const ssize_t count = read(fd, buffer, size);
  if (count < 0) fail("cannot read '%s': %s", path, strerror(errno));
  return count;
}

static int same_content(const char* a_path, const char* b_path) {
  const int a = open_file(a_path), b = open_file(b_path);
  char a_part[1 << 14], b_part[1 << 14];
  int same = 1;
  for (ssize_t count = 1; same && count > 0;) {
    count = read_some(a, a_part, sizeof a_part, a_path);
    same = read_some(b, b_part, sizeof b_part, b_path) == count && memcmp(a_part, b_part, (size_t)count) == 0;
  }
  close(a);
  close(b);
  return same;
}

static void write_all(int fd, const char* data, size_t size, const char* path) {
  for (ssize_t count; size > 0; data += count, size -= (size_t)count)
    if ((count = write(fd, data, size)) < 0) fail("cannot write '%s': %s", path, strerror(errno));
}

static void copy(const char* from, int source, const char* folder, const char* name, mode_t mode) {
  char* part_name = NULL;
  if (asprintf(&part_name, ".%s.part", name) < 0) fail("out of memory");
  char *to = join(folder, name), *part = join(folder, part_name);
  unlink(part);
  const int target = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (target < 0) fail("cannot make '%s': %s", part, strerror(errno));
  char buffer[1 << 14];
  for (ssize_t count; (count = read_some(source, buffer, sizeof buffer, from)) > 0;)
    write_all(target, buffer, (size_t)count, part);
  if (fchmod(target, mode) != 0 || fsync(target) != 0 || close(target) != 0 || rename(part, to) != 0)
    fail("cannot write '%s': %s", to, strerror(errno));
  free(part_name);
  free(part);
  free(to);
}

static void copy_plugin(const char* from, const char* folder, const char* name) {
  char* to = join(folder, name);
  if (access(to, F_OK) == 0) {
    if (!same_content(from, to))
      fail("'%s' is there already, and is not what '%s' is: another image has brought it", to, from);
  } else {
    const int source = open_file(from);
    copy(from, source, folder, name, 0644);
    close(source);
  }
  printf("%s\n", to);
  free(to);
}

static int ends_in(const char* name, const char* end) {
  const size_t length = strlen(name), wanted = strlen(end);
  return length > wanted && strcmp(name + length - wanted, end) == 0;
}

static int copy_folder(const char* from, const char* folder) {
  DIR* entries = opendir(from);
  if (entries == NULL) fail("cannot open '%s': %s", from, strerror(errno));
  int found = 0;
  for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
    if (entry->d_name[0] == '.' || !(ends_in(entry->d_name, ".so") || ends_in(entry->d_name, ".so.sig"))) continue;
    char* path = join(from, entry->d_name);
    copy_plugin(path, folder, entry->d_name);
    free(path);
    ++found;
  }
  closedir(entries);
  return found;
}

static void copy_plugins(const char* from, const char* folder) {
  struct stat about;
  if (stat(from, &about) != 0) fail("cannot find '%s' in this image: %s", from, strerror(errno));
  if (S_ISDIR(about.st_mode)) {
    if (copy_folder(from, folder) == 0) fail("there is no .so in '%s'", from);
  } else {
    const char* slash = strrchr(from, '/');
    const char* name = slash == NULL ? from : slash + 1;
    if (!ends_in(name, ".so")) fail("'%s': expected a folder or a file with a name that ends in .so", from);
    copy_plugin(from, folder, name);
  }
}

int main(int count, char** arguments) {
  if (count != 3) {
    fputs("usage: koord-plugin-copy tool FOLDER | koord-plugin-copy FROM FOLDER\n", stderr);
    return 2;
  }
  const char* folder = arguments[2];
  if (chmod(folder, 0755) != 0) fail("cannot close '%s' to others: %s", folder, strerror(errno));
  if (strcmp(arguments[1], "tool") == 0) {
    const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (self < 0) fail("cannot open '/proc/self/exe': %s", strerror(errno));
    copy("/proc/self/exe", self, folder, "koord-plugin-copy", 0755);
  } else {
    copy_plugins(arguments[1], folder);
  }
  return 0;
}
