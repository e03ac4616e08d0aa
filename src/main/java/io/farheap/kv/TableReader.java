package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.Outcome;
import io.farheap.remote.Posting;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RemoteRegion;
import java.util.concurrent.TimeUnit;

/** Reads words and buckets of a map, one after the other, while others use it. One thread. */
final class TableReader implements AutoCloseable {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long SLEEP_NANOS = 1_000_000;

    private final SpaceMemory space;
    private final RemoteQueue queue;
    private final RegisteredBuffer memory;
    private int outcome;

    TableReader(RemoteMemory remote, SpaceMemory space) {
        this.space = space;
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(remote.register(SpaceShape.BUCKET_BYTES));
            queue = stack.add(remote.openQueue(QueueOptions.DEFAULT.withDepth(1)));
            stack.keep();
        }
    }

    /** @throws MapException where a server does not answer */
    MapStats stats() {
        SpaceShape shape = space.shape();
        long objects = 0;
        long history = 0;
        long units = 0;
        long segments = 0;
        long taken = 0;
        for (int number = 0; number < space.regions(); number++) {
            RemoteRegion region = space.region(number);
            segments += shape.segments(number);
            taken += Math.min(shape.segments(number), word(region, SpaceShape.SEGMENTS_TAKEN));
            for (int bucket = 0; number < shape.tableRegions() && bucket < shape.bucketsPerRegion(); bucket++) {
                read(region, shape.bucketAt(bucket), SpaceShape.BUCKET_BYTES);
                for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
                    long word = Bucket.word(memory.segment().address(), slot);
                    if (SlotWord.isLive(word)) {
                        objects++;
                        units += SlotWord.size(word);
                    } else if (SlotWord.isHistory(word)) {
                        history++;
                    }
                }
            }
        }
        return new MapStats(
                space.regions(),
                shape.regionBytes(),
                (long) shape.tableRegions() * shape.bucketsPerRegion() * SpaceShape.BUCKET_SLOTS,
                objects,
                history,
                units * BlockFormat.UNIT_BYTES,
                segments * shape.segmentBytes(),
                taken * shape.segmentBytes());
    }

    private long word(RemoteRegion region, long offset) {
        read(region, offset, Long.BYTES);
        return NativeMemory.ALL.get(JAVA_LONG, memory.segment().address());
    }

    private void read(RemoteRegion region, long offset, int bytes) {
        int posting = queue.execute(false, region, offset, memory, 0, bytes, 0);
        finish(posting);
    }

    /**
     * Adds to a word.
     *
     * @return what it was
     */
    long add(RemoteRegion region, long offset, long delta) {
        finish(queue.fetchAndAdd(region, offset, delta, memory, 0, 0));
        return NativeMemory.ALL.get(JAVA_LONG, memory.segment().address());
    }

    private void finish(int posting) {
        if (posting == Posting.DONE) {
            return;
        }
        outcome = Outcome.UNKNOWN;
        long started = System.nanoTime();
        while (posting == Posting.OK
                && queue.poll((tag, ended) -> outcome = ended) == 0
                && System.nanoTime() - started < PATIENCE_NANOS) {
            queue.await(SLEEP_NANOS);
        }
        if (outcome != Outcome.DONE) {
            throw MapException.of(KvStatus.LOST);
        }
    }

    @Override
    public void close() {
        Closing.all(queue, memory);
    }
}
