"""The operations of Iceberg-Java on predicates: its parser of them and its evaluators and projections.

Predicates are read by ``ExpressionParser``, which knows the older JSON form, with the constants in the types of the
schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.jvm import JVM, Boxed
from conformance.adapter_sdk.predicates import older_form
from conformance.adapter_sdk.serve import Invalid, Unsupported

Arguments = dict[str, Any]

PACKAGE = "org.apache.iceberg"
CASE_SENSITIVE = True

NULL_CONSTANT = "NullPointerException: Cannot create expression literal from null"
"""A refusal, made by ``Preconditions.checkNotNull``."""


class Expressions:
    """The operations, on one virtual machine."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        self._iceberg = jvm.root.org.apache.iceberg
        self._put = jvm.method("java.util.Map", "put", "java.lang.Object", "java.lang.Object")
        self._set = jvm.method(f"{PACKAGE}.data.GenericRecord", "set", "int", "java.lang.Object")
        self._summary = self._constructor("GenericPartitionFieldSummary", 0)
        self._manifest = self._constructor("GenericManifestFile", 16)

    def _constructor(self, class_: str, parameters: int) -> Any:
        constructors = self._jvm.class_(f"{PACKAGE}.{class_}").getDeclaredConstructors()
        found = next((item for item in constructors if item.getParameterCount() == parameters), None)
        if found is not None:
            found.setAccessible(True)
        return found

    def _schema(self, args: Arguments) -> Any:
        with self._jvm.judged():
            return self._iceberg.SchemaParser.fromJson(json.dumps(args["schema"]))

    def _spec(self, args: Arguments, schema: Any) -> Any:
        with self._jvm.judged():
            return self._iceberg.PartitionSpecParser.fromJson(schema, json.dumps(args["spec"]))

    def _predicate(self, args: Arguments, schema: Any) -> Any:
        text = json.dumps(older_form(args["predicate"], args["schema"]["fields"]))
        try:
            with self._jvm.judged():
                return self._iceberg.expressions.ExpressionParser.fromJson(text, schema)
        except RuntimeError as error:
            if NULL_CONSTANT in str(error):
                raise Invalid(str(error)) from None
            raise

    def _record(self, struct: Any, values: Arguments) -> Any:
        """A record of the values as Iceberg holds them inside, which is what its evaluators take."""
        record = self._iceberg.data.GenericRecord.create(struct)
        for position, field in enumerate(struct.fields()):
            type_ = str(field.type().toString())
            value = self._jvm.box(type_, native.read(type_, values.get(str(field.fieldId()))))
            self._jvm.call(self._set, record, self._jvm.box("int", position), value)
        return record

    def _matches(self, struct: Any, predicate: Any, values: Arguments) -> bool:
        record = self._record(struct, values)
        with self._jvm.judged():
            return bool(self._iceberg.expressions.Evaluator(struct, predicate).eval(record))

    def evaluate(self, args: Arguments) -> object:
        """``Evaluator``."""
        schema = self._schema(args)
        return self._matches(schema.asStruct(), self._predicate(args, schema), args["row"])

    def _map(self, given: Arguments, name: str, type_: str) -> Any:
        if name not in given:
            return None
        made = self._jvm.root.java.util.HashMap()
        for key, value in given[name].items():
            boxed = self._jvm.box(type_, native.read(type_, value))
            self._jvm.call(self._put, made, self._jvm.box("int", int(key)), boxed)
        return made

    def evaluate_metrics(self, args: Arguments) -> object:
        """``InclusiveMetricsEvaluator`` or ``StrictMetricsEvaluator``."""
        schema, given = self._schema(args), args["metrics"]
        metrics = self._iceberg.Metrics(
            int(given["record_count"]),
            None,
            self._map(given, "value_counts", "long"),
            self._map(given, "null_value_counts", "long"),
            self._map(given, "nan_value_counts", "long"),
            self._map(given, "lower_bounds", "binary"),
            self._map(given, "upper_bounds", "binary"),
        )
        files = self._iceberg.DataFiles.builder(self._iceberg.PartitionSpec.unpartitioned())
        file = files.withPath("/data.parquet").withFileSizeInBytes(10).withFormat("parquet").withMetrics(metrics)
        predicate, evaluators = self._predicate(args, schema), self._iceberg.expressions
        inclusive = args["kind"] == "inclusive"
        with self._jvm.judged():
            made = (evaluators.InclusiveMetricsEvaluator if inclusive else evaluators.StrictMetricsEvaluator)(
                schema, predicate
            )
            return bool(made.eval(file.build()))

    def evaluate_projection(self, args: Arguments) -> object:
        """``Projections``."""
        schema = self._schema(args)
        spec, predicate = self._spec(args, schema), self._predicate(args, schema)
        projections = self._iceberg.expressions.Projections
        with self._jvm.judged():
            project = projections.inclusive(spec) if args["kind"] == "inclusive" else projections.strict(spec)
            projected = project.project(predicate)
        return self._matches(spec.partitionType(), projected, args["partition"])

    def evaluate_residual(self, args: Arguments) -> object:
        """``ResidualEvaluator``."""
        schema = self._schema(args)
        spec, predicate = self._spec(args, schema), self._predicate(args, schema)
        partition = self._record(spec.partitionType(), args["partition"])
        with self._jvm.judged():
            evaluator = self._iceberg.expressions.ResidualEvaluator.of(spec, predicate, CASE_SENSITIVE)
            residual = evaluator.residualFor(partition)
        return self._matches(schema.asStruct(), residual, args["row"])

    def _new(self, constructor: Any, *arguments: Any) -> Any:
        boxed = self._jvm.root.java.util.ArrayList()
        for argument in arguments:
            if isinstance(argument, Boxed):
                boxed.addAll(argument.holder)
            else:
                boxed.add(argument)
        with self._jvm.judged():
            return constructor.newInstance(boxed.toArray())

    def _field_summary(self, given: Arguments) -> Any:
        """A summary, filled by position as the reader of manifest lists fills it: its constructors want a NaN flag."""
        summary = self._new(self._summary)
        put = self._jvm.method(f"{PACKAGE}.GenericPartitionFieldSummary", "put", "int", "java.lang.Object")
        members = [("contains_null", "boolean"), ("contains_nan", "boolean"),
                   ("lower_bound", "binary"), ("upper_bound", "binary")]  # fmt: skip
        for position, (name, type_) in enumerate(members):
            value = self._jvm.box(type_, native.read(type_, given.get(name)))
            self._jvm.call(put, summary, self._jvm.box("int", position), value)
        return summary

    def evaluate_summaries(self, args: Arguments) -> object:
        """``ManifestEvaluator``."""
        schema = self._schema(args)
        spec, predicate = self._spec(args, schema), self._predicate(args, schema)
        if self._manifest is None:
            raise Unsupported("a manifest of this version cannot be made with summaries alone")
        summaries = self._jvm.root.java.util.ArrayList()
        for given in args["summaries"]:
            summaries.add(self._field_summary(given))
        zero = self._jvm.box("long", 0)
        content = self._iceberg.ManifestContent.DATA
        manifest = self._new(self._manifest, "manifest.avro", zero, self._jvm.box("int", spec.specId()), content, zero,
                             zero, zero, summaries, *[None] * 8)  # fmt: skip
        with self._jvm.judged():
            evaluator = self._iceberg.expressions.ManifestEvaluator.forRowFilter(predicate, spec, CASE_SENSITIVE)
            return bool(evaluator.eval(manifest))

    def operations(self) -> dict[str, Callable[[Arguments], object]]:
        """What can be asked of Iceberg-Java about predicates, by name."""
        return {
            "expression.evaluate": self.evaluate,
            "metrics.evaluate": self.evaluate_metrics,
            "projection.evaluate": self.evaluate_projection,
            "residual.evaluate": self.evaluate_residual,
            "summaries.evaluate": self.evaluate_summaries,
        }
