package io.farheap.kv.leased.client;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.FailSafeLog;
import io.farheap.thread.ThreadJoiner;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A process is registered with the servers of a leased map, and tells each of them, once a second, which of the others
 * it has lost: others may have the keys of these as soon as all processes say so. If servers join or leave, it learns
 * of that, registers again, and has its sessions use the map as it is then. It has a thread of its own.
 */
public final class LeasedMembership implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeasedMembership.class.getName());
    private static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The same while a server is lost, or the map's servers change, so that others hear of that soon. */
    private static final long OFTEN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** While a session waits for a key that is on another server now. */
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    /** A process that changes the map's servers for so long has ended, or another one is to complete what it began. */
    private static final long REPAIR_NANOS = TimeUnit.SECONDS.toNanos(3);
    /** Sessions have nothing in flight to a server that has left, after so long. */
    private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final long CLOSE_MILLIS = 10_000;

    private final RemoteMemory remote;
    private final LeasedSpace space;
    private final ShardLines lines;
    private final ShardReplacer.JoinedServers joins;
    private final TreeMap<Integer, MapServiceClient> servers = new TreeMap<>();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("farheap-leased-map").unstarted(this::run);
    /** Servers that have left, and when the leases on them end; and threads that end them. */
    private final Deque<Left> left = new ArrayDeque<>();

    private final List<Thread> leaving = new ArrayList<>();
    /** The parts of the map on servers that join, until the process uses these. */
    private final TreeMap<Integer, RemoteSpace> joining = new TreeMap<>();

    /** Whether a session waits for a key. */
    private volatile boolean asked;

    private volatile boolean closed;
    /** Whether the servers are not in the edition that the process uses, and since when. */
    private boolean differs;

    private long differSince = System.nanoTime();
    /** Whether the last attempt to use another edition has failed. */
    private boolean failed;

    private record Left(RemoteServer server, long at) {}

    /**
     * Registers the process.
     *
     * @param lines to the servers; closed with this, and if this throws an exception
     * @param joins reaches servers that join later
     * @throws MapException if a server refuses or does not answer
     */
    public LeasedMembership(
            RemoteMemory remote, LeasedSpace space, ShardLines lines, ShardReplacer.JoinedServers joins) {
        this.remote = remote;
        this.space = space;
        this.lines = lines;
        this.joins = joins;
        try {
            ShardReplacer.UsedEdition edition = space.edition();
            edition.spaces().forEach((number, each) -> servers.put(number, lines.to(each, number)));
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
                ? new MapException(line.space.server() + " says that a lost server of the map is being replaced, or "
                        + "that another one joins or leaves: try again")
                : ShardLines.unanswered(line.space);
    }

    /** Begins to say that the process lives. */
    public void start() {
        space.onElsewhere(this::look);
        thread.start();
    }

    /** The map's servers may have changed. Any thread. */
    private void look() {
        if (!asked) {
            asked = true;
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        while (!closed) {
            long lost = lost();
            failed = false;
            try {
                boolean look = asked;
                asked = false;
                for (MapServiceClient line : servers.values()) {
                    if (!closed && !line.lost() && line.with(1, lost).call(ShardCalls.BEAT, 2)) {
                        look |= line.reply(1) != space.edition().id();
                    }
                }
                if (look && !closed && !anyLost()) {
                    follow();
                } else {
                    differs = false;
                }
                leave();
            } catch (Throwable e) {
                // An Error too: other processes wait for one that lives and says nothing.
                failed = true;
                boolean expected = e instanceof MapException || e instanceof ControlException;
                FailSafeLog.log(
                        LOG,
                        expected ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                        () -> "a leased map's servers change, and this process does not know yet how: " + e);
                forgetJoining();
            }
            if (failed && !closed) {
                // Sessions ask again each few ms: no call of theirs ends the rest after an attempt in vain.
                asked = true;
                LockSupport.parkNanos(this, 1);
                LockSupport.parkNanos(this, rest(lost));
            } else if (!closed && !asked) {
                LockSupport.parkNanos(this, rest(lost));
            }
        }
    }

    private long rest(long lost) {
        if (differs && !failed) {
            return SOON_NANOS;
        }
        return failed || anyLost() || lost != lostBefore() ? OFTEN_NANOS : BEAT_NANOS;
    }

    private boolean anyLost() {
        return servers.values().stream().anyMatch(MapServiceClient::lost);
    }

    /** Uses the map in the edition that its servers are in, if they agree; if they do not for long, has them agree. */
    private void follow() {
        long now = System.nanoTime();
        differSince = differs ? differSince : now;
        differs = true;
        ShardReplacer replacer = replacer();
        ShardReplacer.UsedEdition found = replacer.find();
        // If a thread of this process changes the servers, its seals are not another thread's to use or to end.
        if (found == null
                && now - differSince > REPAIR_NANOS
                && space.changing().tryLock()) {
            try {
                found = replacer.agree();
            } finally {
                space.changing().unlock();
            }
        }
        if (found == null) {
            return;
        }
        if (found.id() != space.edition().id()) {
            use(found);
        }
        differs = false;
    }

    private ShardReplacer replacer() {
        TreeMap<Integer, RemoteSpace> made =
                new TreeMap<>(space.edition().spaces().headMap(space.map().servers()));
        return new ShardReplacer(lines, space.map(), this::open, made, 0, false, "");
    }

    private @Nullable RemoteSpace open(int number, String address) {
        RemoteSpace known = space.edition().spaces().get(number);
        if (known == null) {
            known = joining.get(number);
        }
        if (known == null) {
            known = joins.open(number, address);
            if (known != null) {
                joining.put(number, known);
            }
        }
        return known;
    }

    /** Ends what was begun with servers that join. */
    private void forgetJoining() {
        joining.forEach((number, each) -> {
            lines.leave(number);
            detach(each.server());
        });
        joining.clear();
    }

    /** On a thread of its own, since a server that hangs must not delay others. */
    private void detach(RemoteServer server) {
        leaving.removeIf(each -> !each.isAlive());
        leaving.add(Thread.ofVirtual().name("farheap-leased-leave").start(() -> remote.detach(server)));
    }

    private void use(ShardReplacer.UsedEdition edition) {
        ShardReplacer.UsedEdition before = space.edition();
        for (Map.Entry<Integer, RemoteSpace> each : edition.spaces().entrySet()) {
            if (!before.spaces().containsKey(each.getKey())) {
                remote.connectQueues(each.getValue().server());
            }
        }
        for (Map.Entry<Integer, RemoteSpace> each : edition.spaces().entrySet()) {
            register(lines.to(each.getValue(), each.getKey()), edition.id());
        }
        space.use(edition);
        edition.spaces().forEach((number, each) -> servers.put(number, lines.to(each, number)));
        edition.spaces().keySet().forEach(joining::remove);
        forgetJoining();
        for (Map.Entry<Integer, RemoteSpace> each : before.spaces().entrySet()) {
            if (!edition.spaces().containsKey(each.getKey())) {
                servers.remove(each.getKey());
                lines.leave(each.getKey());
                left.add(new Left(each.getValue().server(), System.nanoTime() + LEAVE_NANOS));
            }
        }
    }

    /** Ends leases on servers that have left, when sessions have nothing in flight there. */
    private void leave() {
        Left first = left.peek();
        if (first != null && System.nanoTime() - first.at > 0) {
            left.remove();
            detach(first.server);
        }
    }

    /**
     * The servers to which this process posts nothing any more, and those that it does not know, a bit for each of the
     * first 64.
     */
    private long lost() {
        long bits = lostBefore();
        for (Map.Entry<Integer, MapServiceClient> each : servers.entrySet()) {
            if (each.getKey() < Long.SIZE && each.getValue().isAbandoned()) {
                bits |= 1L << each.getKey();
            }
        }
        return bits;
    }

    /** The servers that have left, and those that join later. */
    private long lostBefore() {
        ShardReplacer.UsedEdition edition = space.edition();
        int known = edition.directory().servers();
        return edition.directory().retired() | (known >= Long.SIZE ? 0 : -1L << known);
    }

    /** Whether the thread ends soon, as it does unless a server does not answer it. */
    private boolean hasEnded() {
        LockSupport.unpark(thread);
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    /** Ends the thread and the calls; the servers keep the process registered until its leases end. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (thread.getState() != Thread.State.NEW && !hasEnded()) {
            // The thread still uses the lines, which end with the map's memory then.
            return;
        }
        leaving.forEach(ThreadJoiner::join);
        lines.close();
    }
}
