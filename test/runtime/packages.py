# SPDX-License-Identifier: Apache-2.0
"""The programs of a container runtime, from Debian packages that are downloaded and unpacked, not installed."""
import fcntl
import os
import pathlib
import shutil
import subprocess

RELEASE = 'trixie'  # containerd of older releases has no NRI
CONTAINERD = ['containerd', 'runc', 'busybox-static', 'python3-grpcio']
TIME_LIMIT = 300  # seconds, of one step


class Unavailable(Exception):
    """A dependency of the test is unavailable on this machine. The text names it."""


def check_available():
    """Raises Unavailable if containerd cannot run here."""
    if os.geteuid() != 0:
        raise Unavailable('containerd needs root')
    for program in ('nsenter', 'unshare', 'mount', 'dpkg-deb'):
        if not shutil.which(program):
            raise Unavailable(f'{program} is missing')
    if subprocess.run(['unshare', '-m', 'true'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise Unavailable('the kernel refuses a mount namespace')
    if not os.path.islink('/lib'):
        raise Unavailable('/usr is not merged')


def _run(*command):
    try:
        return subprocess.run(command, check=True, text=True, capture_output=True, timeout=TIME_LIMIT).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f'{command[0]} failed: {getattr(error, "stderr", "") or error}') from error


def _mirror():
    """Returns the mirror that apt uses on this machine."""
    targets = _run('apt-get', 'indextargets', '--format', '$(REPO_URI) $(COMPONENT)', 'Created-By: Packages')
    for line in targets.splitlines():
        uri, component = line.split()
        if component == 'main' and 'security' not in uri:
            return uri
    raise Unavailable('the configuration of apt names no mirror')


def _apt_options(folder):
    """Returns the options of a separate apt: with the lists of RELEASE, and without installed packages."""
    settings = {'Dir::Etc::sourcelist': folder / 'sources.list', 'Dir::Etc::sourceparts': folder / 'empty',
                'Dir::Etc::preferences': '/dev/null', 'Dir::Etc::preferencesparts': folder / 'empty',
                'Dir::State': folder, 'Dir::State::lists': folder / 'lists', 'Dir::State::status': folder / 'status',
                'Dir::Cache': folder, 'APT::Sandbox::User': 'root', 'APT::Default-Release': '',
                'Acquire::Languages': 'none', 'Acquire::Retries': '3', 'APT::Install-Recommends': 'false'}
    return ['-qq'] + [word for name, value in settings.items() for word in ('-o', f'{name}={value}')]


def unpack(folder, names):
    """Returns the root of a file system with these packages and all their dependencies. Downloads them once; tests that run at
    the same time wait."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _unpack_alone(folder, names)


def _unpack_alone(folder, names):
    root, mark, wanted = folder / 'root', folder / 'unpacked', ' '.join([RELEASE, *names])
    if mark.exists() and mark.read_text() == wanted:
        return root
    if not shutil.which('apt-get'):
        raise Unavailable('apt-get is missing')
    for each in ('lists/partial', 'archives/partial', 'empty'):
        (folder / 'apt' / each).mkdir(parents=True, exist_ok=True)
    (folder / 'apt/status').write_text('')
    (folder / 'apt/sources.list').write_text(
        f'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {_mirror()} {RELEASE} main\n')
    options = _apt_options(folder / 'apt')
    _run('apt-get', *options, 'update')
    _run('apt-get', *options, '-y', '--download-only', 'install', *names)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for package in sorted((folder / 'apt/archives').glob('*.deb')):
        _run('dpkg-deb', '-x', package, root)
    shutil.rmtree(folder / 'apt')
    mark.write_text(wanted)
    return root


def python_command(root, *module_folders):
    """Returns the command and environment of the unpacked Python, which needs the loader of its own release."""
    libraries = next(root.glob('usr/lib/*/libc.so.6')).parent
    loader = next(libraries.glob('ld-linux-*.so.*'))
    path = ':'.join([*map(str, module_folders), str(root / 'usr/lib/python3/dist-packages')])
    environment = os.environ | {'PYTHONHOME': str(root / 'usr'), 'PYTHONPATH': path, 'PYTHONDONTWRITEBYTECODE': '1'}
    return [str(loader), '--library-path', str(libraries), str((root / 'usr/bin/python3').resolve())], environment
