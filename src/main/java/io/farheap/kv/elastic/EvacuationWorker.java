package io.farheap.kv.elastic;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.session.BlockingMapSession;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.RequestColumns;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * Moves and evicts the objects on one server, which is about to leave a map, that a part of the table names. One
 * thread.
 */
final class EvacuationWorker {

    private static final long SLEEP_NANOS = 1_000_000;
    /** The time for requests under way at the end: as long as a lease, since a server that is cut off may come back. */
    private static final long REST_NANOS = 60_000_000_000L;
    /**
     * The worker gives up after so many looks at the table that find no fewer objects on the server than an earlier
     * one.
     */
    static final int LOOKS_IN_VAIN = 10;

    /** The tag of objects without a number. */
    private static final long COLD = -1;

    /** For how many moves room is made ahead. */
    private static final int AHEAD = 64;

    private final MapRequests session;
    private final BlockingMapSession blocking;
    private final ServerScan scan;
    private final DrainTotals totals;
    private final KvHandler afterMove = this::afterMove;
    private final KvHandler afterEviction = this::afterEviction;
    private final KvHandler afterPieces = this::afterPieces;

    /** By number, the whole objects that are not on the server any more. */
    private final BitSet gone = new BitSet();
    /** By number, the objects in pieces that were moved. */
    private final BitSet movedPieces = new BitSet();

    /** Whether the objects have been counted, which the first look does. */
    private boolean counted;

    private long left;
    private final int looksInVain;

    /** @param lost whether the server is lost: objects that a process may have pointers to stay then */
    EvacuationWorker(MapRequests session, ServerScan scan, boolean lost, DrainTotals totals) {
        looksInVain = lost ? 1 : LOOKS_IN_VAIN;
        this.session = session;
        this.blocking = new BlockingMapSession(session);
        this.scan = scan;
        this.totals = totals;
    }

    /**
     * Returns when no object is left, or repeated looks find no fewer, or another worker has failed.
     *
     * @param since objects that were used at this time or later are worth moving
     * @param movingUntil {@link System#nanoTime} from which objects are evicted and not moved
     * @return how many objects may still be there
     */
    long empty(long since, long movingUntil) {
        long fewest = look(since, movingUntil);
        counted = true;
        for (int inVain = 0; fewest > 0 && inVain < looksInVain && !totals.failed; ) {
            long again = look(Long.MAX_VALUE, System.nanoTime());
            inVain = again < fewest ? 0 : inVain + 1;
            fewest = Math.min(fewest, again);
        }
        rest();
        return fewest;
    }

    /**
     * Waits for the session's requests, and for indexes that must be read to free their pieces while the server is
     * there.
     */
    private void rest() {
        long until = System.nanoTime() + REST_NANOS;
        while (!session.rests() && !totals.failed && System.nanoTime() - until < 0) {
            if (session.poll(afterEviction) == 0) {
                session.await(SLEEP_NANOS);
            }
        }
    }

    private void found(long objects) {
        if (!counted) {
            totals.objects.add(objects);
        }
    }

    /**
     * Reads the table part once. Evicts objects that are not worth moving as it meets them, moves the others, the
     * latest used first, and evicts those for which there was no time.
     *
     * @return how many objects may still be there. No slot names a block of the server again, so if a slot has changed,
     *     its object is not on the server; but if an index has changed, its successor may have the same pieces
     */
    private long look(long since, long movingUntil) {
        gone.clear();
        left = 0;
        movedPieces.clear();
        scan.begin(since);
        while (scan.step() && !totals.failed) {
            found(scan.cold.count());
            for (int i = 0; i < scan.cold.count(); i++) {
                begin(RequestColumns.EVICT, scan.cold, i, COLD, afterEviction);
            }
        }
        session.awaitAll(afterEviction);
        found(scan.whole.count() + (long) scan.inPieces.count());
        moveLatest(since, movingUntil);
        evictRest();
        return left + scan.whole.count() - gone.cardinality();
    }

    private void moveLatest(long since, long movingUntil) {
        if (System.nanoTime() - movingUntil >= 0) {
            return;
        }
        int[] order = scan.whole.latestFirst(since);
        int evictions = 0;
        long room = 0;
        for (int i = 0; i < order.length && System.nanoTime() - movingUntil < 0 && !totals.failed; i++) {
            int units = SlotWord.units(scan.whole.word(order[i]));
            while (room < (long) AHEAD * units && evictions < scan.elsewhere.count()) {
                room += SlotWord.units(scan.elsewhere.word(evictions));
                begin(RequestColumns.MAKE_ROOM, scan.elsewhere, evictions++, COLD, afterMove);
            }
            begin(RequestColumns.MOVE, scan.whole, order[i], order[i], afterMove);
            room -= units;
        }
        session.awaitAll(afterMove);
        for (int i = 0; i < scan.pieced.size() && System.nanoTime() - movingUntil < 0 && !totals.failed; i++) {
            if (scan.inPieces.used(i) >= since) {
                moveInPieces(i);
            }
        }
    }

    /** Evicts the rest. */
    private void evictRest() {
        for (int i = 0; i < scan.whole.count() && !totals.failed; i++) {
            if (!gone.get(i)) {
                begin(RequestColumns.EVICT, scan.whole, i, i, afterEviction);
            }
        }
        session.awaitAll(afterEviction);
        for (int i = 0; i < scan.inPieces.count() && !totals.failed; i++) {
            if (!movedPieces.get(i)) {
                begin(RequestColumns.EVICT, scan.inPieces, i, i, afterPieces);
            }
        }
        session.awaitAll(afterPieces);
    }

    private void begin(int kind, FoundObjects found, int number, long tag, KvHandler after) {
        while (!session.move(kind, found.slot(number), found.word(number), tag)) {
            session.poll(after);
        }
        session.poll(after);
    }

    /** Stores an object in pieces again, as it is, with the time to live that it has left; it gets a new version. */
    private void moveInPieces(int number) {
        byte[] key = scan.pieced.get(number);
        VersionedValue found = blocking.getVersioned(key);
        if (found == null) {
            return;
        }
        try {
            if (blocking.restore(key, found.value(), found.version())) {
                movedPieces.set(number);
                moved(ValuePieces.objectUnits(scan.inPieces.word(number)));
            }
        } catch (MapException e) {
            // There is no room, so it will be evicted.
        }
    }

    private void moved(long units) {
        totals.moved.increment();
        totals.movedBytes.add(units * BlockFormat.UNIT_BYTES);
    }

    /**
     * A move has ended. An object that was not moved may still be there, also if its block could not be read.
     *
     * @param tag the object's number, or {@link #COLD} for one that was evicted to make room
     */
    private void afterMove(long tag, int status, MemorySegment unused, long at, int bytes) {
        if (status == KvStatus.DONE && tag != COLD) {
            moved(SlotWord.units(scan.whole.word((int) tag)));
            gone.set((int) tag);
        }
    }

    /** @param tag the number of a whole object, or {@link #COLD} */
    private void afterEviction(long tag, int status, MemorySegment unused, long at, int bytes) {
        boolean isGone = evicted(status) || status == KvStatus.CHANGED;
        if (tag != COLD) {
            gone.set((int) tag, isGone);
        } else if (!isGone) {
            left++;
        }
    }

    /** @param tag the number of an object in pieces */
    private void afterPieces(long tag, int status, MemorySegment unused, long at, int bytes) {
        if (!evicted(status)) {
            left++;
        }
    }

    private boolean evicted(int status) {
        if (status == KvStatus.DONE) {
            totals.evicted.increment();
            return true;
        }
        return false;
    }
}
