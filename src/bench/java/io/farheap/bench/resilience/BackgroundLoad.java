package io.farheap.bench.resilience;

import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import java.io.IOException;
import java.util.stream.IntStream;

/**
 * The main class of a process that reads and writes large pieces of one server as fast as it can, until its standard
 * input ends: {@code HOST:PORT BYTES}. It prints {@link #BEGUN} before the first piece, and at the end how many bytes
 * it has moved, and in how many ns.
 */
final class BackgroundLoad {

    static final String BEGUN = "loading";

    /**
     * Pieces under way in each direction: the next is posted when one is done, and no more wait in the NIC than that.
     */
    private static final int DEPTH = 2;

    private static volatile boolean over;

    private BackgroundLoad() {}

    public static void main(String[] arguments) {
        int piece = Integer.parseInt(arguments[1]);
        Thread.ofPlatform().daemon().name("until-input-ends").start(BackgroundLoad::awaitEndOfInput);
        try (RemoteMemory memory = RemoteMemory.open("", "farheap-bench-background")) {
            RemoteRegion region =
                    memory.allocate(memory.attach(arguments[0]), 1).getFirst();
            try (RegisteredBuffer buffer = memory.register((long) piece * DEPTH);
                    Direction reads = new Direction(memory, false, region, buffer, piece);
                    Direction writes = new Direction(memory, true, region, buffer, piece)) {
                System.out.println(BEGUN);
                long from = System.nanoTime();
                while (!over) {
                    reads.step();
                    writes.step();
                }
                System.out.println((reads.bytes + writes.bytes) + " " + (System.nanoTime() - from));
                reads.drain();
                writes.drain();
            }
        }
    }

    private static void awaitEndOfInput() {
        try {
            while (System.in.read() >= 0) {
                Thread.onSpinWait();
            }
        } catch (IOException e) {
            // Counts as the end of the input.
        }
        over = true;
    }

    /** Pieces in one direction; with a queue of its own, since a queue's operations may wait for one another. */
    private static final class Direction implements AutoCloseable {

        private final RemoteQueue queue;
        private final boolean write;
        private final RemoteRegion region;
        private final RegisteredBuffer buffer;
        private final int piece;
        private final CompletionHandler handler = this::completed;
        private final boolean[] busy = new boolean[DEPTH];
        private long bytes;

        Direction(RemoteMemory memory, boolean write, RemoteRegion region, RegisteredBuffer buffer, int piece) {
            this.queue = memory.openQueue(QueueOptions.DEFAULT.withDepth(DEPTH));
            this.write = write;
            this.region = region;
            this.buffer = buffer;
            this.piece = piece;
        }

        private void completed(long tag, int outcome) {
            if (outcome != Outcome.DONE) {
                throw new IllegalStateException("a piece of the background load is " + Outcome.describe(outcome));
            }
            busy[(int) tag] = false;
            bytes += piece;
        }

        void step() {
            queue.poll(handler);
            for (int i = 0; i < DEPTH; i++) {
                if (!busy[i]) {
                    long at = (long) i * piece;
                    int verdict = write
                            ? queue.write(region, 0, buffer, at, piece, i)
                            : queue.read(region, 0, buffer, at, piece, i);
                    if (verdict != PostResult.OK) {
                        throw new IllegalStateException(
                                "a piece of the background load: " + PostResult.describe(verdict));
                    }
                    busy[i] = true;
                }
            }
        }

        void drain() {
            while (IntStream.range(0, DEPTH).anyMatch(i -> busy[i])) {
                queue.poll(handler);
            }
        }

        @Override
        public void close() {
            queue.close();
        }
    }
}
