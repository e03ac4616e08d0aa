package io.farheap.cache.calls;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.region.RegionEntry;
import io.farheap.migration.region.RegionTable;
import io.farheap.procedure.Call;
import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.OpenDevice;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The procedures of a cache on its servers, and the copies of its region table that the servers have (CompuCache's
 * LocalTranslator).
 *
 * <p><b>While a region moves.</b> The migrating thread stores its number in {@code moving}, and then sends a table
 * without the region to the servers that have it. A server answers when no call uses an earlier table any more: from
 * then on no procedure reads or writes the region, and it is copied. A call that accesses the region returns to its
 * session, which sees {@code moving} and keeps the call. When the region has moved, the thread sends the new table,
 * clears {@code moving}, and wakes the sessions, which continue the calls that they kept. A cache without procedures
 * sends no tables.
 *
 * <p>A thread that calls servers about procedures holds {@code lock}. Sessions read {@code moving} and the procedures'
 * lists of servers without it, and never wait.
 */
public final class CacheProcedures implements AutoCloseable {

    private static final int NONE = -1;

    private final OpenDevice device;
    private final RegionTable table;
    private final List<RemoteServer> servers;
    /** Wakes sessions, so that they look at the calls that they keep. */
    private final Runnable resume;

    private final CallTally tally = new CallTally();
    private final Runnable statistics;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<RegisteredProcedure> all = new CopyOnWriteArrayList<>();
    private final List<ProcedureServer> told = new ArrayList<>();
    private final int[] generations = new int[CallFormat.SLOTS];
    private long version;
    private volatile int moving = NONE;
    /** Whether a procedure has ever been registered: servers receive the table from then on. */
    private volatile boolean used;

    private boolean closed;

    /** A server, and the table that it has confirmed last; null if that is unknown. */
    private static final class ProcedureServer {
        final RemoteServer server;
        ProcedureServiceClient line;
        int @Nullable [] regions;

        ProcedureServer(RemoteServer server, ProcedureServiceClient line) {
            this.server = server;
            this.line = line;
        }
    }

    /**
     * @param name of the cache
     * @param servers the servers that the cache uses now
     */
    public CacheProcedures(
            String name, OpenDevice device, RegionTable table, List<RemoteServer> servers, Runnable resume) {
        this.device = device;
        this.table = table;
        this.servers = servers;
        this.resume = resume;
        this.statistics = () -> CallStatisticsEvent.emit(name, tally.now());
    }

    /** Counts the cache's calls. */
    public CallTally tally() {
        return tally;
    }

    /** The region that is moving, or -1. Read by sessions. */
    int moving() {
        return moving;
    }

    boolean has(RegisteredProcedure procedure) {
        return procedure.owner() == this;
    }

    public List<RegisteredProcedure> all() {
        return List.copyOf(all);
    }

    /**
     * Registers a procedure on all servers, or on none.
     *
     * @param maker makes the procedure's object
     */
    public <P extends RegisteredProcedure> P register(
            Translation translation, byte[] classFile, int flags, RegisteredProcedure.Maker<P> maker) {
        lock.lock();
        try {
            checkOpen();
            if (!used) {
                used = true;
                FlightRecorder.addPeriodicEvent(CallStatisticsEvent.class, statistics);
            }
            P procedure = maker.make(this, freeId(), flags, translation, classFile);
            List<ProcedureServer> having = new ArrayList<>();
            try {
                for (RemoteServer server : servers) {
                    if (server.lost() == null) {
                        ProcedureServer to = line(server);
                        having.add(to);
                        register(to, procedure);
                        tell(to, moving);
                    }
                }
            } catch (ControlException | CacheException e) {
                having.forEach(server -> forget(server, procedure));
                throw e instanceof CacheException known
                        ? known
                        : new CacheException("cannot register " + procedure + ": " + e.getMessage(), e);
            }
            all.add(procedure);
            return procedure;
        } finally {
            lock.unlock();
        }
    }

    private int freeId() {
        for (int slot = 0; slot < CallFormat.SLOTS; slot++) {
            int candidate = slot;
            if (all.stream().noneMatch(other -> CallFormat.slot(other.id()) == candidate)) {
                return slot + CallFormat.SLOTS * (generations[slot]++ & 0xFFFFF);
            }
        }
        throw new CacheException(
                "the cache has " + CallFormat.SLOTS + " procedures, as many as it may: unregister one");
    }

    private static void register(ProcedureServer to, RegisteredProcedure procedure) {
        ProcedureServiceClient.Registration made =
                to.line.register(procedure.id(), procedure.flags() & CallFormat.READS, procedure.classFile());
        switch (made.outcome()) {
            case CallFormat.REGISTERED -> procedure.servedBy(to.server, "");
            case CallFormat.NOT_SERVED -> procedure.servedBy(to.server, made.why());
            default ->
                throw new CacheException("memory server " + to.server + " refuses " + procedure + ": " + made.why());
        }
    }

    private static void forget(ProcedureServer server, RegisteredProcedure procedure) {
        try {
            server.line.unregister(procedure.id());
        } catch (ControlException e) {
            // The registration ends with the lease.
        }
        procedure.forget(server.server);
    }

    public void unregister(RegisteredProcedure procedure) {
        lock.lock();
        try {
            if (all.remove(procedure)) {
                procedure.unregister();
                told.forEach(server -> forget(server, procedure));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Prepares a server that the cache has added, before it gets a region. */
    public void join(RemoteServer server) {
        if (!used) {
            return;
        }
        lock.lock();
        try {
            ProcedureServer to = line(server);
            for (RegisteredProcedure procedure : all) {
                register(to, procedure);
            }
            tell(to, moving);
        } finally {
            lock.unlock();
        }
    }

    /** Forgets a server that the cache leaves. */
    public void leave(RemoteServer server) {
        lock.lock();
        try {
            all.forEach(procedure -> procedure.forget(server));
            for (ProcedureServer each : List.copyOf(told)) {
                if (each.server == server) {
                    told.remove(each);
                    each.line.close();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Moves a region while no procedure uses it.
     *
     * @throws ControlException if a server that has it does not answer; nothing has moved then
     */
    public <T> T moving(int region, Supplier<T> move) {
        withdraw(region);
        try {
            return move.get();
        } finally {
            settle();
        }
    }

    private void withdraw(int region) {
        lock.lock();
        try {
            moving = region;
            for (ProcedureServer each : told) {
                int[] known = each.regions;
                if (known == null || region < known.length && known[region] >= 0) {
                    tell(each, moving);
                }
            }
        } catch (Throwable e) {
            Closeables.after(e, this::settle);
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sends the present table to the servers that have another one; a server that does not answer keeps the one before.
     * Then ends {@code moving}.
     */
    public void settle() {
        lock.lock();
        try {
            for (ProcedureServer each : told) {
                if (each.server.lost() == null && !Arrays.equals(each.regions, regions(each.server, NONE))) {
                    tellOrLeave(each);
                }
            }
        } finally {
            // Last: earlier, sessions would send calls to servers that do not have the new table yet.
            moving = NONE;
            lock.unlock();
            resume.run();
        }
    }

    private void tellOrLeave(ProcedureServer server) {
        try {
            tell(server, NONE);
        } catch (ControlException | VerbsException e) {
            // The server does not know its new region: calls that access it return, and sessions make these accesses
            // themselves.
        }
    }

    /** Sends a table. The entry for the previous one is cleared first, since the answer may be lost. */
    private void tell(ProcedureServer to, int without) {
        int[] regions = regions(to.server, without);
        to.regions = null;
        if (to.server.lost() != null) {
            return;
        }
        try {
            to.line.map(++version, regions);
        } catch (ControlException e) {
            if (to.server.lost() != null) {
                return;
            }
            reconnect(to);
            to.line.map(++version, regions);
        }
        to.regions = regions;
    }

    private void reconnect(ProcedureServer to) {
        // Connect first: if that fails, the old, failed line stays and the next call tries again.
        ProcedureServiceClient next = connect(to.server);
        to.line.close();
        to.line = next;
    }

    /** @param without a region to leave out */
    private int[] regions(RemoteServer server, int without) {
        int[] regions = new int[table.size()];
        for (int i = 0; i < regions.length; i++) {
            RegionEntry entry = table.get(i);
            boolean here = i != without && !entry.isSplit() && entry.copy().server() == server;
            regions[i] = here ? entry.copy().regionId() : NONE;
        }
        return regions;
    }

    private ProcedureServer line(RemoteServer server) {
        for (ProcedureServer each : told) {
            if (each.server == server) {
                if (each.line.failed()) {
                    reconnect(each);
                }
                return each;
            }
        }
        ProcedureServer made = new ProcedureServer(server, connect(server));
        told.add(made);
        return made;
    }

    private ProcedureServiceClient connect(RemoteServer server) {
        return new ProcedureServiceClient(device.context(), server, device.lifetime()::closesLater);
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the cache is deleted");
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            FlightRecorder.removePeriodicEvent(statistics);
            Closeables.all(told.stream().map(each -> each.line).toList());
            told.clear();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Checks the procedure and the lengths of a call.
     *
     * @throws IllegalArgumentException naming the wrong value
     */
    void requireCall(RegisteredProcedure called, int argumentLength, int resultLength) {
        if (!called.registered() || !has(called)) {
            throw new IllegalArgumentException(
                    called + " is not registered with this cache; Cache.procedures().register(...) does that");
        }
        if (argumentLength < 0
                || argumentLength > Call.ARGUMENT_BYTES
                || resultLength < 0
                || resultLength > Call.RESULT_BYTES) {
            throw new IllegalArgumentException(tooLong(argumentLength, resultLength));
        }
    }

    public static String tooLong(long argumentBytes, long resultBytes) {
        return argumentBytes + " bytes of arguments and " + resultBytes + " for the result; a call has 0 to "
                + Call.ARGUMENT_BYTES + " of each";
    }
}
