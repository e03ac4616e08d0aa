package io.farheap.kv;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** Moves and evicts what a map has on one server, which is to leave it. One thread. */
final class ServerObjects implements AutoCloseable {

    private static final long SLEEP_NANOS = 1_000_000;
    private static final long PROGRESS_EVERY = 4096;
    /** Of the time, for moving: an eviction takes a small part of what a move does. */
    private static final double MOVING = 0.75;

    private final Session session;
    private final boolean lost;
    private final Consumer<MapDrain> progress;
    private final ServerScan scan;
    private final KvHandler afterMove = this::afterMove;
    private final KvHandler afterEviction = this::afterEviction;

    private long objects;
    private long moved;
    private long movedBytes;
    private long evicted;
    private long ended;

    /**
     * @param lost whether the server is, so that nothing can be moved
     * @param session for this alone; closed with it
     */
    ServerObjects(
            RemoteMemory remote,
            SpaceMemory space,
            int server,
            boolean lost,
            Session session,
            Consumer<MapDrain> progress) {
        this.session = session;
        this.lost = lost;
        this.progress = progress;
        try (CloseStack stack = new CloseStack()) {
            stack.add(session);
            scan = new ServerScan(remote, space, server, lost);
            stack.keep();
        }
    }

    /**
     * Moves what is worth it, the latest used first, in three quarters of a time: what is left is for evicting the
     * rest.
     *
     * @param withinNanos for both
     */
    void move(long withinNanos) {
        long deadline = System.nanoTime() + (long) (MOVING * withinNanos);
        scan.run();
        objects = scan.count();
        long since = scan.usedSince();
        int[] order = scan.whole.latestFirst(since);
        for (int next = 0; next < order.length && System.nanoTime() - deadline < 0; ) {
            next += begin(Operations.MOVE, scan.whole, order[next]) ? 1 : 0;
            session.poll(afterMove);
        }
        drain(afterMove);
        for (int i = 0; i < scan.pieced.size() && System.nanoTime() - deadline < 0; i++) {
            if (scan.inPieces.used(i) >= since) {
                moveInPieces(scan.pieced.get(i), scan.inPieces.word(i));
            }
        }
    }

    /** It is stored again as it is, with the expiry that it has then; its version is another. */
    private void moveInPieces(byte[] object, long word) {
        Versioned found = session.getVersioned(object);
        if (found == null) {
            return;
        }
        try {
            if (session.restore(object, found.value(), found.version())) {
                moved++;
                movedBytes += (long) Pieces.objectUnits(word) * BlockFormat.UNIT_BYTES;
            }
        } catch (MapException e) {
            // No room: it is evicted.
        }
    }

    /**
     * Evicts what is there; where less than half of it can be, as higher slots have its fingerprints, the rest is
     * moved.
     *
     * @return how many objects there were
     */
    int evict() {
        scan.run();
        objects = Math.max(objects, moved + evicted + scan.count());
        long before = evicted;
        evictWhole();
        all(Operations.EVICT, scan.inPieces, afterEviction);
        if (evicted - before <= scan.count() / 2 && !lost) {
            all(Operations.MOVE, scan.whole, afterMove);
            for (int i = 0; i < scan.pieced.size(); i++) {
                moveInPieces(scan.pieced.get(i), scan.inPieces.word(i));
            }
        }
        return scan.count();
    }

    private void evictWhole() {
        for (int i = 0; i < scan.whole.count(); ) {
            int kind = scan.whole.isAlone(i) ? Operations.EVICT_ALONE : Operations.EVICT;
            i += begin(kind, scan.whole, i) ? 1 : 0;
            session.poll(afterEviction);
        }
        drain(afterEviction);
    }

    private void all(int kind, FoundObjects found, KvHandler after) {
        for (int i = 0; i < found.count(); ) {
            i += begin(kind, found, i) ? 1 : 0;
            session.poll(after);
        }
        drain(after);
    }

    private boolean begin(int kind, FoundObjects found, int number) {
        return session.move(kind, found.slot(number), found.word(number), found.word(number));
    }

    private void drain(KvHandler after) {
        while (session.inFlight() > 0) {
            if (session.poll(after) == 0) {
                session.await(SLEEP_NANOS);
            }
        }
    }

    /** @param tag the word of the slot, as it was */
    private void afterMove(long tag, int status, MemorySegment unused, long at, int bytes) {
        if (status == KvStatus.DONE) {
            moved++;
            movedBytes += (long) SlotWord.units(tag) * BlockFormat.UNIT_BYTES;
        }
        tell();
    }

    private void afterEviction(long tag, int status, MemorySegment unused, long at, int bytes) {
        evicted += status == KvStatus.DONE ? 1 : 0;
        tell();
    }

    private void tell() {
        if (++ended % PROGRESS_EVERY == 0) {
            progress.accept(done());
        }
    }

    MapDrain done() {
        return new MapDrain(objects, moved, evicted, movedBytes);
    }

    @Override
    public void close() {
        Closing.all(session, scan);
    }
}
