package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.remote.Outcome;
import io.farheap.remote.Posting;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RemoteSpace;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A map in far memory, as this process has it open: objects by key, which many processes get and set at a time, and
 * which are evicted when there is no room. It outlives the processes that use it. Any thread.
 *
 * <pre>{@code
 * try (FarMap map = FarMap.builder()
 *                 .name("prices").token(secret).servers("10.0.0.1:7400").memory(8L << 30).create();
 *         Session session = map.openSession()) {
 *     session.set(key, value);
 *     byte[] found = session.get(key);
 * }
 * }</pre>
 */
public final class FarMap implements AutoCloseable {

    private static final int REQUESTS = 16;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long SLEEP_NANOS = 1_000_000;

    private final RemoteMemory memory;
    private final List<RemoteSpace> spaces;
    private final SpaceMemory space;
    private final MapClock clock;
    private final CachePolicy policy;

    /** @param memory closed with the map */
    FarMap(RemoteMemory memory, List<RemoteSpace> spaces, SpaceMemory space, MapClock clock, CachePolicy policy) {
        this.memory = memory;
        this.spaces = List.copyOf(spaces);
        this.space = space;
        this.clock = clock;
        this.policy = policy;
    }

    /** Says which map, and makes it or opens it. */
    public static FarMapBuilder builder() {
        return new FarMapBuilder();
    }

    /**
     * Opens a session, for one thread at a time.
     *
     * @throws MapException where a server does not answer
     */
    public Session openSession() {
        return new Session(memory, space, clock, policy, REQUESTS, sessionNumber());
    }

    private long sessionNumber() {
        try (RegisteredBuffer old = memory.register(Long.BYTES);
                RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT.withDepth(1))) {
            int posting = queue.fetchAndAdd(space.region(0), SpaceShape.SESSION_COUNTER, 1, old, 0, 0);
            int[] outcome = {Outcome.UNKNOWN};
            long started = System.nanoTime();
            while (posting == Posting.OK
                    && queue.poll((tag, ended) -> outcome[0] = ended) == 0
                    && System.nanoTime() - started < PATIENCE_NANOS) {
                queue.await(SLEEP_NANOS);
            }
            if (outcome[0] != Outcome.DONE) {
                throw MapException.of(KvStatus.LOST);
            }
            return old.segment().get(JAVA_LONG, 0) + 1;
        }
    }

    /** Ends the map for everybody, with all that is in it, and closes it here. Sessions are to be closed before. */
    public void drop() {
        spaces.forEach(RemoteSpace::drop);
        close();
    }

    /** Ends this process's use of the map and all of its sessions; the map stays. Idempotent. */
    @Override
    public void close() {
        memory.close();
    }
}
