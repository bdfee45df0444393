#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each installed file is in exactly one Debian package, and versions and lists of packaging/debian agree with those of the build.

usage: debian_test.py TREE BUILD VERSION    unittest's output
"""
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE, BUILD, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
DEBIAN = TREE / 'packaging/debian'
CONTROL = (DEBIAN / 'control').read_text(encoding='utf-8')
PACKAGES = set(re.findall(r'^Package: (.*)', CONTROL, re.M))
# debian/rules copies these for dh_installsystemd, which knows the units of a package by their names.
UNITS = {'koordetector.service', 'koord-cri-proxy.service', 'koord-cri-proxy.socket'}
NOT_IN_BUILD_DEPENDS = {'ccache', 'curl', 'ca-certificates', 'procps', 'ncurses-base'}  # for packaging/quickstart, the image, or optional


def lines_of(name):
    return [line.strip() for line in (DEBIAN / name).read_text(encoding='utf-8').splitlines() if line.strip() and not line.startswith('#')]


def introspect(what):
    return json.loads(subprocess.run(['meson', 'introspect', what, BUILD], check=True, stdout=subprocess.PIPE, text=True).stdout)


def installed_files():
    "Paths as Debian has them: the prefix is /usr, and the configuration is in /etc."
    options = {option['name']: option['value'] for option in introspect('--buildoptions')}
    configuration = os.path.join(options['prefix'], options['sysconfdir'])
    for path in introspect('--installed').values():
        if path.startswith(configuration + '/'):
            yield 'etc/' + os.path.relpath(path, configuration)
        else:
            yield 'usr/' + os.path.relpath(path, options['prefix'])


def patterns():
    "Each pattern of a file list, with its package."
    for package in sorted(PACKAGES):
        for line in lines_of(package + '.install'):
            yield package, line.split()[0]
    for line in lines_of('not-installed'):
        yield 'units', line


def depends_of(section):
    text = (TREE / 'packaging/dependencies').read_text(encoding='utf-8')
    lines = re.search(rf'^\[{section}\](.*?)(?=^\[|\Z)', text, re.M | re.S)[1].splitlines()[1:]
    return {' | '.join(re.split(r'\s*\|\s*', line.split('#')[0].strip())) for line in lines if line.split('#')[0].strip()}


class Debian(unittest.TestCase):
    def test_each_installed_file_is_in_exactly_one_package(self):
        for file in installed_files():
            packages = [package for package, pattern in patterns() if fnmatch.fnmatch(file, pattern)]
            self.assertEqual(len(packages), 1, f'{file}: {packages}')

    def test_no_package_lists_a_file_that_is_not_installed(self):
        files = list(installed_files())
        without_proxy = not any(file.endswith('/koord-cri-proxy') for file in files)
        for package, pattern in patterns():
            if package == 'koord-cri-proxy' and without_proxy:
                continue
            self.assertTrue(any(fnmatch.fnmatch(file, pattern) for file in files), f'{package}: {pattern}')

    def test_each_package_has_a_file_list_and_each_list_is_of_a_package(self):
        of_packages = {path.name.split('.')[0] for path in DEBIAN.iterdir() if '.' in path.name}
        self.assertEqual(of_packages, PACKAGES)

    def test_the_rules_take_each_unit_that_is_installed(self):
        named = set(re.search(r'^UNITS = (.*)', (DEBIAN / 'rules').read_text(encoding='utf-8'), re.M)[1].split())
        self.assertEqual(named, UNITS)
        self.assertLessEqual({os.path.basename(file) for file in installed_files() if '/systemd/system/' in file}, UNITS)

    def test_the_changelog_begins_with_the_version_of_the_build(self):
        made = subprocess.run([TREE / 'packaging/build-debian', '--changelog'], check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, 'SOURCE_DATE_EPOCH': '1700000000'}).stdout
        self.assertTrue(made.startswith(f'koordetector ({VERSION}+deb'), made[:80])
        self.assertIn('>  Tue, 14 Nov 2023 22:13:20 +0000\n', made)

    def test_build_depends_are_the_listed_dependencies(self):
        listed = re.search(r'^Build-Depends: (.*?)^\n', CONTROL, re.M | re.S)[1]
        named = {' '.join(one.split()) for one in listed.split(',')} - {'debhelper-compat (= 13)'}
        self.assertEqual(named, (depends_of('required') | depends_of('optional')) - NOT_IN_BUILD_DEPENDS)

    def test_maintainer_scripts_are_valid_for_the_shell(self):
        scripts = [path for path in DEBIAN.iterdir() if path.suffix in ('.postinst', '.prerm', '.postrm', '.preinst')]
        self.assertTrue(scripts)
        for script in scripts:
            subprocess.run(['sh', '-n', script], check=True)
            self.assertIn('\n#DEBHELPER#\n', script.read_text(encoding='utf-8'), script.name)

    def test_the_purge_removes_the_directories_of_the_units(self):
        for package in ('koordetector', 'koord-cri-proxy'):
            unit = (TREE / f'packaging/{package}.service.in').read_text(encoding='utf-8')
            state = re.search(r'^StateDirectory=(.*)', unit, re.M)[1]
            self.assertIn(f'/var/lib/{state}', (DEBIAN / f'{package}.postrm').read_text(encoding='utf-8'))

    def test_the_bill_of_materials_names_the_program_and_what_is_linked_and_compiled_into_it(self):
        program = pathlib.Path(BUILD) / 'core/agentd/koordetector'
        with tempfile.TemporaryDirectory(prefix='koord-test-sbom-') as folder:
            installed = pathlib.Path(folder) / 'koordetector/usr/bin/koordetector'
            installed.parent.mkdir(parents=True)
            shutil.copy2(program, installed)
            (pathlib.Path(folder) / 'changelog').write_text(
                f'koordetector ({VERSION}+deb0) unstable; urgency=medium\n\n  * A change.\n\n -- A B <a@b.example>  Tue, 14 Nov 2023 22:13:20 +0000\n',
                encoding='utf-8')
            target = pathlib.Path(folder) / 'bill.json'
            subprocess.run([sys.executable, TREE / 'packaging/sbom.py', BUILD, folder, target], check=True)
            bill = json.loads(target.read_text(encoding='utf-8'))
            digest = hashlib.sha256(program.read_bytes()).hexdigest()
        self.assertEqual([file['fileName'] for file in bill['files']], ['./usr/bin/koordetector'])
        self.assertIn({'algorithm': 'SHA256', 'checksumValue': digest}, bill['files'][0]['checksums'])
        names = {one['SPDXID']: one['name'] for one in bill['packages']}
        by_kind = {}
        for relation in bill['relationships']:
            by_kind.setdefault(relation['relationshipType'], set()).add(names.get(relation['relatedSpdxElement']))
        self.assertTrue(any(name.startswith('libsqlite3') for name in by_kind['DYNAMIC_LINK']), by_kind)
        self.assertLessEqual({'libvalijson-dev', 'libfmt-dev'}, by_kind['STATIC_LINK'])
        self.assertEqual({one['versionInfo'] for one in bill['packages'] if one['name'] == 'koordetector'}, {VERSION + '+deb0'})


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
