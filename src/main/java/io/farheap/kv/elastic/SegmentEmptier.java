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
 * Empties segments if a server has chosen this process for it, so that they can serve another class. A thread with a
 * session of its own, which starts with the first such request, moves the objects there to free blocks of the same
 * class, the latest used first, and evicts those for which there is no free block. No other user of the map waits for
 * that. If this process ends in between, the server chooses another one.
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

    // The thread's state.
    private long[] places = {};
    private int[] classes = {};
    /** By number, the objects that have been moved or evicted. */
    private final BitSet gone = new BitSet();

    /** @param sessions opens a session, which the emptier closes */
    public SegmentEmptier(
            RemoteMemory remote, SpaceMemory space, MapKeeperTasks keeper, Supplier<MapRequests> sessions) {
        this.remote = remote;
        this.space = space;
        this.keeper = keeper;
        this.sessions = sessions;
    }

    /** A server has chosen this process to empty segments. The keeper's thread. */
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
            // A session that was cut off moves nothing any more.
            while (!closed && !session.isOver()) {
                empty(asked.take(), session, scan);
            }
        } catch (InterruptedException e) {
            // The emptier has been closed.
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
                // One class at a time: if a class has no free block left, another class may have some.
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

    /** Gives all free blocks back. The mailbox may not have room for all at once, and some blocks become free later. */
    private void letGoOfAll(MapRequests session) {
        session.poll(handler);
        while (!closed && session.holdsFree()) {
            session.giveAllBack();
            session.poll(handler);
            LockSupport.parkNanos(SLEEP_NANOS);
        }
    }

    /** Asks which segments to empty. @return whether there are any */
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
        gone.clear();
        BlockingMapSession blocking = new BlockingMapSession(session);
        for (int i = 0; i < scan.pieced.size() && !closed; i++) {
            restore(blocking, scan.pieced.get(i), i);
        }
        all(session, RequestColumns.EVICT, scan.inPieces);
    }

    /** Processes all objects that are not gone yet, the latest used first. */
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

    /** Stores an object in pieces again, as it is, with the time to live that it has left; it gets a new version. */
    private void restore(BlockingMapSession session, byte[] key, int number) {
        try {
            VersionedValue found = session.getVersioned(key);
            if (found != null && session.restore(key, found.value(), found.version())) {
                gone.set(number);
            }
        } catch (MapException e) {
            // There is no room, so it will be evicted.
        }
    }

    /** @param tag the object's number */
    private void ended(long tag, int status, MemorySegment unused, long at, int bytes) {
        if (status == KvStatus.DONE || status == KvStatus.CHANGED) {
            gone.set((int) tag);
        }
    }

    /** Ends the thread. Idempotent. */
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
