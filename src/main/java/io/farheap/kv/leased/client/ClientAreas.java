package io.farheap.kv.leased.client;

import io.farheap.remote.RemoteMemory;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a map's servers that this process alone may write: one region of each server, taken under the process's
 * lease when it is first needed, with which it goes. A value that needs pieces is written there, and copied by the
 * server, and so are reports if the process writes them; the map's own regions can only be read. Thread-safe.
 */
public final class ClientAreas {

    /** A request ends that has waited for so long for a part, as other sessions have them and may not be polled. */
    static final long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final RemoteMemory remote;
    private final LeasedSpace space;
    private volatile ServerArea[] areas;
    private volatile boolean writesReports;

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
            for (int i = before.length; i < servers; i++) {
                int server = i;
                more[server] = new ServerArea(
                        () -> remote.allocate(space.server(server), 1).getFirst(),
                        () -> space.server(server).toString(),
                        space.map().regionBytes(),
                        System::nanoTime);
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
        return areas[server].ring(session);
    }

    /** Whether an area has room for a value if no other one is there. */
    boolean mayHold(int server, int bytes) {
        return areas[server].mayHold(bytes);
    }

    /**
     * Takes a part of the area at a server, in the order in which requests ask for one.
     *
     * @param into receives the part
     * @return whether there is one; if not, and there is no {@link #refusal}, others have what there is, or the server
     *     is asked for the area
     */
    boolean take(int server, int bytes, AreaPart into) {
        return areas[server].take(bytes, into);
    }

    /** Whether a part is of the area as it is now. */
    boolean has(int server, AreaPart part) {
        return areas[server].has(part);
    }

    /** Whether a server is asked for its region now. */
    boolean isAsking(int server) {
        return areas[server].isAsking();
    }

    /** Why a server has given no region; empty if it has, or is asked. */
    String refusal(int server) {
        return areas[server].refusal();
    }

    /** Gives a part back, if there is one, or it is waited for: nothing of this process writes it any more. */
    void give(int server, AreaPart part) {
        areas[server].give(part);
    }

    /** The server says that this process does not hold the region of a part: the next part is of another one. */
    void drop(int server, AreaPart part) {
        areas[server].drop(part);
    }
}
