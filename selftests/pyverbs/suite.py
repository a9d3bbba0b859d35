#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
#
# suite.py RESULTS [PATTERN...]: runs rdma-core's tests/ (beside this file) on this machine's RDMA
# device. Each test is a process of its own with a time limit. run.sh starts it in a machine.
#
# Tests of one vendor's devices (test_mlx5*, test_efa*, test_cuda*) are left out. PATTERN is a part of a test's name,
# or a shell pattern for the whole of it; with several, a test has to match one of them.
#
# Lines are appended to RESULTS at once: "list N", then for each test "begin TEST" and "pass|fail|error|skip TEST
# SECONDS REASON", separated by tabs. A test that has a line there from an earlier call is not run again. So when a
# machine has died, the other tests can run in another one. Exit status: 0 if all were run, 3 if a test cannot be
# ended.
#
# Environment: OHCA_IBDEV, OHCA_GID_INDEX, OHCA_LIMIT (seconds for a test), OHCA_KLOG (regular expression for reports
# in the kernel log).

import ctypes
import fnmatch
import glob
import importlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
VENDORS = ('test_mlx5', 'test_efa', 'test_cuda')
DEVICE = os.environ['OHCA_IBDEV']
LIMIT = int(os.environ['OHCA_LIMIT'])
# Seconds that processes and objects may take to disappear after a test's end
GRACE = 20
HUGE_PAGES = 32
PR_SET_CHILD_SUBREAPER = 36


def load_tests():
    """All tests by name. The suite's own __init__.py would load every vendor's too."""
    package = types.ModuleType('tests')
    package.__path__ = [os.path.join(HERE, 'tests')]
    sys.modules['tests'] = package
    sys.path.insert(0, package.__path__[0])
    sys.argv[1:] = ['--dev', DEVICE, '--port', '1', '--gid', os.environ['OHCA_GID_INDEX']]
    importlib.import_module('args_parser').parser.parse_args()
    tests = {}
    for path in sorted(glob.glob(os.path.join(HERE, 'tests', 'test_*.py'))):
        name = os.path.basename(path)[:-len('.py')]
        if name.startswith(VENDORS):
            continue
        module = importlib.import_module('tests.' + name)
        for suite in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in suite:
                tests[test.id().removeprefix('tests.')] = test
    return tests


def selected(name, patterns):
    return not patterns or any(p in name or fnmatch.fnmatchcase(name, p) for p in patterns)


def one_line(text):
    """The exception at the end of a traceback, or any text, without tabs and line ends."""
    lines = [line for line in text.strip().splitlines() if line and not line.startswith(' ')]
    return ' '.join((lines or [''])[-1].split())


class Results:
    """The file of results."""

    def __init__(self, path):
        self.done = set()
        if os.path.exists(path):
            with open(path, encoding='utf-8') as old:
                for line in old:
                    fields = line.rstrip('\n').split('\t')
                    if fields[0] in ('pass', 'fail', 'error', 'skip'):
                        self.done.add(fields[1])
        self.file = open(path, 'a', encoding='utf-8')

    def add(self, *fields):
        self.file.write('\t'.join(str(f) for f in fields) + '\n')
        self.file.flush()


class KernelLog:
    """What the kernel has said since the last look."""

    def __init__(self, pattern):
        self.pattern = re.compile(pattern)
        self.fd = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def report(self):
        """The first line that is a report, or nothing."""
        found = ''
        while True:
            try:
                record = os.read(self.fd, 8192).decode('utf-8', 'replace')
            except BlockingIOError:
                return found
            except BrokenPipeError:
                continue
            text = record.partition(';')[2].partition('\n')[0]
            if not found and self.pattern.search(text):
                found = text


class Objects:
    """The device's objects, counted; those that the kernel holds are there from the start."""

    def __init__(self):
        self.start = self.count()

    @staticmethod
    def count():
        out = subprocess.run(['rdma', '-j', 'resource', 'show', DEVICE], check=True,
                             stdout=subprocess.PIPE).stdout
        counts = json.loads(out)[0]
        return {kind: n for kind, n in counts.items() if isinstance(n, int) and kind != 'ifindex'}

    def left(self):
        """What there is more of than at the start, after a while; then this is the new start."""
        end = time.monotonic() + GRACE
        while True:
            now = self.count()
            more = [f'{kind} {n - self.start.get(kind, 0)}' for kind, n in sorted(now.items())
                    if n > self.start.get(kind, 0)]
            if not more or time.monotonic() > end:
                self.start = now
                return ', '.join(more)
            time.sleep(0.1)


def verdict(result):
    """(status, reason) of a unittest result."""
    for status, list_ in (('error', result.errors), ('fail', result.failures)):
        if list_:
            return status, one_line(list_[0][1])
    if result.unexpectedSuccesses:
        return 'fail', 'unexpected success'
    if result.skipped:
        return 'skip', one_line(result.skipped[0][1])
    return 'pass', ''


def child(test, output):
    """The process of one test: never returns. The last line of its output is the verdict."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    result = unittest.TestResult()
    unittest.TestSuite([test]).run(result)
    for _, trace in result.errors + result.failures:
        print(trace)
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(output, ('\n' + json.dumps(verdict(result))).encode())
    # When the interpreter exits, it destroys objects in any order; that is not part of a test.
    os._exit(0)


def children():
    """The processes that are left of a test: all have this one as their parent, or get it."""
    for pid in (int(name) for name in os.listdir('/proc') if name.isdigit()):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as stat:
                if int(stat.read().rpartition(')')[2].split()[1]) == os.getpid():
                    yield pid
        except OSError:
            pass


def reap():
    """Ends all processes of a test and waits for them; false if one does not end."""
    end = time.monotonic() + GRACE
    while time.monotonic() < end:
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.02)
    return False


def stacks():
    """Where in the kernel the processes that do not end are."""
    for pid in children():
        with open(f'/proc/{pid}/stack', encoding='utf-8') as stack:
            print(f'# process {pid}:', *stack.read().splitlines(), sep='\n# ', flush=True)


def run_one(test):
    """Runs one test in a process of its own: (status, reason, output, whether all of it ended)."""
    output = tempfile.TemporaryFile()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        child(test, output.fileno())
    pidfd = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    ended = poll.poll(LIMIT * 1000)
    os.close(pidfd)
    how = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    gone = reap()
    output.seek(0)
    text, _, last = output.read().decode('utf-8', 'replace').rpartition('\n')
    if not ended:
        return 'error', f'no end after {LIMIT} s', text + last, gone
    if how.si_code == os.CLD_EXITED:
        try:
            return (*json.loads(last), text, gone)
        except ValueError:
            return 'error', f'ended with status {how.si_status}', text + last, gone
    return 'error', f'killed by {signal.Signals(how.si_status).name}', text + last, gone


def main():
    results = Results(sys.argv[1])
    patterns = sys.argv[2:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with open('/proc/sys/vm/nr_hugepages', 'w', encoding='utf-8') as pages:
        pages.write(str(HUGE_PAGES))
    tests = {n: t for n, t in load_tests().items() if selected(n, patterns)}
    results.add('list', len(tests))
    log = KernelLog(os.environ['OHCA_KLOG'])
    objects = Objects()
    for name, test in tests.items():
        if name in results.done:
            continue
        results.add('begin', name)
        start = time.monotonic()
        status, reason, output, gone = run_one(test)
        seconds = f'{time.monotonic() - start:.1f}'
        report = log.report()
        left = objects.left() if gone else ''
        more = [f'kernel: {report}'] * bool(report)
        more += ['its processes cannot be ended'] * (not gone)
        more += [f'objects left behind: {left}'] * bool(left)
        if more:
            status, reason = 'error', '; '.join(more + [reason] * bool(reason))
        results.add(status, name, seconds, reason)
        print(f'{status:5} {name} ({seconds} s)' + f': {reason}' * bool(reason), flush=True)
        if status in ('error', 'fail'):
            for line in output.splitlines():
                print('#', line, flush=True)
        if not gone:
            stacks()
            sys.exit(3)


main()
