# SPDX-License-Identifier: Apache-2.0
"""Sentences of comments, texts and pages, to be read by a person."""
import random
import re

from check import files_of
from texts import texts_of

END = re.compile(r'(?<=[A-Za-z0-9)\]\'"`][.!?])\s+(?=["\'(`]?[A-Z])')
LEAST_WORDS = 4


def sentences_of(path, content):
    """Yields (line, sentence). A text without a full stop is a fragment and left out, unless it is a test name or a help text."""
    for text in texts_of(path, content):
        at = 0
        for sentence in END.split(text.body):
            start = text.body.index(sentence, at)
            at = start + len(sentence)
            is_whole = sentence.rstrip().endswith(('.', '!', '?')) or text.is_test_name()
            if is_whole and sentence.count(' ') >= LEAST_WORDS - 1 and '\n' not in sentence:
                yield text.line_at(start), sentence


def sample(tree, seed, count, below=()):
    """Returns `count` sentences as "path:line: sentence". Each file has the same probability, so large files do not prevail."""
    generator = random.Random(seed)
    files = list(files_of(tree, below))
    generator.shuffle(files)
    chosen = []
    for path, content in files:
        sentences = list(sentences_of(path, content))
        if sentences:
            line, sentence = generator.choice(sentences)
            chosen.append(f'{path}:{line}: {sentence}')
        if len(chosen) == count:
            break
    return chosen
