package io.farheap.bench.peers;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;

/** A cache in another process's memory, used by a session's blocking calls and a registered buffer. */
final class FarheapPeer implements Peer {

    private final Cache cache;
    private final CacheSession session;
    private final Buffer value;
    private final Buffer fetched;
    private int bytes;

    /** @param server with at least one free region of that size */
    FarheapPeer(String server, int maxBytes) {
        cache = Cache.builder()
                .capacity(maxBytes)
                .servers(server)
                .name("bench-peers")
                .create();
        session = cache.openSession();
        value = cache.allocate(maxBytes);
        fetched = cache.allocate(maxBytes);
    }

    @Override
    public void use(byte[] newValue) {
        bytes = newValue.length;
        OffHeapValues.store(newValue, value.segment());
    }

    @Override
    public void put(int times) {
        for (int i = 0; i < times; i++) {
            session.writeBlocking(0, value, 0, bytes);
        }
    }

    @Override
    public void get(int times) {
        for (int i = 0; i < times; i++) {
            session.readBlocking(0, fetched, 0, bytes);
        }
    }

    @Override
    public byte[] got() {
        return OffHeapValues.load(fetched.segment(), bytes);
    }

    @Override
    public int cores() {
        return 1;
    }

    @Override
    public boolean onDevice() {
        return true;
    }

    @Override
    public void close() {
        cache.close();
    }
}
