package io.farheap.server.space;

import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.posix.Errno;
import io.farheap.server.budget.Budget;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.fence.Fence;
import io.farheap.server.lease.SpaceOpening;
import io.farheap.server.lease.SpaceOpenings;
import io.farheap.server.pool.RegionPool;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.agrona.collections.Hashing;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One shared space. Its lock guards its regions, its openings and its end time, and is held while registrations are
 * made; services query it without a lock. Thread-safe.
 */
final class Space implements ServedSpace {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final MemorySegment[] NONE = {};

    private final long id;
    private final String name;
    private final byte[] tokenHash;
    private final byte[] descriptor;
    private final long creationId;
    private final boolean readOnly;
    private final RegionPool pool;
    private final Budget.Loan loan;
    private int[] regions;
    private volatile MemorySegment[] segments = NONE;
    /** First region and number of regions of each growth, by the number that its client chose. */
    private final Map<Long, int[]> growths = new HashMap<>();
    /** By lease; the map is never changed, but replaced. */
    // Several threads iterate over it at a time, so its cached iterator is off.
    private volatile Long2ObjectHashMap<SpaceOpening> openings =
            new Long2ObjectHashMap<>(8, Hashing.DEFAULT_LOAD_FACTOR, false);
    /** By {@link System#nanoTime}; not used if the space lives for ever. */
    private volatile long endsAt;

    private volatile boolean forEver;
    private volatile boolean ended;
    private final AtomicInteger uses = new AtomicInteger();
    /** The thread that looks for expired spaces has handed it on. */
    private final AtomicBoolean expiring = new AtomicBoolean();
    /** A lease may reach its memory for good. */
    private volatile boolean tainted;

    /** @param loan of a space; given back in {@link #takeRegions} */
    Space(
            long id,
            String name,
            byte[] tokenHash,
            byte[] descriptor,
            long creationId,
            boolean readOnly,
            int[] regions,
            long millis,
            RegionPool pool,
            Budget.Loan loan) {
        this.id = id;
        this.name = name;
        this.tokenHash = tokenHash;
        this.descriptor = descriptor.clone();
        this.creationId = creationId;
        this.readOnly = readOnly;
        this.regions = regions;
        this.pool = pool;
        this.loan = loan;
        this.segments = segments(regions);
        forEver = millis == SpacePlane.FOR_EVER;
        endsAt = System.nanoTime() + millis * NANOS_PER_MILLI;
    }

    private MemorySegment[] segments(int[] of) {
        return Arrays.stream(of).mapToObj(pool::segment).toArray(MemorySegment[]::new);
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public String name() {
        return name;
    }

    byte[] tokenHash() {
        return tokenHash;
    }

    @Override
    public byte[] descriptor() {
        return descriptor.clone();
    }

    long creationId() {
        return creationId;
    }

    @Override
    public boolean readOnly() {
        return readOnly;
    }

    @Override
    public int regions() {
        return segments.length;
    }

    @Override
    public long regionBytes() {
        return pool.regionBytes();
    }

    @Override
    public MemorySegment region(int place) {
        return segments[place];
    }

    @Override
    public boolean openedBy(long leaseId) {
        SpaceOpening opening = openings.get(leaseId);
        return opening != null && !opening.leaving();
    }

    /** How many leases have it open, or have not finished closing it. */
    int leases() {
        return openings.size();
    }

    boolean ended() {
        return ended;
    }

    /** At least 1, or {@link SpacePlane#FOR_EVER}. */
    long millisLeft() {
        return forEver ? SpacePlane.FOR_EVER : Math.max(1, (endsAt - System.nanoTime()) / NANOS_PER_MILLI);
    }

    /**
     * Opens it for a lease.
     *
     * @return null if it has ended in the meantime
     */
    synchronized @Nullable SpaceGrant open(SpaceOpenings lease, Supplier<SpaceOpening> made) {
        if (ended) {
            return null;
        }
        SpaceOpening opening = lease.open(id, regions, made);
        if (openings.get(opening.leaseId()) != opening) {
            var more = new Long2ObjectHashMap<>(openings);
            more.put(opening.leaseId(), opening);
            openings = more;
        }
        return new SpaceGrant(id, opening.id(), descriptor.clone(), millisLeft(), opening.grants());
    }

    /**
     * Adds regions at its end.
     *
     * @return null if it has ended in the meantime
     * @throws ControlException OUT_OF_MEMORY, NOT_FOUND if the lease does not have it open
     */
    synchronized @Nullable SpaceGrowth grow(SpaceOpenings lease, int count, long growthId) {
        if (ended) {
            return null;
        }
        int[] growth = growths.get(growthId);
        if (growth == null) {
            lease.grow(id, regions);
            int[] more = pool.take(count);
            Arrays.sort(more);
            int[] all = Arrays.copyOf(regions, regions.length + count);
            System.arraycopy(more, 0, all, regions.length, count);
            try {
                lease.grow(id, all);
            } catch (Throwable e) {
                for (int region : more) {
                    pool.free(region);
                }
                throw e;
            }
            growth = new int[] {regions.length, count};
            growths.put(growthId, growth);
            segments = segments(all);
            regions = all;
        }
        List<RegionGrant> grants = lease.grow(id, regions).grants();
        return new SpaceGrowth(growth[0], grants.subList(growth[0], growth[0] + growth[1]));
    }

    /**
     * Extends its lifetime.
     *
     * @return whether it has not ended in the meantime
     */
    synchronized boolean extend(long millis) {
        if (ended) {
            return false;
        }
        if (millis == SpacePlane.FOR_EVER) {
            forEver = true;
        } else {
            long asked = System.nanoTime() + millis * NANOS_PER_MILLI;
            if (asked - endsAt > 0) {
                endsAt = asked;
            }
        }
        return true;
    }

    /** Whether its lifetime has passed. Never waits. */
    boolean over() {
        return !forEver && System.nanoTime() - endsAt > 0;
    }

    /** As {@link #over}, but returns true to one caller only, until that caller has called {@link #expired}. */
    boolean beginExpiring() {
        return !ended && over() && expiring.compareAndSet(false, true);
    }

    void expired() {
        expiring.set(false);
    }

    /**
     * Ends it: from now on no client opens it and no service uses it.
     *
     * @param onlyIfOver end it only if its lifetime has passed
     * @return whether this call has ended it, and so the caller frees its regions
     */
    synchronized boolean end(boolean onlyIfOver) {
        if (ended || onlyIfOver && !over()) {
            return false;
        }
        ended = true;
        return true;
    }

    /** Adds everything that reaches it to a fence; to be called after {@link #end}. */
    synchronized void cutOff(Fence fence) {
        for (SpaceOpening opening : openings.values()) {
            opening.leave();
            fence.add("the registrations of space " + name, opening);
        }
        fence.add("the uses of space " + name, this::requireUnused);
    }

    /** To be called after the fence. */
    void fenced() {
        for (SpaceOpening opening : List.copyOf(openings.values())) {
            opening.gone(true);
        }
    }

    /** An opening has ended. */
    synchronized void left(SpaceOpening opening) {
        if (openings.get(opening.leaseId()) == opening) {
            var fewer = new Long2ObjectHashMap<>(openings);
            fewer.remove(opening.leaseId());
            openings = fewer;
        }
    }

    /** Called if a lease may still reach the memory for good: its regions must not be granted again. */
    void taint() {
        tainted = true;
    }

    boolean tainted() {
        return tainted;
    }

    /**
     * To be called after {@link #end}, once nothing reaches it any more: returns its regions, once; the caller then
     * owns them.
     */
    synchronized List<Integer> takeRegions() {
        loan.close();
        List<Integer> taken = Arrays.stream(regions).boxed().toList();
        regions = new int[0];
        return taken;
    }

    /**
     * Begins a use.
     *
     * @return whether it has not ended; if so, {@link #unuse} must follow
     */
    boolean use() {
        // This thread counts itself before it reads {@code ended}; the ending thread sets {@code ended} before it reads
        // the count. So one of the two sees the other.
        uses.incrementAndGet();
        if (ended) {
            uses.decrementAndGet();
            return false;
        }
        return true;
    }

    void unuse() {
        uses.decrementAndGet();
    }

    boolean used() {
        return uses.get() != 0;
    }

    private void requireUnused() {
        if (used()) {
            throw new VerbsException("a service uses it", Errno.EBUSY);
        }
    }
}
