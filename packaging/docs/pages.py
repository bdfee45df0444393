# SPDX-License-Identifier: Apache-2.0
"""Turns the Markdown of a tree into pages of HTML that link to one another.

A page is both HTML 5 and well-formed XML, so that a test can parse it strictly. A link to a Markdown file becomes a link to its
page, a link to a source becomes a link to a page that shows it, and a link that leads nowhere is a Problem.
"""
import collections
import html
import os
import pathlib
import posixpath
import re

from markdown_it import MarkdownIt

Document = collections.namedtuple('Document', 'path text')  # path: place in the tree; a generated document has one, too


class Problem(Exception):
    """A document cannot become a page. The message names the document and what is expected."""


# The groups of the navigation, and which paths belong to each; the first match counts.
GROUPS = [
    ('Start', r'README\.md|\.github/.*|packaging/CHANGELOG\.md|examples/noisy-neighbour/.*'),
    ('Reference', r'reference/.*|plugin-api/KNOBS\.md|core/agentd/KOORDLET\.md|core/api/README\.md'),
    ('Operation', r'packaging/.*|core/ui/README\.md'),
    ('Writing plugins', r'plugin-api/.*|examples/.*'),
    ('Plugins', r'plugins/.*'),
    ('Libraries', r'core/.*'),
    ('Tests', r'test/.*'),
]
# Documents of projects that `koordctl plugin new` creates. They are not documents of this tree.
NOT_DOCUMENTS = re.compile(r'plugin-api/templates/[^/]+/.*')
OUTSIDE = re.compile(r'[a-z][a-z0-9+.-]*:')
ANCHOR = re.compile(r'<a id="([\w-]+)">|</a>')  # the only element that Markdown cannot express


def documents_of(tree):
    """Returns the Markdown files of the tree, except for files in build folders."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(name for name in folders if (name == '.github' or not name.startswith('.'))
                            and not os.path.isdir(os.path.join(folder, name, 'meson-private')))
        for name in sorted(names):
            path = pathlib.Path(folder, name).relative_to(tree).as_posix()
            if name.endswith('.md') and not NOT_DOCUMENTS.fullmatch(path):
                found.append(Document(path, pathlib.Path(folder, name).read_text(encoding='utf-8')))
    return found


def page_of(path):
    """Returns the path in the site of the page that shows a file of the tree."""
    path = path.removeprefix('.github/')
    if posixpath.basename(path) == 'README.md':
        return posixpath.join(posixpath.dirname(path), 'index.html')
    return path.removesuffix('.md') + '.html'


def slug(heading):
    """Returns the anchor of a heading, as GitHub and GitLab make it."""
    return re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def text_of(inline):
    return ''.join(child.content for child in inline.children if child.type in ('text', 'code_inline'))


def parser():
    markdown = MarkdownIt('gfm-like', {'linkify': False, 'xhtmlOut': True, 'html': True})
    markdown.add_render_rule('table_open', lambda *_: '<div class="table" tabindex="0"><table>\n')
    markdown.add_render_rule('table_close', lambda *_: '</table></div>\n')
    return markdown


class Page:
    """One document: its tokens, title and anchors."""

    def __init__(self, document):
        self.path = document.path
        self.place = page_of(document.path)
        self.markdown = parser()
        self.tokens = self.markdown.parse(document.text)
        self.headings = []  # (level, text, anchor)
        anchors = collections.Counter()
        for token, inline in zip(self.tokens, self.tokens[1:]):
            if token.type == 'heading_open':
                anchor = slug(text_of(inline))
                anchors[anchor] += 1
                if anchors[anchor] > 1:
                    anchor += f'-{anchors[anchor] - 1}'
                token.attrSet('id', anchor)
                self.headings.append((int(token.tag[1]), text_of(inline), anchor))
        if not self.headings or self.headings[0][0] != 1:
            raise Problem(f'{self.path}: has no title, expected a first line such as "# Title"')
        self.title = self.headings[0][1]
        self.anchors = {anchor for _, _, anchor in self.headings} | set(re.findall(r'<a id="([\w-]+)"></a>', document.text))

    def check_html(self, token):
        # Comments are for tests, such as `<!-- from PATH -->`. Nothing else is allowed, so a page stays well-formed.
        if not re.fullmatch(r'(?:\s*<!--(?:(?!--).)*-->\s*)*', token.content, re.S):
            raise Problem(f'{self.path}: HTML in Markdown: {token.content.strip()[:60]!r}, expected Markdown alone')
        token.content = ''

    def body(self, resolve):
        """Returns the HTML of the document. `resolve` turns the target of a link into one of the site."""
        for token in self.tokens:
            if token.type == 'html_block':
                self.check_html(token)
            for child in token.children or []:
                if child.type == 'html_inline' and not ANCHOR.fullmatch(child.content):
                    self.check_html(child)
                for attribute in ('href', 'src'):
                    if child.attrGet(attribute) is not None:
                        child.attrSet(attribute, resolve(child.attrGet(attribute)))
        return self.markdown.renderer.render(self.tokens, self.markdown.options, {})

    def contents(self):
        """Returns the list of the sections; empty if there are fewer than three sections."""
        sections = [(text, anchor) for level, text, anchor in self.headings if level == 2]
        if len(sections) < 3:
            return ''
        items = ''.join(f'<li><a href="#{anchor}">{html.escape(text)}</a></li>' for text, anchor in sections)
        return f'<nav class="contents" aria-label="Sections of this page"><ul>{items}</ul></nav>\n'


class Site:
    def __init__(self, tree, documents):
        self.tree = pathlib.Path(tree)
        self.pages = {document.path: Page(document) for document in documents}
        self.sources = {}  # path in the tree of each source or folder that a page links to: the path of its page
        places = collections.Counter(page.place for page in self.pages.values())
        for place, count in places.items():
            if count > 1:
                raise Problem(f'{place}: {count} documents have this page, expected one')
        self.groups = collections.defaultdict(list)
        for path in self.pages:
            name = next((name for name, expression in GROUPS if re.fullmatch(expression, path)), None)
            if name is None:
                raise Problem(f'{path}: belongs to no group of the navigation, expected a row of GROUPS in pages.py')
            self.groups[name].append(path)

    def source_page(self, path):
        """Returns the page of a file or folder without a document, and remembers to write it."""
        if path not in self.sources:
            is_folder = (self.tree / path).is_dir()
            self.sources[path] = path + ('/index.html' if is_folder else '.html')
            if is_folder:
                for name in self.names_in(path):
                    self.source_page(f'{path}/{name}')
        return self.sources[path]

    def names_in(self, folder):
        return sorted(entry.name for entry in (self.tree / folder).iterdir() if entry.is_file())

    def resolve(self, page, target):
        if OUTSIDE.match(target):
            return target
        path, _, anchor = target.partition('#')
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), path)) if path else page.path
        if path not in self.pages and path + '/README.md' in self.pages:
            path += '/README.md'
        if path in self.pages:
            other = self.pages[path]
            if anchor and anchor not in other.anchors:
                raise Problem(f'{page.path}: link to {target}: {path} has no such heading')
            place = other.place
        elif (self.tree / path).exists() and not path.startswith('..'):
            place = self.source_page(path)
        else:
            raise Problem(f'{page.path}: link to {target}: there is no such file')
        return self.relative(page.place, place) + ('#' + anchor if anchor else '')

    @staticmethod
    def relative(place, other):
        return posixpath.relpath(other, posixpath.dirname(place) or '.')

    def entry(self, path, place):
        page = self.pages[path]
        current = ' aria-current="page"' if page.place == place else ''
        return f'<li><a href="{self.relative(place, page.place)}"{current}>{html.escape(page.title)}</a></li>'

    def navigation(self, place):
        parts = []
        for name, _ in GROUPS:
            is_open = any(self.pages[path].place == place for path in self.groups[name]) or name in ('Start', 'Reference')
            items = '\n'.join(self.entry(path, place) for path in self.sorted(name))
            parts.append(f'<details{" open=" + chr(34) + "open" + chr(34) if is_open else ""}><summary>{name}</summary>\n<ul>\n{items}\n</ul></details>')
        return '\n'.join(parts)

    def sorted(self, name):
        """The README of the tree first, then the overview of a folder before the parts of the folder."""
        paths = self.groups[name]
        return sorted(paths, key=lambda path: (path != 'README.md', path.count('/') > 1, not path.endswith('README.md') or path.count('/') > 1, path))

    def frame(self, place, title, body, contents=''):
        style = self.relative(place, 'style.css')
        first = self.relative(place, 'index.html')
        return f'''<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>{html.escape(title)}</title>
<link rel="stylesheet" href="{style}" />
</head>
<body>
<header><a class="first" href="{first}">Koordetector</a> <a class="skip" href="#pages">All pages</a></header>
<main>
{contents}<article>
{body}</article>
</main>
<nav id="pages" aria-label="All pages">
{self.navigation(place)}
</nav>
</body>
</html>
'''

    def source_body(self, path):
        """Returns a file with an anchor for each line, or the list of a folder's files."""
        heading = f'<h1>{html.escape(path)}</h1>\n'
        place = self.sources[path]
        if (self.tree / path).is_dir():
            items = ''.join(f'<li><a href="{self.relative(place, self.sources[f"{path}/{name}"])}">{html.escape(name)}</a></li>\n'
                            for name in self.names_in(path))
            return f'{heading}<ul>\n{items}</ul>\n'
        lines = (self.tree / path).read_text(encoding='utf-8').split('\n')
        shown = '\n'.join(f'<span id="L{number}">{html.escape(line)}</span>' for number, line in enumerate(lines, 1))
        return f'{heading}<pre class="source"><code>{shown}</code></pre>\n'

    def write(self, output):
        """Writes all pages and returns their number. Sources come last, when all links to them are known."""
        made = {page.place: self.frame(page.place, page.title, page.body(lambda target, page=page: self.resolve(page, target)), page.contents())
                for page in self.pages.values()}
        for path, place in self.sources.items():
            made[place] = self.frame(place, path, self.source_body(path))
        for place, text in made.items():
            file = pathlib.Path(output, place)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding='utf-8')
        return len(made)
