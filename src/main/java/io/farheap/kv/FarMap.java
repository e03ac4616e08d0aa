package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.remote.Outcome;
import io.farheap.remote.Posting;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RemoteRegion;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A map in far memory: objects by key, evicted when there is no room. Any thread. */
public final class FarMap {

    private static final int REQUESTS = 16;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final RemoteMemory memory;
    private final SpaceMemory space;
    private final MapClock clock;
    private final CachePolicy policy;

    private FarMap(RemoteMemory memory, SpaceMemory space, MapClock clock, CachePolicy policy) {
        this.policy = policy;
        this.memory = memory;
        this.space = space;
        this.clock = clock;
    }

    /** A new map in regions that are zero. */
    static FarMap create(
            RemoteMemory memory, List<RemoteRegion> regions, SpaceShape shape, MapClock clock, CachePolicy policy) {
        SpaceMemory space = new SpaceMemory(shape, regions.toArray(RemoteRegion[]::new));
        return new FarMap(memory, space, clock, policy);
    }

    /** Opens a session. */
    public Session openSession() {
        return new Session(memory, space, clock, policy, REQUESTS, sessionNumber());
    }

    private long sessionNumber() {
        try (RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT.withDepth(1));
                RegisteredBuffer old = memory.register(Long.BYTES)) {
            int posting = queue.fetchAndAdd(space.region(0), SpaceShape.SESSION_COUNTER, 1, old, 0, 0);
            if (posting != Posting.OK) {
                throw new MapException(KvStatus.LOST);
            }
            int[] outcome = {-1};
            long started = System.nanoTime();
            while (queue.poll((tag, ended) -> outcome[0] = ended) == 0) {
                if (System.nanoTime() - started > PATIENCE_NANOS) {
                    throw new MapException(KvStatus.LOST);
                }
                queue.await(1_000_000);
            }
            if (outcome[0] != Outcome.DONE) {
                throw new MapException(KvStatus.LOST);
            }
            return old.segment().get(JAVA_LONG, 0) + 1;
        }
    }
}
