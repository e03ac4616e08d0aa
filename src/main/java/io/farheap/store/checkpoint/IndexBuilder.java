package io.farheap.store.checkpoint;

import io.farheap.lifetime.Closeables;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.SpinWait;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.IndexTable;
import io.farheap.store.log.LogGaps;
import io.farheap.thread.ThreadJoiner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Builds an index from the parts of a log, which it receives in their order: an entry ends up with the last record of
 * its chain. Several threads, the caller's among them, read every part; each takes only the records whose buckets
 * belong to it, by the low bits of the hash. So the records of a chain are taken in the order of the log, and no two
 * threads store into one bucket.
 *
 * <p>The caller stores a part's place and then {@code given}; the other threads load {@code given} first. Each thread
 * stores its {@code done} after it has read a part, and the caller loads all of these before it overwrites the part's
 * memory.
 */
final class IndexBuilder implements AutoCloseable {

    private static final int MOST_THREADS = 4;
    /** How many records' buckets are touched together, so that their cache misses overlap. */
    private static final int GROUP = 64;

    private final HashIndex index;
    private final RecordLayout layout;
    private final LogGaps gaps;
    private final int threads;

    // The parts that are not done, by number modulo the length of these arrays.
    private final long[] bases;
    private final long[] froms;
    private final long[] tos;

    private final Share own;
    private final List<Share> others = new ArrayList<>();
    private volatile long given;
    private volatile boolean ended;
    private volatile @Nullable Throwable failure;

    /** One thread's share of the records. */
    private final class Share implements Runnable {

        private final int number;
        private final OperationKey key = new OperationKey(layout);
        private final long[] hashes = new long[GROUP];
        private final long[] addresses = new long[GROUP];
        /** Receives what was loaded, so that the compiler does not remove the loads. */
        @SuppressWarnings("unused")
        private long touched;

        /** How many parts, from the first on, this thread has read. */
        private volatile long done;

        private @Nullable Thread thread;

        Share(int number) {
            this.number = number;
        }

        @Override
        public void run() {
            try {
                int rounds = 0;
                while (!ended) {
                    if (done < given) {
                        take(done);
                        rounds = 0;
                    } else {
                        rounds = SpinWait.wait(rounds);
                    }
                }
            } catch (Throwable e) {
                failure = e;
            }
        }

        void take(long part) {
            int place = (int) (part % bases.length);
            long base = bases[place];
            long to = tos[place];
            boolean allCount = gaps.none(froms[place], to);
            int count = 0;
            for (long address = froms[place]; address + RecordLayout.LEAST_RECORD <= to; ) {
                long record = base + address;
                long header = NativeWords.get(record);
                if (header == 0) {
                    break;
                }
                if ((header & StoreRecord.INVALID) == 0 && (allCount || gaps.counts(address, header))) {
                    key.useOf(record);
                    hashes[count] = key.hash;
                    addresses[count] = address;
                    // Whether the record is this thread's cannot be predicted, so this adds 1 or 0 without a branch.
                    long others = key.hash & threads - 1 ^ number;
                    count += (int) (others - 1 >>> Long.SIZE - 1);
                    if (count == GROUP) {
                        point(count);
                        count = 0;
                    }
                }
                address += layout.recordBytes(record);
            }
            point(count);
            done = part + 1;
        }

        /** Stores the addresses of the collected records into their entries, in the order of the log. */
        private void point(int count) {
            IndexTable table = index.newest();
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += NativeWords.get(table.bucket(hashes[i]));
            }
            touched = sum;
            for (int i = 0; i < count; i++) {
                long entry = index.findOrInsertAlone(hashes[i]);
                NativeWords.set(entry, HashIndex.pointing(NativeWords.get(entry), addresses[i]));
            }
        }
    }

    /**
     * @param parts how many parts may be under way at a time
     * @param threads a power of two, at most the index's buckets
     */
    IndexBuilder(HashIndex index, RecordLayout layout, LogGaps gaps, int parts, int threads) {
        this.index = index;
        this.layout = layout;
        this.gaps = gaps;
        this.threads = threads;
        this.bases = new long[parts];
        this.froms = new long[parts];
        this.tos = new long[parts];
        this.own = new Share(0);
        try {
            for (int i = 1; i < threads; i++) {
                Share share = new Share(i);
                others.add(share);
                share.thread =
                        Thread.ofPlatform().daemon().name("store-recovery-" + i).start(share);
            }
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    /** How many threads to use on this machine. @param parts how many parts there are in all */
    static int threads(HashIndex index, int parts) {
        long most = Math.min(Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors()), index.buckets());
        return (int) Long.highestOneBit(Math.max(1, Math.min(most, parts)));
    }

    /**
     * Takes the next part of the log. Its memory must stay as it is until it is {@link #done}.
     *
     * @param base the address in memory at which the log's address 0 would be
     * @param from the address of its first record
     */
    void add(long base, long from, long to) {
        long part = given;
        awaitDone(part - bases.length + 1);
        int place = (int) (part % bases.length);
        bases[place] = base;
        froms[place] = from;
        tos[place] = to;
        given = part + 1;
        own.take(part);
    }

    /** How many parts, from the first on, all threads have read. */
    long done() {
        long least = own.done;
        for (Share share : others) {
            least = Math.min(least, share.done);
        }
        return least;
    }

    /** Returns when all parts that were added are done. */
    void finish() {
        awaitDone(given);
    }

    private void awaitDone(long parts) {
        for (int rounds = 0; done() < parts; rounds = SpinWait.wait(rounds)) {
            checkSound();
        }
    }

    /** @throws IllegalStateException if one of the threads has failed */
    void checkSound() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the index cannot be made from the log: " + cause, cause);
        }
    }

    /** Ends the threads. After this, none of them uses the index or the parts' memory. */
    @Override
    public void close() {
        ended = true;
        for (Share share : others) {
            if (share.thread != null) {
                ThreadJoiner.join(share.thread);
            }
        }
    }
}
