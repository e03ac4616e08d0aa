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
 * What every 8-byte record of a cache is to be: half of it says which record it is, the other half which write was the
 * last. A load's thread tells of each write; another checks, while the load stands still.
 *
 * <p>The load appends to a log, since a table of all records would cost it a cache miss for each write.
 */
public final class RecordContent implements AutoCloseable {

    private static final int RECORD_BYTES = MigrationLoad.RECORD_BYTES;
    private static final int PIECE_BYTES = 64 << 10;
    private static final int LOG_RECORDS = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final long bytes;
    /** Which write was the last, of each record, as far as the log was read. */
    private final MemorySegment last;

    private final List<int[]> log = new ArrayList<>();
    private int[] block = new int[LOG_RECORDS];
    private int logged;
    /** Of the next write; the first content is 0. */
    private int sequence = 1;
    /** Of the log's first write. */
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
        // A prime beside 2 to the power of 32 over the golden ratio: neighbours differ.
        return record * 0x9E3779B1L << Integer.SIZE | write & 0xFFFFFFFFL;
    }

    /** What the next write of a record has to write. The load's thread. */
    long next(long record) {
        return value(record, sequence);
    }

    /** That write was issued. The load's thread. */
    void wrote(long record) {
        if (logged == LOG_RECORDS) {
            log.add(block);
            block = new int[LOG_RECORDS];
            logged = 0;
        }
        block[logged++] = (int) record;
        sequence++;
    }

    /** Writes all of it into a cache, as it is to be before anybody writes. */
    public void fill(Cache cache) {
        // What another cache was told since it was checked counts no more.
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
     * Reads every byte of a cache in which nobody writes.
     *
     * @return how many are not what was written last; all of a piece of 64 KiB of which any is lost
     */
    public long lost(Cache cache) {
        readLog();
        int[] failed = new int[1];
        long lost = 0;
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(PIECE_BYTES)) {
            for (long address = 0; address < bytes; address += PIECE_BYTES) {
                failed[0] = Status.OK;
                while (!session.read(address, buffer, 0, PIECE_BYTES, (token, status) -> failed[0] = status, 0)) {
                    session.awaitProgress();
                }
                session.drain();
                lost += failed[0] == Status.OK ? different(address, buffer.segment()) : PIECE_BYTES;
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
