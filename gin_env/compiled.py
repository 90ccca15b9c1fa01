"""Compiled functions (numba) and the place their machine code is kept between processes.

Every compiled function of the package goes through :func:`jit`. numba's own disk cache looks only at the file a
function stands in, so a change in a function it calls, in another file, would go unnoticed and old rules would be
played silently. Here the cache is stamped with a hash of all sources of the package instead. Where no cache directory can
be written, functions are compiled anew in each process.
"""

import hashlib
import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core import config
from numba.core.caching import CacheImpl, CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.misc.appdirs import AppDirs

PACKAGE = Path(__file__).parent

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def source_stamp() -> str:
    """SHA-256 of all Python sources of the package, in path order."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def cache_directory() -> Path | None:
    """The first directory that can be written: numba's, the user's, the package's own; None where there is none.

    The user's comes before the package's so that a reinstall, or a second environment with the same sources, finds what
    the first has compiled.
    """
    user = Path(AppDirs(appname="gin_env", appauthor=False).user_cache_dir) / source_stamp()[:16]
    numba = [Path(config.CACHE_DIR) / "gin_env"] if config.CACHE_DIR else []
    for directory in [*numba, user, PACKAGE / "__pycache__"]:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return directory
    return None


class _PackageLocator(_CacheLocator):  # type: ignore[misc]  # numba ships no types
    """Keeps a function's machine code in :func:`cache_directory`, stamped with the whole package's sources."""

    def __init__(self, function: Callable[..., Any], path: Path, directory: Path) -> None:
        # numba reads this name when it warns that a function cannot be cached.
        self._py_file = str(path)
        self._directory = directory
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "_PackageLocator | None":
        directory = cache_directory()
        return None if directory is None else cls(py_func, Path(py_file), directory)

    def get_cache_path(self) -> str:
        return str(self._directory)

    def get_source_stamp(self) -> str:
        path = Path(self._py_file)
        outside = "" if path.is_relative_to(PACKAGE) else hashlib.sha256(path.read_bytes()).hexdigest()
        return source_stamp() + outside

    def get_disambiguator(self) -> str:
        folder = Path(self._py_file).parent
        place = folder.relative_to(PACKAGE) if folder.is_relative_to(PACKAGE) else folder
        return f"{hashlib.sha256(str(place).encode()).hexdigest()[:8]}-{self._line}"


class _PackageCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]  # numba ships no types
    _locator_classes = [_PackageLocator]  # noqa: RUF012  # numba's own form


class PackageCache(FunctionCache):  # type: ignore[misc]  # numba ships no types
    """numba's function cache with this package's stamp; a cache that can't be read or written is no error."""

    _impl_class: type[CacheImpl] = _PackageCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What the cache holds for a signature, None if nothing sound."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged or half-deleted file: begin a new index, and compile anew
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, if it can be written."""
        try:
            super().save_overload(sig, data)
        except OSError:  # the disk is full or the directory is gone
            return


def jit(function: Function) -> Function:
    """Compile `function` with numba at its first call: no GIL, C division, cached on disk.

    Args:
        function: a function of numba's subset of Python. No recursion: numba's cache breaks it in the second process.

    Returns:
        numba's dispatcher.
    """
    dispatcher: Any = njit(nogil=True, error_model="numpy")(function)
    if cache_directory() is not None and inspect.isfunction(function) and hasattr(dispatcher, "_cache"):
        dispatcher._cache = PackageCache(function)
    return dispatcher  # type: ignore[no-any-return]  # called as `function` is
