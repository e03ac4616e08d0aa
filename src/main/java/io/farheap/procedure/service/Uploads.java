package io.farheap.procedure.service;

import io.farheap.procedure.format.CallFormat;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Assembles class files and maps from their pieces; a lease can send one of each at a time. The total length is only a
 * client's claim, so memory is allocated for the pieces that have arrived, and grows with them. Thread-safe.
 */
final class Uploads {

    private static final byte[] NO_BYTES = {};
    private static final int[] NO_REGIONS = {};

    /** The class file; its first {@code fileHas} bytes have arrived. */
    private byte[] file = NO_BYTES;

    private int fileId = -1;
    private int fileBytes;
    private int fileHas;

    /** The map; its first {@code regionsHas} regions have arrived. */
    private int[] regions = NO_REGIONS;

    private long version = -1;
    private int regionsInAll;
    private int regionsHas;

    /**
     * Takes a piece of a class file. A piece at offset 0 begins a new file.
     *
     * @return the file if it is complete, else null
     * @throws IllegalArgumentException if the piece does not follow the one before
     */
    synchronized byte @Nullable [] classFile(int id, int length, int at, byte[] piece) {
        if (at == 0) {
            if (length < 1 || length > CallFormat.MOST_CLASS_BYTES) {
                throw new IllegalArgumentException("a class file of " + length + " bytes; it has 1 to "
                        + CallFormat.MOST_CLASS_BYTES + ": divide the procedure");
            }
            file = NO_BYTES;
            fileId = id;
            fileBytes = length;
            fileHas = 0;
        }
        if (id != fileId || length != fileBytes || at != fileHas || piece.length > length - at) {
            throw new IllegalArgumentException("a piece of a class file that does not follow the one before");
        }
        if (at + piece.length > file.length) {
            file = Arrays.copyOf(file, larger(file.length, at + piece.length, length));
        }
        System.arraycopy(piece, 0, file, at, piece.length);
        fileHas += piece.length;
        if (fileHas < length) {
            return null;
        }
        byte[] whole = Arrays.copyOf(file, length);
        file = NO_BYTES;
        fileId = -1;
        fileBytes = 0;
        return whole;
    }

    /**
     * Takes a piece of a map, as {@link #classFile} does.
     *
     * @param most regions that a map may have
     * @return the regions if they are complete, else null
     */
    synchronized int @Nullable [] map(long newVersion, int all, int at, int[] piece, int most) {
        if (at == 0) {
            if (all < 0 || all > most) {
                throw new IllegalArgumentException("a map of " + all + " regions; it has 0 to " + most);
            }
            regions = NO_REGIONS;
            version = newVersion;
            regionsInAll = all;
            regionsHas = 0;
        }
        if (newVersion != version || all != regionsInAll || at != regionsHas || piece.length > all - at) {
            throw new IllegalArgumentException("a piece of a map that does not follow the one before");
        }
        if (at + piece.length > regions.length) {
            regions = Arrays.copyOf(regions, larger(regions.length, at + piece.length, all));
        }
        System.arraycopy(piece, 0, regions, at, piece.length);
        regionsHas += piece.length;
        if (regionsHas < all) {
            return null;
        }
        int[] whole = Arrays.copyOf(regions, all);
        regions = NO_REGIONS;
        version = -1;
        regionsInAll = 0;
        return whole;
    }

    /** Doubles the length, so that each byte is copied about once on average, but not beyond the total length. */
    private static int larger(int before, int needed, int most) {
        return Math.min(most, Math.max(needed, 2 * before));
    }
}
