"""What a program can do wrong: each fault is located, and leaves no process behind."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from child_programs import LINUX, Write, generator, is_running, must_end, process_of, writer
from dpverdict.errors import ExecutableError
from dpverdict.mechanism.executable import Executable, Limits
from dpverdict.mechanism.tally import listed


@pytest.fixture
def program(tmp_path: Path) -> Write:
    return writer(tmp_path)


HELLO = '{"hello":"test","version":1'
FAULTS: list[tuple[str, str, str, list[str]]] = [
    # name, program, code, what the error must show
    ("slow to start", "time.sleep(60)", "EXEC-003", ["did not say hello within 0.6 seconds", "flush"]),
    ("not flushed", "sys.stdout.write('{}'); time.sleep(60)", "EXEC-003", ["start time-out"]),
    ("a banner", "say('Welcome to R!')", "EXEC-007", ["Welcome to R!", "^ here", "standard error"]),
    ("not UTF-8", 'sys.stdout.buffer.write(b\'{"a":"\\xff"}\\n\'); sys.stdout.flush()', "EXEC-007", ["UTF-8", "\\xff"]),
    ("echo", "say(sys.stdin.readline(), end='')", "EXEC-004", ["no version", '"versions"']),
    ("version 2", "say({'version': 2})", "EXEC-004", ["version 2", "version 1"]),
    ("version true", "say({'version': True})", "EXEC-004", ["version true"]),
    ("seed yes", "hello(seed='yes')", "EXEC-004", ['seed is "yes"', "true or false"]),
    ("frames 1", "hello(frames=1)", "EXEC-004", ["frames is 1"]),
    ("max_runs 0", "hello(max_runs=0)", "EXEC-004", ["max_runs is 0", "at least 1"]),
    ("inputs unknown", "hello(inputs=['float'])", "EXEC-004", ["float", "number"]),
    ("long hello", "say('x' * 100_000)", "EXEC-011", ["65536 bytes"]),
    ("ends at once", "sys.stderr.write('boom\\n'); sys.exit(3)", "EXEC-005", ["exit status 3", "| boom", "hello"]),
    ("half a hello", "say('{\"hello\":', end='')", "EXEC-005", ["exit status 0", '{"hello":', "unfinished line"]),
    ("no stdout", "os.close(1); time.sleep(60)", "EXEC-010", ["closed its standard output"]),
    ("a traceback", "request(); undefined", "EXEC-005", ["exit status 1", "| NameError: name 'undefined'"]),
    ("a signal", "request(); os.kill(os.getpid(), signal.SIGSEGV)", "EXEC-005", ["SIGSEGV", "request 1 for 3 runs"]),
    ("a real-time signal", "request(); os.kill(os.getpid(), 40)", "EXEC-005", ["signal 40"]),
    ("half a reply", "request(); say('{\"id\":1,\"outc', end='')", "EXEC-005", ['{"id":1,"outc', "unfinished line"]),
    ("ends politely", "request(); sys.exit(0)", "EXEC-005", ["exit status 0", "run it by hand"]),
    ("silent", "request(); time.sleep(60)", "EXEC-006", ["within 0.6 seconds", "request 1 for 3 runs", "max_runs"]),
    ("dribbling", "request()\nwhile True: say(' ', end=''); time.sleep(0.05)", "EXEC-006", ["0.6 seconds"]),
    ("empty chunks", 'request()\nwhile True: say(\'{"id":1,"outcomes":[],"more":true}\')', "EXEC-006|EXEC-011", []),
    ("a print", "request(); say('noise = 0.25')", "EXEC-007", ["noise = 0.25", "^ here", "standard error"]),
    ("a late error", 'request(); say(\'{"id":1,"outcomes":[1,2,nan]}\')', "EXEC-007", ["       ^ here"]),
    ("two on a line", 'request(); say(\'{"id":1,"outcomes":[1]} {}\')', "EXEC-007", ["extra data"]),
    ("a list", "request(); say([1, 2, 3])", "EXEC-007", ["a JSON list, not an object"]),
    ("an empty line", "request(); say('')", "EXEC-007", ["the line is empty"]),
    ("control letters", "request(); say('\\x1b[31mred\\x00')", "EXEC-007", ["\\x1b[31mred\\x00"]),
    ("deep", "request(); say('[' * 100_000)", "EXEC-007", ["nested too deeply"]),
    ("many digits", "request(); say('{\"id\":1,\"outcomes\":[' + '9' * 9000 + ']}')", "EXEC-007", ["$int"]),
    ("another id", "request(); say({'id': 2, 'outcomes': [1, 2, 3]})", "EXEC-008", ["the id 2", "has 1"]),
    ("id true", "request(); say({'id': True, 'outcomes': [1, 2, 3]})", "EXEC-008", ["the id true"]),
    ("no id", "request(); say({'outcomes': [1, 2, 3]})", "EXEC-008", ["no id", '"outcomes"']),
    ("too few", "request(); say({'id': 1, 'outcomes': [1, 2]})", "EXEC-009", ["3 outcomes", "2 came"]),
    ("too many", "request(); say({'id': 1, 'outcomes': [1, 2, 3, 4]})", "EXEC-009", ["3 outcomes", "4 came"]),
    ("none", "request(); say({'id': 1, 'outcomes': []})", "EXEC-009", ["0 came"]),
    ("more announced", "request(); say({'id': 1, 'outcomes': [1, 2, 3], 'more': True})", "EXEC-009", ["announced"]),
    ("too many frames", "request(frames=True); say({'id': 1, 'frame': 'int8', 'runs': 4})", "EXEC-009", ["4 came"]),
    ("no stdout later", "request(); os.close(1); time.sleep(60)", "EXEC-010", ["closed its standard output"]),
    ("no stdin", "sys.stdin.readline(); os.close(0); say('" + HELLO + "}'); time.sleep(60)", "EXEC-010", ["input"]),
    ("huge reply", "request(); say({'id': 1, 'outcomes': ['x' * 300_000] * 3})", "EXEC-011", ["100000 bytes"]),
    ("endless line", "request()\nwhile True: say('x' * 10_000, end='')", "EXEC-011", ["100000 bytes", "bounded"]),
    (
        "huge frame",
        "request(frames=True); say({'id': 1, 'frame': 'int8', 'runs': 3, 'width': 10**15})",
        "EXEC-011",
        ["100000 bytes"],
    ),
    ("a bad value", "request(); say({'id': 1, 'outcomes': [1, {'$float': 'x'}, 2]})", "EXEC-012", ["outcome 1", "^^^"]),
    ("twice a key", 'request(); say(\'{"id":1,"outcomes":[{"a":1,"a":2}]}\')', "EXEC-012", ["'a' stands twice"]),
    (
        "refused",
        "request(); say({'id': 1, 'error': 'Overflow', 'message': 'too big'})",
        "EXEC-013",
        ["Overflow: too big"],
    ),
    ("no outcomes", "request(); say({'id': 1, 'outcome': [1]})", "EXEC-014", ["neither outcomes", '"outcome"']),
    ("outcomes 3", "request(); say({'id': 1, 'outcomes': 3})", "EXEC-014", ["outcomes is 3"]),
    ("more 1", "request(); say({'id': 1, 'outcomes': [1], 'more': 1})", "EXEC-014", ["more is 1"]),
    ("both", "request(); say({'id': 1, 'outcomes': [1], 'frame': 'int8'})", "EXEC-014", ["both"]),
    ("not announced", "request(); say({'id': 1, 'frame': 'int8', 'runs': 3})", "EXEC-014", ['"frames":true']),
    (
        "frame type",
        "request(frames=True); say({'id': 1, 'frame': 'int128', 'runs': 3})",
        "EXEC-014",
        ["int128", "int64"],
    ),
    ("frame runs", "request(frames=True); say({'id': 1, 'frame': 'int8', 'runs': 0})", "EXEC-014", ["runs is 0"]),
    (
        "frame width",
        "request(frames=True); say({'id': 1, 'frame': 'int8', 'runs': 3, 'width': 0})",
        "EXEC-014",
        ["width"],
    ),
    ("half a frame", "request(frames=True); say({'id': 1, 'frame': 'int64', 'runs': 3}); say('abc')", "EXEC-005", []),
    (
        "a bool of 2",
        "request(frames=True); say({'id': 1, 'frame': 'bool', 'runs': 3}); say('\\1\\2\\0')",
        "EXEC-012",
        ["0 or 1"],
    ),
    ("flood", "hello(); say('x' * 3_000_000)", "EXEC-015|EXEC-007|EXEC-011", []),
]


@LINUX
@pytest.mark.parametrize(
    ("body", "codes", "shown"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
def test_every_fault_is_located_and_leaves_nothing_behind(
    program: Write, body: str, codes: str, shown: list[str]
) -> None:
    executable = Executable(program(body), limits=Limits(20.0, 20.0, 100_000))
    if "EXEC-003" in codes or "EXEC-006" in codes:
        late = Limits(0.6, 20.0) if "EXEC-003" in codes else Limits(20.0, 0.6)
        executable = Executable(executable.name, limits=late)
    with pytest.raises(ExecutableError) as caught:
        executable.run(0, 3, generator())
    error, text = caught.value, str(caught.value)
    assert error.code in codes.split("|"), text
    for part in [*shown, "program.py"]:
        assert part in text
    assert error.why
    assert error.fix
    assert not Path(f"/proc/{process_of(error)}").exists()
    assert executable.process is None
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_what_was_written_after_a_reply_is_found_at_the_next_request(program: Write) -> None:
    command = program("""
        asked = request()
        say('{"id":1,"outcomes":[1]}\\nand another thing')
        sys.stdin.read()
    """)
    with Executable(command) as executable:
        executable.run(0, 1, generator())
        with pytest.raises(ExecutableError, match="nobody asked for") as caught:
            executable.run(0, 1, generator())
        assert "and another thing" in str(caught.value)


def test_a_program_that_answers_only_once(program: Write) -> None:
    command = program("""
        asked = request()
        say({"id": asked["id"], "outcomes": [1]})
    """)
    with Executable(command) as executable:
        assert listed(executable.run(0, 1, generator())) == [1]
        with pytest.raises(ExecutableError, match="EXEC-005") as caught:
            executable.run(0, 1, generator())
        assert "exit status 0" in str(caught.value)
        assert "request 2" in str(caught.value)
        assert listed(executable.run(0, 1, generator())) == [1]


@LINUX
def test_one_that_leaves_the_group_and_goes_on_writing_does_not_hold_us_up(program: Write, tmp_path: Path) -> None:
    note = tmp_path / "escaped"
    command = program(f"""
        import subprocess
        request()
        made = subprocess.Popen(["sh", "-c", "while :; do echo still here >&2; done"], start_new_session=True)
        with open({str(note)!r}, "w") as file: file.write(str(made.pid))
        os.abort()
    """)
    executable = Executable(command)
    try:
        with pytest.raises(ExecutableError, match="SIGABRT") as caught:
            executable.run(0, 1, generator())
        assert "| still here" in str(caught.value)
    finally:
        os.kill(int(note.read_text()), signal.SIGKILL)


def test_after_a_crash_the_next_request_starts_it_again(program: Write, tmp_path: Path) -> None:
    mark = tmp_path / "crashed"
    command = program(f"""
        def answer(asked):
            if asked["input"] == 13 and not os.path.exists({str(mark)!r}):
                open({str(mark)!r}, "w").close()
                os.abort()
            return [asked["seed"]] * asked["runs"]
        serve(answer, seed=True)
    """)
    with Executable(command) as executable:
        before = listed(executable.run(0, 2, generator()))
        with pytest.raises(ExecutableError, match="SIGABRT"):
            executable.run(13, 2, generator())
        assert executable.process is None
        assert listed(executable.run(13, 2, generator())) == before


@LINUX
def test_a_program_that_does_not_want_to_end(program: Write) -> None:
    command = program("""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        serve(lambda asked: [1] * asked["runs"])
        while True: time.sleep(60)
    """)
    executable = Executable(command)
    executable.run(0, 1, generator())
    process = executable.process
    assert process is not None
    executable.close()
    assert not Path(f"/proc/{process}").exists()


@LINUX
@pytest.mark.parametrize("then", ["say('garbage')", "os.abort()", "say({'id': 1, 'outcomes': [1]}); sys.stdin.read()"])
def test_what_the_program_started_ends_with_it(program: Write, tmp_path: Path, then: str) -> None:
    note = tmp_path / "grandchild"
    command = program(f"""
        import subprocess
        request()
        made = subprocess.Popen(["sleep", "1000"])  # it holds our standard output and error open
        with open({str(note)!r}, "w") as file: file.write(str(made.pid))
        {then}
    """)
    executable = Executable(command)
    try:
        executable.run(0, 1, generator())
    except ExecutableError as error:
        assert error.code in ("EXEC-005", "EXEC-007", "EXEC-010")  # noqa: PT017
    executable.close()
    must_end(int(note.read_text()))


@LINUX
def test_it_ends_when_nothing_refers_to_it(program: Write) -> None:
    executable = Executable(program("serve(lambda asked: [1] * asked['runs'])"))
    executable.run(0, 1, generator())
    process = executable.process
    assert process is not None
    del executable
    assert not Path(f"/proc/{process}").exists()


SCRIPT = """
import sys
from dpverdict.execute import seeds
from dpverdict.mechanism.executable import Executable
executable = Executable(sys.argv[1])
executable.run(0, 1, seeds.generator(1, "test", 0))
print(executable.process, flush=True)
{then}
"""


def start_script(command: str, then: str) -> tuple[subprocess.Popen[str], int]:
    words = [sys.executable, "-c", SCRIPT.format(then=then), command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    script = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert script.stdout is not None
    return script, int(script.stdout.readline())


STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
hello()
say({"id": next(requests())["id"], "outcomes": [1]})
while True: time.sleep(60)
"""


@LINUX
@pytest.mark.parametrize("then", ["", "raise SystemExit(4)", "raise ValueError"])
def test_it_ends_with_the_interpreter(program: Write, then: str) -> None:
    script, process = start_script(program(STUBBORN), then)
    script.communicate(timeout=60)
    assert not is_running(process)


@LINUX
def test_it_ends_on_ctrl_c(program: Write) -> None:
    script, process = start_script(program(STUBBORN), "executable.run(0, 1, seeds.generator(1, 'test', 1))")
    time.sleep(0.2)  # until it waits for the second answer; sooner is no error
    script.send_signal(signal.SIGINT)
    _, shown = script.communicate(timeout=60)
    assert "KeyboardInterrupt" in shown
    assert not is_running(process)


@LINUX
def test_it_sees_the_end_of_its_input_when_dpverdict_is_killed(program: Write) -> None:
    script, process = start_script(program("serve(lambda asked: [1] * asked['runs'])"), "import time; time.sleep(60)")
    script.kill()
    script.communicate(timeout=60)
    must_end(process)


@LINUX
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_starts_its_own(program: Write) -> None:
    command = program("serve(lambda asked: [os.getpid()] * asked['runs'])")
    with Executable(command) as executable:
        (ours,) = listed(executable.run(0, 1, generator()))
        read, write = os.pipe()
        forked = os.fork()
        if not forked:  # pragma: no cover (another process)
            (theirs,) = listed(executable.run(0, 1, generator()))
            executable.close()
            os.write(write, str(theirs).encode())
            os._exit(0)
        os.close(write)
        theirs = int(os.read(read, 100))
        os.close(read)
        os.waitpid(forked, 0)
        assert theirs != ours
        assert not is_running(theirs)
        assert listed(executable.run(0, 1, generator())) == [ours]


# --- what is wrong before it starts --------------------------------------------------------------------------------

NOT_STARTED = [
    # command, code, what the error must show
    ("", "EXEC-001", ["exec:", "nothing to run"]),
    ("   ", "EXEC-001", ["nothing to run"]),
    ("''", "EXEC-001", ["nothing to run"]),
    ("run 'it", "EXEC-001", ["no closing quotation", "exec:run 'it"]),
    ("nowhere_to_be_found -x", "EXEC-002", ["on the PATH", "^^^^", "'nowhere_to_be_found'"]),
    ("./nowhere_to_be_found", "EXEC-002", ["no program of this name in"]),
    ("local", "EXEC-002", ["exec:./local"]),
    ("./local", "EXEC-002", ["chmod +x ./local"]),
    ("./script.py", "EXEC-002", ["exec:python ./script.py"]),
    ("./no_interpreter", "EXEC-002", ["(#!)"]),
    ("./no_format", "EXEC-002", ["Exec format error", "#!"]),
    ("bad\0name", "EXEC-002", ["null byte"]),
]


@pytest.mark.parametrize(("command", "code", "shown"), NOT_STARTED, ids=[command for command, *_ in NOT_STARTED])
def test_commands_that_cannot_be_started(tmp_path: Path, command: str, code: str, shown: list[str]) -> None:
    for name, text in (("local", ""), ("script.py", ""), ("no_interpreter", "#!/nowhere/x\n"), ("no_format", "\x01")):
        (tmp_path / name).write_text(text)
        if name.startswith("no_"):
            (tmp_path / name).chmod(0o755)
    with pytest.raises(ExecutableError) as caught:
        Executable(command, folder=tmp_path).run(0, 1, generator())
    assert caught.value.code == code
    for part in shown:
        assert part in str(caught.value)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ExecutableError, match="EXEC-002") as caught:
        Executable("cat", folder=tmp_path / "nowhere").run(0, 1, generator())
    assert "nowhere" in str(caught.value)


def test_a_program_that_has_changed_is_not_started_again(program: Write) -> None:
    executable = Executable(program("serve(lambda asked: [1] * asked['runs'])"))
    executable.run(0, 1, generator())
    executable.close()
    program("serve(lambda asked: [2] * asked['runs'])")
    with pytest.raises(ExecutableError, match="EXEC-019"):
        executable.run(0, 1, generator())
    with pytest.raises(ExecutableError, match="EXEC-019"):
        pickle.loads(pickle.dumps(executable)).run(0, 1, generator())


def test_inputs_that_cannot_be_sent(program: Write) -> None:
    command = program("serve(lambda asked: [1] * asked['runs'], inputs=['list'])")
    with Executable(command) as executable:
        with pytest.raises(ExecutableError, match="EXEC-017") as caught:
            executable.run([object()], 1, generator())
        assert "object object" in str(caught.value)
        for input in (1, "text", None, True, {"a": 1}, math.nan, 2**80, b"bytes"):
            with pytest.raises(ExecutableError, match="EXEC-016"):
                executable.run(input, 1, generator())
        for input in ([1], (1, 2), np.zeros(3)):
            assert listed(executable.run(input, 1, generator())) == [1]
