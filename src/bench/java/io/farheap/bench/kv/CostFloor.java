package io.farheap.bench.kv;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.VerbCounts;
import java.util.SplittableRandom;

/**
 * What a map's requests would cost without a map: the same operations, of the same lengths and equally many in
 * sequence, at random addresses of a region laid out like a map's, without any examination of their content. It also
 * posts as many writes of last accesses and additions to counts as the map does ({@link #hints}), for which no request
 * waits. One thread.
 */
final class CostFloor implements AutoCloseable {

    static final int IN_FLIGHT = 16;

    private static final int BUCKET_BYTES = 640;
    private static final int SLOT_BYTES = 40;
    private static final int SLOTS = 16;
    private static final int METADATA_BYTES = 32;
    private static final int MOST_OF_A_STEP = 4;
    /** Hints that are posted with one doorbell, as by a map. */
    private static final int HINTS_AT_ONCE = 8;
    /** The most of them that are under way, as of a map. */
    private static final int HINTS = 64;

    private static final long HINT_TAG = IN_FLIGHT;
    private static final int ACCESSED_AT = 16;
    private static final int COUNT_AT = 24;
    /** Local memory of one request: its bucket, its block, and the old value of an atomic. */
    private static final int PLACE_BYTES = 4096;

    private static final int BLOCK_AT = 1024;
    private static final int OLD_AT = 4096 - 64;
    private static final int METADATA_AT = 768;
    private static final int HASH_BYTES = 8;

    private final RemoteMemory memory;
    private final RemoteServer server;
    private final RemoteRegion region;
    private final RemoteQueue queue;
    private final RegisteredBuffer buffer;
    private final int buckets;
    private final int blocks;
    private final long blocksAt;
    private final int blockBytes;
    private final SplittableRandom random = new SplittableRandom(1);
    private final CompletionHandler handler = this::completed;

    // By request in flight.
    private final RequestShape[] shape = new RequestShape[IN_FLIGHT];
    private final int[] step = new int[IN_FLIGHT];
    private final int[] pending = new int[IN_FLIGHT];
    private final long[] bucketAt = new long[IN_FLIGHT];
    private final long[] blockAt = new long[IN_FLIGHT];
    private final int[] free = new int[IN_FLIGHT];
    private int freeCount = IN_FLIGHT;
    /** Requests of which the next step found no room in the queue. */
    private final int[] waiting = new int[IN_FLIGHT];

    private int waitingFirst;
    private int waitingCount;

    // Hints for each request, those that are due, and those that are under way.
    private double writesOfRequest;
    private double addsOfRequest;
    private double writesDue;
    private double addsDue;
    private int hintsUnderWay;

    /**
     * @param tableObjects objects for which the table has slots, two each
     * @param objects that exist, with a block of {@code blockBytes} each
     */
    CostFloor(String server, long tableObjects, long objects, int blockBytes) {
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(RemoteMemory.open("", "floor"));
            this.server = memory.attach(server);
            region = memory.allocate(this.server, 1).getFirst();
            queue = stack.add(memory.openQueue(QueueOptions.DEFAULT.withDepth(
                    Math.min(IN_FLIGHT * MOST_OF_A_STEP + HINTS, memory.maxQueueDepth()))));
            buffer = stack.add(memory.register((IN_FLIGHT + 1L) * PLACE_BYTES));
            stack.keep();
        }
        this.blockBytes = blockBytes;
        buckets = Math.toIntExact(Math.ceilDiv(2 * tableObjects, SLOTS));
        blocks = Math.toIntExact(objects);
        blocksAt = ((long) buckets * BUCKET_BYTES + 63) / 64 * 64;
        for (int i = 0; i < IN_FLIGHT; i++) {
            free[i] = i;
        }
    }

    /** The operations that a request of a map posts, step by step. */
    enum RequestShape {
        GET_HIT(2, 0),
        GET_BY_POINTER(1, 0),
        GET_MISS(1, 0),
        SET_UPDATE(2, 2),
        SET_INSERT(3, 2),
        SET_BY_POINTER(1, 2);

        private final int steps;
        /** The WRITEs of its steps. */
        private final int writes;

        RequestShape(int steps, int writes) {
            this.steps = steps;
            this.writes = writes;
        }

        /** Returns the WRITEs that each request of a map has posted beside its steps: those of last accesses. */
        double writeHints(VerbCounts posted, long requests) {
            return requests == 0 ? 0 : Math.max(0, (double) posted.writes() / requests - writes);
        }

        /** Returns the fetch-and-adds that each request of a map has posted: no step has any. */
        static double addHints(VerbCounts posted, long requests) {
            return requests == 0 ? 0 : (double) posted.adds() / requests;
        }
    }

    /**
     * From now on each request also posts so many hints, on average.
     *
     * @param posted by a map's requests of this shape
     * @param requests how many they were
     */
    void hints(RequestShape one, VerbCounts posted, long requests) {
        writesOfRequest = one.writeHints(posted, requests);
        addsOfRequest = RequestShape.addHints(posted, requests);
    }

    /** Returns the operations that were posted so far. */
    VerbCounts posted() {
        return queue.posted();
    }

    /** Runs one request, and waits for it. */
    void run(RequestShape one) {
        begin(one);
        drain();
    }

    /** Begins a request, as soon as fewer than {@value #IN_FLIGHT} are in flight. */
    void begin(RequestShape one) {
        while (freeCount == 0) {
            poll();
        }
        int place = free[--freeCount];
        shape[place] = one;
        step[place] = 0;
        bucketAt[place] = (long) random.nextInt(buckets) * BUCKET_BYTES;
        blockAt[place] = blocksAt + (long) random.nextInt(blocks) * blockBytes;
        advance(place);
    }

    /** Waits for all requests. */
    void drain() {
        while (freeCount < IN_FLIGHT) {
            poll();
        }
    }

    private void poll() {
        queue.poll(handler);
        while (waitingCount > 0 && hasRoom()) {
            int place = waiting[waitingFirst];
            waitingFirst = (waitingFirst + 1) % IN_FLIGHT;
            waitingCount--;
            advance(place);
        }
    }

    private boolean hasRoom() {
        return queue.room(server) >= MOST_OF_A_STEP;
    }

    private void completed(long tag, int outcome) {
        if (outcome != Outcome.DONE) {
            throw new IllegalStateException("the floor's server is lost");
        }
        if (tag == HINT_TAG) {
            hintsUnderWay--;
            return;
        }
        int place = (int) tag;
        pending[place]--;
        advance(place);
    }

    private void advance(int place) {
        while (pending[place] == 0) {
            if (step[place] == shape[place].steps) {
                free[freeCount++] = place;
                writesDue += writesOfRequest;
                addsDue += addsOfRequest;
                postHints();
                return;
            }
            if (!hasRoom()) {
                waiting[(waitingFirst + waitingCount++) % IN_FLIGHT] = place;
                return;
            }
            post(place, shape[place], step[place]++);
        }
    }

    private void post(int place, RequestShape one, int number) {
        switch (one) {
            case GET_HIT -> {
                if (number == 0) {
                    readBucket(place);
                } else {
                    readBlock(place);
                }
            }
            case GET_BY_POINTER -> readBlock(place);
            case GET_MISS -> readBucket(place);
            case SET_BY_POINTER -> {
                queue.beginList();
                writeBlock(place);
                writeMetadata(place, HASH_BYTES);
                mark(place);
                swap(place);
                queue.postList();
            }
            case SET_UPDATE, SET_INSERT -> {
                switch (number) {
                    case 0 -> {
                        queue.beginList();
                        readBucket(place);
                        writeBlock(place);
                        queue.postList();
                    }
                    case 1 -> {
                        queue.beginList();
                        if (one == RequestShape.SET_UPDATE) {
                            writeMetadata(place, HASH_BYTES);
                            swap(place);
                        } else {
                            swap(place);
                            readBucket(place);
                        }
                        queue.postList();
                    }
                    default -> {
                        queue.beginList();
                        writeMetadata(place, METADATA_BYTES);
                        swap(place);
                        queue.postList();
                    }
                }
            }
        }
    }

    /** Posts hints when enough of them are due. If there is no room for them, later requests post them, too. */
    private void postHints() {
        while (Math.floor(writesDue) + Math.floor(addsDue) >= HINTS_AT_ONCE
                && hintsUnderWay <= HINTS - HINTS_AT_ONCE
                && queue.room(server) >= HINTS_AT_ONCE) {
            queue.beginList();
            for (int i = 0; i < HINTS_AT_ONCE; i++) {
                long slot = (long) random.nextInt(buckets) * BUCKET_BYTES + (long) random.nextInt(SLOTS) * SLOT_BYTES;
                int posting;
                if (writesDue >= 1) {
                    writesDue--;
                    posting = queue.write(
                            region, slot + ACCESSED_AT, buffer, at(IN_FLIGHT, BLOCK_AT), Long.BYTES, HINT_TAG);
                } else {
                    addsDue--;
                    posting = queue.fetchAndAdd(region, slot + COUNT_AT, 0, buffer, at(IN_FLIGHT, OLD_AT), HINT_TAG);
                }
                if (posting == PostResult.OK) {
                    hintsUnderWay++;
                } else if (posting != PostResult.DONE) {
                    throw refused(posting);
                }
            }
            queue.postList();
        }
    }

    private static IllegalStateException refused(int posting) {
        return new IllegalStateException("the floor's operation was refused: " + PostResult.describe(posting));
    }

    private static long at(int place, int offset) {
        return (long) place * PLACE_BYTES + offset;
    }

    private void readBucket(int place) {
        note(place, queue.execute(false, region, bucketAt[place], buffer, at(place, 0), BUCKET_BYTES, place));
    }

    private void readBlock(int place) {
        note(place, queue.execute(false, region, blockAt[place], buffer, at(place, BLOCK_AT), blockBytes, place));
    }

    private void writeBlock(int place) {
        note(place, queue.write(region, blockAt[place], buffer, at(place, BLOCK_AT), blockBytes, place));
    }

    /** A compare-and-swap of the first word of another block, as that of a mark. */
    private void mark(int place) {
        long block = blocksAt + (long) random.nextInt(blocks) * blockBytes;
        note(place, queue.compareAndSwap(region, block, 0, 0, buffer, at(place, OLD_AT) + Long.BYTES, place));
    }

    /** Writes the first bytes behind a slot's word. */
    private void writeMetadata(int place, int bytes) {
        note(place, queue.write(region, bucketAt[place] + Long.BYTES, buffer, at(place, METADATA_AT), bytes, place));
    }

    private void swap(int place) {
        long slot = bucketAt[place] + (long) random.nextInt(SLOTS) * SLOT_BYTES;
        note(place, queue.compareAndSwap(region, slot, 0, 0, buffer, at(place, OLD_AT), place));
    }

    private void note(int place, int posting) {
        if (posting == PostResult.OK) {
            pending[place]++;
        } else if (posting != PostResult.DONE) {
            throw refused(posting);
        }
    }

    @Override
    public void close() {
        Closeables.all(queue, buffer, memory);
    }
}
