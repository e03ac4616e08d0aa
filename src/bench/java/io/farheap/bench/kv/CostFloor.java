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
import java.util.SplittableRandom;

/**
 * What a map's requests would cost without a map: the same operations, of the same lengths and equally many in
 * sequence, at random addresses of a region laid out like a map's, without any examination of their content. One
 * thread.
 */
final class CostFloor implements AutoCloseable {

    static final int IN_FLIGHT = 16;

    private static final int BUCKET_BYTES = 640;
    private static final int SLOT_BYTES = 40;
    private static final int SLOTS = 16;
    private static final int METADATA_BYTES = 32;
    private static final int MOST_OF_A_STEP = 2;
    /** Local memory of one request: its bucket, its block, and the old value of an atomic. */
    private static final int PLACE_BYTES = 4096;

    private static final int BLOCK_AT = 1024;
    private static final int OLD_AT = 4096 - 64;
    private static final int METADATA_AT = 768;
    private static final int HEAD_AT = 896;
    private static final int HEAD_BYTES = 40;

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

    /**
     * @param tableObjects objects for which the table has slots, two each
     * @param objects that exist, with a block of {@code blockBytes} each
     */
    CostFloor(String server, long tableObjects, long objects, int blockBytes) {
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(RemoteMemory.open("", "floor"));
            this.server = memory.attach(server);
            region = memory.allocate(this.server, 1).getFirst();
            queue = stack.add(memory.openQueue(
                    QueueOptions.DEFAULT.withDepth(Math.min(IN_FLIGHT * MOST_OF_A_STEP, memory.maxQueueDepth()))));
            buffer = stack.add(memory.register((long) IN_FLIGHT * PLACE_BYTES));
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
        GET_HIT(2),
        GET_MISS(1),
        SET_UPDATE(2),
        SET_INSERT(3);

        private final int steps;

        RequestShape(int steps) {
            this.steps = steps;
        }
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
        int place = (int) tag;
        pending[place]--;
        advance(place);
    }

    private void advance(int place) {
        while (pending[place] == 0) {
            if (step[place] == shape[place].steps) {
                free[freeCount++] = place;
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
                    note(
                            place,
                            queue.execute(
                                    false, region, blockAt[place], buffer, at(place, BLOCK_AT), blockBytes, place));
                }
            }
            case GET_MISS -> readBucket(place);
            case SET_UPDATE, SET_INSERT -> {
                switch (number) {
                    case 0 -> {
                        queue.beginList();
                        readBucket(place);
                        note(
                                place,
                                queue.write(region, blockAt[place], buffer, at(place, BLOCK_AT), blockBytes, place));
                        queue.postList();
                    }
                    case 1 -> {
                        if (one == RequestShape.SET_UPDATE) {
                            queue.beginList();
                            readHead(place);
                            swap(place);
                            queue.postList();
                        } else {
                            swap(place);
                        }
                    }
                    default -> {
                        queue.beginList();
                        note(
                                place,
                                queue.write(
                                        region,
                                        bucketAt[place] + Long.BYTES,
                                        buffer,
                                        at(place, METADATA_AT),
                                        METADATA_BYTES,
                                        place));
                        readBucket(place);
                        queue.postList();
                    }
                }
            }
        }
    }

    private static long at(int place, int offset) {
        return (long) place * PLACE_BYTES + offset;
    }

    private void readBucket(int place) {
        note(place, queue.execute(false, region, bucketAt[place], buffer, at(place, 0), BUCKET_BYTES, place));
    }

    /** Reads the header of the block that an update replaces. */
    private void readHead(int place) {
        long replaced = blocksAt + (long) random.nextInt(blocks) * blockBytes;
        note(place, queue.read(region, replaced, buffer, at(place, HEAD_AT), HEAD_BYTES, place));
    }

    private void swap(int place) {
        long slot = bucketAt[place] + (long) random.nextInt(SLOTS) * SLOT_BYTES;
        note(place, queue.compareAndSwap(region, slot, 0, 0, buffer, at(place, OLD_AT), place));
    }

    private void note(int place, int posting) {
        if (posting == PostResult.OK) {
            pending[place]++;
        } else if (posting != PostResult.DONE) {
            throw new IllegalStateException("the floor's operation was refused: " + PostResult.describe(posting));
        }
    }

    @Override
    public void close() {
        Closeables.all(queue, buffer, memory);
    }
}
