package io.farheap.bench.peers;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Off-heap memory of this process: the limit for all peers. */
final class LocalPeer implements Peer {

    private final Arena arena = Arena.ofShared();
    private final MemorySegment store;
    private final MemorySegment value;
    private final MemorySegment fetched;
    private int bytes;

    LocalPeer(int maxBytes) {
        store = arena.allocate(maxBytes, 4096);
        value = arena.allocate(maxBytes, 4096);
        fetched = arena.allocate(maxBytes, 4096);
    }

    @Override
    public void use(byte[] newValue) {
        bytes = newValue.length;
        OffHeapValues.store(newValue, value);
    }

    @Override
    public void put(int times) {
        for (int i = 0; i < times; i++) {
            MemorySegment.copy(value, 0, store, 0, bytes);
            // Otherwise the compiler would reduce the loop to one copy.
            OffHeapValues.keep();
        }
    }

    @Override
    public void get(int times) {
        for (int i = 0; i < times; i++) {
            MemorySegment.copy(store, 0, fetched, 0, bytes);
            OffHeapValues.keep();
        }
    }

    @Override
    public byte[] got() {
        return OffHeapValues.load(fetched, bytes);
    }

    @Override
    public boolean local() {
        return true;
    }

    @Override
    public int cores() {
        return 1;
    }

    @Override
    public void close() {
        arena.close();
    }
}
