package org.apache.iceberg.transforms;

import org.apache.iceberg.types.Type;

/** The hash inside the bucket transform, without the modulo. */
public final class BucketHash {
  private BucketHash() {}

  @SuppressWarnings("unchecked")
  public static int of(Type type, Object value) {
    return ((Bucket<Object>) Transforms.bucket(1).bind(type)).hash(value);
  }
}
