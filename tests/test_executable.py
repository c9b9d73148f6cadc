"""Executables: the examples, what they offer, and the check for those who write one."""

from __future__ import annotations

import math
import pickle
import shlex
import shutil
import struct
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from child_programs import PYTHON, Write, generator, writer
from dpverdict.errors import ExecutableError, TargetError
from dpverdict.mechanism.black_box import Options
from dpverdict.mechanism.executable import Executable
from dpverdict.mechanism.executable.check import main as check_main
from dpverdict.mechanism.executable.executable import joined
from dpverdict.mechanism.outcome import Mapping, Raised, freeze, same
from dpverdict.mechanism.tally import listed
from dpverdict.target import load, load_runnable

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def program(tmp_path: Path) -> Write:
    return writer(tmp_path)


# --- the examples ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def geometric(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc here")
    binary = tmp_path_factory.mktemp("build") / "geometric"
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run([compiler, *flags, "-o", binary, EXAMPLES / "executable_geometric.c", "-lm"], check=True)
    return shlex.quote(str(binary))


def test_the_python_example() -> None:
    with Executable(f"{PYTHON} {EXAMPLES / 'executable_laplace.py'} --epsilon 2") as laplace:
        assert laplace.replayable
        outcomes = laplace.run(10, 150_000, generator())
        assert isinstance(outcomes, np.ndarray)
        assert outcomes.dtype == np.float64
        assert outcomes.shape == (150_000,)  # over its limit for one request
        assert np.array_equal(outcomes, laplace.run(10, 150_000, generator()))
        assert not np.array_equal(outcomes, laplace.run(10, 150_000, generator(1)))
    # Pr[|X - 10| > t] = exp(-2 t).  Six standard deviations: a false alarm has probability 4e-9 (the seed is fixed).
    # At epsilon 1.9 the chance would differ by 0.0177, 14 standard deviations: then it fails but for 1e-15.
    chance = math.exp(-1.0)
    hits = int(np.count_nonzero(np.abs(outcomes - 10) > 0.5))
    assert abs(hits - 150_000 * chance) < 6 * math.sqrt(150_000 * chance * (1 - chance))


def zeros_are_off(command: str, epsilon: float) -> bool:
    """Whether outcomes 0 are more than 6 standard deviations from Pr[0] = tanh(epsilon/2): 2e-9, if that is right."""
    runs, chance = 1_000_000, math.tanh(epsilon / 2)
    with Executable(command) as executable:
        zeros = runs - int(np.count_nonzero(executable.run(0, runs, generator())))
    return abs(zeros - runs * chance) > 6 * math.sqrt(runs * chance * (1 - chance))


def test_the_c_example_has_the_right_law(geometric: str) -> None:
    assert not zeros_are_off(f"{geometric} 1.0", 1.0)
    # The planted fault is 15 standard deviations away: it is missed with probability 1e-18.
    assert zeros_are_off(f"{geometric} 1.02", 1.0)


def test_the_c_example_in_frames_and_in_json(geometric: str) -> None:
    with Executable(f"{geometric} 0.5") as frames, Executable(f"{geometric} 0.5 json") as plain:
        for input, runs in ((3, 1), (-4, 70_000), (2**40, 20_000)):
            ours, theirs = (box.run(input, runs, generator()) for box in (frames, plain))
            assert isinstance(ours, np.ndarray)
            assert isinstance(theirs, np.ndarray)
            assert ours.dtype.kind == theirs.dtype.kind == "i"
            assert np.array_equal(ours, theirs)
            assert len(ours) == runs


def test_the_c_example_refuses_what_it_cannot_take(geometric: str) -> None:
    with Executable(f"{geometric} 1.0") as executable:
        for input in (0.5, 2**70, math.nan, 1e300):
            with pytest.raises(ExecutableError, match="whole number of 64 bits"):
                executable.run(input, 1, generator())
        with pytest.raises(ExecutableError, match="does not take a list"):
            executable.run([1], 1, generator())
        assert len(executable.run(1, 5, generator())) == 5


@pytest.mark.parametrize("words", ["1.0", "1.0 json"])
def test_the_examples_pass_the_check(geometric: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_main([f"{geometric} {words}", "--input", "3"]) == 0
    shown = capsys.readouterr().out
    assert "WRONG" not in shown
    assert "look" not in shown


# --- what it offers ----------------------------------------------------------------------------------------------


def test_the_same_generator_gives_the_same_outcomes_in_another_process(program: Write) -> None:
    command = program("""
        import random
        serve(lambda asked: [random.Random(asked["seed"] + i).random() for i in range(asked["runs"])], seed=True)
    """)
    with Executable(command) as first, pickle.loads(pickle.dumps(first)) as second:
        assert np.array_equal(first.run(0, 20, generator()), second.run(0, 20, generator()))
        assert first.process != second.process
        assert second.source == first.source
        first.close()
        assert np.array_equal(first.run(0, 20, generator()), second.run(0, 20, generator()))


def test_an_executable_without_seeds_cannot_be_replayed(program: Write) -> None:
    command = program("serve(lambda asked: ['seed' in asked] * asked['runs'])")
    with Executable(command) as executable:
        assert not executable.replayable
        assert listed(executable.run(0, 2, generator())) == [False, False]


def test_large_batches_are_split_by_the_limit_of_the_program(program: Write) -> None:
    command = program("serve(lambda asked: [asked['runs']] * asked['runs'], max_runs=4)")
    with Executable(command) as executable:
        assert listed(executable.run(0, 10, generator())) == [4] * 8 + [2] * 2
        assert listed(executable.run(0, 0, generator())) == []


def test_replies_in_chunks_and_of_mixed_kinds(program: Write) -> None:
    command = program("""
        asked = request()
        say({"id": 1, "outcomes": [1, 2], "more": True})
        say({"id": 1, "outcomes": [], "more": True})
        say({"id": 1, "outcomes": ["text", None, [1, [2.5, True]], {"a": {"$float": "nan"}}], "more": True})
        say({"id": 1, "outcomes": [{"$error": "ValueError"}, 3.0]})
        sys.stdin.read()
    """)
    with Executable(command) as executable:
        outcomes = listed(executable.run(0, 8, generator()))
    expected = [1, 2, "text", None, (1, (2.5, True)), Mapping([("a", math.nan)]), Raised("ValueError"), 3.0]
    assert all(map(same, outcomes, expected))


FRAMES = [
    ("float64", "<d", [0.1, -0.0, math.nan, math.inf, 5e-324]),
    ("float32", "<f", [0.5, -0.0, math.nan, -math.inf, 2.0**-149]),
    ("int64", "<q", [0, -(2**63), 2**63 - 1, 2**53 + 1, -1]),
    ("int32", "<i", [0, -(2**31), 2**31 - 1, 1, -1]),
    ("int16", "<h", [0, -(2**15), 2**15 - 1, 1, -1]),
    ("int8", "<b", [0, -128, 127, 1, -1]),
    ("bool", "<?", [True, False, False, True, True]),
]


@pytest.mark.parametrize(("kind", "form", "values"), FRAMES, ids=[kind for kind, *_ in FRAMES])
@pytest.mark.parametrize("width", [None, 1, 5])
def test_frames_are_exact(program: Write, kind: str, form: str, values: list[Any], width: int | None) -> None:
    rows = [values] if width == 5 else values
    block = b"".join(struct.pack(form, value) for value in values)
    head = {"frame": kind, "runs": len(rows)} | ({} if width is None else {"width": width})
    command = program(f"""
        hello(frames=True)
        for asked in requests():
            for more in (True, False):
                say({head} | {{"id": asked["id"], "more": more}})
                sys.stdout.buffer.write({block!r})
                sys.stdout.buffer.flush()
    """)
    with Executable(command) as executable:
        for _ in range(2):
            got = executable.run(0, 2 * len(rows), generator())
            assert isinstance(got, np.ndarray)
            assert got.shape == ((2 * len(rows),) if width is None else (2 * len(rows), width))
            once = [value if width is None else (value,) for value in values] if width != 5 else [tuple(values)]
            assert all(map(same, listed(got), [freeze(value) for value in once * 2]))


def test_frames_and_lists_can_be_mixed(program: Write) -> None:
    command = program("""
        asked = request(frames=True)
        block = lambda content: (sys.stdout.buffer.write(content), sys.stdout.buffer.flush())
        say({"id": 1, "frame": "int8", "runs": 2, "more": True}); block(b"\\1\\2")
        say({"id": 1, "outcomes": [3], "more": True})
        say({"id": 1, "frame": "int8", "runs": 1, "width": 2, "more": True}); block(b"\\4\\5")
        say({"id": 1, "frame": "bool", "runs": 1, "more": True}); block(b"\\1")
        say({"id": 1, "frame": "int16", "runs": 1}); block(b"\\6\\0")
        sys.stdin.read()
    """)
    with Executable(command) as executable:
        assert all(map(same, listed(executable.run(0, 6, generator())), [1, 2, 3, (4, 5), True, 6]))


def test_a_slow_starter_and_one_that_writes_much_to_standard_error(program: Write) -> None:
    command = program("""
        time.sleep(0.7)
        def answer(asked):
            sys.stderr.write("noise " * 1_000_000)
            return [1] * asked["runs"]
        serve(answer)
    """)
    with Executable(command) as executable:
        assert listed(executable.run(0, 3, generator())) == [1, 1, 1]
        assert listed(executable.run(0, 3, generator())) == [1, 1, 1]


def test_large_inputs_go_both_ways_at_once(program: Write) -> None:
    # The program answers while it is still being written to, more than a pipe holds.
    command = program("""
        hello()
        for _ in range(2):
            first = sys.stdin.read(20)
            say('{"id":%s,"outcomes":["' % first[6] + "x" * 500_000, end="")
            sys.stdin.readline()
            say('"]}')
    """)
    with Executable(command) as executable:
        for _ in range(2):
            (outcome,) = listed(executable.run(["y" * 3_000_000], 1, generator()))
            assert outcome == "x" * 500_000


def test_folder_and_variables(program: Write, tmp_path: Path) -> None:
    command = program("serve(lambda asked: [os.getcwd(), os.environ['GREETING']])")
    inner = tmp_path / "inner"
    inner.mkdir()
    made = Executable(command, folder=inner, variables={"GREETING": "hi"})
    with pickle.loads(pickle.dumps(made)) as executable:
        assert listed(executable.run(0, 2, generator())) == [str(inner), "hi"]


def test_several_threads_may_ask(program: Write) -> None:
    command = program("serve(lambda asked: [asked['input']] * asked['runs'])")
    wrong = list[object]()
    with Executable(command) as executable:

        def ask(number: int) -> None:
            for _ in range(50):
                outcomes = listed(executable.run(number, 7, generator()))
                if outcomes != [number] * 7:
                    wrong.append(outcomes)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_the_error_of_every_run_is_shown_with_standard_error(program: Write) -> None:
    command = program("""
        def answer(asked):
            sys.stderr.write("no such column\\n")
            return [{"$error": "KeyError"}] * asked["runs"]
        serve(answer)
    """)
    with Executable(command) as executable:
        error = executable.failure(0, generator())
        assert error is not None
        assert "KeyError" in str(error)


def test_targets(program: Write) -> None:
    found = load_runnable("exec:" + program("serve(lambda asked: [1] * asked['runs'])"))
    assert isinstance(found, Executable)
    with found:
        assert listed(found.run(0, 1, generator())) == [1]
    with pytest.raises(ExecutableError, match="EXEC-001"):
        load_runnable("exec:")
    with pytest.raises(TargetError, match="not looked into"):
        load("exec:cat")
    with pytest.raises(ExecutableError, match="no argument epsilon"):
        load_runnable("exec:cat", given={"epsilon": 1})
    with pytest.raises(ExecutableError, match="outcomes"):
        load_runnable("exec:cat", Options(exceptions="error"))


# --- the check for those who write one -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "shown"),
    [
        (
            "serve(lambda asked: [os.urandom(1)[0] for _ in range(asked['runs'])])",
            0,
            "right  gives other outcomes when",
        ),
        ("serve(lambda asked: [1] * asked['runs'])", 0, "look   gives other outcomes when asked again"),
        ("serve(lambda asked: [1] * asked['runs'], seed=True)", 0, "look   gives other outcomes for another seed"),
        ("serve(lambda asked: [time.time()] * asked['runs'], seed=True)", 1, "WRONG  gives the same outcomes"),
        ("serve(lambda asked: [time.time()] * min(asked['runs'], 4))", 1, "500 outcomes were asked for, and 4 came"),
        ("serve(lambda asked: [time.time()] * asked['runs']); time.sleep(60)", 1, "it had to be killed"),
        ("serve(lambda asked: [time.time()] * asked['runs']); sys.exit(5)", 0, "with status 5"),
        ("serve(lambda asked: [asked['input'] + time.time()] * asked['runs'])", 1, "input that makes no sense"),
        ("say('hi')", 1, "WRONG  says hello"),
    ],
)
def test_the_check_finds(
    program: Write, capsys: pytest.CaptureFixture[str], body: str, status: int, shown: str
) -> None:
    assert check_main([program(body), "--seconds", "20"]) == status
    assert shown in capsys.readouterr().out


def test_the_check_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_main(["'"]) == 2
    assert "EXEC-001" in capsys.readouterr().err
    assert check_main(["cat", "--input", "{"]) == 2


def test_integers_of_several_widths_are_joined_exactly() -> None:
    narrow, wide = np.array([-(2**15), 7], dtype=np.int16), np.array([2**62 + 1], dtype=np.int64)
    both = joined([narrow, wide])
    assert isinstance(both, np.ndarray)
    assert both.tolist() == [-(2**15), 7, 2**62 + 1]
    for other in (np.array([0.5]), np.array([True]), np.array([[1, 2]])):
        assert joined([wide, other]) == [2**62 + 1, *listed(other)]
