package io.farheap.bench.kv;

import io.farheap.kv.FarMap;
import io.farheap.remote.contract.VerbCounts;

/** A session of a map in a {@link ClosedLoop}. */
abstract class MapClient implements ClosedLoop.LoopClient {

    /** Room for requests of each session. */
    static final int REQUESTS = 2;

    final MapCaller caller;
    private long gets;

    /** @param valueBytes of the objects that it sets */
    MapClient(FarMap map, int valueBytes) {
        caller = new MapCaller(map.openSession(REQUESTS), valueBytes);
    }

    final void get(long key) {
        gets++;
        caller.beginGet(key);
    }

    @Override
    public boolean ended() {
        return caller.ended();
    }

    @Override
    public final VerbCounts posted() {
        return caller.session().posted();
    }

    @Override
    public final long gets() {
        return gets;
    }

    @Override
    public final long absent() {
        return caller.absent();
    }

    @Override
    public final void close() {
        caller.close();
    }
}
