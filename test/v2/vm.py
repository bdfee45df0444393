#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a kernel with one cgroup hierarchy, of version 2, in an emulated machine.

usage: vm.py FOLDER [--with FILE]... [--env NAME=VALUE]... [--append PARAMETER]... [--systemd] PROGRAM [ARGUMENT...]

The machine has Debian's cloud kernel (PSI, BTF, BPF, loop devices, no PMU, no network) and a file system in memory that holds
PROGRAM and the FILEs (programs by name, too) at the paths they have here, the libraries they are linked to, and busybox. Files
that PROGRAM writes are gone afterwards. PARAMETERs are the kernel's, behind its usual ones. --systemd: systemd of this machine
is the first process, and runs PROGRAM as a service. FOLDER keeps the kernel, downloaded once and only unpacked. Ends with
PROGRAM's status. Ends with 77, which is meson's "skipped", where qemu, busybox or the kernel is unavailable.
"""
import argparse
import fcntl
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import typing

sys.dont_write_bytecode = True
import systemd_machine  # noqa: E402

QEMU = 'qemu-system-x86_64'
KERNEL_PACKAGE = 'linux-image-cloud-amd64'
MEMORY_MIB = 1536
MODULES = ('loop', 'veth', 'sch_htb', 'cls_cgroup')
STARTS = 3

INIT = r'''#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts /run /tmp /var/tmp /root
mount -t devpts pts /dev/pts; mount -t tmpfs shm /dev/shm; mount -t tmpfs run /run
mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
for c in $(cat /sys/fs/cgroup/cgroup.controllers); do echo "+$c" >/sys/fs/cgroup/cgroup.subtree_control; done
mount -t bpf bpf /sys/fs/bpf; mount -t tracefs tracefs /sys/kernel/tracing; mount -t debugfs debugfs /sys/kernel/debug
for module in /modules/*; do insmod $module; done
ip link set lo up
ulimit -n 65536
while :; do echo beat >/dev/ttyS2; sleep 2; done &
stty -F /dev/ttyS1 raw
exec sh /run-test
'''

# The program's output and status go to the second serial port. Then the machine stops.
RUN = r'''#!/bin/sh
. /environment
cd /tmp
sh /command </dev/null >/dev/ttyS1 2>&1
echo "status $?" >/dev/ttyS1
sync
poweroff -f
'''


class Limits(typing.NamedTuple):
    """Time limits in seconds. On a busy machine the kernel's boot sometimes hangs, or the emulated timer is lost: then every
    sleep in the machine lasts forever, including that of /init's heartbeat. Such a machine is started again."""
    all: int = 540  # limit of all starts together; the machine is ten to fifty times slower than this machine
    boot: int = 150  # until the first heartbeat
    heartbeat: int = 90  # between two heartbeats


class Skip(Exception):
    """The machine is unavailable here. The text is the reason."""


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, capture_output=True, **options).stdout


def kernel_in(folder):
    """Returns the unpacked kernel. Downloads it the first time."""
    root = folder / 'root'
    with open(folder / 'lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / 'complete').exists():
            try:
                depends = run('apt-cache', 'depends', KERNEL_PACKAGE)
                package = re.search(r'Depends: (linux-image-\S+)', depends).group(1)
                run('apt-get', 'download', package, cwd=folder)
                deb = next(folder.glob('linux-image-*.deb'))
                run('dpkg-deb', '-x', str(deb), str(root))
                deb.unlink()
            except (OSError, AttributeError, StopIteration, subprocess.CalledProcessError) as problem:
                raise Skip(f'no kernel could be had: {getattr(problem, "stderr", None) or problem}') from problem
            (folder / 'complete').touch()
    modules = [file for name in MODULES for file in root.rglob(name + '.ko')]
    return next((root / 'boot').glob('vmlinuz-*')), modules


def libraries_of(file):
    "Returns the file and the libraries that the dynamic linker would load for it; nothing for a script or a static program."
    libraries = subprocess.run(['ldd', file], text=True, capture_output=True, check=False).stdout
    return re.findall(r'(/\S+) \(0x', libraries)


class Image:
    """The root file system of the machine, which is a folder that is packed as a cpio archive."""

    def __init__(self, root, folders=('bin', 'proc', 'sys', 'dev', 'tmp')):
        self.root = root
        for folder in folders:
            (root / folder).mkdir(parents=True)

    def put(self, source, at=None):
        target = self.root / str(at or source).lstrip('/')
        if target.is_symlink():
            target.unlink()  # a real program replaces busybox's
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(source), target)

    def put_with_libraries(self, source):
        for file in [source, *libraries_of(source)]:
            self.put(file)

    def put_busybox(self, at):
        busybox = shutil.which('busybox')
        self.put(busybox, f'{at}/busybox')
        for applet in run(busybox, '--list').split():
            if applet != 'busybox':
                (self.root / at / applet).symlink_to('busybox')

    def write(self, at, text):
        (self.root / at).write_text(text, encoding='utf-8')
        (self.root / at).chmod(stat.S_IRWXU)

    def pack(self, archive, mode='wb', owner=('-R', '0:0'), left_out=()):
        """Writes the image as a cpio archive. Mode 'ab' appends it, because the kernel unpacks all archives of a file
        one after the other."""
        with open(archive, mode) as out:
            find = subprocess.Popen(['find', '.', *(word for path in left_out for word in ('-path', path, '-prune', '-o')), '-print'],
                                    cwd=self.root, stdout=subprocess.PIPE)
            subprocess.run(['busybox', 'cpio', '-o', '-H', 'newc', *owner], cwd=self.root, stdin=find.stdout, stdout=out,
                           stderr=subprocess.DEVNULL, check=True)
            find.wait()


def quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


def build(image, arguments, modules):
    image.put_busybox('bin')
    (image.root / 'usr').mkdir()
    for folder, where in (('sbin', 'bin'), ('usr/bin', '../bin'), ('usr/sbin', '../bin')):
        (image.root / folder).symlink_to(where)
    (image.root / 'var').mkdir()
    (image.root / 'var/run').symlink_to('../run')
    for module in modules:
        image.put(module, '/modules/' + module.name)
    for file in [arguments.program, *arguments.files]:
        image.put_with_libraries(os.path.abspath(shutil.which(file) or file))
    image.write('init', INIT)
    image.write('run-test', RUN)
    if arguments.systemd:
        systemd_machine.add_to(image)
    image.write('environment', ''.join(f'export {quoted(pair)}\n' for pair in ['HOME=/root', 'PATH=/bin', *arguments.env]))
    command = [os.path.abspath(arguments.program), *arguments.arguments]
    image.write('command', 'exec ' + ' '.join(quoted(word) for word in command) + '\n')


def follow(machine, heartbeat, ends_at, limits):
    """Waits until the machine stops. Returns whether it must be started again because its boot hangs or its timer has stopped."""
    progress = time.monotonic()
    beats = 0
    while True:
        try:
            machine.wait(timeout=1)
            return False
        except subprocess.TimeoutExpired:
            now, seen = time.monotonic(), heartbeat.stat().st_size if heartbeat.exists() else 0
        if seen != beats:
            beats, progress = seen, now
        late = now > ends_at
        hangs = now - progress > (limits.heartbeat if beats else limits.boot)
        if late or hangs:
            machine.kill()
            machine.wait()
            print(f'vm.py: the machine was not done after {limits.all} s' if late else
                  f'vm.py: {"the timer of the machine stands still" if beats else "the boot of the machine hangs"}')
            return not late


def boot(kernel, archive, folder, parameters, memory=MEMORY_MIB, limits=Limits()):
    "Returns the program's output, byte for byte, and its status: None if the machine ended without one."
    # no_timer_check: a busy machine delivers the timer's first interrupts later than the kernel waits for them.
    # cryptomgr.notests: the kernel's tests of its own ciphers occupy a CPU of the machine, sometimes forever.
    machine = [QEMU, '-accel', 'tcg,thread=multi', '-cpu', 'max', '-M', 'q35', '-m', f'{memory}M', '-smp', '2', '-nodefaults',
               '-no-reboot', '-display', 'none', '-kernel', str(kernel), '-initrd', str(archive),
               '-serial', f'file:{folder}/console', '-serial', f'file:{folder}/output', '-serial', f'file:{folder}/heartbeat',
               '-append', ' '.join(['console=ttyS0 quiet panic=-1 no_timer_check cryptomgr.notests psi=1 rdinit=/init', *parameters])]
    ends_at = time.monotonic() + limits.all
    for _ in range(STARTS):
        (folder / 'heartbeat').unlink(missing_ok=True)
        if not follow(subprocess.Popen(machine, stdin=subprocess.DEVNULL), folder / 'heartbeat', ends_at, limits):
            break
    output = (folder / 'output').read_text(encoding='utf-8', errors='replace') if (folder / 'output').exists() else ''
    body, _, status = output.rpartition('status ')
    return (body, int(status)) if status.strip().isdigit() else (output, None)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--with', dest='files', action='append', default=[])
    parser.add_argument('--env', action='append', default=[])
    parser.add_argument('--append', action='append', default=[])
    parser.add_argument('--systemd', action='store_true')
    parser.add_argument('program')
    parser.add_argument('arguments', nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    for tool in (QEMU, 'busybox'):
        if not shutil.which(tool):
            raise Skip(f'{tool} is not installed')
    if arguments.systemd and (why := systemd_machine.missing()):
        raise Skip(why)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    kernel, modules = kernel_in(arguments.folder)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        (folder / 'root').mkdir()
        image = Image(folder / 'root')
        build(image, arguments, modules)
        image.pack(folder / 'initrd')
        output, status = boot(kernel, folder / 'initrd', folder, arguments.append)
        sys.stdout.write(output)
        if status is None:
            print('vm.py: the machine ended without a status; the end of its console:')
            print((folder / 'console').read_text(errors='replace')[-2000:])
            return 1
        return status


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Skip as why:
        print(f'vm.py: {why}')
        sys.exit(77)
