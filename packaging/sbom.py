#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of Debian packages as SPDX 2.3, out of what the build did.

usage: sbom.py BUILD DEBIAN OUTPUT   BUILD: the build folder; DEBIAN: the folder debian/ with the packages' files

It names each executable and plugin with its SHA-256, and each Debian package with its version that

- has a shared library that one of them is linked with (DYNAMIC_LINK, or DYNAMIC_LINK of what they open by name);
- has a header, a static library or another file that was compiled or linked into them (STATIC_LINK);
- has a program that the build ran (BUILD_TOOL_OF).

The same build gives the same file: the time is SOURCE_DATE_EPOCH.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

OPENED_BY_NAME = ['libcrypto.so.3', 'libssl.so.3', 'libpfm.so.4']  # as in packaging/image
NOT_PACKAGES = {'tmp', 'source', '.debhelper'}


def output_of(*command, may_fail=False):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if may_fail else None, text=True, check=not may_fail)
    return done.stdout


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with path.open('rb') as file:
        return file.read(4) == b'\x7fELF'


def programs_of(debian):
    "Each executable, library and plugin, with the package that has it; without those of debug information."
    for package in sorted(debian.iterdir()):
        if package.is_dir() and package.name not in NOT_PACKAGES:
            for path in sorted(package.rglob('*')):
                if is_elf(path) and 'usr/lib/debug/' not in str(path):
                    yield package.name, path


def libraries_of(paths):
    "Paths of the shared libraries in the files' own lists, and of those that are opened by name."
    known = {}
    for line in output_of('/sbin/ldconfig', '-p').splitlines():
        if match := re.match(r'\s+(\S+) \(.*\) => (\S+)', line):
            known.setdefault(match[1], match[2])
    needed = set(OPENED_BY_NAME)
    for path in paths:
        needed |= set(re.findall(r'\(NEEDED\).*\[(.*)\]', output_of('readelf', '-d', str(path))))
    return {known[name] for name in needed if name in known}


def compiled_in(build):
    "Files of other packages that the compiler read, or that a rule of the build has as its input."
    headers = re.findall(r'^\s+(/usr/\S+)$', output_of('ninja', '-C', str(build), '-t', 'deps'), re.M)
    rules = (build / 'build.ninja').read_text(encoding='utf-8')
    musl = map(str, pathlib.Path('/usr/lib').glob('*-linux-musl/libc.a')) if 'musl-gcc' in rules else []
    return {*headers, *re.findall(r'/usr/\S+\.(?:a|js)\b', rules), *musl}


def tools_of(build):
    "Programs that the rules of the build name, or that are run by such programs."
    rules = (build / 'build.ninja').read_text(encoding='utf-8')
    named = set(re.findall(r'/usr/(?:s?bin|lib/ccache)/[\w.+-]+', rules))
    commands = set(re.findall(r'^ command = (?:/usr/bin/)?([\w+-]+)', rules, re.M))
    return named | {path for name in commands | {'c++', 'cc', 'ld', 'dpkg-deb', 'dh'} if os.path.exists(path := '/usr/bin/' + name)}


def packages_of(paths):
    "Names of the installed packages that have these files."
    real = set(paths) | {os.path.realpath(path) for path in paths}
    names = sorted(real | {path.removeprefix('/usr') for path in real})
    found = set()
    for begin in range(0, len(names), 500):
        for line in output_of('dpkg-query', '-S', *names[begin:begin + 500], may_fail=True).splitlines():
            if not line.startswith('diversion '):
                found |= {package.strip() for package in line.rpartition(': ')[0].split(',')}
    return found


def spdx_id(text):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', text)


def package_of(name):
    "An installed package of Debian, as SPDX has it."
    package, version, architecture, source, homepage = output_of(
        'dpkg-query', '-W', '-f', '${Package}\t${Version}\t${Architecture}\t${source:Package}\t${Homepage}', name).split('\t')
    release = dict(line.split('=', 1) for line in pathlib.Path('/etc/os-release').read_text(encoding='utf-8').splitlines() if '=' in line)
    distribution = release['ID'].strip('"') + '-' + release['VERSION_ID'].strip('"')
    quoted = version.replace('+', '%2B').replace(':', '%3A')
    return {
        'SPDXID': spdx_id('Debian-' + package), 'name': package, 'versionInfo': version, 'supplier': 'Organization: Debian',
        'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False, 'licenseConcluded': 'NOASSERTION', 'licenseDeclared': 'NOASSERTION',
        'copyrightText': 'NOASSERTION', 'sourceInfo': 'Debian source package: ' + source, **({'homepage': homepage} if homepage else {}),
        'externalRefs': [{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl',
                          'referenceLocator': f'pkg:deb/debian/{package.replace("+", "%2B")}@{quoted}?arch={architecture}&distro={distribution}'}]}


def own_package(name, version):
    return {
        'SPDXID': spdx_id('Package-' + name), 'name': name, 'versionInfo': version, 'supplier': 'Organization: Koordetector',
        'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False, 'licenseConcluded': 'Apache-2.0', 'licenseDeclared': 'Apache-2.0',
        'copyrightText': 'NOASSERTION'}


def document_of(build, debian, version):
    programs = list(programs_of(debian))
    own = sorted({package for package, _ in programs})
    roles = {'DYNAMIC_LINK': packages_of(libraries_of([path for _, path in programs])), 'STATIC_LINK': packages_of(compiled_in(build)),
             'BUILD_TOOL_OF': packages_of(tools_of(build))}
    others = {name: package_of(name) for name in set().union(*roles.values())}
    files, relations = [], [('SPDXRef-DOCUMENT', 'DESCRIBES', spdx_id('Package-' + name)) for name in own]
    for package, path in programs:
        content, name = path.read_bytes(), './' + str(path.relative_to(debian / package))
        files.append({
            'SPDXID': spdx_id(f'File-{package}-{path.name}'), 'fileName': name, 'fileTypes': ['BINARY'], 'licenseConcluded': 'NOASSERTION',
            'copyrightText': 'NOASSERTION', 'checksums': [{'algorithm': kind.upper(), 'checksumValue': hashlib.new(kind, content).hexdigest()}
                                                          for kind in ('sha1', 'sha256')]})
        relations.append((spdx_id('Package-' + package), 'CONTAINS', files[-1]['SPDXID']))
    main = spdx_id('Package-koordetector')
    for role, names in roles.items():
        ids = sorted({others[name]['SPDXID'] for name in names})
        relations += [(one, role, main) if role == 'BUILD_TOOL_OF' else (main, role, one) for one in ids]
    packages = {one['SPDXID']: one for one in others.values()}
    return {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': 'koordetector-' + version,
        'documentNamespace': f'https://koordinator.sh/spdx/koordetector-{version}',
        'creationInfo': {'created': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(int(os.environ.get('SOURCE_DATE_EPOCH', 0)))),
                         'creators': ['Organization: Koordetector', 'Tool: packaging/sbom.py']},
        'packages': [own_package(name, version) for name in own] + [packages[one] for one in sorted(packages)],
        'files': files,
        'relationships': [{'spdxElementId': first, 'relationshipType': kind, 'relatedSpdxElement': second} for first, kind, second in relations]}


def main(build, debian, target):
    version = output_of('dpkg-parsechangelog', '-l', str(debian / 'changelog'), '-S', 'Version').strip()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(document_of(build, debian, version), indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit(__doc__.split('\n\n')[1])
    main(*map(pathlib.Path, sys.argv[1:]))
