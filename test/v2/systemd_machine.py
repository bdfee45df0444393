# SPDX-License-Identifier: Apache-2.0
"""Adds to a machine of vm.py the files for systemd as its first process: only the targets that services need."""
import pathlib
import shutil

# systemd-executor exists since systemd 254
PROGRAMS = ('/usr/lib/systemd/systemd', '/usr/lib/systemd/systemd-executor', 'systemctl')

# A unit's mount namespace replaces the root. A kernel's first root file system cannot be replaced, but a mount of it can.
INIT = r'''#!/bin/sh
mkdir /newroot
mount -o bind / /newroot
cd /newroot
mount -o move . /
exec chroot . /init.systemd
'''

# Does not mount the cgroups and the other file systems that systemd itself mounts.
INIT_SYSTEMD = r'''#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /run /var/tmp /root; chmod 1777 /tmp /var/tmp
for module in /modules/*; do insmod $module; done
ip link set lo up
while :; do echo beat >/dev/ttyS2; sleep 2; done &
stty -F /dev/ttyS1 raw
exec /usr/lib/systemd/systemd
'''

TARGET = '[Unit]\nDescription=The machine\nRequires=basic.target\nWants=koord-test.service\nAfter=basic.target\nAllowIsolate=yes\n'
SERVICE = '[Unit]\nDescription=The test\n[Service]\nType=oneshot\nExecStart=/bin/sh /run-test\nStandardOutput=null\nStandardError=null\n'


def missing():
    """Returns why this machine cannot be made; None if it can."""
    return None if pathlib.Path(PROGRAMS[0]).exists() and shutil.which('systemctl') else 'systemd is not installed'


def add_to(image):
    for program in PROGRAMS:
        place = shutil.which(program)
        if place:
            image.put_with_libraries(place)
    for target in pathlib.Path('/usr/lib/systemd/system').glob('*.target'):
        image.put(target)
    add_units_to(image)


def add_units_to(image):
    """Prepares an image with systemd."""
    units = image.root / 'etc/systemd/system'
    units.mkdir(parents=True)
    (units / 'default.target').write_text(TARGET)
    (units / 'koord-test.service').write_text(SERVICE)
    # A machine without this file counts as new, and systemd would enable all units at its first boot.
    (image.root / 'etc/machine-id').write_text('00000000000000000000000000000001\n')
    image.write('init', INIT)
    image.write('init.systemd', INIT_SYSTEMD)
