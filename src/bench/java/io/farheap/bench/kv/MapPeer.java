package io.farheap.bench.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.bench.peers.Peer;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.MapSession;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.lifetime.CloseStack;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A map with one pair, whose session gets and sets it, one request after another: beside Redis and memcached, which do
 * the same, in turns. One thread.
 */
final class MapPeer implements Peer {

    private static final String NAME = "beside peers";
    private static final long KEY = 1;
    private static final int OBJECTS = 1000;

    private final CloseStack resources = new CloseStack();
    private final ServerProcess server;
    private final MapSession session;
    private final MemorySegment key;
    private final MemorySegment value;
    private final MemorySegment fetched;
    private final KvHandler handler = this::ended;
    private int status;
    private int bytes;

    /** @param valueBytes of the pair */
    MapPeer(int valueBytes) {
        long room = BenchMaps.room(OBJECTS);
        try {
            Arena arena = resources.add(Arena.ofShared());
            key = arena.allocate(MapCaller.KEY_BYTES, Long.BYTES);
            value = arena.allocate(valueBytes, Long.BYTES);
            fetched = arena.allocate(valueBytes, Long.BYTES);
            key.set(JAVA_LONG, 0, KEY);
            server = resources.add(BenchMaps.server(room, room));
            FarMap map = BenchMaps.create(server, NAME, room, OBJECTS);
            resources.add(map::drop);
            session = resources.add(map.openSession());
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /** Returns the HOST:PORT of its server. */
    String address() {
        return server.address();
    }

    private void ended(long tag, int ended, MemorySegment memory, long at, int length) {
        status = ended;
        if (ended == KvStatus.DONE && length > 0) {
            bytes = length;
            MemorySegment.copy(memory, at, fetched, 0, length);
        }
    }

    @Override
    public void use(byte[] newValue) {
        MemorySegment.copy(newValue, 0, value, ValueLayout.JAVA_BYTE, 0, newValue.length);
    }

    @Override
    public void put(int times) {
        for (int i = 0; i < times; i++) {
            session.set(key, value, 0);
            await();
        }
    }

    @Override
    public void get(int times) {
        for (int i = 0; i < times; i++) {
            session.get(key, 0);
            await();
        }
    }

    private void await() {
        while (session.poll(handler) == 0) {
            Thread.onSpinWait();
        }
        if (status != KvStatus.DONE) {
            throw new IllegalStateException("a request of the map: " + KvStatus.describe(status));
        }
    }

    @Override
    public byte[] got() {
        return fetched.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** The server's cores are idle. */
    @Override
    public int cores() {
        return 1;
    }

    @Override
    public boolean onDevice() {
        return true;
    }

    /** A get also counts the object's uses, and notes the time of the last one. */
    @Override
    public boolean readsAlone() {
        return false;
    }

    @Override
    public void close() {
        resources.close();
    }
}
