package io.farheap.bench.move;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The expected content of every 8-byte record of a cache: half of a record is its number, the other half the number of
 * its last write. A load's thread records each write; another thread checks, while the load is paused.
 *
 * <p>The load appends to a log, since an update of a table of all records would cost it a cache miss for each write.
 */
public final class RecordContent implements AutoCloseable {

    private static final int RECORD_BYTES = MigrationLoad.RECORD_BYTES;
    private static final int PIECE_BYTES = 64 << 10;
    private static final int LOG_RECORDS = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final long bytes;
    /** By record: the number of its last write, as far as the log was read. */
    private final MemorySegment last;

    private final List<int[]> log = new ArrayList<>();
    private int[] block = new int[LOG_RECORDS];
    private int logged;
    /** The number of the next write; the first content has 0. */
    private int sequence = 1;
    /** The number of the log's first write. */
    private int firstLogged = 1;

    /** @param bytes of the cache */
    public RecordContent(long bytes) {
        if (bytes / RECORD_BYTES > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a cache of " + bytes + " bytes is too large to be checked; it has at most "
                            + (long) Integer.MAX_VALUE * RECORD_BYTES + ": take fewer or smaller regions");
        }
        this.bytes = bytes;
        last = arena.allocate(bytes / RECORD_BYTES * Integer.BYTES, Long.BYTES);
    }

    private static long value(long record, int write) {
        // The factor is a prime near 2^32 divided by the golden ratio, so that neighbouring records differ.
        return record * 0x9E3779B1L << Integer.SIZE | write & 0xFFFFFFFFL;
    }

    /** Returns the value to write to a record next. Called by the load's thread. */
    long next(long record) {
        return value(record, sequence);
    }

    /** Records that this write was issued. Called by the load's thread. */
    void wrote(long record) {
        if (logged == LOG_RECORDS) {
            log.add(block);
            block = new int[LOG_RECORDS];
            logged = 0;
        }
        block[logged++] = (int) record;
        sequence++;
    }

    /** Writes the expected content into a cache, before any other write. */
    public void fill(Cache cache) {
        // Writes to another cache that were recorded since its check do not count any more.
        readLog();
        last.fill((byte) 0);
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(PIECE_BYTES)) {
            for (long address = 0; address < bytes; address += PIECE_BYTES) {
                for (int at = 0; at < PIECE_BYTES; at += RECORD_BYTES) {
                    buffer.segment().set(JAVA_LONG, at, value((address + at) / RECORD_BYTES, 0));
                }
                session.writeBlocking(address, buffer, 0, PIECE_BYTES);
            }
        }
    }

    /**
     * Reads every byte of a cache while no thread writes to it.
     *
     * @return what differs from the last write; all bytes of a piece of 64 KiB if any of it cannot be read
     */
    public LostContent lost(Cache cache) {
        readLog();
        int[] failed = new int[1];
        LostContent lost = LostContent.NONE;
        long lastRegion = -1;
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(PIECE_BYTES)) {
            for (long address = 0; address < bytes; address += PIECE_BYTES) {
                failed[0] = Status.OK;
                while (!session.read(address, buffer, 0, PIECE_BYTES, (token, status) -> failed[0] = status, 0)) {
                    session.awaitProgress();
                }
                session.drain();
                long piece = failed[0] == Status.OK ? different(address, buffer.segment()) : PIECE_BYTES;
                // No piece is of two regions: their sizes are powers of two, and no smaller than a piece.
                long region = address / cache.regionBytes();
                if (piece > 0) {
                    lost = lost.plus(new LostContent(piece, region == lastRegion ? 0 : 1));
                    lastRegion = region;
                }
            }
        }
        return lost;
    }

    private long different(long address, MemorySegment piece) {
        long different = 0;
        for (int at = 0; at < PIECE_BYTES; at += RECORD_BYTES) {
            long record = (address + at) / RECORD_BYTES;
            long wrong = piece.get(JAVA_LONG, at) ^ value(record, last.getAtIndex(JAVA_INT, record));
            for (; wrong != 0; wrong >>>= Byte.SIZE) {
                if ((wrong & 0xFF) != 0) {
                    different++;
                }
            }
        }
        return different;
    }

    private void readLog() {
        int write = firstLogged;
        for (int[] full : log) {
            write = read(full, LOG_RECORDS, write);
        }
        write = read(block, logged, write);
        log.clear();
        logged = 0;
        firstLogged = write;
    }

    private int read(int[] records, int count, int first) {
        for (int i = 0; i < count; i++) {
            last.setAtIndex(JAVA_INT, records[i], first + i);
        }
        return first + count;
    }

    @Override
    public void close() {
        arena.close();
    }
}
