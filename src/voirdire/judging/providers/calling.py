"""Judges that are Python functions: a reward model, a similarity score, a rule.

``python/module:function`` or ``python/path/file.py:function``. The function takes the item, or the item and the
condition, and returns a number (a rating), a text (read like a model's reply) or a Reply; it may be a coroutine::

    def judge(item, condition):
        return 4 if "tea" in item.texts.get("en", "") else 2
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from voirdire.errors import UsageError
from voirdire.judging.nouns import BASE_DESIGN, Call, CallFailed, ImagePart, JudgeSpec, Reply, TextPart
from voirdire.judging.providers.keys import scrub
from voirdire.texts import text

if TYPE_CHECKING:
    from voirdire.judging.providers.kit import Kit

WHY_LENGTH = 500
NO_SOURCE = "-"


@dataclass(frozen=True, slots=True)
class Asked:
    """The condition as a Python judge sees it. ``str()`` gives its full name.

    name, design, factors : of the condition; language : of the prompt
    question, repeat : of the cell; levels : the integers that are ratings
    prompt : the texts of the prompt, in order; images : the files of the prompt, in order

    >>> str(Asked("neutral_en")), str(Asked("neutral_en", design="aa"))
    ('neutral_en', 'neutral_en/aa')
    """

    name: str
    design: str = BASE_DESIGN
    factors: Mapping[str, str] = field(default_factory=dict)
    language: str = ""
    question: str = ""
    repeat: int = 1
    levels: tuple[int, ...] = ()
    prompt: tuple[str, ...] = ()
    images: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return self.name if self.design == BASE_DESIGN else f"{self.name}/{self.design}"


def asked(call: Call) -> Asked:
    """What a Python judge is told of a call besides the item."""
    parts = call.prompt.parts
    return Asked(
        call.condition,
        call.design,
        call.factors,
        call.prompt.language,
        call.question,
        call.repeat,
        call.levels,
        tuple(part.text for part in parts if isinstance(part, TextPart)),
        tuple(part.path for part in parts if isinstance(part, ImagePart)),
    )


class CallingJudge:
    """A judge that asks a Python function.

    function : takes (item) or (item, condition: Asked); plain or a coroutine function
    threads : how many threads may be inside a plain function at once. One by default, because models in memory
        are seldom safe to share; None of a coroutine function, which runs on the event loop.

    A number is a rating on the question's own scale, in whichever direction the condition asks it; a text is read
    like a model's reply, and a Reply is taken as it is. source : digest of what makes the function, by default of its
    own text; where it changes, the judge is another. An exception, a missing value and anything else
    end the cell as ``error`` with the type and the message; the run goes on.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        threads: int = 1,
        parameters: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        source: str | None = None,
    ) -> None:
        self.name = name
        self.lane = f"python {name}"
        self.settings: Mapping[str, Any] = {
            "function": describe(function),
            "parameters": dict(parameters or {}),
            "digests": {"source": source_digest(function) if source is None else source},
        }
        self._function = function
        self._takes = _arguments(function, name)
        self._waits = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object may have a coroutine for its call
        )
        self._timeout = timeout
        self.threads = None if self._waits else threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="voirdire-judge") if not self._waits else None

    async def ask(self, call: Call) -> Reply:
        """The function's answer. Raises CallFailed of kind ``request`` (or ``timeout``, of a coroutine)."""
        given = (call.item, asked(call))[: self._takes]
        try:
            answer = await self._answer(given)
        except TimeoutError as error:
            if self._waits:
                raise CallFailed("timeout", _why(error)) from error
            raise CallFailed("request", _why(error)) from error
        except (Exception, SystemExit) as error:  # a function of the user's: whatever it raises ends the cell only
            raise CallFailed("request", _why(error)) from error
        reply = read_answer(answer)
        own = reply.rating is not None and not isinstance(answer, Reply)
        return replace(reply, rating=call.as_asked(float(reply.rating or 0))) if own else reply

    async def _answer(self, given: tuple[Any, ...]) -> Any:
        if self._pool is not None:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _call, self._function, given)
        async with asyncio.timeout(self._timeout):
            return await self._function(*given)

    async def close(self) -> None:
        """Let the threads go; calls that wait are dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def make(spec: JudgeSpec, kit: Kit) -> CallingJudge:
    """The judge that ``python/module:function`` names; the parameter ``threads`` is its own.

    Raises UsageError when the function cannot be imported, takes other arguments, or a parameter is unknown.
    """
    parameters = dict(spec.parameters)
    threads = parameters.pop("threads", 1)
    if parameters or not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise UsageError("cli_run.python.parameters", judge=spec.name, names=", ".join(map(str, spec.parameters)))
    function = find_function(spec.model)
    return CallingJudge(
        spec.name,
        function,
        threads=threads,
        parameters=spec.parameters,
        timeout=kit.timeout,
        source=file_digest(spec.model),
    )


def from_object(made: Callable[..., Any], name: str | None = None) -> CallingJudge:
    """A judge of a function in this process, named after it.

    >>> def polite(item):
    ...     return 4
    >>> from_object(polite).name
    'polite'
    """
    own = getattr(made, "__name__", type(made).__name__)
    return CallingJudge(name or str(own), made)


def find_function(target: str) -> Callable[..., Any]:
    """The function that ``module:function`` or ``file.py:function`` names; modules of the working folder count.

    Raises UsageError when it cannot be imported or is nothing that can be called.

    >>> find_function("math:floor")(2.5)
    2
    """
    place, mark, attribute = target.rpartition(":")
    if not (place and mark and attribute):
        raise UsageError("cli_run.python.target", value=target)
    try:
        found: Any = _from_file(Path(place)) if place.endswith(".py") else _from_module(place)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise UsageError("cli_run.python.import", value=target, why=_why(error)) from error
    if not callable(found):
        raise UsageError("cli_run.python.not_callable", value=target, kind=type(found).__name__)
    return found


def read_answer(answer: Any) -> Reply:
    """A function's answer as a Reply. Raises CallFailed for what is neither a number, a text nor a Reply.

    >>> read_answer(4).rating, read_answer("4").text
    (4.0, '4')
    """
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(text=answer)
    if answer is None:
        raise CallFailed("request", text("cli_run.python.none"))
    if isinstance(answer, bool) or not (isinstance(answer, Real) or hasattr(answer, "__float__")):
        raise CallFailed("request", text("cli_run.python.kind", kind=type(answer).__name__))
    try:
        rating = float(answer)
    except (TypeError, ValueError, RuntimeError) as error:  # an array of several numbers
        raise CallFailed("request", _why(error)) from error
    if not math.isfinite(rating):
        raise CallFailed("request", text("cli_run.python.not_finite", value=rating))
    return Reply(rating=rating)


def describe(function: Callable[..., Any]) -> str:
    """``module:name`` of a function or object, as the settings log it.

    >>> import math
    >>> describe(math.floor)
    'math:floor'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', '?')}:{named.__qualname__}"


def source_digest(function: Callable[..., Any]) -> str:
    """16 hex digits over the text of a function, or of the class of an object; ``-`` where there is none (as in C)."""
    wanted = inspect.unwrap(function)
    wanted = wanted.func if isinstance(wanted, partial) else wanted
    named: Any = wanted if hasattr(wanted, "__qualname__") else type(wanted)
    try:
        return hashlib.sha256(inspect.getsource(named).encode()).hexdigest()[:16]
    except (OSError, TypeError):
        return NO_SOURCE


def file_digest(target: str) -> str:
    """16 hex digits over the file that ``module:function`` or ``file.py:function`` names; ``-`` where there is none."""
    place = target.rpartition(":")[0]
    file = place if place.endswith(".py") else getattr(sys.modules.get(place), "__file__", None)
    return NO_SOURCE if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def _call(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """Inside the thread. A StopIteration cannot cross into the event loop, nor may an exit end the thread."""
    try:
        return function(*given)
    except StopIteration as error:
        raise RuntimeError(_why(error)) from error


def _arguments(function: Callable[..., Any], name: str) -> int:
    """How many of (item, condition) the function takes. Raises UsageError when it takes neither one nor two."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C do not tell
        return 2
    for given in ((0, 0), (0,)):
        try:
            signature.bind(*given)
        except TypeError:
            continue
        return len(given)
    raise UsageError("cli_run.python.arguments", judge=name, value=f"{describe(function)}{signature}")


def _from_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        if added and here in sys.path:
            sys.path.remove(here)


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _why(error: BaseException) -> str:
    return scrub(f"{type(error).__name__}: {error}".removesuffix(": "))[:WHY_LENGTH]
