"""Apache Flink with Iceberg's connector."""
