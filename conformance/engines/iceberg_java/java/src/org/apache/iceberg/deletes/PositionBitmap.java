package org.apache.iceberg.deletes;

/** An index of positions that is still empty. */
public final class PositionBitmap {
  private PositionBitmap() {}

  public static PositionDeleteIndex create() {
    return new BitmapPositionDeleteIndex();
  }
}
