"""The JSON of predicates (Iceberg Expressions, Appendix B: JSON serialization).

Both forms are read: the current one, and the deprecated one with terms, which older clients of REST catalogs and
Iceberg-Java as of 1.12 write (EXP013, EXP021). A member that the grammar does not have is refused, because a filter
that is not completely understood must not be applied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.core.errors import error_path, spec_error
from spec_ref.core.json_types import Json
from spec_ref.data_types.types import Type
from spec_ref.expressions.predicates import (
    FALSE,
    ICEBERG_FUNCTIONS,
    MAX_DEPTH,
    SETS,
    TRUE,
    UNARY,
    And,
    Apply,
    Comparison,
    Constant,
    FunctionReference,
    IdReference,
    Literal,
    NamedReference,
    Not,
    Operation,
    Or,
    Predicate,
    SetTest,
    Test,
    ValueExpression,
)
from spec_ref.partitioning.transforms import Bucket, Truncate, UnknownTransform, Void, parse_transform
from spec_ref.schemas.type_json import type_from_json, type_to_json

_OPERATIONS = {operation.value: operation for operation in Operation}
_LOGICAL: dict[str, Callable[[Any, Any], And | Or]] = {"and": And, "or": Or}
_EXPRESSIONS = ("literal", "reference", "apply")


# Reading


def predicate_from_json(json: Json) -> Predicate:
    """Read a predicate from JSON, in the current or the deprecated form.

    Args:
        json: the parsed JSON.

    Returns:
        The unbound predicate.

    Raises:
        SpecError: EXP001 or EXP002 for a predicate in the place of a value expression or the reverse; EXP007 or EXP009
            for a null constant; EXP004, EXP014 or EXP015 to EXP018 for JSON that does not follow the grammar or is
            nested more than `MAX_DEPTH` levels; EXP021 for a malformed term; PAR021, TRN003 or TRN005 for a malformed
            transform; the code of the type for a malformed data-type.
    """
    return _predicate(json, 0)


def _predicate(json: Json, depth: int) -> Predicate:
    if isinstance(json, bool):
        return TRUE if json else FALSE
    type_ = _read_type(json, "EXP015", "a predicate", depth)
    if type_ in _EXPRESSIONS:
        raise spec_error("EXP002", "a value expression is not a predicate", found=type_, path="/type")
    if type_ == "not":
        return Not(_member(json, "EXP015", "child", ("type", "child"), _predicate, depth))
    if type_ in _LOGICAL:
        members = ("type", "left", "right")
        left = _member(json, "EXP015", "left", members, _predicate, depth)
        return _LOGICAL[type_](left, _member(json, "EXP015", "right", members, _predicate, depth))
    operation = _OPERATIONS.get(type_)
    if operation is None:
        expected = ", ".join(["not", *_LOGICAL, *_OPERATIONS])
        raise spec_error("EXP015", "the type of the predicate is unknown", found=type_, expected=expected, path="/type")
    return _read_leaf(operation, json, depth)


def _read_leaf(operation: Operation, json: dict[str, Json], depth: int) -> Predicate:
    deprecated = "term" in json
    if operation in UNARY:
        return Test(operation, _value(json, deprecated, "child", ("type", "child"), depth))
    if operation in SETS:
        child = _value(json, deprecated, "child", ("type", "child", "values"), depth)
        return SetTest(operation, child, _member(json, "EXP016", "values", ("values",), _literals, depth, exact=False))
    if deprecated:
        left = _value(json, deprecated, "left", ("type", "left", "value"), depth)
        right: ValueExpression = _member(json, "EXP016", "value", ("value",), _literal, depth, exact=False)
    else:
        left = _value(json, deprecated, "left", ("type", "left", "right"), depth)
        right = _member(json, "EXP015", "right", ("right",), _expression, depth, exact=False)
    for name, side in (("left", left), ("value" if deprecated else "right", right)):
        if isinstance(side, Literal) and side.value is None:
            raise spec_error("EXP009", "the constant of a comparison is null", path=f"/{name}")
    return Comparison(operation, left, right)


def _value(json: dict[str, Json], deprecated: bool, name: str, members: tuple[str, ...], depth: int) -> Any:
    """Read the value that is tested: the member ``name``, or ``term`` in the deprecated form."""
    if not deprecated:
        return _member(json, "EXP015", name, members, _expression, depth)
    members = tuple("term" if member == name else member for member in members)
    return _member(json, "EXP021", "term", members, _term, depth)


def _read_type(json: Json, requirement: str, what: str, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise spec_error(requirement, "the expression is nested too deeply", expected=f"at most {MAX_DEPTH} levels")
    if not isinstance(json, dict):
        raise spec_error(requirement, f"the value is not {what}", found=json, expected="an object with a type")
    type_ = json.get("type")
    if not isinstance(type_, str):
        raise spec_error(
            requirement, f"the type of {what} is not a string", found=type_, expected="a string", path="/type"
        )
    return type_


def _member(
    json: dict[str, Json],
    requirement: str,
    name: str,
    members: tuple[str, ...],
    read: Callable[[Json, int], Any],
    depth: int,
    *,
    exact: bool = True,
) -> Any:
    """Read a required member; with ``exact``, refuse other members than the listed ones."""
    if exact:
        _check_members(json, requirement, members)
    if name not in json:
        raise spec_error(requirement, f"{name} is missing", expected=f"the required member {name}", path=f"/{name}")
    with error_path(f"/{name}"):
        return read(json[name], depth + 1)


def _check_members(json: dict[str, Json], requirement: str, members: tuple[str, ...]) -> None:
    unknown = json.keys() - set(members)
    if unknown:
        raise spec_error(
            requirement,
            "the object has an unexpected member",
            found=min(map(str, unknown)),
            expected=", ".join(members),
        )


def _expression(json: Json, depth: int) -> ValueExpression:
    if not isinstance(json, dict):
        return Literal(json)
    type_ = _read_type(json, "EXP001", "a value expression", depth)
    match type_:
        case "literal":
            return _literal(json, depth)
        case "reference":
            return _reference(json)
        case "apply":
            function = _member(json, "EXP018", "function", ("type", "function", "arguments"), _function, depth)
            return Apply(function, _member(json, "EXP018", "arguments", ("arguments",), _arguments, depth, exact=False))
        case _:
            expected = ", ".join(_EXPRESSIONS)
            raise spec_error(
                "EXP001", "the object is not a value expression", found=type_, expected=expected, path="/type"
            )


def _literal(json: Json, _: int) -> Literal:
    if not isinstance(json, dict) or json.get("type") != "literal":
        return Literal(json)
    _check_members(json, "EXP016", ("type", "value", "data-type"))
    if "value" not in json:
        raise spec_error("EXP016", "the literal has no value", expected="value", path="/value")
    return Literal(json["value"], _data_type(json))


def _data_type(json: dict[str, Json]) -> Type | None:
    if "data-type" not in json:
        return None
    with error_path("/data-type"):
        return type_from_json(json["data-type"])


def _literals(json: Json, depth: int) -> tuple[Literal, ...]:
    type_ = None
    if isinstance(json, dict):
        if json.get("type") != "literals":
            raise spec_error(
                "EXP016",
                "the value is not a list of literals",
                found=json,
                expected="a list, or an object of type literals",
            )
        _check_members(json, "EXP016", ("type", "values", "data-type"))
        type_, json = _data_type(json), json.get("values")
    if not isinstance(json, list):
        raise spec_error("EXP016", "the literals are not a list", found=json)
    literals = []
    for index, item in enumerate(json):
        with error_path(f"/{index}"):
            literal = Literal(item, type_) if type_ is not None else _literal(item, depth)
            if literal.value is None:
                raise spec_error("EXP007", "a constant of the set is null")
            literals.append(literal)
    return tuple(literals)


def _reference(json: dict[str, Json]) -> NamedReference | IdReference:
    _check_members(json, "EXP017", ("type", "id", "name"))
    match json.get("id"), json.get("name"):
        case int(id_), None if not isinstance(id_, bool):
            return IdReference(id_)
        case None, str(name):
            return NamedReference(name)
        case found:
            raise spec_error("EXP017", "the reference has neither an integer id nor a string name", found=found)


def _function(json: Json, _: int) -> FunctionReference:
    catalog = None
    if isinstance(json, dict):
        _check_members(json, "EXP018", ("catalog", "identifier"))
        catalog, json = json.get("catalog"), json.get("identifier")
        if catalog is not None and not isinstance(catalog, str):
            raise spec_error("EXP018", "the catalog is not a name", found=catalog, path="/catalog")
    parts = [json] if isinstance(json, str) else json
    if not isinstance(parts, list) or not parts or not all(isinstance(part, str) for part in parts):
        raise spec_error("EXP004", "the function name is neither a string nor a list of strings", found=json)
    return FunctionReference(tuple(parts), catalog)


def _arguments(json: Json, depth: int) -> tuple[ValueExpression | Predicate, ...]:
    if not isinstance(json, list):
        raise spec_error("EXP018", "the arguments are not a list", found=json)
    arguments: list[ValueExpression | Predicate] = []
    for index, item in enumerate(json):
        with error_path(f"/{index}"):
            type_ = item.get("type") if isinstance(item, dict) else None
            logical = isinstance(type_, str) and type_ in {"not", *_LOGICAL, *_OPERATIONS}
            arguments.append(_predicate(item, depth) if logical else _expression(item, depth))
    return tuple(arguments)


def _term(json: Json, depth: int) -> ValueExpression:
    if isinstance(json, str):
        return NamedReference(json)
    type_ = _read_type(json, "EXP021", "a term", depth)
    if type_ == "reference":
        return _member(json, "EXP021", "term", ("type", "term"), _term_name, depth)  # type: ignore[no-any-return]
    if type_ != "transform":
        raise spec_error(
            "EXP021", "the value is not a term", found=type_, expected="reference or transform", path="/type"
        )
    term = _member(json, "EXP021", "term", ("type", "transform", "term"), _term, depth)
    with error_path("/transform"):
        return _transform_call(json.get("transform"), term)


def _term_name(json: Json, _: int) -> NamedReference:
    if not isinstance(json, str):
        raise spec_error("EXP021", "the term does not name a field", found=json, expected="a string")
    return NamedReference(json)


def _transform_call(text: Any, term: ValueExpression) -> Apply:
    """Build the function call for a transform of the deprecated form (EXP014)."""
    transform = parse_transform(text)
    match transform:
        case Void() | UnknownTransform():
            raise spec_error("EXP014", "the transform is not a function", found=text)
        case Bucket(parameter) | Truncate(parameter):
            name, arguments = str(transform).partition("[")[0], (Literal(parameter), term)
        case _:
            return Apply(FunctionReference((str(transform),), ICEBERG_FUNCTIONS), (term,))
    return Apply(FunctionReference((name,), ICEBERG_FUNCTIONS), arguments)


# Writing


def predicate_to_json(predicate: Predicate) -> Json:
    """Write a predicate as JSON in the current form.

    Args:
        predicate: an unbound predicate.

    Returns:
        The JSON.
    """
    match predicate:
        case Constant(value):
            return value
        case Not(child):
            return {"type": "not", "child": predicate_to_json(child)}
        case And(left, right) | Or(left, right):
            type_ = "and" if isinstance(predicate, And) else "or"
            return {"type": type_, "left": predicate_to_json(left), "right": predicate_to_json(right)}
        case Test(operation, child):
            return {"type": operation.value, "child": _expression_json(child)}
        case Comparison(operation, left, right):
            return {"type": operation.value, "left": _expression_json(left), "right": _expression_json(right)}
        case SetTest(operation, child, values):
            return {"type": operation.value, "child": _expression_json(child), "values": _literals_json(values)}


def predicate_to_term_json(predicate: Predicate) -> Json:
    """Write a predicate as JSON in the deprecated form, which all current readers understand.

    Args:
        predicate: an unbound predicate.

    Returns:
        The JSON.

    Raises:
        SpecError: EXP021 if the form cannot express it: field ids, functions other than transforms, and comparisons
            whose right side is not a constant.
    """
    match predicate:
        case Constant(value):
            return value
        case Not(child):
            return {"type": "not", "child": predicate_to_term_json(child)}
        case And(left, right) | Or(left, right):
            type_ = "and" if isinstance(predicate, And) else "or"
            return {"type": type_, "left": predicate_to_term_json(left), "right": predicate_to_term_json(right)}
        case Test(operation, child):
            return {"type": operation.value, "term": _term_json(child)}
        case Comparison(operation, left, Literal() as right):
            return {"type": operation.value, "term": _term_json(left), "value": _literal_json(right)}
        case SetTest(operation, child, values):
            return {"type": operation.value, "term": _term_json(child), "values": _literals_json(values)}
        case _:
            raise spec_error(
                "EXP021", "the right side is not a constant, so the predicate has no form with terms", found=predicate
            )


def _expression_json(expression: ValueExpression | Predicate) -> Json:
    match expression:
        case Literal():
            return _literal_json(expression)
        case NamedReference(name):
            return {"type": "reference", "name": name}
        case IdReference(id_):
            return {"type": "reference", "id": id_}
        case Apply(function, arguments):
            return {
                "type": "apply",
                "function": _function_json(function),
                "arguments": [_expression_json(argument) for argument in arguments],
            }
        case _:
            return predicate_to_json(expression)


def _literal_json(literal: Literal) -> Json:
    if literal.type is not None:
        return {"type": "literal", "value": literal.value, "data-type": type_to_json(literal.type)}
    # A list or an object by itself could be mistaken for another expression.
    return {"type": "literal", "value": literal.value} if isinstance(literal.value, (dict, list)) else literal.value


def _literals_json(values: tuple[Literal, ...]) -> Json:
    types = {literal.type for literal in values}
    type_ = types.pop() if len(types) == 1 else None
    if type_ is None:
        return [_literal_json(literal) for literal in values]
    return {"type": "literals", "values": [literal.value for literal in values], "data-type": type_to_json(type_)}


def _function_json(function: FunctionReference) -> Json:
    identifier = list(function.identifier)
    if function.catalog is not None:
        return {"catalog": function.catalog, "identifier": identifier}
    return identifier[0] if len(identifier) == 1 else identifier


def _term_json(term: ValueExpression) -> Json:
    match term:
        case NamedReference(name):
            return name
        case Apply(FunctionReference((name,), "iceberg_functions"), (Literal(int(parameter)), inner)):
            return {"type": "transform", "transform": f"{name}[{parameter}]", "term": _term_json(inner)}  # type: ignore[arg-type]
        case Apply(FunctionReference((name,), "iceberg_functions"), (inner,)):
            return {"type": "transform", "transform": name, "term": _term_json(inner)}  # type: ignore[arg-type]
        case _:
            raise spec_error(
                "EXP021", "the value is not a term", found=term, expected="a name, or a transform of a term"
            )
