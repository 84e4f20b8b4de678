"""Finding sentences and catalogue keys in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "voirdire"
PROGRAMMER = {"ValueError", "TypeError", "KeyError", "AssertionError", "NotImplementedError", "AttributeError"}
SPEAKING = {
    "print", "echo", "secho", "out", "err", "Text", "Panel", "Markdown", "Heading", "add_column", "Option",
    "Argument", "Note", "rule", "log", "warn", "write_text", "Table",
}  # fmt: skip
WORDED = {"help", "epilog", "title", "caption", "label", "description", "subtitle", "header", "footer"}
SENTENCE = re.compile(r"[A-Za-z]+[,;:]?\s+[A-Za-z]{2,}|[\u4e00-\u9fff]{2,}")
SUFFIXES = {
    "lock",
    "sqlite",
    "html",
    "md",
    "csv",
    "json",
    "jsonl",
    "toml",
    "tex",
    "svg",
    "png",
    "parquet",
    "gz",
    "pdf",
    "css",
    "js",
    "py",
    "jinja",
    "j2",
}
DYNAMIC = "\0"


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def templates() -> list[Path]:
    return sorted(path for pattern in ("*.j2", "*.jinja", "*.html") for path in SOURCE.rglob(pattern))


def untranslated(tree: ast.AST) -> list[tuple[int, str]]:
    """Sentences passed to raise and to what speaks to people, as (line, sentence)."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _name(node.exc) not in PROGRAMMER:
            found += _sentences(node.exc.args)
            found += _sentences([keyword.value for keyword in node.exc.keywords])
        elif isinstance(node, ast.Call):
            if _name(node) in SPEAKING:
                found += _sentences(node.args)
            found += _sentences([keyword.value for keyword in node.keywords if keyword.arg in WORDED])
    return sorted(set(found))


def untranslated_template(template: str) -> list[str]:
    """Sentences that stand in a template's own text or in an attribute that people read."""
    bare = re.sub(r"\{#.*?#\}|<(style|script)\b.*?</\1>|<!--.*?-->", " ", template, flags=re.S)
    read = re.findall(r'\b(?:alt|title|aria-label|placeholder)="([^"]*)"', _without_code(bare))
    texts = re.split(r"<[^>]*>", _without_code(bare, "<x>"))
    return [text.strip() for text in (*texts, *read) if SENTENCE.search(text)]


def _without_code(template: str, mark: str = "") -> str:
    return re.sub(r"\{\{.*?\}\}|\{%.*?%\}", mark, template, flags=re.S)


def _sentences(nodes: list[ast.expr]) -> list[tuple[int, str]]:
    return [(node.lineno, text) for node in nodes if SENTENCE.search(text := literal(node).replace(DYNAMIC, ""))]


def literal(node: ast.AST) -> str:
    """The fixed text of a string expression, with DYNAMIC for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) if isinstance(part, ast.Constant) else DYNAMIC for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return literal(node.left) + literal(node.right)
    if isinstance(node, ast.IfExp):
        return literal(node.body) + DYNAMIC + literal(node.orelse)
    return ""


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def strings() -> Iterator[tuple[str, str]]:
    """Every string of the source and of the templates that could be a key: (where, text with DYNAMIC)."""
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and (text := literal(node)):
                yield f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}", text
    for path in templates():
        for quoted in re.findall(r"[\"']([^\"'\n]*)[\"']", path.read_text(encoding="utf-8")):
            yield str(path.relative_to(SOURCE)), quoted


def looks_like_key(text: str, files: set[str]) -> bool:
    """Whether a fixed text can only be meant as a key of the catalogue."""
    if not re.fullmatch(r"[a-z_]+(\.[a-z0-9_]+)+", text) or text.endswith("_"):  # a piece of a key in braces
        return False
    first, last = text.split(".")[0], text.split(".")[-1]
    return first in files and last not in SUFFIXES
