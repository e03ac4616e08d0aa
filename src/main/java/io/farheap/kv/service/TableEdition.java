package io.farheap.kv.service;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.SpaceShape;
import io.farheap.server.contract.ServedSpace;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The edition of a map that one of its servers is in: which servers have the table, and where each region of it is. The
 * next edition is installed by a process that has sealed this one, which it can when all processes that are registered
 * have lost the servers that leave by it. Also what a server keeps in case the map's first is lost. One thread at a
 * time.
 */
final class TableEdition {

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
    private static final long MILLION = 1_000_000;

    private final MapDescriptor map;
    private final MapMembers members;

    private RegionDirectory layout;
    private long number;
    private long id;
    /** How many growths the map had when this edition began. */
    private int began;

    /** The lease of the process that has sealed this edition, and the servers that leave by the next; 0 if none has. */
    private long sealer;

    private long sealed;
    /** The highest time that a process has said it is, and when that was; and the highest history number. */
    private long toldTime;

    private long toldAt;
    private long toldHistory;

    TableEdition(MapDescriptor map, MapMembers members) {
        this.map = map;
        this.members = members;
        layout = RegionDirectory.of(map);
    }

    /** The map's growths: all of them on the map's first server, and copies of the confirmed ones on the others. */
    RegionDirectory layout() {
        return layout;
    }

    /** Whether this is the map's first server. */
    boolean isFirst() {
        return !map.joined() && layout.serverOfTable(0) == map.server();
    }

    long id() {
        return id;
    }

    boolean isSealed() {
        return sealer != 0;
    }

    boolean isSealedBy(long lease) {
        return sealer != 0 && sealer == lease;
    }

    /** A process has ended, or replaces no server after all. */
    void unseal(long lease) {
        sealer = sealer == lease ? 0 : sealer;
    }

    /** Whether these may be servers that have left, a bit for each of the first 64. */
    boolean mayRetire(long servers) {
        long all = map.servers() >= Long.SIZE ? -1L : (1L << map.servers()) - 1;
        return map.replaces() && (servers & ~all) == 0 && (servers & members.retired()) == members.retired();
    }

    /** @return words of the reply */
    int say(long[] reply) {
        reply[0] = MapCalls.OK;
        reply[1] = number;
        reply[2] = id;
        reply[3] = members.retired();
        reply[4] = began;
        reply[5] = layout.growths();
        reply[6] = members.gone() & ~members.retired();
        return 7;
    }

    /** The first server has a growth. @throws IllegalArgumentException if it does not follow */
    void grow(RegionDirectory.Growth growth) {
        layout = layout.with(growth);
    }

    /**
     * Keeps a copy of a growth.
     *
     * @return whether it is there
     */
    boolean copy(int at, RegionDirectory.Growth growth, boolean corrects) {
        if (at < layout.growths() && layout.growth(at).equals(growth)) {
            return true;
        }
        boolean ofEdition = growth.part() >= 0 || growth.leaves() && growth.server() < map.servers();
        if (at < 0 || at > layout.growths() || at < layout.growths() && !corrects || ofEdition) {
            return false;
        }
        try {
            layout = (at == layout.growths() ? layout : layout.first(at)).with(growth);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** A process says what the first server has said. */
    void told(long time, long history, long now) {
        if (time > timeAt(now)) {
            toldTime = time;
            toldAt = now;
        }
        toldHistory = Math.max(toldHistory, history);
    }

    private long timeAt(long now) {
        return toldTime == 0 ? 0 : toldTime + (now - toldAt);
    }

    /** The number of the next history entry, if this is the first server. */
    long history(ServedSpace space) {
        return isFirst() ? first(space).get(WORD, SpaceShape.HISTORY_COUNTER) : 0;
    }

    /** The highest number of a session that this server has given or been told. */
    private long session(ServedSpace space) {
        long told = space.region(0).get(WORD, SpaceShape.SESSION_COUNTER);
        return isFirst() ? Math.max(told, first(space).get(WORD, SpaceShape.SESSION_COUNTER)) : told;
    }

    private MemorySegment first(ServedSpace space) {
        return space.region(layout.indexOf(layout.tableAt(0)));
    }

    /**
     * Seals this edition for a process.
     *
     * @param lost the servers that are to leave, and those that have left; a bit for each of the first 64
     * @param atOnce whether they need not have been lost for the map's time
     * @return words of the reply
     */
    int seal(long lease, long lost, boolean atOnce, long now, ServedSpace space, long[] reply) {
        reply[0] = MapCalls.OK;
        if (lost == 0) {
            unseal(lease);
            return 1;
        }
        boolean here = map.server() < Long.SIZE && (lost >>> map.server() & 1) != 0;
        if (map.joined() || here || !mayRetire(lost)) {
            reply[0] = MapCalls.WRONG;
            return 1;
        }
        if (sealer != 0 && sealer != lease) {
            reply[0] = MapCalls.BUSY;
            return 1;
        }
        long nanos = atOnce ? 0 : map.replaceMillis() * MILLION;
        if (!members.haveLost(lost & ~members.retired(), nanos, now)) {
            reply[0] = MapCalls.IN_USE;
            return 1;
        }
        sealer = lease;
        sealed = lost;
        reply[1] = session(space);
        reply[2] = Math.max(toldHistory, history(space));
        reply[3] = timeAt(now);
        reply[4] = members.living().isEmpty() ? 0 : 1;
        return 5;
    }

    /**
     * Installs the next edition.
     *
     * @param next the map's regions in it
     * @param before how many growths it takes over
     * @return false if the process has not sealed this one, or it cannot follow
     */
    boolean install(long lease, long nextNumber, long nextId, int before, RegionDirectory next, ServedSpace space) {
        if (!isSealedBy(lease)
                || nextNumber <= number
                || next.retired() != sealed
                || next.regionsOf(map.server()) > space.regions()) {
            return false;
        }
        layout = next;
        number = nextNumber;
        id = nextId;
        began = before;
        sealer = 0;
        return true;
    }

    /**
     * The first server, which this one is in the edition that begins, counts from here at least. Also if the table's
     * first region keeps its number: an edition that was given up may have had it on another server.
     */
    void count(long session, long history, ServedSpace space) {
        MemorySegment page = first(space);
        raise(page, SpaceShape.SESSION_COUNTER, session);
        raise(page, SpaceShape.HISTORY_COUNTER, history);
    }

    private static void raise(MemorySegment page, long at, long least) {
        page.set(WORD, at, Math.max(least, page.get(WORD, at)));
    }
}
