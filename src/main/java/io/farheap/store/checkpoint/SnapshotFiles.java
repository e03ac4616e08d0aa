package io.farheap.store.checkpoint;

import io.farheap.memory.NativeMemory;
import io.farheap.store.checkpoint.Checkpoint.Piece;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.log.HybridLog;
import io.farheap.store.operation.StoreContext;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Copies of the part of a log that is updated in place, in files {@code snapshot-N}: blocks of 4,096 bytes of the log,
 * one after the other. A block that has not changed since the last checkpoint need not be copied again. Its records'
 * versions show this: a session that changes a record in place gives it its own version, so an unchanged block has no
 * record of a later version than that checkpoint's.
 */
public final class SnapshotFiles {

    public static final int BLOCK = 4096;
    /** Versions in headers are modulo 2^12. */
    private static final long VERSIONS = StoreRecord.VERSION + 1;

    private final StableFiles files;
    private final StoreContext parts;
    private final boolean incremental;

    /** The pieces of the last checkpoint, by block. */
    private Map<Long, Piece> last = Map.of();

    /** The sizes of files in bytes, by number. */
    private final Map<Long, Long> sizes = new HashMap<>();

    private long lastVersion;

    SnapshotFiles(StableFiles files, StoreContext parts, boolean incremental) {
        this.files = files;
        this.parts = parts;
        this.incremental = incremental;
    }

    static String name(long number) {
        return "snapshot-" + number;
    }

    /** @param from the address from which on the log is in the pieces; below it, the device has the log */
    record Snapshot(long from, List<Piece> pieces, long bytes) {}

    /**
     * Writes a snapshot. Meanwhile records of the version are not changed, and no session is still writing a new record
     * below {@code end}.
     *
     * @param from the device has the log below this address; a record begins there
     */
    Snapshot write(long number, long version, long from, long end) throws IOException {
        HybridLog log = parts.log();
        int place = parts.epochs().take();
        try (Arena arena = Arena.ofConfined();
                SnapshotCopy copying = new SnapshotCopy(number, version, end - from)) {
            MemorySegment page = arena.allocate(log.pageBytes(), Long.BYTES);
            List<Piece> pieces = new ArrayList<>();
            long first = from;
            long to;
            for (long at = from; at < end; at = to) {
                to = Math.min(end, log.startOf(log.page(at) + 1));
                if (copy(place, at, to, page)) {
                    copying.page(page, at, to, pieces);
                } else {
                    // The page has left memory, so the device has it and all that precedes it.
                    pieces.clear();
                    first = to;
                }
            }
            copying.commit();
            return new Snapshot(first, List.copyOf(pieces), copying.position);
        } finally {
            parts.epochs().giveBack(place);
        }
    }

    /** @return false if it is not in memory any more */
    private boolean copy(int place, long from, long to, MemorySegment into) {
        HybridLog log = parts.log();
        parts.epochs().enter(place);
        try {
            if (from < log.marks.head()) {
                return false;
            }
            MemorySegment.copy(NativeMemory.ALL, log.frames.memoryOf(from), into, 0, to - from);
            return true;
        } finally {
            parts.epochs().leave(place);
        }
    }

    /** Says that a checkpoint of the version, with these pieces, is durable. */
    void made(long version, List<Piece> pieces) {
        lastVersion = version;
        last = new HashMap<>();
        Set<Long> needed = new HashSet<>();
        for (Piece piece : pieces) {
            last.put(piece.from() / BLOCK, piece);
            needed.add(piece.file());
        }
        sizes.keySet().retainAll(needed);
    }

    /** Bytes of the files that hold the last checkpoint's pieces. */
    private long held() {
        return sizes.values().stream().mapToLong(Long::longValue).sum();
    }

    /** A snapshot that is being written. */
    private final class SnapshotCopy implements AutoCloseable {

        private final long number;
        private final boolean some;
        private final long versions;
        private StableFiles.@Nullable Output output;
        private long position;

        SnapshotCopy(long number, long version, long bytes) {
            this.number = number;
            this.versions = version - lastVersion;
            this.some = incremental && versions < VERSIONS && held() <= 2 * bytes;
        }

        void page(MemorySegment page, long from, long to, List<Piece> pieces) throws IOException {
            BitSet changed = some ? changed(page.address() - from, from, to) : new BitSet();
            long begun = from;
            long next;
            for (long at = from; at < to; at = next) {
                next = Math.min(to, (at & -BLOCK) + BLOCK);
                Piece old = last.get(at / BLOCK);
                boolean kept = some
                        && old != null
                        && old.from() <= at
                        && old.to() == next
                        && !changed.get((int) (at / BLOCK - from / BLOCK));
                if (kept) {
                    put(page, begun - from, at - from);
                    begun = next;
                    pieces.add(old);
                } else {
                    int crc = Checkpoint.crc(page.asSlice(at - from, next - at).asByteBuffer());
                    long where = position + at - begun;
                    pieces.add(new Piece(at, number, where, (int) (next - at), crc));
                }
            }
            put(page, begun - from, to - from);
        }

        private void put(MemorySegment page, long from, long to) throws IOException {
            if (from < to) {
                if (output == null) {
                    output = files.create(name(number));
                }
                output.write(page.asSlice(from, to - from).asByteBuffer());
                position += to - from;
            }
        }

        /** @return the blocks with a record, or a part of one, that was changed since the last checkpoint */
        private BitSet changed(long base, long from, long to) {
            BitSet blocks = new BitSet();
            RecordLayout layout = parts.log().layout;
            long bytes;
            for (long at = from; at + RecordLayout.LEAST_RECORD <= to; at += bytes) {
                long header = NativeWords.get(base + at);
                if (header == 0) {
                    break;
                }
                bytes = layout.recordBytes(base + at);
                long later = StoreRecord.version(header) - lastVersion & StoreRecord.VERSION;
                // Records of the version after the checkpoint's are not in it, and may be changing now.
                if (later >= 1 && later <= versions) {
                    blocks.set((int) (at / BLOCK - from / BLOCK), (int) ((at + bytes - 1) / BLOCK - from / BLOCK) + 1);
                }
            }
            return blocks;
        }

        void commit() throws IOException {
            if (output != null) {
                output.commit();
                sizes.put(number, position);
            }
        }

        @Override
        public void close() throws IOException {
            if (output != null) {
                output.close();
            }
        }
    }
}
