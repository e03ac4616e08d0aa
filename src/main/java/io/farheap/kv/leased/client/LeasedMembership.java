package io.farheap.kv.leased.client;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.lifetime.Closeables;
import io.farheap.thread.FailSafeLog;
import io.farheap.thread.ThreadJoiner;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process is registered with the servers of a leased map, and tells each of them, once a second, which of the others
 * it has lost: others may have the keys of these as soon as all processes say so. It has a thread of its own.
 */
public final class LeasedMembership implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeasedMembership.class.getName());
    private static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The same while a server is lost, so that others hear of that soon. */
    private static final long OFTEN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ShardLines lines;
    private final TreeMap<Integer, MapServiceClient> servers = new TreeMap<>();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("farheap-leased-map").unstarted(this::run);
    private volatile boolean closed;

    /**
     * Registers the process.
     *
     * @param lines to the servers; closed with this, and if this throws an exception
     * @throws MapException if a server refuses or does not answer
     */
    public LeasedMembership(ShardLines lines, ShardReplacer.UsedEdition edition) {
        this.lines = lines;
        try {
            edition.spaces().forEach((number, space) -> servers.put(number, lines.to(space, number)));
            for (MapServiceClient line : servers.values()) {
                register(line, edition.id());
            }
        } catch (Throwable e) {
            Closeables.after(e, lines);
            throw e;
        }
    }

    private static void register(MapServiceClient line, long edition) {
        if (line.with(1, edition).callFirst(ShardCalls.REGISTER, 2)) {
            return;
        }
        boolean changes = line.answered() && (line.reply(0) == MapCalls.BUSY || line.reply(0) == MapCalls.STALE);
        throw changes
                ? new MapException(line.space.server() + " says that a lost server of the map is being replaced: try "
                        + "again")
                : ShardLines.unanswered(line.space);
    }

    /** Begins to say that the process lives. */
    public void start() {
        thread.start();
    }

    private void run() {
        while (!closed) {
            long lost = lost();
            try {
                for (MapServiceClient line : servers.values()) {
                    if (!closed && !line.lost()) {
                        line.with(1, lost).call(ShardCalls.BEAT, 2);
                    }
                }
            } catch (Throwable e) {
                // An Error too: other processes wait for one that lives and says nothing.
                FailSafeLog.log(LOG, "a process says to a leased map's servers again which it has lost", e);
            }
            if (!closed) {
                LockSupport.parkNanos(this, lost == 0 ? BEAT_NANOS : OFTEN_NANOS);
            }
        }
    }

    /** The servers to which this process posts nothing any more, a bit for each of the first 64. */
    private long lost() {
        long bits = 0;
        for (Map.Entry<Integer, MapServiceClient> each : servers.entrySet()) {
            if (each.getKey() < Long.SIZE && each.getValue().isAbandoned()) {
                bits |= 1L << each.getKey();
            }
        }
        return bits;
    }

    /** Ends the thread and the calls; the servers keep the process registered until its leases end. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (thread.getState() != Thread.State.NEW) {
            LockSupport.unpark(thread);
            ThreadJoiner.join(thread);
        }
        lines.close();
    }
}
