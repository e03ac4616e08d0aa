package io.farheap.memory;

import java.util.Locale;

/** Counts of bytes as people read them, for messages. */
public final class ByteSize {

    private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    /** Below this a count of bytes, or of units that divide it, needs no larger unit. */
    private static final long READABLE = 10_000;

    private ByteSize() {}

    /** In the largest unit that divides it: {@code 64 MiB}, {@code 1000 bytes}. */
    public static String exact(long bytes) {
        int unit = unitOf(bytes);
        return (bytes >> 10 * unit) + " " + UNITS[unit];
    }

    /**
     * As {@link #exact}; but if that would be a long number, rounded and with the count of bytes, such as {@code 139.2
     * MiB (145959730 bytes)}.
     */
    public static String text(long bytes) {
        if (Math.abs(bytes >> 10 * unitOf(bytes)) < READABLE) {
            return exact(bytes);
        }
        int rounded = (Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.abs(bytes))) / 10;
        double many = bytes / (double) (1L << 10 * rounded);
        return String.format(Locale.ROOT, "%.1f %s (%d bytes)", many, UNITS[rounded], bytes);
    }

    private static int unitOf(long bytes) {
        return bytes == 0 ? 0 : Long.numberOfTrailingZeros(bytes) / 10;
    }
}
