package io.farheap.memory;

import java.util.Locale;

/** Counts of bytes as people read them, for messages. */
public final class ByteSize {

    private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    /** Below this a count of bytes, or of units that divide it, needs no larger unit. */
    private static final long READABLE = 10_000;

    private ByteSize() {}

    /**
     * In the largest unit that divides it, such as {@code 64 MiB}; if that would be a long number, rounded and with the
     * exact count, such as {@code 139.2 MiB (145959730 bytes)}.
     */
    public static String text(long bytes) {
        int exact = bytes == 0 ? 0 : Long.numberOfTrailingZeros(bytes) / 10;
        long units = bytes >> 10 * exact;
        if (Math.abs(units) < READABLE) {
            return units + " " + UNITS[exact];
        }
        int rounded = (Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.abs(bytes))) / 10;
        double many = bytes / (double) (1L << 10 * rounded);
        return String.format(Locale.ROOT, "%.1f %s (%d bytes)", many, UNITS[rounded], bytes);
    }
}
