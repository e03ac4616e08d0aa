package io.farheap.bench.kv.worth;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.CloseStack;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import java.util.concurrent.atomic.AtomicLong;

/** A map of the benchmark in one region of a server, for clients of this process. Any thread. */
public final class FarTable implements AutoCloseable {

    static final long NONE = -1;

    private final Design design;
    private final Shape shape;
    private final RemoteMemory memory;
    private final RemoteRegion region;
    private final AtomicLong blocks = new AtomicLong();
    private final AtomicLong clients = new AtomicLong();

    /**
     * @param server with a free region
     * @param tableObjects that the table has slots for, two each
     * @param objects at most
     */
    public FarTable(String server, Design design, long tableObjects, long objects) {
        this.design = design;
        shape = Shape.of(tableObjects, objects, design.shards());
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(RemoteMemory.open("", "worth"));
            RemoteServer attached = memory.attach(server);
            if (shape.bytes() > attached.description().regionBytes()) {
                throw new IllegalArgumentException("a map of " + shape.bytes() + " bytes in a region of "
                        + attached.description().regionBytes() + "; take fewer objects");
            }
            region = memory.allocate(attached, 1).getFirst();
            try (Wire wire = new Wire(memory, region)) {
                wire.hintWrite(Shape.WEIGHT, Learning.first());
            }
            stack.keep();
        }
    }

    /** A client, for one thread. */
    public FarClient openClient() {
        return new FarClient(this, new Wire(memory, region), clients.getAndIncrement());
    }

    Design design() {
        return design;
    }

    Shape shape() {
        return shape;
    }

    /** A block that nobody has used; {@link #NONE} where there is no more. */
    long fresh() {
        // While a map is filled; no message, as it would be one for many blocks.
        long block = blocks.getAndIncrement();
        return block < shape.blocks() ? block : NONE;
    }

    /**
     * Reads the LRU lists, while no client is at work.
     *
     * @throws IllegalStateException where an object is in none or twice, or the two directions differ
     */
    public void checkLists() {
        long from = shape.listAt(0);
        int bytes = Math.toIntExact(shape.linksAt(shape.blocks()) - from);
        try (RegisteredBuffer copy = memory.register(bytes)) {
            Wire.readAll(memory, region, from, copy, bytes);
            long found = 0;
            for (int list = 0; list < shape.shards(); list++) {
                long at = shape.listAt(list) - from;
                if (copy.segment().get(JAVA_LONG, at) != 0) {
                    throw new IllegalStateException("list " + list + " is locked, and no client is at work");
                }
                long before = 0;
                long block = copy.segment().get(JAVA_LONG, at + Shape.FIRST);
                while (block != 0) {
                    long links = shape.linksAt(block - 1) - from;
                    if (copy.segment().get(JAVA_LONG, links) != before || ++found > shape.blocks()) {
                        throw new IllegalStateException("list " + list + " is broken at block " + (block - 1));
                    }
                    before = block;
                    block = copy.segment().get(JAVA_LONG, links + Shape.BEHIND);
                }
                if (copy.segment().get(JAVA_LONG, at + Shape.LAST) != before) {
                    throw new IllegalStateException("list " + list + " does not end where it says");
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
