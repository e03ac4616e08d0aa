package io.farheap.kv.elastic;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.keeper.MapKeeperTasks;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.session.BlockingMapSession;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.lifetime.CloseStack;
import io.farheap.remote.RemoteMemory;
import io.farheap.thread.ThreadJoiner;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Empties segments where a server has chosen this process for it, so that they can be of another class: a thread with a
 * session of its own, which begins with the first. It moves what slots name there to free blocks of the same class,
 * what was used last first, and evicts what there is no free block for. Who else uses the map waits for none of it;
 * where this process ends in the midst of it, another one goes on.
 */
public final class SegmentEmptier implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SegmentEmptier.class.getName());
    private static final long SLEEP_NANOS = 1_000_000;
    private static final int MOST_SERVERS = 1024;

    private final RemoteMemory remote;
    private final SpaceMemory space;
    private final MapKeeperTasks keeper;
    private final Supplier<MapRequests> sessions;
    private final BlockingQueue<MapServiceClient> asked = new ArrayBlockingQueue<>(MOST_SERVERS);
    private final KvHandler handler = this::ended;
    private @Nullable Thread thread;
    private volatile boolean closed;

    // The thread's.
    private long[] places = {};
    private int[] classes = {};
    /** Of what was found by number: what has been moved or evicted. */
    private final BitSet gone = new BitSet();

    /** @param sessions opens one, which the emptier closes */
    public SegmentEmptier(
            RemoteMemory remote, SpaceMemory space, MapKeeperTasks keeper, Supplier<MapRequests> sessions) {
        this.remote = remote;
        this.space = space;
        this.keeper = keeper;
        this.sessions = sessions;
    }

    /** A server has chosen this process. The keeper's thread. */
    public void ask(MapServiceClient line) {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (thread == null) {
                thread =
                        Thread.ofPlatform().daemon().name("farheap-map-emptier").start(this::run);
            }
        }
        if (!asked.contains(line)) {
            asked.offer(line);
        }
    }

    private void run() {
        try (CloseStack ends = new CloseStack()) {
            MapRequests session = ends.add(sessions.get());
            SegmentScan scan = ends.add(new SegmentScan(remote, space));
            while (!closed) {
                empty(asked.take(), session, scan);
            }
        } catch (InterruptedException e) {
            // It is closed.
        } catch (RuntimeException e) {
            if (!closed) {
                LOG.log(System.Logger.Level.WARNING, "a map's segments are not emptied now", e);
            }
        }
        synchronized (this) {
            thread = closed ? thread : null;
        }
    }

    private void empty(MapServiceClient line, MapRequests session, SegmentScan scan) {
        try {
            while (!closed && askWhich(line)) {
                // Class by class: where one has no free block left, another may have.
                for (int sizeClass : IntStream.of(classes).distinct().toArray()) {
                    scan.clear();
                    for (int i = 0; i < places.length; i++) {
                        if (classes[i] == sizeClass) {
                            scan.add(places[i], sizeClass);
                        }
                    }
                    empty(session, scan);
                }
                letGoOfAll(session);
            }
        } catch (MapException e) {
            // A server is lost, or another process is the emptier now.
            LOG.log(System.Logger.Level.DEBUG, "a map's segments are not emptied now", e);
        }
    }

    /** What it has free is others'; there is not room for all on the way at a time, and some is still to come. */
    private void letGoOfAll(MapRequests session) {
        session.poll(handler);
        while (!closed && session.holdsFree()) {
            session.giveAllBack();
            session.poll(handler);
            LockSupport.parkNanos(SLEEP_NANOS);
        }
    }

    /** @return whether there are some */
    private boolean askWhich(MapServiceClient line) {
        return keeper.ask(() -> {
            if (!line.call(MapCalls.EMPTY, 1)) {
                return false;
            }
            int n = (int) line.reply(1);
            places = new long[n];
            classes = new int[n];
            for (int i = 0; i < n; i++) {
                places[i] = line.reply(2 + 2 * i);
                classes[i] = (int) line.reply(3 + 2 * i);
            }
            return n > 0;
        });
    }

    private void empty(MapRequests session, SegmentScan scan) {
        session.hopeAnew();
        gone.clear();
        all(session, RequestColumns.COMPACT, scan.whole);
        all(session, RequestColumns.EVICT, scan.whole);
        // What is below a slot that may have its key cannot be evicted.
        all(session, RequestColumns.MOVE, scan.whole);
        gone.clear();
        BlockingMapSession blocking = new BlockingMapSession(session);
        for (int i = 0; i < scan.pieced.size() && !closed; i++) {
            restore(blocking, scan.pieced.get(i), i);
        }
        all(session, RequestColumns.EVICT, scan.inPieces);
    }

    /** All that has not gone yet, what was used last first. */
    private void all(MapRequests session, int kind, FoundObjects found) {
        int[] order = found.latestFirst(Long.MIN_VALUE);
        for (int i = 0; i < order.length && !closed; ) {
            int number = order[i];
            boolean begun = gone.get(number) || session.move(kind, found.slot(number), found.word(number), number);
            i += begun ? 1 : 0;
            session.poll(handler);
        }
        session.awaitAll(handler);
    }

    /** An object in pieces is stored again as it is, with the expiry that it has then; its version is another. */
    private void restore(BlockingMapSession session, byte[] key, int number) {
        try {
            VersionedValue found = session.getVersioned(key);
            if (found != null && session.restore(key, found.value(), found.version())) {
                gone.set(number);
            }
        } catch (MapException e) {
            // No room: it is evicted.
        }
    }

    /** @param tag number of what was moved or evicted, is not there any more, or is to be tried otherwise */
    private void ended(long tag, int status, MemorySegment unused, long at, int bytes) {
        if (status == KvStatus.DONE || status == KvStatus.CHANGED) {
            gone.set((int) tag);
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        Thread present;
        synchronized (this) {
            closed = true;
            present = thread;
        }
        if (present != null) {
            present.interrupt();
            ThreadJoiner.join(present);
        }
    }
}
