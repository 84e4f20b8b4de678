"""Rules over columns, ``"us: country == 'US' and age >= 30"``: parsed, never evaluated.

The grammar: comparisons (== != < <= > >= in, not in) of column names and literals, joined by and, or, not and
parentheses. A column whose name is no identifier stands in backquotes. Columns are text; compared with a number
a cell counts as a number, and a cell that is none (or empty) does not meet the comparison.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from voirdire.errors import UsageError

MAX_LENGTH = 2000
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`([^`]+)`")
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


def parse_rule(rule: str, columns: Sequence[str]) -> pl.Expr:
    """A rule as a Polars expression that is never null.

    Raises UsageError for anything outside the grammar and for unknown columns.

    >>> frame = pl.DataFrame({"country": ["US", "CN", None], "age band": ["30", "x", "41"]})
    >>> frame.select(parse_rule("country == 'US' or `age band` > 40", frame.columns)).to_series().to_list()
    [True, False, True]
    """
    if len(rule) > MAX_LENGTH:
        raise UsageError("input.rule_broken", value=rule[:60], reason=f"> {MAX_LENGTH}")
    quoted: dict[str, str] = {}

    def hold(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group(0)
        placeholder = f"_column_{len(quoted)}_"
        quoted[placeholder] = match.group(1)
        return placeholder

    source = _TOKEN.sub(hold, rule).strip()
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise UsageError("input.rule_broken", value=rule, reason=reason) from error
    return _Reader(rule, columns, quoted).boolean(tree.body).fill_null(False)


def named_rule(text: str) -> tuple[str, str]:
    """``"us: country == 'US'"`` as (name, rule).

    >>> named_rule("us: country == 'US'")
    ('us', "country == 'US'")
    """
    name, colon, rule = text.partition(":")
    if not colon or not name.strip() or not rule.strip():
        raise UsageError("input.rule_unnamed", value=text)
    return name.strip(), rule.strip()


class _Reader:
    def __init__(self, rule: str, columns: Sequence[str], quoted: dict[str, str]) -> None:
        self.rule = rule
        self.columns = {unicodedata.normalize("NFKC", name): name for name in columns}
        self.quoted = quoted

    def boolean(self, node: ast.expr) -> pl.Expr:
        if isinstance(node, ast.BoolOp):
            parts = [self.boolean(value) for value in node.values]
            return pl.all_horizontal(parts) if isinstance(node.op, ast.And) else pl.any_horizontal(parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self.boolean(node.operand)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            pairs = zip(node.ops, sides, sides[1:], strict=False)
            return pl.all_horizontal([self.comparison(op, left, right) for op, left, right in pairs])
        raise self.refused(node)

    def comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> pl.Expr:
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.membership(left, right)
            return ~found & self.operand(left, numeric=False).is_not_null() if isinstance(op, ast.NotIn) else found
        if type(op) not in _COMPARE:
            raise self.refused(right)
        numeric = self.is_number(left) or self.is_number(right)
        sides = [self.operand(side, numeric) for side in (left, right)]
        return _COMPARE[type(op)](*sides).fill_null(False)

    def membership(self, left: ast.expr, right: ast.expr) -> pl.Expr:
        if not isinstance(right, (ast.List, ast.Tuple, ast.Set)):
            raise self.refused(right)
        pairs = [self.comparison(ast.Eq(), left, element) for element in right.elts]
        return pl.any_horizontal(pairs) if pairs else pl.lit(False)

    def operand(self, node: ast.expr, numeric: bool) -> pl.Expr:
        if isinstance(node, ast.Name):
            column = pl.col(self.column(node))
            return column.cast(pl.Float64, strict=False) if numeric else column
        value = self.literal(node)
        return pl.lit(float(value) if numeric and not isinstance(value, str) else str(value))

    def column(self, node: ast.Name) -> str:
        wanted = self.quoted.get(node.id, node.id)
        name = self.columns.get(unicodedata.normalize("NFKC", wanted))
        if name is None:
            raise UsageError(
                "input.rule_column", value=self.rule, column=wanted, known=", ".join(self.columns.values())
            )
        return name

    def is_number(self, node: ast.expr) -> bool:
        return not isinstance(node, ast.Name) and isinstance(self.literal(node), (int, float))

    def literal(self, node: ast.expr) -> str | int | float:
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            sign, node = -1, node.operand
        if isinstance(node, ast.Constant) and type(node.value) in (str, int, float):
            value = node.value
            if isinstance(value, str) and sign == 1:
                return value
            if not isinstance(value, str):
                return sign * value  # type: ignore[operator, return-value]
        raise self.refused(node)

    def refused(self, node: ast.AST) -> UsageError:
        part = self.rule[getattr(node, "col_offset", 0) :][:40]
        return UsageError("input.rule_refused", value=self.rule, reason=part)
