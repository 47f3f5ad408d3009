#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py -- what the Markdown pages of the project promise to a reader who tries them.

    pages.py check             judge every page (`make lint`)
    pages.py runnable          print the pages that have commands for tests/cli/docs.sh
    pages.py split PAGE DIR    write the blocks of PAGE into DIR, for tests/cli/docs.sh
    pages.py fill              copy the tables anew that one page has from another
    pages.py mentions          print "PAGE<tab>COMMAND" for each command named in a sentence

A block of commands has the language `sh`.  tests/cli/docs.sh runs the blocks of a page in
their order, in a directory that looks like the root of a built clone; each has to exit with
0.  A comment on the line before a block changes that:

    <!-- exits 1 -->               the block exits with 1
    <!-- says REGEX -->            its output has a line that fits the extended expression
    <!-- exits 1, says REGEX -->   both
    <!-- until REGEX -->           it goes on in the background once such a line came
    <!-- not run: REASON -->       nothing runs it, and why
    <!-- file PATH -->             not commands: the block is the contents of the file PATH

`<!-- commands: TEST -->` anywhere in a page says that TEST runs the blocks of the whole page;
`<!-- commands: as in PAGE -->` that PAGE has the same blocks, which is checked.

Lines between `<!-- from PAGE -->` and `<!-- end -->` are the first table of PAGE, without speeds;
`pages.py fill` copies them anew (`make docs`).  `in Chinese` after PAGE translates them.

Exit status: 0 done, of check: no page is wrong; 1 a page is wrong.
"""
import os
import re
import subprocess
import sys

ROOMS = 'app base db docker docs loadtest lock lua tests tools'.split()
PATH = re.compile(r'(?:%s)/[\w./-]*' % '|'.join(ROOMS))
COMMENT = re.compile(r'<!-- (.*?) -->')


class Block:
    """One fenced block: its language, the comment before it, its lines."""

    def __init__(self, line, language, comment):
        self.line, self.language, self.comment, self.lines = line, language, comment, []

    @property
    def text(self):
        return ''.join(self.lines)


class Page:
    def __init__(self, path):
        self.path, self.blocks, self.prose, self.open_fence = path, [], [], False
        self.test = None
        with open(path, encoding='utf-8') as lines:
            self.read(lines)

    def read(self, lines):
        comment, block = None, None
        for number, line in enumerate(lines, 1):
            fence = re.match(r' *```(.*)', line)
            if block is not None:
                if fence:
                    block = None
                else:
                    block.lines.append(line)
                continue
            if fence:
                block = Block(number, fence.group(1).strip(), comment)
                self.blocks.append(block)
                comment = None
                continue
            found = COMMENT.fullmatch(line.strip())
            if found and found.group(1).startswith('commands: '):
                self.test = found.group(1)[len('commands: '):]
            comment = found.group(1) if found else comment if not line.strip() else None
            self.prose.append((number, line))
        self.open_fence = block is not None

    def runnable(self):
        return self.test is None and any(
            is_commands(b) and not (b.comment or '').startswith('not run: ') for b in self.blocks)


def is_commands(block):
    return block.language == 'sh' or block.language.startswith('sh ')


def tracked(*patterns):
    out = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '--', *patterns],
                         check=True, capture_output=True, text=True).stdout
    return [path for path in sorted(set(out.split('\n'))) if path and os.path.exists(path)]


def pages():
    return [Page(path) for path in tracked('*.md')]


def spans(page):
    """(line, code) for each piece of code in a sentence."""
    for number, line in page.prose:
        for code in re.findall(r'`([^`]+)`', line):
            yield number, code


# ---- check ----

def slug(heading):
    """The anchor that GitHub makes of a heading."""
    heading = re.sub(r'[`*]', '', heading.strip().lower())
    return re.sub(r'[^\w\- ]', '', heading).replace(' ', '-')


def anchors(page):
    return {slug(line.lstrip('#')) for _, line in page.prose if re.match(r'#+ ', line)}


def wrong_links(page):
    for number, line in page.prose:
        for target in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'`[^`]*`', '', line)):
            if re.match(r'[a-z]+:', target):
                continue
            path, _, anchor = target.partition('#')
            path = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path else page.path
            if not os.path.exists(path):
                yield number, 'the link leads nowhere: ' + target
            elif anchor and path.endswith('.md') and anchor not in anchors(Page(path)):
                yield number, 'no such heading: ' + target


def wrong_names(page, targets):
    """Files and targets of make that a sentence names and that are not there."""
    for number, code in spans(page):
        if PATH.fullmatch(code) and not re.search("[A-Z]{4}", code) and not os.path.exists(code):
            yield number, 'there is no %s' % code
        make = re.match(r'make ([a-z-]+)\b(?!=)', code)
        if make and make.group(1) not in targets:
            yield number, 'make has no target %s' % make.group(1)


def wrong_blocks(page):
    if page.open_fence:
        yield 1, 'a block is not closed'
    if (page.test or '').startswith('as in '):
        yield from other_commands(page, Page(page.test[len('as in '):]))
    elif page.test is not None:
        name = os.path.basename(page.path)
        if not os.path.exists(page.test):
            yield 1, 'there is no %s' % page.test
        elif name not in open(page.test, encoding='utf-8').read():
            yield 1, '%s says nothing of %s' % (page.test, name)
    for block in page.blocks:
        comment = block.comment or ''
        if not block.language:
            yield block.line, 'the block has no language; commands are `sh`, output is `text`'
        elif is_commands(block) and comment and page.test is None:
            if not re.match(r'(not run: .{15}|exits \d|says .|until .)', comment):
                yield block.line, 'unknown comment before commands: ' + comment
        elif page.test is None and re.match(r'(exits|says|until|not run)', comment):
            yield block.line, 'only commands can be run: ' + comment


def other_commands(page, other):
    """Where the commands of a translation are not those of the original, in its order."""
    wanted = [block for block in other.blocks if is_commands(block)]
    found = [block for block in page.blocks if is_commands(block)]
    for block, like in zip(found, wanted):
        if block.text.replace(' --language=zh', '') != like.text:
            yield block.line, 'the commands differ from those of %s:%d' % (other.path, like.line)
    if len(found) != len(wanted):
        yield 1, '%d blocks of commands; %s has %d' % (len(found), other.path, len(wanted))


# ---- tables that a page has from another ----

FROM = re.compile(r'(<!-- from (\S+?)( in Chinese)? -->\n)(.*?)(<!-- end -->\n)', re.S)


def first_table(path, in_chinese):
    """The first table of a page of results that has locks for rows, without the speeds."""
    with open(path, encoding='utf-8') as lines:
        rows = [line for line in lines.read().split('\n## ')[1].split('\n') if line.startswith('|')]
    table = '\n'.join(re.sub(r', [\d.]+/s, p99 [\d.]+ ms', '', row) for row in rows) + '\n'
    if in_chinese:
        table = re.sub(r'(\d+) over', r'超卖 \1', table).replace('sound', '通过').replace('| lock |', '| 锁 |')
    return table


def filled(path):
    with open(path, encoding='utf-8') as page:
        text = page.read()
    return text, FROM.sub(lambda m: m[1] + '\n' + first_table(m[2], m[3]) + '\n' + m[5], text)


def stale_tables(page):
    text, wanted = filled(page.path)
    if text != wanted:
        yield 1, 'a table is not that of its page of results; run: make docs'


def fill():
    for page in pages():
        text, wanted = filled(page.path)
        if text != wanted:
            with open(page.path, 'w', encoding='utf-8') as out:
                out.write(wanted)
    return 0


def indented_blocks(page):
    before, in_list = '', False
    for number, line in page.prose:
        if line.strip() and not line.startswith(' '):
            in_list = bool(re.match(r'([-*]|\d+\.) ', line))
        if line.startswith('    ') and not before.strip() and not in_list:
            yield number, 'code that is only indented; begin a block with three backquotes'
        before = line


def make_targets():
    with open('Makefile', encoding='utf-8') as lines:
        found = set()
        for line in lines:
            rule = re.match(r'([a-z][a-z -]*):(?!=)', line)
            found.update(rule.group(1).split() if rule else [])
            found.update(line.split()[1:] if line.startswith('.PHONY: ') else [])
        return found


def unlisted():
    """Pages that docs/README.md, the list of all documents, does not link."""
    with open('docs/README.md', encoding='utf-8') as page:
        listed = page.read()
    for path in tracked('docs/*/*.md'):
        name = path[len('docs/'):]
        if not name.startswith('results/') and '](%s)' % name not in listed:
            yield path


def check():
    targets, failed = make_targets(), False
    for path in unlisted():
        print('%s:1: docs/README.md does not link this page' % path)
        failed = True
    for page in pages():
        for wrong in (wrong_links(page), wrong_names(page, targets), wrong_blocks(page),
                      indented_blocks(page), stale_tables(page)):
            for number, text in wrong:
                print('%s:%d: %s' % (page.path, number, text))
                failed = True
    return 1 if failed else 0


# ---- for the test ----

def steps(page):
    """What the test does with the page: (kind, what else, block), in order."""
    for block in page.blocks:
        comment = block.comment or ''
        if comment.startswith('file '):
            yield 'file', {'path': comment[5:]}, block
        elif is_commands(block) and not comment.startswith('not run: '):
            exits = re.search(r'exits (\d+)', comment)
            says = re.search(r'says (.*)', comment)
            until = re.match(r'until (.*)', comment)
            yield ('until' if until else 'run'), {
                'exits': exits.group(1) if exits else '0',
                'says': (until or says).group(1) if until or says else ''}, block


def split(path, directory):
    for number, (kind, more, block) in enumerate(steps(Page(path)), 1):
        base = os.path.join(directory, '%02d' % number)
        first = next((line for line in block.lines if line.strip()), '').strip()
        for name, text in {'kind': kind, 'first': first, 'text': block.text, **more}.items():
            with open(base + '.' + name, 'w', encoding='utf-8') as out:
                out.write(text)
    return 0


def mentions():
    for page in pages():
        for _, code in spans(page):
            code = re.sub(r'^build/', '', code)
            if re.match(r'seckilld? ', code):
                print(page.path + '\t' + code)
    return 0


def main(arguments):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    match arguments:
        case ['check']:
            return check()
        case ['runnable']:
            print('\n'.join(p.path for p in pages() if p.runnable()))
            return 0
        case ['split', page, directory]:
            return split(page, directory)
        case ['fill']:
            return fill()
        case ['mentions']:
            return mentions()
    print(__doc__, file=sys.stderr)
    return 64


sys.exit(main(sys.argv[1:]))
