package io.farheap.server.space;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.Caller;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.server.budget.Budget;
import io.farheap.server.budget.Budgets;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.SpaceListener;
import io.farheap.server.contract.SpacePin;
import io.farheap.server.fence.Fence;
import io.farheap.server.fence.RetiredResources;
import io.farheap.server.lease.ClientLease;
import io.farheap.server.lease.Leases;
import io.farheap.server.lease.SpaceOpening;
import io.farheap.server.lease.SpaceOpenings;
import io.farheap.server.pool.RegionPool;
import io.farheap.server.thread.ServerThreads;
import io.farheap.thread.FailSafeLog;
import io.farheap.verbs.VerbsException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.collections.Hashing;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A server's shared spaces. Thread-safe. Its lock guards the set of spaces and is held only for moments; a space's own
 * lock is held while the device registers its memory.
 */
public final class Spaces implements SpacePlane, ServedSpaces {

    private static final System.Logger LOG = System.getLogger(Spaces.class.getName());
    /**
     * How long a call waits for the device before it leaves the rest to other threads: well below the caller's own
     * timeout.
     */
    private static final long PATIENCE_NANOS = 2_000_000_000L;
    /** How long {@link #stop} waits for services. */
    private static final long LAST_USES_NANOS = 2_000_000_000L;

    private final Leases leases;
    private final RegionPool pool;
    private final ServerThreads threads;
    private final Budgets budgets;
    private final RetiredResources retired;
    private final SpaceListeners listeners = new SpaceListeners();
    /** Whether a cache manager decides which regions a client may have. */
    private final BooleanSupplier managed;

    private final SecureRandom random = new SecureRandom();
    private final EndedSpaces ended = new EndedSpaces();
    private final Map<String, Space> byName = new HashMap<>();
    /** The map is never changed, but replaced. */
    // Several threads iterate over it at a time, so its cached iterator is off.
    private volatile Long2ObjectHashMap<Space> byId = new Long2ObjectHashMap<>(8, Hashing.DEFAULT_LOAD_FACTOR, false);

    private int lastNumber;
    private volatile boolean stopped;

    /** How many there are. */
    public int count() {
        return byId.size();
    }

    public Spaces(
            Leases leases,
            RegionPool pool,
            ServerThreads threads,
            Budgets budgets,
            RetiredResources retired,
            BooleanSupplier managed) {
        this.leases = leases;
        this.pool = pool;
        this.threads = threads;
        this.budgets = budgets;
        this.retired = retired;
        this.managed = managed;
    }

    @Override
    public SpaceGrant create(
            long leaseId,
            SpaceKey key,
            int regions,
            long millis,
            byte[] descriptor,
            long creationId,
            boolean readOnly) {
        SpaceOpenings lease = leases.require(leaseId).spaces();
        if (managed.getAsBoolean()) {
            throw new ControlException(
                    Code.GRANT_REFUSED,
                    "this server has a cache manager, which grants memory to caches alone; create the space on a "
                            + "server without one");
        }
        requireRegions(regions);
        requireMillis(millis);
        if (descriptor.length > MAX_DESCRIPTOR_BYTES) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a space's descriptor of " + descriptor.length + " bytes; it has at most " + MAX_DESCRIPTOR_BYTES);
        }
        Space space;
        boolean mine;
        synchronized (this) {
            Space there = created(key, creationId);
            mine = there == null;
            space = there == null ? make(key, regions, millis, descriptor, creationId, readOnly) : there;
        }
        boolean opened = false;
        try {
            SpaceGrant grant = open(lease, leaseId, space);
            opened = true;
            return grant;
        } finally {
            if (mine && !opened && space.end(false)) {
                end(space);
            }
        }
    }

    /** The space that an earlier call with that number created, or null. */
    private @Nullable Space created(SpaceKey key, long creationId) {
        requireRunning();
        Space there = byName.get(key.name());
        if (there != null && there.creationId() == creationId && opens(key, there.tokenHash())) {
            return there;
        }
        if (there != null) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "there is a space named " + key.name()
                            + " already; open it, if you have its token, or choose another name");
        }
        if (ended.created(creationId)) {
            throw new ControlException(Code.NOT_FOUND, "the space that was created by this call has ended since");
        }
        return null;
    }

    private Space make(SpaceKey key, int regions, long millis, byte[] descriptor, long creationId, boolean readOnly) {
        Budget.Loan loan = budgets.spaces().lend(Caller.current(), null, 1);
        try {
            int[] taken = pool.take(regions);
            // Adjacent regions share a registration.
            Arrays.sort(taken);
            Space made = new Space(
                    newId(), key.name(), key.tokenHash(), descriptor, creationId, readOnly, taken, millis, pool, loan);
            byName.put(made.name(), made);
            var more = new Long2ObjectHashMap<>(byId);
            more.put(made.id(), made);
            byId = more;
            return made;
        } catch (Throwable e) {
            loan.close();
            throw e;
        }
    }

    /** The high half cannot be guessed, and the low half counts: so no other space has the id. */
    private synchronized long newId() {
        return (long) random.nextInt() << Integer.SIZE | Integer.toUnsignedLong(++lastNumber);
    }

    @Override
    public SpaceGrant open(long leaseId, SpaceKey key) {
        SpaceOpenings lease = leases.require(leaseId).spaces();
        return open(lease, leaseId, require(key));
    }

    private SpaceGrant open(SpaceOpenings lease, long leaseId, Space space) {
        return onDevice(() -> space.open(
                lease,
                () -> new SpaceOpening(
                        newId(),
                        space.id(),
                        leaseId,
                        space.readOnly(),
                        (opening, clean) -> left(lease, space, opening, clean))));
    }

    @Override
    public SpaceGrowth grow(long leaseId, SpaceKey key, int regions, long growthId) {
        SpaceOpenings lease = leases.require(leaseId).spaces();
        Space space = require(key);
        requireRegions(regions);
        return onDevice(() -> space.grow(lease, regions, growthId));
    }

    private static <T> T onDevice(Supplier<@Nullable T> call) {
        try {
            T answer = call.get();
            if (answer == null) {
                throw unknown();
            }
            return answer;
        } catch (VerbsException e) {
            throw new ControlException(Code.INTERNAL, "the server's device refused: " + e.getMessage(), e);
        }
    }

    @Override
    public long extend(long leaseId, SpaceKey key, long millis) {
        leases.require(leaseId);
        requireMillis(millis);
        Space space = require(key);
        if (!space.extend(millis)) {
            throw unknown();
        }
        return space.millisLeft();
    }

    @Override
    public void close(long leaseId, long openingId) {
        ClientLease lease = leases.find(leaseId);
        SpaceOpening opening = lease == null ? null : lease.spaces().leave(openingId);
        if (opening == null) {
            return;
        }
        // Services do not find the lease any more, and their work for it ends before its registrations do.
        Fence fence = new Fence("a client");
        fence.add("the server threads", threads::barrier);
        fence.add("the registrations of a space", opening);
        finish("an opening of a space", fence, () -> opening.gone(true));
    }

    @Override
    public void drop(long leaseId, SpaceKey key, long spaceId) {
        leases.require(leaseId);
        if (spaceId != ANY_SPACE && ended.ended(spaceId, key)) {
            return;
        }
        Space space = require(key);
        if (spaceId != ANY_SPACE && space.id() != spaceId) {
            throw unknown();
        }
        if (space.end(false)) {
            endKnown(space);
        }
    }

    /** As {@link #end}, and remembers that the space has existed. */
    private void endKnown(Space space) {
        try {
            ended.add(space);
        } finally {
            end(space);
        }
    }

    @Override
    public List<SpaceInfo> list(long leaseId) {
        leases.require(leaseId);
        List<SpaceInfo> all = new ArrayList<>();
        for (Space space : byId.values()) {
            all.add(new SpaceInfo(space.name(), space.regions(), space.millisLeft(), space.leases()));
        }
        all.sort(Comparator.comparing(SpaceInfo::name));
        return all;
    }

    /**
     * The thread whose {@link Space#end} returned true calls this, once. No other thread does, so every step that may
     * fail is part of the fence or of the rest, which are tried again.
     */
    private void end(Space space) {
        Fence fence = new Fence("space " + space.name());
        fence.add("the name of a space", () -> {
            forget(space);
            space.cutOff(fence);
        });
        fence.nextStage();
        fence.add("the server threads", threads::barrier);
        finish("space " + space.name(), fence, () -> {
            space.fenced();
            listeners.spaceEnded(space.id());
            List<Integer> regions = space.takeRegions();
            if (fence.failed() || space.tainted()) {
                LOG.log(
                        System.Logger.Level.ERROR,
                        regions.size() + " region(s) of space " + space.name() + " are withdrawn");
            } else if (!stopped) {
                pool.expect(regions.size());
                pool.giveBackLater(regions);
            }
        });
    }

    private synchronized void forget(Space space) {
        byName.remove(space.name(), space);
        var fewer = new Long2ObjectHashMap<>(byId);
        fewer.remove(space.id());
        byId = fewer;
    }

    /**
     * Closes a fence, and then runs the rest: now, or when the device is done. It is tried again even after an error,
     * such as lack of memory, which the caller receives.
     */
    private void finish(String what, Fence fence, Runnable rest) {
        boolean done = false;
        try {
            done = closedPatiently(fence);
            if (done) {
                rest.run();
            } else {
                LOG.log(
                        System.Logger.Level.WARNING,
                        what + " has ended, but an operation on it is still under way, as if a process were stopped; "
                                + "its resources stay withdrawn until that operation ends");
            }
        } catch (Throwable e) {
            done = false;
            throw e;
        } finally {
            if (!done) {
                retired.add(what, () -> {
                    boolean closed = fence.close();
                    if (closed) {
                        rest.run();
                    }
                    return closed;
                });
            }
        }
    }

    private static boolean closedPatiently(Fence fence) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!fence.close()) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            LockSupport.parkNanos(1_000_000L);
        }
        return true;
    }

    /** An opening has ended: it does not reach its space any more. */
    private void left(SpaceOpenings lease, Space space, SpaceOpening opening, boolean clean) {
        if (!clean) {
            space.taint();
        }
        if (!space.ended()) {
            listeners.openingEnded(space.id(), opening.leaseId());
        }
        space.left(opening);
        lease.forget(opening);
    }

    /** Ends the spaces whose lifetime has passed. Never waits: they end on another executor. */
    public void expire(Executor elsewhere) {
        for (Space space : byId.values()) {
            if (space.beginExpiring()) {
                boolean handed = false;
                try {
                    elsewhere.execute(() -> endIfOver(space));
                    handed = true;
                } finally {
                    if (!handed) {
                        space.expired();
                    }
                }
            }
        }
    }

    private void endIfOver(Space space) {
        try {
            if (space.end(true)) {
                FailSafeLog.log(LOG, System.Logger.Level.INFO, () -> "space " + space.name() + " has expired");
                endKnown(space);
            }
        } catch (Throwable e) {
            FailSafeLog.log(LOG, "an error while space " + space.name() + " was ended", e);
        } finally {
            space.expired();
        }
    }

    private synchronized Space require(SpaceKey key) {
        requireRunning();
        Space space = byName.get(key.name());
        // Compared even if there is no such space, so that the time of the call does not show which of the two was
        // wrong.
        boolean right = opens(key, space == null ? key.tokenHash() : space.tokenHash());
        if (space == null || !right || space.ended()) {
            throw unknown();
        }
        return space;
    }

    private static boolean opens(SpaceKey key, byte[] tokenHash) {
        return MessageDigest.isEqual(key.tokenHash(), tokenHash);
    }

    private static ControlException unknown() {
        return new ControlException(
                Code.NOT_FOUND,
                "no space has that name and that token: it was never created, was dropped, has expired, or the server "
                        + "was restarted");
    }

    private static void requireRegions(int regions) {
        if (regions < 1) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT, regions + " regions asked for a space; ask for at least 1");
        }
    }

    private static void requireMillis(long millis) {
        if (millis < 0 || millis > MAX_MILLIS) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a space's lifetime of " + millis + " ms; it may be 1 to " + MAX_MILLIS + ", or 0 for ever");
        }
    }

    private void requireRunning() {
        if (stopped) {
            throw new ControlException(Code.CANCELLED, "the server is stopping");
        }
    }

    @Override
    public @Nullable ServedSpace find(long spaceId) {
        Space space = byId.get(spaceId);
        return space == null || space.ended() ? null : space;
    }

    @Override
    public @Nullable SpacePin use(long spaceId) {
        Space space = byId.get(spaceId);
        return space == null || !space.use() ? null : new Use(space);
    }

    private static final class Use implements SpacePin {

        private final Space space;
        private boolean closed;

        Use(Space space) {
            this.space = space;
        }

        @Override
        public ServedSpace space() {
            return space;
        }

        @Override
        public boolean ended() {
            return space.ended();
        }

        @Override
        public synchronized void close() {
            if (!closed) {
                closed = true;
                space.unuse();
            }
        }
    }

    @Override
    public void listen(SpaceListener listener) {
        listeners.add(listener);
    }

    /**
     * Ends all spaces with the server, before the leases, whose end takes the registrations. Takes bounded time.
     *
     * @return whether no service uses a space any more; if false, their memory must stay as long as the process
     */
    public boolean stop() {
        List<Space> all;
        synchronized (this) {
            stopped = true;
            all = List.copyOf(byId.values());
        }
        all.forEach(space -> space.end(false));
        long deadline = System.nanoTime() + LAST_USES_NANOS;
        while (all.stream().anyMatch(Space::used)) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            LockSupport.parkNanos(1_000_000L);
        }
        return true;
    }
}
