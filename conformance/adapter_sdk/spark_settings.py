"""Settings of Spark for tables of a few rows, without features that help only with large tables."""

from __future__ import annotations

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""Options of a virtual machine that lives for a minute, in which the optimizing compiler does not pay off."""

LOCAL = {
    "spark.master": "local[1]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.default.parallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
}
"""One thread, no network, no user interface."""
