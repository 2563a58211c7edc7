"""man_page.py PROGRAM: prints the program's manual page, made from its own help.

The first section is `PROGRAM --help`; each verb that it lists follows with its own `--help`, as they are.
"""
import os
import re
import subprocess
import sys


def help_of(*command):
    return subprocess.run([*command, '--help'], check=True, capture_output=True, text=True).stdout


def verbs_of(text):
    """The words that begin the lines below "Verbs:" or "Subcommands:"."""
    block = re.search(r'^(?:Verbs|Subcommands):\n((?:[ ]+.*\n)+)', text, re.MULTILINE)
    if not block:
        sys.exit('man_page: the help lists no verbs')
    return re.findall(r'^  (\S+)', block.group(1), re.MULTILINE)


def as_written(text):
    """Text that roff neither fills nor reads."""
    lines = text.replace('\\', r'\e').replace('-', r'\-').replace("'", r'\(aq').splitlines()
    return '.nf\n' + '\n'.join(r'\&' + line if line.startswith(('.', "'")) else line for line in lines) + '\n.fi'


def page(program):
    name = os.path.basename(program)
    overview = help_of(program)
    summary, _, rest = overview.strip().partition('\n\n')
    sentence = re.split(r'(?<=\w)[:.](?:\s|$)', ' '.join(summary.split()), maxsplit=1)[0]
    parts = [f'.TH {name.upper()} 1', '.SH NAME', rf'{name} \- {sentence[0].lower()}{sentence[1:]}',
             '.SH DESCRIPTION', as_written(summary), '.PP', as_written(rest)]
    for verb in verbs_of(overview):
        parts += [f'.SH {name.upper()} {verb.upper()}', as_written(help_of(program, verb).strip())]
    return '\n'.join(parts) + '\n'


if __name__ == '__main__':
    sys.stdout.write(page(sys.argv[1]))
