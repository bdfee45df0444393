# SPDX-License-Identifier: Apache-2.0
"""Reads a folder of HTML pages and finds problems, for docs_test.py."""
import collections
import pathlib
import posixpath
import re
import urllib.parse
import xml.etree.ElementTree

NAMESPACE = '{http://www.w3.org/1999/xhtml}'
LOADED = {'script': 'src', 'img': 'src', 'iframe': 'src', 'link': 'href', 'source': 'src', 'video': 'src', 'audio': 'src', 'object': 'data'}


class Site:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.files = {path.relative_to(folder).as_posix() for path in self.folder.rglob('*') if path.is_file()}
        self.trees, self.problems = {}, []
        for name in sorted(self.files):
            if name.endswith('.html'):
                try:
                    self.trees[name] = xml.etree.ElementTree.fromstring((self.folder / name).read_text(encoding='utf-8'))
                except xml.etree.ElementTree.ParseError as error:
                    self.problems.append(f'{name}: is not well-formed: {error}')
        self.ids = {name: [element.get('id') for element in tree.iter() if element.get('id') is not None] for name, tree in self.trees.items()}

    def elements(self, name):
        for element in self.trees[name].iter():
            yield element.tag.removeprefix(NAMESPACE), element

    def text(self, name):
        return ''.join(self.trees[name].itertext())

    def check(self):
        """Returns a line for each problem."""
        self.links = {name: set() for name in self.trees}
        for name in self.trees:
            self.problems += [f'{name}: the id {found} stands twice' for found, count in collections.Counter(self.ids[name]).items() if count > 1]
            for tag, element in self.elements(name):
                self.check_element(name, tag, element)
        self.problems += [f'{name}: no path of links leads here from index.html' for name in sorted(set(self.trees) - self.reached())]
        for name in sorted(self.files):
            if name.endswith('.css'):
                self.check_style(name)
        return self.problems

    def check_element(self, name, tag, element):
        if tag in ('script', 'style') or any(attribute.startswith('on') or attribute == 'style' for attribute in element.keys()):
            self.problems.append(f'{name}: <{tag}> has a script or a style of its own')
        loaded = element.get(LOADED.get(tag, ''))
        target = loaded if loaded is not None else element.get('href')
        if target is None:
            return
        if urllib.parse.urlsplit(target).scheme or target.startswith('/'):
            if loaded is not None or not target.startswith('https://'):
                self.problems.append(f'{name}: {target} is outside of the site')
            return
        path, _, anchor = target.partition('#')
        found = posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(path))) if path else name
        if found not in self.files:
            self.problems.append(f'{name}: link to {target}: there is no file {found}')
        elif anchor and anchor not in self.ids.get(found, []):
            self.problems.append(f'{name}: link to {target}: {found} has no such id')
        elif tag == 'a':
            self.links[name].add(found)

    def check_style(self, name):
        for target in re.findall(r'url\(([^)]*)\)|@import', (self.folder / name).read_text(encoding='utf-8')):
            self.problems.append(f'{name}: loads {target or "another file"}')

    def reached(self):
        reached, waiting = set(), ['index.html']
        while waiting:
            name = waiting.pop()
            if name not in reached and name in self.trees:
                reached.add(name)
                waiting += self.links[name]
        return reached
