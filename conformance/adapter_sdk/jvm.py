"""A Java virtual machine with an engine's jars, driven from Python through Py4J.

Py4J makes Integers of small Python ints and Doubles of floats, and turns every boxed number that it gives back into a
Python one. So that a method gets the exact class it asks for, values are made on the Java side from text and handed on
in a Java list, and methods are called by reflection.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import uuid
from decimal import Decimal
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.adapter_sdk.spark_settings import JAVA

REFUSALS = (
    "java.lang.IllegalArgumentException",  # with NumberFormatException
    "java.lang.IllegalStateException",  # as Preconditions.checkState throws it
    "java.lang.ArithmeticException",
    "java.time.DateTimeException",  # with DateTimeParseException
    "java.io.UncheckedIOException",  # with Iceberg's RuntimeIOException
    "java.nio.BufferUnderflowException",
    "org.apache.iceberg.exceptions.ValidationException",
)
"""Exceptions, with what extends them, that say that the input was refused; all others are bugs."""

NOT_THERE = ("java.lang.UnsupportedOperationException",)

BOXES = {
    "boolean": "Boolean",
    "int": "Integer",
    "date": "Integer",
    "long": "Long",
    "time": "Long",
    "timestamp": "Long",
    "timestamptz": "Long",
    "timestamp_ns": "Long",
    "timestamptz_ns": "Long",
    "float": "Float",
    "double": "Double",
}
"""The class in ``java.lang`` that Iceberg holds the values of a type in."""


ENDING_SECONDS = 60
"""How long the virtual machine may take to end: it removes temporary files."""


class JVM:
    """A running virtual machine."""

    def __init__(self, jars: str) -> None:
        conf = SparkConf().set("spark.driver.extraClassPath", jars).set("spark.driver.memory", "1g")
        conf.set("spark.driver.extraJavaOptions", JAVA)
        self.gateway = launch_gateway(conf)
        self.root = self.gateway.jvm
        java = self.root.java
        self._lookup = java.lang.invoke.MethodHandles.lookup()
        self._operator = java.lang.Class.forName("java.util.function.UnaryOperator")
        string = java.lang.Class.forName("java.lang.String")
        self._parsers = {
            name: self._function(java.lang.Class.forName(f"java.lang.{name}"), "valueOf", string)
            for name in sorted(set(BOXES.values()))
        }
        self._refusals = [java.lang.Class.forName(name) for name in REFUSALS]
        self._not_there = [java.lang.Class.forName(name) for name in NOT_THERE]

    def _function(self, owner: Any, name: str, parameter: Any) -> Any:
        handle = self._lookup.unreflect(owner.getMethod(name, self.array("java.lang.Class", parameter)))
        return self.root.java.lang.invoke.MethodHandleProxies.asInterfaceInstance(self._operator, handle)

    def array(self, class_: str, *items: Any) -> Any:
        """A Java array of objects that live on the Java side."""
        owner = self.root
        for part in class_.split("."):
            owner = getattr(owner, part)
        made = self.gateway.new_array(owner, len(items))
        for index, item in enumerate(items):
            made[index] = item
        return made

    def class_(self, name: str) -> Any:
        """A Java class, for reflection."""
        return self.root.java.lang.Class.forName(name)

    def has_class(self, name: str) -> bool:
        """Whether this version of the engine has a class."""
        try:
            self.class_(name)
        except Py4JJavaError:
            return False
        return True

    def method(self, owner: str | Any, name: str, *parameters: str) -> Any:
        """A method by its owner and the names of its parameters' classes, callable with `call` even if not public."""
        lang = self.root.java.lang
        primitives = {"int": lang.Integer.TYPE, "long": lang.Long.TYPE, "double": lang.Double.TYPE}
        classes = [primitives.get(parameter) or self.class_(parameter) for parameter in parameters]
        holder = self.class_(owner) if isinstance(owner, str) else owner
        found = holder.getDeclaredMethod(name, self.array("java.lang.Class", *classes))
        found.setAccessible(True)
        return found

    def call(self, method: Any, target: Any, *boxed: Any) -> Any:
        """Call a method with arguments that `box` made, or Java objects.

        Raises:
            Invalid: the method refused its input.
            Unsupported: it says that it does not do this.
            RuntimeError: any other exception of it.
        """
        arguments = self.root.java.util.ArrayList()
        for item in boxed:
            if isinstance(item, Boxed):
                arguments.addAll(item.holder)
            else:
                arguments.add(item)
        with self.judged():
            return method.invoke(target, arguments.toArray())

    @contextlib.contextmanager
    def judged(self) -> Any:
        """Tell refusals from bugs among the Java exceptions of the block."""
        try:
            yield
        except Py4JJavaError as error:
            thrown = error.java_exception
            while thrown.getClass().getName() == "java.lang.reflect.InvocationTargetException":
                thrown = thrown.getCause()
            text = str(thrown.toString())
            if any(class_.isInstance(thrown) for class_ in self._refusals):
                raise Invalid(text) from None
            if any(class_.isInstance(thrown) for class_ in self._not_there):
                raise Unsupported(text) from None
            raise RuntimeError(text) from None

    def box(self, type_: object, value: Any) -> Boxed | None:
        """A value as Iceberg's Java API holds values of the type.

        Raises:
            Unsupported: Java's class for the type cannot hold it.
        """
        if value is None:
            return None
        holder = self.root.java.util.ArrayList()
        name = native.kind(type_)
        if name in BOXES:
            holder.add(_java_text(value))
            try:
                holder.replaceAll(self._parsers[BOXES[name]])
            except Py4JJavaError:
                raise Unsupported(f"{BOXES[name]} does not hold {value}") from None
        elif isinstance(value, Decimal):
            holder.add(value)  # Py4J makes a BigDecimal of its text
        elif isinstance(value, uuid.UUID):
            holder.add(self.root.java.util.UUID.fromString(str(value)))
        elif isinstance(value, bytes):
            holder.add(self.root.java.nio.ByteBuffer.wrap(value))
        else:
            holder.add(value)
        return Boxed(holder)

    def plain(self, value: Any) -> Any:
        """What Java gave, as `native` has values."""
        if value is None or isinstance(value, (bool, int, float, str, bytes, Decimal)):
            return value
        name = str(value.getClass().getName())
        if name == "java.util.UUID":
            return uuid.UUID(str(value.toString()))
        if "CharBuffer" in name:
            return str(value.toString())
        return self.bytes_of(value)

    def bytes_of(self, buffer: Any) -> bytes:
        """The bytes that remain in a ByteBuffer."""
        return bytes(self.root.org.apache.iceberg.util.ByteBuffers.toByteArray(buffer))

    def shutdown(self) -> None:
        """End the virtual machine."""
        self.gateway.shutdown()
        process = getattr(self.gateway, "proc", None)
        if process is not None:
            process.stdin.close()  # Spark's gateway ends with its standard input
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Boxed:
    """A Java object in a Java list, so that Py4J does not change its class."""

    def __init__(self, holder: Any) -> None:
        self.holder = holder


def _java_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return "NaN" if value != value else str(value)
