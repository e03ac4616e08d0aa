package io.farheap.bench.kv.worth;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.CloseStack;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.concurrent.atomic.AtomicLong;

/** A map of the benchmark in one region of a server, for clients of this process. Any thread. */
public final class FarTable implements AutoCloseable {

    static final long NONE = -1;

    private final MapDesign design;
    private final FarTableLayout shape;
    private final RemoteMemory memory;
    private final RemoteRegion region;
    private final AtomicLong blocks = new AtomicLong();
    private final AtomicLong clients = new AtomicLong();

    /**
     * @param server with a free region
     * @param tableObjects objects for which the table has slots, two each
     * @param objects the most objects
     * @param valueBytes of each object, a multiple of 8 up to 264
     */
    public FarTable(String server, MapDesign design, long tableObjects, long objects, int valueBytes) {
        this.design = design;
        shape = FarTableLayout.of(tableObjects, objects, design.shards(), valueBytes);
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(RemoteMemory.open("", "worth"));
            RemoteServer attached = memory.attach(server);
            if (shape.bytes() > attached.description().regionBytes()) {
                throw new IllegalArgumentException("a map of " + shape.bytes() + " bytes in a region of "
                        + attached.description().regionBytes() + "; take fewer objects");
            }
            region = memory.allocate(attached, 1).getFirst();
            try (RegionClient wire = new RegionClient(memory, region)) {
                wire.hintWrite(FarTableLayout.WEIGHT, RegretLearner.first());
            }
            stack.keep();
        }
    }

    /** Opens a client, for one thread. */
    public FarTableClient openClient() {
        return new FarTableClient(this, new RegionClient(memory, region), clients.getAndIncrement());
    }

    MapDesign design() {
        return design;
    }

    FarTableLayout shape() {
        return shape;
    }

    /** Returns a block that no client has used yet; {@link #NONE} if there is none left. */
    long fresh() {
        // Needed while a map is filled; without a message, since a real map would send one for many blocks.
        long block = blocks.getAndIncrement();
        return block < shape.blocks() ? block : NONE;
    }

    /**
     * Checks the LRU lists, while no client is at work.
     *
     * @throws IllegalStateException if an object is in no list or in one twice, or the two directions differ
     */
    public void checkLists() {
        long from = shape.listAt(0);
        int bytes = Math.toIntExact(shape.linksAt(shape.blocks()) - from);
        try (RegisteredBuffer copy = memory.register(bytes)) {
            RegionClient.readAll(memory, region, from, copy, bytes);
            long found = 0;
            for (int list = 0; list < shape.shards(); list++) {
                long at = shape.listAt(list) - from;
                if (copy.segment().get(JAVA_LONG, at) != 0) {
                    throw new IllegalStateException("list " + list + " is locked, and no client is at work");
                }
                long before = 0;
                long block = copy.segment().get(JAVA_LONG, at + FarTableLayout.FIRST);
                while (block != 0) {
                    long links = shape.linksAt(block - 1) - from;
                    if (copy.segment().get(JAVA_LONG, links) != before || ++found > shape.blocks()) {
                        throw new IllegalStateException("list " + list + " is broken at block " + (block - 1));
                    }
                    before = block;
                    block = copy.segment().get(JAVA_LONG, links + FarTableLayout.BEHIND);
                }
                if (copy.segment().get(JAVA_LONG, at + FarTableLayout.LAST) != before) {
                    throw new IllegalStateException("list " + list + " does not end at its last block");
                }
            }
            if (found != Math.min(blocks.get(), shape.blocks())) {
                throw new IllegalStateException(found + " blocks are in lists, and " + blocks + " are used");
            }
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
