package io.farheap.kv.leased.client;

import io.farheap.control.ControlException;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ReportRing;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteRegion;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a map's servers that this process alone may write: one region of each server, taken under the process's
 * lease when it is first needed, with which it goes. A value that needs pieces is written there, and copied by the
 * server, and so are reports if the process writes them; the map's own regions can only be read. Thread-safe.
 */
public final class ClientAreas {

    /** Parts are multiples of this. */
    private static final int CHUNK_BYTES = 64 << 10;

    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RemoteMemory remote;
    private final LeasedSpace space;
    private volatile ServerArea[] areas;
    private volatile boolean writesReports;

    /** The region of one server. Guarded by itself. */
    private static final class ServerArea {

        private final BitSet taken;
        private @Nullable RemoteRegion region;
        /** By the number of a session: the ring of its reports, which later sessions of that number have, too. */
        private @Nullable AreaPart @Nullable [] rings;
        /** Why there is none. */
        private String refused = "";

        private long askedAt;

        ServerArea(int chunks) {
            taken = new BitSet(chunks);
        }
    }

    /** A part of an area that a request has. One thread. */
    static final class AreaPart {

        /** Null if there is none. */
        @Nullable
        RemoteRegion region;

        long at;
        int bytes;
    }

    public ClientAreas(RemoteMemory remote, LeasedSpace space) {
        this.remote = remote;
        this.space = space;
        areas = new ServerArea[0];
        grow();
    }

    /** Servers may have joined. */
    final synchronized void grow() {
        ServerArea[] before = areas;
        int servers = space.servers();
        if (servers > before.length) {
            ServerArea[] more = Arrays.copyOf(before, servers);
            int chunks = chunks(space.map().regionBytes());
            for (int server = before.length; server < servers; server++) {
                more[server] = new ServerArea(chunks);
            }
            areas = more;
        }
    }

    /** Sessions write their reports from now on, or send them. */
    public void writeReports(boolean write) {
        writesReports = write;
    }

    boolean writesReports() {
        return writesReports;
    }

    /** The part of the area that has the reports of sessions of a number, or null if there is no room for it. */
    @Nullable
    AreaPart ring(int server, int session) {
        ServerArea area = areas[server];
        synchronized (area) {
            @Nullable AreaPart[] rings = area.rings;
            if (rings == null) {
                rings = new AreaPart[LeasedCalls.MOST_SESSIONS];
                area.rings = rings;
            }
            AreaPart known = rings[session];
            if (known != null && known.region == area.region) {
                return known;
            }
            AreaPart made = new AreaPart();
            if (!take(server, ReportRing.BYTES, made)) {
                return null;
            }
            rings[session] = made;
            return made;
        }
    }

    private static int chunks(long bytes) {
        return (int) Math.ceilDiv(bytes, CHUNK_BYTES);
    }

    /** Whether an area has room for a value if nothing else is there. */
    boolean mayHold(int bytes) {
        return chunks(bytes) <= space.map().regionBytes() / CHUNK_BYTES;
    }

    /**
     * Takes a part of the area at a server; waits for the server if it is the first.
     *
     * @param into receives the part
     * @return whether there is one; if not, and there is no {@link #refusal}, others have what there is
     */
    boolean take(int server, int bytes, AreaPart into) {
        ServerArea area = areas[server];
        synchronized (area) {
            RemoteRegion region = area.region != null ? area.region : allocate(server, area);
            if (region == null) {
                return false;
            }
            int most = (int) (region.usableBytes() / CHUNK_BYTES);
            int chunks = chunks(bytes);
            for (int from = area.taken.nextClearBit(0); from + chunks <= most; ) {
                int end = area.taken.nextSetBit(from);
                if (end < 0 || end - from >= chunks) {
                    area.taken.set(from, from + chunks);
                    into.region = region;
                    into.at = (long) from * CHUNK_BYTES;
                    into.bytes = bytes;
                    return true;
                }
                from = area.taken.nextClearBit(end);
            }
            return false;
        }
    }

    private @Nullable RemoteRegion allocate(int server, ServerArea area) {
        long now = System.nanoTime();
        if (!area.refused.isEmpty() && now - area.askedAt < AGAIN_NANOS) {
            return null;
        }
        area.askedAt = now;
        try {
            RemoteRegion region = remote.allocate(space.server(server), 1).getFirst();
            area.region = region;
            area.refused = "";
            return region;
        } catch (ControlException e) {
            area.refused =
                    ": no region of " + space.server(server) + " for long values on their way: " + e.getMessage();
            return null;
        }
    }

    /** Why a server has given no region; empty if it has, or was not asked. */
    String refusal(int server) {
        ServerArea area = areas[server];
        synchronized (area) {
            return area.region == null ? area.refused : "";
        }
    }

    /** Gives a part back, if there is one: nothing of this process writes it any more. */
    void give(int server, AreaPart part) {
        ServerArea area = areas[server];
        synchronized (area) {
            if (part.region != null && part.region == area.region) {
                int from = (int) (part.at / CHUNK_BYTES);
                area.taken.clear(from, from + chunks(part.bytes));
            }
            part.region = null;
        }
    }

    /** The server says that this process does not hold the region of a part: the next part is of another one. */
    void drop(int server, AreaPart part) {
        ServerArea area = areas[server];
        synchronized (area) {
            if (part.region == area.region) {
                area.region = null;
                area.taken.clear();
            }
            part.region = null;
        }
    }
}
